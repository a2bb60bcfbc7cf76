//! `fulcrum trace` on real stores: the course of a hand is that of its commits, and no card is in it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use fulcrum::store::{EmbeddedSettings, EmbeddedStore};
use fulcrum::telemetry::hands::HandTrace;
use rules::{Event, Millis};
use serde_json::Value;
use tables::time::{Clock, ManualClock};
use tables::{Commit, Outcome, Store, TableKey};

use crate::chain::Chain;
use crate::child::run;
use crate::fixtures::{key, keys};
use crate::play::{Dice, START};
use crate::servers::Server;
use crate::store::show::{faces, words};
use crate::store::{open_file, open_redis, store_in, url};

/// Random play, kept here too.
async fn play(store: &dyn Store, key: TableKey, commits: usize) -> Vec<Commit> {
    let mut chain = Chain::new(key.clone(), key.table.0.as_u64_pair().1);
    let mut all = Vec::new();
    for _ in 0..commits {
        let commit = chain.next();
        let outcome = store.commit(commit.clone()).await.unwrap();
        assert!(matches!(outcome, Outcome::Committed { .. }), "{outcome:?}");
        all.push(commit);
    }
    all
}

fn events(commits: &[Commit]) -> impl Iterator<Item = &Event> {
    commits.iter().flat_map(|commit| commit.events.iter())
}

/// The commits of each hand that is over.
fn hands(commits: &[Commit]) -> Vec<(u64, &[Commit])> {
    let (mut hands, mut begun) = (Vec::new(), None);
    for (index, commit) in commits.iter().enumerate() {
        for event in &commit.events {
            match event {
                Event::HandStarted(start) => begun = Some((start.number, index)),
                event if event.ends_hand() => {
                    let (number, first) = begun.take().expect("it had begun");
                    hands.push((number, &commits[first..=index]));
                }
                _ => {}
            }
        }
    }
    hands
}

fn trace(arguments: &[&str]) -> String {
    let (code, output, errors) = run([&["trace"][..], arguments].concat());
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    output
}

/// All spans of a report, each with its parent's name.
fn spans<'a>(node: &'a Value, parent: &'a str, all: &mut Vec<(&'a Value, &'a str)>) {
    all.push((node, parent));
    for child in node["children"].as_array().unwrap() {
        spans(child, node["name"].as_str().unwrap(), all);
    }
}

fn check(told: &Value, key: &TableKey, number: u64, commits: &[Commit]) {
    let trace = HandTrace::of(&key.operator, &key.table, number);
    assert_eq!(told["trace_id"], trace.trace_id().to_string());
    assert_eq!(told["root"]["span_id"], trace.span_id("hand").to_string());
    assert_eq!((&told["hand"], &told["running"]), (&Value::from(number), &Value::from(false)));
    let mut all = Vec::new();
    spans(&told["root"], "", &mut all);
    let count = |name: &str| all.iter().filter(|(span, _)| span["name"] == name).count();
    let ended = |span: &Value| span["attributes"]["fulcrum.turn.ended"] == "hand_ended";
    let acts = events(commits).filter(|event| matches!(event, Event::Acted { .. })).count();
    let picks = events(commits).filter(|event| matches!(event, Event::PivotPicked { .. })).count();
    let left = all.iter().filter(|(span, _)| ended(span)).count();
    assert_eq!(count("turn") + count("pick"), acts + picks + left, "{told:#}");
    let streets = events(commits).filter(|event| matches!(event, Event::StreetDealt { .. })).count();
    let told_streets =
        all.iter().filter(|(span, _)| span["name"].as_str().unwrap().starts_with("street ")).count();
    assert_eq!(told_streets, streets + 1);
    let settled = events(commits).any(|event| matches!(event, Event::HandSettled(_)));
    let outcome = if settled { "settled" } else { "voided" };
    assert_eq!(told["root"]["attributes"]["fulcrum.hand.outcome"], outcome);
    let parents: BTreeSet<(&str, &str)> = all
        .iter()
        .map(|(span, parent)| (span["name"].as_str().unwrap().split(' ').next().unwrap(), *parent))
        .map(|(name, parent)| (name, parent.split(' ').next().unwrap()))
        .collect();
    let may = [
        ("hand", ""),
        ("street", "hand"),
        ("turn", "street"),
        ("pivots", "street"),
        ("pick", "pivots"),
        ("showdown", "hand"),
        ("settlement", "hand"),
    ];
    assert!(parents.is_subset(&BTreeSet::from(may)), "{parents:?}");
    // The record that it names is the one that the commit made.
    let last = commits.last().unwrap();
    let record = last.settlements.iter().find(|record| record.hand() == Some(number)).expect("a record");
    let settlement = all.iter().find(|(span, _)| span["name"] == "settlement").unwrap().0;
    assert_eq!(settlement["attributes"]["fulcrum.settlement.id"], record.id.to_string());
}

