//! Recent states by table, so that a commit need not read what the last one wrote. A cached state may be behind the
//! store: commits are tried on it, because the token finds that out; nothing is refused or answered from it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ids::TableKey;
use crate::store::Stored;

/// Bounded: of two generations the older one is forgotten when the younger one is full.
pub(crate) struct Recent {
    generations: Mutex<Generations>,
    half: usize,
}

/// A state, and the store's era when it was certainly there.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) stored: Stored,
    pub(crate) era: u64,
}

#[derive(Default)]
struct Generations {
    young: HashMap<TableKey, Known>,
    old: HashMap<TableKey, Known>,
}

impl Recent {
    /// Room for so many tables.
    pub(crate) fn new(capacity: usize) -> Recent {
        Recent { generations: Mutex::default(), half: capacity.div_ceil(2).max(1) }
    }

    pub(crate) fn get(&self, key: &TableKey) -> Option<Stored> {
        self.known(key).map(|known| known.stored)
    }

    pub(crate) fn known(&self, key: &TableKey) -> Option<Known> {
        let mut generations = self.lock();
        if let Some(known) = generations.young.get(key) {
            return Some(known.clone());
        }
        let known = generations.old.remove(key)?;
        self.insert(&mut generations, key, known.clone());
        Some(known)
    }

    /// Remembers a state that the store has shown or taken; `era` is its era before that.
    pub(crate) fn put(&self, key: &TableKey, stored: Stored, era: u64) {
        let mut generations = self.lock();
        generations.old.remove(key);
        self.insert(&mut generations, key, Known { stored, era });
    }

    pub(crate) fn forget(&self, key: &TableKey) {
        let mut generations = self.lock();
        generations.young.remove(key);
        generations.old.remove(key);
    }

    fn insert(&self, generations: &mut Generations, key: &TableKey, known: Known) {
        if generations.young.len() >= self.half && !generations.young.contains_key(key) {
            generations.old = std::mem::take(&mut generations.young);
        }
        generations.young.insert(key.clone(), known);
    }

    fn lock(&self) -> MutexGuard<'_, Generations> {
        // Whatever a panic elsewhere left here is a state of the table, and the token tells whether it is the last.
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fixture;
    use crate::store::Token;
    use crate::test_key;
    use rules::{Millis, Table};
    use std::sync::Arc;

    fn test_stored(version: u64) -> Stored {
        let (table, _) = Table::open(fixture::config(), Millis(1)).unwrap();
        Stored { token: Token { version, nonce: 1 }, table: Arc::new(table) }
    }

    #[test]
    fn the_last_used_stay_and_the_room_is_bounded() {
        let recent = Recent::new(4);
        for number in 1..=100 {
            recent.put(&test_key(number), test_stored(number), 0);
            assert!(recent.get(&test_key(1)).is_some(), "used all the time");
        }
        let kept = (1..=100).filter(|n| recent.get(&test_key(*n)).is_some()).count();
        assert!((2..=4).contains(&kept), "{kept}");
        recent.put(&test_key(1), test_stored(7), 0);
        assert_eq!(recent.get(&test_key(1)).unwrap().token.version, 7);
        recent.forget(&test_key(1));
        assert!(recent.get(&test_key(1)).is_none());
    }
}
