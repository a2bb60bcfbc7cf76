//! The pivot of Double Hold'em: the two hands it makes, and the pick at a time-out (rules 4 and 6.2).

use core::fmt;

use crate::evaluate::Holding;
use crate::{Card, HandValue};

/// Which of the three cards is the pivot, counted as they were dealt. Its `Debug` is redacted: opponents see that a
/// player has picked, not what (rules 4.4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pick(u8);

impl Pick {
    /// The three picks, the card dealt first at the front.
    pub const ALL: [Pick; 3] = [Pick(0), Pick(1), Pick(2)];

    /// The pick of the card with this index (0, 1 or 2), or nothing from 3 on.
    #[must_use]
    pub const fn new(index: u8) -> Option<Pick> {
        if index < 3 { Some(Pick(index)) } else { None }
    }

    /// 0, 1 or 2.
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }
}

impl fmt::Debug for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pick(..)")
    }
}

/// The three cards as a showdown shows them: left, pivot, right (rules 4.2, 4.4).
#[must_use]
pub const fn pivot_order(cards: &[Card; 3], pick: Pick) -> [Card; 3] {
    let [first, second, third] = *cards;
    match pick.0 {
        0 => [second, first, third],
        1 => [first, second, third],
        _ => [first, third, second],
    }
}

/// Hand 1, pivot and left, and hand 2, pivot and right (rules 4.2).
#[must_use]
pub const fn two_hands(cards: &[Card; 3], pick: Pick) -> [[Card; 2]; 2] {
    let [left, pivot, right] = pivot_order(cards, pick);
    [[pivot, left], [pivot, right]]
}

/// The pick that is made for a player whose time is up (rules 4.6): the highest rank. Of two cards that share it the
/// one suited with the third card, if one is, else the higher suit; of three the highest suit.
#[must_use]
pub fn auto_pick(cards: &[Card; 3]) -> Pick {
    let weight = |pick: Pick| {
        let card = cards[pick.0 as usize];
        // Cards that share a rank differ in suit: one that is suited at all is suited with the third card.
        let of_its_suit = cards.iter().filter(|other| other.suit() == card.suit());
        (card.rank(), of_its_suit.count() > 1, card.suit())
    };
    let heavier = |best: Pick, pick: Pick| {
        if weight(pick) > weight(best) { pick } else { best }
    };
    let [first, second, third] = Pick::ALL;
    heavier(heavier(first, second), third)
}

/// Which of a player's two hands counts (rules 6.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Counts {
    /// Hand 1, pivot and left, is the better one.
    First,
    /// Hand 2, pivot and right, is the better one.
    Second,
    /// Both are worth the same.
    Both,
}

/// What a player's two hands are worth with the board.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PivotValue {
    /// Hand 1: pivot, left and the board.
    pub first: HandValue,
    /// Hand 2: pivot, right and the board.
    pub second: HandValue,
}

impl PivotValue {
    /// The better of the two, which alone competes, for ties too (rules 6.2).
    #[must_use]
    pub fn best(self) -> HandValue {
        self.first.max(self.second)
    }

    /// Which hand counts.
    #[must_use]
    pub fn counts(self) -> Counts {
        match self.first.cmp(&self.second) {
            core::cmp::Ordering::Greater => Counts::First,
            core::cmp::Ordering::Less => Counts::Second,
            core::cmp::Ordering::Equal => Counts::Both,
        }
    }
}

/// Both hands of a player on a board of three to five cards; left and right never play together (rules 4.2, 6.2).
#[must_use]
pub fn pivot_value(cards: &[Card; 3], pick: Pick, board: &[Card]) -> PivotValue {
    let [left, pivot, right] = pivot_order(cards, pick);
    let mut shared = Holding::EMPTY;
    shared.add(pivot);
    for card in board {
        shared.add(*card);
    }
    let with = |side: Card| {
        let mut holding = shared;
        holding.add(side);
        holding.value()
    };
    PivotValue { first: with(left), second: with(right) }
}
