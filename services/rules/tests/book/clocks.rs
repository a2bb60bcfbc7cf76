//! Rules 8: clocks, time banks, time-outs in a row, outages.

use rules::{Ask, Due, Event, Millis};

use crate::play::{check, play};

const HEADS_UP: &str = "table texas nl 1/2
     seats 1:900 2:900
     deal button 1 · 1 to act";

#[test]
fn r8_1_the_time_bank_starts_by_itself_and_is_used_up_as_it_is_used() {
    play(HEADS_UP).more("at +21s · 1 calls 1 · bank 1:24s 2:30s");
    play(HEADS_UP).more("at +15s · 1 calls 1 · bank 1:30s");
    play(HEADS_UP).more("at +15001ms · 1 calls 1 · bank 1:29999ms");
    play(HEADS_UP).more(
        "at +21s · 1 calls 1 · 2 checks · 2 checks · at +35s · 1 checks · bank 1:4s
         2 checks · at +19500ms · 1 checks · bank 1:0s · 2 checks · at +15501ms · 1 checks -> CLOCK_RAN_OUT",
    );
}

#[test]
fn r8_1_a_time_out_uses_the_whole_bank() {
    play(HEADS_UP).more("time-out · did 1 fold time-out · bank 1:0s · over");
}

#[test]
fn r8_1_the_bank_belongs_to_a_session_at_the_table() {
    play(HEADS_UP).more(
        "at +40s · 1 folds · bank 1:5s
         deal · bank 1:5s · 2 folds · 1 leaves · p1 buys 1 for 900 · bank 1:30s",
    );
}

// Ten seconds every two hands: after 6 s are used, the second hand gives 6 back, not 10.
#[test]
fn r8_1_refill_up_to_the_maximum() {
    check(
        "table texas nl 1/2 refill 10s/2
         seats 1:900 2:900
         deal button 1
         at +21s · 1 folds · bank 1:24s
         deal · bank 1:30s 2:30s
         at +40s · 2 folds · bank 2:5s
         deal · bank 2:5s · 1 folds
         deal · bank 2:15s",
    );
    check(
        "table texas nl 1/2
         seats 1:900 2:900
         deal button 1
         at +21s · 1 folds
         deal · bank 1:24s · 2 folds
         deal · bank 1:24s",
    );
}

#[test]
fn r8_1_after_the_pick_the_action_clock_starts_afresh() {
    let mut hand = play(
        "table double nl 1/2 bank 0s
         seats 1:900 2:900
         deal button 1
         1 calls 1 · 2 checks · at +14s · 2 picks first · 2 to act",
    );
    assert_eq!(hand.due_after(), Millis(15_501));
    hand.more("at +15s · 2 checks · 1 to pick");
}

// The last moment is the end of clock, bank and grace: an answer counts then, and the time-out comes after it.
// Pitfall 33.
#[test]
fn r8_2_the_grace_to_the_millisecond() {
    let mut last = play(HEADS_UP);
    last.more("at +45500ms · expire -> NOT_DUE · 1 calls 1 · bank 1:0s");
    let used = last.commit.iter().find_map(|event| match event {
        Event::Acted { bank_used, .. } => Some(*bank_used),
        _ => None,
    });
    assert_eq!(used, Some(Millis::seconds(30)), "the grace is no part of the bank");
    play(HEADS_UP).more(
        "at +45501ms · 1 calls -> CLOCK_RAN_OUT · 1 folds -> CLOCK_RAN_OUT · expire · did 1 fold time-out",
    );
    let hand = play(HEADS_UP);
    assert_eq!(hand.due_after(), Millis(45_501));
    assert_eq!(hand.table.due().map(|(_, due)| due), Some(Due::Expire));
    let short = HEADS_UP.replace("1/2", "1/2 bank 0s grace 0ms");
    play(&short).more("at +15s · expire -> NOT_DUE · 1 calls 1");
    play(&short).more("at +15001ms · 1 calls -> CLOCK_RAN_OUT · expire · over");
}

// Pitfall 33: an answer that was received in time counts although it is read after a later one of the clock.
#[test]
fn r8_2_a_time_out_is_never_applied_early() {
    let mut hand = play(HEADS_UP);
    hand.more("expire -> NOT_DUE · wait 45s · expire -> NOT_DUE · wait 500ms · expire -> NOT_DUE");
    hand.more("1 calls 1 · expire -> NOT_DUE · 2 to act");
    let mut fresh = play("table texas nl 1/2\n seats 1:900");
    fresh.more("wait 60m · expire -> NOT_DUE");
}

