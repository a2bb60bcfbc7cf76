//! What a store promises. [`crate::laws`] tests these promises on every store.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use rules::Millis;
use rules::event::Event;
use rules::table::Table;
use thiserror::Error;
use uuid::Uuid;

use crate::books::{AccountStep, Books};
use crate::ids::{OperatorId, RequestId, TableId, TableKey};
use crate::resume::ResumeKey;
use crate::settlement::{Settlement, SettlementFilter, SettlementPage, SettlementPosition};
use crate::signals::Origin;
use crate::stops::Stops;
use crate::untold::{TableHand, Untold};

/// How long a store keeps request records unless set otherwise: 14 days, in ms.
pub const REQUEST_RETENTION: Millis = Millis::minutes(14 * 24 * 60);

/// So far may a stamp be ahead of the store's time, ms.
pub const AHEAD: Millis = Millis(250);

/// Names one commit. The nonce is random: after a lossy fail-over versions come again with other contents, and whoever
/// compared only versions would build on a state that he has never seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Token {
    /// The table's version with it.
    pub version: u64,
    /// Random, per commit.
    pub nonce: u64,
}

/// A table as it stands in the store.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The commit that made it.
    pub token: Token,
    /// The state; `table.version` is `token.version`.
    pub table: Arc<Table>,
}

/// What became of a request that is remembered: it was done, or it was declined for good. Other refused requests leave
/// none.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestRecord {
    /// The caller's name for it, his own per operator.
    pub id: RequestId,
    /// SHA-256 of the method and the message without its request id.
    pub payload: [u8; 32],
    /// The encoded response.
    pub answer: Vec<u8>,
    /// When it was received, ms since the epoch.
    pub at: Millis,
    /// Whether it was declined; the answer is then the refusal.
    pub declined: bool,
}

/// Without the answer, which may show a player's own cards.
impl fmt::Debug for RequestRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestRecord").field("id", &self.id).field("at", &self.at).finish_non_exhaustive()
    }
}

/// One atomic step of one table.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The table.
    pub key: TableKey,
    /// The commit that this one follows; `None` opens the table.
    pub expected: Option<Token>,
    /// The name of this commit; its version is one more than the expected one's, 1 for an opening.
    pub token: Token,
    /// The state after it.
    pub table: Arc<Table>,
    /// What happened; at least one event.
    pub events: Vec<Event>,
    /// The request that asked for it, to be kept for repetitions.
    pub request: Option<RequestRecord>,
    /// The settlement records that it makes.
    pub settlements: Vec<Settlement>,
    /// What it adds to players' accounts. A step that took one beyond [`crate::books::ACCOUNT_LIMIT`] is
    /// [`StoreError::Corrupt`], and nothing is done.
    pub accounts: Vec<AccountStep>,
    /// When the clocks have to look at the table again; `None`: not until somebody commits.
    pub due: Option<Millis>,
    /// Not to be applied before this, by the store's time (rules 8.2).
    pub not_before: Option<Millis>,
    /// With which time its events are stamped, by the store's time as its sender knows it; zero if that does not matter.
    pub stamped: Millis,
    /// Where it was asked for.
    pub origin: Option<Origin>,
    /// It ends a hand of which is to be told: that is noted with it ([`crate::untold`]).
    pub untold: bool,
}

impl Commit {
    /// When it happened, for those who read it later: its stamp, or the store's time if it has none.
    #[must_use]
    pub fn time(&self, now: Millis) -> Millis {
        if self.stamped == Millis::ZERO { now } else { self.stamped }
    }

    /// The hand that is noted with it, if one is.
    #[must_use]
    pub fn untold_hand(&self) -> Option<TableHand> {
        // Not the number of hands: a loss of history skips some with the commit that ends a hand.
        let number = self.table.hand.as_ref().map_or(self.table.hands, |hand| hand.number);
        self.untold.then_some(TableHand { table: self.key.table, number })
    }
}

/// What became of a commit. The checks come in this order: request record, token, time.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It is done and durable.
    Committed {
        /// The store's time, ms since the epoch.
        now: Millis,
    },
    /// Another commit came first; this is the state now, `None` if there is no such table.
    Conflict(Option<Stored>),
    /// The expected commit is not in the table's past; this is the state now. Either nobody ever made it, or the store
    /// has lost history: see [`severed`].
    Severed(Stored),
    /// The same request with the same payload was done before.
    Repeated {
        /// What was answered then.
        answer: Vec<u8>,
        /// Whether it was declined.
        declined: bool,
    },
    /// The same request id was used before with another payload.
    RequestReused,
    /// It is not yet time.
    TooEarly {
        /// The store's time, ms since the epoch.
        now: Millis,
    },
    /// It is stamped more than [`AHEAD`] later than the store's time: its sender is mistaken about that.
    Ahead {
        /// The store's time, ms since the epoch.
        now: Millis,
    },
}

