//! A store in memory that can be made to fail, to doubt, and to break its laws.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use rules::{Millis, Table};
use tables::stops::{AuditEntry, Author, Changed, Shelf, StopChange, Stopped};
use tables::*;
use tokio::sync::Semaphore;
use uuid::Uuid;

/// What goes wrong with the next commits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Nothing is done, and that is known.
    Down,
    /// It is done, but the answer gets lost.
    AnswerLost,
    /// It is not done, and nobody knows.
    RequestLost,
    /// It is done half a moment after the caller was told that nobody knows.
    Late,
    /// Another commit always came first.
    Overtaken,
}

/// A store in memory that can be made to fail.
pub struct Faulty {
    pub inner: Arc<MemoryStore>,
    faults: Mutex<Vec<Fault>>,
    /// Tables whose commits fail for ever.
    pub broken: Mutex<HashSet<TableKey>>,
    /// Each commit takes a permit; closed by default to nobody.
    pub gate: Semaphore,
    /// So many commits came here.
    pub commits: AtomicU32,
    /// So many pages of settlements were read.
    pub pages: AtomicU32,
    /// So many calls of `due` fail.
    pub deaf: AtomicU32,
    /// The last heartbeat.
    pub beat: AtomicU64,
    /// So much its idea of the time is ahead of the one by which it commits, ms.
    pub ahead: AtomicU64,
    /// What is read is not durable, and does not become so.
    pub unconfirmed: AtomicBool,
    /// An absence that the next heartbeat notes, and those that are noted.
    pub absence: Mutex<Option<Outage>>,
    noted: Mutex<Vec<Outage>>,
    /// The registry of stops cannot be read or changed.
    pub stops_down: AtomicBool,
    /// So many next changes of it are done, but their answers get lost.
    pub stops_doubted: AtomicU32,
    /// It was read so often.
    pub stops_read: AtomicU32,
    /// It can be used by others too, whose commits are so long on their way, ms.
    pub shared: AtomicU64,
}

impl Faulty {
    pub fn new(inner: Arc<MemoryStore>) -> Arc<Faulty> {
        Arc::new(Faulty {
            inner,
            faults: Mutex::default(),
            broken: Mutex::default(),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
            commits: AtomicU32::new(0),
            pages: AtomicU32::new(0),
            deaf: AtomicU32::new(0),
            beat: AtomicU64::new(0),
            ahead: AtomicU64::new(0),
            unconfirmed: AtomicBool::new(false),
            absence: Mutex::default(),
            noted: Mutex::default(),
            stops_down: AtomicBool::new(false),
            stops_doubted: AtomicU32::new(0),
            stops_read: AtomicU32::new(0),
            shared: AtomicU64::new(0),
        })
    }

    /// The next commits fail so, the first one first.
    pub fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        let mut next: Vec<Fault> = faults.into_iter().collect();
        next.reverse();
        *self.faults.lock().unwrap() = next;
    }
}

impl Faulty {
    fn registry(&self) -> Result<&dyn Stops, StoreError> {
        match self.stops_down.load(Ordering::SeqCst) {
            true => Err(StoreError::Unavailable("down".to_owned())),
            false => Ok(self.inner.stops()),
        }
    }
}

#[async_trait]
impl Stops for Faulty {
    async fn shelf(&self, shelf: &Shelf, known: Option<Token>) -> Result<Option<Stopped>, StoreError> {
        self.stops_read.fetch_add(1, Ordering::SeqCst);
        self.registry()?.shelf(shelf, known).await
    }

    async fn change(&self, change: &StopChange) -> Result<Changed, StoreError> {
        let changed = self.registry()?.change(change).await?;
        let less = |left: u32| left.checked_sub(1);
        match self.stops_doubted.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less) {
            Ok(_) => Err(StoreError::Unknown("the connection was cut".to_owned())),
            Err(_) => Ok(changed),
        }
    }

    async fn asked(&self, author: &Author, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        self.registry()?.asked(author, id).await
    }

    async fn audit(
        &self,
        shelf: &Shelf,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        self.registry()?.audit(shelf, before, limit).await
    }

    fn in_flight(&self) -> Duration {
        Duration::from_millis(self.shared.load(Ordering::SeqCst))
    }
}

#[async_trait]
impl Store for Faulty {
    async fn now(&self) -> Result<Millis, StoreError> {
        Ok(self.inner.now().await? + Millis(self.ahead.load(Ordering::SeqCst)))
    }

    fn books(&self) -> &dyn Books {
        self.inner.books()
    }

    fn resume_keys(&self) -> &[ResumeKey] {
        self.inner.resume_keys()
    }

    async fn load(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        self.inner.load(key).await
    }

    async fn load_durable(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        if self.unconfirmed.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("too few replicas".to_owned()));
        }
        self.inner.load(key).await
    }

    async fn commit(&self, commit: Commit) -> Result<Outcome, StoreError> {
        self.commits.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        self.gate.add_permits(1);
        if self.broken.lock().unwrap().contains(&commit.key) {
            return Err(StoreError::Corrupt("broken".to_owned()));
        }
        let fault = self.faults.lock().unwrap().pop();
        let unknown = || StoreError::Unknown("the connection was cut".to_owned());
        match fault {
            None => self.inner.commit(commit).await,
            Some(Fault::Down) => Err(StoreError::Unavailable("down".to_owned())),
            Some(Fault::AnswerLost) => {
                self.inner.commit(commit).await?;
                Err(unknown())
            }
            Some(Fault::RequestLost) => Err(unknown()),
            Some(Fault::Late) => {
                let inner = Arc::clone(&self.inner);
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(15)).await;
                    inner.commit(commit).await
                });
                Err(unknown())
            }
            Some(Fault::Overtaken) => Ok(Outcome::Conflict(self.inner.load(&commit.key).await?)),
        }
    }

    async fn request(&self, key: &TableKey, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        self.inner.request(key, id).await
    }

    async fn history(&self, key: &TableKey, after: u64, limit: usize) -> Result<History, StoreError> {
        self.inner.history(key, after, limit).await
    }

    async fn checkpoint(&self, key: &TableKey, version: u64) -> Result<Option<Arc<Table>>, StoreError> {
        self.inner.checkpoint(key, version).await
    }

    async fn due(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        let less = |left: u32| left.checked_sub(1);
        if self.deaf.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok() {
            return Err(StoreError::Unavailable("down".to_owned()));
        }
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
        self.pages.fetch_add(1, Ordering::SeqCst);
        self.inner.settlements(operator, filter, after, limit).await
    }

    async fn heartbeat(&self, now: Millis) -> Result<(), StoreError> {
        self.beat.store(now.0, Ordering::SeqCst);
        self.noted.lock().unwrap().extend(self.absence.lock().unwrap().take());
        self.inner.heartbeat(now).await
    }

    async fn outages(&self) -> Result<Vec<Outage>, StoreError> {
        let mut outages = self.inner.outages().await?;
        outages.extend(self.noted.lock().unwrap().iter());
        Ok(outages)
    }

    fn poll(&self) -> Option<Millis> {
        (self.shared.load(Ordering::SeqCst) > 0).then_some(Millis(20))
    }

    fn stops(&self) -> &dyn Stops {
        self
    }

    fn untold(&self) -> &dyn tables::Untold {
        self.inner.untold()
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.inner.check().await
    }
}
