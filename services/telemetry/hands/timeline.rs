//! The course of a hand, out of its committed events, as spans within spans. No card, pivot or deck gets in: nothing here
//! looks at one.

use std::collections::BTreeMap;

use rules::lost::Lost;
use rules::result::HandResult;
use rules::terms::{By, PromptKind, StopScope};
use rules::{Chips, Event, Millis, PlayerId, SeatNo, Street, TableConfig};
use tables::deriving::record_id;
use tables::{Entry, Origin, SettlementKind, TableKey};

use super::names::Names;
use super::span::{Attributes, Mark, Span, Value};
use super::words;
use crate::telemetry::conventions as names;

/// A hand whose course is to be told.
pub struct Told<'a> {
    /// The table.
    pub key: &'a TableKey,
    /// The hand's number there.
    pub number: u64,
    /// The settings that it was played with, where they are known.
    pub config: Option<&'a TableConfig>,
    /// The table's last loss of history before the hand's end.
    pub lost: Option<Lost>,
    /// How players are named.
    pub names: &'a Names,
}

impl Told<'_> {
    fn is_start(&self, event: &Event) -> bool {
        matches!(event, Event::HandStarted(start) if start.number == self.number)
    }
}

/// The spans of the hand; `entries` are the commits from its beginning, or from the oldest one that is kept, to its end, or to
/// the last one if it runs. `None` if there is nothing of it in them.
#[must_use]
pub fn timeline(told: &Told<'_>, entries: &[Entry]) -> Option<Span> {
    let starts = |entry: &Entry| entry.events.iter().any(|event| told.is_start(event));
    let first = entries.iter().position(starts).unwrap_or_default();
    let mut walk = Walk::new(told);
    for entry in &entries[first..] {
        walk.entry(entry);
        if walk.over {
            break;
        }
    }
    walk.finish()
}

/// Somebody who is being waited for.
struct Waiting {
    turn: u32,
    seat: SeatNo,
    kind: PromptKind,
    since: Millis,
    marks: Vec<Mark>,
}

/// How somebody's turn ended.
struct Ended<'a> {
    turn: u32,
    seat: SeatNo,
    how: &'a str,
    attributes: Attributes,
}

struct Walk<'a> {
    told: &'a Told<'a>,
    root: Option<Span>,
    players: BTreeMap<SeatNo, PlayerId>,
    /// Those that are over and the running one; none where the beginning is not kept.
    streets: Vec<Span>,
    /// Turns of which the street is not known.
    stray: Vec<Span>,
    pivots: Option<Span>,
    waiting: Vec<Waiting>,
    /// How often the key of a turn came.
    keys: BTreeMap<String, u32>,
    /// Hands that were shown, and that were thrown away.
    shown: (u64, u64),
    ending: Vec<Span>,
    /// The commit that is looked at.
    now: Millis,
    version: u64,
    origin: Option<Origin>,
    over: bool,
}

