//! Room for calls at work, of which each class may use a part: what is cheap never takes the place of play.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::class::Class;

/// Room for so many calls.
pub struct Room {
    at_work: AtomicUsize,
    most: usize,
}

/// A place, given up when dropped.
pub struct Place(Arc<Room>);

impl Room {
    /// For this many.
    #[must_use]
    pub fn new(most: usize) -> Arc<Room> {
        Arc::new(Room { at_work: AtomicUsize::new(0), most })
    }

    /// A place; `None` if the room is too full for this class.
    #[must_use]
    pub fn take(self: &Arc<Room>, class: Class) -> Option<Place> {
        let ceiling = percent(self.most, class.ceiling());
        let step = |at_work| (at_work < ceiling).then_some(at_work + 1);
        let taken = self.at_work.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
        taken.ok().map(|_| Place(Arc::clone(self)))
    }

    /// How many are at work.
    #[must_use]
    pub fn at_work(&self) -> usize {
        self.at_work.load(Ordering::Relaxed)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::Relaxed);
    }
}

/// So much of a number, rounded up: of a room for one there is one place for everybody.
#[must_use]
pub const fn percent(of: usize, percent: usize) -> usize {
    (of / 100).saturating_mul(percent).saturating_add((of % 100 * percent).div_ceil(100))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::layers::limits::class::ALL;

    #[test]
    fn each_class_finds_places_up_to_its_part_and_play_finds_all_of_them() {
        let room = Room::new(100);
        let mut places = Vec::new();
        for (class, most) in ALL.into_iter().zip([50, 70, 85, 100]) {
            places.extend(std::iter::from_fn(|| room.take(class)));
            assert_eq!((places.len(), room.at_work()), (most, most), "{class:?}");
        }
        assert!(room.take(Class::Play).is_none(), "the hard bound");
        places.truncate(84);
        assert!(room.take(Class::Read).is_none(), "what play has taken is not there for reads");
        assert!(room.take(Class::Change).is_some());
        drop(places);
        assert_eq!(room.at_work(), 0);
        assert!(room.take(Class::Cheap).is_some());
    }

    #[test]
    fn a_part_is_rounded_up() {
        assert_eq!(ALL.map(|class| percent(1, class.ceiling())), [1, 1, 1, 1]);
        assert_eq!(ALL.map(|class| percent(3, class.ceiling())), [2, 3, 3, 3]);
        assert_eq!(percent(4096, 50), 2048);
        assert_eq!(percent(usize::MAX, 100), usize::MAX);
        assert_eq!(percent(0, 100), 0);
    }
}
