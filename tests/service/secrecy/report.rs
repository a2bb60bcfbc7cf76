//! What a table is played with, and what was seen while it was played.

use std::collections::BTreeMap;

use fulcrum::pb::v1;

use super::book::Book;

/// Changes what a viewer gets before it is looked at: a planted leak.
pub type Plant = fn(&mut v1::TableMessage, viewer: &str, book: &Book);

/// What a table is played with.
#[derive(Clone)]
pub struct Course {
    pub config: v1::TableConfig,
    pub hands: usize,
    pub seed: u64,
    /// Some turns are not answered: the table's clock must be short.
    pub timeouts: bool,
    pub plant: Option<Plant>,
}

/// Numbers without end, the same ones each time (SplitMix64, as in the harness).
pub struct Dice(pub u64);

impl Dice {
    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % n
    }

    /// Yes in so many of a hundred cases.
    pub fn percent(&mut self, part: u64) -> bool {
        self.below(100) < part
    }
}

/// What was looked at, and what was wrong.
#[derive(Debug, Default)]
pub struct Report {
    pub hands: usize,
    pub messages: usize,
    pub cards: usize,
    pub refusals: usize,
    pub leaks: Vec<String>,
    pub seen: BTreeMap<&'static str, usize>,
}

impl Report {
    /// Both together.
    pub fn and(mut self, other: Report) -> Report {
        self.hands += other.hands;
        self.messages += other.messages;
        self.cards += other.cards;
        self.refusals += other.refusals;
        self.leaks.extend(other.leaks);
        for (name, count) in other.seen {
            *self.seen.entry(name).or_default() += count;
        }
        self
    }
}
