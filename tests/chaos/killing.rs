//! Scenario: servers are killed and started again while tables are played through all of them. Nobody may notice more
//! than a call that has to be repeated.

use std::time::{Duration, Instant};

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use tokio::runtime::Runtime;

use crate::arguments::{Arguments, Size};
use crate::balancer::Balancer;
use crate::fleet::Fleet;
use crate::load::{Finished, Game, Load};
use crate::scenario::{Verdict, one_url, say};
use crate::servers::Server;

/// What the usual run of tests plays.
const SHORT: Size = Size { replicas: 4, tables: 12, seats: 6, seconds: 20, think: "200ms", connections: 8 };
/// From a restart to the next kill, ms.
const BETWEEN: std::ops::RangeInclusive<u64> = 1_000..=4_000;
/// So long a killed server is away.
const AWAY: Duration = Duration::from_secs(1);
/// The latest that 99 of 100 clocks may be, ms: with Redis up it does not matter who applies them.
const LATEST: u64 = 1_000;
/// So many clocks are enough to speak of a percentile.
const MANY: u64 = 100;

pub fn run(runtime: &Runtime, arguments: &Arguments) -> Verdict {
    let size = arguments.size(&SHORT);
    let folder = tempfile::tempdir().expect("a folder");
    let redis = Server::start();
    let mut fleet = Fleet::start(folder.path(), &one_url(&redis, "memory", size.replicas));
    let balancer = Balancer::before(runtime, fleet.ports());
    let game = Game { games: "mix", absent: "1%", last_hands: "60s", seed: arguments.seed };
    let mut load = Load::start(folder.path(), &balancer.address, &size, &game);
    load.until_acked(1);
    let kills = kill_in_turn(&mut fleet, &mut load, &size, arguments.seed);
    let finished = load.finish();
    say(&format!("connections by server: {:?}", balancer.given()));
    let mut faults = fleet.faults();
    // A kill takes its second, and a server its time to be ready: a busy machine makes fewer of them, not none.
    if kills < size.seconds / 15 {
        faults.push(format!("only {kills} kills in {} s", size.seconds));
    }
    faults.extend(judge(&finished));
    Verdict::of(told(&size, kills, &finished), faults)
}

/// Kills one after the other while the bots play; says how many.
fn kill_in_turn(fleet: &mut Fleet, load: &mut Load, size: &Size, seed: u64) -> u64 {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (started, whole) = (Instant::now(), Duration::from_secs(size.seconds));
    let (mut kills, mut victim) = (0, 0);
    loop {
        let pause = Duration::from_millis(dice.random_range(BETWEEN));
        if started.elapsed() + pause + AWAY >= whole {
            break;
        }
        std::thread::sleep(pause);
        load.must_run();
        // Another one: who has just come back has hardly any connections.
        victim = (victim + dice.random_range(1..fleet.len())) % fleet.len();
        fleet.kill(victim);
        kills += 1;
        std::thread::sleep(AWAY);
        let ready = fleet.restart(victim);
        let (timeline, at) = (load.timeline(), started.elapsed().as_secs());
        say(&format!(
            "{at} s: server {} killed, back after {} ms; {} actions, {} errors",
            victim + 1,
            (AWAY + ready).as_millis(),
            timeline.acked(),
            timeline.errors()
        ));
    }
    kills
}

/// With Redis up nothing may be lost, stopped, voided or late.
fn judge(Finished { code, report, last_words, .. }: &Finished) -> Vec<String> {
    let mut faults: Vec<String> =
        report.contradictions().iter().map(|(what, count)| format!("{count} {what}")).collect();
    let none = [
        ("acknowledged actions lost", report.lost),
        ("hands voided", report.hands_voided),
        ("histories lost", report.histories_lost),
        ("settlement records that are not those of the log", report.settlements_off),
    ];
    faults.extend(none.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{count} {what}")));
    let some = [("hand", report.hands), ("action", report.actions_acked), ("clock", report.clock_count)];
    faults.extend(some.iter().filter(|(_, count)| *count == 0).map(|(what, _)| format!("not one {what}")));
    // Of a few dozen the 99th percentile is the worst one, and that may be bad luck on a busy machine.
    let (late, most) = match report.clock_count {
        0..MANY => (report.clock_late_ms.max, 2 * LATEST),
        _ => (report.clock_late_ms.p99, LATEST),
    };
    if late > most {
        faults.push(format!("of {} clocks one was {late} ms late, at most {most}", report.clock_count));
    }
    if *code != 0 {
        faults.push(format!("the load ended with {code}:\n{last_words}"));
    }
    faults
}

fn told(size: &Size, kills: u64, Finished { report, timeline, .. }: &Finished) -> Vec<String> {
    let late = &report.clock_late_ms;
    vec![
        format!(
            "{} servers, {} tables, {} bots, {} s, {kills} kills",
            size.replicas,
            size.tables,
            size.tables * size.seats,
            size.seconds
        ),
        format!("{} hands, {} actions, {} of them lost", report.hands, report.actions_acked, report.lost),
        format!(
            "{} clocks, late {} ms (p50), {} ms (p99), {} ms (max), early {}",
            report.clock_count, late.p50, late.p99, late.max, report.clock_early
        ),
        format!("{} calls failed and were repeated: {:?}", timeline.errors(), report.errors),
    ]
}
