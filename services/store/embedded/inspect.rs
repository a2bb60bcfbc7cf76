//! A store's file from outside, while nobody serves it. Nothing is written but a raise of the format: no sign of life
//! either, so that an outage stays as long as it was (rules 8.4).

use std::collections::BTreeSet;
use std::path::Path;

use async_trait::async_trait;
use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, TableError};
use rules::Millis;
use tables::{OperatorId, StoreError, TableId, TableKey};
use uuid::Uuid;

use super::fault::Fault;
use super::opening::{self, OpenError, read_key_check};
use super::schema::{
    CHECKPOINTS, DUE, EVENTS, KEY_CHECKS, LAYOUT, META, META_FORMAT, META_LAYOUT, RETIRED, Row,
    SETTLEMENT_IDS, SETTLEMENTS, TABLES, table_key,
};
use crate::store::codec::{Codec, FIRST_FORMAT, FORMAT};
use crate::store::inspect::{HistorySize, Inspect, Process, RawEntry, RawState};
use crate::store::seal::Sealed;

/// Memory for pages of the file, in bytes.
const CACHE: usize = 64 << 20;

/// A file, looked at. No other process can have it meanwhile.
pub struct FileInspector {
    database: Database,
}

impl FileInspector {
    /// Opens a file that is there. With `verify` every page of it is looked at.
    ///
    /// # Errors
    /// [`OpenError`], which says what to do.
    pub fn open(path: &Path, verify: bool) -> Result<FileInspector, OpenError> {
        if !path.is_file() {
            return Err(OpenError::NoStore { path: path.to_owned() });
        }
        let database = opening::open_file(path, CACHE, verify)?;
        let file = FileInspector { database };
        let (layout, format) = file.numbers().map_err(|_| OpenError::Damaged {
            path: path.to_owned(),
            detail: "it has no layout".to_owned(),
        })?;
        let other = |detail| Err(OpenError::OtherVersion { path: path.to_owned(), detail });
        match format {
            _ if layout != LAYOUT => other(format!("layout {layout}, not {LAYOUT}")),
            later if later > u64::from(FORMAT) => {
                other(format!("its records have format {later}, and this version knows them up to {FORMAT}"))
            }
            _ => Ok(file),
        }
    }

    fn begin(&self) -> Result<ReadTransaction, Fault> {
        Ok(self.database.begin_read()?)
    }

    /// Layout and format.
    fn numbers(&self) -> Result<(u64, u64), Fault> {
        let meta = self.begin()?.open_table(META)?;
        let layout = meta.get(META_LAYOUT)?.map(|layout| layout.value());
        let format = meta.get(META_FORMAT)?.map_or(FIRST_FORMAT.into(), |format| format.value());
        Ok((layout.ok_or_else(|| Fault::corrupt("the layout is missing"))?, format))
    }

    fn read_state(&self, key: &TableKey) -> Result<Option<RawState>, Fault> {
        let transaction = self.begin()?;
        let tables = transaction.open_table(TABLES)?;
        let Some(found) = tables.get(table_key(key))? else {
            return Ok(None);
        };
        let row = Row::read(found.value()).ok_or_else(|| Fault::corrupt("the row has not even a token"))?;
        // What counts is the calendar; the row only says where to look.
        let (operator, table) = table_key(key);
        let due = transaction.open_table(DUE)?;
        let there = match row.due {
            Some(at) => due.get((at.0, operator, table))?.map(|_| at),
            None => None,
        };
        Ok(Some(RawState { token: row.token, record: row.record.to_vec(), due: there }))
    }

    fn read_entries(
        &self,
        key: &TableKey,
        after: u64,
        limit: usize,
        newest: bool,
    ) -> Result<Vec<RawEntry>, Fault> {
        let transaction = self.begin()?;
        let (events, kept) = (transaction.open_table(EVENTS)?, transaction.open_table(CHECKPOINTS)?);
        let (operator, table) = table_key(key);
        let Some(first) = after.checked_add(1) else {
            return Ok(Vec::new());
        };
        let mut range = events.range((operator, table, first)..=(operator, table, u64::MAX))?;
        let mut found = Vec::new();
        while found.len() < limit
            && let Some(entry) = if newest { range.next_back() } else { range.next() }
        {
            let (at, record) = entry?;
            let version = at.value().2;
            let state = kept.get((operator, table, version))?.map(|state| state.value().to_vec());
            found.push(RawEntry { version, token: None, record: record.value().to_vec(), state });
        }
        Ok(found)
    }

    fn read_operators(&self) -> Result<Vec<OperatorId>, Fault> {
        let tables = self.begin()?.open_table(TABLES)?;
        let mut found = BTreeSet::new();
        let mut from = String::new();
        // From one operator to the next, not table by table.
        while let Some(row) = tables.range((from.as_str(), 0)..)?.next() {
            let (at, _) = row?;
            let name = at.value().0.to_owned();
            let operator = OperatorId::new(&name);
            found.insert(operator.ok_or_else(|| Fault::corrupt("an operator's name"))?);
            // The least string that is greater.
            from = name + "\0";
        }
        Ok(found.into_iter().collect())
    }

