//! Whether anybody waited for the other operator's wallet: how long calls took, by what was wrong when.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::rota::{Fault, Phase};
use crate::timeline::Span;

/// So many decisions are enough to speak of a percentile.
const MANY: usize = 200;
/// What is quicker than this is quick, µs: on a busy machine the difference to less is chance.
const QUICK: u64 = 50_000;
/// What is just said of a fault goes on for a while after it.
const AFTER: u64 = 500;

/// What was measured in 100 ms.
#[derive(Deserialize)]
struct Tick {
    t_ms: u64,
    hands: u64,
    decisions_us: Vec<u64>,
    buy_ins_us: Vec<u64>,
}

/// How long an operator's calls took, as `fulcrum load --timeline` wrote it.
pub struct Times(Vec<Tick>);

/// When calls are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// Both wallets were well.
    Well,
    /// That operator's wallet was ill, as the fault says where one is named.
    Ill(usize, Option<Fault>),
}

impl Times {
    /// Reads what there is; the last line may be half written.
    pub fn read(path: &Path) -> Times {
        let text = fs::read_to_string(path).unwrap_or_default();
        Times(text.lines().map_while(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Decisions and buy-ins that were answered then, each sorted.
    fn during(&self, when: When, phases: &[Phase]) -> (Vec<u64>, Vec<u64>) {
        let within = |t: u64, (from, to): Span| from < t && t <= to;
        let ill = |t: u64| phases.iter().find(|phase| within(t, phase.time));
        let fits = |tick: &&Tick| match (when, ill(tick.t_ms)) {
            (When::Well, None) => {
                let (last, all) = (ill(tick.t_ms.saturating_sub(AFTER)), phases.last());
                last.is_none() && all.is_some_and(|last| tick.t_ms < last.time.1)
            }
            (When::Ill(whose, fault), Some(phase)) => {
                phase.whose == whose && fault.is_none_or(|fault| phase.fault == fault)
            }
            _ => false,
        };
        let ticks: Vec<&Tick> = self.0.iter().filter(fits).collect();
        let mut decisions: Vec<u64> = ticks.iter().flat_map(|tick| tick.decisions_us.clone()).collect();
        let mut buy_ins: Vec<u64> = ticks.iter().flat_map(|tick| tick.buy_ins_us.clone()).collect();
        decisions.sort_unstable();
        buy_ins.sort_unstable();
        (decisions, buy_ins)
    }
}

/// Counts the hands that have ended so far. It reads a file that grows, and each line once.
pub struct Hands {
    path: PathBuf,
    read: u64,
    ended: u64,
}

impl Hands {
    /// Of the load that writes this timeline.
    pub fn of(path: &Path) -> Hands {
        Hands { path: path.to_owned(), read: 0, ended: 0 }
    }

    pub fn now(&mut self) -> u64 {
        let mut lines = String::new();
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read))?;
            file.read_to_string(&mut lines)
        });
        // Not there yet, or the last line is half written: next time.
        let whole = read.ok().and_then(|_| lines.rfind('\n')).map_or(0, |end| end + 1);
        for line in lines[..whole].lines() {
            self.ended += serde_json::from_str::<Tick>(line).map_or(0, |tick| tick.hands);
        }
        self.read += whole as u64;
        self.ended
    }
}

/// A table of both operators' times, and what is wrong with them.
pub fn judge(times: &[Times; 2], phases: &[Phase]) -> (Vec<String>, Vec<String>) {
    let mut table = vec![format!(
        "{:<34} {:>6} {:>9} {:>9} {:>9}  {:>6} {:>9} {:>9}",
        "µs", "plays", "p50", "p99", "p99.9", "buys", "p50", "p99"
    )];
    let mut faults = Vec::new();
    for (whose, name) in ["alpha", "beta"].into_iter().enumerate() {
        let other = 1 - whose;
        let whens = [
            ("both wallets are well", When::Well),
            ("its own wallet is ill", When::Ill(whose, None)),
            ("the other's wallet is ill", When::Ill(other, None)),
            ("the other's wallet stands still", When::Ill(other, Some(Fault::Stopped))),
        ];
        let times = whens.map(|(what, when)| (what, times[whose].during(when, phases)));
        for (what, (plays, buys)) in &times {
            table.push(format!(
                "{:<34} {:>6} {:>9} {:>9} {:>9}  {:>6} {:>9} {:>9}",
                format!("{name}: {what}"),
                plays.len(),
                at(plays, 500),
                at(plays, 990),
                at(plays, 999),
                buys.len(),
                at(buys, 500),
                at(buys, 990)
            ));
        }
        let (_, (well, _)) = &times[0];
        // Hands that are played ask no wallet, so that one's own must not matter either.
        for (what, (plays, _)) in &times[1..] {
            let most = 2 * at(well, 990).max(QUICK);
            if plays.len() >= MANY && well.len() >= MANY && at(plays, 990) > most {
                let p99 = at(plays, 990);
                faults.push(format!("{name}: while {what}, 1% of decisions take {p99} µs, at most {most}"));
            }
        }
    }
    (table, faults)
}

/// A quantile, in thousandths.
fn at(sorted: &[u64], thousandths: usize) -> u64 {
    let rank = (sorted.len() * thousandths).div_ceil(1000).saturating_sub(1);
    sorted.get(rank).copied().unwrap_or_default()
}
