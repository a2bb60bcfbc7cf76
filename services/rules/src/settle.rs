//! The end of a hand: showdown, pots, rake, and what becomes of the seats (rules 6, 7, 9).

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::draft::Draft;
use crate::event::Event;
use crate::hand::{Hand, Street};
use crate::player::Presence;
use crate::pots::{Pot, build, contributions, split};
use crate::result::{HandResult, PlayerResult, PotResult, ShownValue};
use crate::table::{Life, Table};
use crate::terms::{LeaveReason, SatOutReason};
use crate::{Chips, Millis, SeatNo, rake, showdown};

impl Draft {
    /// Shows, pays and ends the running hand.
    pub(crate) fn settle(&mut self) {
        let Some(hand) = self.table.running_hand() else {
            return;
        };
        let pots = build(&contributions(hand, false));
        let values = match hand.live().len() {
            0 | 1 => Vec::new(),
            _ => showdown::values(hand),
        };
        if hand.live().len() > 1 {
            self.show_down(&pots, &values);
        }
        if let Some(result) = self.table.result(&pots, &values, self.at) {
            self.emit(Event::HandSettled(Box::new(result)));
        }
        self.after_hand();
    }

    fn show_down(&mut self, pots: &[Pot], values: &[(SeatNo, ShownValue)]) {
        let Some(hand) = self.table.running_hand() else {
            return;
        };
        let order = showdown::order(hand);
        // Rules 6.5: with a player all-in nobody mucks.
        let all_in = self.table.with_chips(hand).len() < hand.live().len();
        let all = all_in || self.table.config.show_all;
        let always = |seat| all || self.table.seat(seat).is_some_and(|s| s.always_show);
        for (seat, shows) in showdown::showing(&order, pots, values, always) {
            if shows {
                self.open(&[seat]);
            } else {
                self.emit(Event::HandMucked { seat });
            }
        }
    }

    /// What waited for the end of the hand: pay-outs, chips, wishes, closing, the next hand (rules 9).
    pub(crate) fn after_hand(&mut self) {
        let seats: Vec<SeatNo> = self.table.occupied().map(|(no, _)| no).collect();
        for no in seats {
            let leaving = |presence| presence == Presence::Leaving;
            if self.table.seat(no).is_some_and(|s| leaving(s.presence)) {
                self.pay_out(no, LeaveReason::Asked);
                continue;
            }
            self.settle_pending(no, false);
            self.sit_out_after_hand(no);
        }
        self.close_now();
        self.schedule();
    }

    fn sit_out_after_hand(&mut self, no: SeatNo) {
        let Some(seat) = self.table.seat(no) else {
            return;
        };
        if seat.presence != Presence::In {
            return;
        }
        if seat.wish == Some(crate::terms::Wish::NextHand) {
            self.sit_out_now(no, SatOutReason::Asked);
        } else if seat.stack.is_zero() {
            self.sit_out_now(no, SatOutReason::NoChips);
        }
    }

    /// Makes the next hand due once two can play and nothing stands against it; notes when fewer than two can
    /// (rules 2.9).
    pub(crate) fn schedule(&mut self) {
        let table = &self.table;
        if table.running_hand().is_some() || table.life != Life::Open {
            return;
        }
        let due = table.next_hand_at.is_some();
        if table.able_to_play().len() < 2 {
            let played = table.positions.is_some() && !table.interrupted;
            if due || played {
                self.emit(Event::PlayHalted);
            }
        } else if !due && table.stops.is_empty() {
            let at = self.at + table.config.clocks.between_hands;
            self.emit(Event::HandScheduled { at });
        }
    }
}

impl Table {
    fn result(&self, pots: &[Pot], values: &[(SeatNo, ShownValue)], at: Millis) -> Option<HandResult> {
        let hand = self.running_hand()?;
        let amounts: Vec<Chips> = pots.iter().map(|pot| pot.amount).collect();
        let flop_seen = hand.street > Street::PreFlop;
        let raked = rake::of_hand(&self.config.rake, hand.dealt.len(), flop_seen, &amounts);
        let raked_pots = rake::share(raked, &amounts);
        let pots: Vec<PotResult> =
            pots.iter().zip(raked_pots).map(|(pot, rake)| pay(pot, rake, values)).collect();
        let players = self.players_result(hand, &pots, values, raked)?;
        Some(HandResult {
            number: hand.number,
            started_at: hand.started_at,
            settled_at: at,
            pots,
            rake: raked,
            players,
        })
    }

    fn players_result(
        &self,
        hand: &Hand,
        pots: &[PotResult],
        values: &[(SeatNo, ShownValue)],
        raked: Chips,
    ) -> Option<Vec<PlayerResult>> {
        let seats: Vec<SeatNo> = hand.dealt.clockwise_after(hand.positions.button).collect();
        let put_in = |seat: &SeatNo| hand.player(*seat).map_or(Chips::ZERO, |p| p.live + p.dead);
        let weights: Vec<Chips> = seats.iter().map(put_in).collect();
        let shares = rake::share(raked, &weights);
        seats
            .iter()
            .zip(shares)
            .map(|(no, rake_share)| {
                let player = hand.player(*no)?;
                let seat = self.seat(*no)?;
                let won = won_by(*no, pots);
                let value = values.iter().find(|(other, _)| other == no);
                Some(PlayerResult {
                    seat: *no,
                    player: player.player.clone(),
                    session: seat.session,
                    stack_before: player.stack_before,
                    contributed: player.live + player.dead,
                    returned: player.returned,
                    won,
                    rake_share,
                    stack_after: seat.stack + won,
                    shown: value.filter(|_| player.shown).map(|(_, value)| *value),
                })
            })
            .collect()
    }
}

fn pay(pot: &Pot, rake: Chips, values: &[(SeatNo, ShownValue)]) -> PotResult {
    let winners = showdown::winners(pot, values);
    PotResult {
        amount: pot.amount,
        rake,
        eligible: pot.eligible,
        winners: split(pot.amount - rake, &winners),
    }
}

fn won_by(seat: SeatNo, pots: &[PotResult]) -> Chips {
    let wins = pots.iter().flat_map(|pot| &pot.winners);
    wins.filter(|(winner, _)| *winner == seat).map(|(_, amount)| *amount).sum()
}
