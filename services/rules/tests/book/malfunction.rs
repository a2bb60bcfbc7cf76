//! Rules 10: a void puts everything back, and the books balance.

use rules::blinds::Debt;
use rules::event::StopScope;
use rules::invariant::{self, Broken};
use rules::view::{self, Viewer};
use rules::{Ask, Chips, Event, SeatNo};

use crate::play::{Play, check, play};

/// The refunds of the void in the last commit: `1 2, 2 2`.
fn refunds(play: &Play) -> String {
    let refunds = play.commit.iter().find_map(|event| match event {
        Event::HandVoided { refunds, .. } => Some(refunds),
        _ => None,
    });
    let text = refunds.expect("a void").iter().map(|(seat, amount)| format!("{seat} {amount}"));
    text.collect::<Vec<_>>().join(", ")
}

// A shove of 100 against a big blind all-in for 2: 98 came back before the flop, the pivots are being picked.
// Pitfall 35: each contribution exactly, once.
#[test]
fn r10_1_every_contribution_goes_back_to_who_made_it() {
    let mut hand = play(
        "table double nl 1/2 rake 500
         seats 1:100 2:50 3:2
         deal button 1
         1 all-in 100 · 2 folds · 3 to pick · stacks 1:98 2:49 3:0
         void · voided · stacks 1:100 2:50 3:2 · nobody to act · closed · next hand 3s",
    );
    assert_eq!(refunds(&hand), "1 2, 2 1, 3 2");
    assert_eq!(hand.table.ledger.raked, Chips::ZERO);
    hand.more("deal\n positions 1 2 3 · dealt 1 2 3");
}

#[test]
fn r10_1_antes_and_dead_chips_too() {
    let hand = play(
        "table texas nl 50/100 big-blind-ante 100
         seats 1:900 2:900 3:150
         deal button 1
         1 raises 400 · void · stacks 1:900 2:900 3:150",
    );
    assert_eq!(refunds(&hand), "1 400, 2 50, 3 150");
    let seen = view::table(&hand.table, &Viewer::Spectator).hand.expect("still shown");
    assert_eq!((seen.total, seen.voided.as_deref()), (Chips::ZERO, Some("test")));
    let hand = play(
        "table double nl 1/2 ante 25
         seats 1:50 2:5 3:10
         deal button 1
         2 to pick · returned 1:15 · void · stacks 1:50 2:5 3:10",
    );
    assert_eq!(refunds(&hand), "1 10, 2 5, 3 10");
}

const ORBIT: &str = "table texas nl 10/25
     seats 1:500 2:500 3:500 4:500 5:500
     deal button 1
     4 sits out · 4 folds · 5 folds · 1 folds · 2 folds
     deal
     positions 2 3 5 · 4 owes both · 4 sits in posting · 1 folds · 2 folds · 3 folds
     deal
     positions 3 5 1 · 2 folds · 3 folds · 5 folds";

#[test]
fn r10_1_button_debts_and_the_wish_to_post_are_as_before() {
    play(ORBIT).more(
        "deal
         positions 5 1 2 · dealt 1 2 3 4 5 · bets 4:25 · 4 owes nothing · 3 folds
         void · 4 owes both
         deal
         positions 5 1 2 · dealt 1 2 3 4 5 · bets 4:25 · stacks 4:465
         3 folds · 4 folds · 5 folds · 1 folds
         deal
         positions 1 2 3 · dealt 1 2 3 4 5",
    );
}

// A newcomer who posted and one who waits: after the void both stand where they stood.
#[test]
fn r10_1_newcomers_are_newcomers_again() {
    check(
        "table texas nl 10/25
         seats 1:500 2:500 3:500
         deal button 1
         1 folds · 2 folds
         p6 buys 6 for 500 posting · p7 buys 7 for 500
         deal
         positions 2 3 6 · dealt 1 2 3 6 · void · stacks 6:500
         deal
         positions 2 3 6 · dealt 1 2 3 6 · 1 folds · 2 folds · 3 folds
         deal
         positions 3 6 7 · void
         deal
         positions 3 6 7 · dealt 1 2 3 6 7",
    );
    let mut hand = play(
        "table texas nl 10/25
         seats 1:500 2:500 3:500 4:500
         deal button 1
         4 folds · 1 folds · 2 folds
         p6 buys 6 for 500 posting
         deal
         positions 2 3 4 · bets 6:25 · void
         deal
         positions 2 3 4 · bets 6:25 · stacks 6:475 · 6 folds · 1 folds · 2 folds · 3 folds · over",
    );
    let wishes = |play: &Play| play.table.occupied().any(|(_, seat)| seat.post);
    assert!(!wishes(&hand), "he has posted");
    hand.more("6 sits out · 6 sits in posting");
    assert!(wishes(&hand));
}

