//! Replay of the pivot that is taken at a time-out (rules 4.6).

use rules::{Pick, auto_pick};
use serde::Deserialize;

use crate::cards::{Cards, faces};
use crate::difference::Differences;
use crate::evaluation::pick;

/// A record with `pivot` and `card`.
#[derive(Deserialize)]
pub struct AutoPivot {
    hole: Cards<3>,
    #[serde(deserialize_with = "pick")]
    pivot: Pick,
    card: String,
}

impl AutoPivot {
    /// Picks and compares.
    #[must_use]
    pub fn check(&self) -> Differences {
        let pick = auto_pick(&self.hole.0);
        let card = self.hole.0[usize::from(pick.index())];
        let mut differences = Differences::default();
        differences.compare("pivot", pick.index(), self.pivot.index());
        differences.compare("card", &faces(&[card]), &self.card);
        differences
    }
}
