//! Scenario: all servers are asked to stop and started anew, one after the other, behind a real proxy and in the middle of
//! the play. Nobody may notice more than a call that is repeated.

use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use crate::arguments::{Arguments, Size};
use crate::envoy::Envoy;
use crate::fleet::Fleet;
use crate::load::{Finished, Game, Load};
use crate::scenario::{Verdict, one_url, say};
use crate::servers::Server;

/// What the usual run of tests plays.
const SHORT: Size = Size { replicas: 4, tables: 12, seats: 6, seconds: 20, think: "200ms", connections: 8 };
/// From a server that is ready to the next one that is asked to stop: until the proxy has it again.
const BETWEEN: Duration = Duration::from_millis(1_500);
/// A server may take so long to end: what `drain_seconds` is by default.
const BOUND: Duration = Duration::from_secs(20);
/// What a caller may see: with these he repeats his call.
const RETRYABLE: [&str; 3] = ["UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"];

/// How servers ended.
#[derive(Default)]
struct Ends {
    took: Vec<Duration>,
    faults: Vec<String>,
}

pub fn run(runtime: &Runtime, arguments: &Arguments) -> Verdict {
    // Envoy and the servers are processes: nothing of this one's runs meanwhile.
    let _ = runtime;
    let size = arguments.size(&SHORT);
    let folder = tempfile::tempdir().expect("a folder");
    let redis = Server::start();
    let urls = one_url(&redis, "memory", size.replicas);
    // The proxy looks four times a second who is well: for a second a server that is to stop takes what still comes.
    let mut fleet = Fleet::with(folder.path(), &urls, &["--linger-seconds", "1"]);
    let envoy = Envoy::before(folder.path(), &fleet.ports());
    // Nobody leaves a decision to the clock: a clock that runs out was a server's doing.
    let game = Game { games: "mix", absent: "0%", last_hands: "60s", seed: arguments.seed };
    let mut load = Load::start(folder.path(), &envoy.address, &size, &game);
    load.until_acked(1);
    let ends = roll(&mut fleet, &mut load, &size);
    let finished = load.finish();
    let mut faults = ends.faults;
    faults.extend(fleet.faults());
    if ends.took.len() < fleet.len() {
        faults.push(format!("only {} of {} servers were restarted", ends.took.len(), fleet.len()));
    }
    faults.extend(judge(&finished));
    Verdict::of(told(&size, &ends.took, &finished), faults)
}

/// Restarts one after the other, round after round, while the bots play.
fn roll(fleet: &mut Fleet, load: &mut Load, size: &Size) -> Ends {
    let (started, whole) = (Instant::now(), Duration::from_secs(size.seconds));
    let mut ends = Ends::default();
    for number in (0..fleet.len()).cycle() {
        std::thread::sleep(BETWEEN);
        // The first round is made in any case, however slow the machine is.
        if started.elapsed() >= whole && ends.took.len() >= fleet.len() || load.has_ended() {
            break;
        }
        let (code, took) = fleet.stop(number);
        if code != Some(0) || took > BOUND {
            ends.faults.push(format!("server {} ended with {code:?} after {took:?}", number + 1));
        }
        let ready = fleet.restart(number);
        let timeline = load.timeline();
        say(&format!(
            "{} s: server {} ended within {} ms, back after {} ms; {} actions, {} errors",
            started.elapsed().as_secs(),
            number + 1,
            took.as_millis(),
            ready.as_millis(),
            timeline.acked(),
            timeline.errors()
        ));
        ends.took.push(took);
    }
    ends
}

fn judge(Finished { code, report, last_words, .. }: &Finished) -> Vec<String> {
    let none = [
        ("acknowledged actions lost", report.lost),
        ("hands voided", report.hands_voided),
        ("histories lost", report.histories_lost),
        ("settlement records that are not those of the log", report.settlements_off),
        ("decisions that the clock took from a player", report.clock_count),
    ];
    let wrong = report.contradictions().into_iter().chain(none.into_iter().filter(|(_, count)| *count > 0));
    let mut faults: Vec<String> = wrong.map(|(what, count)| format!("{count} {what}")).collect();
    let some = [("hand", report.hands), ("action", report.actions_acked)];
    faults.extend(some.iter().filter(|(_, count)| *count == 0).map(|(what, _)| format!("not one {what}")));
    let retryable = |name: &str| RETRYABLE.iter().any(|code| name.split('/').next() == Some(code));
    let errors = report.errors.iter().filter(|(name, _)| !retryable(name));
    faults.extend(errors.map(|(name, count)| format!("{count} callers saw {name}")));
    if *code != 0 {
        faults.push(format!("the load ended with {code}:\n{last_words}"));
    }
    faults
}

fn told(size: &Size, took: &[Duration], Finished { report, timeline, .. }: &Finished) -> Vec<String> {
    let longest = took.iter().max().map_or(0, Duration::as_millis);
    vec![
        format!(
            "{} servers behind Envoy, {} tables, {} bots, {} restarts, the longest end took {longest} ms",
            size.replicas,
            size.tables,
            size.tables * size.seats,
            took.len()
        ),
        format!(
            "{} hands, {} voided; {} actions, {} lost; {} taken by the clock",
            report.hands, report.hands_voided, report.actions_acked, report.lost, report.clock_count
        ),
        format!("{} calls failed and were repeated: {:?}", timeline.errors(), report.errors),
    ]
}
