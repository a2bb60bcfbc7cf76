//! `fulcrum store show`: it shows what support needs, and no card of a running hand in any way.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use redb::ReadableTable;
use rules::event::Event;
use rules::hand::{Decision, Holes};
use rules::{Card, Deck, Pick, Table};
use serde_json::Value;
use tables::{Outcome, Store, Token};

use super::{folder_with_key, open_file, open_redis, play, store_in, url};
use crate::chain::Chain;
use crate::child::run;
use crate::events::events;
use crate::fixtures::{key, pick};
use crate::payments::table_with_payments;
use crate::servers::Server;

/// The same table with other cards everywhere.
fn other(card: Card) -> Card {
    Card::from_index((card.index() + 17) % 52).unwrap()
}

fn other_pick(old: Pick) -> Pick {
    pick((old.index() + 1) % 3)
}

fn other_holes(holes: Holes) -> Holes {
    let cards: Vec<Card> = holes.cards().iter().copied().map(other).collect();
    Holes::from_cards(&cards).unwrap()
}

fn other_deck(deck: &Deck) -> Deck {
    Deck::new(deck.cards().map(other)).unwrap()
}

/// A state in the middle of a hand in which everything is set.
fn state(version: u64) -> Table {
    let mut table = table_with_payments();
    table.version = version;
    table.hand.as_mut().unwrap().end = None;
    table
}

fn with_other_cards(mut table: Table) -> Table {
    let hand = table.hand.as_mut().unwrap();
    *hand.deck = other_deck(&hand.deck);
    hand.board.iter_mut().for_each(|card| *card = other(*card));
    for player in hand.players.iter_mut().flatten() {
        player.holes = player.holes.map(other_holes);
        player.pick = player.pick.map(other_pick);
    }
    for accepted in hand.accepted.iter_mut().chain(&mut table.past.accepted) {
        if let Decision::Picked(pick) = &mut accepted.decision {
            *pick = other_pick(*pick);
        }
    }
    table
}

fn event_with_other_cards(event: Event) -> Event {
    match event {
        Event::HandStarted(mut start) => {
            start.deck = other_deck(&start.deck);
            Event::HandStarted(start)
        }
        Event::HoleDealt { seat, player, cards } => {
            Event::HoleDealt { seat, player, cards: other_holes(cards) }
        }
        Event::PivotPicked { turn, seat, player, pick, by } => {
            Event::PivotPicked { turn, seat, player, pick: other_pick(pick), by }
        }
        Event::StreetDealt { street, cards } => {
            Event::StreetDealt { street, cards: cards.into_iter().map(other).collect() }
        }
        Event::HandShown { seat, cards, pick } => {
            Event::HandShown { seat, cards: other_holes(cards), pick: pick.map(other_pick) }
        }
        others => others,
    }
}

/// A table of which the last commit has every kind of event, and its state every secret.
async fn plant(store: &dyn Store, change: bool) {
    let mut chain = Chain::new(key(1), 1);
    let opening = chain.next();
    let (mut table, mut told) = (state(2), events().into_iter().map(|(_, event)| event).collect::<Vec<_>>());
    if change {
        table = with_other_cards(table);
        told = told.into_iter().map(event_with_other_cards).collect();
    }
    let mut last = opening.clone();
    last.expected = Some(opening.token);
    last.token = Token { version: 2, nonce: 0x00c0_ffee };
    (last.table, last.events, last.settlements) = (Arc::new(table), told, Vec::new());
    for commit in [opening, last] {
        let outcome = store.commit(commit).await.unwrap();
        assert!(matches!(outcome, Outcome::Committed { .. }), "{outcome:?}");
    }
}

