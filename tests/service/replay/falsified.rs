//! A replay that finds nothing is worth as much as what it would have found: records with one thing changed each.

use std::path::Path;
use std::sync::Arc;

use conformance::files;
use conformance::hand::{Entry, HandRecord, Word};

use super::hands::Hand;
use super::harness::House;
use super::recorded::check;

/// Changes one thing; the name of the difference that has to be found.
type Change = (&'static str, fn(&mut HandRecord));

const CHANGES: [Change; 9] = [
    ("legal", |record| {
        let legal = record.actions.iter_mut().rev().find_map(|entry| match entry {
            Entry::Act { legal: Some(legal), .. } => Some(legal),
            _ => None,
        });
        legal.expect("a legal set").1 += 1;
    }),
    ("player", |record| {
        let player = record.actions.iter_mut().find_map(|entry| match entry {
            Entry::Act { player, .. } => Some(player),
            _ => None,
        });
        *player.expect("an action") += 1;
    }),
    ("action", |record| {
        let first = record.actions.iter_mut().find_map(|entry| match entry {
            Entry::Act { word, to, .. } => Some((word, to)),
            _ => None,
        });
        let (word, to) = first.expect("an action");
        (*word, *to) = (Word::Raise, 1);
    }),
    ("forced bets", |record| {
        let Some(Entry::Forced { amount, .. }) = record.actions.first_mut() else { panic!("a forced bet") };
        *amount += 1;
    }),
    ("returned", |record| record.returned.push((0, 1))),
    ("pots", |record| record.pots[0].2.reverse()),
    ("stacks", |record| record.finishing_stacks.as_mut().expect("stacks")[0] += 1),
    ("showdown", |record| {
        let showdown = record.showdown.as_mut().expect("a showdown");
        showdown.values_mut().next().expect("a hand").0 += 1;
    }),
    ("entries", |record| {
        record.actions.push(Entry::Act { player: 0, word: Word::Check, to: 0, legal: None });
    }),
];

/// A hand of the sample with a showdown and a pot that two have won.
fn record() -> HandRecord {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle_agree.jsonl.gz");
    let lines = files::lines(&path).expect("the sample");
    let hands = lines.filter_map(|(_, line)| Hand::read(&line.expect("a line")).expect("a hand").ok());
    let split = |record: &HandRecord| record.pots.first().is_some_and(|pot| pot.2.len() > 1);
    hands.map(|hand| hand.record).find(split).expect("a pot that was split")
}

#[tokio::test]
async fn a_changed_record_is_found_by_what_was_changed() {
    let house = House::open().await;
    let caller = house.caller().await;
    let differences = async |record: HandRecord| {
        let hand = Arc::new(Hand::new(record).expect("a hand for a table"));
        check(caller.clone(), Arc::clone(&house.decks), hand).await.differences.0
    };
    assert_eq!(differences(record()).await, [], "the record as it is");
    for (name, change) in CHANGES {
        let mut record = record();
        change(&mut record);
        let found = differences(record).await;
        let fields: Vec<&str> = found.iter().map(|difference| difference.field.as_str()).collect();
        assert!(fields.iter().any(|field| field.contains(name)), "{name}: {fields:?}");
    }
    house.close().await;
}
