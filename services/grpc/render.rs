//! From what the rules show to messages. A card gets into a message only out of a view of `rules::view`, which has
//! been made for the one who will read it.

pub mod answer;
pub mod balance;
pub mod cards;
pub mod config;
pub mod control;
pub mod delivery;
pub mod event;
pub mod hand;
pub mod server;
pub mod settlement;
pub mod table;
pub mod transaction;

use prost_types::{Duration, Timestamp};
use rules::{Chips, Millis, SeatNo, SeatSet};

/// A point in time.
pub(super) fn timestamp(at: Millis) -> Timestamp {
    let (seconds, nanos) = split(at);
    Timestamp { seconds, nanos }
}

/// A length of time.
pub(super) fn duration(length: Millis) -> Duration {
    let (seconds, nanos) = split(length);
    Duration { seconds, nanos }
}

fn split(Millis(millis): Millis) -> (i64, i32) {
    // Both fit: u64 milliseconds are fewer seconds than i64 holds.
    let seconds = i64::try_from(millis / 1000).unwrap_or(i64::MAX);
    let nanos = i32::try_from(millis % 1000 * 1_000_000).unwrap_or(0);
    (seconds, nanos)
}

/// An amount. Rules keep the sums of a table far below what i64 holds.
fn amount(chips: Chips) -> i64 {
    i64::try_from(chips.0).unwrap_or(i64::MAX)
}

fn number(seat: SeatNo) -> u32 {
    u32::from(seat.number())
}

fn numbers(seats: SeatSet) -> Vec<u32> {
    seats.iter().map(number).collect()
}

#[cfg(test)]
#[path = "render/tests.rs"]
mod tests;
