//! The dealer: the only place of the service that makes randomness.
//!
//! A deck is a Fisher-Yates shuffle driven by ChaCha20, which a fresh seed from the operating system starts for each
//! hand, so that no hand tells anything about another one. Every order of the cards is equally likely: places are
//! drawn by rejection, never by a bare remainder. Seeds are wiped and never stored.

use rand::rngs::SysRng;
use rand::{Rng, SeedableRng, TryRng};
use rules::Deck;
use zeroize::Zeroizing;

use chacha20::ChaCha20Rng;

use crate::ids::TableKey;

/// Who shuffles and draws. The program only ever builds [`OsDealer`]; tests bring decks of their own.
pub trait Dealer: Send + Sync + 'static {
    /// The deck of the table's hand of this number.
    fn deck(&self, key: &TableKey, hand: u64) -> Deck;

    /// A number, all 2^64 equally likely, that places a first button (rules 2.3).
    fn draw(&self, key: &TableKey, hand: u64) -> u64;
}

/// The dealer of the service.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsDealer;

impl Dealer for OsDealer {
    fn deck(&self, _: &TableKey, _: u64) -> Deck {
        let mut seed = Zeroizing::new([0; 32]);
        entropy(&mut *seed);
        shuffled(&seed)
    }

    fn draw(&self, _: &TableKey, _: u64) -> u64 {
        nonce()
    }
}

/// Names a commit (see [`crate::store::Token`]).
pub(crate) fn nonce() -> u64 {
    let mut bytes = [0; 8];
    entropy(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// Random bytes of the operating system.
///
/// # Panics
/// If it has none. Nothing that a caller does leads to that, and to deal on without randomness would be worse.
pub(crate) fn entropy(bytes: &mut [u8]) {
    SysRng.try_fill_bytes(bytes).expect("the operating system gives no randomness");
}

/// The deck that this seed makes. The generator wipes itself when it goes.
fn shuffled(seed: &[u8; 32]) -> Deck {
    let mut rng = ChaCha20Rng::from_seed(*seed);
    let mut cards = *Deck::ordered().cards();
    for last in (1..cards.len()).rev() {
        let place = below(last as u32 + 1, || rng.next_u32());
        cards.swap(last, place as usize);
    }
    Deck::new(cards).expect("swapping cards loses none")
}

/// A number below `n`, all equally likely if all numbers of the source are: of the 2^32 the first `2^32 mod n` are
/// thrown away, so that those left are a multiple of `n`.
fn below(n: u32, mut source: impl FnMut() -> u32) -> u32 {
    let rejected = n.wrapping_neg() % n;
    loop {
        let number = source();
        if number >= rejected {
            return number % n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHUFFLES: u32 = 20_000;

    /// Chi-square of how often each card came to each place, in whole numbers. 51 * 51 degrees of freedom: mean 2601,
    /// standard deviation 72.
    fn chi_square(mut deck: impl FnMut(u32) -> [u8; 52]) -> i64 {
        let mut counts = [[0_i64; 52]; 52];
        for round in 0..SHUFFLES {
            for (place, card) in deck(round).into_iter().enumerate() {
                counts[place][usize::from(card)] += 1;
            }
        }
        let shuffles = i64::from(SHUFFLES);
        let squares: i64 = counts.iter().flatten().map(|count| (count * 52 - shuffles).pow(2)).sum();
        squares / (52 * shuffles)
    }

    /// Six standard deviations around the mean.
    const FAIR: std::ops::Range<i64> = 2601 - 6 * 72..2601 + 6 * 72;

    fn seed(round: u32) -> [u8; 32] {
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&round.to_le_bytes());
        seed
    }

    #[test]
    fn every_card_comes_to_every_place_equally_often() {
        let chi = chi_square(|round| shuffled(&seed(round)).cards().map(|c| c.index()));
        assert!(FAIR.contains(&chi), "{chi}");
    }

    #[test]
    fn the_measure_finds_a_bad_shuffle() {
        // The classic mistake: each place is swapped with any place.
        let bad = |round| {
            let mut rng = ChaCha20Rng::from_seed(seed(round));
            let mut cards = Deck::ordered().cards().map(|c| c.index());
            for place in 0..52 {
                cards.swap(place, below(52, || rng.next_u32()) as usize);
            }
            cards
        };
        let chi = chi_square(bad);
        assert!(chi >= FAIR.end, "{chi}");
    }

    #[test]
    fn the_surplus_of_the_source_is_rejected() {
        // 2^32 mod 48 = 16: 0 to 15 are thrown away, so that 16 is the least that counts.
        for (n, surplus) in [(48, 16), (52, 48), (3, 1), (2, 0), (1, 0)] {
            assert_eq!((1_u64 << 32) % u64::from(n), u64::from(surplus));
            let mut given = (0..=surplus).collect::<Vec<u32>>().into_iter();
            let number = below(n, || given.next().unwrap());
            assert_eq!(number, surplus % n, "{n}");
            assert_eq!(given.next(), None, "{n}: everything below the surplus was passed over");
        }
        assert_eq!(below(52, || u32::MAX), u32::MAX % 52);
    }

    #[test]
    fn no_two_decks_are_the_same() {
        let key = crate::test_key(1);
        let decks: std::collections::HashSet<[u8; 52]> =
            (0..100).map(|hand| OsDealer.deck(&key, hand).cards().map(|c| c.index())).collect();
        assert_eq!(
            decks.len(),
            100,
            "the hand's number is no seed, and neither is anything else that comes again"
        );
        assert_ne!(OsDealer.draw(&key, 1), OsDealer.draw(&key, 1));
    }
}
