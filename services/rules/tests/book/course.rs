//! Rules 1 to 3: games, deal, order of action, forced bets in play, and how a hand ends.

use rules::{Event, SeatNo};

use crate::play::{Play, check, play};
use crate::text::faces;

/// The cards of a deal as `1 AhKd | 2 QcQs | board`.
fn dealt(play: &Play) -> String {
    let mut text = String::new();
    for event in &play.log {
        match event {
            Event::HoleDealt { seat, cards, .. } => text += &format!("{seat} {} | ", faces(cards.cards())),
            Event::StreetDealt { cards, .. } => text += &format!("{} | ", faces(cards)),
            _ => {}
        }
    }
    text.trim_end_matches(" | ").to_owned()
}

// The deck lies in order, deuces first: what is dealt when shows in the cards.
#[test]
fn r1_4_one_card_at_a_time_from_the_left_of_the_button_and_a_burn_before_each_street() {
    let hand = play(
        "table double nl 1/2
         seats 1:100 2:100 3:100
         deal button 2
         2 picks first -> NO_PIVOT_DUE
         2 all-in · 3 all-in · 1 all-in
         3 picks first · 1 picks second · 2 picks third",
    );
    assert_eq!(dealt(&hand), "3 2c 2s 3h | 1 2d 3c 3s | 2 2h 3d 4c | 4h 4s 5c | 5h | 6c");
}

// A raise of 5/10, the smallest and the largest.
#[test]
fn r1_1_both_games_have_three_limits() {
    for game in ["double", "texas"] {
        for (limit, range) in [("nl", "20..900"), ("pl", "20..35"), ("fl", "20..20")] {
            check(&format!(
                "table {game} {limit} 5/10\n seats 1:900 2:900 3:900\n deal button 1\n 1 may raise {range}"
            ));
        }
    }
}

#[test]
fn r1_2_two_to_ten_seats() {
    check("table texas nl 1/2 max-seats 2\n seats 2:90\n p3 buys 3 for 90 -> NO_SUCH_SEAT");
    let config = play("table texas nl 1/2 max-seats 10\n seats 10:90").table.config;
    for seats in [0, 1, 11] {
        let faults = rules::TableConfig { seats, ..config.clone() }.faults();
        assert_eq!(faults.iter().map(|f| (f.field, f.rule)).collect::<Vec<_>>(), [("seats", "1.2")]);
    }
}

#[test]
fn r1_2_ten_seats_of_double_holdem_use_38_cards() {
    let mut hand = play(
        "table double nl 1/2
         seats 1:9 2:9 3:9 4:9 5:9 6:9 7:9 8:9 9:9 10:9
         deal button 10
         3 all-in · 4 all-in · 5 all-in · 6 all-in · 7 all-in · 8 all-in · 9 all-in · 10 all-in · 1 all-in · 2 all-in
         street flop",
    );
    for seat in SeatNo::all() {
        hand.more(&format!("{seat} to pick · {seat} picks first"));
    }
    hand.more("over · street river · stacks 1:0");
    assert_eq!(hand.table.hand.map(|h| h.used), Some(38));
}

#[test]
fn r1_5_a_player_has_at_most_one_seat_at_a_table() {
    check(
        "table texas nl 1/2
         seats 1:100
         p1 buys 2 for 100 -> ALREADY_SEATED
         p1 buys any for 100 -> ALREADY_SEATED
         p1 buys 1 for 100 -> ALREADY_SEATED
         2 is gone",
    );
}

// Pitfall 24.
#[test]
fn r2_2_heads_up_the_button_acts_first_before_the_flop_and_last_later() {
    check(
        "table texas nl 1/2
         seats 1:100 2:100
         deal button 1
         positions 1 1 2 · bets 1:1 2:2
         1 to act · 1 calls 1 · 2 may check · 2 checks
         street flop · 2 to act · 2 checks · 1 to act · 1 checks
         street turn · 2 to act · 2 checks · 1 checks
         street river · 2 to act · 2 checks · 1 checks · over
         deal
         positions 2 2 1 · 2 to act",
    );
}

