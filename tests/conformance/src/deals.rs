//! Random cards that come again from the same seed. For tests only: nobody plays with these.

use rules::Card;

/// A stream of deals.
pub struct Deals {
    state: u64,
    deck: [Card; 52],
}

impl Deals {
    /// The stream of this seed.
    #[must_use]
    pub fn from_seed(seed: u64) -> Deals {
        Deals { state: seed, deck: *rules::Deck::ordered().cards() }
    }

    /// The next `N` cards of a fresh shuffle, all different.
    pub fn cards<const N: usize>(&mut self) -> [Card; N] {
        for place in 0..N {
            let chosen = place + self.below(52 - place);
            self.deck.swap(place, chosen);
        }
        std::array::from_fn(|place| self.deck[place])
    }

    /// A number below the bound. The bias of the remainder is of no matter in 64 bits.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// SplitMix64 (Steele, Lea and Flood 2014).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
