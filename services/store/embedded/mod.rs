//! The embedded store: one file, one process, nothing to install. A commit is on the disk when it is answered.
//!
//! One thread writes. It takes all commits that wait into one transaction (a group commit), so that the disk's time is
//! shared; readers see the last durable transaction and wait for nobody.

mod batch;
mod books;
#[cfg(test)]
mod disk;
mod fault;
mod inspect;
mod opening;
mod read;
mod recent;
mod requests;
mod retire;
mod schema;
mod stops;
mod untold;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use redb::Database;
use rules::result::PlayerResult;
use rules::{Millis, Table};
use tables::store::REQUEST_RETENTION;
use tables::time::{Clock, SystemClock};
use tables::untold::MOST;
use tables::{
    Books, Commit, History, Listed, OperatorId, Outage, Outcome, RecordFormats, RequestId, RequestRecord,
    ResumeKey, Settlement, SettlementBody, SettlementFilter, SettlementPage, SettlementPosition, Stops,
    Store, StoreError, Stored, TableId, TableKey, Untold,
};
use tokio::sync::oneshot;
use uuid::Uuid;

pub use inspect::FileInspector;
pub use opening::OpenError;

use self::batch::{Prepared, PreparedRequest, PreparedSettlement};
use self::fault::Fault;
use self::read::Reader;
use self::recent::Recent;
use self::requests::{Drawer, Wanted};
use self::writer::{Health, Job, Writer};
use super::codec::{Codec, CodecError, EntryHead};
use super::keyring::Keyring;

/// How a store is opened.
#[derive(Clone)]
pub struct EmbeddedSettings {
    /// The file. It is made if it is not there; its folder is not.
    pub path: PathBuf,
    /// The keys for the cards.
    pub keys: Arc<Keyring>,
    /// How many commits of each table are kept at least; older ones go in blocks.
    pub history: u64,
    /// How long request records are kept, ms.
    pub requests_kept: Millis,
    /// How many hands of an operator are noted as still to be told, at most.
    pub notes: usize,
    /// Memory for pages of the file, in bytes.
    pub cache: usize,
    /// Read the whole file when it is opened, and refuse it if a byte has changed.
    pub verify: bool,
    /// What the time is taken from.
    pub clock: Arc<dyn Clock>,
}

impl EmbeddedSettings {
    /// The usual settings for a file.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, keys: Arc<Keyring>) -> EmbeddedSettings {
        EmbeddedSettings {
            path: path.into(),
            keys,
            history: 4096,
            requests_kept: REQUEST_RETENTION,
            notes: MOST,
            cache: 256 << 20,
            verify: true,
            clock: Arc::new(SystemClock::default()),
        }
    }
}

/// A store in a file.
pub struct EmbeddedStore {
    // Before the reader: the writer is to be done with the file before that is closed.
    writer: Writer,
    reader: Arc<Reader>,
    clock: Arc<dyn Clock>,
    health: Health,
}

impl EmbeddedStore {
    /// Opens the file, which no other process may have open, and records how long nobody had (rules 8.4).
    ///
    /// # Errors
    /// [`OpenError`], which says what to do.
    pub fn open(settings: EmbeddedSettings) -> Result<EmbeddedStore, OpenError> {
        let database = opening::open_file(&settings.path, settings.cache, settings.verify)?;
        EmbeddedStore::start(database, settings)
    }

    fn start(database: Database, settings: EmbeddedSettings) -> Result<EmbeddedStore, OpenError> {
        let EmbeddedSettings { path, keys, history, requests_kept, notes, clock, .. } = settings;
        let codec = Codec::new(keys);
        let format = opening::prepare(&database, &path, &codec, clock.now())?;
        codec.begin_with(format);
        let (recent, notes) = (Recent::default(), notes as u64);
        let reader = Arc::new(Reader { database, codec, recent, requests_kept, notes });
        let health = Health::default();
        let writer = Writer::start(Arc::clone(&reader), Arc::clone(&clock), history.max(1), health.clone())
            .map_err(|source| OpenError::File { path, source })?;
        Ok(EmbeddedStore { writer, reader, clock, health })
    }

    /// A short look into the file.
    fn look<T>(&self, look: impl FnOnce(&Reader) -> Result<T, Fault>) -> Result<T, StoreError> {
        self.health.check()?;
        Ok(look(&self.reader)?)
    }

