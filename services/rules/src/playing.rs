//! Decisions of players in a hand: bets, pivots and voluntary shows (rules 4, 5, 6.6).

use crate::command::{Ask, Command};
use crate::config::PivotOrder;
use crate::draft::{Draft, Step};
use crate::event::Event;
use crate::hand::{Accepted, Decision, End, Prompt};
use crate::pivot::Pick;
use crate::player::PlayerId;
use crate::refusal::Refusal;
use crate::table::Table;
use crate::terms::{Action, By, Play, PromptKind};
use crate::{Millis, SeatNo, SeatSet};

impl Table {
    /// The accepted decision that this command repeats, in the running or the previous hand: same player, hand and
    /// turn, same decision. To be asked before [`Table::decide`], which refuses a decided turn.
    #[must_use]
    pub fn repeated(&self, command: &Command) -> Option<Accepted> {
        let (player, hand, turn) = match &command.ask {
            Ask::Act { player, hand, turn, .. } | Ask::Pick { player, hand, turn, .. } => {
                (player, *hand, *turn)
            }
            _ => return None,
        };
        let asked = |made: &Accepted| match (&command.ask, made.decision) {
            (Ask::Act { action, .. }, Decision::Acted { asked, .. }) => *action == asked,
            (Ask::Pick { pick, .. }, Decision::Picked(picked)) => *pick == picked,
            _ => false,
        };
        let (seat, accepted) = self.decisions_of(player, hand)?;
        let mut made = accepted.iter().filter(|a| a.turn == turn && a.seat == seat);
        made.find(|a| asked(a)).copied()
    }

    fn decisions_of(&self, player: &PlayerId, number: u64) -> Option<(SeatNo, &[Accepted])> {
        if let Some(hand) = self.hand.as_ref().filter(|h| h.number == number) {
            return Some((hand.seat_of(player)?, &hand.accepted));
        }
        if self.past.number != number {
            return None;
        }
        let mut players = self.past.players.iter();
        let (seat, _) = players.find(|(_, other)| other == player)?;
        Some((*seat, &self.past.accepted))
    }

    /// The prompt that a decision for this hand and turn answers. Errors: it answers none.
    fn prompt_for(&self, player: &PlayerId, number: u64, turn: u32) -> Result<(SeatNo, Prompt), Refusal> {
        let last = self.hands;
        let hand = match &self.hand {
            Some(hand) if hand.number == number => hand,
            _ if number > last => return Err(Refusal::HandUnknown { last }),
            _ => return Err(Refusal::HandOver { last }),
        };
        let prompt = hand.prompt.ok_or(Refusal::HandOver { last })?;
        let seat = hand.seat_of(player).ok_or(Refusal::NotInHand)?;
        let current = prompt.turn;
        if turn < current {
            return Err(Refusal::TurnPassed { current });
        }
        if turn > current {
            return Err(Refusal::TurnNotReached { current });
        }
        if !prompt.seats.contains(seat) {
            return Err(Refusal::NotYourTurn { seats: prompt.seats });
        }
        Ok((seat, prompt))
    }

    fn has_picked(&self, player: &PlayerId) -> bool {
        let hand = self.running_hand();
        hand.and_then(|h| h.player(h.seat_of(player)?)?.pick).is_some()
    }
}

impl Draft {
    pub(crate) fn act(&mut self, player: &PlayerId, hand: u64, turn: u32, action: Action) -> Step {
        let (seat, prompt) = self.table.prompt_for(player, hand, turn)?;
        // Rules 4.5: the one thing to do instead of picking is to fold, in turn.
        let together = self.table.config.pivot_order == PivotOrder::Simultaneous;
        if prompt.kind == PromptKind::Pick && (together || action != Action::Fold) {
            return Err(Refusal::PivotDue);
        }
        self.in_time(&prompt)?;
        let facing = self.table.facing(seat).ok_or(Refusal::NotInHand)?;
        let (play, to, added) = facing.resolve(action)?;
        let stack = self.table.seat(seat).map(|s| s.stack);
        let bank_used = match prompt.kind {
            PromptKind::Act => (self.at - prompt.act_by).min(prompt.bank_until - prompt.act_by),
            PromptKind::Pick => Millis::ZERO,
        };
        self.emit(Event::Acted {
            turn,
            seat,
            play,
            to,
            added,
            all_in: play != Play::Fold && !added.is_zero() && stack == Some(added),
            by: By::Player,
            asked: Some(action),
            bank_used,
        });
        self.go_on();
        Ok(())
    }

