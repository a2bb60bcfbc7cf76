//! Rules 5: bets and raises of no-limit and pot-limit, and who is asked at all.

use crate::play::{check, play};

#[test]
fn r5_1_the_opening_bet_is_at_least_the_big_blind() {
    check(
        "table texas nl 50/100
         seats 1:5000 2:5000
         deal button 1
         1 calls 50 · 2 checks
         2 may bet 100..4900 · 2 bets 99 -> ILLEGAL_AMOUNT · 2 bets 100 · 1 may raise 200..4900",
    );
}

// Pitfall 3.
#[test]
fn r5_1_a_short_all_in_does_not_change_what_a_full_raise_is() {
    check(
        "table texas nl 50/100
         seats 1:5000 2:5000 3:5000 4:150
         deal button 1
         4 may raise 150..150 · 4 all-in 150
         1 must call 150 · 1 may raise 250..5000 · 1 raises 249 -> ILLEGAL_AMOUNT · 1 raises 250",
    );
    check(
        "table texas nl 50/100
         seats 1:5000 2:600 3:750 4:900 5:5000
         deal button 5
         3 calls 100 · 4 calls 100 · 5 calls 100 · 1 calls 50 · 2 checks
         1 bets 300 · 2 all-in 500 · 3 all-in 650 · 4 all-in 800
         5 must call 800 · 5 may raise 1100..4900",
    );
}

const SHORT_ALL_INS: &str = "table texas nl 5/10
     seats 1:5000 2:135 3:5000 4:210 5:5000
     deal button 5
     3 calls 10 · 4 calls 10 · 5 calls 10 · 1 calls 5 · 2 checks
     1 bets 100 · 2 all-in 125 · 3 calls 125 · 4 all-in 200 · 5 calls 200
     1 must call 100 · 1 may raise 300..4990";

// Pitfall 2.
#[test]
fn r5_2_short_all_ins_add_up_to_a_full_raise() {
    play(SHORT_ALL_INS)
        .more("1 calls 100 · 3 must call 75 · 3 may not raise · 3 may not all-in · 3 calls 75 · street turn");
    play(SHORT_ALL_INS).more("1 raises 300 · 3 must call 175 · 3 may raise 400..4990");
}

// Pitfall 1.
#[test]
fn r5_2_a_limper_may_not_raise_a_short_all_in() {
    check(
        "table texas nl 2000/4000
         seats 1:90000 2:7500 3:90000
         deal button 1
         1 calls 4000 · 2 all-in 7500
         3 may raise 11500.. · 3 calls 3500
         1 must call 3500 · 1 may not raise · 1 may not all-in
         1 raises 11500 -> ILLEGAL_ACTION · 1 all-in -> ILLEGAL_ACTION · 1 calls 3500 · street flop",
    );
}

// Pitfall 5.
#[test]
fn r5_3_an_open_all_in_below_the_big_blind() {
    check(
        "table texas nl 50/100
         seats 1:5000 2:120 3:5000
         deal button 3
         3 calls 100 · 1 calls 50 · 2 checks
         1 checks · 2 may bet 20..20 · 2 all-in 20
         3 must call 20 · 3 may raise 120..4900 · 3 calls 20
         1 must call 20 · 1 may not raise · 1 checks -> ILLEGAL_ACTION · 1 calls 20 · street turn",
    );
}

#[test]
fn r5_3_once_raised_to_the_full_bet_the_checker_may_raise() {
    check(
        "table texas nl 50/100
         seats 1:5000 2:120 3:5000
         deal button 3
         3 calls 100 · 1 calls 50 · 2 checks
         1 checks · 2 all-in 20 · 3 raises 120 · 1 must call 120 · 1 may raise 220..4900",
    );
}

// Pitfall 4.
#[test]
fn r5_4_the_minimum_raise_does_not_shrink_to_the_opponents_stack() {
    check(
        "table texas nl 10/20
         seats 1:5000 2:200
         deal button 1
         1 raises 100 · 2 raises 180 · 1 may raise 260..5000 · 1 raises 200 -> ILLEGAL_AMOUNT",
    );
}

// Pitfall 10.
#[test]
fn r5_5_the_pot_limit() {
    check(
        "table texas pl 10/20
         seats 1:5000 2:5000 3:5000 4:5000 5:5000
         deal button 5
         3 calls 20 · 4 calls 20 · 5 calls 20 · 1 calls 10 · 2 checks
         pots 100 (1 2 3 4 5) · 1 may bet 20..100 · 1 bets 101 -> ILLEGAL_AMOUNT · 1 bets 50
         2 may raise 100..250 · 2 raises 251 -> ILLEGAL_AMOUNT · 2 may not all-in · 2 raises 250",
    );
    check(
        "table texas pl 100/200
         seats 1:5000 2:5000 3:5000
         deal button 1
         1 may raise 400..700",
    );
    check(
        "table texas pl 5/10
         seats 1:5000 2:5000 3:5000
         deal button 1
         1 may raise 20..35 · 1 folds · 2 may raise 20..30",
    );
}

