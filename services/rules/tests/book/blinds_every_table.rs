//! Rules 2.1 to 2.10 over every table of five seats: nobody is big blind twice in a row, passed over, dealt in free of
//! charge, or let in between the blinds and the button.

use rules::blinds::{Contender, Debt, Entry, LineUp, Positions, Standing, line_up};
use rules::{SeatNo, SeatSet};

fn seats(numbers: impl IntoIterator<Item = u8>) -> Vec<SeatNo> {
    numbers.into_iter().filter_map(SeatNo::new).collect()
}

/// The seats strictly between two, walked one by one.
pub fn walk(from: SeatNo, to: SeatNo) -> SeatSet {
    from.clockwise().take_while(|seat| *seat != to && *seat != from).collect()
}

fn is_newcomer(c: &Contender) -> bool {
    matches!(c.standing, Standing::Entering { newcomer: true, .. })
}

/// What holds for every line-up that follows on a hand, whatever the players did.
pub fn check_line_up(last: Positions, contenders: &[Contender], got: &LineUp) {
    let able: SeatSet = contenders.iter().filter(|c| c.can_play).map(|c| c.seat).collect();
    let Positions { button, small, big } = got.positions;
    assert_ne!(big, last.big, "2.1: nobody is big blind twice in a row");
    assert!(able.contains(big), "2.1: the big blind is always posted");
    assert!(walk(last.big, big).iter().all(|s| !able.contains(s)), "2.1: nobody skips it");
    assert!(got.dealt.iter().all(|s| able.contains(s)));
    match got.dealt.len() {
        0 | 1 => panic!("fewer than two are dealt in"),
        2 => {
            assert!(button == small && got.small == Some(small), "2.2: the button posts");
            assert_eq!(got.dealt, SeatSet::from_iter([button, big]));
            assert!(got.entries.is_empty(), "2.8: nobody posts in");
        }
        _ => {
            assert!(walk(button, big).contains(small) && !walk(button, big).contains(button), "clockwise");
            assert!(walk(small, big).iter().all(|s| !got.dealt.contains(s)), "the blinds are neighbours");
            assert_eq!(got.small, got.dealt.contains(small).then_some(small));
            assert!(got.fresh || (button, small) == (last.small, last.big), "2.1: both follow the big blind");
        }
    }
    assert_eq!(got.debts.len(), contenders.len());
    for (c, (seat, debt)) in contenders.iter().zip(&got.debts) {
        assert_eq!(c.seat, *seat);
        assert!(!debt.is_owed() || !got.dealt.contains(*seat) && !is_newcomer(c), "2.10: who owes is out");
        check_player(last, c, got);
    }
}

/// How one player comes into the hand, or why he does not.
fn check_player(last: Positions, c: &Contender, got: &LineUp) {
    let Positions { button, small, big } = got.positions;
    let owes = is_newcomer(c) || c.debt.is_owed();
    let entry = got.entries.iter().find(|e| e.seat == c.seat);
    let dealt = got.dealt.contains(c.seat);
    let post = !matches!(c.standing, Standing::Entering { post: false, .. });
    let may_post = got.dealt.len() > 2 && walk(big, button).contains(c.seat);
    if got.fresh {
        assert!(dealt == c.can_play && entry.is_none(), "2.9: all who can play are in, free");
    } else if c.seat == big {
        assert!(entry.is_none(), "2.4: the big blind owes nothing more");
    } else if !owes {
        assert!(entry.is_none(), "nothing is posted for nothing");
        let between = walk(last.small, last.big).contains(c.seat);
        assert_eq!(dealt, c.can_play && !between, "who missed nothing is in");
    } else if let Some(entry) = entry {
        let due = if is_newcomer(c) { Debt { big: true, small: false } } else { c.debt };
        assert_eq!(*entry, Entry { seat: c.seat, live: due.big, dead: due.small });
        assert!(dealt && post && c.can_play && may_post, "2.10: after the big blind, before the button");
        assert!(c.seat != small);
    } else {
        assert!(!dealt, "pitfall 27: nobody is free");
        let others = got.dealt.len() - got.entries.len();
        assert!(!(c.can_play && post && may_post && others > 2), "2.4: who may post and wants to is in");
    }
}

/// All that a seat can hold before a hand.
fn holdings(seat: SeatNo) -> Vec<Option<Contender>> {
    let back = |post| Standing::Entering { newcomer: false, post };
    let new = |post| Standing::Entering { newcomer: true, post };
    let small = Debt { big: false, small: true };
    let held = [
        (Standing::Established, Debt::NONE, true),
        (Standing::Established, Debt::NONE, false),
        (new(false), Debt::NONE, true),
        (new(true), Debt::NONE, true),
        (back(true), Debt::NONE, true),
        (back(true), small, true),
        (back(true), Debt::BOTH, true),
        (back(false), Debt::BOTH, true),
    ];
    let held = held.map(|(standing, debt, can_play)| Some(Contender { seat, standing, debt, can_play }));
    [None].into_iter().chain(held).collect()
}

// Five seats with gaps; by turning the table the last big blind may stay in one seat.
#[test]
fn r2_1_to_r2_10_every_table_of_five_seats() {
    let ring = seats([1, 2, 4, 7, 10]);
    let big = ring[2];
    let others: Vec<SeatNo> = big.clockwise().filter(|s| ring.contains(s) && *s != big).collect();
    let mut lasts = Vec::new();
    for (i, &button) in others.iter().enumerate() {
        lasts.push(Positions { button, small: button, big });
        lasts.extend(others[i + 1..].iter().map(|&small| Positions { button, small, big }));
    }
    let choices: Vec<Vec<Option<Contender>>> = ring.iter().map(|seat| holdings(*seat)).collect();
    let tables: usize = choices.iter().map(Vec::len).product();
    let mut hands = 0;
    for table in 0..tables {
        let mut rest = table;
        let contenders: Vec<Contender> = choices
            .iter()
            .filter_map(|choice| {
                let held = choice[rest % choice.len()];
                rest /= choice.len();
                held
            })
            .collect();
        let able = contenders.iter().filter(|c| c.can_play).count();
        for last in &lasts {
            let got = line_up(Some(*last), false, &contenders, 0);
            assert_eq!(got.is_some(), able >= 2, "{last:?} {contenders:?}");
            if let Some(got) = got {
                check_line_up(*last, &contenders, &got);
                hands += 1;
            }
        }
    }
    assert_eq!((tables, lasts.len()), (59_049, 10));
    assert!(hands > 500_000, "{hands}");
}
