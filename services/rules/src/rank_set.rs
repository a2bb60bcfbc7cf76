//! Sets of ranks as bits. Two sets of the same size compare as poker compares them: by the highest rank first.

use crate::Rank;

const ALL_RANKS: u32 = 0x1fff;

/// A set of ranks, the deuce in the lowest bit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RankSet(u32);

impl RankSet {
    pub(crate) const EMPTY: RankSet = RankSet(0);
    /// How many bits a set takes.
    pub(crate) const WIDTH: u32 = 13;

    /// The set of the thirteen lowest bits; others are dropped.
    pub(crate) const fn from_bits(bits: u32) -> RankSet {
        RankSet(bits & ALL_RANKS)
    }

    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub(crate) const fn without(self, other: RankSet) -> RankSet {
        RankSet(self.0 & !other.0)
    }

    /// The set of the highest rank alone; empty if there is none.
    pub(crate) const fn highest(self) -> RankSet {
        match self.0.checked_ilog2() {
            Some(bit) => RankSet(1 << bit),
            None => RankSet::EMPTY,
        }
    }

    /// The set without its lowest rank; empty stays empty.
    pub(crate) const fn without_lowest(self) -> RankSet {
        RankSet(self.0 & self.0.wrapping_sub(1))
    }

    /// The rank that the highest straight in this set goes up to, as a set of one, or the empty set. The ace also
    /// stands below the deuce, and nowhere else: queen, king, ace, deuce, three is no straight.
    pub(crate) const fn straight(self) -> RankSet {
        let with_low_ace = (self.0 << 1) | (self.0 >> 12);
        let two = with_low_ace & (with_low_ace << 1);
        let four = two & (two << 2);
        RankSet((four & (with_low_ace << 4)) >> 1).highest()
    }

    /// The ranks, highest first.
    pub(crate) fn descending(self) -> impl Iterator<Item = Rank> + Clone {
        Rank::ALL.into_iter().rev().filter(move |rank| self.0 & (1 << *rank as u32) != 0)
    }
}