// Pitfall 6: 600 with a short big blind of 100 (rules 5.5).
#[test]
fn r5_5_the_pot_limit_counts_the_chips_that_are_there() {
    check(
        "table texas pl 100/200
         seats 1:5000 2:5000 3:100
         deal button 1
         1 must call 200 · 1 may raise 400..600",
    );
    // Three antes of 1 and the blinds of 15 make 18, the call 28.
    check(
        "table texas pl 5/10 ante 1
         seats 1:5000 2:5000 3:5000
         deal button 1
         1 may raise 20..38",
    );
    check(
        "table texas pl 5/10 big-blind-ante 10
         seats 1:5000 2:5000 3:5000
         deal button 1
         1 may raise 20..45",
    );
    check(
        "table texas pl 5/10 straddles 1
         seats 1:5000 2:5000 3:5000 4:5000
         4 straddles
         deal button 1
         1 may raise 40..75",
    );
}

#[test]
fn r5_8_what_is_illegal_is_refused_and_changes_nothing() {
    check(
        "table texas nl 50/100
         seats 1:5000 2:5000 3:5000
         deal button 1
         at +5s
         1 checks -> ILLEGAL_ACTION
         1 bets 300 -> ILLEGAL_ACTION
         1 raises 199 -> ILLEGAL_AMOUNT
         1 raises 5001 -> ILLEGAL_AMOUNT
         1 raises 0 -> ILLEGAL_AMOUNT
         1 raises 18446744073709551615 -> ILLEGAL_AMOUNT
         1 to act · 1 may raise 200..5000 · stacks 1:5000 · bank 1:30s
         at +16s · 1 calls 100 · bank 1:29s
         2 calls 50 · 3 calls -> ILLEGAL_ACTION · 3 checks
         2 raises 200 -> ILLEGAL_ACTION · 2 calls -> ILLEGAL_ACTION · 2 bets 4901 -> ILLEGAL_AMOUNT
         2 to act · 2 bets 4900",
    );
}

// Pitfall 36: an all-in against a larger bet is a call, not a raise by less than nothing.
#[test]
fn r5_8_amounts_are_to_and_an_all_in_is_what_it_comes_to() {
    check(
        "table texas nl 50/100
         seats 1:5000 2:198 3:5000
         deal button 1
         1 raises 300 · stacks 1:4700 · 2 must call 148 · 2 may not raise · 2 may all-in
         2 all-in 198 · did 2 call himself · 3 must call 200 · 3 raises 500 · did 3 raise himself · stacks 3:4500
         1 must call 200",
    );
}

#[test]
fn r5_9_a_time_out_checks_if_it_is_free_and_else_folds() {
    check(
        "table texas nl 50/100
         seats 1:5000 2:5000 3:5000
         deal button 1
         time-out · did 1 fold time-out
         2 calls 50 · time-out · did 3 check time-out · street flop",
    );
}

#[test]
fn r5_9_who_has_nothing_to_decide_is_not_asked() {
    // Pitfall 30: A all-in, B calls, C folded: no prompt any more.
    check(
        "table texas nl 50/100
         seats 1:700 2:5000 3:5000
         deal button 1
         1 all-in 700 · 2 calls 650 · 3 folds
         over · street river · shown 2 1",
    );
    // The big blind has nothing to call against a smaller all-in.
    check(
        "table texas nl 50/100
         seats 1:60 2:5000
         deal button 1
         1 all-in 60 · over · returned 2:40 · pots 120 (1 2)",
    );
}

#[test]
fn r5_10_no_raise_that_nobody_could_call() {
    check(
        "table texas nl 50/100
         seats 1:300 2:5000 3:500
         deal button 1
         1 all-in 300 · 2 calls 250 · 3 all-in 500
         2 must call 200 · 2 may not raise · 2 may not all-in · 2 raises 700 -> ILLEGAL_ACTION
         2 calls 200 · over · pots 900 (1 2 3) + 400 (2 3)",
    );
}

// Both blinds have exactly what is to be called: nothing of a raise could be called.
#[test]
fn r5_10_chips_for_the_call_alone_are_no_part_of_a_raise() {
    let all_in = "table texas nl 50/100
         seats 1:5000 2:300 3:BLIND 4:300
         deal button 1
         4 all-in 300 · 1 must call 300";
    play(&all_in.replace("BLIND", "300")).more("1 may not raise");
    play(&all_in.replace("BLIND", "301")).more("1 may raise 500..5000");
}

#[test]
fn r5_10_the_maximum_is_not_cut_to_the_opponents_stack() {
    check(
        "table texas nl 50/100
         seats 1:5000 2:300
         deal button 1
         1 may raise 200..5000 · 1 all-in 5000 · 2 may not raise · 2 must call 200 · 2 calls 200
         over · returned 1:4700 · pots 600 (1 2)",
    );
}

#[test]
fn r5_11_a_fold_is_legal_at_every_turn() {
    check(
        "table texas nl 50/100
         seats 1:5000 2:5000
         deal button 1
         1 calls 50 · 2 may check · 2 folds · over · wins 1:200 2:0",
    );
}
