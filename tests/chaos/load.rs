//! `fulcrum load` as a process, and what it found.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::arguments::Size;
use crate::process::Process;
use crate::timeline::Timeline;

/// So long after the play the last hands and the check may take.
const PATIENCE: Duration = Duration::from_secs(180);

/// What is played beside the size.
pub struct Game {
    /// `mix`, `double` or `texas`.
    pub games: &'static str,
    /// The share of decisions that is left to the clock.
    pub absent: &'static str,
    /// How long hands may take that have begun when the time is over.
    pub last_hands: &'static str,
    /// Drives the bots.
    pub seed: u64,
}

/// Bots that play.
pub struct Load {
    process: Process,
    report: PathBuf,
    timeline: PathBuf,
    seconds: u64,
}

/// How it ended.
pub struct Finished {
    /// 0 all was right, 1 something was not.
    pub code: i32,
    pub report: Report,
    pub timeline: Timeline,
    /// What it said at last.
    pub last_words: String,
}

/// The report of `fulcrum load --json`.
#[derive(Deserialize, Debug)]
pub struct Report {
    pub hands: u64,
    pub actions_acked: u64,
    pub lost: u64,
    /// Those of them whose table tells of no loss.
    pub lost_silently: u64,
    pub doubled: u64,
    pub contradicted: u64,
    pub gaps: u64,
    pub chips_off: u64,
    pub settlements_off: u64,
    pub hands_open: u64,
    pub hands_voided: u64,
    pub histories_lost: u64,
    pub clock_early: u64,
    pub clock_late_ms: Late,
    pub clock_count: u64,
    pub view_mismatches: u64,
    pub errors: BTreeMap<String, u64>,
}

/// How late clocks were applied, ms.
#[derive(Deserialize, Debug)]
pub struct Late {
    pub p50: u64,
    pub p99: u64,
    pub max: u64,
}

impl Load {
    pub fn start(folder: &Path, address: &str, size: &Size, game: &Game) -> Load {
        Load::with(folder, address, size, game, &[])
    }

    /// The same with more options.
    pub fn with(folder: &Path, address: &str, size: &Size, game: &Game, more: &[&str]) -> Load {
        let (report, timeline) = (folder.join("report.json"), folder.join("timeline.jsonl"));
        let options = [
            ("--address", address.to_owned()),
            ("--tables", size.tables.to_string()),
            ("--seats", size.seats.to_string()),
            ("--duration", format!("{}s", size.seconds)),
            ("--think", size.think.to_owned()),
            ("--connections", size.connections.to_string()),
            ("--games", game.games.to_owned()),
            ("--absent", game.absent.to_owned()),
            ("--last-hands", game.last_hands.to_owned()),
            ("--seed", game.seed.to_string()),
            ("--json", report.display().to_string()),
            ("--timeline", timeline.display().to_string()),
        ];
        let options = options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
        let arguments: Vec<String> = std::iter::once("load".to_owned())
            .chain(options)
            .chain(more.iter().map(|option| (*option).to_owned()))
            .collect();
        let process = Process::start(&arguments, &folder.join("load.log"));
        Load { process, report, timeline, seconds: size.seconds }
    }

    /// Where its timeline is.
    pub fn timeline_file(&self) -> &Path {
        &self.timeline
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.process.ended().is_some()
    }

    /// What was acknowledged so far.
    pub fn timeline(&self) -> Timeline {
        Timeline::read(&self.timeline)
    }

    /// Panics with its last words if it has ended.
    pub fn must_run(&mut self) {
        if let Some(code) = self.process.ended() {
            panic!("the load has ended with {code}:\n{}", self.process.last_words());
        }
    }

    /// Waits until so many actions are acknowledged.
    pub fn until_acked(&mut self, actions: u64) {
        let patience = PATIENCE.as_millis() / 50;
        for _ in 0..patience {
            self.must_run();
            if self.timeline().acked() >= actions {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("no {actions} actions within {PATIENCE:?}:\n{}", self.process.last_words());
    }

    /// Waits for its end and reads its report.
    pub fn finish(mut self) -> Finished {
        let code = self.process.wait(Duration::from_secs(self.seconds) + PATIENCE);
        let last_words = self.process.last_words();
        let code = code.unwrap_or_else(|| panic!("the load does not end:\n{last_words}"));
        let text = fs::read_to_string(&self.report);
        let text = text.unwrap_or_else(|_| panic!("the load ended with {code}, no report:\n{last_words}"));
        let report = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
        Finished { code, report, timeline: Timeline::read(&self.timeline), last_words }
    }
}

impl Report {
    /// What must never be, whatever happens to servers and stores: money and history that contradict what was told.
    pub fn contradictions(&self) -> Vec<(&'static str, u64)> {
        let counts = [
            ("actions lost, and their table tells of no loss", self.lost_silently),
            ("actions twice in the log", self.doubled),
            ("answers that the log contradicts", self.contradicted),
            ("gaps in a log", self.gaps),
            ("tables whose chips do not add up", self.chips_off),
            ("bots that were told something else than the log", self.view_mismatches),
            ("clocks applied early", self.clock_early),
            ("hands that did not end", self.hands_open),
        ];
        counts.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}
