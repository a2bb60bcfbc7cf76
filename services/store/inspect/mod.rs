//! Looking into a store from outside: what lies there, as it lies there. For `fulcrum store`; nothing here serves tables.

mod check;

use async_trait::async_trait;
use rules::Millis;
use tables::{OperatorId, StoreError, TableId, TableKey, Token};
use uuid::Uuid;

pub use check::{Finding, What, check_table};

use super::{Keyring, Place, SealError, Sealed};

/// A process that signed lately.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process {
    /// Its name, its own at each start.
    pub id: Uuid,
    /// The newest format that it knows.
    pub knows: u32,
}

/// A table's state as it lies there.
#[derive(Clone, PartialEq, Eq)]
pub struct RawState {
    /// The commit that made it.
    pub token: Token,
    /// The record.
    pub record: Vec<u8>,
    /// When the calendar has the table, ms since the epoch.
    pub due: Option<Millis>,
}

/// An entry of a history as it lies there.
pub struct RawEntry {
    /// The version that it is kept under.
    pub version: u64,
    /// The token that it is found by, where the store keeps that beside the record.
    pub token: Option<Token>,
    /// The record.
    pub record: Vec<u8>,
    /// The record of the state after it, where that is kept.
    pub state: Option<Vec<u8>>,
}

/// How much history there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HistorySize {
    /// Commits.
    pub entries: u64,
    /// Bytes, as far as the store tells.
    pub bytes: Option<u64>,
}

/// A store from outside. Only [`Inspect::raise_format`] changes anything.
#[async_trait]
pub trait Inspect: Send + Sync {
    /// The format that records are written in.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn format(&self) -> Result<u32, StoreError>;

    /// Something sealed with each key that the store was told of.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn key_checks(&self) -> Result<Vec<Sealed>, StoreError>;

    /// The processes that signed in the last so many ms. A store that only one process can have has none.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn processes(&self, within: Millis) -> Result<Vec<Process>, StoreError>;

    /// Raises the format that records are written in, and gives what it was. It is never lowered, because records in the
    /// new one may be there at once.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if this version does not know that format, or the store is beyond it.
    async fn raise_format(&self, to: u32) -> Result<u32, StoreError>;

    /// All operators that have or had a table, in order.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn operators(&self) -> Result<Vec<OperatorId>, StoreError>;

    /// How many tables the operator has, closed ones included.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn count(&self, operator: &OperatorId) -> Result<u64, StoreError>;

    /// Up to `limit` of the operator's tables with ids after this one, in order, as the index names them; none only if
    /// there are no more.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<TableId>, StoreError>;

    /// The table's state and its place in the calendar, of one moment.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if not even a token is there.
    async fn state(&self, key: &TableKey) -> Result<Option<RawState>, StoreError>;

    /// Up to `limit` entries after this version that are still kept, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn entries(&self, key: &TableKey, after: u64, limit: usize) -> Result<Vec<RawEntry>, StoreError>;

    /// The last `limit` entries, newest first.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn latest(&self, key: &TableKey, limit: usize) -> Result<Vec<RawEntry>, StoreError>;

    /// How much history is kept.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn history(&self, key: &TableKey) -> Result<HistorySize, StoreError>;

    /// The records of these settlements of the table, in the order of the ids.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn settlements(&self, key: &TableKey, ids: &[Uuid]) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// Until when, ms since the epoch, settlements beside this table's may have been removed for their age; `None` if none
    /// was. Their own time is not far from it ([`tables::settlement::DRIFT`]).
    ///
    /// # Errors
    /// [`StoreError`]
    async fn retired(&self, key: &TableKey) -> Result<Option<Millis>, StoreError>;
}

/// Whether these keys are those of the store.
///
/// # Errors
/// [`StoreError::KeyUnavailable`] names the key that is missing or is another one.
pub async fn check_keys(store: &dyn Inspect, keys: &Keyring) -> Result<(), StoreError> {
    for sealed in store.key_checks().await? {
        let id = &sealed.key_id;
        match keys.open(&Place::CHECK, &sealed) {
            Ok(_) => {}
            Err(SealError::UnknownKey(_)) => {
                return Err(StoreError::KeyUnavailable(format!("the key {id:?} is not among those given")));
            }
            Err(_) => {
                let why =
                    format!("the key {id:?} that is given is another one than the store's of that name");
                return Err(StoreError::KeyUnavailable(why));
            }
        }
    }
    Ok(())
}
