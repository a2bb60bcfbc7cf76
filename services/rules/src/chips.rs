//! Money on the table: whole chips of the smallest unit of the table's currency.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Sub, SubAssign};

/// An amount in minor units, never negative. Amounts that enter the rules are at most [`Chips::MAX`],
/// so that no sum over a table's seats can overflow; the release build checks overflow all the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Chips(pub u64);

impl Chips {
    /// No chips.
    pub const ZERO: Chips = Chips(0);
    /// The largest amount that a command may name: 10^15 minor units.
    pub const MAX: Chips = Chips(1_000_000_000_000_000);

    /// Whether there are none.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The difference, or zero where `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Chips) -> Chips {
        Chips(self.0.saturating_sub(other.0))
    }

    /// Twice the amount.
    #[must_use]
    pub const fn doubled(self) -> Chips {
        Chips(self.0 * 2)
    }
}

impl Add for Chips {
    type Output = Chips;
    fn add(self, other: Chips) -> Chips {
        Chips(self.0 + other.0)
    }
}

impl AddAssign for Chips {
    fn add_assign(&mut self, other: Chips) {
        self.0 += other.0;
    }
}

impl Sub for Chips {
    type Output = Chips;
    fn sub(self, other: Chips) -> Chips {
        Chips(self.0 - other.0)
    }
}

impl SubAssign for Chips {
    fn sub_assign(&mut self, other: Chips) {
        self.0 -= other.0;
    }
}

impl Sum for Chips {
    fn sum<I: Iterator<Item = Chips>>(amounts: I) -> Chips {
        amounts.fold(Chips::ZERO, Add::add)
    }
}

impl fmt::Display for Chips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Chips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
