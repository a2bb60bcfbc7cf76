//! States that were decoded lately, by table. A state counts only with the token that stands in the file, so that this
//! can never show an old one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rules::Table;
use tables::{Stored, TableKey, Token};

/// How many states are kept.
const ROOM: usize = 4096;

/// Recent states.
#[derive(Default)]
pub(super) struct Recent(Mutex<HashMap<TableKey, Stored>>);

impl Recent {
    /// The state with this token, if it is here.
    pub fn get(&self, key: &TableKey, token: Token) -> Option<Arc<Table>> {
        let states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = states.get(key).filter(|stored| stored.token == token)?;
        Some(Arc::clone(&stored.table))
    }

    /// Keeps a state. When the room is full all are forgotten: they come back with their next commit.
    pub fn put(&self, key: &TableKey, stored: Stored) {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if states.len() >= ROOM && !states.contains_key(key) {
            states.clear();
        }
        states.insert(key.clone(), stored);
    }
}
