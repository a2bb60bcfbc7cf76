//! Rules 2.1 to 2.4 and 2.8 to 2.10: where button and blinds lie, who is dealt in, who owes what.
//!
//! A line of a table is one hand, `before | seats => line-up`:
//! - before: the last hand's `(button, small, big)`; `next` takes the line above; `first N` is a table's first hand
//!   with the draw N; `resume (…)` says that fewer than two could play since.
//! - seats: a number is an established player; `out` after it sits out; `new` and `back` are newcomers and players who
//!   come back, waiting for the big blind, and with `+` posting; `/b`, `/s` and `/bs` are blinds that he owes.
//! - line-up: `dead` marks a button that is not dealt in, `none` a small blind that nobody posts; `deals` is named
//!   where somebody who could play gets no cards; then `posts` and `owes`, and `afresh` for a fresh start.

use rules::blinds::{Contender, Debt, LineUp, Positions, Standing, line_up};
use rules::{SeatNo, SeatSet};

pub fn seat(text: &str) -> SeatNo {
    let number = text.trim().parse().ok().and_then(SeatNo::new);
    number.unwrap_or_else(|| panic!("no seat: {text}"))
}

fn contender(text: &str) -> Contender {
    let (who, owes) = text.split_once('/').unwrap_or((text, ""));
    let digits = who.len() - who.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let entering = |newcomer, post| Standing::Entering { newcomer, post };
    let (standing, can_play) = match &who[digits..] {
        "" => (Standing::Established, true),
        "out" => (Standing::Established, false),
        "new" => (entering(true, false), true),
        "new+" => (entering(true, true), true),
        "newout" => (entering(true, false), false),
        "back" => (entering(false, false), true),
        "back+" => (entering(false, true), true),
        other => panic!("no standing: {other}"),
    };
    let debt = match owes {
        "" => Debt::NONE,
        "b" => Debt { big: true, small: false },
        "s" => Debt { big: false, small: true },
        "bs" => Debt::BOTH,
        other => panic!("no debt: {other}"),
    };
    Contender { seat: seat(&who[..digits]), standing, debt, can_play }
}

fn positions(text: &str) -> Positions {
    let inner = text.trim().trim_matches(|c| c == '(' || c == ')');
    let seats: Vec<SeatNo> = inner.split(',').map(seat).collect();
    assert_eq!(seats.len(), 3, "no positions: {text}");
    Positions { button: seats[0], small: seats[1], big: seats[2] }
}

fn list(seats: impl IntoIterator<Item = SeatNo>) -> String {
    seats.into_iter().map(|seat| format!(" {seat}")).collect()
}

fn shown(line_up: Option<&LineUp>, able: SeatSet) -> String {
    let Some(LineUp { positions, small, dealt, entries, debts, fresh }) = line_up else {
        return "no hand".to_owned();
    };
    let dead = if dealt.contains(positions.button) { "" } else { " dead" };
    let small = small.map_or("none".to_owned(), |seat| {
        assert_eq!(seat, positions.small, "the small blind is posted in its place");
        seat.to_string()
    });
    let mut text = format!("({}{dead}, {small}, {})", positions.button, positions.big);
    if *dealt != able {
        text += &format!(" deals{}", list(dealt.iter()));
    }
    let posts = entries.iter().map(|e| match (e.live, e.dead) {
        (true, false) => format!(" {} live", e.seat),
        (false, true) => format!(" {} dead", e.seat),
        (true, true) => format!(" {} live+dead", e.seat),
        (false, false) => format!(" {} nothing", e.seat),
    });
    let posts: String = posts.collect();
    let owes = debts.iter().filter(|(_, debt)| debt.is_owed()).map(|(seat, debt)| match debt {
        Debt { big: true, small: true } => format!(" {seat} both"),
        Debt { big: true, .. } => format!(" {seat} big"),
        Debt { .. } => format!(" {seat} small"),
    });
    let owes: String = owes.collect();
    for (word, part) in [(" posts", posts), (" owes", owes)] {
        if !part.is_empty() {
            text += &format!("{word}{part}");
        }
    }
    text + if *fresh { " afresh" } else { "" }
}

fn check(table: &str) {
    let mut previous = None;
    let mut hands = 0;
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (given, expected) = line.split_once("=>").expect("a line has =>");
        let (before, seats) = given.split_once('|').expect("a line has |");
        let contenders: Vec<Contender> = seats.split_whitespace().map(contender).collect();
        let before = before.trim();
        let (last, interrupted, draw) = if let Some(draw) = before.strip_prefix("first") {
            (None, false, draw.trim().parse().expect("a draw"))
        } else if let Some(last) = before.strip_prefix("resume") {
            (Some(positions(last)), true, 0)
        } else if before == "next" {
            (Some(previous.expect("a hand above")), false, 0)
        } else {
            (Some(positions(before)), false, 0)
        };
        let got = line_up(last, interrupted, &contenders, draw);
        if let Some(got) = &got {
            let seats: Vec<SeatNo> = got.debts.iter().map(|(seat, _)| *seat).collect();
            let occupied: Vec<SeatNo> = contenders.iter().map(|c| c.seat).collect();
            assert_eq!(seats, occupied, "every occupied seat's debt is told: {line}");
        }
        let able = contenders.iter().filter(|c| c.can_play).map(|c| c.seat).collect();
        assert_eq!(shown(got.as_ref(), able), expected.trim(), "{line}");
        previous = got.map(|got| got.positions);
        hands += 1;
    }
    assert!(hands > 0, "the table is empty");
}

