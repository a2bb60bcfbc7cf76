//! Rules 4 in play: when pivots are picked, by whom, and what becomes of them without an answer.

use rules::Event;
use rules::view::{self, Seen, Viewer};

use crate::play::{check, play};

const FLOP: &str = "table double nl 1/2
     seats 1:900 2:900 3:900
     cards 1:AcAd2c 2:QcQd2d 3:KcKd2h board:9s8h7s3c2s
     deal button 1
     1 calls 2 · 2 calls 1 · 3 checks · street flop";

#[test]
fn r4_1_a_player_picks_then_acts_then_the_next() {
    play(FLOP).more(
        "2 to pick · 2 bets 10 -> PIVOT_DUE · 2 checks -> PIVOT_DUE · 3 picks Kc -> NOT_YOUR_TURN
         2 picks Qc · 2 to act · 2 bets 10
         3 to pick · 3 picks Kd · 3 to act · 3 raises 30
         1 to pick · 1 picks 2c · 1 to act · 1 calls 30
         2 to act · 2 calls 20
         street turn · 2 to act · pivots 1:2c 2:Qc 3:Kd",
    );
}

#[test]
fn r4_1_no_pivot_before_the_flop_and_none_after_it() {
    check(
        "table double nl 1/2
         seats 1:900 2:900
         deal button 1
         1 picks first -> NO_PIVOT_DUE
         1 calls 1 · 2 checks · 2 picks first · 2 checks · 1 picks first · 1 checks
         street turn · 2 to act · 2 picks second -> PIVOT_PICKED · 2 checks · 1 to act",
    );
    check(
        "table texas nl 1/2
         seats 1:900 2:900
         deal button 1
         1 calls 1 · 2 checks · 2 to act · 2 picks first -> NO_PIVOT_DUE",
    );
}

// Pitfall 37.
#[test]
fn r4_2_a_pick_is_final() {
    play(FLOP).more(
        "2 picks Qc · 2 picks Qd -> PIVOT_PICKED · 2 picks Qc @4 -> TURN_PASSED · 2 picks Qd @4 -> TURN_PASSED
         2 checks · 2 picks Qd -> PIVOT_PICKED · pivots 2:Qc",
    );
}

// Pitfall 37.
#[test]
fn r4_2_who_folded_picks_no_more() {
    play(FLOP).more(
        "2 folds · 3 to pick · 2 picks Qd -> NOT_YOUR_TURN · 2 picks Qd @4 -> TURN_PASSED · pivots 2:none",
    );
}

// B bets, C folds, the all-in A picks.
#[test]
fn r4_3_an_all_in_player_picks_when_his_turn_comes_round() {
    check(
        "table double nl 1/2
         seats 1:50 2:900 3:900
         deal button 1
         1 all-in 50 · 2 calls 49 · 3 calls 48
         2 picks first · 2 bets 60 · 3 folds · 1 to pick · closed
         1 picks first · over · returned 2:60 · shown 2 1 · street river",
    );
}

#[test]
fn r4_3_the_picks_come_in_the_order_of_the_first_orbit() {
    check(
        "table double nl 1/2
         seats 1:900 2:50 3:900 4:50
         deal button 1
         4 all-in 50 · 1 calls 50 · 2 all-in 50 · 3 calls 48
         2 to pick · 2 picks first · 3 to pick · 3 picks first · 3 bets 60
         4 to pick · 4 picks first · 1 to pick · 1 picks first · 1 raises 120 · 3 to act · 3 calls 60 · street turn",
    );
}

#[test]
fn r4_3_all_in_before_the_flop_all_pick_in_turn() {
    check(
        "table double nl 1/2
         seats 1:50 2:50 3:900
         deal button 1
         1 all-in 50 · 2 all-in 50 · 3 calls 48
         street flop · 2 to pick · 2 picks first · 3 to pick · 3 picks first · 1 to pick · closed
         1 picks first · over · street river",
    );
}

#[test]
fn r4_3_a_hand_won_by_folds_asks_for_no_more_picks() {
    play(FLOP).more("2 picks Qc · 2 bets 5 · 3 folds · 1 folds · over · closed · pivots 1:none 3:none");
    play(FLOP).more("2 folds · 3 folds · over · wins 1:6 · pivots 1:none");
}