    /// A long one, which must not hold up a thread that serves others.
    async fn study<T: Send + 'static>(
        &self,
        study: impl FnOnce(&Reader) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.health.check()?;
        let reader = Arc::clone(&self.reader);
        let studied = tokio::task::spawn_blocking(move || study(&reader)).await;
        Ok(studied.map_err(|error| StoreError::Unavailable(format!("reading: {error}")))??)
    }

    fn prepare(&self, commit: Commit) -> Result<Prepared, StoreError> {
        let at = commit.time(self.clock.now());
        let untold = commit.untold_hand();
        let Commit {
            key,
            expected,
            token,
            table,
            events,
            request,
            settlements,
            accounts,
            due,
            not_before,
            stamped,
            origin,
            ..
        } = commit;
        let head = EntryHead { previous: expected, token, at, hand: table.hands, origin };
        let codec = &self.reader.codec;
        let request = request.map(|request| {
            let record = codec.write_request(&key.operator, &request)?;
            Ok::<_, StoreError>(PreparedRequest { id: request.id, payload: request.payload, record })
        });
        let settlements = settlements.iter().map(|settlement| prepare_settlement(codec, settlement));
        Ok(Prepared {
            expected,
            record: codec.write_table(&key, &table)?,
            entry: codec.write_entry(&key, &head, &events)?,
            request: request.transpose()?,
            settlements: settlements.collect::<Result<_, _>>()?,
            accounts,
            due,
            not_before,
            stamped,
            untold,
            stored: Stored { token, table },
            key,
        })
    }
}

fn prepare_settlement(codec: &Codec, settlement: &Settlement) -> Result<PreparedSettlement, CodecError> {
    Ok(PreparedSettlement {
        id: settlement.id,
        hand: settlement.hand(),
        players: players(&settlement.body),
        record: codec.write_settlement(settlement)?,
    })
}

/// Whom a settlement is found by: everybody for whom [`Settlement::concerns`] says yes.
fn players(body: &SettlementBody) -> Vec<String> {
    let name = |player: &rules::PlayerId| player.as_str().to_owned();
    match body {
        SettlementBody::Hand(result) => {
            result.players.iter().map(|PlayerResult { player, .. }| name(player)).collect()
        }
        SettlementBody::Void { refunds, .. } => refunds.iter().map(|(_, player, _)| name(player)).collect(),
        SettlementBody::Movement { player, .. } => vec![name(player)],
        SettlementBody::Transaction { payment, .. } => vec![name(&payment.player)],
        SettlementBody::Reversal { .. } => Vec::new(),
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    async fn now(&self) -> Result<Millis, StoreError> {
        Ok(self.clock.now())
    }

    fn can_tell_loss(&self) -> bool {
        self.reader.codec.can_tell_loss()
    }

    fn record_formats(&self) -> Option<RecordFormats> {
        Some(self.reader.codec.formats())
    }

    fn books(&self) -> &dyn Books {
        self
    }

    fn resume_keys(&self) -> &[ResumeKey] {
        self.reader.codec.keys().resume_keys()
    }

    async fn load(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        self.look(|reader| reader.load(key))
    }

    async fn commit(&self, commit: Commit) -> Result<Outcome, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.writer.give(Job::Commit(Box::new(self.prepare(commit)?), reply)).await?;
        let stopped = |_| StoreError::Unknown("the writer of the store stopped".to_owned());
        answer.await.map_err(stopped)?
    }

    async fn request(&self, key: &TableKey, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        let wanted = Wanted { owner: key.operator.as_str(), name: &key.operator, id };
        self.look(|reader| reader.request(Drawer::OF_TABLES, &wanted, self.clock.now()))
    }

    async fn history(&self, key: &TableKey, after: u64, limit: usize) -> Result<History, StoreError> {
        let key = key.clone();
        self.study(move |reader| reader.history(&key, after, limit)).await
    }

    async fn checkpoint(&self, key: &TableKey, version: u64) -> Result<Option<Arc<Table>>, StoreError> {
        self.look(|reader| reader.checkpoint(key, version))
    }

    async fn due(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        self.study(move |reader| reader.due(until, limit)).await
    }

    async fn next_due(&self) -> Result<Option<Millis>, StoreError> {
        self.look(Reader::next_due)
    }

    async fn tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let operator = operator.clone();
        self.study(move |reader| reader.tables(&operator, after, limit)).await
    }

    async fn settlement(&self, operator: &OperatorId, id: &Uuid) -> Result<Option<Settlement>, StoreError> {
        self.look(|reader| reader.settlement(operator, id))
    }

    async fn settlements(
        &self,
        operator: &OperatorId,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: usize,
    ) -> Result<SettlementPage, StoreError> {
        let (operator, filter) = (operator.clone(), filter.clone());
        self.study(move |reader| reader.settlements(&operator, &filter, after, limit)).await
    }

    async fn heartbeat(&self, now: Millis) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.writer.give(Job::Heartbeat(now, reply)).await?;
        let stopped = |_| StoreError::Unavailable("the writer of the store stopped".to_owned());
        answer.await.map_err(stopped)?
    }

    async fn outages(&self) -> Result<Vec<Outage>, StoreError> {
        self.look(Reader::outages)
    }

    fn stops(&self) -> &dyn Stops {
        self
    }

    fn untold(&self) -> &dyn Untold {
        self
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.look(|reader| reader.next_due().map(|_| ()))
    }
}
