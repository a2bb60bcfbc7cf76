//! Reading the file: each call sees one moment of it.

use std::sync::Arc;

use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable};
use rules::{Millis, Table};
use tables::settlement::LOOKED_AT;
use tables::{
    Entry, History, Listed, OperatorId, Outage, Settlement, SettlementFilter, SettlementPage,
    SettlementPosition, Stored, TableId, TableKey,
};
use uuid::Uuid;

use super::fault::Fault;
use super::recent::Recent;
use super::schema::{
    CHECKPOINTS, DUE, EVENTS, HAND_SETTLEMENTS, OUTAGES, PLAYER_SETTLEMENTS, Row, SETTLEMENT_IDS,
    SETTLEMENTS, TABLE_SETTLEMENTS, TABLES, table_key,
};
use crate::store::codec::Codec;

/// The file, for readers.
pub(super) struct Reader {
    pub database: Database,
    pub codec: Codec,
    pub recent: Recent,
    /// How long request records are kept, ms.
    pub requests_kept: Millis,
    /// How many hands of an operator are noted as still to be told, at most.
    pub notes: u64,
}

impl Reader {
    /// Whether a request that was recorded then is no longer kept.
    pub fn is_over(&self, recorded: Millis, now: Millis) -> bool {
        now - recorded > self.requests_kept
    }

    pub fn begin(&self) -> Result<ReadTransaction, Fault> {
        Ok(self.database.begin_read()?)
    }

    /// The state in a row, decoded only if it is not here already.
    pub fn stored(&self, key: &TableKey, row: &[u8]) -> Result<Stored, Fault> {
        let row = Row::read(row).ok_or_else(|| Fault::corrupt(format!("the row of table {key}")))?;
        let token = row.token;
        if let Some(table) = self.recent.get(key, token) {
            return Ok(Stored { token, table });
        }
        let table = Arc::new(self.codec.read_table(key, row.record)?);
        if table.version != token.version {
            return Err(Fault::corrupt(format!("the version of table {key}")));
        }
        let stored = Stored { token, table };
        self.recent.put(key, stored.clone());
        Ok(stored)
    }

    pub fn load(&self, key: &TableKey) -> Result<Option<Stored>, Fault> {
        let tables = self.begin()?.open_table(TABLES)?;
        let row = tables.get(table_key(key))?;
        row.map(|row| self.stored(key, row.value())).transpose()
    }

    pub fn tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<Listed>, Fault> {
        let first = match after {
            None => Some(0),
            Some(table) => table.0.as_u128().checked_add(1),
        };
        let Some(first) = first else {
            return Ok(Vec::new());
        };
        let tables = self.begin()?.open_table(TABLES)?;
        let name = operator.as_str();
        let mut page = Vec::new();
        for row in tables.range((name, first)..=(name, u128::MAX))?.take(limit) {
            let (at, row) = row?;
            let table = TableId(Uuid::from_u128(at.value().1));
            let key = TableKey { operator: operator.clone(), table };
            let stored = match self.stored(&key, row.value()) {
                Ok(stored) => Ok(stored),
                Err(Fault::Record(error)) => Err(error),
                Err(fault) => return Err(fault),
            };
            page.push((key, stored));
        }
        Ok(page)
    }

    pub fn history(&self, key: &TableKey, after: u64, limit: usize) -> Result<History, Fault> {
        let events = self.begin()?.open_table(EVENTS)?;
        let (operator, table) = table_key(key);
        let at = |version| (operator, table, version);
        let oldest = match events.range(at(0)..=at(u64::MAX))?.next() {
            Some(first) => first?.0.value().2,
            None => 0,
        };
        let mut entries: Vec<Entry> = Vec::new();
        let wanted = after.checked_add(1).filter(|_| oldest > 0);
        let Some(first) = wanted.map(|first| first.max(oldest)) else {
            return Ok(History { entries, oldest });
        };
        for entry in events.range(at(first)..=at(u64::MAX))?.take(limit) {
            let (place, bytes) = entry?;
            let version = place.value().2;
            let entry = self.codec.read_entry(key, bytes.value())?;
            let last = entries.last().map(|last| last.token);
            if entry.version != version || last.is_some_and(|last| entry.previous != Some(last)) {
                return Err(Fault::corrupt(format!("the history of table {key} at version {version}")));
            }
            entries.push(entry);
        }
        Ok(History { entries, oldest })
    }

    pub fn checkpoint(&self, key: &TableKey, version: u64) -> Result<Option<Arc<Table>>, Fault> {
        let checkpoints = self.begin()?.open_table(CHECKPOINTS)?;
        let (operator, table) = table_key(key);
        let mut before = checkpoints.range((operator, table, 0)..=(operator, table, version))?;
        let Some(last) = before.next_back() else {
            return Ok(None);
        };
        let (_, bytes) = last?;
        Ok(Some(Arc::new(self.codec.read_table(key, bytes.value())?)))
    }