    pub(crate) fn pick(&mut self, player: &PlayerId, hand: u64, turn: u32, pick: Pick) -> Step {
        let found = self.table.prompt_for(player, hand, turn);
        let (seat, prompt) = found.map_err(|refusal| match refusal {
            // Whoever is asked now: this player has picked, and that is final (rules 4.2).
            Refusal::NotYourTurn { .. } if self.table.has_picked(player) => Refusal::PivotPicked,
            other => other,
        })?;
        if prompt.kind != PromptKind::Pick {
            let picked = self.table.has_picked(player);
            return Err(if picked { Refusal::PivotPicked } else { Refusal::NoPivotDue });
        }
        self.in_time(&prompt)?;
        self.emit(Event::PivotPicked { turn, seat, player: player.clone(), pick, by: By::Player });
        self.go_on();
        Ok(())
    }

    /// Rules 8.2: a decision counts until the clock, its time bank and the grace have run out.
    fn in_time(&self, prompt: &Prompt) -> Step {
        let at = self.table.answer_by(prompt);
        if self.at > at { Err(Refusal::ClockRanOut { at }) } else { Ok(()) }
    }

    /// Shows the hand that won without a showdown (rules 6.6).
    pub(crate) fn show(&mut self, player: &PlayerId, number: u64) -> Step {
        let last = self.table.hands;
        if number > last {
            return Err(Refusal::HandUnknown { last });
        }
        let hand = match &self.table.hand {
            Some(hand) if hand.number == number => hand,
            _ => return Err(Refusal::HandOver { last }),
        };
        let seat = hand.seat_of(player).ok_or(Refusal::NotInHand)?;
        let uncontested = match hand.end {
            Some(End::Settled { uncontested }) => uncontested,
            _ => None,
        };
        let shown = hand.player(seat).is_some_and(|p| p.shown);
        if uncontested != Some(seat) || shown {
            return Err(Refusal::NothingToShow);
        }
        self.open(&[seat]);
        Ok(())
    }

    /// Applies every time-out that is due (rules 5.9, 4.6, 8.3).
    pub(crate) fn expire(&mut self) -> Step {
        let at = self.table.next_expiry();
        if at.is_none_or(|at| at > self.at) {
            return Err(Refusal::NotDue { at });
        }
        if let Some(prompt) = self.table.expired_prompt(self.at) {
            self.time_out(&prompt);
        }
        for seat in self.table.sat_out_too_long(self.at).iter() {
            self.pay_out(seat, crate::terms::LeaveReason::SatOutTooLong);
        }
        Ok(())
    }

    fn time_out(&mut self, prompt: &Prompt) {
        let seats: SeatSet = prompt.seats;
        for seat in seats.iter() {
            match prompt.kind {
                PromptKind::Act => {
                    let bank = prompt.bank_until - prompt.act_by;
                    self.default_bet(prompt.turn, seat, By::TimeOut, bank);
                }
                PromptKind::Pick => self.default_pick(prompt.turn, seat, By::TimeOut),
            }
            self.sit_out_after_timeouts(seat);
        }
        self.go_on();
    }

    fn sit_out_after_timeouts(&mut self, seat: SeatNo) {
        let most = self.table.config.clocks.timeouts_to_sit_out;
        let present = |s: &&crate::player::Seat| s.presence == crate::player::Presence::In;
        let timeouts = self.table.seat(seat).filter(present).map(|s| s.timeouts);
        if timeouts.is_some_and(|n| n >= most) {
            self.sit_out_now(seat, crate::terms::SatOutReason::TimedOut);
        }
    }
}
