//! Rules 2.4 to 2.7 and 2.10: the amounts of antes, blinds, entries and straddles.
//!
//! A line of a table is one hand, `stakes | (button, small, big) seats => posts; bring-in`:
//! - stakes: `small/big`, then `ante N`, `big-blind ante N`, `straddles N`, `fixed-limit`.
//! - seats: `number:stack` of everybody dealt in, with `+live`, `+dead` for what he posts to enter and `+straddle` for
//!   the wish to straddle; `none` is a small blind that nobody posts.
//! - bring-in: what the first round's players call, and the seat after which it starts.

use rules::blinds::{Entry, LineUp, Positions};
use rules::posts::{Forced, ForcedBets, forced_bets};
use rules::{Ante, Chips, PostKind, SeatNo, SeatSet, Stakes};

use crate::blinds::seat;

fn chips(text: &str) -> Chips {
    Chips(text.trim().parse().unwrap_or_else(|_| panic!("no amount: {text}")))
}

struct Given {
    line_up: LineUp,
    stakes: Stakes,
    stacks: Vec<(SeatNo, Chips)>,
    straddlers: SeatSet,
    fixed_limit: bool,
}

fn stakes(text: &str) -> (Stakes, bool) {
    let mut words = text.split_whitespace();
    let (small, big) = words.next().and_then(|w| w.split_once('/')).expect("small/big");
    let (small_blind, big_blind) = (chips(small), chips(big));
    let mut stakes = Stakes {
        small_blind,
        big_blind,
        ante: Ante::None,
        straddles: 0,
        small_bet: big_blind,
        big_bet: big_blind.doubled(),
        min_buy_in: big_blind,
        max_buy_in: Chips::MAX,
    };
    let mut fixed_limit = false;
    let mut of_big_blind = false;
    while let Some(word) = words.next() {
        match word {
            "fixed-limit" => fixed_limit = true,
            "big-blind" => of_big_blind = true,
            "straddles" => stakes.straddles = words.next().and_then(|n| n.parse().ok()).expect("how many"),
            "ante" => {
                let ante = words.next().map(chips).expect("an ante");
                stakes.ante = if of_big_blind { Ante::BigBlind(ante) } else { Ante::PerPlayer(ante) };
            }
            other => panic!("no stakes: {other}"),
        }
    }
    (stakes, fixed_limit)
}

fn given(text: &str) -> Given {
    let (costs, table) = text.split_once('|').expect("a line has |");
    let (stakes, fixed_limit) = stakes(costs);
    let (places, seats) = table.trim().trim_start_matches('(').split_once(')').expect("positions");
    let places: Vec<&str> = places.split(',').map(str::trim).collect();
    let small = (places[1] != "none").then(|| seat(places[1]));
    let (button, big) = (seat(places[0]), seat(places[2]));
    let positions = Positions { button, small: small.unwrap_or(button), big };
    let (mut stacks, mut entries) = (Vec::new(), Vec::new());
    let mut straddlers = SeatSet::EMPTY;
    for text in seats.split_whitespace() {
        let mut parts = text.split('+');
        let (number, stack) = parts.next().and_then(|p| p.split_once(':')).expect("number:stack");
        let seat = seat(number);
        stacks.push((seat, chips(stack)));
        let mut entry = Entry { seat, live: false, dead: false };
        for part in parts {
            match part {
                "live" => entry.live = true,
                "dead" => entry.dead = true,
                "straddle" => straddlers.insert(seat),
                other => panic!("no mark: {other}"),
            }
        }
        if entry.live || entry.dead {
            entries.push(entry);
        }
    }
    let dealt = stacks.iter().map(|(seat, _)| *seat).collect();
    let line_up = LineUp { positions, small, dealt, entries, debts: Vec::new(), fresh: false };
    Given { line_up, stakes, stacks, straddlers, fixed_limit }
}

fn shown(bets: &ForcedBets) -> String {
    let posts = bets.forced.iter().map(|forced| match forced {
        Forced::AnteReturned { seat, amount } => format!("{seat} back {amount}"),
        Forced::Post { seat, kind, amount } => {
            let word = match kind {
                PostKind::Ante => "ante",
                PostKind::BigBlindAnte => "big-blind ante",
                PostKind::SmallBlind => "small",
                PostKind::BigBlind => "big",
                PostKind::Straddle => "straddle",
                PostKind::Entry => "entry",
                PostKind::DeadSmallBlind => "dead",
            };
            format!("{seat} {word} {amount}")
        }
    });
    let posts: Vec<String> = posts.collect();
    format!("{}; {} after {}", posts.join(", "), bets.bring_in, bets.first_to_act_after)
}

