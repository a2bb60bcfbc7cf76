//! Scenarios: what can happen to Redis, each under load, and what it costs.

mod cluster;
mod sentinel;
mod single;
mod stage;
mod table;

use std::time::Duration;

use tokio::runtime::Runtime;

use crate::arguments::{Arguments, Size};
use crate::load::Finished;
use crate::scenario::{Verdict, say};
use crate::servers::Installation;
use stage::Stage;
use table::Row;

/// What is played while something breaks.
const USUAL: Size = Size { replicas: 4, tables: 20, seats: 6, seconds: 45, think: "200ms", connections: 8 };
/// The one that the usual run of tests has.
const SHORT: Size = Size { replicas: 4, tables: 8, seats: 6, seconds: 12, think: "200ms", connections: 8 };
/// Play that is left alone before and after the fault is what it is measured by.
const BEFORE: Duration = Duration::from_secs(8);
const BEFORE_SHORT: Duration = Duration::from_secs(3);
/// A pause that is shorter is none, ms: it is in the nature of the bots.
const PAUSE: u64 = 500;

/// Something that can happen.
struct Fault {
    /// For `--only`.
    name: &'static str,
    /// For the table.
    told: &'static str,
    durability: &'static str,
    /// Real servers, as an operator would have them.
    redis: fn() -> Installation,
    /// Whether the first server reaches Redis through a proxy.
    proxied: bool,
    /// Makes it happen, and ends it; says how long Redis did not answer, if all of it did not.
    strike: fn(&mut Stage) -> Option<Duration>,
    promise: Promise,
}

/// What `deploy/redis.md` promises for it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// Nothing acknowledged is lost.
    NothingLost,
    /// And the others do not stand still.
    OthersPlayOn,
    /// Nothing acknowledged is lost. What was not acknowledged may be, and tables whose watchers have seen it say so.
    AnswersKept,
    /// Some of it may be; then it is said, and nothing is wrong without a word.
    LossIsSaid,
}

fn all() -> impl Iterator<Item = Fault> {
    single::FAULTS.into_iter().chain(sentinel::FAULTS).chain(cluster::FAULTS)
}

/// All of them, as a table.
pub fn run_all(runtime: &Runtime, arguments: &Arguments) -> Verdict {
    let size = arguments.size(&USUAL);
    let only = arguments.only.as_deref().unwrap_or_default();
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    for fault in all().filter(|fault| fault.name.contains(only)) {
        say(&format!("{}: {}, durability {}", fault.name, fault.told, fault.durability));
        let (row, wrong) = run(&fault, &size, BEFORE, runtime, arguments.seed);
        say(&row.line());
        wrong.iter().for_each(|wrong| say(&format!("WRONG: {wrong}")));
        faults.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", fault.name)));
        rows.push(row);
    }
    if rows.is_empty() {
        faults.push(format!("no fault has {only:?} in its name"));
    }
    let text = table::write(&rows, &size, arguments.seed);
    println!("{text}");
    if arguments.write && faults.is_empty() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/faults.md");
        std::fs::write(&path, &text).expect("deploy/faults.md can be written");
        say("written to deploy/faults.md");
    }
    Verdict::of(Vec::new(), faults)
}

/// The first of them, in little time.
pub fn run_short(runtime: &Runtime, arguments: &Arguments) -> Verdict {
    let fault = &single::FAULTS[0];
    let (row, wrong) = run(fault, &arguments.size(&SHORT), BEFORE_SHORT, runtime, arguments.seed);
    Verdict::of(vec![row.line()], wrong)
}

/// Plays, lets it happen, and judges: the table's row, and what is wrong.
fn run(fault: &Fault, size: &Size, before: Duration, runtime: &Runtime, seed: u64) -> (Row, Vec<String>) {
    let mut stage = Stage::set(fault, size, runtime, seed);
    stage.load.until_acked(1);
    std::thread::sleep(before);
    let struck = stage::now();
    let away = (fault.strike)(&mut stage);
    stage.load.must_run();
    let begun = struck - before.as_millis() as u64;
    let (finished, mut wrong) = stage.end();
    let (before, after) = ((begun, struck), (struck, begun + size.seconds * 1000));
    let row = Row::of(fault, away, &finished, (before, after));
    wrong.extend(judge(fault, &finished, &row, after));
    (row, wrong)
}

fn judge(fault: &Fault, finished: &Finished, row: &Row, (struck, end): (u64, u64)) -> Vec<String> {
    let report = &finished.report;
    let mut wrong: Vec<String> =
        report.contradictions().iter().map(|(what, count)| format!("{count} {what}")).collect();
    if finished.timeline.acked_in((end.saturating_sub(3_000).max(struck), end)) == 0 {
        wrong.push("play does not go on".to_owned());
    }
    match fault.promise {
        // By table: what is lost without a word is a contradiction.
        Promise::LossIsSaid => {}
        Promise::AnswersKept if report.lost > 0 => wrong.push(format!("{} actions lost", report.lost)),
        Promise::AnswersKept => {}
        Promise::NothingLost | Promise::OthersPlayOn => {
            if report.lost > 0 || report.histories_lost > 0 {
                wrong.push(format!("{} actions, {} histories lost", report.lost, report.histories_lost));
            }
        }
    }
    if fault.promise != Promise::LossIsSaid && finished.code != 0 {
        wrong.push(format!("the load ended with {}:\n{}", finished.code, finished.last_words));
    }
    if fault.promise == Promise::OthersPlayOn && row.stood.is_some_and(|stood| stood > 2_000) {
        wrong.push("the others stood still".to_owned());
    }
    wrong
}
