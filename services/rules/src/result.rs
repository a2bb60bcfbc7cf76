//! What a hand came to: pots, winners, rake and each player's account of it.

use alloc::vec::Vec;

use crate::hand_value::HandValue;
use crate::pivot::Pick;
use crate::player::PlayerId;
use crate::{Chips, Millis, SeatNo, SeatSet};

/// One pot as it was paid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PotResult {
    /// Before rake, in minor units.
    pub amount: Chips,
    /// The part of the hand's rake taken from this pot (rules 7.1).
    pub rake: Chips,
    /// Who could win it.
    pub eligible: SeatSet,
    /// Who won how much, first winner left of the button first (rules 6.3).
    pub winners: Vec<(SeatNo, Chips)>,
}

/// The worth of a hand that was shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShownValue {
    /// The pivot of Double Hold'em.
    pub pick: Option<Pick>,
    /// Hand 1, or the only hand of Texas Hold'em.
    pub first: HandValue,
    /// Hand 2 of Double Hold'em.
    pub second: Option<HandValue>,
}

impl ShownValue {
    /// The hand that counts (rules 6.2).
    #[must_use]
    pub fn best(&self) -> HandValue {
        self.second.map_or(self.first, |second| second.max(self.first))
    }
}

/// One player's account of a hand. `stack_after = stack_before - contributed + won`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayerResult {
    /// The seat.
    pub seat: SeatNo,
    /// The player.
    pub player: PlayerId,
    /// His session at the table.
    pub session: u64,
    /// His stack when the hand began.
    pub stack_before: Chips,
    /// What he put into pots, without what came back.
    pub contributed: Chips,
    /// Uncalled bets and unmatched antes that came back (rules 3.4).
    pub returned: Chips,
    /// What he won, after rake.
    pub won: Chips,
    /// His share of the rake by weighted contribution (rules 7.2).
    pub rake_share: Chips,
    /// His stack when the hand was paid.
    pub stack_after: Chips,
    /// The worth of his hand if it was shown at the showdown.
    pub shown: Option<ShownValue>,
}

/// The outcome of a settled hand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandResult {
    /// The hand's number.
    pub number: u64,
    /// When it began, ms since the epoch.
    pub started_at: Millis,
    /// When it was settled, ms since the epoch.
    pub settled_at: Millis,
    /// Main pot first.
    pub pots: Vec<PotResult>,
    /// The whole rake.
    pub rake: Chips,
    /// Everybody who was dealt in, first seat left of the button first.
    pub players: Vec<PlayerResult>,
}
