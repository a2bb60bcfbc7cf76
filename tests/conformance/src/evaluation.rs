//! Replay of single evaluations: a player's two hands on a board, and which of them counts (rules 6.2).

use rules::{Counts, HandValue, Pick, PivotValue, pivot_value};
use serde::{Deserialize, Deserializer, de::Error};

use crate::cards::Cards;
use crate::difference::Differences;
use crate::ranking::rank;

/// A record with `hand1`.
#[derive(Deserialize)]
pub struct Evaluation {
    hole: Cards<3>,
    #[serde(deserialize_with = "pick")]
    pivot: Pick,
    board: Cards<5>,
    hand1: (String, usize),
    hand2: (String, usize),
    counts: u8,
    rank: usize,
}

impl Evaluation {
    /// Values both hands and compares.
    #[must_use]
    pub fn check(&self) -> Differences {
        let value = pivot_value(&self.hole.0, self.pivot, &self.board.0);
        let mut differences = Differences::default();
        differences.compare("hand1", &class_and_rank(value.first), &self.hand1);
        differences.compare("hand2", &class_and_rank(value.second), &self.hand2);
        differences.compare("counts", counts(value), self.counts);
        differences.compare("rank", rank(value.best()), self.rank);
        differences
    }
}

fn class_and_rank(value: HandValue) -> (String, usize) {
    (value.category().to_string(), rank(value))
}

/// 1, 2, or 0 where both hands are equal: how the records number it.
#[must_use]
pub fn counts(value: PivotValue) -> u8 {
    match value.counts() {
        Counts::First => 1,
        Counts::Second => 2,
        Counts::Both => 0,
    }
}

/// Reads a pick of 0, 1 or 2.
///
/// # Errors
/// For any other number.
pub fn pick<'de, D: Deserializer<'de>>(source: D) -> Result<Pick, D::Error> {
    let index = u8::deserialize(source)?;
    Pick::new(index).ok_or_else(|| D::Error::custom(format!("{index} is no pick")))
}
