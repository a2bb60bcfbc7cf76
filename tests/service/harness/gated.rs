//! A store that a test can hold up, fail or break, in front of one in memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use rules::{Millis, Table};
use tables::{
    Books, Commit, History, Listed, MemoryStore, OperatorId, Outage, Outcome, RequestId, RequestRecord,
    ResumeKey, Settlement, SettlementFilter, SettlementPage, SettlementPosition, Stops, Store, StoreError,
    Stored, TableId, TableKey,
};
use tokio::sync::Semaphore;
use uuid::Uuid;

/// What happens to calls of the store.
#[derive(Clone, Default)]
pub enum Gate {
    /// They go through.
    #[default]
    Open,
    /// They wait until the semaphore lets them through.
    Held(Arc<Semaphore>),
    /// They fail.
    Failing(StoreError),
    /// They panic.
    Panicking,
}

/// A store behind a gate. Only what a caller's call needs first is gated: reads of tables, and commits; and what watchers
/// read.
#[derive(Default)]
pub struct Gated {
    inner: MemoryStore,
    loads: Mutex<Gate>,
    commits: Mutex<Gate>,
    histories: Mutex<Gate>,
    /// Reads of tables that have come to the gate so far.
    arrived: AtomicUsize,
}

impl Gated {
    /// What happens to reads of tables from now on.
    pub fn loads(&self, gate: Gate) {
        *self.loads.lock().unwrap() = gate;
    }

    /// Waits until so many reads of tables have come to the gate since it was made.
    pub async fn arrived(&self, reads: usize) {
        while self.arrived.load(Ordering::SeqCst) < reads {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// How many reads of tables have come to the gate so far.
    pub fn reads(&self) -> usize {
        self.arrived.load(Ordering::SeqCst)
    }

    /// What happens to reads of histories from now on.
    pub fn histories(&self, gate: Gate) {
        *self.histories.lock().unwrap() = gate;
    }

    /// What happens to commits from now on.
    pub fn commits(&self, gate: Gate) {
        *self.commits.lock().unwrap() = gate;
    }
}

async fn pass(gate: &Mutex<Gate>) -> Result<(), StoreError> {
    let gate = gate.lock().unwrap().clone();
    match gate {
        Gate::Open => Ok(()),
        Gate::Held(semaphore) => {
            semaphore.acquire().await.expect("the semaphore is not closed").forget();
            Ok(())
        }
        Gate::Failing(error) => Err(error),
        Gate::Panicking => panic!("planted by a test"),
    }
}

#[async_trait]
impl Store for Gated {
    async fn now(&self) -> Result<Millis, StoreError> {
        self.inner.now().await
    }

    fn books(&self) -> &dyn Books {
        self.inner.books()
    }

    fn resume_keys(&self) -> &[ResumeKey] {
        self.inner.resume_keys()
    }

    async fn load(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        self.arrived.fetch_add(1, Ordering::SeqCst);
        pass(&self.loads).await?;
        self.inner.load(key).await
    }

    async fn commit(&self, commit: Commit) -> Result<Outcome, StoreError> {
        pass(&self.commits).await?;
        self.inner.commit(commit).await
    }

    async fn request(&self, key: &TableKey, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        self.inner.request(key, id).await
    }

    async fn history(&self, key: &TableKey, after: u64, limit: usize) -> Result<History, StoreError> {
        pass(&self.histories).await?;
        self.inner.history(key, after, limit).await
    }

    async fn checkpoint(&self, key: &TableKey, version: u64) -> Result<Option<Arc<Table>>, StoreError> {
        self.inner.checkpoint(key, version).await
    }

    async fn due(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        self.inner.due(until, limit).await
    }

    async fn next_due(&self) -> Result<Option<Millis>, StoreError> {
        self.inner.next_due().await
    }

    async fn tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        self.inner.tables(operator, after, limit).await
    }

    async fn settlement(&self, operator: &OperatorId, id: &Uuid) -> Result<Option<Settlement>, StoreError> {
        self.inner.settlement(operator, id).await
    }

    async fn settlements(
        &self,
        operator: &OperatorId,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: usize,
    ) -> Result<SettlementPage, StoreError> {
        self.inner.settlements(operator, filter, after, limit).await
    }

    async fn heartbeat(&self, now: Millis) -> Result<(), StoreError> {
        self.inner.heartbeat(now).await
    }

    async fn outages(&self) -> Result<Vec<Outage>, StoreError> {
        self.inner.outages().await
    }

    fn stops(&self) -> &dyn Stops {
        self.inner.stops()
    }

    fn untold(&self) -> &dyn tables::Untold {
        self.inner.untold()
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.inner.check().await
    }
}
