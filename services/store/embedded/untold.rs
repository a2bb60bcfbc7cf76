//! The hands of which is still to be told: noted in the transaction of the commit that ends them.

use async_trait::async_trait;
use redb::{ReadableTable, WriteTransaction};
use rules::Millis;
use tables::{OperatorId, StoreError, TableHand, TableId, Untold};
use uuid::Uuid;

use super::EmbeddedStore;
use super::fault::Fault;
use super::schema::UNTOLD;

pub(super) fn note(
    transaction: &WriteTransaction,
    operator: &OperatorId,
    hand: TableHand,
    now: Millis,
) -> Result<(), Fault> {
    transaction.open_table(UNTOLD)?.insert(key(operator, hand), now.0)?;
    Ok(())
}

fn key(operator: &OperatorId, hand: TableHand) -> (&str, u128, u64) {
    (operator.as_str(), hand.table.0.as_u128(), hand.number)
}

fn take(
    transaction: &WriteTransaction,
    operator: &OperatorId,
    (before, now): (Millis, Millis),
    limit: usize,
) -> Result<Vec<TableHand>, Fault> {
    let mut untold = transaction.open_table(UNTOLD)?;
    let mut taken = Vec::new();
    for row in untold.range((operator.as_str(), 0, 0)..)? {
        let (name, at) = row?;
        let (owner, table, number) = name.value();
        if owner != operator.as_str() || taken.len() >= limit {
            break;
        }
        if at.value() <= before.0 {
            taken.push(TableHand { table: TableId(Uuid::from_u128(table)), number });
        }
    }
    for hand in &taken {
        untold.insert(key(operator, *hand), now.0)?;
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
        self.writer.write(move |batch| take(batch.transaction, &operator, (now - age, now), limit)).await
    }

    async fn forget(&self, operator: &OperatorId, hands: &[TableHand]) -> Result<(), StoreError> {
        if hands.is_empty() {
            return Ok(());
        }
        let (operator, hands) = (operator.clone(), hands.to_vec());
        let forget = move |batch: &super::batch::Batch<'_>| {
            let mut untold = batch.transaction.open_table(UNTOLD)?;
            for hand in &hands {
                untold.remove(key(&operator, *hand))?;
            }
            Ok(())
        };
        self.writer.write(forget).await
    }
}
