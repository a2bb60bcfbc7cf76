//! The chips of a table, counted from its log: what was brought is in front of the players, in the pot, paid out or
//! raked, at every hand's end (rules 10.3); and what a hand pays is what was put into it.

use std::collections::BTreeMap;

use super::{Fault, Findings, Kind};
use crate::pb::v1::table_event::Event;
use crate::pb::v1::{SeatAmount, SettledHand, Table};

/// The chips, in minor units. Wide sums: no log makes them overflow.
#[derive(Default)]
pub struct Chips {
    seats: BTreeMap<u32, Seat>,
    pot: i128,
    brought: i128,
    paid: i128,
    raked: i128,
    faults: Vec<Fault>,
}

#[derive(Default)]
struct Seat {
    stack: i128,
    /// What he has put into the hand that is played.
    in_hand: i128,
}

impl Chips {
    /// Goes on from a snapshot: what is there counts as brought.
    pub fn restart(&mut self, table: &Table) {
        *self = Chips { faults: std::mem::take(&mut self.faults), ..Chips::default() };
        for seat in &table.seats {
            let own = Seat { stack: seat.stack.into(), in_hand: 0 };
            self.brought += own.stack;
            self.seats.insert(seat.seat, own);
        }
        for part in table.hand.iter().filter(|hand| hand.running).flat_map(|hand| &hand.seats) {
            let put_in = i128::from(part.contributed);
            self.pot += put_in;
            self.brought += put_in;
            self.seats.entry(part.seat).or_default().in_hand = put_in;
        }
    }

    /// One event.
    pub fn hear(&mut self, sequence: u64, event: &Event) {
        match event {
            Event::PlayerSeated(seated) => {
                self.brought += i128::from(seated.buy_in);
                let seat = Seat { stack: seated.buy_in.into(), in_hand: 0 };
                if self.seats.insert(seated.seat, seat).is_some() {
                    self.fault(sequence, format!("seat {} is taken twice", seated.seat));
                }
            }
            Event::ChipsAdded(added) => {
                self.brought += i128::from(added.added);
                self.seats.entry(added.seat).or_default().stack += i128::from(added.added);
            }
            Event::PlayerStoodUp(left) => {
                let had = self.seats.remove(&left.seat).unwrap_or_default();
                self.paid += i128::from(left.paid);
                if had.stack != i128::from(left.paid) {
                    let (seat, paid, had) = (left.seat, left.paid, had.stack);
                    self.fault(sequence, format!("seat {seat} had {had} and was paid {paid}"));
                }
            }
            Event::HandStarted(_) => self.seats.values_mut().for_each(|seat| seat.in_hand = 0),
            Event::BlindPosted(posted) => self.put_in(posted.seat, posted.amount),
            Event::PlayerActed(acted) => self.put_in(acted.seat, acted.put_in),
            Event::UncalledBetReturned(back) => self.put_in(back.seat, -back.amount),
            Event::HandSettled(settled) => self.settle(sequence, settled.hand.as_ref()),
            Event::HandVoided(voided) => self.void(sequence, &voided.refunds),
            _ => {}
        }
    }

    fn put_in(&mut self, seat: u32, amount: i64) {
        let seat = self.seats.entry(seat).or_default();
        seat.stack -= i128::from(amount);
        seat.in_hand += i128::from(amount);
        self.pot += i128::from(amount);
    }

    fn settle(&mut self, sequence: u64, hand: Option<&SettledHand>) {
        let Some(hand) = hand else {
            return self.fault(sequence, "a hand was paid without an account".to_owned());
        };
        let number = hand.hand_number;
        let sum = |amounts: &mut dyn Iterator<Item = i64>| amounts.map(i128::from).sum::<i128>();
        let pots = sum(&mut hand.pots.iter().map(|pot| pot.amount));
        let rake = sum(&mut hand.pots.iter().map(|pot| pot.rake));
        let won = sum(&mut hand.pots.iter().flat_map(|pot| &pot.winners).map(|winner| winner.amount));
        if pots != self.pot {
            self.fault(sequence, format!("hand {number}: {} were put in, the pots have {pots}", self.pot));
        }
        if rake != i128::from(hand.rake) || won + rake != pots {
            let taken = hand.rake;
            self.fault(
                sequence,
                format!("hand {number}: pots of {pots} paid {won}, rake {rake} and {taken} in all"),
            );
        }
        for player in &hand.players {
            let seat = self.seats.entry(player.seat).or_default();
            let before = seat.stack + seat.in_hand;
            let right = before == i128::from(player.stack_before)
                && seat.in_hand == i128::from(player.contributed)
                && seat.stack + i128::from(player.won) == i128::from(player.stack_after);
            seat.stack += i128::from(player.won);
            let (seat, had, after) = (player.seat, before, player.stack_after);
            if !right {
                self.fault(
                    sequence,
                    format!("hand {number}: the account of seat {seat}, who had {had}, ends at {after}"),
                );
            }
        }
        self.pot -= won + rake;
        self.raked += rake;
        self.balance(sequence, number);
    }

    fn void(&mut self, sequence: u64, refunds: &[SeatAmount]) {
        for refund in refunds {
            let seat = self.seats.entry(refund.seat).or_default();
            let put_in = seat.in_hand;
            seat.stack += i128::from(refund.amount);
            self.pot -= i128::from(refund.amount);
            if put_in != i128::from(refund.amount) {
                let (seat, back) = (refund.seat, refund.amount);
                self.fault(sequence, format!("a void gives seat {seat} {back} back, who put {put_in} in"));
            }
        }
        if self.pot != 0 {
            self.fault(sequence, format!("a void leaves {} in the pot", self.pot));
        }
    }

    /// All chips that can be accounted for.
    fn there(&self) -> i128 {
        let stacks = self.seats.values().map(|seat| seat.stack).sum::<i128>();
        stacks + self.pot + self.paid + self.raked
    }

    /// Between hands: the pot is empty, and nothing is missing.
    fn balance(&mut self, sequence: u64, hand: u64) {
        let there = self.there();
        if self.pot != 0 || there != self.brought {
            let (pot, brought) = (self.pot, self.brought);
            self.fault(
                sequence,
                format!("after hand {hand} {pot} are left in the pot; {there} of {brought} are there"),
            );
        }
    }

    fn fault(&mut self, sequence: u64, what: String) {
        self.faults.push(Fault { kind: Kind::ChipsOff, sequence, what });
    }

    /// What is wrong at the log's end.
    pub fn finish(&self, sequence: u64, found: &mut Findings) {
        found.take(&self.faults);
        let there = self.there();
        if there != self.brought {
            let brought = self.brought;
            found.add(Kind::ChipsOff, sequence, format!("{brought} were brought, {there} are accounted for"));
        }
    }
}