// Seat 4 misses both blinds and posts: 25 of the 35 are his bet, and nothing is left to call.
// Pitfall 27.
#[test]
fn r2_4_the_live_part_is_his_bet_and_the_dead_part_is_not() {
    check(
        "table texas nl 10/25
         seats 1:500 2:500 3:500 4:500 5:500
         deal button 1
         positions 1 2 3 · 4 sits out · 4 folds · 5 folds · 1 folds · 2 folds · 4 is out
         deal
         positions 2 3 5 · dealt 1 2 3 5 · 4 owes both · 4 sits in posting
         1 folds · 2 folds · 3 folds
         deal
         positions 3 5 1 · dealt 1 2 3 5 · 2 folds · 3 folds · 5 folds
         deal
         positions 5 1 2 · dealt 1 2 3 4 5 · 4 owes nothing
         bets 1:10 2:25 4:25 · stacks 4:465
         3 calls 25 · 4 to act · 4 may check · 4 must call 0 · 4 may raise 50..490
         4 raises 50 · stacks 4:440 · 5 folds · 1 folds · 2 folds · 3 folds
         pots 95 (4)",
    );
}

// The dead 10 are in the main pot whole: no part of them comes back with an uncalled bet.
// Pitfall 28: a short stack pays the blind before the ante.
#[test]
fn r2_5_dead_chips_go_whole_into_the_main_pot() {
    check(
        "table texas nl 50/100 big-blind-ante 100
         seats 1:900 2:900 3:150
         cards 1:2c7d 2:2d7h 3:AsAh board:KsQd9h5c3c
         deal button 1
         bets 3:100 · stacks 3:0 · 1 calls 100 · 2 calls 50
         street flop · pots 350 (1 2 3)
         2 bets 100 · 1 calls 100 · 2 checks · 1 checks · 2 checks · 1 checks
         over · pots 350 (1 2 3) + 200 (1 2)
         wins 1:100 2:100 3:350",
    );
}

// The layers of the antes: 15 for all three and 10 for two; 10 come back.
#[test]
fn r2_5_antes_are_layers() {
    check(
        "table texas nl 1/2 ante 25
         seats 1:20 2:5 3:10
         cards 1:2c7d 2:AsAh 3:KcKd board:Qs9h5c3c4s
         deal button 1
         over · returned 1:10 2:0 3:0 · pots 15 (1 2 3) + 10 (1 3) · wins 1:0 2:15 3:10 · stacks 1:10",
    );
}

#[test]
fn r2_6_a_straddle_is_the_bring_in_and_acts_last() {
    check(
        "table texas nl 1/2 straddles 1
         seats 1:90 2:90 3:90 4:90 5:90
         4 straddles
         deal button 1
         positions 1 2 3 · bets 2:1 3:2 4:4
         5 to act · 5 must call 4 · 5 may raise 8..90 · 5 calls 4 · 1 folds · 2 folds · 3 calls 2
         4 to act · 4 may check · 4 may raise 8..90 · 4 checks
         street flop · 3 may bet 2..86",
    );
}

#[test]
fn r2_6_the_last_straddle_is_the_bring_in() {
    check(
        "table texas nl 1/2 straddles 2
         seats 1:90 2:90 3:90 4:90 5:90
         4 straddles · 5 straddles
         deal button 1
         bets 4:4 5:8 · 1 to act · 1 must call 8 · 1 may raise 16..90
         1 calls 8 · 2 folds · 3 folds · 4 must call 4 · 4 calls 4 · 5 may check",
    );
}

#[test]
fn r2_6_a_short_straddle_counts_as_full() {
    check(
        "table texas nl 1/2 straddles 1
         seats 1:90 2:90 3:90 4:3
         4 straddles
         deal button 1
         bets 4:3 · 1 to act · 1 must call 4 · 1 may raise 8..90
         1 calls 4 · 2 calls 3 · 3 calls 2 · street flop · 2 to act",
    );
}

// Pitfall 6.
#[test]
fn r2_7_the_others_call_the_whole_blind_of_a_short_big_blind() {
    check(
        "table texas nl 100/200
         seats 1:5000 2:5000 3:100 4:5000
         deal button 1
         bets 3:100 · 4 must call 200 · 4 may raise 400..5000 · 4 raises 399 -> ILLEGAL_AMOUNT
         4 calls 200 · 1 folds · 2 must call 100 · 2 may raise 400..5000 · 2 calls 100
         street flop · pots 300 (2 3 4) + 200 (2 4)",
    );
}

// Nobody but the all-in big blind is left against the small blind: 60 are to be called, not 200.
#[test]
fn r2_7_against_all_in_players_the_largest_of_their_bets_is_called() {
    check(
        "table texas nl 50/200
         seats 1:5000 2:5000 3:120 4:90
         deal button 1
         4 all-in 90 · 1 folds · 2 must call 70 · 2 may not raise · 2 calls 70
         over · returned 2:0 · pots 270 (2 3 4) + 60 (2 3)",
    );
    check(
        "table texas nl 100/200
         seats 1:5000 2:100
         deal button 1
         over · returned 1:0 · pots 200 (1 2)",
    );
}