impl<'a> Walk<'a> {
    fn new(told: &'a Told<'a>) -> Walk<'a> {
        Walk {
            told,
            root: None,
            players: BTreeMap::new(),
            streets: Vec::new(),
            stray: Vec::new(),
            pivots: None,
            waiting: Vec::new(),
            keys: BTreeMap::new(),
            shown: (0, 0),
            ending: Vec::new(),
            now: Millis::ZERO,
            version: 0,
            origin: None,
            over: false,
        }
    }

    fn entry(&mut self, entry: &Entry) {
        // Two servers' clocks may differ a little; what comes later did not happen earlier.
        self.now = self.now.max(entry.at.or_else(|| time_of(&entry.events)).unwrap_or_default());
        (self.version, self.origin) = (entry.version, entry.origin);
        let mut events = &entry.events[..];
        if self.root.is_none() {
            match events.iter().position(|event| self.told.is_start(event)) {
                Some(first) => events = &events[first..],
                None => self.begin_late(&entry.events),
            }
        }
        for event in events {
            self.event(event);
        }
    }

    /// The beginning is not kept: the hand is told from here on.
    fn begin_late(&mut self, events: &[Event]) {
        let begun = events.iter().find_map(|event| match event {
            Event::HandSettled(result) => Some(result.started_at),
            _ => None,
        });
        let mut root = Span::new(names::SPAN_HAND, names::SPAN_HAND, begun.unwrap_or(self.now));
        root.put(names::PARTIAL, true);
        self.root = Some(root);
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::HandStarted(start) => {
                self.now = self.now.max(start.at);
                let mut root = Span::new(names::SPAN_HAND, names::SPAN_HAND, start.at);
                root.put(names::PLAYERS, start.dealt.len() as u64);
                self.root = Some(root);
                self.street(Street::PreFlop, start.at);
            }
            Event::HoleDealt { seat, player, .. } => {
                self.players.insert(*seat, player.clone());
            }
            Event::Posted { seat, kind, amount } => {
                let kind = (names::POST, words::post(*kind).into());
                self.mark_street("posted", vec![of_seat(*seat), kind, of_amount(*amount)]);
            }
            Event::UncalledReturned { seat, amount } => {
                self.mark_street("uncalled_returned", vec![of_seat(*seat), of_amount(*amount)]);
            }
            Event::StreetDealt { street, .. } => {
                self.end_street();
                self.street(*street, self.now);
            }
            Event::HandShown { .. } if !self.over => self.shown.0 += 1,
            Event::HandMucked { .. } => self.shown.1 += 1,
            Event::Stopped { scope: StopScope::Malfunction, .. } => self.mark("stopped", Vec::new()),
            Event::ClocksShifted { from, to } => {
                self.mark("clocks_shifted", vec![(names::SHIFTED, (*to - *from).0.into())]);
            }
            Event::HistoryLost { last, until, .. } => {
                let versions =
                    vec![(names::LOST_AFTER, (*last).into()), (names::LOST_UNTIL, (*until).into())];
                self.mark("history_lost", versions);
            }
            Event::HandSettled(result) if result.number == self.told.number => self.settled(result),
            Event::HandVoided { reason, requester, refunds, .. } => {
                self.voided(words::void(reason, requester), refunds);
            }
            turn => self.turn(turn),
        }
    }

    /// What a turn begins or ends with.
    fn turn(&mut self, event: &Event) {
        match event {
            Event::Prompted { turn, seats, kind, at, .. } => {
                let since = self.within(*at);
                for seat in seats.iter() {
                    let (turn, kind, marks) = (*turn, *kind, Vec::new());
                    self.waiting.push(Waiting { turn, seat, kind, since, marks });
                }
                if *kind == PromptKind::Pick {
                    self.begin_pivots(since);
                }
            }
            Event::Acted { turn, seat, play, to, all_in, by, bank_used, .. } => {
                let mut attributes: Attributes = vec![(names::ACTION, words::play(*play).into())];
                if !matches!(play, rules::terms::Play::Fold | rules::terms::Play::Check) {
                    attributes.push(of_amount(*to));
                }
                if *all_in {
                    attributes.push((names::ALL_IN, true.into()));
                }
                if *bank_used > Millis::ZERO {
                    attributes.push((names::TIME_BANK, bank_used.0.into()));
                }
                let how = match by {
                    By::Player => "action",
                    By::TimeOut => "time_out",
                    By::Absence => "absent",
                };
                let ended = Ended { turn: *turn, seat: *seat, how, attributes };
                self.put_turn(ended);
            }
            Event::PivotPicked { turn, seat, player, by, .. } => {
                self.players.insert(*seat, player.clone());
                let how = if *by == By::Player { "picked" } else { "picked_for_him" };
                self.put_pick(Ended { turn: *turn, seat: *seat, how, attributes: Vec::new() });
            }
            _ => {}
        }
    }

    /// A turn that is over now; where nobody was asked it took no time.
    fn ended(&mut self, name: &'static str, ended: Ended<'_>) -> Span {
        let Ended { turn, seat, how, attributes } = ended;
        let mut key = format!("{name} {turn}/{}", seat.number());
        // Who is absent decides in the number of the next turn, and as long as nobody is asked more than once.
        let times = self.keys.entry(key.clone()).and_modify(|times| *times += 1).or_insert(1);
        if *times > 1 {
            key += &format!(" {times}");
        }
        let asked = self.waiting.iter().position(|w| (w.turn, w.seat) == (turn, seat));
        let asked = asked.map(|index| self.waiting.remove(index));
        let mut span = Span::new(key, name, asked.as_ref().map_or(self.now, |asked| asked.since));
        span.end = self.now.max(span.start);
        span.put(names::TURN, u64::from(turn));
        span.put(names::SEAT, u64::from(seat.number()));
        if let Some(player) = self.players.get(&seat) {
            span.put(names::PLAYER, self.told.names.name(player));
        }
        span.put(names::TURN_ENDED, how);
        span.attributes.extend(attributes);
        span.put(names::TABLE_VERSION, self.version);
        span.marks = asked.map(|asked| asked.marks).unwrap_or_default();
        span.link = self.origin;
        span
    }

    fn put_turn(&mut self, ended: Ended<'_>) {
        let span = self.ended(names::SPAN_TURN, ended);
        match self.streets.last_mut() {
            Some(street) => street.children.push(span),
            None => self.stray.push(span),
        }
    }

    fn begin_pivots(&mut self, since: Millis) {
        if self.streets.is_empty() {
            // Pivots are picked on the flop (rules 4.1), whose beginning is not kept.
            self.street(Street::Flop, since);
        }
        self.pivots.get_or_insert_with(|| Span::new(names::SPAN_PIVOTS, names::SPAN_PIVOTS, since));
    }

    fn put_pick(&mut self, ended: Ended<'_>) {
        self.begin_pivots(self.now);
        let span = self.ended(names::SPAN_PICK, ended);
        if let Some(pivots) = &mut self.pivots {
            pivots.start = pivots.start.min(span.start);
            pivots.end = pivots.end.max(span.end);
            pivots.children.push(span);
        }
    }

    fn street(&mut self, street: Street, at: Millis) {
        let (word, key) = words::street(street);
        let mut span = Span::new(key, key, self.within(at));
        span.put(names::STREET, word);
        self.streets.push(span);
    }

    fn end_street(&mut self) {
        let pivots = self.pivots.take().filter(|pivots| !pivots.children.is_empty());
        if let Some(street) = self.streets.last_mut() {
            street.end = self.now;
            street.children.extend(pivots);
            street.children.sort_by_key(|child| child.start);
        }
    }

    /// A time, not before the hand began and not after what is looked at.
    fn within(&self, at: Millis) -> Millis {
        let begun = self.root.as_ref().map_or(Millis::ZERO, |root| root.start);
        let street = self.streets.last().map_or(begun, |street| street.start);
        at.min(self.now).max(street)
    }

    /// Something that concerns the hand, and whoever is being waited for.
    fn mark(&mut self, name: &'static str, attributes: Attributes) {
        let mark = Mark { name, at: self.now, attributes };
        for waiting in &mut self.waiting {
            waiting.marks.push(mark.clone());
        }
        if let Some(root) = &mut self.root {
            root.marks.push(mark);
        }
    }

    fn mark_street(&mut self, name: &'static str, attributes: Attributes) {
        let mark = Mark { name, at: self.now, attributes };
        if let Some(span) = self.streets.last_mut().or(self.root.as_mut()) {
            span.marks.push(mark);
        }
    }

    fn settled(&mut self, result: &HandResult) {
        self.end_turns("hand_ended");
        let players = result.players.iter().map(|player| (player.seat, player.player.clone()));
        self.players.extend(players);
        let pot: u64 = result.pots.iter().map(|pot| pot.amount.0).fold(0, u64::saturating_add);
        if self.shown != (0, 0) {
            let mut showdown = Span::new(names::SPAN_SHOWDOWN, names::SPAN_SHOWDOWN, self.now);
            showdown.put(names::SHOWN, self.shown.0);
            showdown.put(names::MUCKED, self.shown.1);
            self.ending.push(showdown);
        }
        let mut span = self.settlement(SettlementKind::Hand);
        span.put(names::POT, pot);
        span.put(names::POTS, result.pots.len() as u64);
        span.put(names::RAKE, result.rake.0);
        let winners = result.players.iter().filter(|player| !player.won.is_zero());
        span.put(names::WINNERS, winners.clone().count() as u64);
        let won = winners.map(|player| (player.seat, player.won));
        span.marks = won.map(|(seat, amount)| self.money("won", seat, amount)).collect();
        self.ending.push(span);
        if let Some(root) = &mut self.root {
            root.start = root.start.min(result.started_at);
            if root.get(names::PLAYERS).is_none() {
                root.put(names::PLAYERS, result.players.len() as u64);
            }
            root.put(names::HAND_OUTCOME, "settled");
            root.put(names::POT, pot);
            root.put(names::RAKE, result.rake.0);
        }
        self.over = true;
    }

    fn voided(&mut self, reason: &'static str, refunds: &[(SeatNo, Chips)]) {
        self.end_turns("hand_ended");
        let mut span = self.settlement(SettlementKind::Void);
        let refunds = refunds.iter().filter(|(_, amount)| !amount.is_zero());
        span.marks = refunds.map(|(seat, amount)| self.money("refunded", *seat, *amount)).collect();
        self.ending.push(span);
        if let Some(root) = &mut self.root {
            root.put(names::HAND_OUTCOME, "voided");
            root.put(names::VOID_REASON, reason);
            root.fault = Some(reason);
        }
        self.over = true;
    }

    fn settlement(&self, kind: SettlementKind) -> Span {
        let mut span = Span::new(names::SPAN_SETTLEMENT, names::SPAN_SETTLEMENT, self.now);
        let id = record_id(self.told.key, self.told.lost, kind, self.told.number);
        span.put(names::SETTLEMENT, id.to_string());
        span.put(names::TABLE_VERSION, self.version);
        span.link = self.origin;
        span
    }

    fn money(&self, name: &'static str, seat: SeatNo, amount: Chips) -> Mark {
        let mut attributes = vec![of_seat(seat)];
        if let Some(player) = self.players.get(&seat) {
            attributes.push((names::PLAYER, self.told.names.name(player).into()));
        }
        attributes.push(of_amount(amount));
        Mark { name, at: self.now, attributes }
    }

    /// Ends whatever is still waited for.
    fn end_turns(&mut self, how: &str) {
        while let Some(Waiting { turn, seat, kind, .. }) = self.waiting.first() {
            let ended = Ended { turn: *turn, seat: *seat, how, attributes: Vec::new() };
            match kind {
                PromptKind::Pick => self.put_pick(ended),
                PromptKind::Act => self.put_turn(ended),
            }
        }
    }

    fn finish(mut self) -> Option<Span> {
        // Of a hand that runs.
        self.end_turns("running");
        self.end_street();
        let mut root = self.root?;
        root.end = self.now.max(root.start);
        let key = self.told.key;
        let mut attributes: Attributes = vec![
            (names::OPERATOR, key.operator.as_str().into()),
            (names::TABLE, key.table.to_string().into()),
            (names::HAND, self.told.number.into()),
        ];
        attributes.extend(self.told.config.map(settings).unwrap_or_default());
        attributes.append(&mut root.attributes);
        attributes.push((names::TABLE_VERSION, self.version.into()));
        attributes.push((names::VERSION, env!("CARGO_PKG_VERSION").into()));
        root.attributes = attributes;
        root.children = self.stray;
        root.children.append(&mut self.streets);
        root.children.append(&mut self.ending);
        Some(root)
    }
}

fn settings(config: &TableConfig) -> Attributes {
    let stakes = format!("{}/{}", config.stakes.small_blind.0, config.stakes.big_blind.0);
    vec![
        (names::GAME, words::game(config.game).into()),
        (names::LIMIT, words::limit(config.limit).into()),
        (names::STAKES, stakes.into()),
        (names::CURRENCY, String::from_utf8_lossy(&config.currency).into_owned().into()),
    ]
}

fn of_seat(seat: SeatNo) -> (&'static str, Value) {
    (names::SEAT, u64::from(seat.number()).into())
}

fn of_amount(amount: Chips) -> (&'static str, Value) {
    (names::AMOUNT, amount.0.into())
}

/// When a commit happened that does not tell by itself, if its events do.
fn time_of(events: &[Event]) -> Option<Millis> {
    events.iter().find_map(|event| match event {
        Event::HandStarted(start) => Some(start.at),
        Event::Prompted { at, .. } | Event::HandVoided { at, .. } => Some(*at),
        Event::HandSettled(result) => Some(result.settled_at),
        _ => None,
    })
}
