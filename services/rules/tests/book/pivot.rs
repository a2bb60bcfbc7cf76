//! Rules 4.2, 4.4, 4.6, 6.2 and 12: the pivot, the two hands that it makes, and which of them counts.

use crate::text::{cards, faces, rows, three};
use rules::{Card, Counts, Pick, PivotValue, auto_pick, evaluate, pivot_order, pivot_value, two_hands};

/// Each row: three cards `->` the pivot at a time-out. The order of the deal must not matter.
fn check_auto_pick(table: &str) {
    for (hole, due) in rows(table) {
        for [a, b, c] in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let dealt = three(hole);
            let dealt = [dealt[a], dealt[b], dealt[c]];
            let pick = auto_pick(&dealt);
            let picked = dealt[usize::from(pick.index())];
            assert_eq!(faces(&[picked]), due, "{}", faces(&dealt));
        }
    }
}

/// Reads `pivot; left right | board`, and values it with the pivot dealt first, second and last.
fn value(text: &str) -> PivotValue {
    let (hole, board) = text.split_once('|').expect("a board");
    let (pivot, sides) = hole.split_once(';').expect("a pivot");
    let [pivot, left, right] = three(&format!("{pivot} {sides}"));
    let board = cards(board);
    let dealt = [[pivot, left, right], [left, pivot, right], [left, right, pivot]];
    let values = Pick::ALL.map(|pick| pivot_value(&dealt[usize::from(pick.index())], pick, &board));
    assert!(values.iter().all(|v| *v == values[0]), "{text}: where the pivot was dealt matters");
    values[0]
}

/// Each row: `pivot; left right | board -> which counts: the words for it`.
fn check(table: &str) {
    for (hand, due) in rows(table) {
        let value = value(hand);
        let which = match value.counts() {
            Counts::First => "hand 1",
            Counts::Second => "hand 2",
            Counts::Both => "both",
        };
        assert_eq!(format!("{which}: {}", value.best()), due, "{hand}");
    }
}

#[test]
fn r4_2_the_pivot_is_in_both_hands_and_left_and_right_in_one_each() {
    let dealt = three("Ah Kd 2c");
    let due =
        [("Kd Ah 2c", "Ah Kd", "Ah 2c"), ("Ah Kd 2c", "Kd Ah", "Kd 2c"), ("Ah 2c Kd", "2c Ah", "2c Kd")];
    for (pick, (shown, first, second)) in Pick::ALL.into_iter().zip(due) {
        assert_eq!(faces(&pivot_order(&dealt, pick)), shown, "shown left, pivot, right (rules 4.4)");
        let [hand_1, hand_2] = two_hands(&dealt, pick);
        assert_eq!((faces(&hand_1).as_str(), faces(&hand_2).as_str()), (first, second));
    }
}

#[test]
fn r4_2_left_and_right_never_play_together() {
    check(
        "Ah; Kd Ks | Ac 7d 8s 2h 3c -> both: pair, aces, king eight seven kickers
         Kd; Ah Ks | Kc 7d 8s 2h 3c -> hand 2: three of a kind, kings, eight seven kickers
         2c; 9h 8h | Ah 7h 3h Jd Js -> hand 1: pair, jacks, ace nine seven kickers",
    );
}

#[test]
fn r4_1_a_pick_is_one_of_three_cards() {
    assert_eq!([0, 1, 2].map(Pick::new), Pick::ALL.map(Some));
    for index in 3..=u8::MAX {
        assert_eq!(Pick::new(index), None);
    }
}

#[test]
fn r4_4_debug_does_not_tell_the_pick() {
    assert_eq!(format!("{:?}", Pick::ALL), "[Pick(..), Pick(..), Pick(..)]");
}

#[test]
fn r4_6_the_highest_rank_is_taken() {
    check_auto_pick(
        "9c 9h Ad -> Ad
         2c 3d 4h -> 4h
         Ac 2s 2h -> Ac
         Th 9s 8s -> Th",
    );
}

#[test]
fn r4_6_of_two_the_one_suited_with_the_third_card() {
    check_auto_pick(
        "Kc Ks 6c -> Kc
         2d Ac Ad -> Ad
         Kd Kh 6d -> Kd
         Qc Qd 9d -> Qd",
    );
}

#[test]
fn r4_6_of_two_the_higher_suit_if_neither_is_suited_with_the_third() {
    check_auto_pick(
        "Ks Kh 6c -> Ks
         Kc Ks 6h -> Ks
         Qc Qd 9s -> Qd
         5h 5d 2s -> 5h",
    );
}

#[test]
fn r4_6_of_three_the_highest_suit() {
    check_auto_pick(
        "Kd Kh Kc -> Kh
         Ks Kd Kc -> Ks
         2c 2d 2h -> 2h",
    );
}

#[test]
fn r6_2_the_better_hand_counts_and_the_other_is_ignored() {
    check(
        "Ah; Kd 2c | Kc 7d 8s Jh 3c -> hand 1: pair, kings, ace jack eight kickers
         Ah; 2c Kd | Kc 7d 8s Jh 3c -> hand 2: pair, kings, ace jack eight kickers",
    );
}

/// The other hand is no kicker: two players with the same better hand split, whatever their worse hands are.
#[test]
fn r6_2_the_ignored_hand_breaks_no_tie() {
    let board = "Kc 7d 8s Jh 3c";
    let one = value(&format!("Ah; Kd Qc | {board}"));
    let other = value(&format!("As; Ks 2c | {board}"));
    assert!(one.second > other.second);
    assert_eq!(one.best(), other.best());
}

#[test]
fn r6_2_which_hand_counts_may_change_with_every_board_card() {
    check(
        "Ah; Kd Qc | Ks 7d 8s       -> hand 1: pair, kings, ace eight seven kickers
         Ah; Kd Qc | Ks 7d 8s Qs    -> hand 1: pair, kings, ace queen eight kickers
         Ah; Kd Qc | Ks 7d 8s Qs Qh -> hand 2: three of a kind, queens, ace king kickers",
    );
}

#[test]
fn r6_2_both_hands_may_be_the_board() {
    check("2c; 3d 4h | As Ks Qs Js Ts -> both: royal flush");
}

#[test]
fn r6_2_each_hand_is_the_best_five_of_its_two_cards_and_the_board() {
    let dealt = three("9c Ad 9h");
    let board = cards("9s Ac 2d 2h 7s");
    for pick in Pick::ALL {
        let value = pivot_value(&dealt, pick, &board);
        let [first, second] = two_hands(&dealt, pick)
            .map(|two| evaluate(&two.into_iter().chain(board.clone()).collect::<Vec<Card>>()));
        assert_eq!((value.first, value.second), (first, second));
    }
}

#[test]
fn r12_evaluation_traps() {
    check(
        "Ah; Kh Qh | Qc Qs Jh Td Th -> hand 2: full house, queens full of tens
         9d; Kc Kd | Qc Qs Jh Td Th -> both: straight, king high
         5c; 6h Ac | 3s 4h Kc Qc 2d -> hand 1: straight, six high
         Ac; 6h 5c | 3s 4h Kc Qc 2d -> hand 2: straight, five high
         2c; As Ah | Ad 7h 9s Jc 4d -> both: pair, aces, jack nine seven kickers
         Kh; 9h 4h | 2h 7h Js Jd 3c -> hand 1: pair, jacks, king nine seven kickers",
    );
}
