//! Requests that must be refused, and the reason that must be given.

use rules::event::{PromptKind, StopScope};
use rules::hand::{Hand, Prompt};
use rules::{Action, Ask, Chips, Command, Legal, Millis, Pick, PivotOrder, PlayerId, SeatNo, Wish};

use super::{Fate, Life};

impl Life {
    /// Something wrong, if anything of the drawn kind can be wrong now.
    pub(super) fn wrong(&mut self) -> Option<(Command, Fate)> {
        if self.is_closed() {
            return None;
        }
        let (ask, reason) = match self.random.below(3) {
            0 => self.wrong_around()?,
            1 => self.wrong_time()?,
            _ => return self.wrong_decision(),
        };
        Some((self.at_now(ask), Fate::Refused(reason)))
    }

    fn stranger(&self) -> PlayerId {
        Life::name(self.players + 1)
    }

    /// Of players who are not there, and with amounts that cannot be.
    fn wrong_around(&mut self) -> Option<(Ask, &'static str)> {
        let player = self.stranger();
        let transaction = String::new();
        let open = self.table.life == rules::table::Life::Open;
        Some(match self.random.below(9) {
            0 => (Ask::StandUp { player, transaction }, "NOT_SEATED"),
            1 => (Ask::SitOut { player, wish: Wish::NextHand }, "NOT_SEATED"),
            2 => (Ask::SitIn { player, post: true }, "NOT_SEATED"),
            3 => (Ask::Prefer { player, straddle: true, always_show: true }, "NOT_SEATED"),
            4 if open => (Ask::AddChips { player, amount: Chips(1), transaction }, "NOT_SEATED"),
            5 if open => {
                let seat = self.table.free_seats().iter().next()?;
                let buy_in = out_of_range(self.table.config.stakes.max_buy_in, self.random.below(3));
                (
                    Ask::Seat { player, seat: Some(seat), buy_in, post: false, transaction },
                    "BUY_IN_OUT_OF_RANGE",
                )
            }
            6 if open => {
                let seat = SeatNo::new(self.table.config.seats + 1)?;
                let buy_in = self.chips();
                (Ask::Seat { player, seat: Some(seat), buy_in, post: false, transaction }, "NO_SUCH_SEAT")
            }
            7 if open => self.wrong_seat()?,
            _ => {
                let scope = StopScope::Game;
                let stopped = self.table.stops.iter().any(|stop| stop.scope == scope);
                (!stopped).then_some((Ask::Resume { scope }, "NOT_STOPPED"))?
            }
        })
    }

    /// A seat that somebody has, for another or for himself once more.
    fn wrong_seat(&mut self) -> Option<(Ask, &'static str)> {
        let (seat, player) = self.anybody()?;
        let buy_in = self.chips();
        let transaction = String::new();
        if self.random.below(2) == 0 {
            return Some((
                Ask::Seat { player, seat: None, buy_in, post: true, transaction },
                "ALREADY_SEATED",
            ));
        }
        let player = self.stranger();
        Some((Ask::Seat { player, seat: Some(seat), buy_in, post: true, transaction }, "SEAT_TAKEN"))
    }

    /// What cannot be done now, or not yet.
    fn wrong_time(&mut self) -> Option<(Ask, &'static str)> {
        let running = self.table.running_hand().is_some();
        let open = self.table.life == rules::table::Life::Open;
        let (last, reason, requester) = (self.table.hands, String::new(), String::new());
        Some(match self.random.below(7) {
            0 => {
                // What is due first says that nothing else is due before.
                let early = self.table.due().is_none_or(|(at, _)| at > self.now);
                early.then_some((Ask::Expire, "NOT_DUE"))?
            }
            1 if open && self.table.stops.is_empty() => {
                let due = self.table.next_hand_at.is_some_and(|at| at <= self.now);
                let reason = if running { "HAND_RUNNING" } else { "NOT_DUE" };
                (running || !due).then(|| (self.start_hand(), reason))?
            }
            2 if running => (Ask::Configure { config: Box::new(self.table.config.clone()) }, "HAND_RUNNING"),
            3 => (Ask::Void { hand: last + 1, reason, requester }, "HAND_UNKNOWN"),
            4 if last > 0 => (Ask::Void { hand: last - 1, reason, requester }, "HAND_OVER"),
            1 if open => (self.start_hand(), "TABLE_STOPPED"),
            5 => self.wrong_settings(running),
            _ => (Ask::CreditOutage { from: self.now, to: self.now }, "ALREADY_CREDITED"),
        })
    }

    /// Settings that no table has, or this one cannot get any more.
    fn wrong_settings(&mut self, running: bool) -> (Ask, &'static str) {
        let mut config = Box::new(self.table.config.clone());
        let reason = match self.random.below(2) {
            0 if !running => {
                config.currency = *b"USD";
                "FIXED_SETTING"
            }
            _ => {
                config.seats = 11;
                "BAD_CONFIG"
            }
        };
        (Ask::Configure { config }, reason)
    }