/// All ways to write a card.
pub fn faces() -> BTreeSet<String> {
    let suits = [("c", "♣", "club"), ("d", "♦", "diamond"), ("h", "♥", "heart"), ("s", "♠", "spade")];
    let ranks = ["2", "3", "4", "5", "6", "7", "8", "9", "T", "10", "J", "Q", "K", "A"];
    let mut faces = BTreeSet::new();
    for (letter, symbol, _) in suits {
        for rank in ranks {
            let upper = letter.to_uppercase();
            faces.extend([format!("{rank}{letter}"), format!("{rank}{upper}"), format!("{letter}{rank}")]);
            faces.extend([format!("{rank}{symbol}"), format!("{symbol}{rank}")]);
        }
    }
    for card in (0..52).map(|index| Card::from_index(index).unwrap()) {
        faces.insert(card.face().to_string());
    }
    let names = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king",
        "ace",
    ];
    faces.extend(names.map(str::to_owned));
    faces.extend(suits.iter().flat_map(|(_, _, name)| [(*name).to_owned(), format!("{name}s")]));
    faces
}

pub fn words(text: &str) -> BTreeSet<String> {
    let part = |c: char| c.is_alphanumeric() || "♣♦♥♠".contains(c);
    text.split(|c: char| !part(c)).map(str::to_owned).collect()
}

/// Under which names there are lists of numbers, and all names.
fn walk(value: &Value, at: &str, lists: &mut BTreeSet<String>, names: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => {
            if items.iter().any(Value::is_number) {
                lists.insert(at.to_owned());
            }
            items.iter().for_each(|item| walk(item, at, lists, names));
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                names.insert(name.clone());
                walk(value, name, lists, names);
            }
        }
        _ => {}
    }
}

fn show(arguments: &[&str]) -> String {
    let (code, output, errors) = run([&["store", "show"][..], arguments].concat());
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    output
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_card_is_shown_and_none_makes_a_difference() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let table = key(1).to_string();
    let mut shown = Vec::new();
    for (folder, change) in [(&first, false), (&second, true)] {
        let (path, file) = store_in(folder);
        plant(&open_file(&path), change).await;
        let text = show(&["--store", &file, &table]).replace(&file, "STORE");
        let json = show(&["--store", &file, "--json", &table]);
        shown.push((without_times(&text), without_times(&json)));
    }
    assert!(state(2) != with_other_cards(state(2)), "they are different tables");
    assert_eq!(shown[0], shown[1], "what is shown depends on the cards");
    let (text, json) = &shown[0];
    for output in [text, json] {
        let found: Vec<String> = words(output).intersection(&faces()).cloned().collect();
        assert!(found.is_empty(), "{found:?} in {output}");
    }
    let (mut lists, mut names) = (BTreeSet::new(), BTreeSet::new());
    walk(&serde_json::from_str(json).unwrap(), "", &mut lists, &mut names);
    assert_eq!(lists, BTreeSet::from(["seats".to_owned()]), "lists of numbers");
    for word in ["card", "deck", "hole", "board", "pick", "value", "secret"] {
        assert!(names.iter().all(|name| !name.contains(word)), "{word} in {names:?}");
    }
}

/// Times of commits differ, because they are the store's; those of the planted state are of September.
fn without_times(text: &str) -> String {
    let part = |c: char| c.is_ascii_alphanumeric() || "-:.".contains(c);
    let time = |word: &str| word.len() >= 20 && word.starts_with("20") && word.ends_with('Z');
    let words = text.split_inclusive(|c: char| !part(c));
    let word = |word: &str| match word.trim_end_matches(|c: char| !part(c)) {
        stamp if time(stamp) && !stamp.contains("-09-") => word.replace(stamp, "TIME"),
        _ => word.to_owned(),
    };
    words.map(word).collect()
}

