//! Rules 6.2 and 12: the best five of seven, in words, and the traps of it.

use crate::text::{cards, faces, rows};
use rules::{Card, Category, HandValue, Holding, Rank, evaluate};

/// Each row: five to seven cards `->` the words for them.
fn check(table: &str) {
    for (hand, words) in rows(table) {
        assert_eq!(evaluate(&cards(hand)).to_string(), words, "{hand}");
    }
}

/// Each row: a hand, then `>` or `=` and a hand that loses to it or splits with it.
fn check_order(table: &str) {
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let sign = if line.contains('>') { '>' } else { '=' };
        let (one, other) = line.split_once(sign).expect("two hands and a sign between them");
        let (one, other) = (evaluate(&cards(one)), evaluate(&cards(other)));
        assert_eq!(one > other, sign == '>', "{line}: {one}; {other}");
        assert_eq!(one == other, sign == '=', "{line}: {one}; {other}");
    }
}

#[test]
fn r6_2_every_category_in_words() {
    check(
        "Ah Kh Qh Jh Th 2c 3d -> royal flush
         9h Kh Qh Jh Th 2c 3d -> straight flush, king high
         Qc Qd Qh Qs 9h 2c Ad -> four of a kind, queens, ace kicker
         Qc Qd Qh Ts Th 2c Ad -> full house, queens full of tens
         Ah Kh 2h Jh 6h 5h 3d -> flush, ace king jack six five
         9h Kc Qh Jh Ts 2c 3d -> straight, king high
         6c 6d 6h Ts 9h 2c Ad -> three of a kind, sixes, ace ten kickers
         Ac Ad 4h 4s Kh 2c Jd -> two pair, aces and fours, king kicker
         2c 2d 7h 9s Jh 3c Ad -> pair, deuces, ace jack nine kickers
         2c 4d 7h 9s Jh 3c Ad -> high card, ace jack nine seven four",
    );
}

#[test]
fn r6_2_five_and_six_cards_are_enough() {
    check(
        "2h 3h 4h 5h 7h       -> flush, seven five four three deuce
         2c 3h 4h 5h 6h       -> straight, six high
         2c 2h 4h 4c 6h       -> two pair, fours and deuces, six kicker
         2c 2h 4h 4c 6h 6c    -> two pair, sixes and fours, deuce kicker
         2c 2h 2d 4c 4h 4d    -> full house, fours full of deuces
         2c 2h 4h 9c 6h 7c    -> pair, deuces, nine seven six kickers
         2c 3h 4h 9c 6h 7c    -> high card, nine seven six four three
         2c 2h 2d 9c 6h 7c    -> three of a kind, deuces, nine seven kickers
         2c 2h 2d 2s 6h 6c    -> four of a kind, deuces, six kicker",
    );
}

#[test]
fn r6_2_the_lowest_of_three_pairs_is_only_a_kicker() {
    check(
        "Ac Ad Kc Kd Qc Qd Jh -> two pair, aces and kings, queen kicker
         Ac Ad Kc Kd 3c 3d Jh -> two pair, aces and kings, jack kicker
         9c 9d 8c 8d 2c 2d Ah -> two pair, nines and eights, ace kicker",
    );
}

#[test]
fn r6_2_two_threes_of_a_kind_are_a_full_house() {
    check(
        "9c 9d 9h Kc Kd Kh 2s -> full house, kings full of nines
         9c 9d 9h Kc Kd 2h 2s -> full house, nines full of kings",
    );
}

#[test]
fn r6_2_four_of_a_kind_takes_the_highest_other_card() {
    check(
        "9c 9d 9h 9s Kc Kd Kh -> four of a kind, nines, king kicker
         9c 9d 9h 9s 2c 2d Ah -> four of a kind, nines, ace kicker
         2c 2d 2h 2s 4c 4d 3h -> four of a kind, deuces, four kicker",
    );
}

#[test]
fn r6_2_only_the_five_highest_of_a_longer_flush_or_straight_count() {
    check(
        "2h 4h 6h 8h Th Qh Kh -> flush, king queen ten eight six
         2h 4h 6h 8h Th Qh Kc -> flush, queen ten eight six four
         3c 4h 5h 6s 7h 8d 9c -> straight, nine high
         2c 4h 5h 6s 7h 8d Ac -> straight, eight high
         2h 3h 4h 5h 6h 7h 8h -> straight flush, eight high",
    );
}

