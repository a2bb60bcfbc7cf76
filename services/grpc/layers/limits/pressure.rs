//! How late tasks of this process run. While they are late there is more to do than gets done, and what is cheap is turned
//! away. The metric of lateness remembers the worst of ten seconds; this is about now.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::class::Class;

/// So often a task wants to run.
pub const EVERY: Duration = Duration::from_millis(50);

/// How late they are.
pub struct Pressure {
    /// From here on cheap calls are turned away; `None`: none is for lateness.
    bound: Option<Duration>,
    /// Of the last two times, in µs.
    last: [AtomicU64; 2],
}

impl Pressure {
    /// Cheap calls are turned away from this lateness on, reads from twice as much, changes from four times as much, play
    /// never.
    #[must_use]
    pub fn new(bound: Option<Duration>) -> Pressure {
        Pressure { bound, last: Default::default() }
    }

    /// A task ran so much later than it wanted to.
    pub fn note(&self, late: Duration) {
        let [newest, before] = &self.last;
        before.store(newest.load(Ordering::Relaxed), Ordering::Relaxed);
        newest.store(u64::try_from(late.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether a call of this class is turned away. Once late is a machine that was held up for a moment; twice in a row is
    /// one that does not keep up.
    #[must_use]
    pub fn is_too_much_for(&self, class: Class) -> bool {
        let times = match class {
            Class::Cheap => 1,
            Class::Read => 2,
            Class::Change => 4,
            Class::Play => return false,
        };
        let [newest, before] = self.last.each_ref().map(|late| late.load(Ordering::Relaxed));
        let late = Duration::from_micros(newest.min(before));
        self.bound.is_some_and(|bound| late > bound.saturating_mul(times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::layers::limits::class::ALL;

    fn turned_away(pressure: &Pressure) -> [bool; 4] {
        ALL.map(|class| pressure.is_too_much_for(class))
    }

    #[test]
    fn the_later_tasks_are_the_more_is_turned_away_and_play_never() {
        let pressure = Pressure::new(Some(Duration::from_millis(100)));
        for (late, away) in [(100, 0), (101, 1), (200, 1), (201, 2), (400, 2), (401, 3), (60_000, 3)] {
            pressure.note(Duration::from_millis(late));
            pressure.note(Duration::from_millis(late));
            assert_eq!(turned_away(&pressure), [away > 0, away > 1, away > 2, false], "{late} ms");
        }
    }

    #[test]
    fn one_moment_is_none_and_it_is_over_at_once() {
        let pressure = Pressure::new(Some(Duration::from_millis(100)));
        pressure.note(Duration::from_secs(5));
        assert_eq!(turned_away(&pressure), [false; 4]);
        pressure.note(Duration::from_secs(5));
        assert_eq!(turned_away(&pressure), [true, true, true, false]);
        pressure.note(Duration::ZERO);
        assert_eq!(turned_away(&pressure), [false; 4]);
    }

    #[test]
    fn without_a_bound_nobody_is_turned_away() {
        let pressure = Pressure::new(None);
        pressure.note(Duration::MAX);
        pressure.note(Duration::MAX);
        assert_eq!(turned_away(&pressure), [false; 4]);
    }
}