#[test]
fn r2_1_the_big_blind_moves_and_the_button_may_be_dead() {
    check(
        "(1,2,3) | 1 2 3 4 5 => (2, 3, 4)
         (1,2,3) | 1 3 4 5   => (2 dead, 3, 4)
         (1,2,3) | 1 2 4 5   => (2, none, 4)
         (1,2,3) | 2 3 4 5   => (2, 3, 4)
         (1,2,3) | 1 4 5     => (2 dead, none, 4)",
    );
}

#[test]
fn r2_1_a_dead_button_and_a_missing_small_blind_last_one_hand() {
    check(
        "(1,2,3) | 1 4 5 6 => (2 dead, none, 4)
         next    | 1 4 5 6 => (3 dead, 4, 5)
         next    | 1 4 5 6 => (4, 5, 6)
         next    | 1 4 5 6 => (5, 6, 1)",
    );
}

// Pitfall 26: four big blinds sit out one after the other, and the blind moves on every hand.
#[test]
fn r2_1_sitting_out_as_big_blind_neither_repeats_nor_stops_it() {
    check(
        "(1,2,3) | 1 2 3 4out 5 6             => (2, 3, 5) owes 4 both
         next    | 1 2 3 4out/bs 5out 6       => (3, none, 6) owes 4 both 5 small
         next    | 1out 2 3 4out/bs 5out/s 6  => (5 dead, 6, 2) owes 1 both 4 both 5 small
         next    | 1out/bs 2 3out 4out/bs 5out/s 6 => (2, 2, 6) owes 1 both 3 both 4 both 5 both",
    );
}

#[test]
fn r2_2_from_three_to_two_the_other_one_has_the_button() {
    check(
        "(1,2,3) | 2 3    => (3, 3, 2)
         (1,2,3) | 1 3    => (3, 3, 1)
         (1,2,3) | 1 2    => (2, 2, 1)
         next    | 1 2    => (1, 1, 2)
         next    | 1 2    => (2, 2, 1)
         (1,2,3) | 1out 2 3 => (3, 3, 2) owes 1 both
         (1,2,3) | 1 2out 3 => (3, 3, 1)
         (1,2,3) | 1 2 3out => (2, 2, 1) owes 3 small",
    );
}

#[test]
fn r2_3_the_draw_picks_the_first_button_among_those_who_can_play() {
    check(
        "first 0 | 1new 4new 6new+ 9new       => (1, 4, 6) afresh
         first 1 | 1new 4new 6new+ 9new       => (4, 6, 9) afresh
         first 2 | 1new 4new 6new+ 9new       => (6, 9, 1) afresh
         first 3 | 1new 4new 6new+ 9new       => (9, 1, 4) afresh
         first 18446744073709551615 | 1new 4new 6new 9new => (9, 1, 4) afresh
         first 1 | 1newout 4new 6new 9new     => (6, 9, 4) afresh
         first 0 | 2new 7new                  => (2, 2, 7) afresh
         first 1 | 2new 7new                  => (7, 7, 2) afresh
         first 0 | 2new                       => no hand
         first 0 |                            => no hand",
    );
}

#[test]
fn r2_4_one_waits_for_the_big_blind_or_posts_at_once() {
    check(
        "(1,2,3) | 1 2 3 4new 5       => (2, 3, 4)
         (1,2,3) | 1 2 3 4back/bs 5   => (2, 3, 4)
         (1,2,3) | 1 2 3 4 5new       => (2, 3, 4) deals 1 2 3 4
         (1,2,3) | 1 2 3 4 5new+      => (2, 3, 4) posts 5 live
         (1,2,3) | 1 2 3 4 5back/bs   => (2, 3, 4) deals 1 2 3 4 owes 5 both
         (1,2,3) | 1 2 3 4 5back+/bs  => (2, 3, 4) posts 5 live+dead
         (1,2,3) | 1 2 3 4 5back      => (2, 3, 4)
         (1,2,3) | 1back+ 2 3 4 5     => (2, 3, 4)",
    );
}

// Seat 4 was skipped; the button and the small blind pass him before he may post.
#[test]
fn r2_4_nobody_enters_between_the_blinds_and_the_button() {
    check(
        "(1,2,3) | 1 2 3 4out 5 6      => (2, 3, 5) owes 4 both
         next    | 1 2 3 4back+/bs 5 6 => (3, 5, 6) deals 1 2 3 5 6 owes 4 both
         next    | 1 2 3 4back+/bs 5 6 => (5, 6, 1) posts 4 live+dead
         (1,2,3) | 1 2 3out 4 5 6      => (2, none, 4) owes 3 small
         next    | 1 2 3back+/s 4 5 6  => (3 dead, 4, 5) deals 1 2 4 5 6 owes 3 small
         next    | 1 2 3back+/s 4 5 6  => (4, 5, 6) posts 3 dead
         (1,2,3) | 2new+ 3new+ 4 5 6   => (2 dead, none, 4) deals 4 5 6
         (1,3,5) | 1 2new+ 3 4new+ 5 6 => (3, 5, 6) deals 1 2 3 5 6 posts 2 live",
    );
}

