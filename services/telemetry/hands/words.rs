//! Words of traces for what the rules have as enums. They are part of what others search for, and do not change.

use rules::config::{Game, Limit};
use rules::lost;
use rules::terms::Play;
use rules::{PostKind, Street};

/// The game.
pub const fn game(game: Game) -> &'static str {
    match game {
        Game::TexasHoldem => "texas",
        Game::DoubleHoldem => "double",
    }
}

/// The limit.
pub const fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::NoLimit => "no_limit",
        Limit::PotLimit => "pot_limit",
        Limit::FixedLimit => "fixed_limit",
    }
}

/// A street, and its span's key and name.
pub const fn street(street: Street) -> (&'static str, &'static str) {
    match street {
        Street::PreFlop => ("pre_flop", "street pre_flop"),
        Street::Flop => ("flop", "street flop"),
        Street::Turn => ("turn", "street turn"),
        Street::River => ("river", "street river"),
    }
}

/// What a player did.
pub const fn play(play: Play) -> &'static str {
    match play {
        Play::Fold => "fold",
        Play::Check => "check",
        Play::Call => "call",
        Play::Bet => "bet",
        Play::Raise => "raise",
    }
}

/// What was posted.
pub const fn post(kind: PostKind) -> &'static str {
    match kind {
        PostKind::Ante => "ante",
        PostKind::BigBlindAnte => "big_blind_ante",
        PostKind::SmallBlind => "small_blind",
        PostKind::BigBlind => "big_blind",
        PostKind::Straddle => "straddle",
        PostKind::Entry => "entry",
        PostKind::DeadSmallBlind => "dead_small_blind",
    }
}

/// Why a hand is void. What somebody gave as his reason is his own text and is not told.
pub fn void(reason: &str, requester: &str) -> &'static str {
    match (reason, requester) {
        (lost::REASON, "") => "history_lost",
        ("malfunction", "") => "malfunction",
        _ => "requested",
    }
}