    fn read_settlements(&self, key: &TableKey, ids: &[Uuid]) -> Result<Vec<Option<Vec<u8>>>, Fault> {
        let transaction = self.begin()?;
        let places = transaction.open_table(SETTLEMENT_IDS)?;
        let records = transaction.open_table(SETTLEMENTS)?;
        let operator = key.operator.as_str();
        let read = |id: &Uuid| {
            let Some(place) = places.get((operator, id.as_u128()))? else {
                return Ok(None);
            };
            let record = records.get((operator, place.value()))?;
            Ok(record.map(|record| record.value().to_vec()))
        };
        ids.iter().map(read).collect()
    }

    fn read_retired(&self, key: &TableKey) -> Result<Option<Millis>, Fault> {
        let retired = match self.begin()?.open_table(RETIRED) {
            Ok(retired) => retired,
            // Files that were last served by a version that removed nothing do not have it.
            Err(TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let found = retired.get(key.operator.as_str())?;
        Ok(found.map(|found| Millis(found.value().1)))
    }

    fn read_history(&self, key: &TableKey) -> Result<HistorySize, Fault> {
        let events = self.begin()?.open_table(EVENTS)?;
        let (operator, table) = table_key(key);
        let mut size = HistorySize { entries: 0, bytes: Some(0) };
        for entry in events.range((operator, table, 0)..=(operator, table, u64::MAX))? {
            let (_, record) = entry?;
            size.entries += 1;
            size.bytes = size.bytes.map(|bytes| bytes + record.value().len() as u64);
        }
        Ok(size)
    }
}

#[async_trait]
impl Inspect for FileInspector {
    async fn format(&self) -> Result<u32, StoreError> {
        let (_, format) = self.numbers()?;
        u32::try_from(format).map_err(|_| StoreError::Corrupt("the format of the records".to_owned()))
    }

    async fn key_checks(&self) -> Result<Vec<Sealed>, StoreError> {
        let read = || {
            let checks = self.begin()?.open_table(KEY_CHECKS)?;
            let read = checks.iter()?.map(|check| {
                let (key_id, bytes) = check?;
                read_key_check(key_id.value(), bytes.value())
            });
            read.collect::<Result<_, Fault>>()
        };
        Ok(read()?)
    }

    async fn processes(&self, _within: Millis) -> Result<Vec<Process>, StoreError> {
        Ok(Vec::new())
    }

    async fn raise_format(&self, to: u32) -> Result<u32, StoreError> {
        Codec::check_raise(self.format().await?, to)?;
        Ok(opening::raise_format(&self.database, to)?)
    }

    async fn operators(&self) -> Result<Vec<OperatorId>, StoreError> {
        Ok(self.read_operators()?)
    }

    async fn count(&self, operator: &OperatorId) -> Result<u64, StoreError> {
        let count = || {
            let tables = self.begin()?.open_table(TABLES)?;
            let name = operator.as_str();
            Ok::<_, Fault>(tables.range((name, 0)..=(name, u128::MAX))?.count() as u64)
        };
        Ok(count()?)
    }

    async fn tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<TableId>, StoreError> {
        let name = operator.as_str();
        let list = || {
            let first = after.map_or(Some(0), |table| table.0.as_u128().checked_add(1));
            let Some(first) = first else {
                return Ok(Vec::new());
            };
            let tables = self.begin()?.open_table(TABLES)?;
            let rows = tables.range((name, first)..=(name, u128::MAX))?.take(limit);
            rows.map(|row| Ok(TableId(Uuid::from_u128(row?.0.value().1)))).collect::<Result<_, Fault>>()
        };
        Ok(list()?)
    }

    async fn state(&self, key: &TableKey) -> Result<Option<RawState>, StoreError> {
        Ok(self.read_state(key)?)
    }

    async fn entries(&self, key: &TableKey, after: u64, limit: usize) -> Result<Vec<RawEntry>, StoreError> {
        Ok(self.read_entries(key, after, limit, false)?)
    }

    async fn latest(&self, key: &TableKey, limit: usize) -> Result<Vec<RawEntry>, StoreError> {
        Ok(self.read_entries(key, 0, limit, true)?)
    }

    async fn history(&self, key: &TableKey) -> Result<HistorySize, StoreError> {
        Ok(self.read_history(key)?)
    }

    async fn settlements(&self, key: &TableKey, ids: &[Uuid]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        Ok(self.read_settlements(key, ids)?)
    }

    async fn retired(&self, key: &TableKey) -> Result<Option<Millis>, StoreError> {
        Ok(self.read_retired(key)?)
    }
}
