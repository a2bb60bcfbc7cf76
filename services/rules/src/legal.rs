//! What a player may do: the legal set of a betting decision (rules 5).

use crate::Chips;

/// A bet or raise that is legal, in amounts "to".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RaiseRange {
    /// The smallest.
    pub min_to: Chips,
    /// The largest.
    pub max_to: Chips,
    /// It opens the betting: a bet, not a raise.
    pub is_bet: bool,
}

/// The legal actions of the player to act. A fold is always legal (rules 5.11).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Legal {
    /// What he has to put in to call; zero: checking is free.
    pub call: Chips,
    /// The bets or raises he may make.
    pub raise: Option<RaiseRange>,
    /// All-in would be a legal call, bet or raise.
    pub all_in: bool,
}

impl Legal {
    /// Checking costs nothing (rules 5.11).
    #[must_use]
    pub const fn can_check(&self) -> bool {
        self.call.is_zero()
    }
}
