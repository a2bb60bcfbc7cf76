//! What a poker hand is worth: its category and the ranks that count, in one comparable number (rules 6.2).

use core::fmt;

use crate::Rank;
use crate::rank_set::RankSet;

/// The nine categories of hands, the lowest first. A royal flush is the highest straight flush.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Category {
    HighCard,
    Pair,
    TwoPair,
    ThreeOfAKind,
    Straight,
    Flush,
    FullHouse,
    FourOfAKind,
    StraightFlush,
}

impl Category {
    /// All categories, high card first.
    pub const ALL: [Category; 9] = [
        Category::HighCard,
        Category::Pair,
        Category::TwoPair,
        Category::ThreeOfAKind,
        Category::Straight,
        Category::Flush,
        Category::FullHouse,
        Category::FourOfAKind,
        Category::StraightFlush,
    ];

    /// How many ranks make a hand of this category, and how many kickers go with them.
    const fn shape(self) -> (u32, u32) {
        match self {
            Category::HighCard | Category::Flush => (0, 5),
            Category::Pair => (1, 3),
            Category::TwoPair => (2, 1),
            Category::ThreeOfAKind => (1, 2),
            Category::Straight | Category::StraightFlush => (1, 0),
            Category::FullHouse | Category::FourOfAKind => (1, 1),
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Category::HighCard => "high card",
            Category::Pair => "pair",
            Category::TwoPair => "two pair",
            Category::ThreeOfAKind => "three of a kind",
            Category::Straight => "straight",
            Category::Flush => "flush",
            Category::FullHouse => "full house",
            Category::FourOfAKind => "four of a kind",
            Category::StraightFlush => "straight flush",
        })
    }
}

/// The value of the best five cards: of two hands the greater value wins, equal values split (rules 6.3).
///
/// A number of three fields: the category in bits 26 to 29, above the set of the ranks that make the hand (the
/// pairs, the three or four of a kind, the top of a straight) in bits 13 to 25, above the set of the kickers in bits
/// 0 to 12 (the pair of a full house is one; a flush and a high card have five and nothing else). Sets of the same
/// size compare by their highest rank first, so the numbers compare as the hands do.
///
/// Its `Debug` is redacted, because the value of a mucked hand tells its cards (rules 6.4); `Display` puts it in words
/// for those who may know.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandValue(u32);

const MADE_SHIFT: u32 = RankSet::WIDTH;
const CATEGORY_SHIFT: u32 = 2 * RankSet::WIDTH;

impl HandValue {
    #[inline]
    pub(crate) const fn new(category: Category, made: RankSet, kickers: RankSet) -> HandValue {
        HandValue((category as u32) << CATEGORY_SHIFT | made.bits() << MADE_SHIFT | kickers.bits())
    }

    /// High card, one pair or two pair: the first three categories are numbered by their pairs.
    #[inline]
    pub(crate) const fn of_pairs(count: u32, pairs: RankSet, kickers: RankSet) -> HandValue {
        HandValue(count << CATEGORY_SHIFT | pairs.bits() << MADE_SHIFT | kickers.bits())
    }

    /// The category.
    #[must_use]
    pub const fn category(self) -> Category {
        Category::ALL[(self.0 >> CATEGORY_SHIFT) as usize]
    }

    /// The ranks that count, in order of weight: those that make the hand, then the kickers. A straight has only its
    /// highest rank, which is the five in A-2-3-4-5.
    pub fn ranks(self) -> impl Iterator<Item = Rank> + Clone {
        self.made().descending().chain(self.kickers().descending())
    }

    /// The number, for records.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The value that [`HandValue::bits`] gave, or nothing for a number that no five cards have.
    #[must_use]
    pub fn from_bits(bits: u32) -> Option<HandValue> {
        let category = *Category::ALL.get((bits >> CATEGORY_SHIFT) as usize)?;
        let value = HandValue(bits);
        let (made, kickers) = (value.made(), value.kickers());
        let possible = match category {
            Category::HighCard | Category::Flush => kickers.straight().is_empty(),
            // No straight ends below the five.
            Category::Straight | Category::StraightFlush => made.descending().all(|top| top >= Rank::Five),
            _ => made.without(kickers) == made,
        };
        (possible && (made.len(), kickers.len()) == category.shape()).then_some(value)
    }

    pub(crate) const fn made(self) -> RankSet {
        RankSet::from_bits(self.0 >> MADE_SHIFT)
    }

    pub(crate) const fn kickers(self) -> RankSet {
        RankSet::from_bits(self.0)
    }
}

impl fmt::Debug for HandValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandValue(..)")
    }
}
