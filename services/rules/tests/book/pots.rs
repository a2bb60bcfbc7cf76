//! Rules 6.1 to 6.3: main and side pots, which hand wins them, and how they are split.

use rules::pots::{Contribution, Pot, build, split};
use rules::{Chips, SeatNo};

use crate::play::{check, play};
use crate::text::rows;

// Pitfall 11.
#[test]
fn r6_1_a_layer_that_only_folded_players_reached_belongs_to_the_one_below() {
    check(
        "table double nl 1/2
         seats 1:900 2:900 3:50 4:120
         cards 3:AcAd2c 4:KcKd2d board:As9h8h7s3c
         deal button 4
         3 all-in 50 · 4 all-in 120 · 1 raises 200 · 2 calls 198
         1 folds · 2 folds · 3 picks Ac · 4 picks Kc
         over · pots 200 (3 4) + 370 (4) · wins 1:0 2:0 3:200 4:370 · stacks 1:700 2:700 3:200 4:370",
    );
}

// Pitfall 12.
#[test]
fn r6_1_side_pots_and_the_uncalled_bet() {
    check(
        "table texas nl 1/2
         seats 1:50 2:100 3:150 4:900
         cards 1:AcAd 2:KcKd 3:QcQd board:As9h8h7s3c
         deal button 1
         4 raises 100 · 1 all-in 50 · 2 all-in 100 · 3 all-in 150 · 4 folds
         over · returned 3:50 · pots 200 (1 2 3) + 150 (2 3) · wins 1:200 2:150 3:0 4:0 · stacks 3:50",
    );
}

// Pitfalls 13 and 14: the best hand is folded; the short all-in plays for the main pot to the end.
#[test]
fn r6_1_who_folded_wins_nothing_and_who_is_all_in_stays_in_his_pot() {
    check(
        "table texas nl 1/2
         seats 1:50 2:900 3:900
         cards 1:KcKd 2:AcAd 3:QcQd board:As9h8h7s3c
         deal button 1
         1 all-in 50 · 2 calls 49 · 3 calls 48
         2 bets 100 · 3 calls 100 · 2 bets 100 · 3 raises 300 · 2 folds
         over · pots 150 (1 3) + 400 (3) · wins 1:150 2:0 3:400",
    );
}

// Seat 5 posts 200 to enter and folds at once. Nobody but the all-in big blind is left against the small blind, who
// wins what seat 5 has above them: a bet whose owner folded is not uncalled.
#[test]
fn r6_1_the_largest_bet_of_one_who_folded_does_not_go_back() {
    check(
        "table texas nl 100/200
         seats 1:5000 2:5000 3:5000 4:50
         deal button 1
         4 folds · 1 folds · 2 folds
         p5 buys 5 for 5000 posting
         cards 3:KcKd 4:AcAd board:As9h8h7s3c
         deal
         positions 2 3 4 · bets 3:100 4:50 5:200
         5 folds · 1 folds · 2 folds
         over · returned 3:0 5:0 · pots 150 (3 4) + 200 (3) · wins 3:200 4:150 · stacks 5:4800",
    );
}

#[test]
fn r6_2_the_better_of_the_two_hands_counts() {
    check(
        "table double nl 1/2
         seats 1:100 2:100
         cards 1:AhAd2c 2:KhKd3c board:Qs9h7d4c8s
         deal button 1
         1 all-in 100 · 2 calls 98 · 2 picks Kh · 1 picks 2c
         over · wins 1:0 2:200",
    );
    check(
        "table double nl 1/2
         seats 1:100 2:100
         cards 1:AhAd2c 2:KhKd3c board:Qs9h7d4c8s
         deal button 1
         1 all-in 100 · 2 calls 98 · 2 picks Kh · 1 picks Ah
         over · wins 1:200 2:0",
    );
}

// Both have kings with an ace; the hands that do not count are two pairs that never were, and break no tie.
#[test]
fn r6_2_the_hand_that_does_not_count_breaks_no_tie() {
    check(
        "table double nl 1/2
         seats 1:100 2:100
         cards 1:AhKdQc 2:AsKs2c board:Kc7d8sJh3c
         deal button 1
         1 all-in 100 · 2 calls 98 · 2 picks As · 1 picks Ah
         over · wins 1:100 2:100",
    );
}

const ROYAL: &str = "AsKsQsJsTs";

// Pitfalls 15 and 17.
#[test]
fn r6_3_odd_chips_go_one_each_to_the_first_winners_left_of_the_button() {
    check(&format!(
        "table texas nl 5/10
         seats 1:30 2:30 3:900 4:30
         cards board:{ROYAL}
         deal button 1
         4 all-in 30 · 1 all-in 30 · 2 all-in 30 · 3 folds
         over · pots 100 (1 2 4) · wins 2:34 4:33 1:33 3:0",
    ));
    check(&format!(
        "table texas nl 2/5
         seats 1:15 2:15 3:900 4:15
         cards board:{ROYAL}
         deal button 1
         4 all-in 15 · 1 all-in 15 · 2 all-in 15 · 3 folds
         over · pots 50 (1 2 4) · wins 2:17 4:17 1:16",
    ));
}

