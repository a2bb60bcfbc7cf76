//! The spans of hands that nobody thought of: random play, with clocks that run out, players who leave, voids, shifted clocks.

#[path = "../../store/play.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod play;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fulcrum::telemetry::hands::{HandTraces, Names, Span, Told, Value, timeline};
use fulcrum::telemetry::traces::{PlayerNames, TraceSettings};
use play::{RandomGame, START};
use rules::terms::PromptKind;
use rules::{Ask, Command, Event, Millis, Table, TableConfig};
use tables::{Commit, Entry, Origin, TableKey, Token};

use super::scene::key;

/// A table's commits, each half a second after the one before.
struct Log {
    key: TableKey,
    config: TableConfig,
    entries: Vec<Entry>,
}

impl Log {
    fn of(seed: u64, commits: u64) -> Log {
        let mut game = RandomGame::open(seed);
        let config = game.table.config.clone();
        let mut entries = vec![entry(1, START, vec![game.opened.clone()])];
        for number in 0..commits {
            let events = game.step();
            // Times of the rules are those of the commit, as far as they tell.
            let at = events.iter().find_map(time_of).unwrap_or_default();
            let at = at.max(entries.last().and_then(|last| last.at).unwrap_or_default());
            entries.push(entry(entries.len() as u64 + 1, at, events));
            if number % 11 == 0 && game.table.running_hand().is_some() {
                let shifted = Event::ClocksShifted { from: at, to: at + Millis::seconds(3) };
                entries.push(entry(entries.len() as u64 + 1, at, vec![shifted]));
            }
        }
        Log { key: key("0f6c2c1e-3f7c-4a53-9c57-0d7d0a6f7b11"), config, entries }
    }

    /// The commits of each hand that is over, by its number.
    fn hands(&self) -> BTreeMap<u64, &[Entry]> {
        let mut hands = BTreeMap::new();
        let mut begun = None;
        for (index, entry) in self.entries.iter().enumerate() {
            for event in entry.events.iter() {
                match event {
                    Event::HandStarted(start) => begun = Some((start.number, index)),
                    ends if ends.ends_hand() => {
                        let (number, first) = begun.take().expect("it had begun");
                        hands.insert(number, &self.entries[first..=index]);
                    }
                    _ => {}
                }
            }
        }
        hands
    }

    fn tell(&self, number: u64, entries: &[Entry]) -> Option<Span> {
        let names = Names::new(&PlayerNames::Hashed([3; 32]));
        let told = Told { key: &self.key, number, config: Some(&self.config), lost: None, names: &names };
        timeline(&told, entries)
    }
}

fn entry(version: u64, at: Millis, events: Vec<Event>) -> Entry {
    let token = Token { version, nonce: version };
    let previous = (version > 1).then(|| Token { version: version - 1, nonce: version - 1 });
    let origin = Some(Origin { trace: [1; 16], span: version.to_be_bytes() });
    Entry { version, token, previous, at: Some(at), events: events.into(), origin }
}

fn time_of(event: &Event) -> Option<Millis> {
    match event {
        Event::HandStarted(start) => Some(start.at),
        Event::Prompted { at, .. } | Event::HandVoided { at, .. } => Some(*at),
        Event::HandSettled(result) => Some(result.settled_at),
        _ => None,
    }
}

/// All spans, each with its parent.
fn flat<'a>(span: &'a Span, parent: Option<&'a Span>, all: &mut Vec<(&'a Span, Option<&'a Span>)>) {
    all.push((span, parent));
    for child in &span.children {
        flat(child, Some(span), all);
    }
}

fn spans(root: &Span) -> Vec<(&Span, Option<&Span>)> {
    let mut all = Vec::new();
    flat(root, None, &mut all);
    all
}

