//! The beginning of a hand: who plays, who posts what, and the hole cards (rules 1.4, 2).

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::blinds::{Contender, LineUp, Standing, line_up};
use crate::config::Limit;
use crate::deck::Deck;
use crate::draft::{Draft, Step};
use crate::event::{Event, HandStart};
use crate::hand::{Holes, Street};
use crate::player::Seat;
use crate::posts::{Forced, ForcedBets, forced_bets};
use crate::refusal::Refusal;
use crate::table::{Life, Table};
use crate::terms::{SatOutReason, Wish};
use crate::{Card, Chips, SeatNo, SeatSet};

impl Draft {
    pub(crate) fn start_hand(&mut self, deck: &Deck, draw: u64) -> Step {
        if self.table.life != Life::Open {
            return Err(Refusal::TableClosed);
        }
        if !self.table.stops.is_empty() {
            return Err(Refusal::TableStopped);
        }
        if self.table.running_hand().is_some() {
            return Err(Refusal::HandRunning);
        }
        let at = self.table.next_hand_at;
        if at.is_none_or(|at| at > self.at) {
            return Err(Refusal::NotDue { at });
        }
        match self.find_line_up(draw) {
            Some(line_up) => self.deal(deck, &line_up),
            None => self.emit(Event::PlayHalted),
        }
        Ok(())
    }

    /// The line-up of the coming hand. Whoever wishes to sit out at his next big blind does so now (rules 9.3).
    fn find_line_up(&mut self, draw: u64) -> Option<LineUp> {
        loop {
            let found = self.table.line_up(draw)?;
            let big = found.positions.big;
            let wish = self.table.seat(big).and_then(|s| s.wish);
            if wish != Some(Wish::NextBigBlind) {
                return Some(found);
            }
            self.sit_out_now(big, SatOutReason::Asked);
        }
    }

    fn deal(&mut self, deck: &Deck, line_up: &LineUp) {
        let ForcedBets { forced, bring_in, first_to_act_after } = self.table.forced_bets(line_up);
        self.emit(Event::HandStarted(Box::new(HandStart {
            number: self.table.hands + 1,
            at: self.at,
            deck: deck.clone(),
            positions: line_up.positions,
            dealt: line_up.dealt,
            debts: line_up.debts.clone(),
            bring_in,
            first_after: first_to_act_after,
        })));
        self.refill_time_banks(line_up.dealt);
        for bet in forced {
            self.emit(match bet {
                Forced::Post { seat, kind, amount } => Event::Posted { seat, kind, amount },
                Forced::AnteReturned { seat, amount } => Event::UncalledReturned { seat, amount },
            });
        }
        self.deal_holes();
        self.go_on();
    }

    fn refill_time_banks(&mut self, dealt: SeatSet) {
        let clocks = self.table.config.clocks;
        let Some(refill) = clocks.refill else {
            return;
        };
        for no in dealt.iter() {
            let Some(seat) = self.table.seat(no) else {
                continue;
            };
            let bank = (seat.time_bank + refill.amount).min(clocks.time_bank);
            if seat.hands.is_multiple_of(refill.every_hands) && bank > seat.time_bank {
                self.emit(Event::TimeBankRefilled { seat: no, bank });
            }
        }
    }

    /// One card at a time, first seat left of the button first (rules 1.4).
    fn deal_holes(&mut self) {
        let Some(hand) = self.table.running_hand() else {
            return;
        };
        let seats: Vec<SeatNo> = hand.dealt.clockwise_after(hand.positions.button).collect();
        let rounds = self.table.config.game.hole_cards();
        let deals: Vec<Event> = seats
            .iter()
            .enumerate()
            .filter_map(|(place, seat)| {
                let card = |round: usize| hand.deck.cards()[round * seats.len() + place];
                let cards: Vec<Card> = (0..rounds).map(card).collect();
                Some(Event::HoleDealt {
                    seat: *seat,
                    player: hand.player(*seat)?.player.clone(),
                    cards: Holes::from_cards(&cards)?,
                })
            })
            .collect();
        deals.into_iter().for_each(|deal| self.emit(deal));
    }

    /// Burns one card and deals the street (rules 1.4).
    pub(crate) fn deal_street(&mut self, street: Street) {
        let Some(hand) = self.table.running_hand() else {
            return;
        };
        let first = usize::from(hand.used) + 1;
        let cards = hand.deck.cards()[first..first + street.cards()].to_vec();
        self.emit(Event::StreetDealt { street, cards });
    }
}

impl Table {
    fn line_up(&self, draw: u64) -> Option<LineUp> {
        let contenders: Vec<Contender> = self.occupied().map(|(no, seat)| contender(no, seat)).collect();
        line_up(self.positions, self.interrupted, &contenders, draw)
    }

    fn forced_bets(&self, line_up: &LineUp) -> ForcedBets {
        let dealt = || self.occupied().filter(|(no, _)| line_up.dealt.contains(*no));
        let stacks: Vec<(SeatNo, Chips)> = dealt().map(|(no, seat)| (no, seat.stack)).collect();
        let straddlers = dealt().filter(|(_, seat)| seat.straddle).map(|(no, _)| no).collect();
        let fixed = self.config.limit == Limit::FixedLimit;
        forced_bets(line_up, &self.config.stakes, &stacks, straddlers, fixed)
    }
}

fn contender(no: SeatNo, seat: &Seat) -> Contender {
    Contender {
        seat: no,
        standing: if seat.established {
            Standing::Established
        } else {
            Standing::Entering { newcomer: seat.newcomer, post: seat.post }
        },
        debt: seat.debt,
        can_play: seat.can_play(),
    }
}