#[test]
fn r6_2_a_straight_and_a_flush_of_other_cards_are_no_straight_flush() {
    check(
        "9h 8h 7h 6h 2h 5c Tc -> flush, nine eight seven six deuce
         9h 8h 7h 6h 5h Tc Jc -> straight flush, nine high",
    );
}

#[test]
fn r6_2_a_straight_beats_the_three_of_a_kind_within_it() {
    check(
        "5c 6d 7h 7c 7d 8s 9c -> straight, nine high
         5c 6d 7h 7c 8d 8s 9c -> straight, nine high",
    );
}

#[test]
fn r6_2_an_ace_ends_a_straight_at_either_end_and_never_wraps() {
    check(
        "Ac 2d 3h 4s 5c Kd Qh -> straight, five high
         Ac 2d 3h 4s 5c 6d Qh -> straight, six high
         Ac Kd Qh Js Tc 2d 3h -> straight, ace high
         Ah 2h 3h 4h 5h Kd Qc -> straight flush, five high
         Qc Kd Ah 2s 3c       -> high card, ace king queen three deuce
         Jc Qc Kd Ah 2s 3c 4d -> high card, ace king queen jack four",
    );
}

#[test]
fn r6_2_a_steel_wheel_is_the_lowest_straight_flush() {
    check_order(
        "2h 3h 4h 5h 6h Kd Qc > Ah 2h 3h 4h 5h Kd Qc
         Ah 2h 3h 4h 5h Kd Qc > As Ad Ac Ah Ks Kd Kh
         2c 3h 4h 5h 6h       > Ac 2h 3h 4h 5h",
    );
}

#[test]
fn r6_2_kickers_decide_in_order_of_weight() {
    check_order(
        "Ac Ad Kc 3d 2h > Ah As Qc Jd Th
         Ac Ad Kc Qd 3h > Ah As Kd Qc 2h
         Ac Ad 2c 2d 3h > Kc Kd Qc Qd Ah
         Ac Ad 3c 3d 2h > Ah As 2c 2d Kh
         Ac Ad 3c 3d 4h > Ah As 3h 3s 2c
         3c 3d 3h 2c 2d > 2c 2d 2h Ac Ad
         3c 3d 3h 4c 4d > 3c 3d 3h 2c 2d
         Ah 9h 4h 3h 2h > Ks Qs Js Ts 8s
         7h 5h 4h 3h 2h > Ac Kd Qh Jc Ts
         9c 8d 5h 4c 3s > 9h 8s 5d 4h 2s",
    );
}

#[test]
fn r6_2_suits_never_break_a_tie() {
    check_order(
        "Ah Kh Qh Jh 9h = As Ks Qs Js 9s
         Ac Kd 9h 5c 3s = Ad Kc 9s 5h 3d
         2h 2s 7c 8c 9c = 2c 2d 7d 8d 9d",
    );
}

/// Aces and kings on the board with a queen: only jack-ten plays, as a straight.
#[test]
fn r6_3_who_cannot_beat_the_board_splits() {
    check_order(
        "Jc 9s Ah Ad Kh Kd Qc = 2c 3s Ah Ad Kh Kd Qc
         Qd 9s Ah Ad Kh Kd Qc = 2c 3s Ah Ad Kh Kd Qc
         9c 9s Ah Kd Qh Jd Tc = 2c 3s Ah Kd Qh Jd Tc
         Jc Ts Ah Ad Kh Kd Qc > 2c 3s Ah Ad Kh Kd Qc",
    );
}

