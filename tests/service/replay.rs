//! Recorded hands and random ones through the service: a client and a server over a real socket, decks that the test
//! hands to the dealer of the server in this process, and everything that callers are told compared with the record
//! or with the rules alone.
//!
//! A test binary of its own: it keeps all cores busy, and what looks at clocks should not run beside it.

mod harness;

#[path = "replay/double.rs"]
mod double;
#[path = "replay/falsified.rs"]
mod falsified;
#[path = "replay/hands.rs"]
mod hands;
#[path = "replay/messages.rs"]
mod messages;
#[path = "replay/mirror.rs"]
mod mirror;
#[path = "replay/recorded.rs"]
mod recorded;
#[path = "replay/records.rs"]
mod records;
#[path = "replay/rooms.rs"]
mod rooms;
#[path = "replay/worth.rs"]
mod worth;

use std::io::{self, Write};
use std::time::Instant;

use hands::{Batch, Kind, Source};

/// How many differences are shown.
const SHOWN: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_hand_of_pluribus_comes_out_as_recorded() -> io::Result<()> {
    through_the_service(&[Kind::PLURIBUS]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oracle_hands_of_each_limit_come_out_as_recorded() -> io::Result<()> {
    through_the_service(&Kind::ORACLE).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_hands_of_double_holdem_come_out_as_by_the_rules_alone() {
    let began = Instant::now();
    let found = rooms::play_all((0..double::HANDS).collect(), double::check).await;
    let tally = found.iter().fold(double::Tally::default(), |sum, (_, tally)| sum + *tally);
    say(&format!("Double Hold'em, random: {tally}, {} s", began.elapsed().as_secs()));
    tally.assert_varied();
    report(found.into_iter().map(|(differences, _)| differences));
}

/// Plays the hands of these kinds, as many as there are, and says how many.
async fn through_the_service(kinds: &[Kind]) -> io::Result<()> {
    let source = Source::find()?;
    if source.only_sample {
        say("no recorded hands in CONFORMANCE_DIR: only the sample in tests/data");
    }
    let mut compared = 0;
    for kind in kinds {
        let began = Instant::now();
        let Batch { hands, skipped } = source.batch(*kind)?;
        let count = hands.len();
        compared += count;
        let found = rooms::play_all(hands, recorded::check).await;
        let skipped: String =
            skipped.iter().map(|(why, count)| format!("; {count} skipped: {why}")).collect();
        say(&format!("{}: {count} hands, {} s{skipped}", kind.name, began.elapsed().as_secs()));
        report(found);
    }
    // The sample has no real hands; a folder of the user's own may have some kinds only.
    assert!(compared > 0 || kinds == [Kind::PLURIBUS], "nothing was compared");
    Ok(())
}

/// Fails if anything differs, and shows the first differences.
fn report(found: impl IntoIterator<Item = recorded::Found>) {
    let wrong: Vec<String> = found
        .into_iter()
        .filter(|hand| !hand.differences.0.is_empty())
        .map(|hand| {
            let texts: Vec<String> = hand.differences.0.iter().map(ToString::to_string).collect();
            format!("{}: {}", hand.id, texts.join("; "))
        })
        .collect();
    let first = wrong.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} hands differ:\n{first}", wrong.len());
}

/// Straight to the handle: what `println!` writes is swallowed when a test succeeds, and these lines are the evidence.
fn say(line: &str) {
    // A closed stderr takes nothing away from the test.
    let _ = writeln!(io::stderr(), "{line}");
}
