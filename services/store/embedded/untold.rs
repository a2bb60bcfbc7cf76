//! The hands of which is still to be told: noted in the transaction of the commit that ends them.

use async_trait::async_trait;
use redb::{ReadableTable, ReadableTableMetadata, Table, WriteTransaction};
use rules::Millis;
use tables::{OperatorId, StoreError, TableHand, TableId, Untold};
use uuid::Uuid;

use super::EmbeddedStore;
use super::batch::Batch;
use super::fault::Fault;
use super::schema::{UNTOLD, UNTOLD_AGES, UNTOLD_COUNTS};

/// The notes, in a transaction.
struct Notes<'t> {
    times: Table<'t, (&'static str, u128, u64), u64>,
    ages: Table<'t, (&'static str, u64, u128, u64), ()>,
    counts: Table<'t, &'static str, u64>,
}

impl<'t> Notes<'t> {
    fn of(transaction: &'t WriteTransaction) -> Result<Notes<'t>, Fault> {
        Ok(Notes {
            times: transaction.open_table(UNTOLD)?,
            ages: transaction.open_table(UNTOLD_AGES)?,
            counts: transaction.open_table(UNTOLD_COUNTS)?,
        })
    }

    fn put(&mut self, operator: &OperatorId, hand: TableHand, now: Millis) -> Result<(), Fault> {
        let before = self.times.insert(key(operator, hand), now.0)?.map(|at| at.value());
        match before {
            Some(before) => drop(self.ages.remove(age(operator, before, hand))?),
            None => self.count(operator, |count| count + 1)?,
        }
        self.ages.insert(age(operator, now.0, hand), ())?;
        Ok(())
    }

    fn remove(&mut self, operator: &OperatorId, hand: TableHand) -> Result<(), Fault> {
        let before = self.times.remove(key(operator, hand))?.map(|at| at.value());
        if let Some(before) = before {
            self.ages.remove(age(operator, before, hand))?;
            self.count(operator, |count| count.saturating_sub(1))?;
        }
        Ok(())
    }

    fn count(&mut self, operator: &OperatorId, change: impl FnOnce(u64) -> u64) -> Result<(), Fault> {
        let count = self.counted(operator)?;
        self.counts.insert(operator.as_str(), change(count))?;
        Ok(())
    }

    fn counted(&self, operator: &OperatorId) -> Result<u64, Fault> {
        Ok(self.counts.get(operator.as_str())?.map_or(0, |count| count.value()))
    }

    /// Those that were noted or taken then or earlier, the oldest first.
    fn oldest(&self, operator: &OperatorId, until: Millis, limit: usize) -> Result<Vec<TableHand>, Fault> {
        let name = operator.as_str();
        let mut oldest = Vec::new();
        for row in self.ages.range((name, 0, 0, 0)..=(name, until.0, u128::MAX, u64::MAX))?.take(limit) {
            let (key, _) = row?;
            let (_, _, table, number) = key.value();
            oldest.push(TableHand { table: TableId(Uuid::from_u128(table)), number });
        }
        Ok(oldest)
    }
}

fn key(operator: &OperatorId, hand: TableHand) -> (&str, u128, u64) {
    (operator.as_str(), hand.table.0.as_u128(), hand.number)
}

fn age(operator: &OperatorId, at: u64, hand: TableHand) -> (&str, u64, u128, u64) {
    (operator.as_str(), at, hand.table.0.as_u128(), hand.number)
}

/// Notes the hand that a commit ends; beyond the bound the oldest notes go.
pub(super) fn note(batch: &Batch<'_>, operator: &OperatorId, hand: TableHand) -> Result<(), Fault> {
    let mut notes = Notes::of(batch.transaction)?;
    notes.put(operator, hand, batch.now)?;
    let beyond = notes.counted(operator)?.saturating_sub(batch.reader.notes);
    for oldest in notes.oldest(operator, Millis(u64::MAX), usize::try_from(beyond).unwrap_or(usize::MAX))? {
        notes.remove(operator, oldest)?;
    }
    Ok(())
}

/// Notes of a file that does not have their ages yet get them.
pub(super) fn prepare(transaction: &WriteTransaction) -> Result<(), Fault> {
    let mut noted = Vec::new();
    {
        let notes = Notes::of(transaction)?;
        if notes.ages.len()? == notes.times.len()? {
            return Ok(());
        }
        for row in notes.times.iter()? {
            let (key, at) = row?;
            let (operator, table, number) = key.value();
            let hand = TableHand { table: TableId(Uuid::from_u128(table)), number };
            // A name that is none has no hands to tell.
            noted.extend(OperatorId::new(operator).map(|operator| (operator, hand, Millis(at.value()))));
        }
    }
    transaction.delete_table(UNTOLD)?;
    transaction.delete_table(UNTOLD_AGES)?;
    transaction.delete_table(UNTOLD_COUNTS)?;
    let mut notes = Notes::of(transaction)?;
    noted.into_iter().try_for_each(|(operator, hand, at)| notes.put(&operator, hand, at))
}

fn take(
    batch: &Batch<'_>,
    operator: &OperatorId,
    (before, now): (Millis, Millis),
    limit: usize,
) -> Result<Vec<TableHand>, Fault> {
    let mut notes = Notes::of(batch.transaction)?;
    let taken = notes.oldest(operator, before, limit)?;
    for hand in &taken {
        notes.put(operator, *hand, now)?;
    }
    Ok(taken)
}

#[async_trait]
impl Untold for EmbeddedStore {
    async fn take(
        &self,
        operator: &OperatorId,
        age: Millis,
        limit: usize,
    ) -> Result<Vec<TableHand>, StoreError> {
        let (operator, now) = (operator.clone(), self.clock.now());
        self.writer.write(move |batch| take(batch, &operator, (now - age, now), limit)).await
    }

    async fn forget(&self, operator: &OperatorId, hands: &[TableHand]) -> Result<(), StoreError> {
        if hands.is_empty() {
            return Ok(());
        }
        let (operator, hands) = (operator.clone(), hands.to_vec());
        let forget = move |batch: &Batch<'_>| {
            let mut notes = Notes::of(batch.transaction)?;
            hands.iter().try_for_each(|hand| notes.remove(&operator, *hand))
        };
        self.writer.write(forget).await
    }
}