#[test]
fn r4_4_opponents_see_that_a_player_has_picked_and_not_what() {
    let mut hand = play(FLOP);
    hand.more("2 picks Qd");
    let picked = hand.commit.iter().find(|e| matches!(e, Event::PivotPicked { .. })).expect("a pick");
    let seen_by = |viewer: &Viewer| match view::event(picked, viewer) {
        Seen::PivotPicked { seat, pick, .. } => (seat.number(), pick.map(|p| p.index())),
        seen => panic!("{seen:?}"),
    };
    let player = |name: &str| Viewer::Player(rules::PlayerId::new(name).expect("a name"));
    assert_eq!(seen_by(&player("p2")), (2, Some(1)));
    assert_eq!(seen_by(&player("p1")), (2, None));
    assert_eq!(seen_by(&Viewer::Spectator), (2, None));
    let table = view::table(&hand.table, &Viewer::Spectator);
    let players = table.hand.expect("a hand").players;
    let picked: Vec<(u8, bool)> = players.iter().map(|p| (p.seat.number(), p.picked)).collect();
    assert_eq!(picked, [(2, true), (3, false), (1, false)]);
}

// The card before the pivot is left, the one behind it right; a showdown shows them with the pivot in the middle.
#[test]
fn r4_4_a_showdown_shows_left_pivot_and_right() {
    let mut hand = play(FLOP);
    hand.more(
        "2 picks 2d · 2 checks · 3 picks Kc · 3 checks · 1 picks Ad · 1 checks
         2 checks · 3 checks · 1 checks · 2 checks · 3 checks · 1 checks · over",
    );
    let shown = hand.log.iter().filter_map(|event| match event {
        Event::HandShown { seat, cards: rules::Holes::Three(cards), pick: Some(pick) } => {
            Some(format!("{seat} {}", crate::text::faces(&rules::pivot_order(cards, *pick))))
        }
        _ => None,
    });
    assert_eq!(shown.collect::<Vec<_>>(), ["2 Qc 2d Qd", "3 Kd Kc 2h", "1 Ac Ad 2c"]);
}

#[test]
fn r4_5_folding_without_a_pick_is_allowed_in_turn() {
    play(FLOP).more(
        "3 folds -> NOT_YOUR_TURN · 2 folds · 3 to pick · 3 picks Kc · 3 bets 5 · 1 folds · over · wins 3:6",
    );
}

#[test]
fn r4_6_a_time_out_picks_and_then_the_action_clock_starts() {
    play(FLOP).more(
        "time-out · did 2 pick time-out · pivots 2:Qd · 2 to act · at +15s · 2 bets 10
         3 picks 2h · 3 calls 10 · time-out · did 1 pick time-out · pivots 1:Ac · 1 to act",
    );
    // Kc Ks 6c and Ks Kh 6c: the one suited with the third card, else the higher suit.
    check(
        "table double nl 1/2
         seats 1:900 2:900
         cards 1:KcKs6c 2:KhKd6s
         deal button 1
         1 calls 1 · 2 checks · time-out · pivots 2:Kh · 2 checks · time-out · pivots 1:Kc",
    );
}

// Both sit out after a time-out each: their picks and decisions are made at once, to the showdown.
#[test]
fn r4_6_who_sits_out_has_his_pick_made_at_once() {
    check(
        "table double nl 1/2 timeouts 1
         seats 1:900 2:900 3:900
         cards 1:AcAd2c 2:QcQd2d 3:KcKd2h board:9s8h7s3c2s
         deal button 1
         1 calls 2 · 2 calls 1 · time-out · did 3 check time-out · 3 is out
         2 picks Qc · 2 checks · did 3 pick absence · did 3 check absence · pivots 3:Kd
         1 to pick · time-out · did 1 pick time-out · did 1 check absence · 1 is out
         street turn · 2 to act · 2 bets 5 · did 3 fold absence · did 1 fold absence · over · wins 2:6",
    );
    check(
        "table double nl 1/2 timeouts 1
         seats 1:900 2:900
         deal button 1
         1 calls 1 · time-out · 2 is out · did 2 pick absence · 1 to pick
         time-out · 1 is out · over · street river · no next hand",
    );
}

#[test]
fn r4_6_who_is_only_slow_has_his_clock() {
    play(FLOP).more("2 picks Qc · time-out · did 2 check time-out · 2 is in · 3 to pick");
}

