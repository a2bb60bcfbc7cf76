//! The forced bets of a hand: antes, blinds, entries and straddles, with their amounts (rules 2.4 to 2.7).

use alloc::vec::Vec;

use crate::blinds::LineUp;
use crate::{Ante, Chips, PostKind, SeatNo, SeatSet, Stakes};

/// One movement of chips before the deal. Amounts in minor units, never zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forced {
    /// A player posts what he owes, or all that he has (rules 2.7).
    Post {
        /// His seat.
        seat: SeatNo,
        /// What the chips are for.
        kind: PostKind,
        /// The chips that leave his stack.
        amount: Chips,
    },
    /// The part of an ante that nobody matched goes back to its owner (rules 2.5).
    AnteReturned {
        /// His seat.
        seat: SeatNo,
        /// The chips that come back.
        amount: Chips,
    },
}

/// What happens before the cards are dealt, and how the first betting round starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForcedBets {
    /// The posts in the order in which they are made.
    pub forced: Vec<Forced>,
    /// What the first round's players call: the full big blind or the full last straddle, however short it was posted
    /// (rules 2.6, 2.7).
    pub bring_in: Chips,
    /// The big blind, or the last straddler: the player left of him acts first (rules 3.2).
    pub first_to_act_after: SeatNo,
}

/// Collects the forced bets of a hand.
///
/// `stacks` holds the stacks of those dealt in (a seat that is missing has no chips), `straddlers` those who want to
/// straddle; fixed limit has no straddle (rules 2.6).
#[must_use]
pub fn forced_bets(
    line_up: &LineUp,
    stakes: &Stakes,
    stacks: &[(SeatNo, Chips)],
    straddlers: SeatSet,
    fixed_limit: bool,
) -> ForcedBets {
    let mut purse = Purse::new(stacks);
    if let Ante::PerPlayer(ante) = stakes.ante {
        purse.antes(line_up, ante);
    }
    purse.blinds(line_up, stakes);
    let straddles = if fixed_limit { 0 } else { stakes.straddles };
    let straddle = purse.straddles(line_up, stakes.big_blind, straddlers, straddles);
    let (first_to_act_after, bring_in) = straddle.unwrap_or((line_up.positions.big, stakes.big_blind));
    ForcedBets { forced: purse.forced, bring_in, first_to_act_after }
}

/// The stacks while they are posted from.
struct Purse {
    stacks: [Chips; SeatNo::MAX as usize],
    /// What each has in front of him as a part of his bet.
    live: [Chips; SeatNo::MAX as usize],
    forced: Vec<Forced>,
}

impl Purse {
    fn new(given: &[(SeatNo, Chips)]) -> Purse {
        let mut stacks = [Chips::ZERO; SeatNo::MAX as usize];
        for (seat, stack) in given {
            stacks[seat.index()] = *stack;
        }
        Purse { stacks, live: [Chips::ZERO; SeatNo::MAX as usize], forced: Vec::new() }
    }

    /// Posts `owed`, or what is there; no record is made of nothing.
    fn post(&mut self, seat: SeatNo, kind: PostKind, owed: Chips) -> Chips {
        let amount = owed.min(self.stacks[seat.index()]);
        if !amount.is_zero() {
            self.stacks[seat.index()] -= amount;
            if kind.is_live() {
                self.live[seat.index()] += amount;
            }
            self.forced.push(Forced::Post { seat, kind, amount });
        }
        amount
    }

    /// Everybody's ante, from the left of the button. They form layers; what one paid above all others goes back at
    /// once, so that he can post a blind with it (rules 2.5).
    fn antes(&mut self, line_up: &LineUp, ante: Chips) {
        let (mut most, mut second) = (None, Chips::ZERO);
        for seat in line_up.dealt.clockwise_after(line_up.positions.button) {
            let paid = self.post(seat, PostKind::Ante, ante);
            match most {
                Some((_, top)) if paid <= top => second = second.max(paid),
                _ => {
                    second = most.map_or(Chips::ZERO, |(_, top)| top);
                    most = Some((seat, paid));
                }
            }
        }
        if let Some((seat, top)) = most
            && top > second
        {
            let amount = top - second;
            self.stacks[seat.index()] += amount;
            self.forced.push(Forced::AnteReturned { seat, amount });
        }
    }

    /// The blinds, then the big-blind ante from what the big blind left over (rules 2.5), then the entries, the live
    /// part first (rules 2.10).
    fn blinds(&mut self, line_up: &LineUp, stakes: &Stakes) {
        if let Some(small) = line_up.small {
            self.post(small, PostKind::SmallBlind, stakes.small_blind);
        }
        self.post(line_up.positions.big, PostKind::BigBlind, stakes.big_blind);
        if let Ante::BigBlind(ante) = stakes.ante {
            self.post(line_up.positions.big, PostKind::BigBlindAnte, ante);
        }
        for entry in &line_up.entries {
            if entry.live {
                self.post(entry.seat, PostKind::Entry, stakes.big_blind);
            }
            if entry.dead {
                self.post(entry.seat, PostKind::DeadSmallBlind, stakes.small_blind);
            }
        }
    }

    /// The straddle left of the big blind and the re-straddle left of that, each twice the bet before it; the last one
    /// with its full amount (rules 2.6). One who has live chips out already, as small blind or to enter, raises them
    /// to the straddle.
    fn straddles(
        &mut self,
        line_up: &LineUp,
        big_blind: Chips,
        wanted: SeatSet,
        most: u8,
    ) -> Option<(SeatNo, Chips)> {
        if line_up.dealt.len() < 3 {
            return None;
        }
        let mut last = None;
        let mut full = big_blind;
        for seat in line_up.dealt.clockwise_after(line_up.positions.big).take(usize::from(most.min(2))) {
            if !wanted.contains(seat) || self.stacks[seat.index()].is_zero() {
                break;
            }
            full = full.doubled();
            self.post(seat, PostKind::Straddle, full.saturating_sub(self.live[seat.index()]));
            last = Some((seat, full));
        }
        last
    }
}
