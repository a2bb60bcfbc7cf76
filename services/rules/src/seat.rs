//! Seat numbers, and sets of seats, in clockwise order.

use core::fmt;

/// A seat's number as people name it: 1 to 10, clockwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeatNo(u8);

impl SeatNo {
    /// The most seats that a table may have (rules 1.2).
    pub const MAX: u8 = 10;

    /// The seat, or nothing outside 1 to 10.
    #[must_use]
    pub const fn new(number: u8) -> Option<SeatNo> {
        if number >= 1 && number <= SeatNo::MAX { Some(SeatNo(number)) } else { None }
    }

    /// 1 to 10.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// 0 to 9, for arrays.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize - 1
    }

    /// The seat number to the left, occupied or not.
    #[must_use]
    pub const fn left(self) -> SeatNo {
        SeatNo(self.0 % SeatNo::MAX + 1)
    }

    /// All ten seat numbers.
    pub fn all() -> impl DoubleEndedIterator<Item = SeatNo> + Clone {
        (1..=SeatNo::MAX).map(SeatNo)
    }

    /// The ten seat numbers clockwise, beginning with the one left of this and ending with this.
    pub fn clockwise(self) -> impl Iterator<Item = SeatNo> + Clone {
        (0..SeatNo::MAX).map(move |step| SeatNo((self.0 + step) % SeatNo::MAX + 1))
    }

    /// How many steps clockwise from this seat to the other; 10 for the seat itself.
    #[must_use]
    pub const fn distance_to(self, other: SeatNo) -> u8 {
        let steps = (other.0 + SeatNo::MAX - self.0) % SeatNo::MAX;
        if steps == 0 { SeatNo::MAX } else { steps }
    }
}

impl fmt::Display for SeatNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for SeatNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of seats.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct SeatSet(u16);

impl SeatSet {
    /// No seat.
    pub const EMPTY: SeatSet = SeatSet(0);

    /// From bits, seat 1 lowest; bits beyond seat 10 are dropped.
    #[must_use]
    pub const fn from_bits(bits: u16) -> SeatSet {
        SeatSet(bits & 0x3ff)
    }

    /// The bits, seat 1 lowest.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether the seat is in the set.
    #[must_use]
    pub const fn contains(self, seat: SeatNo) -> bool {
        self.0 & (1 << seat.index()) != 0
    }

    /// Adds a seat.
    pub const fn insert(&mut self, seat: SeatNo) {
        self.0 |= 1 << seat.index();
    }

    /// Takes a seat out.
    pub const fn remove(&mut self, seat: SeatNo) {
        self.0 &= !(1 << seat.index());
    }

    /// How many seats are in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether no seat is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The seats in order of their numbers.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = SeatNo> + Clone {
        SeatNo::all().filter(move |seat| self.contains(*seat))
    }

    /// The seats of the set clockwise, beginning with `seat` itself.
    pub fn clockwise_from(self, seat: SeatNo) -> impl Iterator<Item = SeatNo> + Clone {
        (0..SeatNo::MAX)
            .map(move |step| SeatNo((seat.0 - 1 + step) % SeatNo::MAX + 1))
            .filter(move |s| self.contains(*s))
    }

    /// The seats of the set clockwise, beginning left of `seat`, which comes last if it is in the set.
    pub fn clockwise_after(self, seat: SeatNo) -> impl Iterator<Item = SeatNo> + Clone {
        seat.clockwise().filter(move |s| self.contains(*s))
    }
}

impl FromIterator<SeatNo> for SeatSet {
    fn from_iter<I: IntoIterator<Item = SeatNo>>(seats: I) -> SeatSet {
        let mut set = SeatSet::EMPTY;
        for seat in seats {
            set.insert(seat);
        }
        set
    }
}

impl fmt::Debug for SeatSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