/// The test above rests on finding faces where there are some.
#[test]
fn faces_are_found_where_they_are() {
    for text in ["holds Ah.", "[\"Td\",\"2c\"]", "10♥", "the ace of hearts", "♠K", "QS"] {
        assert!(!words(text).is_disjoint(&faces()), "{text}");
    }
    assert!(words("version 2, nonce 2d8c00aa, seat 3 (pivot)").is_disjoint(&faces()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_shows_what_support_needs_without_a_key() {
    let server = Server::start();
    let store = open_redis(&server).await;
    plant(&store, false).await;
    let (at, table) = (url(&server), key(1).to_string());
    let text = show(&["--redis", &at, &table]);
    for part in [
        "version 2, nonce 0000000000c0ffee, format 3",
        "Zürich 4",
        "Double Hold'em, pot-limit, 9 seats",
        "50/100 CHF",
        "bought in 30000; paid out 200, raked 100, stacks 29700",
        "DOES NOT BALANCE",
        "operator: a pause",
        "alice, session 1, stack 9900 of 10000 bought in",
        "adds 500 after the hand (transaction tx-9)",
        "hand 42, running, flop",
        "5 (pivot) of seats 2",
        "6 open payments with the operator's wallet",
        "buy-in of 5000, erin, debiting since 2026-09-21T",
        "chips that did not fit of 20, erin, crediting",
        "2 times in vain (UNAVAILABLE), next call 2026-09-21T",
        "pay-out of 30, erin, parked",
        "9 times in vain (no answer within 5 s), to be written off by ann",
        " HandStarted ",
        " HoleDealt ",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let json: Value =
        serde_json::from_str(&show(&["--redis", &at, "--json", "--entries", "1", &table])).unwrap();
    assert_eq!(json["table"], table);
    assert_eq!(json["record"]["version"], 2);
    assert_eq!(json["state"]["hand"]["turn"]["seats"], serde_json::json!([2]));
    let parked = &json["state"]["payments"][4];
    assert_eq!((&parked["number"], &parked["phase"]), (&Value::from(11), &Value::from("parked")));
    assert_eq!((&parked["next_at"], &parked["transaction"]), (&Value::Null, &Value::Null));
    assert_eq!(json["entries"].as_array().unwrap().len(), 1);
    assert!(json["entries"][0]["time"].as_str().unwrap().ends_with('Z'), "{json}");
    let (code, _, errors) = run(["store", "show", "--redis", &at, &key(9).to_string()]);
    assert!(code == 1 && errors.contains("there is no table"), "{errors}");

    let good = play(&store, key(2), 60).await;
    let text = show(&["--redis", &at, &good.key.to_string()]);
    assert!(text.contains(": balanced") && text.contains("history 60 commits"), "{text}");
}

/// Somebody who adds a flag here has to think of what it shows.
#[test]
fn there_is_no_flag_for_cards_and_none_for_the_key() {
    let (code, help, _) = run(["store", "show", "--help"]);
    assert_eq!(code, 0);
    let flags = help.lines().map(str::trim).filter(|line| line.starts_with("--") || line.starts_with("-h"));
    let flags: Vec<&str> =
        flags.filter_map(|line| line.split_whitespace().find(|w| w.starts_with("--"))).collect();
    assert_eq!(flags, ["--redis", "--store", "--entries", "--json", "--help"]);
}

/// What cannot be read is said, and the rest is shown.
#[tokio::test]
async fn a_damaged_state_does_not_hide_the_rest() {
    let (folder, _) = folder_with_key();
    let (path, file) = store_in(&folder);
    let chain = play(&open_file(&path), key(1), 30).await;
    damage_state(&path, &chain);
    let text = show(&["--store", &file, &key(1).to_string()]);
    assert!(text.contains("unreadable  the record is damaged") && text.contains("version 30"), "{text}");
    assert!(
        text.contains("last commits") && (text.contains("Opened") || text.contains("Prompted")),
        "{text}"
    );
}

fn damage_state(path: &Path, chain: &Chain) {
    let tables: redb::TableDefinition<'_, (&'static str, u128), &[u8]> = redb::TableDefinition::new("tables");
    let database = redb::Database::open(path).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut tables = transaction.open_table(tables).unwrap();
        let at = ("casino-1", chain.key.table.0.as_u128());
        let mut row = tables.get(at).unwrap().unwrap().value().to_vec();
        row[40] ^= 1;
        tables.insert(at, row.as_slice()).unwrap();
    }
    transaction.commit().unwrap();
}