#[test]
fn r6_2_the_categories_rise_in_the_known_order() {
    let ladder = [
        ("Ac Kd Qh Js 9c", Category::HighCard),
        ("2c 2d 3h 4s 5c", Category::Pair),
        ("2c 2d 3h 3s 4c", Category::TwoPair),
        ("2c 2d 2h 3s 4c", Category::ThreeOfAKind),
        ("Ac 2d 3h 4s 5c", Category::Straight),
        ("2c 3c 4c 5c 7c", Category::Flush),
        ("2c 2d 2h 3s 3c", Category::FullHouse),
        ("2c 2d 2h 2s 3c", Category::FourOfAKind),
        ("Ac 2c 3c 4c 5c", Category::StraightFlush),
    ];
    for (hand, category) in ladder {
        assert_eq!(evaluate(&cards(hand)).category(), category, "{hand}");
    }
    assert!(ladder.is_sorted_by_key(|(hand, _)| evaluate(&cards(hand))));
    assert_eq!(ladder.map(|(_, category)| category), Category::ALL);
}

#[test]
fn r6_2_the_ranks_that_count_in_order_of_weight() {
    for (hand, due) in rows(
        "Ac Ad 4h 4s Kh 2c Jd -> A 4 K
         Qc Qd Qh Ts Th 2c Ad -> Q T
         6c 6d 6h Ts 9h 2c Ad -> 6 A T
         2c 2d 7h 9s Jh 3c Ad -> 2 A J 9
         Ah Kh 2h Jh 6h 5h 3d -> A K J 6 5
         Ac 2d 3h 4s 5c Kd Qh -> 5
         Qc Qd Qh Qs 9h 2c Ad -> Q A",
    ) {
        let letters: Vec<String> =
            evaluate(&cards(hand)).ranks().map(|rank: Rank| rank.letter().to_string()).collect();
        assert_eq!(letters.join(" "), due, "{hand}");
    }
}

/// Hands from walks through the deck: short steps make pairs and straights, steps of nearly four make flushes.
#[test]
fn r6_2_the_value_is_that_of_the_best_five_of_the_seven() {
    for start in 0..52_u8 {
        for step in [1, 3, 5, 7, 9, 11, 15, 17, 19, 21, 23, 25] {
            let hand: Vec<Card> =
                (0..7).map(|i| (start + i * step) % 52).filter_map(Card::from_index).collect();
            let best = fives(&hand).map(|five| evaluate(&five)).max();
            assert_eq!(Some(evaluate(&hand)), best, "{}", faces(&hand));
        }
    }
}

/// All choices of five: leave two out.
fn fives(seven: &[Card]) -> impl Iterator<Item = Vec<Card>> {
    (0..7).flat_map(move |a| {
        (a + 1..7).map(move |b| {
            let kept = (0..7).filter(|i| *i != a && *i != b);
            kept.map(|i| seven[i]).collect()
        })
    })
}

#[test]
fn r6_2_cards_gathered_one_by_one_in_any_order_are_worth_the_same() {
    let hand = cards("Qc Ad 4h Qs Kh Qd Kd");
    let mut forward = Holding::EMPTY;
    let mut backward = Holding::EMPTY;
    for (first, last) in hand.iter().zip(hand.iter().rev()) {
        forward.add(*first);
        backward.add(*last);
    }
    assert_eq!(forward.value(), evaluate(&hand));
    assert_eq!(backward.value(), evaluate(&hand));
    assert_eq!(forward.value().to_string(), "full house, queens full of kings");
}

#[test]
fn a_recorded_value_is_read_back_and_an_impossible_one_is_not() {
    for hand in ["Ac Kd Qh Js 9c", "2c 2d 3h 3s 4c", "Ac 2c 3c 4c 5c", "2c 2d 2h 2s 3c"] {
        let value = evaluate(&cards(hand));
        assert_eq!(HandValue::from_bits(value.bits()), Some(value));
        // One rank more or less is no hand of five any more.
        for bit in 0..26 {
            assert_eq!(HandValue::from_bits(value.bits() ^ 1 << bit), None, "{hand}, bit {bit}");
        }
        assert_eq!(HandValue::from_bits(value.bits() | 9 << 26), None);
        assert_eq!(HandValue::from_bits(value.bits() | 1 << 31), None);
    }
}

#[test]
fn debug_does_not_tell_what_a_mucked_hand_was() {
    assert_eq!(format!("{:?}", evaluate(&cards("Ac Ad 2h 3s 4c"))), "HandValue(..)");
}
