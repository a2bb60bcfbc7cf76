//! What was acknowledged, held against the log: each decision is there once, at the sequence that the answer named, as
//! the answer said; and what was refused is not there.

use std::collections::HashMap;

use super::told::Told;
use super::{Findings, Kind};
use crate::pb::v1::table_event::Event;
use crate::pb::v1::{ActedBy, Action};

/// What was acknowledged to a player.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ack {
    /// The sequence that the answer named.
    pub sequence: u64,
    /// The player's seat.
    pub seat: u32,
    /// What it was.
    pub deed: Deed,
}

/// What a player, or the operator for him, can be acknowledged. Amounts are minor units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// A betting action.
    Acted { hand: u64, turn: u32, action: Action, to: i64, put_in: i64 },
    /// A pick.
    Picked { hand: u64, turn: u32 },
    /// A seat.
    Seated { session: u64, buy_in: i64 },
    /// Chips that were added at once.
    Added { amount: i64 },
    /// Chips that come after the hand.
    Requested { amount: i64 },
    /// A seat that was left.
    Left { paid: i64 },
    /// A seat that is left after the hand.
    Leaving,
}

/// A decision that the service says has changed nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Denied {
    /// The hand.
    pub hand: u64,
    /// The turn.
    pub turn: u32,
    /// The player's seat.
    pub seat: u32,
}

/// What one player was answered.
#[derive(Clone, Default, Debug)]
pub struct Record {
    /// The player.
    pub player: String,
    /// What was acknowledged.
    pub acks: Vec<Ack>,
    /// What was refused, and so must not be in the log.
    pub denied: Vec<Denied>,
    /// How often chips were asked for, each with a request id of its own.
    pub asked_for_chips: u64,
    /// Decisions of which it is not known whether they counted.
    pub unknown: u64,
}

impl Record {
    /// Adds what came later.
    pub fn merge(&mut self, later: Record) {
        self.acks.extend(later.acks);
        self.denied.extend(later.denied);
        self.asked_for_chips += later.asked_for_chips;
        self.unknown += later.unknown;
    }
}

/// What the log says that was decided.
#[derive(Default)]
pub struct Decisions {
    /// By hand, turn and seat.
    answers: HashMap<(u64, u32, u32), Vec<Answer>>,
    /// By sequence and seat.
    moves: HashMap<(u64, u32), Vec<Deed>>,
    sessions: HashMap<u64, u32>,
    players: HashMap<u32, String>,
    chips_by_player: HashMap<String, u64>,
}

#[derive(Clone, Copy)]
struct Answer {
    sequence: u64,
    deed: Deed,
    by: ActedBy,
}

impl Decisions {
    /// One event of this hand.
    pub fn hear(&mut self, sequence: u64, hand: Option<u64>, event: &Event) {
        let hand = hand.unwrap_or_default();
        let (seat, deed) = match event {
            Event::PlayerActed(told) => {
                let (turn, action) = (told.turn, told.action());
                let deed = Deed::Acted { hand, turn, action, to: told.to, put_in: told.put_in };
                let answer = Answer { sequence, deed, by: told.by() };
                return self.answers.entry((hand, turn, told.seat)).or_default().push(answer);
            }
            Event::PivotPicked(told) => {
                let deed = Deed::Picked { hand, turn: told.turn };
                let answer = Answer { sequence, deed, by: told.by() };
                return self.answers.entry((hand, told.turn, told.seat)).or_default().push(answer);
            }
            Event::PlayerSeated(told) => {
                *self.sessions.entry(told.session).or_default() += 1;
                self.players.insert(told.seat, told.player_id.clone());
                (told.seat, Deed::Seated { session: told.session, buy_in: told.buy_in })
            }
            // Chips that were asked for in a hand are told once more when they come: they are counted by the first.
            Event::ChipsRequested(told) => {
                self.count_chips(told.seat);
                (told.seat, Deed::Requested { amount: told.amount })
            }
            Event::ChipsAdded(told) => (told.seat, Deed::Added { amount: told.added }),
            Event::PlayerStoodUp(told) => (told.seat, Deed::Left { paid: told.paid }),
            Event::PlayerLeaving(told) => (told.seat, Deed::Leaving),
            _ => return,
        };
        self.moves.entry((sequence, seat)).or_default().push(deed);
    }

    fn count_chips(&mut self, seat: u32) {
        if let Some(player) = self.players.get(&seat) {
            *self.chips_by_player.entry(player.clone()).or_default() += 1;
        }
    }

