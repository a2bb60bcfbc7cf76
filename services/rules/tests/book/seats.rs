//! Rules 9.1 to 9.3: coming, leaving, sitting out, adding chips.

use rules::event::LeaveReason;
use rules::{Chips, Event, Millis, PlayerId};

use crate::play::{Play, check, play};

/// Who was paid what in the last commit: `1 900 Asked`.
pub fn paid(play: &Play) -> Vec<String> {
    let paid = play.commit.iter().filter_map(|event| match event {
        Event::PlayerStoodUp { seat, paid, reason, transaction, .. } => {
            assert_eq!(*reason == LeaveReason::Asked, !transaction.is_empty(), "whose wish it was");
            Some(format!("{seat} {paid} {reason:?}"))
        }
        _ => None,
    });
    paid.collect()
}

/// What became of the chips that were asked for in the last commit: `added 20, returned 30`.
fn added(play: &Play) -> String {
    let added = play.commit.iter().find_map(|event| match event {
        Event::ChipsAdded { added, returned, .. } => Some(format!("added {added}, returned {returned}")),
        _ => None,
    });
    added.unwrap_or_default()
}

// Pitfall 34: 30 are in the pot; he leaves, folds when his turn comes, and is paid after the hand.
#[test]
fn r9_1_who_leaves_folds_on_his_turn_and_his_chips_stay() {
    let mut hand = play(
        "table texas nl 5/10
         seats 1:900 2:900 3:900
         deal button 1
         1 raises 30 · 1 leaves · 1 is leaving · 1 leaves -> LEAVING · 2 calls 25 · 3 raises 90",
    );
    assert_eq!(paid(&hand), Vec::<String>::new());
    hand.more("did 1 fold absence · 2 to act · 1 is leaving · 2 folds · over · pots 90 (3) · 1 is gone");
    assert_eq!(paid(&hand), ["1 870 Asked"]);
}

#[test]
fn r9_1_who_leaves_on_his_turn_folds_at_once() {
    check(
        "table texas nl 5/10
         seats 1:900 2:900 3:900
         deal button 1
         1 leaves · did 1 fold absence · 2 to act · 1 is leaving · 2 calls 5
         3 leaves · did 3 fold absence · over · wins 2:20 · 1 is gone · 3 is gone · 2 is in · no next hand",
    );
}

#[test]
fn r9_1_who_leaves_all_in_stays_to_the_showdown() {
    let mut hand = play(
        "table texas nl 5/10
         seats 1:100 2:900 3:900
         cards 1:AcAd 2:QcQd 3:KcKd board:9s8h7s3c2d
         deal button 1
         1 all-in 100 · 1 leaves · 2 calls 95 · 3 folds · over · shown 2 1 · wins 1:210 · 1 is gone",
    );
    assert_eq!(paid(&hand), ["1 210 Asked"]);
    hand.more("2 is in");
}

// Nobody raises any more: he called, has no turn left, and wins.
#[test]
fn r9_1_who_leaves_without_a_turn_left_stays_to_the_showdown() {
    check(
        "table texas nl 5/10
         seats 1:900 2:100 3:900
         cards 1:AcAd 2:QcQd board:9s8h7s3c2d
         deal button 1
         1 raises 100 · 1 leaves · 2 all-in 100 · 3 folds · over · wins 1:210 · 1 is gone",
    );
}

#[test]
fn r9_1_who_folded_is_paid_after_the_settlement() {
    let mut hand = play(
        "table texas nl 5/10
         seats 1:900 2:900 3:900
         deal button 1
         1 folds · 1 leaves · 1 is leaving",
    );
    hand.more("p9 buys 1 for 100 -> SEAT_TAKEN · 2 folds · 1 is gone · p9 buys 1 for 100 · 1 is in");
}

#[test]
fn r9_1_a_new_player_waits_for_the_next_hand() {
    check(
        "table texas nl 5/10
         seats 1:900 2:900 3:900
         deal button 1
         p4 buys 4 for 900 posting · dealt 1 2 3 · 4 folds -> NOT_IN_HAND · 1 folds · 2 folds · over · stacks 4:900
         deal
         positions 2 3 4 · dealt 1 2 3 4",
    );
}

// Sat out by the clock in this hand, he may leave; he is paid after it.
#[test]
fn r9_1_who_was_sat_out_may_leave() {
    let mut hand = play(
        "table texas nl 5/10 timeouts 1
         seats 1:900 2:900 3:900
         deal button 1
         time-out · 1 is out · 1 leaves · 1 is leaving · 2 calls 5 · time-out · 3 is out · 3 leaves · 2 checks
         over · 1 is gone · 3 is gone",
    );
    assert_eq!(paid(&hand), ["1 900 Asked", "3 890 Asked"]);
    hand.more("wins 2:20 · no next hand");
}