// Seat 4 owes both and leaves during the hand; who takes the seat owes nothing, and waits or posts like a newcomer.
#[test]
fn r10_1_a_seat_that_changed_hands_gets_nothing_back() {
    let mut hand = play(&ORBIT.replace("4 sits in posting · ", ""));
    hand.more(
        "deal
         positions 5 1 2 · dealt 1 2 3 5 · 4 owes both
         4 leaves · 4 is gone · new buys 4 for 500 · void",
    );
    let seat = hand.table.seat(SeatNo::new(4).expect("a seat")).expect("seated");
    assert_eq!((seat.debt, seat.newcomer, seat.established), (Debt::NONE, true, false));
    hand.more("deal\n positions 5 1 2 · dealt 1 2 3 5");
}

// Sat out by the clock in the void hand, he is no more in the game than without the void: he waits for the big blind.
#[test]
fn r10_1_who_was_sat_out_stays_so() {
    check(
        "table texas nl 1/2 timeouts 1
         seats 1:500 2:500 3:500 4:500
         deal button 4
         3 folds · 4 folds · 1 folds
         deal
         positions 1 2 3 · time-out · 4 is out · void · 4 is out
         deal
         positions 1 2 3 · dealt 1 2 3 · 1 folds · 2 folds
         deal
         positions 2 3 1 · 4 owes both · 4 sits in · 2 folds · 3 folds
         deal
         positions 3 1 2 · 3 folds · 1 folds
         deal
         positions 1 2 3 · dealt 1 2 3 · 1 folds · 2 folds
         deal
         positions 2 3 4 · dealt 1 2 3 4",
    );
}

#[test]
fn r10_1_interrupted_play_is_interrupted_again() {
    check(
        "table texas nl 1/2
         seats 1:900 3:900 5:900
         deal button 3
         3 folds · 5 folds · 3 leaves · 5 leaves · p4 buys 4 for 900 · p6 buys 6 for 900
         deal
         positions 6 1 4 · void
         deal
         positions 6 1 4 · dealt 1 4 6",
    );
    // The first hand of a table draws its button again.
    check(
        "table texas nl 1/2
         seats 1:900 2:900 3:900
         deal button 3
         void
         deal button 2
         positions 2 3 1",
    );
}

#[test]
fn r10_1_what_waited_for_the_end_of_the_hand_comes_with_the_void() {
    check(
        "table double nl 1/2 buy-in 40..200
         seats 1:200 2:100 3:200 4:200
         deal button 1
         4 raises 50 · 1 calls 50 · 2 calls 49 · 3 folds · street flop
         2 adds 60 · 4 leaves · 1 sits out
         2 to pick · void · 4 is gone · 1 is out · stacks 1:200 2:160 3:200",
    );
    check(
        "table double nl 1/2
         seats 1:200 2:100
         deal button 1
         close · void · 1 is gone · 2 is gone · no next hand",
    );
    check(
        "table double nl 1/2
         seats 1:200 2:100
         deal button 1
         stop table · void · no next hand · resume table · next hand 3s",
    );
}

#[test]
fn r10_1_a_hand_may_be_void_while_all_pick() {
    check(
        "table double nl 1/2 simultaneous
         seats 1:200 2:100 3:100
         deal button 1
         1 calls 2 · 2 calls 1 · 3 checks · 1,2,3 to pick · 1 picks second · void · stacks 1:200 2:100 3:100
         1 picks second @1/4 -> HAND_OVER",
    );
}

#[test]
fn r10_1_only_the_running_hand() {
    let mut hand = play(
        "table texas nl 1/2
         seats 1:200 2:100
         void -> NO_HAND_RUNNING
         deal button 1
         1 folds · over · void -> NO_HAND_RUNNING
         deal
         2 to act",
    );
    let void = |hand| Ask::Void { hand, reason: "test".to_owned(), requester: "book".to_owned() };
    assert_eq!(hand.step(void(1)).map_err(|r| r.reason()), Err("HAND_OVER"));
    assert_eq!(hand.step(void(3)).map_err(|r| r.reason()), Err("HAND_UNKNOWN"));
    hand.more("void · void -> NO_HAND_RUNNING · stacks 1:199 2:101");
}

