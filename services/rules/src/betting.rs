//! Who has to bet, and what is legal for him (rules 5).

use crate::config::{Limit, TableConfig};
use crate::hand::{Hand, HandPlayer, Street};
use crate::legal::{Legal, RaiseRange};
use crate::refusal::Refusal;
use crate::table::Table;
use crate::terms::{Action, Play, PromptKind};
use crate::{Chips, SeatNo, SeatSet};

/// Bets and raises a street in fixed limit (rules 5.6); before the flop the big blind is the first of them.
const CAP: u8 = 4;

/// The betting as one seat faces it.
pub(crate) struct Facing<'a> {
    config: &'a TableConfig,
    hand: &'a Hand,
    player: &'a HandPlayer,
    stack: Chips,
    /// Bet and stack of each live opponent.
    opponents: [Option<(Chips, Chips)>; SeatNo::MAX as usize],
}

impl Table {
    /// What the one player to act may do; nothing while nobody or several are asked, or a pivot is due.
    #[must_use]
    pub fn legal_now(&self) -> Option<Legal> {
        let prompt = self.running_hand()?.prompt?;
        if prompt.kind != PromptKind::Act {
            return None;
        }
        Some(self.facing(prompt.seats.iter().next()?)?.legal())
    }

    pub(crate) fn facing(&self, seat: SeatNo) -> Option<Facing<'_>> {
        let hand = self.hand.as_ref()?;
        let player = hand.player(seat).filter(|p| !p.folded)?;
        let mut opponents = [None; SeatNo::MAX as usize];
        for other in hand.live().iter().filter(|other| *other != seat) {
            let bet = hand.player(other)?.bet;
            opponents[other.index()] = Some((bet, self.seat(other)?.stack));
        }
        Some(Facing { config: &self.config, hand, player, stack: self.seat(seat)?.stack, opponents })
    }

    /// Live players who still have chips to bet.
    pub(crate) fn with_chips(&self, hand: &Hand) -> SeatSet {
        let has_chips = |no: &SeatNo| self.seat(*no).is_some_and(|s| !s.stack.is_zero());
        hand.live().iter().filter(has_chips).collect()
    }
}

impl Facing<'_> {
    fn opponents(&self) -> impl Iterator<Item = (Chips, Chips)> + '_ {
        self.opponents.iter().flatten().copied()
    }

    /// The largest bet against him, where all opponents are all-in.
    fn all_in_against(&self) -> Option<Chips> {
        if self.opponents().any(|(_, stack)| !stack.is_zero()) {
            return None;
        }
        self.opponents().map(|(bet, _)| bet).max()
    }

    /// Whether he is asked at all (rules 5.9).
    pub(crate) fn must_act(&self) -> bool {
        let matched = self.player.acted && self.player.bet >= self.hand.betting.level;
        let nothing_to_call = self.all_in_against().is_some_and(|most| most <= self.player.bet);
        !self.stack.is_zero() && !matched && !nothing_to_call
    }

    /// What he may do (rules 5.1 to 5.11).
    pub(crate) fn legal(&self) -> Legal {
        // Rules 2.7: against all-in players only, the largest of their bets is called, not the full blind.
        let level = self.all_in_against().unwrap_or(self.hand.betting.level);
        let call = level.saturating_sub(self.player.bet).min(self.stack);
        let raise = self.raise(call);
        let total = self.player.bet + self.stack;
        let all_in = call == self.stack || raise.is_some_and(|r| r.max_to == total);
        Legal { call, raise, all_in }
    }

    fn raise(&self, call: Chips) -> Option<RaiseRange> {
        let betting = &self.hand.betting;
        // Rules 5.10: somebody must have chips left to call a part of it.
        let callable = self.opponents().any(|(bet, stack)| !stack.is_zero() && bet + stack > betting.level);
        if call == self.stack || !callable {
            return None;
        }
        let (min_to, max_to) = match self.config.limit {
            Limit::FixedLimit => self.limit_raise()?,
            _ => self.big_bet_raise(call)?,
        };
        let all_in = self.player.bet + self.stack;
        Some(RaiseRange {
            min_to: min_to.min(all_in),
            max_to: max_to.min(all_in),
            is_bet: betting.level.is_zero(),
        })
    }

    /// No-limit and pot-limit: the smallest and the largest raise, as if chips had no end.
    fn big_bet_raise(&self, call: Chips) -> Option<(Chips, Chips)> {
        let betting = &self.hand.betting;
        // Rules 5.2: one who has acted needs to face a full raise.
        let faced = betting.level.saturating_sub(self.player.bet);
        if self.player.acted && faced < betting.full_raise {
            return None;
        }
        let min_to = betting.level + betting.full_raise;
        let max_to = match self.config.limit {
            // Rules 5.5: the call plus the pot after that call.
            Limit::PotLimit => betting.level + crate::pots::total(self.hand) + call,
            _ => Chips(u64::MAX),
        };
        Some((min_to, max_to.max(min_to)))
    }

    /// Fixed limit: the one legal raise (rules 5.6 and 5.7).
    fn limit_raise(&self) -> Option<(Chips, Chips)> {
        let betting = &self.hand.betting;
        let unit = match self.hand.street {
            Street::PreFlop | Street::Flop => self.config.stakes.small_bet,
            Street::Turn | Street::River => self.config.stakes.big_bet,
        };
        let before_flop = u8::from(self.hand.street == Street::PreFlop);
        let capped = betting.live_at_start != 2 || self.config.limit_cap_heads_up;
        if capped && betting.raises + before_flop >= CAP {
            return None;
        }
        let faced = betting.level.saturating_sub(self.player.bet);
        if self.player.acted && faced.doubled() < unit {
            return None;
        }
        // A short all-in is pending above the last full bet: it may be completed.
        let to = if betting.level > betting.base { betting.base + unit } else { betting.level + unit };
        Some((to, to))
    }

    /// What an action comes to: what it is, his bet afterwards, and the chips for it. Errors: the action or its
    /// amount is not legal (rules 5.8).
    pub(crate) fn resolve(&self, action: Action) -> Result<(Play, Chips, Chips), Refusal> {
        let legal = self.legal();
        let illegal = Err(Refusal::IllegalAction { legal });
        let bet = self.player.bet;
        let put_to = |play, to: Chips| Ok((play, to, to - bet));
        match action {
            Action::Fold => put_to(Play::Fold, bet),
            Action::Check if legal.can_check() => put_to(Play::Check, bet),
            Action::Call if !legal.can_check() => put_to(Play::Call, bet + legal.call),
            Action::Bet(to) | Action::Raise(to) => match legal.raise {
                Some(range) if range.is_bet == matches!(action, Action::Bet(_)) => {
                    if to < range.min_to || to > range.max_to {
                        return Err(Refusal::IllegalAmount { legal });
                    }
                    put_to(range.play(), to)
                }
                _ => illegal,
            },
            Action::AllIn if legal.all_in => match legal.raise {
                Some(range) => put_to(range.play(), bet + self.stack),
                None => put_to(Play::Call, bet + self.stack),
            },
            _ => illegal,
        }
    }
}

impl RaiseRange {
    const fn play(&self) -> Play {
        if self.is_bet { Play::Bet } else { Play::Raise }
    }
}
