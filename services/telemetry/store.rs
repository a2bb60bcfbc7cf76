//! A store that is watched over: every operation is timed, errors are counted by their kind, and what is done for a call that
//! is told is told below it. It changes nothing.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rules::{Millis, PlayerId, Table};
use tables::stops::{AuditEntry, Author, Changed, Shelf, StopChange, Stopped};
use tables::{
    Account, AccountName, Backlog, Books, Commit, Cursor, Ear, Following, History, Listed, OperatorId,
    Outage, Outcome, RecordFormats, RequestId, RequestRecord, ResumeKey, Settlement, SettlementFilter,
    SettlementPage, SettlementPosition, Stops, Store, StoreError, Stored, TableHand, TableId, TableKey,
    Token, Untold,
};
use uuid::Uuid;

use super::conventions::COMMIT_OUTCOME;
use super::metrics::Metrics;
use super::spans::{Child, Kind, child, is_told};

/// The operations, by the names that metrics and traces give them.
pub const OPERATIONS: [&str; 33] = [
    "now",
    "load",
    "load_durable",
    "commit",
    "find_again",
    "request",
    "history",
    "follow",
    "checkpoint",
    "due",
    "next_due",
    "tables",
    "settlement",
    "settlements",
    "heartbeat",
    "outages",
    "outages_of",
    "outages_by_now",
    "check",
    "cursors",
    "take_cursor",
    "acknowledge",
    "forget_cursor",
    "backlog",
    "retire",
    "retired_until",
    "accounts",
    "account",
    "shelf",
    "change",
    "asked",
    "audit",
    "untold",
];

/// The store, watched over.
pub struct Watched {
    store: Arc<dyn Store>,
    metrics: Option<Arc<Metrics>>,
}

impl Watched {
    /// This store, watched over by these.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, metrics: Option<Arc<Metrics>>) -> Watched {
        Watched { store, metrics }
    }

    /// One operation.
    async fn timed<T>(
        &self,
        operation: &'static str,
        work: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        self.timed_in(&below(operation), operation, work).await
    }

    async fn timed_in<T>(
        &self,
        span: &Child,
        operation: &'static str,
        work: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let started = Instant::now();
        let result = span.run(work).await;
        if let Some(metrics) = &self.metrics {
            metrics.store.done(operation, started.elapsed(), result.as_ref().err());
        }
        if let Err(error) = &result {
            span.failed(kind(error));
        }
        result
    }
}

/// The span of an operation, below that of the call that needs it.
fn below(operation: &'static str) -> Child {
    // The time is reckoned here: no answer is waited for.
    if operation == "now" || !is_told() {
        return Child::default();
    }
    child(Kind::Inner, &format!("store {operation}"))
}

const fn kind(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unavailable(_) => "unavailable",
        StoreError::Unknown(_) => "unknown",
        StoreError::Corrupt(_) => "corrupt",
        StoreError::KeyUnavailable(_) => "key",
    }
}

const fn outcome(result: &Result<Outcome, StoreError>) -> &'static str {
    match result {
        Ok(Outcome::Committed { .. }) => "done",
        Ok(Outcome::Conflict(_)) => "conflict",
        Ok(Outcome::Severed(_)) => "severed",
        Ok(Outcome::Repeated { .. }) => "repeated",
        Ok(Outcome::RequestReused) => "reused",
        Ok(Outcome::TooEarly { .. }) => "too_early",
        Ok(Outcome::Ahead { .. }) => "ahead",
        Err(StoreError::Unknown(_)) => "unknown",
        Err(_) => "failed",
    }
}

#[async_trait]
impl Store for Watched {
    async fn now(&self) -> Result<Millis, StoreError> {
        let now = self.timed("now", self.store.now()).await?;
        if let Some(metrics) = &self.metrics {
            metrics.store.time(now);
        }
        Ok(now)
    }

    async fn load(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        self.timed("load", self.store.load(key)).await
    }

    async fn load_durable(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        self.timed("load_durable", self.store.load_durable(key)).await
    }

    async fn commit(&self, commit: Commit) -> Result<Outcome, StoreError> {
        let span = below("commit");
        let result = self.timed_in(&span, "commit", self.store.commit(commit)).await;
        span.set(COMMIT_OUTCOME, outcome(&result));
        result
    }

    async fn find_again(&self, key: &TableKey) -> Result<(), StoreError> {
        self.timed("find_again", self.store.find_again(key)).await
    }

