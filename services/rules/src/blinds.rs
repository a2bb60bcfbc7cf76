//! The line-up of a hand: where button and blinds lie, who is dealt in and who owes blinds (rules 2.1 to 2.4, 2.8 to 2.10).
//!
//! What is absent: chips. A line-up says who posts; [`crate::posts`] says how much.
//!
//! One invariant carries the dead-button rule: no player who was dealt in sits strictly between the small blind and
//! the big blind. Two blinds of a hand become button and small blind of the next, so whoever does sit there could
//! only enter between the blinds and the button, which rules 2.4 forbids; and so, with three or more dealt in, the
//! next button, small and big blind are three seats in clockwise order.

use alloc::vec::Vec;

use crate::{SeatNo, SeatSet};

/// Where button, small and big blind lie by seat number.
///
/// The seats may be empty: a dead button, or no small blind (rules 2.1). Heads-up, `button` and `small` are one seat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Positions {
    /// The button.
    pub button: SeatNo,
    /// The small blind's place, whether or not anybody posts it.
    pub small: SeatNo,
    /// The big blind, always posted.
    pub big: SeatNo,
}

/// Blinds that a player missed, each at most once (rules 2.10).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Debt {
    /// A missed big blind: live when it is posted.
    pub big: bool,
    /// A missed small blind: dead when it is posted.
    pub small: bool,
}

impl Debt {
    /// Nothing owed.
    pub const NONE: Debt = Debt { big: false, small: false };
    /// Both blinds, which is what a skipped big blind costs (rules 2.10).
    pub const BOTH: Debt = Debt { big: true, small: true };

    /// Whether anything is owed.
    #[must_use]
    pub const fn is_owed(self) -> bool {
        self.big || self.small
    }
}

/// How a player stands to the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// He was dealt in, and has missed no hand since.
    Established,
    /// He was not dealt into the last hand and wants to play.
    Entering {
        /// Whether he has never been dealt in since he took this seat.
        newcomer: bool,
        /// Whether he wants to post at once; else he waits for the big blind (rules 2.4).
        post: bool,
    },
}

/// One occupied seat, as it stands before a hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contender {
    /// His seat.
    pub seat: SeatNo,
    /// Whether he is in the game already.
    pub standing: Standing,
    /// What he owes. Ignored for a newcomer, who owes his first big blind and nothing else.
    pub debt: Debt,
    /// Whether he has chips, and is neither sitting out nor leaving nor stopped.
    pub can_play: bool,
}

impl Contender {
    const fn is_newcomer(&self) -> bool {
        matches!(self.standing, Standing::Entering { newcomer: true, .. })
    }

    /// Whether he is dealt in without paying his way: he missed no blind, and is not between the coming button and
    /// small blind, where those sit whom the last big blind skipped.
    fn is_in(&self, last: Positions) -> bool {
        self.can_play
            && !self.is_newcomer()
            && !self.debt.is_owed()
            && !between(last.small, self.seat, last.big)
    }

    /// What he posts to enter after the big blind, if he wants to. One who is called established but owes was in the
    /// game and wants to be.
    fn entry(&self) -> Option<Entry> {
        let (live, dead) = match self.standing {
            Standing::Entering { post: false, .. } => return None,
            Standing::Entering { newcomer: true, .. } => (true, false),
            Standing::Entering { .. } | Standing::Established => (self.debt.big, self.debt.small),
        };
        (self.can_play && (live || dead)).then_some(Entry { seat: self.seat, live, dead })
    }
}

/// One who posts his way in (rules 2.4, 2.10).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// His seat.
    pub seat: SeatNo,
    /// Whether he posts a live big blind.
    pub live: bool,
    /// Whether he posts a dead small blind.
    pub dead: bool,
}

/// Who sits where in the coming hand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineUp {
    /// Button and blinds.
    pub positions: Positions,
    /// Who posts the small blind; nobody where it is dead (rules 2.1).
    pub small: Option<SeatNo>,
    /// Everybody who gets cards.
    pub dealt: SeatSet,
    /// Those who post their way in, clockwise from the big blind.
    pub entries: Vec<Entry>,
    /// What every occupied seat owes after this line-up, in the order of the contenders.
    pub debts: Vec<(SeatNo, Debt)>,
    /// Whether the table starts afresh: its first hand (rules 2.3) or a resumption (rules 2.9).
    pub fresh: bool,
}

/// The line-up of the next hand; `None` where fewer than two can play.
///
/// `last` is the line-up of the hand before, `interrupted` says that fewer than two could play since, and `draw` is
/// the random number that picks the first button (rules 2.3); it counts on the first hand of a table only.
#[must_use]
pub fn line_up(
    last: Option<Positions>,
    interrupted: bool,
    contenders: &[Contender],
    draw: u64,
) -> Option<LineUp> {
    let able: SeatSet = contenders.iter().filter(|c| c.can_play).map(|c| c.seat).collect();
    if able.len() < 2 {
        return None;
    }
    let Some(last) = last else {
        let button = able.iter().nth((draw % able.len() as u64) as usize)?;
        return first_hand(button, able, contenders);
    };
    let moved = if interrupted { None } else { move_on(last, able, contenders) };
    // Where only one of those who can play is in the game, nobody could enter beside him: the table starts afresh.
    moved.or_else(|| resume(last, able, contenders))
}