#[test]
fn r8_2_the_next_hand_does_not_begin_early() {
    let mut table = play("table texas nl 1/2\n seats 1:900 2:900 3:900\n 3 sits out\n next hand 3s");
    let at = table.now + Millis::seconds(3);
    assert_eq!(table.table.due(), Some((at, Due::StartHand)), "before the end of sitting out");
    let start = || Ask::StartHand { deck: Box::new(rules::Deck::ordered()), draw: 0 };
    table.more("wait 2999ms");
    assert_eq!(table.step(start()), Err(rules::Refusal::NotDue { at: Some(at) }));
    table.more("wait 1ms");
    assert_eq!(table.step(start()), Ok(()));
}

// Another machine's clock is behind: the next player's clock starts no earlier for that.
#[test]
fn r8_2_a_stamp_from_before_the_prompt_takes_no_time_from_the_next() {
    for answer in ["1 calls", "1 leaves"] {
        let mut hand = play(
            "table texas nl 1/2
             seats 1:900 2:900 3:900
             deal button 1 · 1 to act",
        );
        let start = hand.table.hand.as_ref().and_then(|h| h.prompt).expect("a prompt").at;
        hand.now = start - Millis::seconds(9);
        hand.more(answer);
        let next = hand.table.hand.as_ref().and_then(|h| h.prompt).expect("a prompt");
        assert_eq!((next.at, next.act_by), (start, start + Millis::seconds(15)), "{answer}");
    }
}

#[test]
fn r8_3_two_time_outs_in_a_row_sit_a_player_out() {
    check(
        "table texas nl 1/2
         seats 1:900 2:900 3:900
         deal button 1
         1 calls 2 · 2 calls 1 · time-out · did 3 check time-out · 3 is in
         2 checks · time-out · did 3 check time-out · 3 is out
         1 checks · 2 checks · did 3 check absence · 1 to act",
    );
    // An own decision in between begins the count anew.
    check(
        "table texas nl 1/2
         seats 1:900 2:900
         deal button 1
         1 calls 1 · time-out · 2 checks · 1 checks · time-out · 2 is in · 1 checks · time-out · 2 is out",
    );
    check(
        "table texas nl 1/2 timeouts 3
         seats 1:900 2:900
         deal button 1
         1 calls 1 · time-out · time-out · 1 checks · 2 is in · time-out · 2 is out",
    );
}

#[test]
fn r8_3_who_comes_back_begins_the_count_anew() {
    check(
        "table texas nl 1/2
         seats 1:900 2:900
         deal button 1
         1 calls 1 · time-out · time-out · 2 is out · 2 sits in · 1 checks · 2 to act · time-out · 2 is in
         1 checks · time-out · 2 is out",
    );
}

#[test]
fn r8_3_over_hands_too() {
    check(
        "table texas nl 1/2
         seats 1:900 2:900 3:900
         deal button 1
         time-out · did 1 fold time-out · 2 folds
         deal
         2 folds · 3 folds · 1 is in · over
         deal
         3 folds · time-out · did 1 fold time-out · 1 is out",
    );
}

#[test]
fn r8_3_pivot_and_action_of_one_turn_count_once() {
    let flop = "table double nl 1/2
         seats 1:900 2:900
         deal button 1
         1 calls 1 · 2 checks";
    play(flop).more(
        "time-out · did 2 pick time-out · time-out · did 2 check time-out · 2 is in
         1 picks first · 1 checks · time-out · did 2 check time-out · 2 is out",
    );
    play(flop).more(
        "time-out · did 2 pick time-out · 2 checks · 1 picks first · 1 checks
         time-out · did 2 check time-out · 2 is in",
    );
    // The pick of the second turn is what sits him out; his action is taken at once then.
    check(
        "table double nl 1/2
         seats 1:900 2:900
         deal button 1
         1 calls 1 · time-out · did 2 check time-out
         time-out · did 2 pick time-out · did 2 check absence · 2 is out · 1 to pick",
    );
}