fn check(log: &Log, number: u64, entries: &[Entry], root: &Span) {
    let all = spans(root);
    let keys: BTreeSet<&str> = all.iter().map(|(span, _)| span.key.as_str()).collect();
    assert_eq!(keys.len(), all.len(), "no key twice: {root:#?}");
    for (span, parent) in &all {
        assert!(span.start <= span.end, "{span:#?}");
        if let Some(parent) = parent {
            assert!(parent.start <= span.start && span.end <= parent.end, "{span:#?} in {parent:#?}");
        }
        assert!(span.children.is_sorted_by_key(|child| child.start), "{span:#?}");
    }
    let streets: Vec<&Span> =
        root.children.iter().filter(|child| child.name.starts_with("street ")).collect();
    for pair in streets.windows(2) {
        assert_eq!(pair[0].end, pair[1].start, "one street after the other");
    }
    assert_eq!(streets.first().map(|street| street.start), Some(root.start));
    assert_eq!(streets.last().map(|street| street.end), Some(root.end));

    // Everybody who was asked has a turn that begins when he was asked; every decision is one, and is the only one.
    let events = || entries.iter().flat_map(|entry| entry.events.iter().map(move |event| (entry, event)));
    let mut asked = BTreeMap::new();
    let (mut acts, mut picks, mut dealt) = (0, 0, 1);
    for (entry, event) in events() {
        match event {
            Event::Prompted { turn, seats, kind, at, .. } => {
                for seat in seats.iter() {
                    asked.insert((*turn, seat.number()), (*kind, *at));
                }
            }
            Event::Acted { turn, seat, .. } => {
                acts += 1;
                find(&all, "turn", *turn, seat.number(), entry);
            }
            Event::PivotPicked { turn, seat, .. } => {
                picks += 1;
                find(&all, "pick", *turn, seat.number(), entry);
            }
            Event::StreetDealt { .. } => dealt += 1,
            _ => {}
        }
    }
    assert_eq!(streets.len(), dealt);
    let turns = |name: &str| all.iter().filter(|(span, _)| span.name == name).count();
    let left = |kind| {
        let ended =
            |(span, _): &&(&Span, Option<&Span>)| span.text("fulcrum.turn.ended") == Some("hand_ended");
        let name = if kind == PromptKind::Pick { "pick" } else { "turn" };
        all.iter().filter(ended).filter(|(span, _)| span.name == name).count()
    };
    assert_eq!(turns("turn"), acts + left(PromptKind::Act), "{root:#?}");
    assert_eq!(turns("pick"), picks + left(PromptKind::Pick), "{root:#?}");
    for ((turn, seat), (_, at)) in &asked {
        let begins = |(span, _): &&(&Span, Option<&Span>)| {
            span.number("fulcrum.turn") == Some((*turn).into())
                && span.number("fulcrum.seat") == Some((*seat).into())
                && span.start == *at
        };
        assert!(all.iter().any(|one| begins(&one)), "turn {turn} of seat {seat}: {root:#?}");
    }
    let settled = events().any(|(_, event)| matches!(event, Event::HandSettled(_)));
    assert_eq!(root.text("fulcrum.hand.outcome"), Some(if settled { "settled" } else { "voided" }));
    assert_eq!(root.fault.is_some(), !settled);
    assert_eq!(root.number("fulcrum.hand.number"), Some(number));
    check_secrets(log, root);
}

/// The span of a decision: it ends with the commit that has it, and links to who asked for that.
fn find(all: &[(&Span, Option<&Span>)], name: &str, turn: u32, seat: u8, entry: &Entry) {
    let of = |(span, _): &&(&Span, Option<&Span>)| {
        span.name == name
            && span.number("fulcrum.turn") == Some(turn.into())
            && span.number("fulcrum.seat") == Some(seat.into())
            && span.number("fulcrum.table.version") == Some(entry.version)
    };
    let (span, _) = all.iter().find(of).unwrap_or_else(|| panic!("no {name} {turn}/{seat}"));
    assert_eq!((span.end, span.link), (entry.at.unwrap(), entry.origin));
}

/// Words and numbers only, and no player's name.
fn check_secrets(log: &Log, root: &Span) {
    let mut players = BTreeSet::new();
    for event in log.entries.iter().flat_map(|entry| entry.events.iter()) {
        if let Event::PlayerSeated { player, .. } = event {
            players.insert(player.as_str());
        }
    }
    for (span, _) in spans(root) {
        let marks = span.marks.iter().flat_map(|mark| mark.attributes.iter());
        for (name, value) in span.attributes.iter().chain(marks) {
            if let Value::Text(text) = value {
                assert!(!players.contains(text.as_str()), "{text}");
                let id = *name == "fulcrum.player" || name.ends_with(".id");
                assert!(id || crate::secrecy::faces::find(text).is_none(), "{name}: {text}");
            }
        }
    }
}

