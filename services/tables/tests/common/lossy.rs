//! Two stores in memory, one of which follows the other as a replica does: until it is cut off, and then takes over.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use rules::{Millis, Table};
use tables::*;
use uuid::Uuid;

/// A primary with one replica.
pub struct Lossy {
    /// The primary, then the replica.
    pair: Mutex<[Arc<MemoryStore>; 2]>,
    follows: AtomicBool,
    /// Reads come from the replica until the servers are looked for again.
    astray: AtomicBool,
    /// Nobody answers.
    pub down: AtomicBool,
    /// Its records cannot tell that history was lost.
    pub old_records: AtomicBool,
    era: AtomicU64,
    ear: Mutex<Option<Arc<dyn Ear>>>,
    /// The stops are not lost.
    stops: tables::stops::shelves::Shelves,
    untold: MemoryStore,
}

impl Lossy {
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Lossy> {
        let store = || Arc::new(MemoryStore::new(Arc::clone(&clock)));
        Arc::new(Lossy {
            pair: Mutex::new([store(), store()]),
            follows: AtomicBool::new(true),
            astray: AtomicBool::new(false),
            down: AtomicBool::new(false),
            old_records: AtomicBool::new(false),
            era: AtomicU64::new(0),
            ear: Mutex::default(),
            stops: tables::stops::shelves::Shelves::new(clock),
            untold: MemoryStore::default(),
        })
    }

    /// From now on the replica gets nothing.
    pub fn cut_replica(&self) {
        self.follows.store(false, Ordering::SeqCst);
    }

    /// The replica is the primary now, and has a replica that follows it.
    pub fn fail_over(&self) {
        let mut pair = self.pair.lock().unwrap();
        if self.follows.load(Ordering::SeqCst) {
            pair.swap(0, 1);
        } else {
            // The old one is wiped and follows: both are the same store from here on.
            pair[0] = Arc::clone(&pair[1]);
        }
        self.era.fetch_add(1, Ordering::SeqCst);
    }

    /// Reads come from the replica until the servers are looked for again.
    pub fn stray(&self) {
        self.astray.store(true, Ordering::SeqCst);
    }

    /// As the store's watch over tables does: the first who follows one is told that he may have missed something.
    pub fn tell_missed(&self, key: &TableKey) {
        self.ear.lock().unwrap().as_ref().expect("somebody follows").hear(key, Heard::Missed);
    }

    fn primary(&self) -> Arc<MemoryStore> {
        Arc::clone(&self.pair.lock().unwrap()[0])
    }
}

#[async_trait]
impl Books for Lossy {
    async fn cursors(&self, operator: &OperatorId) -> Result<Vec<(String, Cursor)>, StoreError> {
        self.primary().cursors(operator).await
    }

    async fn take_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<Option<Cursor>, StoreError> {
        self.primary().take_cursor(operator, consumer).await
    }

    async fn acknowledge(
        &self,
        operator: &OperatorId,
        consumer: &str,
        position: SettlementPosition,
    ) -> Result<Option<Cursor>, StoreError> {
        self.primary().acknowledge(operator, consumer, position).await
    }

    async fn forget_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<bool, StoreError> {
        self.primary().forget_cursor(operator, consumer).await
    }

    async fn backlog(
        &self,
        operator: &OperatorId,
        after: Option<SettlementPosition>,
    ) -> Result<Backlog, StoreError> {
        self.primary().backlog(operator, after).await
    }

    async fn retire(&self, operator: &OperatorId, before: Millis, limit: usize) -> Result<usize, StoreError> {
        self.primary().retire(operator, before, limit).await
    }

    async fn retired_until(&self, operator: &OperatorId) -> Result<Option<SettlementPosition>, StoreError> {
        self.primary().retired_until(operator).await
    }

    async fn accounts(
        &self,
        operator: &OperatorId,
        after: Option<&AccountName>,
        limit: usize,
    ) -> Result<Vec<Account>, StoreError> {
        self.primary().accounts(operator, after, limit).await
    }

    async fn account(
        &self,
        operator: &OperatorId,
        player: &rules::PlayerId,
    ) -> Result<Vec<Account>, StoreError> {
        self.primary().account(operator, player).await
    }
}

#[async_trait]
impl Store for Lossy {
    async fn now(&self) -> Result<Millis, StoreError> {
        self.primary().now().await
    }

    async fn load(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        if self.down.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("down".to_owned()));
        }
        let place = usize::from(self.astray.load(Ordering::SeqCst));
        let store = Arc::clone(&self.pair.lock().unwrap()[place]);
        store.load(key).await
    }

    async fn commit(&self, commit: Commit) -> Result<Outcome, StoreError> {
        if self.down.load(Ordering::SeqCst) {
            return Err(StoreError::Unknown("down".to_owned()));
        }
        let [primary, replica] = self.pair.lock().unwrap().clone();
        let outcome = primary.commit(commit.clone()).await?;
        if matches!(outcome, Outcome::Committed { .. }) && self.follows.load(Ordering::SeqCst) {
            replica.commit(commit).await?;
        }
        Ok(outcome)
    }

    async fn follow(&self, _: &TableKey, ear: &Arc<dyn Ear>) -> Result<Option<Following>, StoreError> {
        self.ear.lock().unwrap().get_or_insert_with(|| Arc::clone(ear));
        Ok(Some(Box::new(())))
    }

    async fn find_again(&self, _: &TableKey) -> Result<(), StoreError> {
        self.astray.store(false, Ordering::SeqCst);
        Ok(())
    }

    fn can_tell_loss(&self) -> bool {
        !self.old_records.load(Ordering::SeqCst)
    }

    fn era(&self) -> u64 {
        self.era.load(Ordering::SeqCst)
    }

    fn books(&self) -> &dyn Books {
        self
    }

    fn resume_keys(&self) -> &[ResumeKey] {
        static KEYS: std::sync::LazyLock<[ResumeKey; 1]> =
            std::sync::LazyLock::new(|| [ResumeKey::new(&[7; 32])]);
        &*KEYS
    }

    async fn request(&self, key: &TableKey, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        self.primary().request(key, id).await
    }

    async fn history(&self, key: &TableKey, after: u64, limit: usize) -> Result<History, StoreError> {
        self.primary().history(key, after, limit).await
    }

    async fn checkpoint(&self, key: &TableKey, version: u64) -> Result<Option<Arc<Table>>, StoreError> {
        self.primary().checkpoint(key, version).await
    }

    async fn due(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        self.primary().due(until, limit).await
    }

    async fn next_due(&self) -> Result<Option<Millis>, StoreError> {
        self.primary().next_due().await
    }

    async fn tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        self.primary().tables(operator, after, limit).await
    }

    async fn settlement(&self, operator: &OperatorId, id: &Uuid) -> Result<Option<Settlement>, StoreError> {
        self.primary().settlement(operator, id).await
    }

    async fn settlements(
        &self,
        operator: &OperatorId,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: usize,
    ) -> Result<SettlementPage, StoreError> {
        self.primary().settlements(operator, filter, after, limit).await
    }

    async fn heartbeat(&self, now: Millis) -> Result<(), StoreError> {
        self.primary().heartbeat(now).await
    }

    async fn outages(&self) -> Result<Vec<Outage>, StoreError> {
        self.primary().outages().await
    }

    fn stops(&self) -> &dyn Stops {
        &self.stops
    }

    fn untold(&self) -> &dyn tables::Untold {
        &self.untold
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.primary().check().await
    }
}