fn check(table: &str) {
    let lines: Vec<&str> = table.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert!(!lines.is_empty(), "the table is empty");
    for line in lines {
        let (text, expected) = line.split_once("=>").expect("a line has =>");
        let Given { line_up, stakes, stacks, straddlers, fixed_limit } = given(text);
        let bets = forced_bets(&line_up, &stakes, &stacks, straddlers, fixed_limit);
        assert_eq!(shown(&bets), expected.trim(), "{line}");
    }
}

#[test]
fn r2_2_heads_up_the_button_posts_the_small_blind() {
    check(
        "10/25 | (3,3,1) 1:500 3:500   => 3 small 10, 1 big 25; 25 after 1
         10/25 | (2,3,4) 1:500 2:500 3:500 4:500 => 3 small 10, 4 big 25; 25 after 4
         10/25 | (2,none,4) 1:500 2:500 4:500    => 4 big 25; 25 after 4",
    );
}

// 35 in all: the live 25 leave nothing to call, the dead 10 are no part of the bet.
#[test]
fn r2_4_missed_blinds_are_live_and_dead() {
    check(
        "10/25 | (1,2,3) 1:500 2:500 3:500 4:500+live+dead => 2 small 10, 3 big 25, 4 entry 25, 4 dead 10; 25 after 3
         10/25 | (1,2,3) 1:500 2:500 3:500 4:500+live      => 2 small 10, 3 big 25, 4 entry 25; 25 after 3
         10/25 | (1,2,3) 1:500 2:500 3:500 4:500+dead      => 2 small 10, 3 big 25, 4 dead 10; 25 after 3",
    );
    let live: Vec<bool> = [PostKind::Entry, PostKind::DeadSmallBlind].map(PostKind::is_live).to_vec();
    assert_eq!(live, [true, false]);
}

// All-ins 5 and 10 and a stack of 20: layers of 15 (all three) and 10 (two), and 10 that nobody matched.
#[test]
fn r2_5_antes_come_first_and_the_unmatched_part_goes_back() {
    check(
        "1/2 ante 25 | (3,1,2) 1:5 2:10 3:20 => 1 ante 5, 2 ante 10, 3 ante 20, 3 back 10; 2 after 2
         1/2 ante 25 | (1,2,3) 1:5 2:10 3:20 => 2 ante 10, 3 ante 20, 1 ante 5, 3 back 10, 3 big 2; 2 after 3
         1/2 ante 25 | (1,2,3) 1:10 2:20 3:20 => 2 ante 20, 3 ante 20, 1 ante 10; 2 after 3
         1/2 ante 25 | (1,1,2) 1:5 2:100 => 2 ante 25, 1 ante 5, 2 back 20, 2 big 2; 2 after 2
         1/2 ante 1  | (3,1,2) 1:50 2:50 3:50 => 1 ante 1, 2 ante 1, 3 ante 1, 1 small 1, 2 big 2; 2 after 2
         1/2 ante 1  | (2,none,4) 1:50 4:50 5:50 => 4 ante 1, 5 ante 1, 1 ante 1, 4 big 2; 2 after 4",
    );
}

#[test]
fn r2_5_a_short_big_blind_pays_the_blind_before_the_ante() {
    check(
        "50/100 big-blind ante 100 | (1,2,3) 1:900 2:900 3:150 => 2 small 50, 3 big 100, 3 big-blind ante 50; 100 after 3
         50/100 big-blind ante 100 | (1,2,3) 1:900 2:900 3:900 => 2 small 50, 3 big 100, 3 big-blind ante 100; 100 after 3
         50/100 big-blind ante 100 | (1,2,3) 1:900 2:900 3:100 => 2 small 50, 3 big 100; 100 after 3
         50/100 big-blind ante 100 | (1,2,3) 1:900 2:900 3:70  => 2 small 50, 3 big 70; 100 after 3",
    );
    assert!(PostKind::BigBlindAnte.is_dead() && PostKind::DeadSmallBlind.is_dead());
    assert!(!PostKind::Ante.is_dead(), "antes of all players form layers");
}

#[test]
fn r2_6_the_straddle_is_twice_the_big_blind_and_the_new_bring_in() {
    check(
        "1/2 straddles 1 | (1,2,3) 1:90 2:90 3:90 4:90+straddle => 2 small 1, 3 big 2, 4 straddle 4; 4 after 4
         1/2 straddles 1 | (1,2,3) 1:90+straddle 2:90 3:90      => 2 small 1, 3 big 2, 1 straddle 4; 4 after 1
         1/2 straddles 1 | (1,2,3) 1:90 2:90 3:90 4:3+straddle  => 2 small 1, 3 big 2, 4 straddle 3; 4 after 4
         1/2 straddles 1 | (1,2,3) 1:90+straddle 2:90 3:90 4:90 => 2 small 1, 3 big 2; 2 after 3
         1/2 straddles 1 | (1,2,3) 1:90 2:90+straddle 3:90+straddle 4:90 => 2 small 1, 3 big 2; 2 after 3",
    );
}

