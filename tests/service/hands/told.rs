//! One hand, one trace: its spans, their parents and times are those that watchers were told, and nothing in it is secret.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_event::Event;
use fulcrum::pb::v1::table_message::Content;

use super::scene::{Telling, play_out, slow, trace, trace_of};
use crate::harness::collector::{Collector, Told};
use crate::harness::{Eyes, House, double, in_time, request_id, texas};
use crate::secrecy::faces;

const PLAYERS: [&str; 3] = ["ann-marie", "bob.the.player", "cid_4711"];

/// What is compared of a span: name, parent's name, start and end in ms, turn and seat.
type Line = (String, String, u64, u64, String);

fn millis(at: Option<&prost_types::Timestamp>) -> u64 {
    let at = at.expect("a time");
    u64::try_from(at.seconds).unwrap() * 1000 + u64::try_from(at.nanos).unwrap() / 1_000_000
}

fn line(name: &str, parent: &str, start: u64, end: u64, who: String) -> Line {
    (name.to_owned(), parent.to_owned(), start, end, who)
}

/// What the trace of a hand has to be, from what a spectator was told.
fn expected(eyes: &Eyes, number: u64) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut open: HashMap<u32, u64> = HashMap::new();
    let (mut begun, mut now, mut street, mut picks) = (0, 0, (String::new(), 0), Vec::new());
    let mut showdown = false;
    let updates = eyes.seen.iter().filter_map(|message| match &message.content {
        Some(Content::Update(update)) => Some(update),
        _ => None,
    });
    for update in updates {
        let at = millis(update.time.as_ref());
        for event in update.events.iter().filter_map(|event| event.event.as_ref()) {
            match event {
                Event::HandStarted(start) if start.hand_number == number => {
                    begun = millis(start.started.as_ref());
                    street = ("street pre_flop".into(), begun);
                }
                _ if begun == 0 => {}
                Event::StreetDealt(dealt) => {
                    let next = ["", "", "flop", "turn", "river"][dealt.street as usize];
                    lines.push(line(&street.0, "hand", street.1, at, String::new()));
                    street = (format!("street {next}"), at);
                }
                Event::PlayerActed(acted) => {
                    let since = open.get(&acted.turn).copied().unwrap_or(at);
                    let who = format!("{}/{}", acted.turn, acted.seat);
                    lines.push(line("turn", &street.0, since, at, who));
                }
                Event::PivotPicked(picked) => {
                    let since = open.get(&picked.turn).copied().unwrap_or(at);
                    picks.push((since, at));
                    lines.push(line("pick", "pivots", since, at, format!("{}/{}", picked.turn, picked.seat)));
                }
                Event::HandShown(_) | Event::HandMucked(_) => showdown = true,
                Event::HandSettled(settled) if settled.hand.as_ref().unwrap().hand_number == number => {
                    now = at;
                    break;
                }
                _ => {}
            }
        }
        if now > 0 {
            break;
        }
        if let Some(turn) = update.turn.as_ref().filter(|turn| turn.hand_number == number) {
            open.insert(turn.number, millis(turn.started.as_ref()));
        }
    }
    lines.push(line(&street.0, "hand", street.1, now, String::new()));
    if let (Some(first), Some(last)) = (picks.first(), picks.last()) {
        lines.push(line("pivots", "street flop", first.0, last.1, String::new()));
    }
    if showdown {
        lines.push(line("showdown", "hand", now, now, String::new()));
    }
    lines.push(line("settlement", "hand", now, now, String::new()));
    lines.push(line("hand", "", begun, now, String::new()));
    lines.sort();
    lines
}

fn lines(told: &[Told]) -> Vec<Line> {
    let names: BTreeMap<&str, &str> = told.iter().map(|span| (&*span.id, &*span.name)).collect();
    assert_eq!(names.len(), told.len(), "no two spans have one id: {told:#?}");
    let line_of = |span: &Told| {
        let parent = if span.parent.is_empty() { "" } else { names[&*span.parent] };
        let whole = |nanos: u64| {
            assert_eq!(nanos % 1_000_000, 0);
            nanos / 1_000_000
        };
        let who = match span.attribute("fulcrum.turn") {
            "" => String::new(),
            turn => format!("{turn}/{}", span.attribute("fulcrum.seat")),
        };
        line(&span.name, parent, whole(span.start), whole(span.end), who)
    };
    let mut lines: Vec<Line> = told.iter().map(line_of).collect();
    lines.sort();
    lines
}

