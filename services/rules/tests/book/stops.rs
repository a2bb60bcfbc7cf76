//! Rules 9.4 and 2.9 in play: stops, closing, and how play resumes.

use rules::table::Life;

use crate::play::{check, play};
use crate::seats::paid;

#[test]
fn r9_4_a_stop_lets_the_hand_finish_and_begins_no_other() {
    for scope in ["service", "operator", "game", "table", "malfunction"] {
        let mut table = play(
            "table texas nl 1/2
             seats 1:900 2:900
             deal button 1",
        );
        table.more(&format!(
            "stop {scope} · 1 to act · 1 folds · over · no next hand · deal -> TABLE_STOPPED"
        ));
        let stop = &table.table.stops[0];
        assert_eq!((stop.reason.as_str(), table.table.stops.len()), ("test", 1));
        table.more(&format!(
            "p3 buys 3 for 90 · no next hand · resume {scope} · next hand 3s · resume {scope} -> NOT_STOPPED"
        ));
        table.more("deal\n running");
    }
}

#[test]
fn r9_4_a_stopped_player_finishes_his_hand_and_is_dealt_into_no_other() {
    let mut table = play(
        "table texas nl 1/2
         seats 1:900 2:900 3:900
         deal button 1
         stop player 2 · running · 1 to act · 1 folds · 2 calls 1 · 3 checks
         2 checks · 3 checks · 2 checks · 3 checks · 2 checks · 3 checks · over · next hand 3s",
    );
    let two = rules::SeatNo::new(2).expect("a seat");
    assert_eq!(table.table.seat(two).expect("he stays").stopped, "test");
    table.more("deal");
    assert!(!table.table.hand.as_ref().expect("a hand").dealt.contains(two));
    // Lifted during a hand it counts from the next one on.
    table.more("resume player 2 · resume player 2 -> NOT_STOPPED · stop player 9 -> NOT_SEATED");
    assert_eq!(table.table.seat(two).expect("he stays").stopped, "");
}

#[test]
fn r9_4_with_one_of_two_players_stopped_nobody_plays() {
    check(
        "table texas nl 1/2
         seats 1:900 2:900
         next hand 3s · stop player 1 · no next hand · resume player 1 · next hand 3s",
    );
}

#[test]
fn r9_4_every_stop_has_to_be_lifted() {
    check(
        "table texas nl 1/2
         seats 1:900 2:900
         next hand 3s · stop game · no next hand · stop table · resume game · no next hand
         deal -> TABLE_STOPPED · resume table · next hand 3s",
    );
}

#[test]
fn r9_4_a_table_closes_when_its_hand_is_over() {
    let mut table = play(
        "table texas nl 1/2
         seats 1:900 2:800 3:700
         deal button 1
         3 adds 50 · close · running · close -> TABLE_CLOSED · p9 buys 9 for 90 -> TABLE_CLOSED
         2 adds 5 -> TABLE_CLOSED · 1 folds · 2 folds · over",
    );
    assert_eq!(paid(&table), ["1 900 TableClosed", "2 799 TableClosed", "3 751 TableClosed"]);
    assert_eq!(table.table.life, Life::Closed { reason: "test".to_owned() });
    assert_eq!(table.table.due(), None);
    table.more("resume table -> TABLE_CLOSED · expire -> TABLE_CLOSED · 3 shows -> TABLE_CLOSED · deal -> TABLE_CLOSED");
}

#[test]
fn r9_4_an_idle_table_closes_at_once() {
    let table = play(
        "table texas nl 1/2 rathole 60m\n seats 1:900 2:800\n close\n 1 is gone · 2 is gone · no next hand",
    );
    assert_eq!(paid(&table), ["1 900 TableClosed", "2 800 TableClosed"]);
    assert_eq!(table.table.departed, []);
}

// Last big blind 1; seats 1, 4 and 6 play on.
#[test]
fn r2_9_play_resumes_with_the_next_active_seat_as_big_blind() {
    check(
        "table texas nl 1/2
         seats 1:900 3:900 5:900
         deal button 3
         positions 3 5 1 · 3 folds · 5 folds · next hand 3s
         3 leaves · next hand 3s · 5 leaves · no next hand
         p4 buys 4 for 900 · next hand 3s · p6 buys 6 for 900
         deal
         positions 6 1 4 · dealt 1 4 6",
    );
}

// Seat 4 owes both when the others leave; with play resumed he owes nothing, and newcomers wait for nothing.
#[test]
fn r2_9_old_debts_are_forgotten() {
    check(
        "table texas nl 1/2
         seats 1:900 2:900 3:900 4:900
         deal button 1
         4 sits out · 4 folds · 1 folds · 2 folds
         deal
         positions 2 3 1 · 4 owes both · 2 folds · 3 folds · 2 leaves · 3 leaves · no next hand
         4 sits in · p2 buys 2 for 900
         deal
         positions 4 1 2 · dealt 1 2 4 · 4 owes nothing · bets 4:0 1:1 2:2",
    );
}

// Play stops in the middle of the session because the loser has no chips left.
#[test]
fn r2_9_after_one_of_two_lost_everything() {
    check(
        "table texas nl 1/2
         seats 1:100 2:100
         cards 1:AcAd 2:QcQd board:9s8h7s3c2d
         deal button 1
         positions 1 1 2 · 1 all-in 100 · 2 all-in 100 · over · stacks 1:200 · 2 is out · no next hand
         p5 buys 5 for 100 · p7 buys 7 for 100 · next hand 3s
         deal
         positions 7 1 5 · dealt 1 5 7",
    );
}
