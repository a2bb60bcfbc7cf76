//! Cards, and what they are worth together.

use rules::hand::Holes;
use rules::result::ShownValue;
use rules::{Card, Category, HandValue, Pick, pivot_order};

use crate::pb::v1;

/// The card's number in the contract.
pub fn card(card: Card) -> i32 {
    i32::from(card.index()) + 1
}

/// Cards in this order.
pub fn cards(of: &[Card]) -> Vec<i32> {
    of.iter().copied().map(card).collect()
}

/// Cards as a showdown shows them: left, pivot, right once there is a pivot (rules 4.4). With the pivot's place.
pub fn open(holes: &Holes, pick: Option<Pick>) -> (Vec<i32>, Option<u32>) {
    match (holes, pick) {
        (Holes::Three(three), Some(pick)) => (cards(&pivot_order(three, pick)), Some(1)),
        _ => (cards(holes.cards()), None),
    }
}

/// Cards as they were dealt, with the pivot's place.
pub fn closed(holes: &Holes, pick: Option<Pick>) -> (Vec<i32>, Option<u32>) {
    (cards(holes.cards()), pick.map(|pick| u32::from(pick.index())))
}

/// What a hand is worth.
pub fn value(value: HandValue) -> v1::HandValue {
    v1::HandValue {
        category: category(value.category()).into(),
        ranks: value.ranks().map(|rank| rank as i32 + 1).collect(),
        description: value.to_string(),
    }
}

/// What a hand that was shown is worth.
pub fn shown(worth: &ShownValue) -> v1::ShownValue {
    v1::ShownValue {
        first: Some(value(worth.first)),
        second: worth.second.map(value),
        best: Some(value(worth.best())),
    }
}

fn category(category: Category) -> v1::HandCategory {
    match category {
        Category::HighCard => v1::HandCategory::HighCard,
        Category::Pair => v1::HandCategory::Pair,
        Category::TwoPair => v1::HandCategory::TwoPair,
        Category::ThreeOfAKind => v1::HandCategory::ThreeOfAKind,
        Category::Straight => v1::HandCategory::Straight,
        Category::Flush => v1::HandCategory::Flush,
        Category::FullHouse => v1::HandCategory::FullHouse,
        Category::FourOfAKind => v1::HandCategory::FourOfAKind,
        Category::StraightFlush => v1::HandCategory::StraightFlush,
    }
}
