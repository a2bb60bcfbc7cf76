//! Reading tables and watching them.

use std::sync::Arc;

use rules::{Millis, Table};

use super::{PlayError, Tables};
use crate::ids::TableKey;
use crate::resume::Reached;
use crate::watcher::{From, Watcher};

impl Tables {
    /// The table as it is in the store now.
    ///
    /// # Errors
    /// [`PlayError::NotFound`], [`PlayError::Store`]
    pub async fn read(&self, key: &TableKey) -> Result<Arc<Table>, PlayError> {
        Ok(self.core.load(key).await?.ok_or(PlayError::NotFound)?.table)
    }

    /// The table as it is in the store now, for whoever wants to know whose turn it is. A clock that has run out by this
    /// time is told only after it has got back what outages took (rules 8.4).
    ///
    /// # Errors
    /// [`PlayError::NotFound`], [`PlayError::Store`]
    pub async fn read_turn(&self, key: &TableKey, at: Millis) -> Result<Arc<Table>, PlayError> {
        let table = self.read(key).await?;
        let over = |prompt: &rules::hand::Prompt| prompt.bank_until + table.config.clocks.grace < at;
        let prompt = table.running_hand().and_then(|hand| hand.prompt.as_ref());
        if prompt.is_some_and(over) && self.credit_by_now(key).await? {
            return self.read(key).await;
        }
        Ok(table)
    }

    /// Watches a table: a snapshot first, or everything after the version `after`.
    ///
    /// # Errors
    /// [`PlayError::NotFound`], [`PlayError::TooManyWatchers`], [`PlayError::Store`]
    pub async fn watch(&self, key: &TableKey, after: Option<u64>) -> Result<Watcher, PlayError> {
        self.watch_from(key, after.map_or(From::Now, From::Version)).await
    }

    /// Goes on watching where a watcher was. If the table has lost what he was told, that comes out here.
    ///
    /// # Errors
    /// As [`Tables::watch`].
    pub async fn resume(&self, key: &TableKey, reached: Reached) -> Result<Watcher, PlayError> {
        self.watch_from(key, From::Reached(reached)).await
    }

    /// The token with which a watcher who is there goes on at any server.
    #[must_use]
    pub fn resume_token(&self, key: &TableKey, reached: &Reached) -> Vec<u8> {
        let keys = self.core.store.resume_keys();
        keys.first().map(|first| first.write(key, reached)).unwrap_or_default()
    }

    /// Where the watcher was who has this token; `None` if it is none of this table's.
    #[must_use]
    pub fn reached(&self, key: &TableKey, token: &[u8]) -> Option<Reached> {
        self.core.store.resume_keys().iter().find_map(|known| known.read(key, token))
    }

    async fn watch_from(&self, key: &TableKey, from: From) -> Result<Watcher, PlayError> {
        // First the place at the ring, then the state: a commit between the two is told twice to the watcher, who
        // passes over the second time; the other way round it would be lost.
        let mut subscription = self.core.feed.subscribe(key).ok_or(PlayError::TooManyWatchers)?;
        subscription.keep(self.core.store.follow(key, &self.core.ear()).await?);
        let current = self.core.load_durable(key).await?.ok_or(PlayError::NotFound)?;
        Watcher::begin(Arc::clone(&self.core), key.clone(), subscription, current, from).await
    }
}
