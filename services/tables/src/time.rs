//! Time. The only place of the service that reads a clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rules::Millis;

/// Something that tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Now, ms since the epoch. Never less than it said before.
    fn now(&self) -> Millis;
}

/// The machine's clock. When that is set back it stands still until it is caught up with, so that no deadline that
/// has passed is in the future again.
#[derive(Debug, Default)]
pub struct SystemClock {
    latest: AtomicU64,
}

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        // Before 1970 counts as 1970: `latest` then holds.
        #[allow(clippy::disallowed_methods, reason = "the one place that reads it")]
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Millis(self.latest.fetch_max(now, Ordering::AcqRel).max(now))
    }
}

/// A clock that is set by hand, for tests of whoever builds on this crate.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// A clock that shows this.
    #[must_use]
    pub const fn at(now: Millis) -> ManualClock {
        ManualClock(AtomicU64::new(now.0))
    }

    /// Moves it forward.
    pub fn advance(&self, by: Millis) {
        self.0.fetch_add(by.0, Ordering::AcqRel);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_clock_is_not_set_back() {
        let clock = SystemClock::default();
        let first = clock.now();
        assert!(first > Millis(1_700_000_000_000), "milliseconds since 1970");
        let ahead = first + Millis::minutes(60);
        clock.latest.store(ahead.0, Ordering::Release);
        assert_eq!(clock.now(), ahead);
    }
}