// Pitfall 16.
#[test]
fn r6_3_each_pot_is_split_by_itself() {
    check(
        "table texas nl 1/2
         seats 1:900 2:45 3:900 4:25 5:45
         cards 2:Tc2c 4:4c4h 5:Td2d board:AsKsQsJd3h
         deal button 5
         3 raises 36 · 4 all-in 25 · 5 calls 36 · 1 folds · 2 calls 34
         2 all-in 9 · 3 folds · 5 all-in 9
         over · pots 101 (2 4 5) + 51 (2 5) · wins 2:77 5:75 4:0",
    );
}

// Seat 2 has left: the button lies before an empty seat.
#[test]
fn r6_3_left_of_the_button_counts_from_its_seat_empty_or_not() {
    let dead = format!(
        "table texas nl 1/2
         seats 1:50 2:900 3:900 4:50
         cards board:{ROYAL}
         deal button 1
         4 folds · 1 folds · 2 leaves · 2 is gone · stacks 3:901
         deal
         positions 2 3 4 · dealt 1 3 4
         1 all-in 50 · 3 folds · 4 all-in 50
         over · pots 101 (1 4) · wins 4:51 1:50"
    );
    check(&dead);
    check(&format!(
        "table texas nl 1/2
         seats 1:50 2:900 3:900 4:50
         cards board:{ROYAL}
         deal button 2
         1 all-in 50 · 2 folds · 3 folds · 4 all-in 50
         over · wins 4:51 1:50",
    ));
}

// Pitfall 18: small blind and button tie; the small blind has the odd chip.
#[test]
fn r6_3_the_order_of_winners_is_that_of_seats() {
    check(&format!(
        "table texas nl 1/2
         seats 1:900 2:900 3:51 4:900 5:50
         cards 1:2c2d 2:3c3d 3:4c4d board:{ROYAL}
         deal button 1
         4 raises 7 · 5 folds · 1 calls 7 · 2 calls 6 · 3 calls 5
         2 checks · 3 checks · 4 checks · 1 bets 10 · 2 calls 10 · 3 folds · 4 folds · 2 checks · 1 checks
         2 checks · 1 checks · over · pots 48 (1 2) · wins 2:24 1:24",
    ));
    let mut hand = play(
        "table texas nl 1/3
         seats 1:900 2:900 3:900
         cards 1:TcTd 2:ThTs 3:4c4d board:AsKsQsJd3h
         deal button 1
         1 calls 3 · 2 calls 2 · 3 checks
         2 bets 3 · 3 folds · 1 calls 3 · 2 checks · 1 checks · 2 checks · 1 checks",
    );
    let order: Vec<u8> = hand.result().pots[0].winners.iter().map(|(seat, _)| seat.number()).collect();
    assert_eq!(order, [2, 1]);
    hand.more("pots 15 (1 2) · wins 2:8 1:7");
}

// No hand comes to this: who has put in nothing wins what only folded players paid.
#[test]
fn r6_1_no_chips_are_without_an_owner() {
    let seats: Vec<SeatNo> = SeatNo::all().take(2).collect();
    let paid = |seat, live, folded| Contribution { seat, live: Chips(live), dead: Chips(3), folded };
    let pots =
        build(&[paid(seats[0], 10, true), Contribution { dead: Chips(0), ..paid(seats[1], 0, false) }]);
    let (amount, eligible) = (Chips(13), [seats[1]].into_iter().collect());
    assert_eq!(pots, [Pot { amount, eligible }]);
}

// Pitfall 19: seat 2 is the first left of the button, but has no part in the side pot of 51.
#[test]
fn r6_3_an_odd_chip_goes_to_a_winner_of_its_pot() {
    check(
        "table texas nl 1/2
         seats 1:900 2:25 3:900 4:900
         cards 1:TcTd 2:AcAd 3:ThTs board:AsKsQdJd3h
         deal button 1
         4 raises 36 · 1 calls 36 · 2 all-in 25 · 3 calls 34
         3 bets 9 · 4 folds · 1 calls 9 · 3 checks · 1 checks · 3 checks · 1 checks
         over · pots 100 (1 2 3) + 51 (1 3) · wins 1:75 2:0 3:76",
    );
}

// Pitfall 15.
#[test]
fn r6_3_exact_splits_stay_exact() {
    let winners: Vec<_> = rules::SeatNo::all().take(3).collect();
    for (amount, due) in rows("30300 -> 10100 10100 10100\n 2 -> 1 1 0\n 0 -> 0 0 0\n 100 -> 34 33 33") {
        let parts = split(Chips(amount.parse().expect("an amount")), &winners);
        let parts: Vec<String> = parts.iter().map(|(_, part)| part.to_string()).collect();
        assert_eq!(parts.join(" "), due);
    }
}
