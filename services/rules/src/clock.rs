//! When something is due (rules 8). Deadlines are data; whoever has a clock applies them.

use crate::hand::Prompt;
use crate::player::Presence;
use crate::table::{Life, Table};
use crate::terms::PromptKind;
use crate::{Millis, SeatSet};

/// What is to be asked of the table when its time has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// [`crate::command::Ask::Expire`].
    Expire,
    /// [`crate::command::Ask::StartHand`].
    StartHand,
    /// [`crate::command::Ask::TakePayments`].
    Payments,
}

impl Table {
    /// What is due next, and from when on, ms since the epoch.
    #[must_use]
    pub fn due(&self) -> Option<(Millis, Due)> {
        let expire = self.next_expiry().map(|at| (at, Due::Expire));
        let start = self.next_hand_at.map(|at| (at, Due::StartHand));
        let payments = self.next_payment().map(|at| (at, Due::Payments));
        // Of what is due at the same time a time-out comes first: it may end what the others are about.
        [expire, start, payments].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// The earliest moment at which a time-out may be applied, grace included.
    pub(crate) fn next_expiry(&self) -> Option<Millis> {
        if matches!(self.life, Life::Closed { .. }) {
            return None;
        }
        let prompt = self.running_hand().and_then(|h| h.prompt);
        let prompt = prompt.map(|p| self.lapses(&p));
        let sitting_out = self.sitting_out_ends().map(|(_, at)| at).min();
        prompt.into_iter().chain(sitting_out).min()
    }

    /// The prompt whose clock, time bank and grace are over.
    pub(crate) fn expired_prompt(&self, now: Millis) -> Option<Prompt> {
        let prompt = self.running_hand()?.prompt?;
        (self.lapses(&prompt) <= now).then_some(prompt)
    }

    /// The last moment at which an answer counts: clock, time bank and grace (rules 8.2).
    pub(crate) fn answer_by(&self, prompt: &Prompt) -> Millis {
        prompt.bank_until + self.config.clocks.grace
    }

    /// An answer of the last moment counts, even if it is read later: the time-out comes after that.
    fn lapses(&self, prompt: &Prompt) -> Millis {
        self.answer_by(prompt) + Millis(1)
    }

    pub(crate) fn sat_out_too_long(&self, now: Millis) -> SeatSet {
        self.sitting_out_ends().filter(|(_, at)| *at <= now).map(|(seat, _)| seat).collect()
    }

    /// Until when each seat may sit out; one that is in the running hand stays for its end.
    fn sitting_out_ends(&self) -> impl Iterator<Item = (crate::SeatNo, Millis)> + '_ {
        self.occupied().filter_map(|(no, seat)| match seat.presence {
            Presence::Out { since, .. } if !self.in_running_hand(no) => {
                Some((no, since + self.config.clocks.sit_out_limit))
            }
            _ => None,
        })
    }

    /// Whether the time bank runs for this prompt at this time (rules 8.1).
    #[must_use]
    pub fn bank_runs(&self, prompt: &Prompt, now: Millis) -> bool {
        prompt.kind == PromptKind::Act && now > prompt.act_by && now <= prompt.bank_until
    }
}
