//! Replay of a recorded hand by commands, compared at every step.

use std::collections::BTreeMap;

use rules::event::{Event, Play};
use rules::result::{HandResult, ShownValue};
use rules::{Action, Ask, Chips, Command, PostKind, SeatNo, Street, Table, invariant, showdown};

use crate::cards::faces;
use crate::difference::Differences;
use crate::hand::{Entry, HandRecord, LegalSet, RecordedPot, Word};
use crate::ranking::rank;
use crate::setup::{NOW, Setup};

/// A hand while it is replayed.
struct Replay<'a> {
    record: &'a HandRecord,
    setup: &'a Setup,
    table: Table,
    /// The next entry of the record's actions.
    next: usize,
    /// What has gone back, as records write it.
    returned: Vec<(usize, u64)>,
    /// What the hand came to.
    result: Option<HandResult>,
    differences: Differences,
}

impl HandRecord {
    /// Plays the hand and compares.
    #[must_use]
    pub fn check(&self) -> Differences {
        let mut differences = Differences::default();
        let setup = match Setup::of(self) {
            Ok(setup) => setup,
            Err(reason) => {
                differences.compare("set-up", Some(reason), None);
                return differences;
            }
        };
        match setup.begin(self) {
            Ok((events, table)) => Replay::new(self, &setup, table, &events).play(),
            Err(refusal) => {
                differences.compare("set-up", Some(refusal), None);
                differences
            }
        }
    }
}