/// A commit as history keeps it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The table's version with it.
    pub version: u64,
    /// Its name, by which a writer who was cut off recognises his own commit.
    pub token: Token,
    /// The commit that it follows; `None` if it opened the table.
    pub previous: Option<Token>,
    /// When it happened ([`Commit::time`]), ms since the epoch; `None` in records of the first format.
    pub at: Option<Millis>,
    /// What happened.
    pub events: Arc<[Event]>,
    /// Where it was asked for, if that was remembered.
    pub origin: Option<Origin>,
}

/// A piece of a table's history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct History {
    /// Contiguous, oldest first.
    pub entries: Vec<Entry>,
    /// The oldest version that is still kept; 0 for an unknown table. The latest commit is always kept.
    pub oldest: u64,
}

/// A time during which the service was away (rules 8.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// The last sign of life before it, ms since the epoch.
    pub from: Millis,
    /// The first after it.
    pub to: Millis,
}

/// Why a store could not answer. The texts are for the log, never for a caller.
#[derive(Debug, Clone, Error)]
pub enum StoreError {
    /// Nothing was done; later it may work.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// A commit may have happened or not: read before you decide.
    #[error("it is unknown whether the commit happened: {0}")]
    Unknown(String),
    /// A record cannot be read.
    #[error("a stored record is corrupt: {0}")]
    Corrupt(String),
    /// A record is sealed with a key that this process does not have.
    #[error("a record is sealed with a key that is not here: {0}")]
    KeyUnavailable(String),
}

/// A table in a list: as it is, or why its record cannot be read. Others can be, all the same.
pub type Listed = (TableKey, Result<Stored, StoreError>);

/// Whether a commit that somebody has seen is missing from the past of a table, and that is not known yet. `kept` is the
/// commit of its version that the history has; `None` if it keeps none of that version.
#[must_use]
pub fn severed(seen: Token, current: &Stored, kept: Option<Token>) -> bool {
    !is_past(seen, current, kept) && !current.table.knows_loss_of(seen.version)
}

/// Whether a commit is in the past of a table, as far as that can be told. `kept` as in [`severed`].
#[must_use]
pub fn is_past(seen: Token, current: &Stored, kept: Option<Token>) -> bool {
    match kept {
        _ if seen == current.token => true,
        Some(kept) => kept == seen,
        // What is older than the history cannot be told; what is later than the table was never made, or is lost.
        None => current.token.version > seen.version,
    }
}

/// Formats of stored records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordFormats {
    /// The installation's, which all its servers write.
    pub installed: u32,
    /// The newest that this program knows.
    pub newest: u32,
}

/// Keeps a store telling of a table; until it is dropped.
pub type Following = Box<dyn Any + Send + Sync>;

/// What a store tells of a table that is followed.
#[derive(Clone, Debug)]
pub enum Heard {
    /// A commit.
    Commit(Entry),
    /// Something was missed: the history has it.
    Missed,
}

/// Where a store tells of commits. Never blocks.
pub trait Ear: Send + Sync + 'static {
    /// Takes in what a store tells of a table. It may fail to: whether it has shows in [`Ear::told`].
    fn hear(&self, key: &TableKey, heard: Heard);

    /// The last commit of the table that has been passed on; `None` if nobody wants to know. If the table is at another one
    /// the store says again that something was missed.
    fn told(&self, key: &TableKey) -> Option<Token>;
}

