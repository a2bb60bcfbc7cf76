//! Doubts about replicas. A commit that too few of them confirmed may be on the primary and nowhere else; whoever finds it
//! there must not take it for done before they have it.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::redis::cmd;
use tables::StoreError;

use super::RedisStore;
use super::config::Durability;
use super::fault::Fault;
use super::keys::Shard;
use super::route::{Home, Kind};

/// Shards with commits of which it is not known whether enough replicas have them.
#[derive(Default)]
pub(super) struct Doubts(Mutex<HashSet<Shard>>);

impl Doubts {
    pub(super) fn add(&self, shard: Shard) {
        self.lock().insert(shard);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Shard>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RedisStore {
    /// Before a history is looked at for what became of a commit: a write that replicas confirm, after which they have
    /// everything that was before it.
    pub(super) async fn settle_doubts(&self, shard: Shard) -> Result<(), StoreError> {
        let waits = matches!(self.config.durability, Durability::Replicated(_));
        if !waits || !self.doubts.lock().contains(&shard) {
            return Ok(());
        }
        let mut fence = cmd("SET");
        fence.arg(shard.fence()).arg("").arg("PX").arg(1000);
        let done = self.router.call(Home::Shard(shard), &[fence], Kind::Commit).await;
        done.map_err(Fault::unavailable)?;
        self.doubts.lock().remove(&shard);
        Ok(())
    }
}