#[test]
fn r8_3_after_ten_minutes_of_sitting_out_he_is_stood_up_and_paid() {
    let mut table = play(
        "table texas nl 1/2
         seats 1:900 2:900 3:900
         3 sits out · 3 is out · wait 599999ms · expire -> NOT_DUE · 3 is out · wait 1ms · expire · 3 is gone",
    );
    assert_eq!(table.table.ledger.paid_out, rules::Chips(900));
    table.more("1 is in · 2 is in");
}

// Sitting out in the hand does not end before the hand does.
#[test]
fn r8_3_nobody_is_stood_up_out_of_a_hand() {
    check(
        "table texas nl 1/2 timeouts 1
         seats 1:900 2:900 3:900
         deal button 1
         1 calls 2 · 2 calls 1 · time-out · 3 is out · at +11m · 2 checks -> CLOCK_RAN_OUT
         3 is out · expire · 3 is out · did 2 check time-out · 2 is out
         1 folds · over · 3 is out · wait 11m · expire · 3 is gone · 2 is gone · 1 is in",
    );
}

#[test]
fn r8_3_coming_back_stops_the_count() {
    check(
        "table texas nl 1/2
         seats 1:900 2:900 3:900
         3 sits out · wait 9m · 3 sits in · 3 sits out · wait 9m · expire -> NOT_DUE · wait 1m · expire · 3 is gone",
    );
}

#[test]
fn r8_4_running_clocks_get_an_outage_back() {
    play(HEADS_UP).more(
        "at +40s · outage 10s..40s · bank 1:30s
         at +75500ms · expire -> NOT_DUE · 1 calls 1 · bank 1:0s",
    );
    play(HEADS_UP).more("at +40s · outage 10s..40s · at +51s · 1 calls 1 · bank 1:24s");
    play(HEADS_UP).more("at +40s · outage 10s..40s · at +75501ms · expire · over");
    check(
        "table texas nl 1/2
         seats 1:900 2:900 3:900
         next hand 3s · 3 sits out · wait 5m · outage 0s..0s -> ALREADY_CREDITED",
    );
}

#[test]
fn r8_4_sitting_out_and_the_next_hand_get_it_too() {
    let mut table = play(
        "table texas nl 1/2
         seats 1:900 2:900 3:900
         3 sits out",
    );
    let from = table.now;
    table.more("wait 8m");
    let to = table.now;
    table.step(Ask::CreditOutage { from, to }).expect("an outage");
    table.more("next hand 3s · wait 599999ms · expire -> NOT_DUE · wait 1ms · expire · 3 is gone");
}

#[test]
fn r8_4_each_moment_is_given_back_once() {
    let mut hand = play(HEADS_UP);
    hand.more(
        "at +20s · outage 5s..20s · outage 5s..20s -> ALREADY_CREDITED · outage 10s..15s -> ALREADY_CREDITED
         at +25s · outage 10s..25s",
    );
    assert_eq!(hand.due_after(), Millis(45_501 + 20_000));
}

// Of an outage that began before the question, the player lost only what came after it.
#[test]
fn r8_4_no_more_than_the_clock_lost() {
    let mut hand = play("table texas nl 1/2\n seats 1:900 2:900\n wait 20s\n deal button 1");
    let start = hand.now;
    hand.now = start + Millis::seconds(5);
    hand.step(Ask::CreditOutage { from: start - Millis::seconds(10), to: hand.now }).expect("an outage");
    assert_eq!(hand.due_after(), Millis(45_501 + 5_000));
    // Time that has not come is not lost: only the second up to now counts.
    hand.now = start + Millis::seconds(6);
    hand.step(Ask::CreditOutage { from: start, to: Millis(u64::MAX) }).expect("an outage");
    assert_eq!(hand.due_after(), Millis(45_501 + 6_000));
}

// Nor does a pause between two hands that began after it.
#[test]
fn r8_4_a_pause_gets_no_more_than_it_lost() {
    let mut table = play("table texas nl 1/2\n wait 20s\n seats 1:900 2:900");
    let seated = table.now;
    table.now = seated + Millis::seconds(1);
    let outage = Ask::CreditOutage { from: seated - Millis::seconds(10), to: table.now };
    table.step(outage).expect("an outage");
    let due = table.table.next_hand_at.expect("the next hand is due");
    assert_eq!(due - seated, Millis::seconds(3 + 1));
}
