//! The settings of a table in records.

use rules::config::{Clocks, Rake, Refill, TableConfig};
use rules::{Ante, Chips, Stakes};

use super::CodecError;
use super::field::{Field, Record, records};
use crate::pb::store_v1 as wire;

records! {
    TableConfig => TableConfig {
        display_name, currency, game, limit, seats, stakes, rake, clocks, pivot_order, limit_cap_heads_up, show_all,
        rathole,
    }
    Stakes => Stakes {
        small_blind, big_blind, ante, straddles, small_bet, big_bet, min_buy_in, max_buy_in,
    }
    Rake => Rake { basis_points, cap_two, cap_three_or_four, cap_five_or_more, unit }
    Clocks => Clocks {
        action, pivot, time_bank, refill, grace, between_hands, timeouts_to_sit_out, sit_out_limit,
    }
    Refill => Refill { amount, every_hands }
}

impl Field for Box<TableConfig> {
    type Wire = Option<wire::TableConfig>;

    fn put(&self) -> Self::Wire {
        (**self).put()
    }

    fn take(config: Self::Wire, at: &'static str) -> Result<Self, CodecError> {
        TableConfig::take(config, at).map(Box::new)
    }
}

impl Record for Ante {
    type Wire = wire::Ante;

    fn to_wire(&self) -> wire::Ante {
        let (kind, amount) = match self {
            Ante::None => (wire::AnteKind::None, Chips::ZERO),
            Ante::PerPlayer(amount) => (wire::AnteKind::PerPlayer, *amount),
            Ante::BigBlind(amount) => (wire::AnteKind::BigBlind, *amount),
        };
        wire::Ante { kind: kind.into(), amount: amount.0 }
    }

    fn from_wire(ante: wire::Ante) -> Result<Ante, CodecError> {
        let amount = Chips(ante.amount);
        match wire::AnteKind::try_from(ante.kind) {
            Ok(wire::AnteKind::None) if amount.is_zero() => Ok(Ante::None),
            Ok(wire::AnteKind::PerPlayer) => Ok(Ante::PerPlayer(amount)),
            Ok(wire::AnteKind::BigBlind) => Ok(Ante::BigBlind(amount)),
            Ok(wire::AnteKind::Unspecified) => Err(CodecError::Missing("Ante.kind")),
            Ok(wire::AnteKind::None) | Err(_) => Err(CodecError::Invalid("Ante.kind")),
        }
    }
}
