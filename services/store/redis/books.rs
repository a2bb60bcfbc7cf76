//! What the store keeps beside the tables.

use async_trait::async_trait;
use rules::{Millis, PlayerId};
use tables::{Account, AccountName, Backlog, Books, Cursor, OperatorId, SettlementPosition, StoreError};

use super::RedisStore;

#[async_trait]
impl Books for RedisStore {
    async fn cursors(&self, operator: &OperatorId) -> Result<Vec<(String, Cursor)>, StoreError> {
        self.read_cursors(operator).await
    }

    async fn take_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<Option<Cursor>, StoreError> {
        self.take(operator, consumer).await
    }

    async fn acknowledge(
        &self,
        operator: &OperatorId,
        consumer: &str,
        position: SettlementPosition,
    ) -> Result<Option<Cursor>, StoreError> {
        self.move_cursor(operator, consumer, position).await
    }

    async fn forget_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<bool, StoreError> {
        self.drop_cursor(operator, consumer).await
    }

    async fn backlog(
        &self,
        operator: &OperatorId,
        after: Option<SettlementPosition>,
    ) -> Result<Backlog, StoreError> {
        self.read_backlog(operator, after).await
    }

    async fn retire(&self, operator: &OperatorId, before: Millis, limit: usize) -> Result<usize, StoreError> {
        self.retire_settlements(operator, before, limit).await
    }

    async fn retired_until(&self, operator: &OperatorId) -> Result<Option<SettlementPosition>, StoreError> {
        self.find_retired(operator).await
    }

    async fn accounts(
        &self,
        operator: &OperatorId,
        after: Option<&AccountName>,
        limit: usize,
    ) -> Result<Vec<Account>, StoreError> {
        self.list_accounts(operator, after, limit).await
    }

    async fn account(&self, operator: &OperatorId, player: &PlayerId) -> Result<Vec<Account>, StoreError> {
        self.accounts_of(operator, player).await
    }
}
