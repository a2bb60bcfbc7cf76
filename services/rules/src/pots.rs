//! Main and side pots, and how they are split (rules 6.1 and 6.3).

use alloc::vec::Vec;

use crate::hand::{Hand, HandPlayer};
use crate::{Chips, SeatNo, SeatSet};

/// A pot: how much, and who can win it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pot {
    /// In minor units.
    pub amount: Chips,
    /// Live players who reached it.
    pub eligible: SeatSet,
}

/// What one seat put into a hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contribution {
    /// The seat.
    pub seat: SeatNo,
    /// Into the layers.
    pub live: Chips,
    /// Whole into the main pot (rules 2.5).
    pub dead: Chips,
    /// He has folded.
    pub folded: bool,
}

/// Pots by contribution layers, main pot first; neighbours that the same players can win are one pot.
#[must_use]
pub fn build(contributions: &[Contribution]) -> Vec<Pot> {
    let mut levels: Vec<Chips> = contributions.iter().map(|c| c.live).collect();
    levels.sort_unstable();
    levels.dedup();
    let mut dead: Chips = contributions.iter().map(|c| c.dead).sum();
    let mut pots: Vec<Pot> = Vec::new();
    let mut below = Chips::ZERO;
    // One who is all-in with dead chips alone has reached no layer: the dead chips are the main pot then, and his to
    // win.
    if contributions.iter().any(|c| !c.folded && c.live.is_zero() && !c.dead.is_zero()) {
        pots.push(Pot { amount: dead, eligible: live_seats(contributions, Chips::ZERO) });
        dead = Chips::ZERO;
    }
    for level in levels.into_iter().filter(|level| !level.is_zero()) {
        let layer = |c: &Contribution| c.live.min(level) - c.live.min(below);
        let amount = dead + contributions.iter().map(layer).sum();
        let eligible = live_seats(contributions, level);
        match pots.last_mut() {
            // A layer that only folded players reached belongs to the one below.
            Some(last) if eligible.is_empty() || last.eligible == eligible => last.amount += amount,
            _ => pots.push(Pot { amount, eligible }),
        }
        dead = Chips::ZERO;
        below = level;
    }
    if !dead.is_zero() {
        let eligible = live_seats(contributions, Chips::ZERO);
        pots.push(Pot { amount: dead, eligible });
    }
    // Live players who have put in nothing at all can still win what only folded players paid.
    if let Some(main) = pots.first_mut().filter(|pot| pot.eligible.is_empty()) {
        main.eligible = live_seats(contributions, Chips::ZERO);
    }
    pots
}

fn live_seats(contributions: &[Contribution], level: Chips) -> SeatSet {
    contributions.iter().filter(|c| !c.folded && c.live >= level).map(|c| c.seat).collect()
}

/// Splits an amount evenly; odd chips go one each to the first winners (rules 6.3). `winners` are in order from
/// the left of the button.
#[must_use]
pub fn split(amount: Chips, winners: &[SeatNo]) -> Vec<(SeatNo, Chips)> {
    let count = winners.len() as u64;
    let (Some(each), Some(odd)) = (amount.0.checked_div(count), amount.0.checked_rem(count)) else {
        return Vec::new();
    };
    (0..).zip(winners).map(|(place, seat)| (*seat, Chips(each + u64::from(place < odd)))).collect()
}

/// The bet that nobody called, of these bets of one street: whose it is and how much goes back (rules 3.4).
#[must_use]
pub fn uncalled(bets: &[(SeatNo, Chips)]) -> Option<(SeatNo, Chips)> {
    let (seat, most) = *bets.iter().max_by_key(|(_, bet)| *bet)?;
    let others = bets.iter().filter(|(other, _)| *other != seat);
    let second = others.map(|(_, bet)| *bet).max().unwrap_or_default();
    (most > second).then(|| (seat, most - second))
}

/// The contributions of a hand; `collected` leaves out the bets of the current street.
#[must_use]
pub fn contributions(hand: &Hand, collected: bool) -> Vec<Contribution> {
    let of = |seat: SeatNo, player: &HandPlayer| Contribution {
        seat,
        live: if collected { player.live - player.bet } else { player.live },
        dead: player.dead,
        folded: player.folded,
    };
    hand.dealt.iter().filter_map(|seat| Some(of(seat, hand.player(seat)?))).collect()
}

/// The pots of the streets before the current one.
#[must_use]
pub fn in_the_middle(hand: &Hand) -> Vec<Pot> {
    build(&contributions(hand, true))
}

/// All chips of the hand: in the middle and before the players.
#[must_use]
pub fn total(hand: &Hand) -> Chips {
    let players = hand.players.iter().flatten();
    players.map(|p| p.live + p.dead).sum()
}
