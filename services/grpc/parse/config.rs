//! A table's settings. What is unset gets its default; what cannot be read is a fault here, what does not go together
//! is one of the rules', and both are told at once.

use prost_types::Duration;
use rules::config::{Clocks, Game, Limit, PivotOrder, Rake, Refill};
use rules::{Ante, Chips, Millis, Stakes, TableConfig};
use tonic_types::FieldViolation;

use super::Fields;
use crate::grpc::status::violations;
use crate::pb::v1;

/// The default of rules 9.2.
const RATHOLE: Millis = Millis::minutes(60);
/// The default buy-ins in big blinds.
const MIN_BUY_IN: u64 = 40;
const MAX_BUY_IN: u64 = 100;

/// The settings of a request in its field `config`.
pub fn config(f: &mut Fields, message: Option<&v1::TableConfig>) -> Option<TableConfig> {
    let Some(m) = message else {
        f.fault("config", "the table's settings");
        return None;
    };
    let before = f.0.len();
    let read = read(f, m);
    // A fault that is in a field's form already would only be said twice.
    if f.0.len() > before {
        for fault in violations(&read.faults()) {
            let same = |known: &FieldViolation| {
                fault.field.starts_with(&known.field) || known.field.starts_with(&fault.field)
            };
            if !f.0[before..].iter().any(same) {
                f.0.push(fault);
            }
        }
        return None;
    }
    Some(read)
}

/// The settings, with something harmless in place of what cannot be read.
fn read(f: &mut Fields, m: &v1::TableConfig) -> TableConfig {
    let game = f.choice::<v1::Game>("config.game", m.game).and_then(game);
    let limit = match f.choice::<v1::Limit>("config.limit", m.limit) {
        Some(v1::Limit::PotLimit) => Limit::PotLimit,
        Some(v1::Limit::FixedLimit) => Limit::FixedLimit,
        Some(v1::Limit::NoLimit | v1::Limit::Unspecified) | None => Limit::NoLimit,
    };
    let order = f.option::<v1::PivotOrder>("config.pivot_order", m.pivot_order);
    TableConfig {
        display_name: f.text("config.display_name", &m.display_name, 0..=100).unwrap_or_default(),
        currency: currency(f, &m.currency),
        game: game.unwrap_or(Game::TexasHoldem),
        limit,
        seats: u8::try_from(m.seats).unwrap_or(u8::MAX),
        stakes: stakes(f, m.stakes.as_ref()),
        rake: m.rake.as_ref().map_or(Rake::NONE, |rake| self::rake(f, rake)),
        clocks: clocks(f, &m.clocks.unwrap_or_default()),
        pivot_order: match order {
            Some(v1::PivotOrder::Simultaneous) => PivotOrder::Simultaneous,
            _ => PivotOrder::InTurn,
        },
        limit_cap_heads_up: m.limit_cap_heads_up,
        show_all: m.show_all,
        rathole: duration(f, "config.rathole_window", m.rathole_window, RATHOLE),
    }
}

/// The game; `None` if it is not given.
#[must_use]
pub fn game(game: v1::Game) -> Option<Game> {
    match game {
        v1::Game::Unspecified => None,
        v1::Game::DoubleHoldem => Some(Game::DoubleHoldem),
        v1::Game::TexasHoldem => Some(Game::TexasHoldem),
    }
}

fn currency(f: &mut Fields, text: &str) -> [u8; 3] {
    let letters = <[u8; 3]>::try_from(text.as_bytes()).ok();
    let letters = letters.filter(|l| l.iter().all(u8::is_ascii_uppercase));
    f.check("config.currency", letters, "three capital letters of ISO 4217").unwrap_or_default()
}

