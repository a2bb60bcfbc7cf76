//! A playing card, its rank and its suit. Nothing here shows a face except [`Card::face`].

use core::fmt;

/// The thirteen ranks, deuce low.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Rank {
    Two,
    Three,
    Four,
    Five,
    Six,
    Seven,
    Eight,
    Nine,
    Ten,
    Jack,
    Queen,
    King,
    Ace,
}

/// The four suits in the order of rules 1.3: clubs lowest, spades highest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Suit {
    Clubs,
    Diamonds,
    Hearts,
    Spades,
}

const RANKS: [Rank; 13] = [
    Rank::Two,
    Rank::Three,
    Rank::Four,
    Rank::Five,
    Rank::Six,
    Rank::Seven,
    Rank::Eight,
    Rank::Nine,
    Rank::Ten,
    Rank::Jack,
    Rank::Queen,
    Rank::King,
    Rank::Ace,
];
const SUITS: [Suit; 4] = [Suit::Clubs, Suit::Diamonds, Suit::Hearts, Suit::Spades];
const RANK_LETTERS: &[u8; 13] = b"23456789TJQKA";
const SUIT_LETTERS: &[u8; 4] = b"cdhs";

impl Rank {
    /// All ranks, deuce first.
    pub const ALL: [Rank; 13] = RANKS;

    /// The letter of the rank: `2` to `9`, `T`, `J`, `Q`, `K`, `A`.
    #[must_use]
    pub const fn letter(self) -> char {
        RANK_LETTERS[self as usize] as char
    }
}

impl Suit {
    /// All suits, clubs first (rules 1.3).
    pub const ALL: [Suit; 4] = SUITS;

    /// The letter of the suit: `c`, `d`, `h`, `s`.
    #[must_use]
    pub const fn letter(self) -> char {
        SUIT_LETTERS[self as usize] as char
    }
}

/// One of the 52 cards. Its `Debug` is redacted, so that no log line can leak a hand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Card(u8);

impl Card {
    /// The card of a rank and a suit.
    #[must_use]
    pub const fn new(rank: Rank, suit: Suit) -> Card {
        Card(rank as u8 * 4 + suit as u8)
    }

    /// The card with this index, or nothing from 52 on.
    #[must_use]
    pub const fn from_index(index: u8) -> Option<Card> {
        if index < 52 { Some(Card(index)) } else { None }
    }

    /// `rank * 4 + suit`, 0 (deuce of clubs) to 51 (ace of spades).
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }

    /// The rank.
    #[must_use]
    pub const fn rank(self) -> Rank {
        RANKS[(self.0 / 4) as usize]
    }

    /// The suit.
    #[must_use]
    pub const fn suit(self) -> Suit {
        SUITS[(self.0 % 4) as usize]
    }

    /// Reads `Ah`, `Td`, `2c`; the rank's letter may be small too.
    #[must_use]
    pub fn parse(text: &str) -> Option<Card> {
        let [rank, suit] = text.as_bytes() else {
            return None;
        };
        let rank = RANK_LETTERS.iter().position(|l| *l == rank.to_ascii_uppercase())?;
        let suit = SUIT_LETTERS.iter().position(|l| l == suit)?;
        Some(Card::new(RANKS[rank], SUITS[suit]))
    }

    /// The card for somebody who may see it, as `Ah`.
    #[must_use]
    pub const fn face(self) -> Face {
        Face(self)
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Card(..)")
    }
}

/// A card shown on purpose; made by [`Card::face`].
#[derive(Clone, Copy)]
pub struct Face(Card);

impl fmt::Display for Face {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0.rank().letter(), self.0.suit().letter())
    }
}
