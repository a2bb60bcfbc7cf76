//! The table of faults.

use std::fmt::Write;
use std::time::Duration;

use super::{Fault, PAUSE};
use crate::arguments::Size;
use crate::load::Finished;
use crate::timeline::Span;

/// Play is as before when it has this share of its speed again, per cent.
const AS_BEFORE: u64 = 80;

/// What a fault cost.
pub struct Row {
    told: &'static str,
    durability: &'static str,
    acked: u64,
    lost: u64,
    voided: u64,
    histories: u64,
    /// How long Redis did not answer, ms, if all of it did not.
    away: Option<u64>,
    /// ms from the fault to the first acknowledged action after the longest pause, if there was a pause.
    pub stood: Option<u64>,
    /// When that pause began, ms after the fault.
    stood_from: u64,
    /// ms from the fault until play was as before, if it was within the run.
    as_before: Option<u64>,
    seen: String,
}

impl Row {
    /// From the run, and the stretches of play before and after the fault.
    pub fn of(
        fault: &Fault,
        away: Option<Duration>,
        finished: &Finished,
        (before, after): (Span, Span),
    ) -> Row {
        let Finished { report, timeline, .. } = finished;
        let pause = timeline.longest_pause(after);
        let stood = (pause.1 - pause.0 > PAUSE).then(|| pause.1 - after.0);
        let from = stood.map_or(after.0, |_| pause.1);
        let as_before = timeline.as_before(before, AS_BEFORE, (from, after.1));
        let seen: Vec<String> =
            report.errors.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        Row {
            told: fault.told,
            durability: fault.durability,
            acked: report.actions_acked,
            lost: report.lost,
            voided: report.hands_voided,
            histories: report.histories_lost,
            away: away.map(|away| away.as_millis() as u64),
            stood,
            stood_from: pause.0 - after.0,
            as_before: as_before.map(|at| at - after.0),
            seen: if seen.is_empty() { "nothing".to_owned() } else { seen.join(", ") },
        }
    }

    /// In one line, for whoever watches.
    pub fn line(&self) -> String {
        format!(
            "{} acknowledged, {} lost, {} voided, {} histories lost, Redis away {}, went on after {} (stood still from {}), as before after {}; {}",
            self.acked,
            self.lost,
            self.voided,
            self.histories,
            self.was_away(),
            self.went_on(),
            seconds(self.stood_from),
            self.was_as_before(),
            self.seen
        )
    }

    fn was_away(&self) -> String {
        self.away.map_or_else(|| "no".to_owned(), seconds)
    }

    fn went_on(&self) -> String {
        self.stood.map_or_else(|| "no pause".to_owned(), seconds)
    }

    fn was_as_before(&self) -> String {
        self.as_before.map_or_else(|| "not in the run".to_owned(), seconds)
    }
}

/// Tenths are as fine as the timeline.
fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

const HEAD: &str = "\
# What faults of Redis cost

Measured, not promised; what is promised stands in `deploy/redis.md`. This page is written by

    cargo test --release --test chaos -- faults --write

";

const COLUMNS: &str = "\
- **acknowledged**: actions and picks that were answered with success in the whole run; **lost**: those of them that are
  not in the history afterwards. `fulcrum load` reads every table's history at the end and compares.
- **voided**: hands that were voided; **histories lost**: tables that noticed that Redis had lost commits of theirs.
- **Redis away**: from the fault until Redis, or the part of it that was struck, took commits again: a fail-over is its own
  work. **went on after**: from the fault to the first acknowledged action after the longest pause, over all tables; pauses up
  to half a second are none. **as before after**: from the fault until, for a second, 80 % of the actions a second of
  before were acknowledged again. Where a fault is prepared (a disk copied, replicas cut off) these two count from then on.
- **what callers saw**: calls that were not done, by their reason. UNAVAILABLE was repeated until there was an answer.
  TURN_PASSED and HAND_OVER are answers: a clock had decided meanwhile, or the hand was void.

| fault | durability | acknowledged | lost | voided | histories lost | Redis away | went on after | as before after | what callers saw |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// The page.
pub fn write(rows: &[Row], size: &Size, seed: u64) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let Size { replicas, tables, seats, seconds, think, .. } = size;
    let mut text = HEAD.to_owned();
    let _ = writeln!(
        text,
        "{replicas} servers behind a round-robin balancer, {tables} tables with {seats} bots each who think {think}, \
         {seconds} s for each fault, seed {seed}.\nServers, bots and Redis {} share one machine with {cores} cores.\n",
        redis_version()
    );
    text.push_str(COLUMNS);
    for row in rows {
        let Row { told, durability, acked, lost, voided, histories, seen, .. } = row;
        let (away, went_on, as_before) = (row.was_away(), row.went_on(), row.was_as_before());
        let _ = writeln!(
            text,
            "| {told} | `{durability}` | {acked} | {lost} | {voided} | {histories} | {away} | {went_on} | {as_before} | {seen} |"
        );
    }
    text
}

/// As the server tells it; Redis is there, or nothing would have run.
fn redis_version() -> String {
    let told = std::process::Command::new("redis-server").arg("--version").output();
    let told = told.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let version = told.split_whitespace().find_map(|word| word.strip_prefix("v="));
    version.unwrap_or_default().to_owned()
}