/// Where tables live. All methods may be called from many tasks at once.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// The store's time, ms since the epoch: the one by which received requests and due times are stamped.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn now(&self) -> Result<Millis, StoreError>;

    /// The table as of its last commit.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn load(&self, key: &TableKey) -> Result<Option<Stored>, StoreError>;

    /// As [`Store::load`], and the state is as durable as the store promises: for an answer that acknowledges what
    /// somebody else may have committed a moment ago. In a store with replicas a state can be read before they have it.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn load_durable(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        self.load(key).await
    }

    /// Does all of the commit or nothing. Nobody sees anything of it before it is done, and it is durable when this
    /// returns.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if it may have happened; after all others it has not.
    async fn commit(&self, commit: Commit) -> Result<Outcome, StoreError>;

    /// Looks anew where the table is. What was read before may have come from a server that is out of date.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn find_again(&self, key: &TableKey) -> Result<(), StoreError> {
        let _ = key;
        Ok(())
    }

    /// Grows whenever commits that were seen before may be gone: when servers were reached anew.
    fn era(&self) -> u64 {
        0
    }

    /// Whether its records can tell that history was lost: those of the first format cannot.
    fn can_tell_loss(&self) -> bool {
        true
    }

    /// The formats of its records; `None` if it keeps none.
    fn record_formats(&self) -> Option<RecordFormats> {
        None
    }

    /// The keys of resume tokens: the first one makes them, all of them are good.
    fn resume_keys(&self) -> &[ResumeKey];

    /// What is kept beside the tables.
    fn books(&self) -> &dyn Books;

    /// The durable record of a request of this table, kept for [`REQUEST_RETENTION`] unless set otherwise. A store that has all of an
    /// operator's tables in one place may also know it at his others; one whose tables are spread cannot.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn request(&self, key: &TableKey, id: &RequestId) -> Result<Option<RequestRecord>, StoreError>;

    /// Up to `limit` commits after version `after`; if those are no longer kept, from the oldest one that is.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn history(&self, key: &TableKey, after: u64, limit: usize) -> Result<History, StoreError>;

    /// Tells the ear of commits at this table that other processes make, from when this returns until what it gives is
    /// dropped. Some may be missed or told twice: it is a hint, the history is the truth. A store that only this
    /// process uses has nothing to tell.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn follow(&self, key: &TableKey, ear: &Arc<dyn Ear>) -> Result<Option<Following>, StoreError> {
        let _ = (key, ear);
        Ok(None)
    }

    /// The latest state at or before the version that the store has kept, from which later ones can be folded.
    /// A store that keeps none says so; then only a history from the opening on can be followed.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn checkpoint(&self, key: &TableKey, version: u64) -> Result<Option<Arc<Table>>, StoreError> {
        let _ = (key, version);
        Ok(None)
    }

    /// Up to `limit` tables that are due by then, the earliest first.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn due(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, StoreError>;

    /// As [`Store::due`], of the tables that can be decided on just now: where a store is several servers, those of one that
    /// is away, or of which no heartbeat has come through lately, do not hold up the others.
    ///
    /// # Errors
    /// [`StoreError`] if there is no answer at all.
    async fn due_now(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        self.due(until, limit).await
    }

    /// How often the calendar has to be looked at although nothing was due, because other processes write to it too;
    /// `None` if there are no others.
    fn poll(&self) -> Option<Millis> {
        None
    }

    /// When the next table is due.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn next_due(&self) -> Result<Option<Millis>, StoreError>;

    /// Up to `limit` tables of the operator with ids after this one, in order of their ids. One whose record cannot be read
    /// is among them.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError>;

    /// One settlement record, durable as the store promises.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn settlement(&self, operator: &OperatorId, id: &Uuid) -> Result<Option<Settlement>, StoreError>;

    /// Up to `limit` settlement records of the operator that the filter lets through, after this position, in the
    /// order in which they were committed, all of them durable as the store promises. A record's
    /// position never changes, and later ones have greater positions. The store may stop looking earlier, and says where:
    /// what one call costs has a bound.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn settlements(
        &self,
        operator: &OperatorId,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: usize,
    ) -> Result<SettlementPage, StoreError>;

    /// Notes durably that the service is alive, at every server that can be reached.
    ///
    /// # Errors
    /// [`StoreError`] if there is none.
    async fn heartbeat(&self, now: Millis) -> Result<(), StoreError>;

    /// The times, oldest first, during which the service was away, as the last heartbeat left them. It may have been
    /// away for some tables only.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn outages(&self) -> Result<Vec<Outage>, StoreError>;

    /// Those of them that concern this table.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn outages_of(&self, key: &TableKey) -> Result<Vec<Outage>, StoreError> {
        let _ = key;
        self.outages().await
    }

    /// As [`Store::outages_of`], after a look whether the service has been away until now: for whoever is about to say
    /// no because of a clock.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn outages_by_now(&self, key: &TableKey) -> Result<Vec<Outage>, StoreError> {
        self.heartbeat(self.now().await?).await?;
        self.outages_of(key).await
    }

    /// The registry of stops (rules 9.4), in the same place as the tables.
    fn stops(&self) -> &dyn Stops;

    /// The hands of which is still to be told.
    fn untold(&self) -> &dyn Untold;

    /// Whether the store works.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn check(&self) -> Result<(), StoreError>;
}