#[test]
fn r2_8_from_heads_up_a_newcomer_enters_as_big_blind() {
    check(
        "(1,1,3) | 1 3 5new        => (1, 3, 5)
         (1,1,3) | 1 3 5new+       => (1, 3, 5)
         (1,1,3) | 1 2new 3        => (3, 3, 1) deals 1 3
         next    | 1 2new 3        => (3, 1, 2)
         (1,1,3) | 1 2new+ 3       => (3, 3, 1) deals 1 3
         next    | 1 2new+ 3       => (3, 1, 2)
         (1,1,3) | 1 3 5new 6new+  => (1, 3, 5) posts 6 live
         (1,1,3) | 1 3 5new 6new   => (1, 3, 5) deals 1 3 5
         (1,1,3) | 1 2back 3       => (3, 3, 1) deals 1 3
         next    | 1 2back 3       => (3, 1, 2)
         (1,1,3) | 3 5new          => (3, 3, 5)
         (1,1,3) | 1 5new          => (1, 1, 5)",
    );
}

#[test]
fn r2_9_after_an_interruption_the_big_blind_goes_on_from_the_last_one() {
    check(
        "resume (4,6,1) | 1 4 6                  => (6, 1, 4) afresh
         resume (4,6,1) | 1 4back/bs 6back+/s    => (6, 1, 4) afresh
         resume (4,6,1) | 1 4new 6new 8out/bs    => (6, 1, 4) afresh
         resume (4,6,1) | 1 4                    => (1, 1, 4) afresh
         resume (4,6,1) | 4 6new                 => (6, 6, 4) afresh
         resume (4,6,1) | 1                      => no hand
         resume (4,6,1) | 1 2out 4 6             => (6, 1, 4) owes 2 both afresh",
    );
}

// Nobody is left who could be dealt in beside the big blind without entering.
#[test]
fn r2_9_with_newcomers_only_the_table_starts_afresh() {
    check(
        "(1,2,3) | 5new 6new 8new+   => (6, 8, 5) afresh
         (1,2,3) | 5new 6new         => (6, 6, 5) afresh
         (1,1,3) | 1 2new            => (2, 2, 1) afresh",
    );
}

#[test]
fn r2_10_one_may_post_after_the_big_blind_and_before_the_button() {
    check(
        "(1,2,3) | 1new+ 2 3 4 5new+ 6new+        => (2, 3, 4) posts 5 live 6 live 1 live
         (1,2,3) | 1back+/bs 2 3 4 5new+ 6back+/s => (2, 3, 4) posts 5 live 6 dead 1 live+dead
         (1,2,3) | 1new+ 2new+ 3 4 5              => (2 dead, 3, 4) deals 1 3 4 5 posts 1 live
         (1,2,3) | 1new+ 2 3new+ 4 5              => (2, none, 4) deals 1 2 4 5 posts 1 live",
    );
}

#[test]
fn r2_10_who_is_skipped_owes_each_blind_once() {
    check(
        "(1,2,3) | 1 2 3 4out 5         => (2, 3, 5) owes 4 both
         (1,2,3) | 1 2 3 4out/s 5       => (2, 3, 5) owes 4 both
         (1,2,3) | 1 2 3 4out/bs 5      => (2, 3, 5) owes 4 both
         (1,2,3) | 1 2 3out 4 5         => (2, none, 4) owes 3 small
         (1,2,3) | 1 2 3out/b 4 5       => (2, none, 4) owes 3 both
         (1,2,3) | 1 2 3 4newout 5      => (2, 3, 5)
         (1,2,3) | 1 2 3 4 5out/s       => (2, 3, 4) owes 5 small",
    );
}

// Pitfall 27: the debt is paid once, and the big blind who comes back owes nothing more.
#[test]
fn r2_10_a_paid_debt_is_gone() {
    check(
        "(2,3,4) | 1 2 3 4 5out 6       => (3, 4, 6) owes 5 both
         next    | 1 2 3 4 5out/bs 6    => (4, 6, 1) owes 5 both
         next    | 1 2 3 4 5back+/bs 6  => (6, 1, 2) posts 5 live+dead
         next    | 1 2 3 4 5 6          => (1, 2, 3)
         (2,3,4) | 1 2 3 4 5back/bs 6   => (3, 4, 5)
         next    | 1 2 3 4 5 6          => (4, 5, 6)",
    );
}

#[test]
fn r2_10_a_big_blind_who_leaves_before_the_deal_is_passed_over() {
    check("(1,2,3) | 1 2 3 5 => (2, 3, 5)");
}
