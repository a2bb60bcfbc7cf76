//! Words for what the rules have as enums.

use rules::config::{Game, Limit};
use rules::event::{PromptKind, SatOutReason, StopScope};
use rules::hand::{End, Street};
use rules::payment::{Phase, Purpose, Resolution};
use rules::player::Presence;
use rules::table::Life;
use rules::{Ante, Millis, SeatSet, Wish};

/// A time as RFC 3339 has it, UTC.
pub fn time(at: Millis) -> String {
    let seconds = i64::try_from(at.0 / 1000).unwrap_or(i64::MAX);
    let nanos = i32::try_from(at.0 % 1000 * 1_000_000).unwrap_or_default();
    prost_types::Timestamp { seconds, nanos }.to_string()
}

pub const fn game(game: Game) -> &'static str {
    match game {
        Game::DoubleHoldem => "Double Hold'em",
        Game::TexasHoldem => "Texas Hold'em",
    }
}

pub const fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::NoLimit => "no-limit",
        Limit::PotLimit => "pot-limit",
        Limit::FixedLimit => "fixed-limit",
    }
}

pub fn ante(ante: Ante) -> String {
    match ante {
        Ante::None => "none".to_owned(),
        Ante::PerPlayer(amount) => format!("{} per player", amount.0),
        Ante::BigBlind(amount) => format!("{} by the big blind", amount.0),
    }
}

pub fn life(life: &Life) -> String {
    match life {
        Life::Open => "open".to_owned(),
        Life::Closing { reason } => format!("closing after the hand: {reason}"),
        Life::Closed { reason } => format!("closed: {reason}"),
    }
}

pub const fn scope(scope: StopScope) -> &'static str {
    match scope {
        StopScope::Service => "service",
        StopScope::Operator => "operator",
        StopScope::Game => "game",
        StopScope::Table => "table",
        StopScope::Malfunction => "malfunction",
    }
}

pub const fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::BuyIn { .. } => "buy-in",
        Purpose::AddChips => "added chips",
        Purpose::CashOut => "pay-out",
        Purpose::Returned => "chips that did not fit",
    }
}

pub const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Debiting => "debiting",
        Phase::Cancelling => "cancelling",
        Phase::Crediting => "crediting",
        Phase::Parked => "parked",
    }
}

pub const fn resolution(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::Settled => "settled",
        Resolution::WrittenOff => "written off",
    }
}

pub fn presence(presence: Presence) -> String {
    match presence {
        Presence::In => "in".to_owned(),
        Presence::Leaving => "leaving after the hand".to_owned(),
        Presence::Out { since, reason } => {
            let why = match reason {
                SatOutReason::Asked => "asked",
                SatOutReason::TimedOut => "timed out",
                SatOutReason::NoChips => "no chips",
            };
            format!("out ({why}) since {}", time(since))
        }
    }
}

pub const fn wish(wish: Wish) -> &'static str {
    match wish {
        Wish::NextHand => "sits out from the next hand",
        Wish::NextBigBlind => "sits out from the next big blind",
    }
}

pub const fn street(street: Street) -> &'static str {
    match street {
        Street::PreFlop => "before the flop",
        Street::Flop => "flop",
        Street::Turn => "turn",
        Street::River => "river",
    }
}

pub const fn prompt(kind: PromptKind) -> &'static str {
    match kind {
        PromptKind::Act => "bet",
        PromptKind::Pick => "pivot",
    }
}

pub fn end(end: Option<&End>) -> String {
    match end {
        None => "running".to_owned(),
        Some(End::Settled { .. }) => "settled".to_owned(),
        Some(End::Voided { reason }) => format!("void: {reason}"),
    }
}

pub fn seats(seats: SeatSet) -> Vec<u8> {
    seats.iter().map(|seat| seat.number()).collect()
}

/// Numbers in a row.
pub fn row(numbers: &[u8]) -> String {
    numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
}
