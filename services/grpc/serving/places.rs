//! Room for connections: so many in all, and so many of one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The room, and who has taken how much of it.
pub struct Places {
    most: usize,
    of_an_address: Option<usize>,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// A place, until it is dropped.
pub struct Place {
    places: Arc<Places>,
    address: IpAddr,
}

impl Places {
    /// So much room; 0 for an address is no bound.
    pub fn new(most: usize, of_an_address: usize) -> Places {
        let of_an_address = (of_an_address > 0).then_some(of_an_address);
        Places { most, of_an_address, taken: Mutex::default() }
    }

    /// A place for this address, if there is one.
    pub fn take(places: &Arc<Places>, address: IpAddr) -> Option<Place> {
        let mut taken = places.lock();
        if taken.all >= places.most {
            return None;
        }
        let own = taken.by_address.entry(address).or_default();
        if places.of_an_address.is_some_and(|most| *own >= most) {
            return None;
        }
        *own += 1;
        taken.all += 1;
        Some(Place { places: Arc::clone(places), address })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        // Numbers, which are changed together or not at all.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.all = taken.all.saturating_sub(1);
        if let Some(own) = taken.by_address.get_mut(&self.address) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                taken.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back_and_nobody_takes_more_than_his_share() {
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let places = Arc::new(Places::new(3, 2));
        let first = Places::take(&places, one).unwrap();
        let second = Places::take(&places, one).unwrap();
        assert!(Places::take(&places, one).is_none(), "two of an address");
        let third = Places::take(&places, other).unwrap();
        assert!(Places::take(&places, other).is_none(), "three in all");
        drop(second);
        assert!(Places::take(&places, one).is_some());
        drop((first, third));
        assert!(places.lock().by_address.is_empty() && places.lock().all == 0);
    }

    #[test]
    fn without_a_bound_an_address_may_have_all() {
        let places = Arc::new(Places::new(2, 0));
        let one = IpAddr::from([192, 0, 2, 1]);
        let _held = (Places::take(&places, one).unwrap(), Places::take(&places, one).unwrap());
        assert!(Places::take(&places, one).is_none());
    }
}
