//! Rules 6.4 to 6.6: who shows, in which order, and when hands open.

use crate::play::{check, play};

/// Three players see the river: 2 (small blind) has the worst hand, 3 the middle one, 1 the best.
const TO_THE_RIVER: &str = "table texas nl 1/2
     seats 1:900 2:900 3:900
     cards 1:AcAd 2:QcQd 3:KcKd board:9s8h7s3c2d
     deal button 1
     1 calls 2 · 2 calls 1 · 3 checks
     2 checks · 3 checks · 1 checks · 2 checks · 3 checks · 1 checks · street river";

// Pitfall 31.
#[test]
fn r6_4_the_last_aggressor_of_the_river_shows_first() {
    let mut hand = play(TO_THE_RIVER);
    hand.more("2 bets 10 · 3 calls 10 · 1 calls 10 · over · shown 2 3 1 · mucked");
    let mut hand = play(TO_THE_RIVER);
    hand.more("2 checks · 3 checks · 1 bets 10 · 2 calls 10 · 3 calls 10 · over · shown 1 · mucked 2 3");
    let mut hand = play(TO_THE_RIVER);
    hand.more("2 checks · 3 bets 10 · 1 calls 10 · 2 folds · over · shown 3 1 · mucked");
}

// Pitfall 31.
#[test]
fn r6_4_without_an_aggressor_the_first_left_of_the_button_shows_first() {
    let mut hand = play(TO_THE_RIVER);
    hand.more("2 checks · 3 checks · 1 checks · over · shown 2 3 1 · mucked · wins 1:6");
}

// A bet on the turn is no bet on the river.
#[test]
fn r6_4_only_the_river_counts() {
    check(
        "table texas nl 1/2
         seats 1:900 2:900 3:900
         cards 1:AcAd 2:QcQd 3:KcKd board:9s8h7s3c2d
         deal button 1
         1 calls 2 · 2 calls 1 · 3 checks · 2 checks · 3 checks · 1 checks
         2 checks · 3 checks · 1 bets 10 · 2 calls 10 · 3 calls 10
         2 checks · 3 checks · 1 checks · over · shown 2 3 1",
    );
}

#[test]
fn r6_4_ties_show() {
    check(
        "table texas nl 1/2
         seats 1:900 2:900
         cards 1:AcKd 2:AdKc board:9s8h7s3c2d
         deal button 1
         1 calls 1 · 2 checks · 2 checks · 1 checks · 2 checks · 1 checks
         2 checks · 1 checks · over · shown 2 1 · wins 1:2 2:2",
    );
}

#[test]
fn r6_4_who_asked_to_shows_and_so_does_everybody_with_the_option() {
    let mut hand = play(TO_THE_RIVER);
    hand.more("3 always shows · 2 checks · 3 checks · 1 bets 10 · 2 calls 10 · 3 calls 10 · over · shown 1 3 · mucked 2");
    let mut hand = play(&TO_THE_RIVER.replace("1/2", "1/2 show-all"));
    hand.more("2 checks · 3 checks · 1 bets 10 · 2 calls 10 · 3 calls 10 · over · shown 1 2 3 · mucked");
}

// Pitfall 31: mucked cards stay private, in the account of the hand too, and the winner need not have shown better.
#[test]
fn r6_4_mucked_cards_stay_private() {
    let mut hand = play(TO_THE_RIVER);
    hand.more("2 checks · 3 checks · 1 bets 10 · 2 folds · 3 calls 10 · over · shown 1 · mucked 3");
    let shown: Vec<u8> =
        hand.result().players.iter().filter(|p| p.shown.is_some()).map(|p| p.seat.number()).collect();
    assert_eq!(shown, [1]);
    hand.more("3 shows -> NOTHING_TO_SHOW · 1 shows -> NOTHING_TO_SHOW");
}

// Pitfall 30.
#[test]
fn r6_5_all_hands_open_before_the_board_is_run_out() {
    let hand = play(
        "table texas nl 1/2
         seats 1:100 2:900 3:900
         deal button 1
         1 all-in 100 · 2 calls 99 · closed · 3 folds · over · shown 2 1 · mucked · street river",
    );
    let open = hand.log.iter().position(|e| matches!(e, rules::Event::HandShown { .. }));
    let flop = hand.log.iter().position(|e| matches!(e, rules::Event::StreetDealt { .. }));
    assert!(open < flop && open.is_some(), "opened after the flop");
}

#[test]
fn r6_5_not_while_there_is_betting() {
    check(
        "table texas nl 1/2
         seats 1:100 2:900 3:900
         cards 1:AcAd 2:QcQd 3:KcKd board:9s8h7s3c2d
         deal button 1
         1 all-in 100 · 2 calls 99 · 3 calls 98 · closed
         2 checks · 3 checks · closed · 2 bets 50 · 3 calls 50 · closed · 2 checks · 3 bets 100 · closed
         2 calls 100 · over · shown 3 1 2 · mucked",
    );
    check(
        "table texas nl 1/2
         seats 1:100 2:900 3:900
         deal button 1
         1 all-in 100 · 2 calls 99 · 3 calls 98
         2 bets 50 · closed · 3 folds · over · shown 2 1 · street river · returned 2:50",
    );
}

#[test]
fn r6_5_after_an_all_in_on_the_river_nobody_mucks() {
    let mut hand = play(TO_THE_RIVER);
    hand.more("2 checks · 3 checks · 1 all-in 898 · 2 calls 898 · 3 folds · over · shown 2 1 · mucked");
}

#[test]
fn r6_5_not_while_a_pivot_is_to_be_picked() {
    check(
        "table double nl 1/2
         seats 1:100 2:100 3:900
         cards 1:AcAd2c 2:QcQd2d 3:KcKd2h board:9s8h7s3c2s
         deal button 1
         1 all-in 100 · 2 all-in 100 · 3 folds
         street flop · closed · 2 picks Qc · closed · 1 to pick · 1 picks Ac
         over · shown 2 1 · pivots 1:Ac 2:Qc",
    );
}

#[test]
fn r6_6_a_hand_won_without_a_showdown_stays_closed_unless_its_owner_shows_it() {
    let won = "table double nl 1/2
         seats 1:100 2:100 3:900
         deal button 1
         1 raises 6 · 2 folds · 3 folds · over · closed
         2 shows -> NOTHING_TO_SHOW";
    play(won).more("1 shows · shown 1 · 1 shows -> NOTHING_TO_SHOW");
    play(won).more("deal · 1 shows -> NOTHING_TO_SHOW");
    play(won).more("1 leaves · 1 is gone · p1 shows · shown 1");
    play(won).more("1 leaves · new buys 1 for 50 · new shows -> NOT_IN_HAND · p1 shows · shown 1");
}

#[test]
fn r6_6_who_mucked_at_a_showdown_shows_no_more() {
    check(
        "table texas nl 1/2
         seats 1:900 2:900
         cards 1:QcQd 2:AcAd board:9s8h7s3c2d
         deal button 1
         1 calls 1 · 2 checks · 2 checks · 1 checks · 2 checks · 1 checks
         2 bets 5 · 1 calls 5 · over · shown 2 · mucked 1 · 1 shows -> NOTHING_TO_SHOW",
    );
}

#[test]
fn r6_6_a_void_hand_is_won_by_nobody() {
    check(
        "table texas nl 1/2
         seats 1:100 2:100
         deal button 1
         1 shows -> NOTHING_TO_SHOW · void · voided · closed · 1 shows -> NOTHING_TO_SHOW",
    );
}
