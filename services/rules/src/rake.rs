//! The rake: how much, from which pot, and on whose account (rules 7).

use alloc::vec::Vec;

use crate::Chips;
use crate::config::Rake;

/// The rake of a hand with these contested pots, floored once to the table's unit (rules 7.1).
#[must_use]
pub fn of_hand(rake: &Rake, dealt: usize, flop_seen: bool, pots: &[Chips]) -> Chips {
    if !flop_seen {
        return Chips::ZERO;
    }
    let total: Chips = pots.iter().copied().sum();
    let share = u128::from(total.0) * u128::from(rake.basis_points) / 10_000;
    let cap = match dealt {
        0..=2 => rake.cap_two,
        3 | 4 => rake.cap_three_or_four,
        _ => rake.cap_five_or_more,
    };
    // At most the pots themselves, because basis points are at most 10,000.
    let share = Chips(share as u64).min(cap.unwrap_or(total));
    let unit = rake.unit.0.max(1);
    Chips(share.0 / unit * unit)
}

/// Shares an amount by weight, summing exactly to it: largest remainder, earlier one first (rules 7.1, 7.2).
#[must_use]
pub fn share(amount: Chips, weights: &[Chips]) -> Vec<Chips> {
    let total: u128 = weights.iter().map(|w| u128::from(w.0)).sum();
    if total == 0 {
        return weights.iter().map(|_| Chips::ZERO).collect();
    }
    let exact = |w: &Chips| u128::from(amount.0) * u128::from(w.0);
    let mut shares: Vec<Chips> = weights.iter().map(|w| Chips((exact(w) / total) as u64)).collect();
    let left = amount - shares.iter().copied().sum();
    let mut by_remainder: Vec<usize> = (0..weights.len()).collect();
    by_remainder.sort_by_key(|i| core::cmp::Reverse(exact(&weights[*i]) % total));
    for i in by_remainder.into_iter().take(left.0 as usize) {
        shares[i] += Chips(1);
    }
    shares
}
