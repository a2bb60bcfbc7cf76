//! The best five of five to seven cards (rules 6.2), by arithmetic on sets of ranks, without tables of hands.

use crate::rank_set::RankSet;
use crate::{Card, Category, HandValue};

/// The value of the best five of these cards: five to seven, all different (rules 6.2).
#[must_use]
#[inline]
pub fn evaluate(cards: &[Card]) -> HandValue {
    let mut holding = Holding::EMPTY;
    for card in cards {
        holding.add(*card);
    }
    holding.value()
}

/// Up to seven different cards, gathered one by one. A copy is cheap, so that an enumeration adds each card once for
/// all the hands that share it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// Sixteen bits a suit: the set of its ranks in the lower thirteen, how many they are in the upper three.
    suits: u64,
    cards: u8,
}

const COUNT_BIT: u64 = 1 << RankSet::WIDTH;
const SUIT_BITS: u32 = 16;
/// Bit 15 of each suit: set from four cards on.
const COUNT_OF_FOUR: u64 = 0x8000_8000_8000_8000;

/// What a card adds to [`Holding::suits`]: its rank and a count of one, in its suit's bits.
const ADDENDS: [u64; 52] = {
    let mut addends = [0; 52];
    let mut index = 0;
    while let Some(card) = Card::from_index(index) {
        let rank = 1 << card.rank() as u64;
        addends[index as usize] = (COUNT_BIT + rank) << (SUIT_BITS * card.suit() as u32);
        index += 1;
    }
    addends
};

impl Holding {
    /// No card yet.
    pub const EMPTY: Holding = Holding { suits: 0, cards: 0 };

    /// Adds a card that is not among them yet, the seventh at most.
    #[inline]
    pub const fn add(&mut self, card: Card) {
        debug_assert!(self.cards < 7, "a holding has at most seven cards");
        self.suits = self.suits.wrapping_add(ADDENDS[card.index() as usize]);
        self.cards = self.cards.wrapping_add(1);
    }

    /// The value of the best five. From fewer than five cards, those that are there (no straight, no flush).
    #[must_use]
    #[inline]
    pub const fn value(self) -> HandValue {
        // Two cards beside a flush cannot make a full house or four of a kind of it: a flush decides.
        if let Some(suited) = self.flush() {
            return self.of_suited(suited);
        }
        let ranks = Counted::of(self.suits);
        if !ranks.trips.is_empty()
            && let Some(value) = ranks.full_house_or_quads()
        {
            return value;
        }
        let straight = ranks.any.straight();
        if !straight.is_empty() {
            return HandValue::new(Category::Straight, straight, RankSet::EMPTY);
        }
        if !ranks.trips.is_empty() {
            let kickers = self.without_spare(ranks.any.without(ranks.trips));
            return HandValue::new(Category::ThreeOfAKind, ranks.trips, kickers);
        }
        self.of_pairs(ranks)
    }

    /// The ranks of the suit that has five cards or more.
    const fn flush(self) -> Option<RankSet> {
        // A count of five to seven has its bit of four, and the bit of two or of one.
        let five = self.suits & (self.suits << 1 | self.suits << 2) & COUNT_OF_FOUR;
        if five == 0 {
            return None;
        }
        let suit = five.trailing_zeros() / SUIT_BITS;
        Some(RankSet::from_bits((self.suits >> (suit * SUIT_BITS)) as u32))
    }

    const fn of_suited(self, ranks: RankSet) -> HandValue {
        let straight = ranks.straight();
        if !straight.is_empty() {
            return HandValue::new(Category::StraightFlush, straight, RankSet::EMPTY);
        }
        let mut best = ranks;
        while best.len() > 5 {
            best = best.without_lowest();
        }
        HandValue::new(Category::Flush, RankSet::EMPTY, best)
    }

    /// Two pair, a pair or a high card, most hands: without a branch on which of them it is.
    const fn of_pairs(self, ranks: Counted) -> HandValue {
        let second = ranks.pairs.without_lowest();
        let third = second.without_lowest();
        if !third.is_empty() {
            // The lowest of three pairs leaves the hand; its rank may still be the kicker.
            let kicker = ranks.any.without(second).highest();
            return HandValue::new(Category::TwoPair, second, kicker);
        }
        let kickers = self.without_spare(ranks.any.without(ranks.pairs));
        let pairs = !ranks.pairs.is_empty() as u32 + !second.is_empty() as u32;
        HandValue::of_pairs(pairs, ranks.pairs, kickers)
    }

    /// Without the ranks of the cards beyond five, which are the lowest.
    const fn without_spare(self, kickers: RankSet) -> RankSet {
        let mut kickers = kickers;
        if self.cards > 5 {
            kickers = kickers.without_lowest();
        }
        if self.cards > 6 {
            kickers = kickers.without_lowest();
        }
        kickers
    }
}

impl core::fmt::Debug for Holding {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Holding(..)")
    }
}

/// Which ranks are there at least once, twice, three and four times.
#[derive(Clone, Copy)]
struct Counted {
    any: RankSet,
    pairs: RankSet,
    trips: RankSet,
    quads: RankSet,
}

impl Counted {
    const fn of(suits: u64) -> Counted {
        // Clubs meet hearts in the lower half, diamonds meet spades in the upper half; then the halves meet.
        let (low, high) = (suits as u32, (suits >> 32) as u32);
        let (either, both) = (low | high, low & high);
        let (either_up, both_up) = (either >> SUIT_BITS, both >> SUIT_BITS);
        Counted {
            any: RankSet::from_bits(either | either_up),
            pairs: RankSet::from_bits(either & either_up | both | both_up),
            trips: RankSet::from_bits(both & either_up | both_up & either),
            quads: RankSet::from_bits(both & both_up),
        }
    }

    const fn full_house_or_quads(self) -> Option<HandValue> {
        if !self.quads.is_empty() {
            let kicker = self.any.without(self.quads).highest();
            return Some(HandValue::new(Category::FourOfAKind, self.quads, kicker));
        }
        // The lower of two threes of a kind serves as the pair.
        let trips = self.trips.highest();
        let pair = self.pairs.without(trips).highest();
        if pair.is_empty() {
            return None;
        }
        Some(HandValue::new(Category::FullHouse, trips, pair))
    }
}
