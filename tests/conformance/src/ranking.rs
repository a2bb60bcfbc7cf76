//! The 7,462 different values of five cards, numbered from the best, as the records count them.
//!
//! The numbers come from valuing all 2,598,960 five-card hands and sorting them, from no table of anybody: that
//! there are as many of them as there should be, and that each recorded hand has its number, shows the order right.

use std::sync::LazyLock;

use rules::{Card, HandValue, Holding};

static RANKING: LazyLock<Vec<HandValue>> = LazyLock::new(|| {
    let mut values = Vec::with_capacity(2_598_960);
    for_each_five(|value| values.push(value));
    values.sort_unstable();
    values.dedup();
    values.reverse();
    values
});

/// The values of all hands, the royal flush first.
#[must_use]
pub fn values() -> &'static [HandValue] {
    &RANKING
}

/// 1 for a royal flush, 7,462 for seven-five-four-three-deuce.
///
/// # Panics
/// For a value that no five cards have.
#[must_use]
pub fn rank(value: HandValue) -> usize {
    let better = values().partition_point(|other| *other > value);
    assert!(values().get(better) == Some(&value), "{value} is the value of no five cards");
    better + 1
}

/// All 52 cards in the order of their index.
pub fn deck() -> impl Iterator<Item = Card> + Clone {
    (0..52).filter_map(Card::from_index)
}

/// The value of each of the 2,598,960 five-card hands.
pub fn for_each_five(mut see: impl FnMut(HandValue)) {
    add_cards(Holding::EMPTY, 0, 5, &mut see);
}

/// Adds `missing` cards from this index on, in each possible way, and shows each value.
pub fn add_cards(holding: Holding, from: u8, missing: u8, see: &mut impl FnMut(HandValue)) {
    if missing == 0 {
        return see(holding.value());
    }
    for card in deck().skip(usize::from(from)) {
        let mut more = holding;
        more.add(card);
        add_cards(more, card.index() + 1, missing - 1, see);
    }
}
