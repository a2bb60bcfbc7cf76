//! Whatever happens at a table, the rules hold: random lives of random tables, followed event by event.
//!
//! `SEED=n cargo test --release -p fulcrum-conformance --test properties one_seed` lives one life again.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use conformance::life::{Tally, live};

/// Hands of all lives together; a debug build plays fewer, too few for everything rare to happen.
const HANDS: u64 = if cfg!(debug_assertions) { 1_000 } else { 100_000 };
/// Hands of one life.
const HANDS_OF_A_LIFE: u64 = 60;
/// After so many hands there is a line of progress.
const PROGRESS: u64 = 20_000;

/// What is rare, and has to have happened all the same.
const RARE: [&str; 22] = [
    "bet all-in",
    "called all-in",
    "checked at time-out",
    "checked in absence",
    "chips added",
    "clocks shifted",
    "folded at time-out",
    "folded in absence",
    "leaving",
    "mucked",
    "picked at time-out",
    "picked in absence",
    "play halted",
    "raised all-in",
    "resumed",
    "sat in",
    "settings changed",
    "settled with more pots",
    "settled with two pots",
    "settled without a pot",
    "time bank refilled",
    "voided",
];

/// Why requests must have been refused.
const REASONS: [&str; 24] = [
    "ALREADY_CREDITED",
    "ALREADY_SEATED",
    "BAD_CONFIG",
    "BUY_IN_OUT_OF_RANGE",
    "CLOCK_RAN_OUT",
    "FIXED_SETTING",
    "HAND_OVER",
    "HAND_RUNNING",
    "HAND_UNKNOWN",
    "ILLEGAL_ACTION",
    "ILLEGAL_AMOUNT",
    "NOT_DUE",
    "NOT_IN_HAND",
    "NOT_SEATED",
    "NOT_STOPPED",
    "NOT_YOUR_TURN",
    "NO_PIVOT_DUE",
    "NO_SUCH_SEAT",
    "PIVOT_DUE",
    "PIVOT_PICKED",
    "SEAT_TAKEN",
    "TABLE_FULL",
    "TURN_NOT_REACHED",
    "TURN_PASSED",
];

/// One life; a panic is a fault too.
fn life(seed: u64) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let lived = catch_unwind(AssertUnwindSafe(|| live(seed, HANDS_OF_A_LIFE, &mut tally)));
    let lived = lived.unwrap_or_else(|_| Err("it panicked".to_owned()));
    let again = "cargo test --release -p fulcrum-conformance --test properties one_seed";
    lived.map(|()| tally).map_err(|fault| format!("SEED={seed} {again}\n  {fault}"))
}

/// Lives from the seeds that the threads share, until there are hands enough.
fn lives(next: &AtomicU64, played: &AtomicU64) -> Result<Tally, String> {
    let mut sum = Tally::default();
    while played.load(Ordering::Relaxed) < HANDS {
        let tally = life(next.fetch_add(1, Ordering::Relaxed))?;
        let before = played.fetch_add(tally.hands, Ordering::Relaxed);
        sum.add(&tally);
        if before / PROGRESS < (before + tally.hands) / PROGRESS {
            say(&format!("{} hands", before + tally.hands));
        }
    }
    Ok(sum)
}

#[test]
fn many_lives() {
    let (next, played, start) = (AtomicU64::new(0), AtomicU64::new(0), Instant::now());
    let sum = std::thread::scope(|threads| {
        let other = threads.spawn(|| lives(&next, &played));
        let mut sum = lives(&next, &played)?;
        sum.add(&other.join().unwrap_or_else(|_| Err("a thread panicked".to_owned()))?);
        Ok::<Tally, String>(sum)
    });
    let sum = sum.unwrap_or_else(|fault| panic!("{fault}"));
    let lives = next.load(Ordering::Relaxed);
    say(&format!("{lives} lives: {sum} in {:.0?}", start.elapsed()));
    if cfg!(debug_assertions) {
        return;
    }
    let missing: Vec<_> = RARE.iter().filter(|kind| !sum.events.contains_key(*kind)).collect();
    assert!(missing.is_empty(), "never happened: {missing:?} in {:?}", sum.events);
    let missing: Vec<_> = REASONS.iter().filter(|reason| !sum.refusals.contains_key(*reason)).collect();
    assert!(missing.is_empty(), "never refused: {missing:?} in {:?}", sum.refusals);
}

/// The life of the seed in the environment; without one, of a seed that the many lives do not come to.
#[test]
fn one_seed() {
    let seed = std::env::var("SEED").map_or(Ok(u64::MAX), |seed| seed.parse());
    let seed = seed.unwrap_or_else(|_| panic!("SEED is not a number"));
    let tally = life(seed).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(tally.hands > 0, "nothing was played");
}

/// Straight to the handle: what `println!` writes is swallowed when a test succeeds.
fn say(line: &str) {
    // A closed stderr takes nothing away from the test.
    let _ = writeln!(io::stderr(), "{line}");
}
