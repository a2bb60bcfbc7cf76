//! How many tables a player watches with tokens of his own. The operator's watchers are there for all of his players, and one
//! of them is not to take them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rules::PlayerId;
use tables::OperatorId;

type Who = (OperatorId, PlayerId);

/// The players who watch by themselves.
pub struct Players {
    most: usize,
    /// How many tables each watches; who watches none is not in it.
    watching: Mutex<HashMap<Who, usize>>,
}

/// A table that a player watches; given up when dropped.
pub struct Place {
    players: Arc<Players>,
    who: Who,
}

impl Players {
    /// Who watch so many tables each at the most.
    #[must_use]
    pub fn new(most: usize) -> Arc<Players> {
        Arc::new(Players { most, watching: Mutex::default() })
    }

    /// A place for one more table; `None` if he watches as many as he may.
    #[must_use]
    pub fn place(self: &Arc<Players>, operator: &OperatorId, player: &PlayerId) -> Option<Place> {
        let who = (operator.clone(), player.clone());
        let mut watching = self.lock();
        let own = watching.get(&who).copied().unwrap_or_default();
        if own >= self.most {
            return None;
        }
        watching.insert(who.clone(), own + 1);
        Some(Place { players: Arc::clone(self), who })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Who, usize>> {
        // A panic elsewhere cannot leave a count half written.
        self.watching.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut watching = self.players.lock();
        if let Some(own) = watching.get_mut(&self.who) {
            *own -= 1;
            if *own == 0 {
                watching.remove(&self.who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_player_has_his_own_and_nothing_is_left_of_who_has_gone() {
        let (alpha, beta) = (OperatorId::new("alpha").unwrap(), OperatorId::new("beta").unwrap());
        let (ann, bob) = (PlayerId::new("ann").unwrap(), PlayerId::new("bob").unwrap());
        let players = Players::new(2);
        let mut places = vec![players.place(&alpha, &ann).unwrap(), players.place(&alpha, &ann).unwrap()];
        assert!(players.place(&alpha, &ann).is_none());
        places.push(players.place(&alpha, &bob).unwrap());
        places.push(players.place(&beta, &ann).unwrap());
        drop(places.remove(0));
        places.push(players.place(&alpha, &ann).unwrap());
        assert!(players.place(&alpha, &ann).is_none());
        drop(places);
        assert!(players.lock().is_empty());
    }
}
