//! Rules 2.1 to 2.10 over long random sessions: every player pays what he missed and nothing else, and the big blind
//! comes to everybody once an orbit.

use rules::blinds::{Contender, Debt, LineUp, Positions, Standing, line_up};
use rules::{SeatNo, SeatSet};

use crate::blinds_every_table::{check_line_up, walk};

/// Marsaglia's xorshift: the same sessions on every run.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

/// A player of a session, with what the blinds did to him, kept apart from the debts that the line-up tells.
#[derive(Clone, Copy)]
struct Player {
    newcomer: bool,
    played_last: bool,
    out: bool,
    post: bool,
    debt: Debt,
    missed: Debt,
    /// Who was big blind since he was himself, or since he can play without a break.
    big_since: SeatSet,
}

/// What a session must have shown for the test to mean anything.
#[derive(Default, Debug)]
struct Seen {
    heads_up: u32,
    dead_button: u32,
    no_small: u32,
    resumed: u32,
    posted_live: u32,
    posted_dead: u32,
    posted_both: u32,
    waited: u32,
}

struct Session {
    dice: Dice,
    players: [Option<Player>; 10],
    last: Option<Positions>,
    interrupted: bool,
    seen: Seen,
}

impl Session {
    fn people_come_and_go(&mut self, seats: u64, busy: u64) {
        for player in self.players.iter_mut().take(seats as usize) {
            let dice = &mut self.dice;
            match player {
                None if dice.below(100) < busy => {
                    *player = Some(Player {
                        newcomer: true,
                        played_last: false,
                        out: false,
                        post: dice.below(2) == 0,
                        debt: Debt::NONE,
                        missed: Debt::NONE,
                        big_since: SeatSet::EMPTY,
                    });
                }
                Some(_) if dice.below(100) < 5 => *player = None,
                Some(p) if dice.below(100) < 20 => (p.out, p.post) = (!p.out, dice.below(2) == 0),
                _ => {}
            }
        }
    }

    fn contenders(&self) -> Vec<Contender> {
        let player = |seat: SeatNo| {
            let p = self.players[seat.index()]?;
            let entering = Standing::Entering { newcomer: p.newcomer, post: p.post };
            let standing = if p.played_last { Standing::Established } else { entering };
            Some(Contender { seat, standing, debt: p.debt, can_play: !p.out })
        };
        SeatNo::all().filter_map(player).collect()
    }

    fn play(&mut self) {
        let contenders = self.contenders();
        let draw = self.dice.below(u64::MAX);
        let Some(got) = line_up(self.last, self.interrupted, &contenders, draw) else {
            assert!(contenders.iter().filter(|c| c.can_play).count() < 2);
            self.interrupted = true;
            self.players.iter_mut().flatten().for_each(|p| p.played_last = false);
            return;
        };
        if let Some(last) = self.last {
            assert!(got.fresh || !self.interrupted);
            check_line_up(last, &contenders, &got);
            self.count(&got, &contenders);
        }
        for (seat, debt) in &got.debts {
            self.dealt(*seat, *debt, &got);
        }
        (self.last, self.interrupted) = (Some(got.positions), false);
    }

    /// Follows one player through the hand.
    fn dealt(&mut self, seat: SeatNo, debt: Debt, got: &LineUp) {
        let Some(p) = &mut self.players[seat.index()] else {
            return;
        };
        let big = got.positions.big;
        let dealt = got.dealt.contains(seat);
        let entry = got.entries.iter().find(|e| e.seat == seat);
        if got.fresh {
            p.missed = Debt::NONE;
        }
        if let Some(last) = self.last.filter(|_| !dealt && !p.newcomer) {
            let skipped = walk(last.big, big).contains(seat);
            p.missed.big |= skipped;
            p.missed.small |= skipped || seat == last.big;
        }
        if dealt && seat != big && !got.fresh {
            let paid = entry.map_or(Debt::NONE, |e| Debt { big: e.live, small: e.dead });
            let due = if p.newcomer { Debt { big: true, small: false } } else { p.missed };
            assert_eq!(paid, due, "2.10: seat {seat} pays what he missed, once");
        }
        // Of two players one is big blind and the other must have been in the game or have missed nothing.
        if dealt && !p.played_last && !got.fresh && seat != big && got.dealt.len() > 2 {
            let free = walk(big, got.positions.button).contains(seat);
            assert!(free, "2.4: seat {seat} enters between the blinds and the button");
        }
        if dealt {
            p.missed = Debt::NONE;
        }
        assert_eq!(debt, p.missed, "2.10: seat {seat} owes what he missed");
        if p.out || seat == big {
            p.big_since = SeatSet::EMPTY;
        } else {
            assert!(!p.big_since.contains(big), "2.1: the big blind passed seat {seat}");
            p.big_since.insert(big);
        }
        (p.debt, p.played_last, p.newcomer) = (debt, dealt, p.newcomer && !dealt);
    }

    fn count(&mut self, got: &LineUp, contenders: &[Contender]) {
        let seen = &mut self.seen;
        seen.heads_up += u32::from(got.dealt.len() == 2);
        seen.dead_button += u32::from(!got.dealt.contains(got.positions.button));
        seen.no_small += u32::from(got.small.is_none());
        seen.resumed += u32::from(got.fresh);
        seen.waited += u32::from(contenders.iter().any(|c| c.can_play && !got.dealt.contains(c.seat)));
        for entry in &got.entries {
            seen.posted_both += u32::from(entry.live && entry.dead);
            seen.posted_live += u32::from(entry.live && !entry.dead);
            seen.posted_dead += u32::from(entry.dead && !entry.live);
        }
    }
}

#[test]
fn r2_1_to_r2_10_long_sessions_of_comings_and_goings() {
    for (seats, busy) in [(2, 20), (3, 15), (4, 10), (6, 4), (6, 30), (9, 10), (10, 3), (10, 50)] {
        let dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (seats << 8 | busy));
        let seen = Seen::default();
        let mut session = Session { dice, players: [None; 10], last: None, interrupted: false, seen };
        for _ in 0..20_000 {
            session.people_come_and_go(seats, busy);
            session.play();
        }
        let Seen { heads_up, dead_button, no_small, resumed, posted_live, posted_dead, posted_both, waited } =
            session.seen;
        assert!(heads_up > 0 && resumed > 0, "{seats} seats: {:?}", session.seen);
        let full_ring = [dead_button, no_small, posted_live, posted_dead, posted_both, waited];
        assert!(seats < 4 || full_ring.iter().all(|n| *n > 0), "{seats} seats: {:?}", session.seen);
    }
}
