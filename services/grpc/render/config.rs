//! A table's settings, defaults filled in.

use rules::config::{Clocks, Game, Limit, PivotOrder, Rake};
use rules::{Ante, Stakes, TableConfig};

use super::{amount, duration};
use crate::pb::v1;

/// All settings.
pub fn config(c: &TableConfig) -> v1::TableConfig {
    v1::TableConfig {
        display_name: c.display_name.clone(),
        currency: currency(c.currency),
        game: game(c.game).into(),
        limit: limit(c.limit).into(),
        seats: u32::from(c.seats),
        stakes: Some(stakes(&c.stakes)),
        rake: Some(rake(&c.rake)),
        clocks: Some(clocks(&c.clocks)),
        pivot_order: match c.pivot_order {
            PivotOrder::InTurn => v1::PivotOrder::InTurn,
            PivotOrder::Simultaneous => v1::PivotOrder::Simultaneous,
        }
        .into(),
        limit_cap_heads_up: c.limit_cap_heads_up,
        show_all: c.show_all,
        rathole_window: Some(duration(c.rathole)),
    }
}

/// Three letters.
pub fn currency(letters: [u8; 3]) -> String {
    letters.into_iter().map(char::from).collect()
}

/// The game.
pub fn game(game: Game) -> v1::Game {
    match game {
        Game::DoubleHoldem => v1::Game::DoubleHoldem,
        Game::TexasHoldem => v1::Game::TexasHoldem,
    }
}

/// The limit.
pub fn limit(limit: Limit) -> v1::Limit {
    match limit {
        Limit::NoLimit => v1::Limit::NoLimit,
        Limit::PotLimit => v1::Limit::PotLimit,
        Limit::FixedLimit => v1::Limit::FixedLimit,
    }
}

fn stakes(s: &Stakes) -> v1::Stakes {
    let ante = match s.ante {
        Ante::None => None,
        Ante::PerPlayer(chips) => Some(v1::ante::Kind::PerPlayer(amount(chips))),
        Ante::BigBlind(chips) => Some(v1::ante::Kind::BigBlind(amount(chips))),
    };
    v1::Stakes {
        small_blind: amount(s.small_blind),
        big_blind: amount(s.big_blind),
        ante: ante.map(|kind| v1::Ante { kind: Some(kind) }),
        max_straddles: u32::from(s.straddles),
        small_bet: amount(s.small_bet),
        big_bet: amount(s.big_bet),
        min_buy_in: amount(s.min_buy_in),
        max_buy_in: amount(s.max_buy_in),
    }
}

fn rake(r: &Rake) -> v1::Rake {
    v1::Rake {
        basis_points: u32::from(r.basis_points),
        cap_2: r.cap_two.map(amount),
        cap_3_to_4: r.cap_three_or_four.map(amount),
        cap_5_plus: r.cap_five_or_more.map(amount),
        unit: amount(r.unit),
    }
}

fn clocks(c: &Clocks) -> v1::Clocks {
    v1::Clocks {
        action: Some(duration(c.action)),
        pivot: Some(duration(c.pivot)),
        time_bank: Some(duration(c.time_bank)),
        refill: c.refill.map(|refill| v1::TimeBankRefill {
            amount: Some(duration(refill.amount)),
            every_hands: refill.every_hands,
        }),
        grace: Some(duration(c.grace)),
        between_hands: Some(duration(c.between_hands)),
        timeouts_to_sit_out: u32::from(c.timeouts_to_sit_out),
        sit_out_limit: Some(duration(c.sit_out_limit)),
    }
}