    /// A decision that is late, early, somebody else's, or none that is legal.
    fn wrong_decision(&mut self) -> Option<(Command, Fate)> {
        let hand = self.table.running_hand()?.clone();
        let prompt = hand.prompt?;
        let seat = prompt.seats.iter().next()?;
        let player = hand.player(seat)?.player.clone();
        let (number, turn) = (hand.number, prompt.turn);
        let fold = |player, hand, turn| Ask::Act { player, hand, turn, action: Action::Fold };
        let last = prompt.bank_until + self.table.config.clocks.grace;
        let mut at = self.now.min(last);
        let (ask, reason) = match self.random.below(8) {
            0 => (fold(player, number, turn + 1), "TURN_NOT_REACHED"),
            1 => (fold(player, number, turn.checked_sub(1)?), "TURN_PASSED"),
            2 => (fold(player, number + 1, turn), "HAND_UNKNOWN"),
            3 => (fold(player, number.checked_sub(1)?, turn), "HAND_OVER"),
            4 => (fold(self.stranger(), number, turn), "NOT_IN_HAND"),
            5 => {
                at = last + Millis(1 + self.random.below(1_000_000) as u64);
                let pick = Pick::ALL[self.random.below(3)];
                let late = match prompt.kind {
                    PromptKind::Act => fold(player, number, turn),
                    PromptKind::Pick => Ask::Pick { player, hand: number, turn, pick },
                };
                (late, "CLOCK_RAN_OUT")
            }
            6 => self.of_another(&hand, &prompt)?,
            _ => self.illegal(&hand, &prompt, player)?,
        };
        Some((Command { at, ask }, Fate::Refused(reason)))
    }

    /// Of a player in the hand who is not asked.
    fn of_another(&mut self, hand: &Hand, prompt: &Prompt) -> Option<(Ask, &'static str)> {
        let others: Vec<SeatNo> = hand.dealt.iter().filter(|seat| !prompt.seats.contains(*seat)).collect();
        let seat = *others.get(self.random.below(others.len().max(1)))?;
        let player = hand.player(seat)?.player.clone();
        let action = if self.random.below(2) == 0 { Action::Fold } else { Action::AllIn };
        Some((Ask::Act { player, hand: hand.number, turn: prompt.turn, action }, "NOT_YOUR_TURN"))
    }

    /// Of the player to act, but not legal.
    fn illegal(&mut self, hand: &Hand, prompt: &Prompt, player: PlayerId) -> Option<(Ask, &'static str)> {
        let (number, turn) = (hand.number, prompt.turn);
        let act = |player, action| Ask::Act { player, hand: number, turn, action };
        let Some(legal) = self.table.legal_now() else {
            let together = self.table.config.pivot_order == PivotOrder::Simultaneous;
            let action = if together { Action::Fold } else { Action::Check };
            return Some((act(player, action), "PIVOT_DUE"));
        };
        if self.random.below(4) == 0 {
            let picked = hand.player(prompt.seats.iter().next()?)?.pick.is_some();
            let pick = Pick::ALL[self.random.below(3)];
            let reason = if picked { "PIVOT_PICKED" } else { "NO_PIVOT_DUE" };
            return Some((Ask::Pick { player, hand: number, turn, pick }, reason));
        }
        let wrong = illegal_actions(&legal);
        let (action, reason) = *wrong.get(self.random.below(wrong.len().max(1)))?;
        Some((act(player, action), reason))
    }
}

/// What this legal set does not hold.
fn illegal_actions(legal: &Legal) -> Vec<(Action, &'static str)> {
    let mut wrong = Vec::new();
    wrong.push((if legal.can_check() { Action::Call } else { Action::Check }, "ILLEGAL_ACTION"));
    if !legal.all_in {
        wrong.push((Action::AllIn, "ILLEGAL_ACTION"));
    }
    let Some(range) = legal.raise else {
        wrong.push((Action::Raise(legal.call.doubled()), "ILLEGAL_ACTION"));
        wrong.push((Action::Bet(Chips(1)), "ILLEGAL_ACTION"));
        return wrong;
    };
    type Make = fn(Chips) -> Action;
    let (right, other): (Make, Make) =
        if range.is_bet { (Action::Bet, Action::Raise) } else { (Action::Raise, Action::Bet) };
    wrong.push((other(range.min_to), "ILLEGAL_ACTION"));
    wrong.push((right(range.min_to - Chips(1)), "ILLEGAL_AMOUNT"));
    wrong.push((right(range.max_to + Chips(1)), "ILLEGAL_AMOUNT"));
    wrong.push((right(Chips::ZERO), "ILLEGAL_AMOUNT"));
    wrong.push((right(Chips(u64::MAX)), "ILLEGAL_AMOUNT"));
    wrong
}

fn out_of_range(max: Chips, which: usize) -> Chips {
    match which {
        0 => Chips::ZERO,
        1 => max + Chips(1),
        _ => Chips(u64::MAX),
    }
}