    pub fn due(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, Fault> {
        let due = self.begin()?.open_table(DUE)?;
        let mut found = Vec::new();
        for entry in due.iter()?.take(limit) {
            let (entry, _) = entry?;
            let (at, operator, table) = entry.value();
            if at > until.0 {
                break;
            }
            let operator =
                OperatorId::new(operator).ok_or_else(|| Fault::corrupt("the calendar names no operator"))?;
            let table = TableId(Uuid::from_u128(table));
            found.push((TableKey { operator, table }, Millis(at)));
        }
        Ok(found)
    }

    pub fn next_due(&self) -> Result<Option<Millis>, Fault> {
        let due = self.begin()?.open_table(DUE)?;
        let first = due.first()?;
        Ok(first.map(|(entry, _)| Millis(entry.value().0)))
    }

    pub fn settlement(&self, operator: &OperatorId, id: &Uuid) -> Result<Option<Settlement>, Fault> {
        let transaction = self.begin()?;
        let ids = transaction.open_table(SETTLEMENT_IDS)?;
        let Some(position) = ids.get((operator.as_str(), id.as_u128()))? else {
            return Ok(None);
        };
        let record = self.settlement_at(&transaction, operator, position.value())?;
        Ok(Some(record))
    }

    fn settlement_at(
        &self,
        transaction: &ReadTransaction,
        operator: &OperatorId,
        position: u64,
    ) -> Result<Settlement, Fault> {
        let settlements = transaction.open_table(SETTLEMENTS)?;
        let found = settlements.get((operator.as_str(), position))?;
        let bytes = found.ok_or_else(|| {
            Fault::corrupt(format!("there is no settlement {position} of operator {operator}"))
        })?;
        Ok(self.codec.read_settlement(operator, bytes.value())?)
    }

    pub fn settlements(
        &self,
        operator: &OperatorId,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: usize,
    ) -> Result<SettlementPage, Fault> {
        let first = match after {
            None => Some(0),
            Some(position) => position.0.checked_add(1),
        };
        let mut page = SettlementPage::default();
        let Some(mut first) = first else {
            return Ok(page);
        };
        let transaction = self.begin()?;
        if let Some(earliest) = filter.earliest() {
            first = self.first_from(&transaction, operator, earliest)?.max(first);
        }
        for (position, looked_at) in positions(&transaction, operator, filter, first)?.zip(1..) {
            if page.records.len() >= limit {
                break;
            }
            let position = position?;
            let settlement = self.settlement_at(&transaction, operator, position)?;
            if filter.latest().is_some_and(|latest| settlement.at > latest) {
                break;
            }
            if filter.matches(&settlement) {
                page.records.push((SettlementPosition(position), settlement));
            }
            if looked_at == LOOKED_AT {
                page.next = Some(SettlementPosition(position));
                break;
            }
        }
        Ok(page)
    }

    /// A position before which all records were made before then. Positions have no gaps, so that it is found by halves.
    fn first_from(
        &self,
        transaction: &ReadTransaction,
        operator: &OperatorId,
        earliest: Millis,
    ) -> Result<u64, Fault> {
        let name = operator.as_str();
        let settlements = transaction.open_table(SETTLEMENTS)?;
        let mut all = settlements.range((name, 0)..=(name, u64::MAX))?;
        let Some(mut from) = all.next().transpose()?.map(|(at, _)| at.value().1) else {
            return Ok(0);
        };
        let mut to = all.next_back().transpose()?.map_or(from, |(at, _)| at.value().1) + 1;
        while from < to {
            let middle = from + (to - from) / 2;
            if self.settlement_at(transaction, operator, middle)?.at < earliest {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        Ok(from)
    }

    pub fn outages(&self) -> Result<Vec<Outage>, Fault> {
        let outages = self.begin()?.open_table(OUTAGES)?;
        let mut found = Vec::new();
        for outage in outages.iter()? {
            let (from, to) = outage?;
            found.push(Outage { from: Millis(from.value()), to: Millis(to.value()) });
        }
        Ok(found)
    }
}

type Positions = Box<dyn Iterator<Item = Result<u64, redb::StorageError>>>;

/// The positions from `first` on that the narrowest index has for a filter.
fn positions(
    transaction: &ReadTransaction,
    operator: &OperatorId,
    filter: &SettlementFilter,
    first: u64,
) -> Result<Positions, Fault> {
    let name = operator.as_str();
    let table = filter.table.map(|table| table.0.as_u128());
    Ok(match (table, filter.hand, &filter.player) {
        (Some(table), Some(hand), _) => {
            let index = transaction.open_table(HAND_SETTLEMENTS)?;
            let range = index.range((name, table, hand, first)..=(name, table, hand, u64::MAX))?;
            Box::new(range.map(|entry| Ok(entry?.0.value().3)))
        }
        (_, _, Some(player)) => {
            let index = transaction.open_table(PLAYER_SETTLEMENTS)?;
            let player = player.as_str();
            let range = index.range((name, player, first)..=(name, player, u64::MAX))?;
            Box::new(range.map(|entry| Ok(entry?.0.value().2)))
        }
        (Some(table), None, None) => {
            let index = transaction.open_table(TABLE_SETTLEMENTS)?;
            let range = index.range((name, table, first)..=(name, table, u64::MAX))?;
            Box::new(range.map(|entry| Ok(entry?.0.value().2)))
        }
        (None, _, None) => {
            let index = transaction.open_table(SETTLEMENTS)?;
            let range = index.range((name, first)..=(name, u64::MAX))?;
            Box::new(range.map(|entry| Ok(entry?.0.value().1)))
        }
    })
}
