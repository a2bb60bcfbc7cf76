//! Rules 7: the rake, its cap, its rounding, and whose account it is on.

use crate::play::{check, play};

const ROYAL: &str = "AsKsQsJsTs";

#[test]
fn r7_1_of_the_contested_pot_after_the_uncalled_bet_went_back() {
    let hand = |unit: u32| {
        play(&format!(
            "table texas nl 100/200 rake 100 unit {unit}
             seats 1:28000 2:19800
             cards 1:AcAd 2:KcKd board:9s8h7s3c2d
             deal button 1
             1 all-in 28000 · 2 all-in 19800
             over · returned 1:8200 · pots 39600 (1 2)"
        ))
    };
    hand(1).more("rake 396 · wins 1:39204 2:0 · stacks 1:47404 2:0");
    hand(100).more("rake 300 · wins 1:39300 2:0");
}

const TWO_POTS: &str = "seats 1:50 2:100 3:900
     cards 1:AcAd 2:KcKd 3:QcQd board:9s8h7s3c2d
     deal button 1
     1 all-in 50 · 2 all-in 100 · 3 calls 98
     over · pots 150 (1 2 3) + 100 (2 3)";

// Pitfall 22.
#[test]
fn r7_1_once_per_hand_and_shared_over_the_pots() {
    check(&format!(
        "table texas nl 1/2 rake 500 cap 9/3/9
         {TWO_POTS}
         rake 3 · raked 2 1 · wins 1:148 2:99 3:0"
    ));
    // 5 % of 250 is 12: 7 and 5 by largest remainder (7.2 and 4.8).
    check(&format!(
        "table texas nl 1/2 rake 500
         {TWO_POTS}
         rake 12 · raked 7 5 · wins 1:143 2:95"
    ));
}

// Pitfall 23.
#[test]
fn r7_1_floored_once_before_the_split() {
    check(&format!(
        "table texas nl 1/2 rake 500
         seats 1:15 2:900 3:15
         cards board:{ROYAL}
         deal button 1
         1 all-in 15 · 2 folds · 3 all-in 15
         over · pots 31 (1 3) · rake 1 · wins 1:15 3:15"
    ));
    // 1.01 at 5 %: 0.05 and 0.48 each.
    check(&format!(
        "table texas nl 1/2 rake 500
         seats 1:50 2:900 3:50
         cards board:{ROYAL}
         deal button 1
         1 all-in 50 · 2 folds · 3 all-in 50
         over · pots 101 (1 3) · rake 5 · wins 1:48 3:48"
    ));
}

// Pitfall 21.
#[test]
fn r7_1_no_flop_no_drop() {
    check(
        "table texas nl 1/2 rake 500
         seats 1:900 2:900
         deal button 1
         1 raises 100 · 2 raises 300 · 1 folds · over · pots 200 (2) · rake 0 · wins 2:200",
    );
    check(
        "table texas nl 1/2 rake 500
         seats 1:900 2:900
         deal button 1
         1 raises 100 · 2 calls 98 · 2 bets 50 · 1 folds · over · returned 2:50 · pots 200 (2) · rake 10 · wins 2:190",
    );
}

// The cap is that of the players dealt in, folded or not.
#[test]
fn r7_1_the_cap_by_players_dealt_in() {
    for (seats, folds, rake) in [
        ("1:100 2:100", "", 1),
        ("1:100 2:100 3:100", "3 folds", 2),
        ("1:100 2:100 3:100 4:100", "3 folds · 4 folds", 2),
        ("1:100 2:100 3:100 4:100 5:100", "3 folds · 4 folds · 5 folds", 3),
    ] {
        let button = seats.split_whitespace().count();
        let first = if button == 2 { "2 all-in · 1 all-in" } else { "1 all-in · 2 all-in" };
        check(&format!(
            "table texas nl 1/2 rake 1000 cap 1/2/3
             seats {seats}
             deal button {button}
             {folds}
             {first} · over · rake {rake}"
        ));
    }
}

// Pitfall 23.
#[test]
fn r7_2_shares_of_the_rake_by_contribution() {
    check(&format!(
        "table texas nl 1/2 rake 500 cap 9/3/9
         {TWO_POTS}
         shares 1:1 2:1 3:1"
    ));
    // 12 of 50, 100 and 100: 2.4, 4.8 and 4.8.
    check(&format!(
        "table texas nl 1/2 rake 500
         {TWO_POTS}
         shares 1:2 2:5 3:5"
    ));
    // Who folded has his share too: 10 of 100, 100 and 20.
    check(
        "table texas nl 10/20 rake 455
         seats 1:100 2:900 3:100
         deal button 1
         1 raises 60 · 2 folds · 3 all-in 100 · 1 all-in 100 · rake 9 · shares 1:4 2:1 3:4",
    );
}

// Pitfall 20, with the numbers in cents.
#[test]
fn r7_1_an_uncalled_bet_is_not_raked() {
    check(
        "table texas nl 100/200 rake 100
         seats 1:28000 2:19800
         deal button 1
         1 all-in 28000 · 2 all-in 19800 · rake 396",
    );
}