#[test]
fn r2_6_no_straddle_heads_up_at_fixed_limit_or_without_the_option() {
    check(
        "1/2 straddles 1 | (3,3,1) 1:90+straddle 3:90+straddle => 3 small 1, 1 big 2; 2 after 1
         1/2 straddles 1 fixed-limit | (1,2,3) 1:90+straddle 2:90 3:90 => 2 small 1, 3 big 2; 2 after 3
         1/2 | (1,2,3) 1:90+straddle 2:90 3:90 => 2 small 1, 3 big 2; 2 after 3",
    );
}

#[test]
fn r2_6_the_next_seat_restraddles_to_twice_the_first() {
    check(
        "1/2 straddles 2 | (1,2,3) 1:90 2:90 3:90 4:90+straddle 5:90+straddle => 2 small 1, 3 big 2, 4 straddle 4, 5 straddle 8; 8 after 5
         1/2 straddles 2 | (1,2,3) 1:90 2:90 3:90 4:3+straddle 5:7+straddle   => 2 small 1, 3 big 2, 4 straddle 3, 5 straddle 7; 8 after 5
         1/2 straddles 2 | (1,2,3) 1:90 2:90 3:90 4:90+straddle 5:90          => 2 small 1, 3 big 2, 4 straddle 4; 4 after 4
         1/2 straddles 2 | (1,2,3) 1:90 2:90 3:90 4:90 5:90+straddle          => 2 small 1, 3 big 2; 2 after 3
         1/2 straddles 1 | (1,2,3) 1:90 2:90 3:90 4:90+straddle 5:90+straddle => 2 small 1, 3 big 2, 4 straddle 4; 4 after 4
         1/2 straddles 2 | (1,2,3) 1:90+straddle 2:90+straddle 3:90+straddle  => 2 small 1, 3 big 2, 1 straddle 4, 2 straddle 7; 8 after 2
         1/2 straddles 9 | (1,2,3) 1:90+straddle 2:90 3:90 4:90+straddle 5:90+straddle => 2 small 1, 3 big 2, 4 straddle 4, 5 straddle 8; 8 after 5",
    );
}

// The live chips of an entry are part of the straddle; the dead ones are not; who is all-in cannot straddle.
#[test]
fn r2_6_one_who_posted_to_enter_raises_that_to_the_straddle() {
    check(
        "10/25 straddles 1 | (1,2,3) 1:500 2:500 3:500 4:500+live+straddle      => 2 small 10, 3 big 25, 4 entry 25, 4 straddle 25; 50 after 4
         10/25 straddles 1 | (1,2,3) 1:500 2:500 3:500 4:500+live+dead+straddle => 2 small 10, 3 big 25, 4 entry 25, 4 dead 10, 4 straddle 25; 50 after 4
         10/25 straddles 1 | (1,2,3) 1:500 2:500 3:500 4:500+dead+straddle      => 2 small 10, 3 big 25, 4 dead 10, 4 straddle 50; 50 after 4
         10/25 straddles 1 | (1,2,3) 1:500 2:500 3:500 4:30+live+straddle       => 2 small 10, 3 big 25, 4 entry 25, 4 straddle 5; 50 after 4
         10/25 straddles 1 | (1,2,3) 1:500 2:500 3:500 4:30+live+dead+straddle  => 2 small 10, 3 big 25, 4 entry 25, 4 dead 5; 25 after 3",
    );
}

#[test]
fn r2_7_a_short_stack_posts_what_it_has_and_the_call_stays_whole() {
    check(
        "100/200 | (1,2,3) 1:900 2:900 3:100 => 2 small 100, 3 big 100; 200 after 3
         100/200 | (1,2,3) 1:900 2:60 3:900  => 2 small 60, 3 big 200; 200 after 3
         100/200 | (1,2,3) 1:900 2:60 3:100 4:20+live+dead => 2 small 60, 3 big 100, 4 entry 20; 200 after 3
         100/200 ante 50 | (1,2,3) 1:900 2:50 3:30 => 2 ante 50, 3 ante 30, 1 ante 50; 200 after 3",
    );
}

#[test]
fn r2_10_the_live_part_is_paid_first() {
    check(
        "10/25 | (2,3,4) 1:500 2:500 3:500 4:500 5:30+live+dead => 3 small 10, 4 big 25, 5 entry 25, 5 dead 5; 25 after 4
         10/25 | (2,3,4) 1:500 2:500 3:500 4:500 5:20+live+dead => 3 small 10, 4 big 25, 5 entry 20; 25 after 4
         10/25 | (2,3,4) 1:500+live 2:500 3:500 4:500 5:500+dead => 3 small 10, 4 big 25, 1 entry 25, 5 dead 10; 25 after 4",
    );
}
