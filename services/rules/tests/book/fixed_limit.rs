//! Rules 5.6 and 5.7: the bets of fixed limit, the cap, and all-ins.

use crate::play::{check, play};

#[test]
fn r5_6_a_bet_and_three_raises_a_round() {
    check(
        "table texas fl 10/20
         seats 1:5000 2:5000 3:5000
         deal button 1
         1 may raise 40..40 · 1 raises 41 -> ILLEGAL_AMOUNT · 1 raises 40
         2 may raise 60..60 · 2 raises 60 · 3 may raise 80..80 · 3 raises 80
         1 must call 40 · 1 may not raise · 1 calls 40 · 2 calls 20
         street flop · 2 may bet 20..20 · 2 bets 20 · 3 may raise 40..40 · 3 raises 40 · 1 raises 60 · 2 raises 80
         3 may not raise · 3 calls 40 · 1 calls 20
         street turn · 2 may bet 40..40 · 2 bets 40 · 3 raises 80 · 1 raises 120 · 2 raises 160 · 3 may not raise
         3 calls 80 · 1 calls 40 · street river · 2 may bet 40..40",
    );
}

// Pitfall 9.
#[test]
fn r5_6_no_cap_where_the_round_began_with_two_live_players() {
    check(
        "table texas fl 10/20
         seats 1:5000 2:5000 3:5000
         deal button 1
         1 folds · 2 raises 40 · 3 raises 60 · 2 raises 80 · 3 may not raise · 3 calls 20
         2 bets 20 · 3 raises 40 · 2 raises 60 · 3 raises 80 · 2 may raise 100..100 · 2 raises 100 · 3 may raise 120..120",
    );
    // Three began the round: the cap holds although one has folded since.
    check(
        "table texas fl 10/20
         seats 1:5000 2:5000 3:5000
         deal button 1
         1 calls 20 · 2 calls 10 · 3 checks
         2 bets 20 · 3 raises 40 · 1 folds · 2 raises 60 · 3 raises 80 · 2 may not raise",
    );
    check(
        "table texas fl 10/20 cap-heads-up
         seats 1:5000 2:5000
         deal button 1
         1 raises 40 · 2 raises 60 · 1 raises 80 · 2 may not raise · 2 calls 20
         2 bets 20 · 1 raises 40 · 2 raises 60 · 1 raises 80 · 2 may not raise",
    );
}

#[test]
fn r5_6_an_all_in_player_counts_as_live_for_the_cap() {
    check(
        "table texas fl 10/20
         seats 1:20 2:5000 3:5000
         deal button 1
         1 all-in 20 · 2 calls 10 · 3 checks
         2 bets 20 · 3 raises 40 · 2 raises 60 · 3 raises 80 · 2 may not raise",
    );
}

// No cap is no counter either: as many raises as the chips last.
#[test]
fn r5_6_heads_up_raises_go_on_as_long_as_the_chips() {
    let mut hand = play(
        "table texas fl 10/20
         seats 1:100000 2:100000
         deal button 1",
    );
    for raise in 1..=600 {
        let seat = if raise % 2 == 1 { 1 } else { 2 };
        hand.more(&format!("{seat} raises {}", 20 + 20 * raise));
    }
    hand.more("1 may raise 12040..12040 · 1 calls 20 · street flop");
}

fn with(seats: &str, text: &str) {
    let table = format!(
        "table texas fl 10/20
         seats {seats}
         deal button 1
         {text}"
    );
    check(&table);
}

// The opener 4 called the big blind of 20, the first bet of the round.
// Pitfall 8.
#[test]
fn r5_7_less_than_half_a_bet_does_not_reopen_and_may_be_completed() {
    with(
        "1:5000 2:5000 3:5000 4:5000 5:25",
        "4 calls 20 · 5 all-in 25 · 1 must call 25 · 1 may raise 40..40 · 1 calls 25 · 2 folds
         3 may raise 40..40 · 3 calls 5 · 4 must call 5 · 4 may not raise · 4 calls 5 · street flop",
    );
    with(
        "1:5000 2:5000 3:5000 4:5000 5:25",
        "4 calls 20 · 5 all-in 25 · 1 raises 40 · 2 folds · 3 folds · 4 must call 20 · 4 may raise 60..60",
    );
}

// Pitfall 8.
#[test]
fn r5_7_half_a_bet_or_more_counts_as_full() {
    with(
        "1:5000 2:5000 3:5000 4:5000 5:30",
        "4 calls 20 · 5 all-in 30 · 1 may raise 50..50 · 1 calls 30 · 2 folds · 3 folds
         4 must call 10 · 4 may raise 50..50",
    );
}

#[test]
fn r5_7_short_all_ins_add_up() {
    with(
        "1:5000 2:5000 3:5000 4:5000 5:25 6:31",
        "4 calls 20 · 5 all-in 25 · 6 all-in 31 · 1 may raise 51..51 · 1 calls 31 · 2 folds · 3 folds
         4 must call 11 · 4 may raise 51..51",
    );
    with(
        "1:5000 2:5000 3:5000 4:5000 5:25 6:29",
        "4 calls 20 · 5 all-in 25 · 6 all-in 29 · 1 may raise 40..40 · 1 calls 29 · 2 folds · 3 folds
         4 must call 9 · 4 may not raise",
    );
}

#[test]
fn r5_7_only_half_or_more_counts_towards_the_cap() {
    // 20, short 25, completed 40, 60, 80: the short one is no raise of the three.
    with(
        "1:5000 2:5000 3:5000 4:5000 5:25",
        "4 calls 20 · 5 all-in 25 · 1 raises 40 · 2 raises 60 · 3 may raise 80..80 · 3 raises 80
         4 may not raise · 4 must call 60",
    );
    // 20, 30 counts, 50, 70: capped.
    with(
        "1:5000 2:5000 3:5000 4:5000 5:30",
        "4 calls 20 · 5 all-in 30 · 1 raises 50 · 2 raises 70 · 3 may not raise · 3 must call 50",
    );
}

// The same on the turn with bets of 40, opened by an all-in of less and of more than half of one.
#[test]
fn r5_7_a_short_open_bet_is_completed_to_a_bet() {
    let turn = "1 calls 20 · 2 calls 10 · 3 checks · 2 checks · 3 checks · 1 checks · street turn · 2 checks";
    with(
        "1:5000 2:5000 3:39",
        &format!("{turn} · 3 all-in 19 · 1 may raise 40..40 · 1 calls 19 · 2 must call 19 · 2 may not raise"),
    );
    with(
        "1:5000 2:5000 3:40",
        &format!("{turn} · 3 all-in 20 · 1 may raise 60..60 · 1 calls 20 · 2 may raise 60..60"),
    );
}
