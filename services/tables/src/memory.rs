//! The store in memory: for tests and for trying things out. It keeps every law of a store except that nothing
//! outlives the process.

mod book;
mod untold;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use rules::Millis;
use rules::table::Table;
use uuid::Uuid;

use self::book::Book;
use self::untold::Notes;
use crate::books::{AccountName, Books, Tally, overflows};
use crate::dealer::entropy;
use crate::ids::{OperatorId, RequestId, TableId, TableKey};
use crate::resume::ResumeKey;
use crate::settlement::{Settlement, SettlementFilter, SettlementPage, SettlementPosition};
use crate::stops::Stops;
use crate::stops::shelves::Shelves;
use crate::store::{
    AHEAD, Commit, Entry, History, Listed, Outage, Outcome, REQUEST_RETENTION, RequestRecord, Store,
    StoreError, Stored, severed,
};
use crate::time::{Clock, SystemClock};
use crate::untold::{MOST, Untold};

/// How many commits a table's history keeps unless set otherwise.
const HISTORY: usize = 4096;
/// A state is kept each so many commits, so that later ones can be folded from it.
const CHECKPOINT_EVERY: u64 = 128;

/// A store in memory.
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    history: usize,
    requests_kept: Millis,
    notes: usize,
    outages: Vec<Outage>,
    resume_keys: [ResumeKey; 1],
    stops: Shelves,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tables: BTreeMap<TableKey, Row>,
    due: BTreeSet<(Millis, TableKey)>,
    requests: HashMap<(OperatorId, RequestId), RequestRecord>,
    /// When which request was recorded, oldest first.
    request_ages: VecDeque<(Millis, OperatorId, RequestId)>,
    books: HashMap<OperatorId, Book>,
    untold: HashMap<OperatorId, Notes>,
}

/// A table.
struct Row {
    stored: Stored,
    due: Option<Millis>,
    entries: VecDeque<Entry>,
    checkpoints: VecDeque<Arc<Table>>,
}

impl Default for MemoryStore {
    fn default() -> MemoryStore {
        MemoryStore::new(Arc::new(SystemClock::default()))
    }
}

