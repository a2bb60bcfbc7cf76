//! The store in Redis: single, behind Sentinel, or a Cluster. Any number of processes may use one installation.
//!
//! A commit is one call of one script ([`commit.lua`](script)) on the server that has the table's shard; it is the only
//! writer of tables. What the script cannot say, because its answer was lost, is found out by whoever asked for the
//! commit: sent again, it recognises itself by its token.

mod accounts;
mod answering;
mod books;
mod calendar;
mod checks;
mod clock;
mod commits;
mod config;
mod cursors;
mod durable;
mod fault;
mod fences;
mod formats;
mod inspect;
mod keys;
mod link;
mod listen;
mod living;
mod node;
mod probe;
mod reads;
mod retire;
mod route;
mod script;
mod settlements;
pub mod spreading;
mod startup;
mod stops;
mod time;
mod topology;
mod traffic;
mod trips;
mod untold;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rules::Millis;
use rules::table::Table;
use tables::{
    Books, Commit, Ear, Following, History, Listed, OperatorId, Outage, Outcome, RecordFormats, RequestId,
    RequestRecord, ResumeKey, Settlement, SettlementFilter, SettlementPage, SettlementPosition, Stops, Store,
    StoreError, Stored, TableId, TableKey, Untold,
};
use uuid::Uuid;

pub use config::{BadUrl, Durability, Endpoint, Login, Password, RedisConfig, Tls, Topology};
pub use inspect::RedisInspector;
pub use startup::StartError;
pub use traffic::{RoundTrips, ServerState, Traffic};

use self::calendar::Whose;
use self::fault::Fault;
use self::keys::Shard;
use self::link::Link;
use self::listen::Listener;
use self::living::Living;
use self::route::Router;
use self::untold::Noting;
use super::Codec;

/// How often the primaries are looked up although nothing is wrong: a demoted one that nobody writes to says nothing.
const LOOK: Duration = Duration::from_secs(1);
/// How often the clocks have to look for what other processes put on the calendar.
pub const POLL: Millis = Millis(100);

/// Tables in Redis.
pub struct RedisStore {
    config: RedisConfig,
    codec: Codec,
    router: Arc<Router>,
    living: Living,
    listener: Listener,
    noting: Arc<Noting>,
}

impl RedisStore {
    /// Connects, and looks whether everything is as it has to be. Warnings are logged.
    ///
    /// # Errors
    /// [`StartError`] in plain words.
    pub async fn open(config: RedisConfig, codec: Codec) -> Result<RedisStore, StartError> {
        let (store, warnings) = RedisStore::open_quietly(config, codec).await?;
        for warning in warnings {
            tracing::warn!(event = "redis_unfit", "{warning}");
        }
        Ok(store)
    }

    /// As [`RedisStore::open`], and gives the warnings.
    ///
    /// # Errors
    /// [`StartError`] in plain words.
    pub async fn open_quietly(
        config: RedisConfig,
        codec: Codec,
    ) -> Result<(RedisStore, Vec<String>), StartError> {
        let link = Link::new(&config).map_err(|error| StartError::Unreachable(error.to_string()))?;
        let router = Arc::new(Router::new(&config, link));
        let living = Living::new(config.shards);
        let listener = Listener::new(&router, &codec, config.shards);
        let noting = Arc::new(Noting::new());
        let store = RedisStore { config, codec, router, living, listener, noting };
        let warnings = store.check_start().await?;
        store.keep_looking();
        Ok((store, warnings))
    }

    /// Has the primaries looked up now and then, as long as the store lives.
    fn keep_looking(&self) {
        if !self.router.moves() {
            return;
        }
        let router = Arc::downgrade(&self.router);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(router) = router.upgrade() else {
                    return;
                };
                if let Ok(map) = router.map().await {
                    // Who cannot be found now is looked for by the next call that needs him.
                    let _ = router.locate(Some(&map)).await;
                }
            }
        });
    }

    fn shards(&self) -> u16 {
        self.config.shards
    }

    fn all_shards(&self) -> Vec<Shard> {
        Shard::all(self.shards()).collect()
    }
}

#[async_trait]
impl Store for RedisStore {
    async fn now(&self) -> Result<Millis, StoreError> {
        self.time().await
    }

    async fn load(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        self.read_table(key).await
    }

    async fn load_durable(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        self.read_durable_table(key).await
    }

    async fn commit(&self, commit: Commit) -> Result<Outcome, StoreError> {
        self.try_commit(&commit).await
    }

    async fn find_again(&self, _key: &TableKey) -> Result<(), StoreError> {
        let map = self.router.map().await.map_err(Fault::unavailable)?;
        self.router.locate(Some(&map)).await.map(|_| ()).map_err(Fault::unavailable)
    }

    fn era(&self) -> u64 {
        self.router.era()
    }

    fn can_tell_loss(&self) -> bool {
        self.codec.can_tell_loss()
    }

    fn record_formats(&self) -> Option<RecordFormats> {
        Some(self.codec.formats())
    }

    fn books(&self) -> &dyn Books {
        self
    }

    fn resume_keys(&self) -> &[ResumeKey] {
        self.codec.keys().resume_keys()
    }

    async fn request(&self, key: &TableKey, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        self.read_request(key, id).await
    }

    async fn history(&self, key: &TableKey, after: u64, limit: usize) -> Result<History, StoreError> {
        self.read_history(key, after, limit).await
    }

    async fn follow(&self, key: &TableKey, ear: &Arc<dyn Ear>) -> Result<Option<Following>, StoreError> {
        Ok(Some(self.listener.follow(key, ear).await))
    }

    async fn checkpoint(&self, key: &TableKey, version: u64) -> Result<Option<Arc<Table>>, StoreError> {
        self.read_checkpoint(key, version).await
    }

    async fn due(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        self.look_due(until, limit, Whose::All).await
    }

    async fn due_now(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        self.look_due(until, limit, Whose::WhoAnswers).await
    }

    async fn next_due(&self) -> Result<Option<Millis>, StoreError> {
        self.read_next_due(&self.own_shards()).await
    }

    fn poll(&self) -> Option<Millis> {
        Some(POLL)
    }

    async fn tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        self.read_tables(operator, after, limit).await
    }

    async fn settlement(&self, operator: &OperatorId, id: &Uuid) -> Result<Option<Settlement>, StoreError> {
        self.find_settlement(operator, id).await
    }

    async fn settlements(
        &self,
        operator: &OperatorId,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: usize,
    ) -> Result<SettlementPage, StoreError> {
        self.list_settlements(operator, filter, after, limit).await
    }

    async fn heartbeat(&self, _now: Millis) -> Result<(), StoreError> {
        self.beat().await
    }

    async fn outages(&self) -> Result<Vec<Outage>, StoreError> {
        self.all_outages().await
    }

    async fn outages_of(&self, key: &TableKey) -> Result<Vec<Outage>, StoreError> {
        self.known_outages(key).await
    }

    async fn outages_by_now(&self, key: &TableKey) -> Result<Vec<Outage>, StoreError> {
        self.outages_with_a_beat(key).await
    }

    fn stops(&self) -> &dyn Stops {
        self
    }

    fn untold(&self) -> &dyn Untold {
        self
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.codec.written_format()?;
        self.times().await.map(|_| ())
    }
}
