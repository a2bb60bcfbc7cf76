//! The registry of stops in memory.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use rules::Millis;

use super::{AUDIT_KEPT, AuditEntry, Author, Changed, Shelf, StopChange, StopEntry, Stopped, Stops};
use crate::ids::RequestId;
use crate::store::{REQUEST_RETENTION, RequestRecord, StoreError, Token};
use crate::time::Clock;

/// Shelves in memory.
pub struct Shelves {
    clock: Arc<dyn Clock>,
    requests_kept: Millis,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    shelves: HashMap<Shelf, Row>,
    requests: HashMap<(Author, RequestId), RequestRecord>,
    /// In the order in which they were recorded.
    ages: VecDeque<(Author, RequestId)>,
}

#[derive(Default)]
struct Row {
    token: Option<Token>,
    entries: BTreeMap<String, StopEntry>,
    audit: VecDeque<AuditEntry>,
}

impl Shelves {
    /// Empty ones; records of requests go by this clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Shelves {
        Shelves { clock, requests_kept: REQUEST_RETENTION, state: Mutex::default() }
    }

    /// Keeps request records so long, ms.
    #[must_use]
    pub fn with_requests_kept(self, requests_kept: Millis) -> Shelves {
        Shelves { requests_kept, ..self }
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        self.state.lock().map_err(|_| StoreError::Corrupt("a change of stops was broken off".to_owned()))
    }
}

#[async_trait]
impl Stops for Shelves {
    async fn shelf(&self, shelf: &Shelf, known: Option<Token>) -> Result<Option<Stopped>, StoreError> {
        let state = self.state()?;
        let Some(row) = state.shelves.get(shelf) else {
            return Ok(Some(Stopped::default()));
        };
        if known.is_some() && row.token == known {
            return Ok(None);
        }
        Ok(Some(Stopped { token: row.token, entries: row.entries.values().cloned().collect() }))
    }

    async fn change(&self, change: &StopChange) -> Result<Changed, StoreError> {
        let now = self.clock.now();
        let mut state = self.state()?;
        state.forget(|record| now - record.at > self.requests_kept);
        if let Some((author, record)) = &change.request
            && let Some(done) = state.requests.get(&(author.clone(), record.id))
        {
            return Ok(Changed::Before(done.clone()));
        }
        let row = state.shelves.entry(change.shelf.clone()).or_default();
        if row.token == Some(change.token) {
            return Ok(Changed::Done);
        }
        if row.token != change.expected {
            return Ok(Changed::Conflict);
        }
        row.apply(change);
        if let Some((author, record)) = &change.request {
            state.ages.push_back((author.clone(), record.id));
            state.requests.insert((author.clone(), record.id), record.clone());
        }
        Ok(Changed::Done)
    }

    async fn asked(&self, author: &Author, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        let now = self.clock.now();
        let mut state = self.state()?;
        state.forget(|record| now - record.at > self.requests_kept);
        Ok(state.requests.get(&(author.clone(), *id)).cloned())
    }

    async fn audit(
        &self,
        shelf: &Shelf,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let state = self.state()?;
        let audit = state.shelves.get(shelf).map(|row| row.audit.iter().rev());
        let entries = audit.into_iter().flatten().filter(|e| before.is_none_or(|before| e.number < before));
        Ok(entries.take(limit).cloned().collect())
    }
}

impl State {
    fn forget(&mut self, over: impl Fn(&RequestRecord) -> bool) {
        while let Some(oldest) = self.ages.front()
            && self.requests.get(oldest).is_none_or(&over)
            && let Some(oldest) = self.ages.pop_front()
        {
            self.requests.remove(&oldest);
        }
    }
}

impl Row {
    fn apply(&mut self, change: &StopChange) {
        self.token = Some(change.token);
        for name in &change.remove {
            self.entries.remove(&name.to_string());
        }
        for entry in &change.put {
            self.entries.insert(entry.name().to_string(), entry.clone());
        }
        self.audit.extend(change.audit.clone());
        while self.audit.len() > AUDIT_KEPT {
            self.audit.pop_front();
        }
    }
}