/// No card, no player's name.
pub fn check_secrets(collector: &Collector, players: &[&str]) {
    let bytes = collector.bytes();
    for player in players {
        let found = bytes.windows(player.len()).any(|window| window == player.as_bytes());
        assert!(!found, "{player} was told");
    }
    for span in collector.told() {
        let events = span.events.iter().flat_map(|(name, attributes)| attributes.values().chain([name]));
        let texts = span.attributes.iter().flat_map(|(name, value)| [name, value]).chain(events);
        for text in texts.chain([&span.name]) {
            // An id in hexadecimal digits is none, whatever it looks like.
            let hash = text.len() == 16 && text.bytes().all(|c| c.is_ascii_hexdigit());
            assert!(
                hash || faces::find(text).is_none() || text.parse::<u64>().is_ok(),
                "{text:?} in {span:#?}"
            );
        }
        for word in ["card", "deck", "hole", "board", "pivot_index"] {
            assert!(span.attributes.keys().all(|name| !name.contains(word)), "{word} in {span:#?}");
        }
    }
}

#[tokio::test]
async fn a_hand_is_one_trace_with_the_times_that_watchers_were_told() {
    for (game, config) in [("texas", texas()), ("double", double())] {
        let (house, collector) = (House::open().await, Collector::open());
        let telling = Telling::begin(&house, &collector, 1.0, slow());
        let mut caller = house.caller().await;
        let table = caller.table_of(config, &PLAYERS).await;
        let mut eyes = caller.watch(&table, "").await;
        let begun = caller.begin(&table).await;
        eyes.turn_after(begun).await;
        caller.pause(&table).await;
        let number = play_out(&mut caller, &mut eyes, &table, &PLAYERS).await;
        let hand = eyes.settled(number).await;

        let told = trace(&collector, &table, number).await;
        assert_eq!(lines(&told), expected(&eyes, number));
        let traces: BTreeSet<String> = collector.told().into_iter().map(|span| span.trace).collect();
        assert_eq!(traces, BTreeSet::from([trace_of(&table, number)]), "one hand, one trace");
        let root = told.iter().find(|span| span.name == "hand").expect("a root");
        for (name, value) in [
            ("fulcrum.operator", "dev"),
            ("fulcrum.table.id", &*table),
            ("fulcrum.hand.number", "1"),
            ("fulcrum.game", game),
            ("fulcrum.limit", "no_limit"),
            ("fulcrum.stakes", "50/100"),
            ("fulcrum.currency", "EUR"),
            ("fulcrum.players", "3"),
            ("fulcrum.pot", "300"),
            ("fulcrum.rake", "0"),
            ("fulcrum.hand.outcome", "settled"),
            ("fulcrum.hand.partial", ""),
            ("fulcrum.version", env!("CARGO_PKG_VERSION")),
        ] {
            assert_eq!(root.attribute(name), value, "{name}");
        }
        assert_eq!((root.status.as_str(), root.resource["service.name"].as_str()), ("unset", "fulcrum"));
        let record = caller.records(&table).await.pop().expect("the record");
        let settlement = told.iter().find(|span| span.name == "settlement").expect("a settlement");
        assert_eq!(settlement.attribute("fulcrum.settlement.id"), record.settlement_id);
        let winners = hand.players.iter().filter(|player| player.won > 0).count();
        assert_eq!(settlement.attribute("fulcrum.winners"), winners.to_string());
        check_turns(&told);
        check_secrets(&collector, &PLAYERS);
        let counts = Arc::clone(&telling.counts);
        telling.end().await;
        assert_eq!(counts.exported.load(Ordering::SeqCst), 1);
        assert_eq!(counts.spans.load(Ordering::SeqCst), told.len() as u64);
        let untold = house.tables.store().untold();
        let left = untold.take(&super::scene::key(&table).operator, rules::Millis(0), 10).await.unwrap();
        assert!(left.is_empty(), "what is told is not noted any more: {left:?}");
        house.close().await;
    }
}