fn stakes(f: &mut Fields, message: Option<&v1::Stakes>) -> Stakes {
    if message.is_none() {
        f.fault("config.stakes", "blinds, bets and buy-ins");
    }
    let m = message.copied().unwrap_or_default();
    let small_blind = f.chips("config.stakes.small_blind", m.small_blind, 0).unwrap_or_default();
    let big_blind = f.chips("config.stakes.big_blind", m.big_blind, 1).unwrap_or(small_blind.max(Chips(1)));
    let small_bet = or(f, "config.stakes.small_bet", m.small_bet, big_blind);
    let big_bet = or(f, "config.stakes.big_bet", m.big_bet, small_bet.doubled());
    let min_buy_in = or(f, "config.stakes.min_buy_in", m.min_buy_in, Chips(big_blind.0 * MIN_BUY_IN));
    let usual = Chips(big_blind.0 * MAX_BUY_IN).max(min_buy_in);
    Stakes {
        small_blind,
        big_blind,
        ante: ante(f, m.ante.as_ref()),
        straddles: u8::try_from(m.max_straddles).unwrap_or(u8::MAX),
        small_bet,
        big_bet,
        min_buy_in,
        max_buy_in: or(f, "config.stakes.max_buy_in", m.max_buy_in, usual),
    }
}

fn ante(f: &mut Fields, message: Option<&v1::Ante>) -> Ante {
    let Some(kind) = message.and_then(|m| m.kind.as_ref()) else {
        return Ante::None;
    };
    let (field, amount, ante): (_, _, fn(Chips) -> Ante) = match *kind {
        v1::ante::Kind::PerPlayer(amount) => ("config.stakes.ante.per_player", amount, Ante::PerPlayer),
        v1::ante::Kind::BigBlind(amount) => ("config.stakes.ante.big_blind", amount, Ante::BigBlind),
    };
    f.chips(field, amount, 0).filter(|amount| !amount.is_zero()).map_or(Ante::None, ante)
}

fn rake(f: &mut Fields, m: &v1::Rake) -> Rake {
    Rake {
        basis_points: u16::try_from(m.basis_points).unwrap_or(u16::MAX),
        cap_two: cap(f, "config.rake.cap_2", m.cap_2),
        cap_three_or_four: cap(f, "config.rake.cap_3_to_4", m.cap_3_to_4),
        cap_five_or_more: cap(f, "config.rake.cap_5_plus", m.cap_5_plus),
        unit: or(f, "config.rake.unit", m.unit, Chips(1)),
    }
}

fn cap(f: &mut Fields, field: &str, amount: Option<i64>) -> Option<Chips> {
    f.chips(field, amount?, 0)
}

fn clocks(f: &mut Fields, m: &v1::Clocks) -> Clocks {
    let usual = Clocks::default();
    let timeouts = u8::try_from(m.timeouts_to_sit_out).ok();
    let right = "1 to 255, or 0 for the default";
    let timeouts = f.check("config.clocks.timeouts_to_sit_out", timeouts, right).filter(|n| *n > 0);
    Clocks {
        action: duration(f, "config.clocks.action", m.action, usual.action),
        pivot: duration(f, "config.clocks.pivot", m.pivot, usual.pivot),
        time_bank: duration(f, "config.clocks.time_bank", m.time_bank, usual.time_bank),
        refill: m.refill.as_ref().map(|refill| Refill {
            amount: duration(f, "config.clocks.refill.amount", refill.amount, Millis::ZERO),
            every_hands: refill.every_hands,
        }),
        grace: duration(f, "config.clocks.grace", m.grace, usual.grace),
        between_hands: duration(f, "config.clocks.between_hands", m.between_hands, usual.between_hands),
        timeouts_to_sit_out: timeouts.unwrap_or(usual.timeouts_to_sit_out),
        sit_out_limit: duration(f, "config.clocks.sit_out_limit", m.sit_out_limit, usual.sit_out_limit),
    }
}

/// An amount, or its default where there is none.
fn or(f: &mut Fields, field: &str, amount: i64, usual: Chips) -> Chips {
    if amount == 0 {
        return usual;
    }
    f.chips(field, amount, 0).unwrap_or(usual)
}

fn duration(f: &mut Fields, field: &str, given: Option<Duration>, usual: Millis) -> Millis {
    let Some(given) = given else {
        return usual;
    };
    let seconds = u64::try_from(given.seconds).ok();
    let nanos = u64::try_from(given.nanos).ok().filter(|n| n.is_multiple_of(1_000_000) && *n < 1_000_000_000);
    let millis = seconds.zip(nanos).and_then(|(s, n)| s.checked_mul(1000)?.checked_add(n / 1_000_000));
    f.check(field, millis, "a whole number of milliseconds, not negative").map_or(usual, Millis)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