impl MemoryStore {
    /// An empty store that goes by this clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> MemoryStore {
        let mut secret = [0; 32];
        entropy(&mut secret);
        let resume_keys = [ResumeKey::new(&secret)];
        let stops = Shelves::new(Arc::clone(&clock));
        MemoryStore {
            clock,
            history: HISTORY,
            requests_kept: REQUEST_RETENTION,
            notes: MOST,
            outages: Vec::new(),
            resume_keys,
            stops,
            state: Mutex::default(),
        }
    }

    /// Keeps request records so long, ms.
    #[must_use]
    pub fn with_requests_kept(mut self, kept: Millis) -> MemoryStore {
        self.requests_kept = kept;
        self.stops = self.stops.with_requests_kept(kept);
        self
    }

    /// Keeps so many commits of each table, at least one.
    #[must_use]
    pub fn with_history(mut self, commits: usize) -> MemoryStore {
        self.history = commits.max(1);
        self
    }

    /// Notes so many hands of an operator as still to be told.
    #[must_use]
    pub fn with_notes(mut self, most: usize) -> MemoryStore {
        self.notes = most;
        self
    }

    /// Claims that the service was away then: a store in memory cannot have seen it.
    #[must_use]
    pub fn with_outages(mut self, outages: Vec<Outage>) -> MemoryStore {
        self.outages = outages;
        self
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        // A commit that panicked half-way cannot be undone here, so nothing is served any more.
        self.state.lock().map_err(|_| StoreError::Corrupt("a commit was broken off".to_owned()))
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn now(&self) -> Result<Millis, StoreError> {
        Ok(self.clock.now())
    }

    async fn load(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        Ok(self.state()?.tables.get(key).map(|row| row.stored.clone()))
    }

    async fn commit(&self, commit: Commit) -> Result<Outcome, StoreError> {
        let mut state = self.state()?;
        let now = self.clock.now();
        state.forget_requests(now, self.requests_kept);
        if let Some(outcome) = state.objection(&commit, now) {
            return Ok(outcome);
        }
        let accounts = state.books.entry(commit.key.operator.clone()).or_default().after(&commit.accounts);
        let accounts = accounts.ok_or_else(|| overflows(&commit.key.operator))?;
        if let Some(hand) = commit.untold_hand() {
            state.note(&commit.key.operator, hand, now, self.notes);
        }
        state.apply(commit, accounts, now, self.history);
        Ok(Outcome::Committed { now })
    }

    fn books(&self) -> &dyn Books {
        self
    }

    fn resume_keys(&self) -> &[ResumeKey] {
        &self.resume_keys
    }

    async fn request(&self, key: &TableKey, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        let mut state = self.state()?;
        state.forget_requests(self.clock.now(), self.requests_kept);
        Ok(state.requests.get(&(key.operator.clone(), *id)).cloned())
    }

    async fn history(&self, key: &TableKey, after: u64, limit: usize) -> Result<History, StoreError> {
        let state = self.state()?;
        let Some(row) = state.tables.get(key) else {
            return Ok(History { entries: Vec::new(), oldest: 0 });
        };
        let first = row.entries.partition_point(|entry| entry.version <= after);
        Ok(History {
            entries: row.entries.iter().skip(first).take(limit).cloned().collect(),
            oldest: row.entries.front().map_or(0, |entry| entry.version),
        })
    }

    async fn checkpoint(&self, key: &TableKey, version: u64) -> Result<Option<Arc<Table>>, StoreError> {
        let state = self.state()?;
        let kept =
            state.tables.get(key).and_then(|row| row.checkpoints.iter().rev().find(|t| t.version <= version));
        Ok(kept.cloned())
    }

    async fn due(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        let state = self.state()?;
        let due = state.due.iter().take_while(|(at, _)| *at <= until);
        Ok(due.take(limit).map(|(at, key)| (key.clone(), *at)).collect())
    }

    async fn next_due(&self) -> Result<Option<Millis>, StoreError> {
        Ok(self.state()?.due.first().map(|(at, _)| *at))
    }

    async fn tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let key = |table| TableKey { operator: operator.clone(), table };
        let from = match after {
            Some(table) => Bound::Excluded(key(table)),
            None => Bound::Included(key(TableId(Uuid::nil()))),
        };
        let state = self.state()?;
        let rows = state.tables.range((from, Bound::Unbounded));
        let own = rows.take_while(|(key, _)| key.operator == *operator);
        Ok(own.take(limit).map(|(key, row)| (key.clone(), Ok(row.stored.clone()))).collect())
    }

    async fn settlement(&self, operator: &OperatorId, id: &Uuid) -> Result<Option<Settlement>, StoreError> {
        Ok(self.state()?.books.get(operator).and_then(|book| book.find(id)))
    }

    async fn settlements(
        &self,
        operator: &OperatorId,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: usize,
    ) -> Result<SettlementPage, StoreError> {
        let state = self.state()?;
        Ok(state.books.get(operator).map(|book| book.page(filter, after, limit)).unwrap_or_default())
    }

    async fn heartbeat(&self, _now: Millis) -> Result<(), StoreError> {
        Ok(())
    }

    async fn outages(&self) -> Result<Vec<Outage>, StoreError> {
        Ok(self.outages.clone())
    }

    fn stops(&self) -> &dyn Stops {
        &self.stops
    }

    fn untold(&self) -> &dyn Untold {
        self
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.state().map(|_| ())
    }
}

impl State {
    /// Why the commit cannot be done, if it cannot: request record, then token, then time.
    fn objection(&self, commit: &Commit, now: Millis) -> Option<Outcome> {
        if let Some(request) = &commit.request
            && let Some(done) = self.requests.get(&(commit.key.operator.clone(), request.id))
        {
            return Some(if done.payload == request.payload {
                Outcome::Repeated { answer: done.answer.clone(), declined: done.declined }
            } else {
                Outcome::RequestReused
            });
        }
        let current = self.tables.get(&commit.key).map(|row| row.stored.clone());
        if current.as_ref().map(|stored| stored.token) != commit.expected {
            return Some(self.conflict(commit, current));
        }
        let early = commit.not_before.is_some_and(|not_before| now < not_before);
        if early {
            return Some(Outcome::TooEarly { now });
        }
        (commit.stamped > now + AHEAD).then_some(Outcome::Ahead { now })
    }

