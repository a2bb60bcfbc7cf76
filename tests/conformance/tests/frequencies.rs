//! How often each category comes among all hands (rules 6.2): known numbers, so one hand valued wrongly shows.
//!
//! All 133,784,560 seven-card hands take seconds optimised and minutes otherwise: a debug build leaves them out and
//! counts the 2,598,960 five-card hands only, which the optimised one does too.

use std::collections::HashMap;

use conformance::ranking;
use rules::{Category, HandValue};

/// How often each value was seen.
type Seen = HashMap<HandValue, u64>;

fn check(seen: &Seen, frequencies: [u64; 9], distinct: usize) {
    for (category, due) in Category::ALL.into_iter().zip(frequencies) {
        let of_category = seen.iter().filter(|(value, _)| value.category() == category);
        assert_eq!(of_category.map(|(_, times)| times).sum::<u64>(), due, "{category}");
    }
    assert_eq!(seen.len(), distinct, "distinct values");
}

#[test]
fn all_five_card_hands() {
    let mut seen = Seen::new();
    ranking::for_each_five(|value| *seen.entry(value).or_default() += 1);
    let frequencies = [1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40];
    check(&seen, frequencies, 7_462);
    let royal = seen.iter().max().expect("at least one hand");
    assert_eq!((royal.0.to_string().as_str(), *royal.1), ("royal flush", 4));
}

#[cfg(not(debug_assertions))]
#[test]
fn all_seven_card_hands() {
    let frequencies =
        [23_294_460, 58_627_800, 31_433_400, 6_461_620, 6_180_020, 4_047_644, 3_473_184, 224_848, 41_584];
    check(&seven::all(), frequencies, 4_824);
}

/// A value that a record holds is read back, and no number that is one bit away from it is taken for another hand's.
#[test]
fn every_value_is_read_back_from_its_bits_and_nothing_else_is() {
    let values = ranking::values();
    for value in values {
        assert_eq!(HandValue::from_bits(value.bits()), Some(*value), "{value}");
        for bit in 0..32 {
            let bits = value.bits() ^ (1 << bit);
            let known = values.binary_search_by(|other| bits.cmp(&other.bits())).is_ok();
            assert_eq!(HandValue::from_bits(bits).is_some(), known, "{value}, bit {bit}");
        }
    }
}

#[cfg(not(debug_assertions))]
mod seven {
    //! The long count, on two threads.

    use super::Seen;
    use conformance::ranking::add_cards;
    use rules::{Card, Holding};

    pub fn all() -> Seen {
        let (mut odd, even) = std::thread::scope(|threads| {
            let odd = threads.spawn(|| with_second_card(1));
            let even = with_second_card(0);
            (odd.join().expect("the other half"), even)
        });
        for (value, times) in even {
            *odd.entry(value).or_default() += times;
        }
        odd
    }

    /// The hands whose second lowest card has an index of this parity: about a half of all.
    fn with_second_card(parity: u8) -> Seen {
        let mut seen = Seen::new();
        for second in (0..52).filter(|index| index % 2 == parity) {
            for first in 0..second {
                let mut holding = Holding::EMPTY;
                for card in [first, second].into_iter().filter_map(Card::from_index) {
                    holding.add(card);
                }
                let mut count = |value| *seen.entry(value).or_default() += 1;
                add_cards(holding, second + 1, 5, &mut count);
            }
        }
        seen
    }
}
