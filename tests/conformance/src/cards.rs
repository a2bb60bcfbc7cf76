//! Cards as the records write them: `AhKd2c`, without spaces.

use rules::Card;
use serde::{Deserialize, Deserializer, de::Error};

/// Reads cards written one after the other.
#[must_use]
pub fn parse(text: &str) -> Option<Vec<Card>> {
    text.as_bytes().chunks(2).map(|card| std::str::from_utf8(card).ok().and_then(Card::parse)).collect()
}

/// Writes cards one after the other.
#[must_use]
pub fn faces(cards: &[Card]) -> String {
    cards.iter().map(|card| card.face().to_string()).collect()
}

/// A certain number of cards in a record.
#[derive(Clone, Copy, Debug)]
pub struct Cards<const N: usize>(pub [Card; N]);

impl<'de, const N: usize> Deserialize<'de> for Cards<N> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let text = String::deserialize(source)?;
        let cards = parse(&text).and_then(|cards| cards.try_into().ok());
        cards.map(Cards).ok_or_else(|| D::Error::custom(format!("{text:?} are not {N} cards")))
    }
}