    fn conflict(&self, commit: &Commit, current: Option<Stored>) -> Outcome {
        let Some(current) = current else {
            return Outcome::Conflict(None);
        };
        let Some(expected) = commit.expected else {
            return Outcome::Conflict(Some(current));
        };
        let entries = self.tables.get(&commit.key).map(|row| &row.entries);
        let kept = entries.and_then(|all| all.iter().rev().find(|entry| entry.version == expected.version));
        if severed(expected, &current, kept.map(|entry| entry.token)) {
            return Outcome::Severed(current);
        }
        Outcome::Conflict(Some(current))
    }

    fn apply(&mut self, commit: Commit, accounts: BTreeMap<AccountName, Tally>, now: Millis, history: usize) {
        let at = Some(commit.time(now));
        let Commit {
            key, expected: previous, token, table, events, request, settlements, due, origin, ..
        } = commit;
        let entry = Entry { version: token.version, token, previous, at, events: events.into(), origin };
        let stored = Stored { token, table };
        let mut row = self.tables.remove(&key).unwrap_or_else(|| Row::new(stored.clone()));
        if let Some(old) = row.due.take() {
            self.due.remove(&(old, key.clone()));
        }
        if let Some(at) = due {
            self.due.insert((at, key.clone()));
        }
        row.due = due;
        row.push(entry, stored, history);
        if let Some(record) = request {
            self.request_ages.push_back((now, key.operator.clone(), record.id));
            self.requests.insert((key.operator.clone(), record.id), record);
        }
        let book = self.books.entry(key.operator.clone()).or_default();
        settlements.into_iter().for_each(|settlement| book.push(settlement));
        book.set(accounts);
        self.tables.insert(key, row);
    }

    fn forget_requests(&mut self, now: Millis, kept: Millis) {
        while let Some((at, _, _)) = self.request_ages.front()
            && now - *at > kept
            && let Some((_, operator, id)) = self.request_ages.pop_front()
        {
            self.requests.remove(&(operator, id));
        }
    }
}

impl Row {
    fn new(stored: Stored) -> Row {
        Row { stored, due: None, entries: VecDeque::new(), checkpoints: VecDeque::new() }
    }

    fn push(&mut self, entry: Entry, stored: Stored, history: usize) {
        if entry.version == 1 || entry.version.is_multiple_of(CHECKPOINT_EVERY) {
            self.checkpoints.push_back(Arc::clone(&stored.table));
        }
        self.entries.push_back(entry);
        self.stored = stored;
        while self.entries.len() > history
            && let Some(gone) = self.entries.pop_front()
        {
            self.roll(&gone);
        }
    }

    /// Takes an entry that is no longer kept into the first checkpoint, so that all entries that are can be folded.
    fn roll(&mut self, gone: &Entry) {
        if self.checkpoints.get(1).is_some_and(|second| second.version <= gone.version) {
            self.checkpoints.pop_front();
        } else if let Some(first) = self.checkpoints.front_mut()
            && first.version < gone.version
        {
            Arc::make_mut(first).apply(&gone.events);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws;
    use crate::time::ManualClock;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn keeps_the_laws_of_a_store() {
        laws::all(|setting| async move {
            let store = MemoryStore::default().with_history(setting.history).with_notes(setting.notes);
            Arc::new(store) as Arc<dyn Store>
        })
        .await;
    }

    #[tokio::test]
    async fn keeps_request_records_so_long() {
        let clock = Arc::new(ManualClock::at(Millis(1_000_000)));
        let make = || MemoryStore::new(Arc::clone(&clock) as Arc<dyn Clock>);
        let law = laws::request_records_are_kept(Arc::new(make()), &clock, REQUEST_RETENTION);
        assert_eq!(law.await, Ok(()));
        let hours = Millis::minutes(180);
        let law = laws::request_records_are_kept(Arc::new(make().with_requests_kept(hours)), &clock, hours);
        assert_eq!(law.await, Ok(()));
    }
}
