//! Whose hand counts how much, who shows and who mucks (rules 6.2 to 6.5).

use alloc::vec::Vec;

use crate::hand::{Hand, HandPlayer, Holes};
use crate::pots::Pot;
use crate::result::ShownValue;
use crate::{Card, SeatNo, evaluate, pivot_value};

/// What the player's cards are worth with this board; nothing without cards, or without a pivot in Double
/// Hold'em.
#[must_use]
pub fn value(player: &HandPlayer, board: &[Card]) -> Option<ShownValue> {
    match player.holes? {
        Holes::Two(cards) => {
            let mut all = Vec::from(cards);
            all.extend_from_slice(board);
            Some(ShownValue { pick: None, first: evaluate(&all), second: None })
        }
        Holes::Three(cards) => {
            let pick = player.pick?;
            let value = pivot_value(&cards, pick, board);
            Some(ShownValue { pick: Some(pick), first: value.first, second: Some(value.second) })
        }
    }
}

/// The value of each live hand, in order of seats from the left of the button.
#[must_use]
pub fn values(hand: &Hand) -> Vec<(SeatNo, ShownValue)> {
    hand.live()
        .clockwise_after(hand.positions.button)
        .filter_map(|seat| Some((seat, value(hand.player(seat)?, &hand.board)?)))
        .collect()
}

/// The winners of a pot, in the order of `values`.
#[must_use]
pub fn winners(pot: &Pot, values: &[(SeatNo, ShownValue)]) -> Vec<SeatNo> {
    let contenders = || values.iter().filter(|(seat, _)| pot.eligible.contains(*seat));
    let Some(best) = contenders().map(|(_, value)| value.best()).max() else {
        return pot.eligible.iter().collect();
    };
    contenders().filter(|(_, value)| value.best() == best).map(|(seat, _)| *seat).collect()
}

/// Live seats in the order of showing: the last aggressor of the river first, else left of the button (6.4).
#[must_use]
pub fn order(hand: &Hand) -> Vec<SeatNo> {
    let live = hand.live();
    match hand.aggressor.filter(|seat| live.contains(*seat)) {
        Some(first) => live.clockwise_from(first).collect(),
        None => live.clockwise_after(hand.positions.button).collect(),
    }
}

/// Which seats of `order` show: each that can still win or tie a pot against those shown before it, and each
/// that `always` does (6.4).
#[must_use]
pub fn showing(
    order: &[SeatNo],
    pots: &[Pot],
    values: &[(SeatNo, ShownValue)],
    always: impl Fn(SeatNo) -> bool,
) -> Vec<(SeatNo, bool)> {
    let best_of = |seat: SeatNo| {
        let found = values.iter().find(|(other, _)| *other == seat);
        found.map(|(_, value)| value.best())
    };
    let mut shown: Vec<SeatNo> = Vec::new();
    let mut decisions = Vec::new();
    for seat in order {
        let can_win = |pot: &Pot| {
            let against = shown.iter().filter(|other| pot.eligible.contains(**other));
            let best_shown = against.filter_map(|other| best_of(*other)).max();
            pot.eligible.contains(*seat) && best_of(*seat) >= best_shown
        };
        let shows = always(*seat) || pots.iter().any(can_win);
        if shows {
            shown.push(*seat);
        }
        decisions.push((*seat, shows));
    }
    decisions
}
