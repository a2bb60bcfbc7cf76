//! `--traces` at servers on one Redis: what a collector gets of hands that bots play, and of the calls that play them.

use std::cell::Cell;
use std::collections::BTreeMap;

use fulcrum::telemetry::hands::HandTrace;
use tables::{OperatorId, TableId};

use crate::collector::{Collector, Told};
use crate::redis::{key_file, start_with};
use crate::servers;
use crate::spectator::{Seen, bot, duel, open_table, send_home, watch_until};

const BUY_IN: i64 = 20_000;

fn trace_of(table: &str, number: u64) -> String {
    let operator = OperatorId::new("dev").unwrap();
    HandTrace::of(&operator, &TableId(table.parse().unwrap()), number).trace_id().to_string()
}

/// The spans of a trace by their ids.
fn spans<'a>(told: &'a [Told], trace: &str) -> BTreeMap<&'a str, &'a Told> {
    told.iter().filter(|span| span.trace == trace).map(|span| (span.id.as_str(), span)).collect()
}

/// Everything of it hangs together, and is of this hand.
fn check_hand(told: &[Told], table: &str, number: u64) {
    let spans = spans(told, &trace_of(table, number));
    let roots: Vec<&&Told> = spans.values().filter(|span| span.parent.is_empty()).collect();
    let [root] = roots[..] else { panic!("{roots:#?}") };
    assert_eq!((root.name.as_str(), root.attribute("fulcrum.hand.outcome")), ("hand", "settled"));
    assert_eq!((root.attribute("fulcrum.table.id"), root.attribute("fulcrum.game")), (table, "double"));
    assert_eq!(root.attribute("fulcrum.hand.number"), number.to_string());
    for span in spans.values().filter(|span| !span.parent.is_empty()) {
        let parent = spans.get(span.parent.as_str()).unwrap_or_else(|| panic!("no parent: {span:#?}"));
        assert!(span.start >= parent.start && span.start <= span.end, "{span:#?} {parent:#?}");
    }
    // Whoever is all in with his blind has no turn.
    for name in ["street pre_flop", "settlement"] {
        assert!(spans.values().any(|span| span.name == name), "{name}: {spans:#?}");
    }
}

/// The calls that turns of this hand point to, where both are told. Calls and the hand that they play come in batches of their
/// own.
fn calls<'a>(told: &'a [Told], table: &str, number: u64) -> Vec<&'a Told> {
    let hand = spans(told, &trace_of(table, number));
    let turns = hand.values().filter(|span| span.name == "turn");
    let pointed_to = turns.filter_map(|turn| turn.links.first());
    pointed_to.filter_map(|(trace, id, _)| spans(told, trace).get(id.as_str()).copied()).collect()
}

/// A call has its commit below it, and the round trip to this Redis below that; the hand's turn points to it, and it points
/// back. Says of how many turns that was looked at.
fn check_calls(told: &[Told], table: &str, number: u64, port: u16) -> usize {
    let calls = calls(told, table, number);
    for act in &calls {
        assert_eq!((act.name.as_str(), act.kind.as_str()), ("fulcrum.v1.ActionService/Act", "server"));
        assert!(act.links.iter().any(|(other, ..)| *other == trace_of(table, number)), "{act:#?}");
        let call = spans(told, &act.trace);
        let trips: Vec<_> =
            call.values().filter(|span| span.attribute("db.system.name") == "redis").collect();
        assert!(!trips.is_empty(), "{call:#?}");
        for trip in trips {
            assert_eq!((trip.kind.as_str(), trip.attribute("server.port")), ("client", &*port.to_string()));
            assert!(call.contains_key(trip.parent.as_str()), "{trip:#?}");
        }
    }
    calls.len()
}

#[tokio::test]
async fn hands_and_calls_of_servers_on_one_redis_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let keys = key_file(folder.path());
    let (redis, mut collector) = (servers::Server::start(), Collector::open());
    let endpoint = collector.endpoint();
    let traced = ["--traces", &endpoint, "--trace-ratio", "1"];
    let (first, second) = (start_with(&redis, &keys, &traced), start_with(&redis, &keys, &traced));
    let table = open_table(&first.address, duel(BUY_IN)).await;
    let bots = [bot(&first.address, &table, "mia", "fast"), bot(&second.address, &table, "leo", "fast")];
    let mut seen = Seen::default();
    watch_until(&first.address, &table, &mut seen, |seen| seen.settled >= 3).await;
    let is_told = |told: &[Told], number| {
        let trace = trace_of(&table, number);
        told.iter().any(|span| span.trace == trace && span.name == "hand")
    };
    let whole = |told: &[Told]| {
        (1..=3).all(|number| is_told(told, number))
            && (1..=3).any(|number| !calls(told, &table, number).is_empty())
    };
    // Calls come later than hands, and who does not watch meanwhile is outrun by the play of fast bots.
    let are_told = Cell::new(false);
    let told = async {
        collector.until("three hands, and calls that play them", whole).await;
        are_told.set(true);
    };
    tokio::join!(told, watch_until(&first.address, &table, &mut seen, |_| are_told.get()));
    // Play goes on while there is no collector, and what was played then comes late.
    collector.die();
    let played = seen.settled;
    watch_until(&second.address, &table, &mut seen, |seen| seen.settled >= played + 2).await;
    collector.come_back();
    seen.ending = true;
    send_home(bots.into());
    watch_until(&first.address, &table, &mut seen, |seen| seen.paid + seen.raked == seen.brought).await;
    let last = seen.settled;
    let told = collector.until("all hands", |told| (1..=last).all(|number| is_told(told, number))).await;
    for number in 1..=last {
        check_hand(&told, &table, number);
    }
    let linked: usize = (1..=last).map(|number| check_calls(&told, &table, number, redis.port)).sum();
    assert!(linked > 0, "no turn points to its call");
    for player in ["mia", "leo"] {
        let named = told.iter().find(|span| span.attributes.values().any(|value| value == player));
        assert!(named.is_none(), "{named:#?}");
    }

    // A server that ends tells what is left, and nothing is left in the store.
    for server in [first, second] {
        server.process.signal("TERM");
        assert_eq!(server.process.wait().0, 0);
    }
    assert_eq!(redis.ask::<u64>(&["ZCARD", "{fulcrum}:untold:dev"]), 0);
}