// All leave at once: the last one wins, everybody is paid.
#[test]
fn r9_1_everybody_may_leave() {
    let mut hand = play(
        "table double nl 5/10
         seats 1:900 2:900 3:900
         deal button 1
         1 calls 10 · 2 calls 5 · 3 checks · 3 leaves · 1 leaves · 2 to pick",
    );
    hand.more("2 leaves · over · 1 is gone · 2 is gone · 3 is gone · no next hand");
    assert_eq!(hand.table.ledger.paid_out, Chips(2700));
    assert_eq!(hand.table.due(), None);
}

#[test]
fn r9_1_leaving_between_hands_pays_at_once() {
    let mut table = play(
        "table texas nl 5/10
         seats 1:900 2:800
         next hand 3s · 2 leaves · 2 is gone · no next hand",
    );
    assert_eq!(paid(&table), ["2 800 Asked"]);
    table.more("p2 leaves -> NOT_SEATED");
}

const BUY_IN: &str = "table texas nl 1/2 buy-in 40..200
     seats 1:180 2:100 3:180
     deal button 1";

#[test]
fn r9_2_chips_asked_for_in_a_hand_wait_and_are_trimmed() {
    let mut hand = play(BUY_IN);
    hand.more("1 adds 50 · stacks 1:180 · 1 adds 10 -> CHIPS_PENDING · 1 folds · stacks 1:180 · 2 folds · stacks 1:200");
    assert_eq!(added(&hand), "added 20, returned 30");
    hand.more("1 adds 1 -> BUY_IN_OUT_OF_RANGE");
}

#[test]
fn r9_2_between_hands_at_once_and_only_in_range() {
    let mut hand = play(BUY_IN);
    hand.more(
        "1 folds · 2 folds · stacks 1:180 2:99
         1 adds 21 -> BUY_IN_OUT_OF_RANGE · 1 adds 0 -> BUY_IN_OUT_OF_RANGE · 1 adds 20 · stacks 1:200
         2 adds 102 -> BUY_IN_OUT_OF_RANGE · 2 adds 101 · stacks 2:200",
    );
    check(
        "table texas nl 1/2 buy-in 40..200
         p1 buys 1 for 39 -> BUY_IN_OUT_OF_RANGE · p1 buys 1 for 201 -> BUY_IN_OUT_OF_RANGE
         p1 buys 1 for 40 · p2 buys 2 for 200",
    );
}

// The stack after the hand counts: what would not reach the minimum comes back whole.
#[test]
fn r9_2_the_minimum_counts_too() {
    let lost = "table texas nl 1/2 buy-in 40..200
         seats 1:180 2:100 3:180
         cards 1:AcAd 2:QcQd board:9s8h7s3c2d
         deal button 1
         1 raises 100 · 2 adds AMOUNT · 2 all-in 100 · 3 folds · over";
    let mut hand = play(&lost.replace("AMOUNT", "39"));
    assert_eq!(added(&hand), "added 0, returned 39");
    hand.more("stacks 2:0 · 2 is out · 2 sits in -> NO_CHIPS · 2 adds 39 -> BUY_IN_OUT_OF_RANGE · 2 adds 40 · 2 is in");
    let mut hand = play(&lost.replace("AMOUNT", "40"));
    assert_eq!(added(&hand), "added 40, returned 0");
    hand.more("stacks 2:40 · 2 is in");
}

#[test]
fn r9_2_chips_that_wait_go_back_with_a_player_who_leaves() {
    let mut hand = play(BUY_IN);
    hand.more("1 adds 20 · 1 leaves · 2 folds · 1 is gone");
    assert_eq!(added(&hand), "added 0, returned 20");
    assert_eq!(paid(&hand), ["1 180 Asked"]);
}

#[test]
fn r9_2_who_has_lost_everything_sits_out_until_he_has_chips() {
    check(
        "table texas nl 1/2
         seats 1:100 2:100 3:100
         cards 1:AcAd 2:QcQd board:9s8h7s3c2d
         deal button 1
         1 all-in 100 · 2 all-in 100 · 3 folds · over · 2 is out · next hand 3s
         deal
         positions 3 3 1 · dealt 1 3 · 3 to act",
    );
}

// Sat out by the clock at his pivot, he loses his last chips: new ones do not bring him back by themselves.
#[test]
fn r9_2_who_sat_out_before_stays_out_with_new_chips() {
    check(
        "table double nl 1/2 timeouts 1
         seats 1:100 2:100 3:100
         cards 1:AcAd2c 2:QcQd2d board:9s8h7s3c4d
         deal button 1
         1 all-in 100 · 2 all-in 100 · 3 folds · time-out · did 2 pick time-out · 2 is out · 1 picks Ac
         over · stacks 2:0 · 2 adds 50 · 2 is out · 2 sits in · 2 is in",
    );
}

