//! What a table costs: blinds, antes, straddles, limit bets and buy-ins (rules 2, 5.6, 9.2).

use crate::Chips;

/// The ante of a table (rules 2.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ante {
    /// No ante.
    #[default]
    None,
    /// Each player dealt in pays this before the blinds.
    PerPlayer(Chips),
    /// The big blind pays this for the table, after his blind.
    BigBlind(Chips),
}

/// Blinds and bets of a table. All amounts in minor units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stakes {
    /// The small blind.
    pub small_blind: Chips,
    /// The big blind; the smallest opening bet of no-limit and pot-limit (rules 5.1).
    pub big_blind: Chips,
    /// The ante.
    pub ante: Ante,
    /// How many straddles a hand may see: 0, 1, or 2 for a re-straddle (rules 2.6).
    pub straddles: u8,
    /// Fixed limit: bets and raises before and on the flop (rules 5.6).
    pub small_bet: Chips,
    /// Fixed limit: bets and raises on turn and river.
    pub big_bet: Chips,
    /// The least that a player may buy in for, in minor units.
    pub min_buy_in: Chips,
    /// The most that a player may have bought in for (rules 9.2).
    pub max_buy_in: Chips,
}

/// How a blind or an ante is named in the record of a hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PostKind {
    /// Each player's ante.
    Ante,
    /// The big-blind ante: dead chips into the main pot.
    BigBlindAnte,
    /// The small blind.
    SmallBlind,
    /// The big blind.
    BigBlind,
    /// A straddle.
    Straddle,
    /// The live big blind of a newcomer or of one who comes back.
    Entry,
    /// A missed small blind: dead chips (rules 2.4).
    DeadSmallBlind,
}

impl PostKind {
    /// Whether the chips are part of the player's bet of the first round.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, PostKind::SmallBlind | PostKind::BigBlind | PostKind::Straddle | PostKind::Entry)
    }

    /// Whether the chips go whole into the main pot (rules 2.5).
    #[must_use]
    pub const fn is_dead(self) -> bool {
        matches!(self, PostKind::BigBlindAnte | PostKind::DeadSmallBlind)
    }
}
