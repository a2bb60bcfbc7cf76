//! Nobody is told a card that he may not know: not by a message, not by a refusal, not by a log, not by a file. And
//! the checks that say so find what is planted.

mod book;
mod check;
pub mod faces;
mod hands;
pub mod log;
mod planted;
pub mod report;

use std::collections::HashSet;
use std::sync::Arc;

use fulcrum::pb::v1;
use fulcrum::store::{EmbeddedSettings, EmbeddedStore, Keyring};

use super::harness::{House, Setup, double, texas};
use book::Book;
use check::Checker;
use hands::play;
use log::Log;
use report::{Course, Report};

/// Tables that play at the same time, and hands of each.
const TABLES: u64 = 10;
const HANDS: usize = 52;

/// Short pauses; turns that nobody answers last a quarter of a second, if some are not to be answered.
fn quick(config: v1::TableConfig, timeouts: bool) -> v1::TableConfig {
    let millis = |millis: i32| Some(prost_types::Duration { seconds: 0, nanos: millis * 1_000_000 });
    let clocks = v1::Clocks {
        action: timeouts.then(|| millis(250)).flatten(),
        pivot: timeouts.then(|| millis(250)).flatten(),
        time_bank: millis(0),
        grace: millis(0),
        between_hands: millis(200),
        timeouts_to_sit_out: 255,
        ..Default::default()
    };
    v1::TableConfig { clocks: Some(clocks), ..config }
}

/// With time for everybody.
fn patient(config: v1::TableConfig) -> v1::TableConfig {
    quick(config, false)
}

/// Plays 520 hands of a game on ten tables at once, in one thread so that its log is this test's own.
async fn play_a_lot(game: fn() -> v1::TableConfig, seed: u64) -> Report {
    let log = Log::default();
    let _reading = log.read();
    let house = House::open().await;
    let checker = Checker::new();
    let course = |table: u64| {
        let timeouts = table.is_multiple_of(2);
        let mut config = quick(game(), timeouts);
        if table >= TABLES / 2 {
            config.pivot_order = v1::PivotOrder::Simultaneous.into();
        }
        config.show_all = table == 1;
        Course { config, hands: HANDS, seed: seed + table, timeouts, plant: None }
    };
    let games = (0..TABLES).map(|table| play(&house, &checker, course(table)));
    let reports = futures_util::future::join_all(games).await;
    house.close().await;
    let mut report = reports.into_iter().fold(Report::default(), |all, (one, _)| all.and(one));
    let found = log.found();
    println!("{} lines of the log of its own, {} of others", found.own, found.others);
    assert!(found.own > report.hands && found.others > report.messages, "the log was read");
    report.leaks.extend(found.leaks);
    report
}

fn check(report: &Report, more: &[&str]) {
    let Report { hands, messages, cards, refusals, leaks, seen } = report;
    println!("{hands} hands, {messages} messages, {cards} cards, {refusals} refusals: {seen:?}");
    assert!(leaks.is_empty(), "{} leaks, the first: {:#?}", leaks.len(), &leaks[..1]);
    assert_eq!(*hands, HANDS * TABLES as usize);
    assert!(*messages > 30_000 && *cards > 20_000 && *refusals > 1_000);
    let usual =
        ["fold", "muck", "all-in", "void", "show of the winner", "act by time-out", "showdown", "seated"];
    for name in usual.iter().chain(more) {
        assert!(seen.get(name).is_some_and(|count| *count >= 5), "{name} has come to pass");
    }
}

#[tokio::test]
async fn r6_6_nobody_learns_a_card_of_texas_holdem_too_early() {
    check(&play_a_lot(texas, 1).await, &[]);
}

#[tokio::test]
async fn r4_4_nobody_learns_a_card_or_a_pivot_of_double_holdem_too_early() {
    check(&play_a_lot(double, 1_000).await, &["pick", "pick by time-out"]);
}

/// How often cards of decks stand in a file in clear: any six that are dealt one after the other, of which at least
/// one is burnt or in somebody's hand, as indexes and as numbers of the contract; and any four as faces. Six bytes do
/// not come to be by chance.
fn decks_in_clear(file: &[u8], book: &Book) -> [usize; 3] {
    let mut wanted: [HashSet<Vec<u8>>; 3] = Default::default();
    for deck in book.decks() {
        let indexes = deck.cards().map(|card| card.index());
        let faces: String = deck.cards().iter().map(|card| card.face().to_string()).collect();
        wanted[0].extend(indexes.windows(6).map(<[u8]>::to_vec));
        wanted[1].extend(indexes.windows(6).map(|window| window.iter().map(|index| index + 1).collect()));
        let faces = faces.as_bytes().windows(8).step_by(2);
        wanted[2].extend(faces.map(<[u8]>::to_vec));
    }
    let count =
        |form: usize, width| file.windows(width).filter(|window| wanted[form].contains(*window)).count();
    [count(0, 6), count(1, 6), count(2, 8)]
}

/// How many of the hands that nobody was shown stand in a file with their three cards side by side, as indexes or as
/// numbers of the contract. Three bytes come to be by chance, but not those of most hands.
fn hidden_in_clear(file: &[u8], book: &Book) -> usize {
    let there: HashSet<&[u8]> = file.windows(3).collect();
    let stands = |cards: &Vec<i32>, less: i32| {
        let bytes: Vec<u8> = cards.iter().filter_map(|card| u8::try_from(card - less).ok()).collect();
        there.contains(&bytes[..])
    };
    book.hidden().iter().filter(|cards| stands(cards, 0) || stands(cards, 1)).count()
}

/// The file as it lies on the disk after so many hands, and what was in the decks.
async fn on_disk(game: fn() -> v1::TableConfig, hands: usize) -> (Vec<u8>, Book) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fulcrum.redb");
    let keys = Keyring::beside(&path).expect("a key");
    let store = EmbeddedStore::open(EmbeddedSettings::new(&path, Arc::new(keys))).expect("a store");
    let house = House::with(Setup { store: Arc::new(store), ..Setup::default() }).await;
    let course = Course { config: patient(game()), hands, seed: 7, timeouts: false, plant: None };
    let (report, book) = play(&house, &Checker::new(), course).await;
    assert!(report.leaks.is_empty(), "{:?}", report.leaks);
    house.close().await;
    (std::fs::read(&path).expect("the file"), book)
}

#[tokio::test]
async fn no_card_lies_in_the_file_in_clear() {
    for game in [texas, double] {
        let (file, book) = on_disk(game, 40).await;
        assert!(file.len() > 100_000, "{}", file.len());
        assert_eq!(decks_in_clear(&file, &book), [0; 3]);
    }
}

#[tokio::test]
async fn no_hand_that_was_not_shown_lies_in_the_file_in_clear() {
    let (mut file, book) = on_disk(double, 40).await;
    let hands = book.hidden().len();
    assert!(hands > 50, "{hands}");
    let found = hidden_in_clear(&file, &book);
    println!("{} bytes, {found} of {hands} hidden hands by chance", file.len());
    assert!(found < hands / 2, "{found} of {hands}");
    // Records in clear would be found.
    for cards in book.hidden() {
        file.extend(cards.iter().map(|card| u8::try_from(card - 1).expect("an index")));
        file.push(0xff);
    }
    assert_eq!(hidden_in_clear(&file, &book), hands);
}
