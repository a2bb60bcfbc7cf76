//! What the tables of a run are set to: one after the other another game, limit and pivot order.

use std::time::Duration;

use clap::ValueEnum;

use crate::pb::v1::ante::Kind as AnteKind;
use crate::pb::v1::{Ante, Clocks, Game, Limit, PivotOrder, Rake, Stakes, TableConfig};

/// What every player buys in for, in minor units: a hundred big blinds.
pub const BUY_IN: i64 = 20_000;
const BIG_BLIND: i64 = 200;

/// Which games are played.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Games {
    /// Both games, every other table.
    Mix,
    /// Double Hold'em.
    Double,
    /// Texas Hold'em.
    Texas,
}

impl Games {
    fn of(self, index: usize) -> Game {
        match self {
            Games::Double => Game::DoubleHoldem,
            Games::Texas => Game::TexasHoldem,
            Games::Mix if index.is_multiple_of(2) => Game::DoubleHoldem,
            Games::Mix => Game::TexasHoldem,
        }
    }

    /// The settings of the table with this index, with this action clock and this pause between hands. No-limit is played at
    /// every other pair of tables; antes, straddles and simultaneous picks come at some.
    #[must_use]
    pub fn config(
        self,
        index: usize,
        seats: u32,
        (action_clock, between_hands): (Duration, Duration),
    ) -> TableConfig {
        let pair = index / 2;
        let limit = match pair % 4 {
            1 => Limit::PotLimit,
            3 => Limit::FixedLimit,
            _ => Limit::NoLimit,
        };
        let together = pair % 3 == 1;
        let ante = (pair % 5 == 2).then_some(Ante { kind: Some(AnteKind::BigBlind(BIG_BLIND)) });
        let straddles = u32::from(limit != Limit::FixedLimit && pair % 5 == 4);
        TableConfig {
            display_name: format!("load {}", index + 1),
            currency: "EUR".to_owned(),
            game: self.of(index).into(),
            limit: limit.into(),
            seats,
            stakes: Some(Stakes {
                small_blind: BIG_BLIND / 2,
                big_blind: BIG_BLIND,
                ante,
                max_straddles: straddles,
                max_buy_in: BUY_IN,
                ..Stakes::default()
            }),
            rake: Some(Rake {
                basis_points: 500,
                cap_5_plus: Some(3 * BIG_BLIND),
                unit: 5,
                ..Rake::default()
            }),
            clocks: Some(Clocks {
                action: duration(action_clock),
                pivot: duration(action_clock),
                // Used up by the first decisions that are left to the clock, so that clocks with and without it run.
                time_bank: duration(action_clock / 2),
                between_hands: duration(between_hands),
                ..Clocks::default()
            }),
            pivot_order: if together { PivotOrder::Simultaneous } else { PivotOrder::InTurn }.into(),
            ..TableConfig::default()
        }
    }
}

fn duration(duration: Duration) -> Option<prost_types::Duration> {
    prost_types::Duration::try_from(duration).ok()
}
