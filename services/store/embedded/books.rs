//! What the file keeps beside the tables: read, and written in the one writer's transactions.

use async_trait::async_trait;
use redb::{ReadableTable, WriteTransaction};
use rules::{Millis, PlayerId};
use tables::books::{CONSUMERS, overflows};
use tables::{
    Account, AccountName, AccountStep, Backlog, Books, Cursor, OperatorId, SettlementPosition, StoreError,
    Tally,
};

use super::EmbeddedStore;
use super::batch::Batch;
use super::fault::Fault;
use super::read::Reader;
use super::retire::retire;
use super::schema::{ACCOUNTS, AccountKey, CURSORS, account_key};

fn cursor((generation, position): (u64, Option<u64>)) -> Cursor {
    Cursor { position: position.map(SettlementPosition), generation }
}

fn take(transaction: &WriteTransaction, operator: &str, consumer: &str) -> Result<Option<Cursor>, Fault> {
    let mut cursors = transaction.open_table(CURSORS)?;
    let found = cursors.get((operator, consumer))?.map(|found| found.value());
    if found.is_none() {
        let mut names = 0;
        for own in cursors.range((operator, "")..)? {
            if own?.0.value().0 != operator {
                break;
            }
            names += 1;
        }
        if names >= CONSUMERS {
            return Ok(None);
        }
    }
    let (generation, position) = found.unwrap_or_default();
    let taken = (generation + 1, position);
    cursors.insert((operator, consumer), taken)?;
    Ok(Some(cursor(taken)))
}

fn acknowledge(
    transaction: &WriteTransaction,
    operator: &str,
    consumer: &str,
    position: SettlementPosition,
) -> Result<Option<Cursor>, Fault> {
    let mut cursors = transaction.open_table(CURSORS)?;
    let found = cursors.get((operator, consumer))?.map(|found| found.value());
    let Some((generation, before)) = found else {
        return Ok(None);
    };
    let moved = (generation, before.max(Some(position.0)));
    cursors.insert((operator, consumer), moved)?;
    Ok(Some(cursor(moved)))
}

/// Adds a commit's steps to the accounts, or tells that one would be too large; nothing is written then.
pub(super) fn add(
    transaction: &WriteTransaction,
    operator: &OperatorId,
    steps: &[AccountStep],
) -> Result<(), Fault> {
    if steps.is_empty() {
        return Ok(());
    }
    let mut accounts = transaction.open_table(ACCOUNTS)?;
    let mut sums: Vec<(AccountKey<'_>, Tally)> = Vec::with_capacity(steps.len());
    for AccountStep { player, currency, tally } in steps {
        let key = account_key(operator, player, *currency);
        let too_much = || Fault::Record(overflows(operator));
        if let Some((_, sum)) = sums.iter_mut().find(|(other, _)| *other == key) {
            *sum = sum.plus(tally).ok_or_else(too_much)?;
            continue;
        }
        let before = accounts.get(key)?.map(|row| Tally::of_row(row.value())).unwrap_or_default();
        sums.push((key, before.plus(tally).ok_or_else(too_much)?));
    }
    for (key, sum) in sums {
        accounts.insert(key, sum.row())?;
    }
    Ok(())
}

impl Reader {
    fn cursors(&self, operator: &OperatorId) -> Result<Vec<(String, Cursor)>, Fault> {
        let cursors = self.begin()?.open_table(CURSORS)?;
        let mut found = Vec::new();
        for own in cursors.range((operator.as_str(), "")..)? {
            let (key, row) = own?;
            let (owner, consumer) = key.value();
            if owner != operator.as_str() {
                break;
            }
            found.push((consumer.to_owned(), cursor(row.value())));
        }
        Ok(found)
    }

    fn accounts(
        &self,
        operator: &OperatorId,
        after: Option<&AccountName>,
        limit: usize,
    ) -> Result<Vec<Account>, Fault> {
        let accounts = self.begin()?.open_table(ACCOUNTS)?;
        let (name, last) = (operator.as_str(), after.map(|(player, currency)| (player, *currency)));
        let from =
            last.map_or((name, "", [0; 3]), |(player, currency)| account_key(operator, player, currency));
        let mut found = Vec::new();
        for own in accounts.range(from..)? {
            let (key, row) = own?;
            let (owner, player, currency) = key.value();
            if owner != name || found.len() >= limit {
                break;
            }
            if last.is_some_and(|(other, same)| other.as_str() == player && same == currency) {
                continue;
            }
            let player = PlayerId::new(player).ok_or_else(|| Fault::corrupt("an account names no player"))?;
            found.push(Account { player, currency, tally: Tally::of_row(row.value()) });
        }
        Ok(found)
    }

    fn account(&self, operator: &OperatorId, player: &PlayerId) -> Result<Vec<Account>, Fault> {
        let accounts = self.begin()?.open_table(ACCOUNTS)?;
        let key = |currency| account_key(operator, player, currency);
        let own = accounts.range(key([0; 3])..=key([u8::MAX; 3]))?.map(|own| {
            let (key, row) = own?;
            let currency = key.value().2;
            Ok(Account { player: player.clone(), currency, tally: Tally::of_row(row.value()) })
        });
        own.collect()
    }
}

#[async_trait]
impl Books for EmbeddedStore {
    async fn cursors(&self, operator: &OperatorId) -> Result<Vec<(String, Cursor)>, StoreError> {
        self.look(|reader| reader.cursors(operator))
    }

    async fn take_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<Option<Cursor>, StoreError> {
        let (operator, consumer) = (operator.clone(), consumer.to_owned());
        self.writer.write(move |batch| take(batch.transaction, operator.as_str(), &consumer)).await
    }

    async fn acknowledge(
        &self,
        operator: &OperatorId,
        consumer: &str,
        position: SettlementPosition,
    ) -> Result<Option<Cursor>, StoreError> {
        let (operator, consumer) = (operator.clone(), consumer.to_owned());
        let moved =
            move |batch: &Batch<'_>| acknowledge(batch.transaction, operator.as_str(), &consumer, position);
        self.writer.write(moved).await
    }

    async fn forget_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<bool, StoreError> {
        let (operator, consumer) = (operator.clone(), consumer.to_owned());
        let forgotten = move |batch: &Batch<'_>| {
            let mut cursors = batch.transaction.open_table(CURSORS)?;
            Ok(cursors.remove((operator.as_str(), consumer.as_str()))?.is_some())
        };
        self.writer.write(forgotten).await
    }

    async fn backlog(
        &self,
        operator: &OperatorId,
        after: Option<SettlementPosition>,
    ) -> Result<Backlog, StoreError> {
        self.look(|reader| reader.backlog(operator, after))
    }

    async fn retire(&self, operator: &OperatorId, before: Millis, limit: usize) -> Result<usize, StoreError> {
        let operator = operator.clone();
        self.writer.write(move |batch| retire(batch, &operator, before, limit)).await
    }

    async fn retired_until(&self, operator: &OperatorId) -> Result<Option<SettlementPosition>, StoreError> {
        self.look(|reader| reader.retired_until(operator))
    }

    async fn accounts(
        &self,
        operator: &OperatorId,
        after: Option<&AccountName>,
        limit: usize,
    ) -> Result<Vec<Account>, StoreError> {
        let (operator, after) = (operator.clone(), after.cloned());
        self.study(move |reader| reader.accounts(&operator, after.as_ref(), limit)).await
    }

    async fn account(&self, operator: &OperatorId, player: &PlayerId) -> Result<Vec<Account>, StoreError> {
        self.look(|reader| reader.account(operator, player))
    }
}