    /// Holds it against what the players were answered.
    pub fn finish(&self, log: &Told, records: &[Record], found: &mut Findings) {
        self.count_twice(found);
        let mut silently = Vec::new();
        for record in records {
            for ack in &record.acks {
                let lost = self.acknowledged(log, &record.player, ack, found);
                silently.extend((lost && !log.tells_lost(ack.sequence)).then_some(ack.sequence));
            }
            for denied in &record.denied {
                self.refused(&record.player, denied, found);
            }
            let there = self.chips_by_player.get(&record.player).copied().unwrap_or_default();
            if there > record.asked_for_chips {
                let what = format!(
                    "{} asked for chips {} times and got them {there} times",
                    record.player, record.asked_for_chips
                );
                found.add(Kind::Doubled, log.last().unwrap_or_default(), what);
            }
        }
        if let Some(first) = silently.iter().min() {
            let count = silently.len();
            let what = format!("of what was acknowledged {count} are lost, and no lost history tells of it");
            found.add(Kind::LostSilently, *first, what);
        }
    }

    /// A turn is decided once. What the service does at once for those who are away may repeat a turn's number.
    fn count_twice(&self, found: &mut Findings) {
        for ((hand, turn, seat), answers) in &self.answers {
            let mut own = answers.iter().filter(|answer| answer.by != ActedBy::Absent);
            if let (Some(first), Some(second)) = (own.next(), own.next()) {
                let what = format!(
                    "turn {turn} of hand {hand} was decided twice by seat {seat}: at {} and at {}",
                    first.sequence, second.sequence
                );
                found.add(Kind::Doubled, second.sequence, what);
            }
        }
        for (session, times) in self.sessions.iter().filter(|(_, times)| **times > 1) {
            found.add(Kind::Doubled, 0, format!("session {session} began {times} times"));
        }
    }

    /// What a seat's player himself decided in a turn.
    fn own(&self, hand: u64, turn: u32, seat: u32) -> impl Iterator<Item = &Answer> {
        let answers = self.answers.get(&(hand, turn, seat)).map(Vec::as_slice).unwrap_or_default();
        answers.iter().filter(|answer| answer.by == ActedBy::Player)
    }

    /// True if it is lost.
    fn acknowledged(&self, log: &Told, player: &str, ack: &Ack, found: &mut Findings) -> bool {
        let there = match ack.deed {
            Deed::Acted { hand, turn, .. } | Deed::Picked { hand, turn } => {
                let own = self.own(hand, turn, ack.seat);
                own.map(|answer| (answer.sequence, answer.deed)).collect::<Vec<_>>()
            }
            _ => {
                let moves = self.moves.get(&(ack.sequence, ack.seat)).map(Vec::as_slice).unwrap_or_default();
                moves.iter().map(|deed| (ack.sequence, *deed)).collect()
            }
        };
        if there.contains(&(ack.sequence, ack.deed)) {
            return false;
        }
        if log.hides(ack.sequence) {
            found.unverified += 1;
            return false;
        }
        match there.first() {
            None => found.add(
                Kind::Lost,
                ack.sequence,
                format!(
                    "{player}: {} was acknowledged at {}, and is not in the log",
                    told(&ack.deed),
                    ack.sequence
                ),
            ),
            Some((sequence, deed)) => found.add(
                Kind::Contradicted,
                ack.sequence,
                format!(
                    "{player}: {} was acknowledged at {}; the log has {} at {sequence}",
                    told(&ack.deed),
                    ack.sequence,
                    told(deed)
                ),
            ),
        }
        there.is_empty()
    }

    fn refused(&self, player: &str, denied: &Denied, found: &mut Findings) {
        let Denied { hand, turn, seat } = *denied;
        if let Some(answer) = self.own(hand, turn, seat).next() {
            let what = format!(
                "{player}: turn {turn} of hand {hand} was refused; the log has {} as his own",
                told(&answer.deed)
            );
            found.add(Kind::Contradicted, answer.sequence, what);
        }
    }
}

/// A deed in words, without a card.
fn told(deed: &Deed) -> String {
    match deed {
        Deed::Acted { hand, turn, action, to, put_in } => {
            let action = action.as_str_name().trim_start_matches("ACTION_").to_lowercase();
            format!("a {action} to {to} with {put_in} in turn {turn} of hand {hand}")
        }
        Deed::Picked { hand, turn } => format!("a pick in turn {turn} of hand {hand}"),
        Deed::Seated { session, buy_in } => format!("a seat with {buy_in} in session {session}"),
        Deed::Added { amount } => format!("{amount} added"),
        Deed::Requested { amount } => format!("{amount} asked for"),
        Deed::Left { paid } => format!("a payout of {paid}"),
        Deed::Leaving => "a leave after the hand".to_owned(),
    }
}