/// Turns say who did what; a player has one name.
fn check_turns(told: &[Told]) {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for span in told.iter().filter(|span| ["turn", "pick"].contains(&&*span.name)) {
        let player = span.attribute("fulcrum.player");
        assert_eq!(player.len(), 16, "{span:#?}");
        assert_eq!(*names.entry(span.attribute("fulcrum.seat")).or_insert(player), player);
        match &*span.name {
            "pick" => assert_eq!(span.attribute("fulcrum.turn.ended"), "picked"),
            _ => {
                assert_eq!(span.attribute("fulcrum.turn.ended"), "action");
                assert!(["check", "call"].contains(&span.attribute("fulcrum.action")), "{span:#?}");
            }
        }
    }
    assert_eq!(names.len(), PLAYERS.len());
}

#[tokio::test]
async fn of_hands_outside_the_share_only_those_that_went_wrong_are_told() {
    let (house, collector) = (House::open().await, Collector::open());
    let telling = Telling::begin(&house, &collector, 0.0, slow());
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &PLAYERS).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    eyes.turn_after(begun).await;
    assert_eq!(play_out(&mut caller, &mut eyes, &table, &PLAYERS).await, 1);
    eyes.settled(1).await;
    while eyes.hand < 2 || eyes.turn.is_none() {
        eyes.next().await.expect("the next hand");
    }
    let void = v1::VoidHandRequest {
        request_id: request_id(),
        table_id: table.clone(),
        hand_number: 2,
        reason: "a player named in it: ann-marie".into(),
        requester: "an operator's person".into(),
    };
    in_time(caller.settlements.void_hand(void)).await.expect("void");
    let told = trace(&collector, &table, 2).await;
    let root = told.iter().find(|span| span.name == "hand").expect("a root");
    assert_eq!(root.attribute("fulcrum.hand.outcome"), "voided");
    assert_eq!((root.attribute("fulcrum.void.reason"), root.status.as_str()), ("requested", "error"));
    let turns: Vec<&Told> = told.iter().filter(|span| span.name == "turn").collect();
    assert_eq!(turns.len(), 1, "{turns:#?}");
    assert_eq!(turns[0].attribute("fulcrum.turn.ended"), "hand_ended");
    let record = caller.records(&table).await;
    let record = record.iter().find(|record| record.kind() == v1::SettlementKind::Void).expect("a record");
    let settlement = told.iter().find(|span| span.name == "settlement").expect("a settlement");
    assert_eq!(settlement.attribute("fulcrum.settlement.id"), record.settlement_id);
    let traces: BTreeSet<String> = collector.told().into_iter().map(|span| span.trace).collect();
    assert_eq!(traces.len(), 1, "hand 1 is not told");
    assert_eq!(telling.counts.not_sampled.load(Ordering::SeqCst), 1);
    check_secrets(&collector, &PLAYERS);
    telling.end().await;
    house.close().await;
}

#[tokio::test]
async fn an_acknowledgement_is_a_span_of_each_hand_that_it_covers() {
    let (house, collector) = (House::open().await, Collector::open());
    let telling = Telling::begin(&house, &collector, 1.0, slow());
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &PLAYERS).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    eyes.turn_after(begun).await;
    caller.pause(&table).await;
    play_out(&mut caller, &mut eyes, &table, &PLAYERS).await;
    eyes.settled(1).await;
    let told = trace(&collector, &table, 1).await;
    let root = told.iter().find(|span| span.name == "hand").expect("a root").clone();
    let mut post = caller.stream("books").await;
    let records = post.take(4).await;
    caller.acknowledge("books", &records[2].position).await.expect("the buy-ins");
    caller.acknowledge("books", &records[3].position).await.expect("the hand");
    let is = |told: &Told| told.name == "delivery";
    let told = collector.until("a delivery", |told| told.iter().any(is)).await;
    let deliveries: Vec<&Told> = told.iter().filter(|told| is(told)).collect();
    let [delivery] = deliveries[..] else { panic!("{deliveries:#?}") };
    assert_eq!((&delivery.trace, &delivery.parent), (&root.trace, &root.id));
    assert_eq!(delivery.attribute("fulcrum.consumer"), "books");
    assert!(delivery.start == root.end && delivery.end >= delivery.start, "{delivery:#?}");
    telling.end().await;
    house.close().await;
}