    fn era(&self) -> u64 {
        self.store.era()
    }

    fn can_tell_loss(&self) -> bool {
        self.store.can_tell_loss()
    }

    fn record_formats(&self) -> Option<RecordFormats> {
        self.store.record_formats()
    }

    fn resume_keys(&self) -> &[ResumeKey] {
        self.store.resume_keys()
    }

    fn books(&self) -> &dyn Books {
        self
    }

    async fn request(&self, key: &TableKey, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        self.timed("request", self.store.request(key, id)).await
    }

    async fn history(&self, key: &TableKey, after: u64, limit: usize) -> Result<History, StoreError> {
        self.timed("history", self.store.history(key, after, limit)).await
    }

    async fn follow(&self, key: &TableKey, ear: &Arc<dyn Ear>) -> Result<Option<Following>, StoreError> {
        self.timed("follow", self.store.follow(key, ear)).await
    }

    async fn checkpoint(&self, key: &TableKey, version: u64) -> Result<Option<Arc<Table>>, StoreError> {
        self.timed("checkpoint", self.store.checkpoint(key, version)).await
    }

    async fn due(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        self.timed("due", self.store.due(until, limit)).await
    }

    async fn due_now(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        self.timed("due", self.store.due_now(until, limit)).await
    }

    fn poll(&self) -> Option<Millis> {
        self.store.poll()
    }

    async fn next_due(&self) -> Result<Option<Millis>, StoreError> {
        self.timed("next_due", self.store.next_due()).await
    }

    async fn tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        self.timed("tables", self.store.tables(operator, after, limit)).await
    }

    async fn settlement(&self, operator: &OperatorId, id: &Uuid) -> Result<Option<Settlement>, StoreError> {
        self.timed("settlement", self.store.settlement(operator, id)).await
    }

    async fn settlements(
        &self,
        operator: &OperatorId,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: usize,
    ) -> Result<SettlementPage, StoreError> {
        self.timed("settlements", self.store.settlements(operator, filter, after, limit)).await
    }

    async fn heartbeat(&self, now: Millis) -> Result<(), StoreError> {
        self.timed("heartbeat", self.store.heartbeat(now)).await
    }

    async fn outages(&self) -> Result<Vec<Outage>, StoreError> {
        self.timed("outages", self.store.outages()).await
    }

    async fn outages_of(&self, key: &TableKey) -> Result<Vec<Outage>, StoreError> {
        self.timed("outages_of", self.store.outages_of(key)).await
    }

    async fn outages_by_now(&self, key: &TableKey) -> Result<Vec<Outage>, StoreError> {
        self.timed("outages_by_now", self.store.outages_by_now(key)).await
    }

    fn stops(&self) -> &dyn Stops {
        self
    }

    fn untold(&self) -> &dyn Untold {
        self
    }

    async fn check(&self) -> Result<(), StoreError> {
        // Whoever gives up waiting has had no answer.
        let mut asked = Asked { watched: self, answered: false };
        let result = self.timed("check", self.store.check()).await;
        asked.answered = result.is_ok();
        result
    }
}

/// A check that is not answered yet; what it came to is told at its end, also when nobody waits for it any more.
struct Asked<'a> {
    watched: &'a Watched,
    answered: bool,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if let Some(metrics) = &self.watched.metrics {
            metrics.store.checked(self.answered);
        }
    }
}

#[async_trait]
impl Books for Watched {
    async fn cursors(&self, operator: &OperatorId) -> Result<Vec<(String, Cursor)>, StoreError> {
        self.timed("cursors", self.store.books().cursors(operator)).await
    }

    async fn take_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<Option<Cursor>, StoreError> {
        self.timed("take_cursor", self.store.books().take_cursor(operator, consumer)).await
    }

    async fn acknowledge(
        &self,
        operator: &OperatorId,
        consumer: &str,
        position: SettlementPosition,
    ) -> Result<Option<Cursor>, StoreError> {
        self.timed("acknowledge", self.store.books().acknowledge(operator, consumer, position)).await
    }

    async fn forget_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<bool, StoreError> {
        self.timed("forget_cursor", self.store.books().forget_cursor(operator, consumer)).await
    }

    async fn backlog(
        &self,
        operator: &OperatorId,
        after: Option<SettlementPosition>,
    ) -> Result<Backlog, StoreError> {
        self.timed("backlog", self.store.books().backlog(operator, after)).await
    }

