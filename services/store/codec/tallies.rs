//! The tallies of sessions: formats before 3 do not keep them, so that they begin anew each time when such a state is read.

use rules::table::Table;
use rules::{Chips, SeatNo};
use tables::{Settlement, SettlementBody};

use super::{format, frame};

/// Whether a record is of a format that keeps them. One that cannot be read keeps nothing.
#[must_use]
pub fn are_kept(record: &[u8]) -> bool {
    frame::format(record).is_ok_and(|format| format >= format::PAYMENTS)
}

/// They begin with what each player has won or lost on balance until now.
pub(super) fn begin(table: &mut Table) {
    let in_pots = |no| table.running_hand().and_then(|hand| hand.player(no)).map(|p| p.live + p.dead);
    let in_pots: Vec<_> = SeatNo::all().map(|no| in_pots(no).unwrap_or_default()).collect();
    for (seat, in_pots) in table.seats.iter_mut().zip(in_pots) {
        if let Some(seat) = seat {
            let held = Chips(seat.stack.0.saturating_add(in_pots.0));
            seat.won = held.saturating_sub(seat.bought_in);
            seat.wagered = seat.bought_in.saturating_sub(held);
            seat.raked = Chips::ZERO;
        }
    }
}

/// Whether two states are the same but for how the tallies came about. What they come to on balance is compared.
#[must_use]
pub fn alike(one: &Table, other: &Table) -> bool {
    let (mut one, mut other) = (one.clone(), other.clone());
    begin(&mut one);
    begin(&mut other);
    one == other
}

/// The same of two records of one settlement: its statement is made of the tallies.
#[must_use]
pub fn told_alike(one: &Settlement, other: &Settlement) -> bool {
    let without = |record: &Settlement| {
        let mut record = record.clone();
        if let SettlementBody::Movement { statement, .. } = &mut record.body {
            *statement = None;
        }
        record
    };
    without(one) == without(other)
}
