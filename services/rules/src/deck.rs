//! The deck: 52 distinct cards in the order in which they will be dealt.

use core::fmt;

use crate::Card;

/// How many cards a deck has (rules 1.3).
pub const DECK_SIZE: usize = 52;

/// A whole deck, the card that is dealt first at the front. How far the deal has come is no part of it: that
/// belongs to the hand. Its `Debug` is redacted, so that no log line can tell what is coming.
#[derive(Clone, PartialEq, Eq)]
pub struct Deck([Card; DECK_SIZE]);

impl Deck {
    /// The deck that deals these cards in this order.
    ///
    /// # Errors
    /// [`NotADeck`] if a card is there twice, so that another one is missing (rules 1.3).
    pub fn new(cards: [Card; DECK_SIZE]) -> Result<Deck, NotADeck> {
        let mut seen = 0_u64;
        for card in cards {
            seen |= 1 << card.index();
        }
        if seen.count_ones() as usize == DECK_SIZE { Ok(Deck(cards)) } else { Err(NotADeck) }
    }

    /// The deck in the order of [`Card::index`]: what a shuffle starts from.
    #[must_use]
    pub fn ordered() -> Deck {
        let mut cards = [Card::new(crate::Rank::Two, crate::Suit::Clubs); DECK_SIZE];
        for (place, card) in cards.iter_mut().zip((0..).map_while(Card::from_index)) {
            *place = card;
        }
        Deck(cards)
    }

    /// The cards in dealing order.
    #[must_use]
    pub const fn cards(&self) -> &[Card; DECK_SIZE] {
        &self.0
    }
}

impl fmt::Debug for Deck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Deck(..)")
    }
}

/// Fifty-two cards of which two are the same. It does not name them: they may be somebody's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotADeck;

impl fmt::Display for NotADeck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a deck has each of the 52 cards once")
    }
}

impl core::error::Error for NotADeck {}