impl<'a> Replay<'a> {
    fn new(record: &'a HandRecord, setup: &'a Setup, table: Table, events: &[Event]) -> Replay<'a> {
        let (returned, result) = (Vec::new(), None);
        let differences = Differences::default();
        let mut replay = Replay { record, setup, table, next: 0, returned, result, differences };
        replay.compare_start(events);
        replay.follow(events);
        replay
    }

    fn play(mut self) -> Differences {
        while self.differences.0.is_empty() && self.next < self.record.actions.len() {
            self.step();
        }
        while self.differences.0.is_empty() && self.checks_alone() {}
        if self.differences.0.is_empty() {
            self.compare_rule(self.next);
            match &self.record.finishing_stacks {
                Some(stacks) => self.compare_end(stacks),
                None => self.compare("the hand runs", self.table.running_hand().is_some(), true),
            }
        }
        self.differences
    }

    /// The next entry of the record.
    fn step(&mut self) {
        if self.checks_alone() {
            return;
        }
        let at = self.next;
        match &self.record.actions[at] {
            Entry::Act { player, word, to, legal } => {
                let name = format!("action {at}");
                self.compare_rule(at);
                self.compare(&format!("{name}: player"), self.asked(), Some(*player));
                if let Some(legal) = legal {
                    self.compare(&format!("{name}: legal"), self.legal(), Some(*legal));
                }
                self.next = at + 1;
                if let Some(acted) = self.act(&name, *player, action(*word, *to)) {
                    self.compare(&name, acted, (*word, *to));
                }
            }
            entry => {
                let due = format!("{entry:?}");
                self.compare(&format!("action {at}"), "a turn of somebody".to_owned(), due);
            }
        }
    }

    /// A check where nothing else is legal is not recorded: makes it, if it is due.
    fn checks_alone(&mut self) -> bool {
        let (Some(player), Some((_, 0, None, None))) = (self.asked(), self.legal()) else {
            return false;
        };
        let word = Word::Check;
        let entry = self.record.actions.get(self.next);
        if matches!(entry, Some(Entry::Act { player: next, word: Word::Check, .. }) if *next == player) {
            return false;
        }
        self.act("check not recorded", player, action(word, 0)).is_some()
    }

    /// Acts, and follows what comes of it. The action as it was taken; nothing, and a difference, if it was not.
    fn act(&mut self, name: &str, player: usize, action: Action) -> Option<(Word, u64)> {
        let turn = self.table.running_hand().and_then(|hand| Some((hand.number, hand.prompt?.turn)));
        let place = self.setup.places.get(player);
        let (Some((number, turn)), Some(place)) = (turn, place) else {
            self.compare(name, "nobody's turn, or no such player", "an action");
            return None;
        };
        let player = place.player.clone();
        let ask = Ask::Act { player, hand: number, turn, action };
        match self.table.step(&Command { at: NOW, ask }) {
            Ok((events, table)) => {
                self.table.apply(&events);
                self.compare("the events folded once more", self.table == table, true);
                self.follow(&events);
                acted(&events)
            }
            Err(refusal) => {
                self.compare(name, Some(refusal), None);
                None
            }
        }
    }

    /// Compares dealt streets with the record, and keeps what is compared at the end.
    fn follow(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::StreetDealt { street, cards } => {
                    let ours = Some((*street, faces(cards)));
                    let recorded = self.recorded_street();
                    self.compare(&format!("action {}", self.next), ours, recorded);
                    self.next += 1;
                }
                Event::UncalledReturned { seat, amount } => self.returned.push((seat.index(), amount.0)),
                Event::HandSettled(result) => self.result = Some((**result).clone()),
                _ => {}
            }
        }
        self.compare("invariant", invariant::check(&self.table), Ok(()));
    }

    fn recorded_street(&self) -> Option<(Street, String)> {
        match self.record.actions.get(self.next)? {
            Entry::Street(street, cards) => Some((*street, faces(cards))),
            _ => None,
        }
    }

    /// The forced bets and the seats of button and blinds.
    fn compare_start(&mut self, events: &[Event]) {
        let positions = self.table.hand.as_ref().map(|hand| hand.positions);
        self.compare("positions", positions, self.setup.positions());
        let posted = events.iter().filter_map(|event| match event {
            Event::Posted { seat, kind, amount } => {
                let ante = matches!(kind, PostKind::Ante | PostKind::BigBlindAnte);
                Some((!ante, seat.index(), amount.0))
            }
            _ => None,
        });
        let mut posted: Vec<_> = posted.collect();
        posted.sort_unstable();
        let recorded = self.record.actions.iter().map_while(|entry| match entry {
            Entry::Forced { player, ante, amount } => Some((!ante, *player, *amount)),
            _ => None,
        });
        let mut recorded: Vec<_> = recorded.collect();
        recorded.sort_unstable();
        self.next = recorded.len();
        self.compare("forced bets", posted, recorded);
    }

    /// What a rule text asks for before this entry.
    fn compare_rule(&mut self, at: usize) {
        let record = self.record;
        for (_, player, legal) in record.expect_legal.iter().filter(|(before, ..)| *before == at) {
            self.compare(&format!("rule, before action {at}: player"), self.asked(), Some(*player));
            self.compare(&format!("rule, before action {at}: legal"), self.legal(), Some(*legal));
        }
    }

    fn compare_end(&mut self, stacks: &[u64]) {
        self.compare("the hand runs", self.table.running_hand().is_some(), false);
        self.compare("returned", self.returned.clone(), self.record.returned.clone());
        let recorded: Vec<_> = stacks.iter().map(|stack| Some(Chips(*stack))).collect();
        let places = &self.setup.places;
        let ours: Vec<_> = places.iter().map(|place| Some(self.table.seat(place.seat)?.stack)).collect();
        self.compare("stacks", &ours, &recorded);
        let Some(result) = self.result.take() else {
            return self.compare("result", false, true);
        };
        self.compare("pots", paid(&result), self.record.pots.clone());
        let ours = result.players.iter().map(|player| Some(player.stack_after)).collect();
        self.compare("stacks of the result", ours, recorded);
        self.compare_showdown(&result);
    }

    /// The value of each hand that the record knows, whether it was shown or thrown away.
    fn compare_showdown(&mut self, result: &HandResult) {
        let (Some(hand), Some(recorded)) = (&self.table.hand, &self.record.showdown) else {
            return;
        };
        let live = hand.live();
        let values = if live.len() > 1 { showdown::values(hand) } else { Vec::new() };
        let known = |seat: SeatNo| self.record.holes.get(seat.index()).is_some_and(Option::is_some);
        let ours: BTreeMap<_, _> = values
            .into_iter()
            .filter(|(seat, _)| known(*seat))
            .map(|(seat, value)| (seat.index(), rank_and_class(&value)))
            .collect();
        let shown: BTreeMap<_, _> = result
            .players
            .iter()
            .filter(|player| known(player.seat))
            .filter_map(|player| Some((player.seat.index(), rank_and_class(&player.shown?))))
            .collect();
        let as_recorded = shown.iter().all(|(player, value)| recorded.get(player) == Some(value));
        self.compare("showdown", &ours, recorded);
        self.compare("shown hands as recorded", as_recorded, true);
    }

    /// Who has to act.
    fn asked(&self) -> Option<usize> {
        let prompt = self.table.running_hand()?.prompt?;
        prompt.seats.iter().next().map(SeatNo::index)
    }

    /// What he may do, as records write it.
    fn legal(&self) -> Option<LegalSet> {
        let legal = self.table.legal_now()?;
        let raise = legal.raise;
        let (min, max) = (raise.map(|range| range.min_to.0), raise.map(|range| range.max_to.0));
        Some((u8::from(!legal.can_check()), legal.call.0, min, max))
    }

    fn compare<T: PartialEq + std::fmt::Debug>(&mut self, field: &str, ours: T, recorded: T) {
        self.differences.compare(field, ours, recorded);
    }
}

/// The pots of a result as records write them.
fn paid(result: &HandResult) -> Vec<RecordedPot> {
    let paid = result.pots.iter().map(|pot| {
        let winners = pot.winners.iter().map(|(seat, _)| seat.index()).collect();
        (pot.amount.0, pot.eligible.iter().map(SeatNo::index).collect(), winners)
    });
    paid.collect()
}

fn rank_and_class(value: &ShownValue) -> (usize, String) {
    let best = value.best();
    (rank(best), best.category().to_string())
}

fn action(word: Word, to: u64) -> Action {
    match word {
        Word::Fold => Action::Fold,
        Word::Check => Action::Check,
        Word::Call => Action::Call,
        Word::Bet => Action::Bet(Chips(to)),
        Word::Raise => Action::Raise(Chips(to)),
    }
}

/// The action that these events begin with.
fn acted(events: &[Event]) -> Option<(Word, u64)> {
    let Some(Event::Acted { play, to, .. }) = events.first() else {
        return None;
    };
    let word = match play {
        Play::Fold => Word::Fold,
        Play::Check => Word::Check,
        Play::Call => Word::Call,
        Play::Bet => Word::Bet,
        Play::Raise => Word::Raise,
    };
    Some((word, to.0))
}