// Pitfall 7: who folds a blind leaves it in the layers that it reached.
#[test]
fn r2_7_pots_of_a_short_big_blind() {
    check(
        "table texas nl 10/20
         seats 1:500 2:500 3:12 4:500
         deal button 1
         4 calls 20 · 1 calls 20 · 2 folds · pots 46 (1 3 4) + 16 (1 4)",
    );
}

// Seat 3 owes a small blind and has less than that: all-in with dead chips alone, he plays for those.
#[test]
fn r2_10_all_in_with_dead_chips_alone() {
    check(
        "table texas nl 10/25
         seats 1:500 2:500 3:33 4:500 5:500
         deal button 1
         3 sits out · 4 raises 100 · 5 folds · 1 folds · 2 folds · 3 folds · 3 is out
         deal
         positions 2 3 4 · 3 owes small · 5 folds · 1 folds · 2 folds
         deal
         positions 3 4 5 · 1 folds · 2 folds · 4 folds
         3 sits in posting
         cards 1:2c2d 2:3c3d 3:AsAh board:KsQd9h7c5c
         deal
         positions 4 5 1 · dealt 1 2 3 4 5 · stacks 3:0 · bets 3:0
         2 must call 25 · 2 calls 25 · 4 folds · 5 folds · 1 checks
         2 checks -> NOT_YOUR_TURN · 1 checks · 2 checks · 1 checks · 2 checks · 1 checks · 2 checks
         over · pots 8 (1 2 3) + 60 (1 2) · wins 1:0 2:60 3:8",
    );
}

// Pitfall 29.
#[test]
fn r3_2_the_big_blind_has_the_option_and_is_not_asked_when_all_in() {
    check(
        "table texas nl 1/2
         seats 1:90 2:90 3:90
         deal button 1
         1 to act · 1 calls 2 · 2 calls 1 · 3 to act · 3 may check · 3 may raise 4..90
         3 raises 4 · 1 to act · 1 must call 2",
    );
    check(
        "table texas nl 1/2
         seats 1:90 2:90 3:2
         deal button 1
         1 calls 2 · 2 calls 1 · street flop · 2 to act",
    );
}

#[test]
fn r3_2_later_streets_start_left_of_the_button_and_go_clockwise() {
    check(
        "table texas nl 1/2
         seats 1:90 2:90 3:90 4:90
         deal button 1
         4 to act · 4 calls 2 · 1 to act · 1 calls 2 · 2 to act · 2 folds · 3 to act · 3 checks
         street flop · 3 to act · 3 checks · 4 to act · 4 bets 5 · 1 to act · 1 calls 5 · 3 to act · 3 folds
         street turn · 4 to act",
    );
}

#[test]
fn r3_1_each_game_has_its_hole_cards_and_four_streets() {
    check(
        "table texas nl 1/2
         seats 1:90 2:90
         cards 1:2c2d 2:3c3d board:AsKsQh7h8h
         deal button 1
         street preflop · 1 calls 1 · 2 checks
         street flop · board AsKsQh · 2 checks · 1 checks
         street turn · board AsKsQh7h · 2 checks · 1 checks
         street river · board AsKsQh7h8h · 2 checks · 1 checks
         over · wins 1:0 2:4",
    );
}

#[test]
fn r3_3_a_hand_ends_when_one_live_player_is_left() {
    check(
        "table texas nl 1/2
         seats 1:90 2:90 3:90
         deal button 1
         1 folds · 2 folds · over · closed · stacks 1:90 2:89 3:91 · next hand 3s · nobody to act",
    );
}

// Seat 2 was big blind and leaves: there is no small blind, and all fold to the new big blind.
#[test]
fn r3_4_an_uncalled_big_blind_goes_back_and_there_is_no_pot() {
    check(
        "table texas nl 50/100 rake 500
         seats 1:900 2:900 3:900 4:900
         deal button 4
         2 leaves · 3 folds · 4 folds · 1 folds · 2 is gone
         deal
         positions 1 2 3 · bets 3:100 · 4 folds · 1 folds
         over · returned 3:100 · pots none · rake 0 · wins 3:0 · stacks 3:900",
    );
}

// Pitfall 20: of a shove of 100 into a big blind of 2, 98 come back; pot 4, no flop, no rake.
#[test]
fn r3_4_what_nobody_called_is_neither_won_nor_raked() {
    check(
        "table texas nl 1/2 rake 500
         seats 1:100 2:100
         deal button 1
         1 all-in 100 · 2 folds
         over · returned 1:98 · pots 4 (1) · wins 1:4 · rake 0 · stacks 1:102 2:98",
    );
}