/// The big blind moves on, and drags small blind and button behind it (rules 2.1).
fn move_on(last: Positions, able: SeatSet, contenders: &[Contender]) -> Option<LineUp> {
    // Whoever waits for the big blind enters when it reaches him.
    let big = able.clockwise_after(last.big).next()?;
    let mut dealt: SeatSet = contenders.iter().filter(|c| c.is_in(last)).map(|c| c.seat).collect();
    dealt.insert(big);
    let debts = |dealt| debts_after(Some(last.big), big, dealt, contenders, false);
    match dealt.len() {
        0 | 1 => None,
        // Heads-up nobody posts his way in: a third player enters as big blind (rules 2.8).
        2 => heads_up(big, dealt, debts(dealt), false),
        _ => {
            let positions = Positions { button: last.small, small: last.big, big };
            let small = dealt.contains(last.big).then_some(last.big);
            let entries = entries(positions, dealt, contenders);
            dealt = dealt.iter().chain(entries.iter().map(|e| e.seat)).collect();
            Some(LineUp { positions, small, dealt, entries, debts: debts(dealt), fresh: false })
        }
    }
}

/// Those who may and want to post: strictly after the big blind and before the button (rules 2.10).
fn entries(positions: Positions, dealt: SeatSet, contenders: &[Contender]) -> Vec<Entry> {
    let Positions { button, big, .. } = positions;
    let mut entries: Vec<Entry> = contenders
        .iter()
        .filter(|c| !dealt.contains(c.seat) && between(big, c.seat, button))
        .filter_map(Contender::entry)
        .collect();
    entries.sort_by_key(|e| big.distance_to(e.seat));
    entries
}

/// The first hand of a table: everybody who can play is in (rules 2.3).
fn first_hand(button: SeatNo, able: SeatSet, contenders: &[Contender]) -> Option<LineUp> {
    let mut left_of_button = able.clockwise_after(button);
    let (first, second) = (left_of_button.next()?, left_of_button.next()?);
    let big = if able.len() == 2 { first } else { second };
    let debts = debts_after(None, big, able, contenders, true);
    placed_by_big(big, able, debts)
}

/// Play resumes: the big blind moves on, everybody who can play is in, old debts are forgotten (rules 2.9).
fn resume(last: Positions, able: SeatSet, contenders: &[Contender]) -> Option<LineUp> {
    let big = able.clockwise_after(last.big).next()?;
    placed_by_big(big, able, debts_after(Some(last.big), big, able, contenders, true))
}

/// A fresh start with small blind and button on the nearest players before the big blind.
fn placed_by_big(big: SeatNo, dealt: SeatSet, debts: Vec<(SeatNo, Debt)>) -> Option<LineUp> {
    if dealt.len() == 2 {
        return heads_up(big, dealt, debts, true);
    }
    let mut others: Vec<SeatNo> = dealt.clockwise_after(big).filter(|seat| *seat != big).collect();
    let (small, button) = (others.pop()?, others.pop()?);
    let positions = Positions { button, small, big };
    Some(LineUp { positions, small: Some(small), dealt, entries: Vec::new(), debts, fresh: true })
}

/// Of two players the one who is not big blind has the button and posts the small blind (rules 2.2).
fn heads_up(big: SeatNo, dealt: SeatSet, debts: Vec<(SeatNo, Debt)>, fresh: bool) -> Option<LineUp> {
    let other = dealt.clockwise_after(big).next()?;
    let positions = Positions { button: other, small: other, big };
    Some(LineUp { positions, small: Some(other), dealt, entries: Vec::new(), debts, fresh })
}

/// What every seat owes once the big blind has moved from `last_big` to `big` (rules 2.10).
///
/// Who is dealt in has paid. Of the others, those whom the big blind skipped owe both blinds, and who should be small
/// blind now, because he was big blind before, owes that one. `forget` drops what was owed before, not what this very
/// move adds.
fn debts_after(
    last_big: Option<SeatNo>,
    big: SeatNo,
    dealt: SeatSet,
    contenders: &[Contender],
    forget: bool,
) -> Vec<(SeatNo, Debt)> {
    let debt = |c: &Contender| {
        if dealt.contains(c.seat) || c.is_newcomer() {
            return Debt::NONE;
        }
        let old = if forget { Debt::NONE } else { c.debt };
        match last_big {
            Some(last_big) if between(last_big, c.seat, big) => Debt::BOTH,
            Some(last_big) if c.seat == last_big => Debt { small: true, ..old },
            _ => old,
        }
    };
    contenders.iter().map(|c| (c.seat, debt(c))).collect()
}

/// Whether `seat` lies strictly between two seats, going clockwise; from a seat round to itself that is every other.
const fn between(from: SeatNo, seat: SeatNo, to: SeatNo) -> bool {
    from.distance_to(seat) < from.distance_to(to)
}