#[test]
fn r9_2_who_comes_back_within_the_hour_brings_what_he_left_with() {
    let left = "table texas nl 1/2 buy-in 40..200 rathole 60m
         seats 1:180 2:100 3:180
         cards 1:AcAd 3:QcQd board:9s8h7s3c2d
         deal button 1
         1 all-in 180 · 2 folds · 3 all-in 180 · over · stacks 1:361
         1 leaves · 1 is gone
         p1 buys 1 for 360 -> BUY_IN_BELOW_LEFT · p1 buys 1 for 40 -> BUY_IN_BELOW_LEFT";
    play(left).more("p1 buys 1 for 362 -> BUY_IN_OUT_OF_RANGE · p1 buys 5 for 361 · stacks 5:361");
    play(left).more("wait 3599999ms · p1 buys 1 for 200 -> BUY_IN_BELOW_LEFT · wait 1ms · p1 buys 1 for 200");
    play(left).more("p9 buys 1 for 40");
    play(&left.replace(" rathole 60m", "").replace(
        "p1 buys 1 for 360 -> BUY_IN_BELOW_LEFT · p1 buys 1 for 40 -> BUY_IN_BELOW_LEFT",
        "p1 buys 1 for 40",
    ));
}

#[test]
fn r9_2_leaving_with_nothing_leaves_nothing_to_bring_back() {
    let mut table = play(
        "table texas nl 1/2 buy-in 40..200 rathole 60m
         seats 1:180 2:100
         cards 1:AcAd 2:QcQd board:9s8h7s3c2d
         deal button 2
         2 all-in 100 · 1 calls 98 · 2 leaves",
    );
    assert_eq!(table.table.departed, []);
    table.more("p2 buys 2 for 40 · 2 leaves · p2 buys 3 for 41 · 3 leaves");
    let until = Millis::minutes(60);
    let last = table.table.departed.last().expect("noted");
    assert_eq!((last.player.as_str(), last.stack, last.at + until), ("p2", Chips(41), table.now + until));
}

#[test]
fn r9_3_the_next_hand_and_the_next_big_blind_are_separate_wishes() {
    let hand = "table texas nl 1/2
         seats 1:900 2:900 3:900 4:900
         deal button 1";
    play(hand).more(
        "1 sits out · 1 is in · 4 folds · 1 folds · 2 folds · over · 1 is out
         deal
         positions 2 3 4 · dealt 2 3 4",
    );
    play(hand).more(
        "1 sits out next big blind · 4 folds · 1 folds · 2 folds · 1 is in
         deal
         positions 2 3 4 · dealt 1 2 3 4 · 1 folds · 2 folds · 3 folds · 1 is in
         deal
         1 is out · 1 owes both · positions 3 4 2 · dealt 2 3 4",
    );
    // Fulfilled, the wish is no wish any more.
    let mut fulfilled = play(hand);
    fulfilled.more("1 sits out · 4 folds · 1 folds · 2 folds · 1 is out");
    assert!(fulfilled.table.occupied().all(|(_, seat)| seat.wish.is_none()));
    // Taken back.
    play(hand).more(
        "1 sits out · 1 sits in · 1 sits in -> NOT_SITTING_OUT · 4 folds · 1 folds · 2 folds · 1 is in
         deal
         dealt 1 2 3 4",
    );
    // Asked between hands, the one is done at once, the other waits all the same.
    play(hand)
        .more("4 folds · 1 folds · 2 folds · 1 sits out next big blind · 1 is in\n deal\n dealt 1 2 3 4");
    play(hand)
        .more("4 folds · 1 folds · 2 folds · 1 sits out · 1 is out · 1 sits out -> ALREADY_SITTING_OUT");
}

// Who waits for the big blind may think better of it and post.
#[test]
fn r2_4_a_newcomer_may_post_after_all() {
    check(
        "table texas nl 10/25
         seats 1:500 2:500 3:500 4:500
         deal button 1
         p6 buys 6 for 500 · 6 sits in -> NOT_SITTING_OUT · 4 folds · 1 folds · 2 folds
         deal
         positions 2 3 4 · dealt 1 2 3 4 · 6 sits in posting · 6 sits in posting -> NOT_SITTING_OUT
         1 folds · 2 folds · 3 folds
         deal
         positions 3 4 6 · dealt 1 2 3 4 6",
    );
    check(
        "table texas nl 10/25
         seats 1:500 2:500 3:500 4:500
         deal button 1
         p6 buys 6 for 500 · 6 sits in posting · 4 folds · 1 folds · 2 folds
         deal
         positions 2 3 4 · dealt 1 2 3 4 6 · bets 6:25",
    );
}

#[test]
fn r9_3_if_too_few_are_left_no_hand_begins() {
    check(
        "table texas nl 1/2
         seats 1:900 2:900
         deal button 1
         2 sits out next big blind · 1 sits out next big blind · 1 folds · 1 is in · 2 is in · next hand 3s
         deal
         over · 1 is out · 2 is in · no next hand",
    );
}

#[test]
fn who_sits_where_is_by_name() {
    let table = play("table texas nl 1/2\n seats 3:90\n Zoe buys any for 100\n Zoe adds 50 · stacks 1:150");
    let zoe = PlayerId::new("Zoe").expect("a name");
    assert_eq!(table.table.seat_of(&zoe).map(|seat| seat.number()), Some(1));
}