#[test]
fn spans_of_random_hands_fit_into_each_other_and_tell_every_turn() {
    let (mut hands, mut voided, mut absent, mut shifted) = (0, 0, 0, 0);
    let mut ways = BTreeSet::new();
    for seed in 0..150 {
        let log = Log::of(seed, 400);
        for (number, entries) in log.hands() {
            let root = log.tell(number, entries).expect("a hand");
            check(&log, number, entries, &root);
            hands += 1;
            voided += u32::from(root.fault.is_some());
            for (span, _) in spans(&root) {
                ways.extend(span.text("fulcrum.turn.ended").map(str::to_owned));
                absent += u32::from(span.text("fulcrum.turn.ended") == Some("absent"));
                shifted += span.marks.iter().filter(|mark| mark.name == "clocks_shifted").count();
            }
        }
    }
    assert!(
        hands > 1000 && voided > 10 && absent > 10 && shifted > 10,
        "{hands} {voided} {absent} {shifted}"
    );
    let all = ["absent", "action", "hand_ended", "picked", "picked_for_him", "time_out"];
    assert_eq!(ways.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

#[test]
fn a_hand_whose_beginning_is_gone_is_told_from_what_is_there_and_says_so() {
    let mut cut = 0;
    for seed in 0..20 {
        let log = Log::of(seed, 300);
        for (number, entries) in log.hands() {
            for first in 1..entries.len() {
                let root = log.tell(number, &entries[first..]).expect("the rest");
                assert_eq!(root.get("fulcrum.hand.partial"), Some(&Value::Flag(true)));
                for (span, parent) in spans(&root) {
                    assert!(span.start <= span.end, "{root:#?}");
                    let within = parent.is_none_or(|p| p.start <= span.start && span.end <= p.end);
                    assert!(within, "{span:#?} in {root:#?}");
                }
                assert!(root.children.iter().any(|child| child.name == "settlement"));
                cut += 1;
            }
        }
    }
    assert!(cut > 500, "{cut}");
}

#[test]
fn the_same_commits_make_the_same_spans_and_others_around_them_change_nothing() {
    let log = Log::of(5, 400);
    for (number, entries) in log.hands() {
        let once = log.tell(number, entries).expect("a hand");
        // A page of history has more than the hand.
        assert_eq!(Some(&once), log.tell(number, &log.entries).as_ref());
    }
    assert_eq!(log.tell(999, &log.entries[..1]).map(|root| root.children.len()), Some(0));
}

#[tokio::test]
async fn a_hand_with_shifted_clocks_is_told_whatever_the_share() {
    let players = PlayerNames::Hashed([7; 32]);
    let endpoint = "http://127.0.0.1:1".to_owned();
    let settings = TraceSettings { endpoint, ratio: 0.0, from_callers: true, players };
    let (hands, _teller) = HandTraces::new(&settings, None).expect("an address");
    let mut game = RandomGame::open(1);
    while game.table.running_hand().is_none() {
        game.step();
    }
    let begun = game.table.running_hand().expect("a hand").started_at;
    let commit = |table: Table| Commit {
        key: key("0f6c2c1e-3f7c-4a53-9c57-0d7d0a6f7b11"),
        expected: None,
        token: Token { version: table.version, nonce: 1 },
        table: Arc::new(table),
        events: vec![Event::PlayHalted],
        request: None,
        settlements: Vec::new(),
        accounts: Vec::new(),
        due: None,
        not_before: None,
        stamped: Millis::ZERO,
        origin: None,
        untold: false,
    };
    assert!(!hands.tells(&commit(game.table.clone())));
    let (from, to) = (begun + Millis(10), begun + Millis(3000));
    let (_, shifted) =
        game.table.step(&Command { at: to, ask: Ask::CreditOutage { from, to } }).expect("an outage");
    assert!(hands.tells(&commit(shifted)));
}