#[test]
fn r10_2_a_void_names_its_reason_and_who_asked() {
    let hand = play("table texas nl 1/2\n seats 1:200 2:100\n deal button 1\n void");
    let told = hand.commit.iter().find_map(|event| match event {
        Event::HandVoided { reason, requester, at, .. } => Some((reason.as_str(), requester.as_str(), *at)),
        _ => None,
    });
    assert_eq!(told, Some(("test", "book", hand.now)));
    let settled = hand.log.iter().any(|e| matches!(e, Event::HandSettled(_)));
    assert!(!settled, "a void is no settlement");
}

// Whole sessions with rake, side pots, voids and leavers: the runner checks the books after every step.
#[test]
fn r10_3_chips_are_conserved_over_a_session() {
    let table = play(
        "table double nl 1/2 rake 500 cap 9/9/9
         seats 1:100 2:60 3:200
         cards 1:AcAd2c 2:QcQd2d 3:KcKd2h board:9s8h7s3c4s
         deal button 1
         1 all-in 100 · 2 all-in 60 · 3 calls 98 · 2 picks Qc · 3 picks Kc · 1 picks Ac
         over · rake 9 · 2 is out · 2 adds 50 · 2 is in
         deal
         void · 3 leaves
         deal
         positions 2 2 1 · 2 folds",
    );
    let ledger = &table.table.ledger;
    let stacks: Chips = table.table.occupied().map(|(_, seat)| seat.stack).sum();
    assert_eq!((ledger.bought_in, ledger.paid_out, ledger.raked), (Chips(410), Chips(100), Chips(9)));
    assert_eq!(stacks, Chips(301));
}

#[test]
fn r10_3_a_table_whose_books_do_not_balance_is_found_out() {
    let mut table = play("table texas nl 1/2\n seats 1:200 2:100\n deal button 1").table;
    table.ledger.bought_in += Chips(1);
    let broken = Broken::ChipsNotConserved { bought_in: Chips(301), found: Chips(300) };
    assert_eq!(invariant::check(&table), Err(broken));
    assert_eq!(broken.number(), 1);
    assert_ne!(StopScope::Malfunction, StopScope::Table, "it stops itself under a name of its own");
}

// Seen at version 20 in hand 4, found at an earlier version in hand 1: that hand is void, and nothing that was seen is
// the name of anything else.
#[test]
fn r10_2_lost_history_voids_the_hand_and_skips_its_numbers() {
    let mut table = play(
        "table double nl 1/2 rake 500
         seats 1:100 2:50 3:2
         deal button 1
         1 all-in 100 · 2 folds · 3 to pick
         lose 20 4 9 · voided · stacks 1:100 2:50 3:2 · nobody to act · closed · no next hand",
    );
    assert_eq!(refunds(&table), "1 2, 2 1, 3 2");
    let until = (1 << 20) - 1;
    let last = table.commit.iter().find_map(|event| match event {
        Event::HistoryLost { last, until: skipped, .. } => Some((*last, *skipped)),
        _ => None,
    });
    let (last, skipped) = last.expect("the loss is told");
    assert_eq!((skipped, table.table.version), (until, until + 1));
    let stops: Vec<_> = table.table.stops.iter().map(|stop| stop.scope).collect();
    assert_eq!(stops, [StopScope::Malfunction]);
    assert!((1..=until).all(|version| table.table.knows_loss_of(version)));
    assert!(last < until && !table.table.knows_loss_of(until + 1));
    invariant::check(&table.table).expect("the books balance");

    table.more("p4 buys 4 for 50 · resume malfunction · next hand 3s\n deal");
    assert_eq!(table.table.hands, 4 + 1000 + 1);
    assert_eq!(table.table.seat(SeatNo::new(4).unwrap()).unwrap().session, 9 + 1000 + 1);
}

#[test]
fn r10_2_between_hands_the_table_stops_and_what_was_seen_later_is_known() {
    let mut table = play(
        "table texas nl 1/2
         seats 1:100 2:50
         lose 2000000 0 0 · no next hand · lose 2000001 7 0 -> NOTHING_LOST · lose 1 0 0 -> NOTHING_LOST",
    );
    assert_eq!(table.table.version, 2 << 20, "beyond what anybody can have seen");
    table.more("lose 2097153 3 0");
    assert_eq!((table.table.version, table.table.hands), (3 << 20, 2000), "lost a second time");
}