    async fn retire(&self, operator: &OperatorId, before: Millis, limit: usize) -> Result<usize, StoreError> {
        self.timed("retire", self.store.books().retire(operator, before, limit)).await
    }

    async fn retired_until(&self, operator: &OperatorId) -> Result<Option<SettlementPosition>, StoreError> {
        self.timed("retired_until", self.store.books().retired_until(operator)).await
    }

    async fn accounts(
        &self,
        operator: &OperatorId,
        after: Option<&AccountName>,
        limit: usize,
    ) -> Result<Vec<Account>, StoreError> {
        self.timed("accounts", self.store.books().accounts(operator, after, limit)).await
    }

    async fn account(&self, operator: &OperatorId, player: &PlayerId) -> Result<Vec<Account>, StoreError> {
        self.timed("account", self.store.books().account(operator, player)).await
    }
}

#[async_trait]
impl Stops for Watched {
    async fn shelf(&self, shelf: &Shelf, known: Option<Token>) -> Result<Option<Stopped>, StoreError> {
        self.timed("shelf", self.store.stops().shelf(shelf, known)).await
    }

    async fn change(&self, change: &StopChange) -> Result<Changed, StoreError> {
        self.timed("change", self.store.stops().change(change)).await
    }

    async fn asked(&self, author: &Author, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        self.timed("asked", self.store.stops().asked(author, id)).await
    }

    async fn audit(
        &self,
        shelf: &Shelf,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        self.timed("audit", self.store.stops().audit(shelf, before, limit)).await
    }

    fn in_flight(&self) -> Duration {
        self.store.stops().in_flight()
    }
}

#[async_trait]
impl Untold for Watched {
    async fn take(
        &self,
        operator: &OperatorId,
        age: Millis,
        limit: usize,
    ) -> Result<Vec<TableHand>, StoreError> {
        self.timed("untold", self.store.untold().take(operator, age, limit)).await
    }

    async fn forget(&self, operator: &OperatorId, hands: &[TableHand]) -> Result<(), StoreError> {
        self.timed("untold", self.store.untold().forget(operator, hands)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::MemoryStore;

    fn functions(source: &str) -> Vec<&str> {
        let declared = source.lines().filter_map(|line| {
            let line = line.trim_start();
            line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn "))?.split('(').next()
        });
        declared.collect()
    }

    #[test]
    fn no_operation_is_left_to_its_default() {
        let (own, after) = include_str!("store.rs").split_once("mod tests").unwrap();
        assert!(after.contains("functions"));
        let own = functions(own);
        let traits = [
            (include_str!("../tables/src/store.rs"), "pub trait Store:"),
            (include_str!("../tables/src/books.rs"), "pub trait Books:"),
            (include_str!("../tables/src/stops/mod.rs"), "pub trait Stops:"),
            (include_str!("../tables/src/untold.rs"), "pub trait Untold:"),
        ];
        for (source, name) in traits {
            let (_, declared) = source.split_once(name).unwrap();
            let (declared, _) = declared.split_once("\n}\n").unwrap();
            let declared = functions(declared);
            assert!(declared.len() >= 2, "{name}");
            for function in declared {
                assert!(own.contains(&function), "{name} {function}");
            }
        }
    }

    #[test]
    fn the_names_of_operations_are_all_in_the_list() {
        let (own, _) = include_str!("store.rs").split_once("mod tests").unwrap();
        let calls = own.lines().filter(|line| line.contains("self.timed"));
        let mut named: Vec<&str> = calls.filter_map(|line| line.split('"').nth(1)).collect();
        named.dedup();
        assert_eq!(named, OPERATIONS);
    }

    #[tokio::test]
    async fn whoever_does_not_wait_for_a_check_counts_as_without_an_answer() {
        let metrics = Arc::new(Metrics::new(&[]));
        let watched = Watched::new(Arc::new(MemoryStore::default()), Some(Arc::clone(&metrics)));
        watched.check().await.unwrap();
        let up = || {
            metrics
                .text()
                .unwrap()
                .lines()
                .find(|line| line.starts_with("fulcrum_store_up "))
                .map(str::to_owned)
        };
        assert_eq!(up().as_deref(), Some("fulcrum_store_up 1"));
        drop(Box::pin(watched.check()));
        assert_eq!(up().as_deref(), Some("fulcrum_store_up 1"), "it was never begun");
        Asked { watched: &watched, answered: false };
        assert_eq!(up().as_deref(), Some("fulcrum_store_up 0"));
    }
}
