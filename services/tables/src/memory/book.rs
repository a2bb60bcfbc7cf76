//! What the store in memory keeps for an operator beside his tables.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;

use async_trait::async_trait;
use rules::Millis;
use rules::player::PlayerId;
use uuid::Uuid;

use super::MemoryStore;
use crate::books::{Account, AccountName, AccountStep, Backlog, Books, CONSUMERS, Cursor, Tally};
use crate::ids::OperatorId;
use crate::settlement::{LOOKED_AT, Settlement, SettlementFilter, SettlementPage, SettlementPosition};
use crate::store::StoreError;

/// An operator's. A position is the number of records before it, of which the first ones may be gone.
#[derive(Default)]
pub(super) struct Book {
    records: VecDeque<Settlement>,
    gone: u64,
    by_id: HashMap<Uuid, u64>,
    cursors: BTreeMap<String, Cursor>,
    accounts: BTreeMap<AccountName, Tally>,
}

impl Book {
    pub(super) fn push(&mut self, settlement: Settlement) {
        self.by_id.insert(settlement.id, self.end());
        self.records.push_back(settlement);
    }

    /// The accounts after these steps; nothing if one would be too large.
    pub(super) fn after(&self, steps: &[AccountStep]) -> Option<BTreeMap<AccountName, Tally>> {
        let mut after = BTreeMap::new();
        for AccountStep { player, currency, tally } in steps {
            let name = (player.clone(), *currency);
            let before = after.get(&name).or_else(|| self.accounts.get(&name)).copied().unwrap_or_default();
            after.insert(name, before.plus(tally)?);
        }
        Some(after)
    }

    pub(super) fn set(&mut self, accounts: BTreeMap<AccountName, Tally>) {
        self.accounts.extend(accounts);
    }

    pub(super) fn find(&self, id: &Uuid) -> Option<Settlement> {
        let place = self.by_id.get(id)?.checked_sub(self.gone)?;
        self.records.get(usize::try_from(place).ok()?).cloned()
    }

    pub(super) fn page(
        &self,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: usize,
    ) -> SettlementPage {
        let mut page = SettlementPage::default();
        let skipped = self.skipped(after).max(self.before(filter.earliest()));
        for (place, settlement) in self.records.iter().enumerate().skip(skipped).take(LOOKED_AT) {
            let late = filter.latest().is_some_and(|latest| settlement.at > latest);
            if late || page.records.len() >= limit {
                return page;
            }
            if filter.matches(settlement) {
                page.records.push((self.position(place), settlement.clone()));
            }
        }
        let end = skipped.saturating_add(LOOKED_AT);
        if page.records.len() < limit && self.records.len() > end {
            page.next = Some(self.position(end - 1));
        }
        page
    }

    /// How many of the records are passed at this position.
    fn skipped(&self, after: Option<SettlementPosition>) -> usize {
        let passed = after.map_or(0, |after| after.0.saturating_add(1)).saturating_sub(self.gone);
        usize::try_from(passed).unwrap_or(usize::MAX)
    }

    /// How many of the records were certainly made before then.
    fn before(&self, earliest: Option<Millis>) -> usize {
        earliest.map_or(0, |earliest| self.records.partition_point(|record| record.at < earliest))
    }

    fn position(&self, place: usize) -> SettlementPosition {
        SettlementPosition(self.gone + place as u64)
    }

    fn end(&self) -> u64 {
        self.gone + self.records.len() as u64
    }

    fn backlog(&self, after: Option<SettlementPosition>) -> Backlog {
        let skipped = self.skipped(after);
        Backlog {
            depth: self.records.len().saturating_sub(skipped) as u64,
            oldest: self.records.get(skipped).map(|record| record.at),
        }
    }

