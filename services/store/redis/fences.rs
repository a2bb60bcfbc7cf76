//! Fences: reading what replicas have.
//!
//! A commit is on the primary a moment before its replicas have it. Where they count, an answer that acknowledges
//! something may not rest on what was merely read there: with the next fail-over it may be gone. A fence is a write behind
//! the read, on the same server and confirmed by replicas, who have then everything that was read.

use std::collections::HashMap;

use ::redis::{Cmd, Value, cmd};
use tables::StoreError;

use super::RedisStore;
use super::config::Durability;
use super::fault::{Fault, strange};
use super::keys::Shard;
use super::read_time;
use super::route::{Home, Kind};

/// The write.
pub(super) fn fence(shard: Shard) -> Cmd {
    let mut fence = cmd("SET");
    fence.arg(shard.fence()).arg("").arg("PX").arg(1000);
    fence
}

impl RedisStore {
    /// Whether what is read may lack its replicas.
    pub(super) fn waits(&self) -> bool {
        matches!(self.config.durability, Durability::Replicated(_))
    }

    /// As [`RedisStore::ask`]; what the answers tell is as durable as was promised.
    pub(super) async fn ask_durably(&self, shard: Shard, command: Cmd) -> Result<Option<Value>, StoreError> {
        if !self.waits() {
            return Ok(self.ask(shard, &[command]).await?.into_iter().next());
        }
        let reply = self.router.call(Home::Shard(shard), &[command, fence(shard)], Kind::Commit).await;
        Ok(reply.map_err(Fault::unavailable)?.values.into_iter().next())
    }

    /// A moment, µs since the epoch by the clock of the server that is behind all others, before which everything that
    /// was written is as durable as was promised: one fence a server.
    pub(super) async fn durable_until(&self) -> Result<u64, StoreError> {
        if !self.waits() {
            return Ok(self.times().await?.into_iter().min().unwrap_or_default());
        }
        let map = self.router.map().await.map_err(Fault::unavailable)?;
        let mut shards = HashMap::new();
        for shard in Shard::all(self.shards()) {
            if let Some(node) = map.owner(Home::Shard(shard)) {
                shards.entry(node.endpoint.clone()).or_insert(shard);
            }
        }
        let fences = shards.into_values().map(|shard| self.fenced_time(shard));
        let times = futures_util::future::try_join_all(fences).await?;
        Ok(times.into_iter().min().unwrap_or_default())
    }

    async fn fenced_time(&self, shard: Shard) -> Result<u64, StoreError> {
        let answer = self.ask_durably(shard, cmd("TIME")).await?;
        answer.as_ref().and_then(read_time).ok_or_else(|| strange("the time"))
    }
}