// Everybody else is all-in: one who has left has no bet to fold, and his pick is made at once (rules 9.1).
#[test]
fn r4_6_who_has_left_without_a_turn_to_bet_stays_with_the_pick_of_the_rules() {
    let all_in = "table double nl 1/2
         seats 1:900 2:50 3:50
         cards 1:AcAd2c 2:QcQd2d 3:KcKd2h board:9s8h7s3c4s
         deal button 1
         1 calls 2 · 2 all-in 50 · 3 all-in 50 · 1 calls 48 · 2 to pick";
    play(all_in)
        .more("1 leaves · 2 picks Qc · 3 picks Kc · over · did 1 pick absence · wins 1:150 · 1 is gone");
    play(all_in)
        .more("2 picks Qc · 3 picks Kc · 1 to pick · 1 leaves · over · did 1 pick absence · wins 1:150");
    // With bets to come he folds when his turn comes, without a pick.
    play(FLOP).more("3 leaves · 2 picks Qc · 2 checks · did 3 fold absence · pivots 3:none · 1 to pick");
    play(FLOP).more("2 leaves · did 2 fold absence · 3 to pick");
}

// Pitfall 37.
#[test]
fn r4_7_the_pivot_has_its_own_clock_and_no_time_bank() {
    play(FLOP).more(
        "2 to pick · at +15501ms · 2 picks Qc -> CLOCK_RAN_OUT · at +15500ms · 2 picks Qc
         2 to act · at +20s · 2 checks · bank 2:25s 3:30s
         at +15501ms · expire · did 3 pick time-out · bank 3:30s",
    );
}

const AT_ONCE: &str = "table double nl 1/2 simultaneous
     seats 1:900 2:50 3:900 4:900
     cards 1:AcAd2c 2:QcQd2d 3:KcKd2h board:9s8h7s3c4s
     deal button 1
     4 calls 2 · 1 calls 2 · 2 all-in 50 · 3 calls 48 · 4 folds · 1 calls 48
     street flop · 1,2,3 to pick";

#[test]
fn r4_8_simultaneous_all_live_players_pick_at_once() {
    play(AT_ONCE).more(
        "3 bets 5 -> PIVOT_DUE · 3 folds -> PIVOT_DUE · 4 picks first -> NOT_YOUR_TURN
         1 picks 2c · 2,3 to pick · 1 picks Ac -> PIVOT_PICKED · 1 folds -> NOT_YOUR_TURN
         at +10s · 3 picks Kc · 2 to pick · 2 picks Qc
         3 to act · 3 bets 20 · 1 to act · pivots 1:2c 2:Qc 3:Kc",
    );
}

#[test]
fn r4_8_simultaneous_who_picked_last_makes_no_difference_to_the_betting() {
    play(AT_ONCE).more("3 picks Kc · 2 picks Qc · 1 picks Ac · 3 to act");
    play(AT_ONCE).more("1 picks Ac · 2 picks Qc · 3 picks Kc · 3 to act");
}

#[test]
fn r4_8_simultaneous_the_betting_starts_when_the_clock_ends() {
    play(AT_ONCE).more(
        "3 picks 2h · at +15500ms · expire -> NOT_DUE · 1 picks 2c · 2 to pick
         time-out · did 2 pick time-out · pivots 1:2c 2:Qd 3:2h · 3 to act",
    );
    play(AT_ONCE).more("time-out · pivots 1:Ac 2:Qd 3:Kd · did 1 pick time-out · 3 to act");
}

#[test]
fn r4_8_simultaneous_nobody_folds_instead_of_picking() {
    play(AT_ONCE).more(
        "3 leaves · did 3 pick absence · 3 is leaving · 1,2 to pick
         1 picks Ac · 2 picks Qc · did 3 fold absence · over · wins 1:152",
    );
    // The last one to pick leaves: his pick is made, then the betting comes.
    play(AT_ONCE).more("1 picks Ac · 2 picks Qc · 3 leaves · did 3 pick absence · did 3 fold absence · over");
    // All leave: 3 folds as his turn comes; 1 has only the all-in 2 against him then, and stays.
    play(AT_ONCE)
        .more("1 leaves · 3 leaves · 2 leaves · over · wins 1:152 · 2 is gone · 1 is gone · 3 is gone");
}

#[test]
fn r4_8_simultaneous_who_sits_out_does_not_hold_up_the_others() {
    check(
        "table double nl 1/2 simultaneous timeouts 1
         seats 1:900 2:900 3:900
         deal button 1
         1 calls 2 · 2 calls 1 · time-out · 3 is out · did 3 pick absence · 1,2 to pick
         time-out · over · 1 is out · 2 is out · street river",
    );
}

// The pick is no part of a later turn: not answering either is two time-outs (rules 8.3).
#[test]
fn r4_8_simultaneous_the_pick_is_a_turn_of_its_own() {
    play(AT_ONCE)
        .more("1 picks Ac · 2 picks Qc · time-out · did 3 pick time-out · 3 is in · time-out · 3 is out");
}