fn check_no_cards(output: &str) {
    let found: Vec<String> = words(output).intersection(&faces()).cloned().collect();
    assert!(found.is_empty(), "{found:?} in {output}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hand_is_told_from_redis_and_from_a_file_as_it_was_played() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let (path, file) = store_in(&folder);
    let (one, other) = (key(3), key(4));
    let in_redis = play(&open_redis(&server).await, one.clone(), 300).await;
    let in_file = play(&open_file(&path), other.clone(), 300).await;
    let at = url(&server);
    for (place, key, commits) in
        [(["--redis", &*at], &one, &in_redis), (["--store", &*file], &other, &in_file)]
    {
        let hands = hands(commits);
        assert!(hands.len() > 3, "{}", hands.len());
        for (number, commits) in &hands[hands.len() / 2..] {
            let number = *number;
            let named = format!("{key}/{number}");
            let json = trace(&[place[0], place[1], "--json", &named]);
            check(&serde_json::from_str(&json).unwrap(), key, number, commits);
            let text = trace(&[place[0], place[1], &key.to_string(), "--hand", &number.to_string()]);
            let id = HandTrace::of(&key.operator, &key.table, number).trace_id().to_string();
            assert!(text.contains(&id) && text.contains("before the flop"), "{text}");
            for event in events(commits) {
                if let Event::Acted { seat, .. } = event {
                    assert!(text.contains(&format!("seat {} player:", seat.number())), "{text}");
                }
            }
            check_no_cards(&text);
            check_no_cards(&json);
        }
    }
}

/// The picture is what people read: it is looked at as a whole, and any change of it has to be meant.
/// `FULCRUM_WRITE_GOLDEN=1` writes it anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hand_is_drawn_as_it_was_before() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = store_in(&folder);
    let clock = Arc::new(ManualClock::at(START));
    let settings = EmbeddedSettings {
        verify: false,
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        ..EmbeddedSettings::new(path, keys())
    };
    let store = EmbeddedStore::open(settings).unwrap();
    let mut drawn = String::new();
    // Hands in which something happens, and the ones that run.
    for number in [7_u64, 8] {
        let mut chain = Chain::new(key(number.into()), number);
        chain.game.pass(clock.now() - START);
        let (mut all, mut dice) = (Vec::new(), Dice::new(number));
        for _ in 0..400 {
            // Nobody decides as fast as another one.
            chain.game.pass(Millis(700 + dice.below(9_000)));
            let commit = chain.next();
            clock.advance(chain.game.now() - clock.now());
            assert!(matches!(store.commit(commit.clone()).await, Ok(Outcome::Committed { .. })));
            all.push(commit);
        }
        let hands = hands(&all);
        let most = |wanted: &dyn Fn(&Event) -> bool| {
            let count = |commits: &[Commit]| events(commits).filter(|event| wanted(event)).count();
            hands.iter().max_by_key(|(number, commits)| (count(commits), u64::MAX - number)).unwrap().0
        };
        let told = BTreeSet::from([
            most(&|event| matches!(event, Event::Acted { .. } | Event::PivotPicked { .. })),
            most(&|event| matches!(event, Event::UncalledReturned { .. } | Event::HandShown { .. })),
            most(&|event| matches!(event, Event::HandVoided { .. })),
            all.last().unwrap().table.hands,
        ]);
        for hand in told {
            drawn += &format!("{}/{hand}\n", key(number.into()));
        }
    }
    drop(store);
    let drawn = drawn.lines().map(|hand| trace(&["--store", &file, hand]).replace(&file, "tables.redb"));
    let drawn = drawn.collect::<Vec<_>>().join("\n");
    check_no_cards(&drawn);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/trace.txt");
    if std::env::var_os("FULCRUM_WRITE_GOLDEN").is_some() {
        std::fs::write(&golden, &drawn).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap();
    assert!(drawn == expected, "drawn is now:\n{drawn}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_there_is_said_and_what_is() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = store_in(&folder);
    let short =
        EmbeddedSettings { verify: false, history: 60, ..EmbeddedSettings::new(path.clone(), keys()) };
    let commits = play(&EmbeddedStore::open(short).unwrap(), key(5), 300).await;
    let hands = hands(&commits);
    let refused = |named: &str| {
        let (code, output, errors) = run(["trace", "--store", &file, named]);
        assert_eq!(output, "");
        (code, errors)
    };
    let table = key(5).to_string();
    let (code, errors) = refused(&format!("{table}/1"));
    assert!(
        code == 1 && errors.contains("hand 1 of table") && errors.contains("is not kept any more"),
        "{errors}"
    );
    let dealt = commits.last().unwrap().table.hands;
    assert!(
        errors.contains(&format!("to {dealt} are kept")) && errors.contains("ListSettlements"),
        "{errors}"
    );
    let (code, errors) = refused(&format!("{table}/{}", dealt + 1));
    assert!(code == 1 && errors.contains(&format!("begun there is {dealt}.")), "{errors}");
    let (code, errors) = refused(&format!("{}/1", key(6)));
    assert!(code == 1 && errors.contains("there is no table"), "{errors}");
    let (code, errors) = refused(&table);
    assert!(code == 2 && errors.contains("--hand N"), "{errors}");
    let (code, errors) = refused(&format!("{table}/none"));
    assert!(code == 2 && errors.contains("operator/table/hand"), "{errors}");
    let (code, _, errors) = run(["trace", &format!("{table}/1")]);
    assert!(code == 2 && errors.contains("--redis URL or --store FILE"), "{errors}");
    let (code, _, errors) = run(["trace", "--store", &file, &format!("{table}/1"), "--hand", "2"]);
    assert!(code == 2 && errors.contains("hand 1 or hand 2?"), "{errors}");

    // The hand whose beginning has just gone.
    let oldest = commits.len() as u64 - 60 + 1;
    let cut = hands.iter().find(|(_, commits)| {
        let versions = commits.first().unwrap().token.version..commits.last().unwrap().token.version;
        versions.contains(&(oldest - 1))
    });
    if let Some((number, _)) = cut {
        let text = trace(&["--store", &file, &format!("{table}/{number}")]);
        assert!(text.contains("its beginning is not kept any more"), "{text}");
    }
}

/// Somebody who adds a flag here has to think of what it shows.
#[test]
fn there_is_no_flag_for_cards_and_none_for_the_key() {
    let (code, help, _) = run(["trace", "--help"]);
    assert_eq!(code, 0);
    let flags = help.lines().map(str::trim).filter(|line| line.starts_with("--") || line.starts_with("-h"));
    let flags: Vec<&str> =
        flags.filter_map(|line| line.split_whitespace().find(|w| w.starts_with("--"))).collect();
    assert_eq!(flags, ["--redis", "--store", "--hand", "--json", "--help"]);
    assert!(help.contains("Examples:"), "{help}");
}