    fn take(&mut self, consumer: &str) -> Option<Cursor> {
        let full = self.cursors.len() >= CONSUMERS;
        if full && !self.cursors.contains_key(consumer) {
            return None;
        }
        let cursor =
            self.cursors.entry(consumer.to_owned()).or_insert(Cursor { position: None, generation: 0 });
        cursor.generation += 1;
        Some(*cursor)
    }

    fn acknowledge(&mut self, consumer: &str, position: SettlementPosition) -> Option<Cursor> {
        let cursor = self.cursors.get_mut(consumer)?;
        cursor.position = cursor.position.max(Some(position));
        Some(*cursor)
    }

    fn retire(&mut self, before: Millis, limit: usize) -> usize {
        let mut retired = 0;
        while retired < limit && self.records.front().is_some_and(|record| record.at < before) {
            if let Some(record) = self.records.pop_front()
                && self.by_id.get(&record.id) == Some(&self.gone)
            {
                self.by_id.remove(&record.id);
            }
            self.gone += 1;
            retired += 1;
        }
        retired
    }

    fn accounts(&self, after: Option<&AccountName>, limit: usize) -> Vec<Account> {
        let from = after.map_or(Bound::Unbounded, |after| Bound::Excluded(after.clone()));
        self.accounts.range((from, Bound::Unbounded)).take(limit).map(account).collect()
    }
}

fn account(((player, currency), tally): (&AccountName, &Tally)) -> Account {
    Account { player: player.clone(), currency: *currency, tally: *tally }
}

impl MemoryStore {
    fn book<T: Default>(
        &self,
        operator: &OperatorId,
        look: impl FnOnce(&Book) -> T,
    ) -> Result<T, StoreError> {
        Ok(self.state()?.books.get(operator).map(look).unwrap_or_default())
    }

    fn book_mut<T>(
        &self,
        operator: &OperatorId,
        write: impl FnOnce(&mut Book) -> T,
    ) -> Result<T, StoreError> {
        Ok(write(self.state()?.books.entry(operator.clone()).or_default()))
    }
}

#[async_trait]
impl Books for MemoryStore {
    async fn cursors(&self, operator: &OperatorId) -> Result<Vec<(String, Cursor)>, StoreError> {
        self.book(operator, |book| {
            book.cursors.iter().map(|(name, cursor)| (name.clone(), *cursor)).collect()
        })
    }

    async fn take_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<Option<Cursor>, StoreError> {
        self.book_mut(operator, |book| book.take(consumer))
    }

    async fn acknowledge(
        &self,
        operator: &OperatorId,
        consumer: &str,
        position: SettlementPosition,
    ) -> Result<Option<Cursor>, StoreError> {
        self.book_mut(operator, |book| book.acknowledge(consumer, position))
    }

    async fn forget_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<bool, StoreError> {
        self.book_mut(operator, |book| book.cursors.remove(consumer).is_some())
    }

    async fn backlog(
        &self,
        operator: &OperatorId,
        after: Option<SettlementPosition>,
    ) -> Result<Backlog, StoreError> {
        self.book(operator, |book| book.backlog(after))
    }

    async fn retire(&self, operator: &OperatorId, before: Millis, limit: usize) -> Result<usize, StoreError> {
        self.book_mut(operator, |book| book.retire(before, limit))
    }

    async fn retired_until(&self, operator: &OperatorId) -> Result<Option<SettlementPosition>, StoreError> {
        self.book(operator, |book| book.gone.checked_sub(1).map(SettlementPosition))
    }

    async fn accounts(
        &self,
        operator: &OperatorId,
        after: Option<&AccountName>,
        limit: usize,
    ) -> Result<Vec<Account>, StoreError> {
        self.book(operator, |book| book.accounts(after, limit))
    }

    async fn account(&self, operator: &OperatorId, player: &PlayerId) -> Result<Vec<Account>, StoreError> {
        let first = (player.clone(), [0; 3]);
        self.book(operator, |book| {
            let from = book.accounts.range(first..);
            from.take_while(|((who, _), _)| who == player).map(account).collect()
        })
    }
}
