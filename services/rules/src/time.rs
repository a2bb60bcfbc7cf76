//! Points and lengths of time as data. The rules never read a clock.

use core::fmt;
use core::ops::{Add, Sub};

/// Milliseconds: since the Unix epoch for a point in time, or plainly a length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub u64);

impl Millis {
    /// Nothing, or the epoch.
    pub const ZERO: Millis = Millis(0);

    /// A length in whole seconds.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Millis {
        Millis(seconds * 1000)
    }

    /// A length in whole minutes.
    #[must_use]
    pub const fn minutes(minutes: u64) -> Millis {
        Millis(minutes * 60_000)
    }
}

impl Add for Millis {
    type Output = Millis;
    fn add(self, other: Millis) -> Millis {
        Millis(self.0.saturating_add(other.0))
    }
}

/// Never below zero: an earlier point minus a later one is no time at all.
impl Sub for Millis {
    type Output = Millis;
    fn sub(self, other: Millis) -> Millis {
        Millis(self.0.saturating_sub(other.0))
    }
}

impl fmt::Debug for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}
