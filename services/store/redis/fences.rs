//! Fences: reading what replicas have.
//!
//! A commit is on the primary a moment before its replicas have it. Where they count, an answer that acknowledges
//! something may not rest on what was merely read there: with the next fail-over it may be gone. A fence is a write behind
//! the read, on the same server and confirmed by replicas, who have then everything that was read.

use std::collections::HashMap;

use ::redis::{Cmd, Value, cmd};
use tables::StoreError;

use super::RedisStore;
use super::clock::read_time;
use super::config::Durability;
use super::fault::{Fault, strange};
use super::keys::Shard;
use super::route::{Home, Kind};

/// The write. Its key stays: one that does not exist is looked for elsewhere while its slot moves, away from what is read.
pub(super) fn fence(home: Home) -> Cmd {
    let mut fence = cmd("SET");
    fence.arg(home.fence()).arg("");
    fence
}

impl RedisStore {
    /// Whether what is read may lack its replicas.
    pub(super) fn waits(&self) -> bool {
        matches!(self.config.durability, Durability::Replicated(_))
    }

    /// The answers to what only reads; what they tell is as durable as was promised.
    pub(super) async fn ask_durably(
        &self,
        home: Home,
        mut commands: Vec<Cmd>,
    ) -> Result<Vec<Value>, StoreError> {
        let mut kind = Kind::Read;
        if self.waits() {
            commands.push(fence(home));
            kind = Kind::Commit;
        }
        let reply = self.router.call(home, &commands, kind).await;
        Ok(reply.map_err(Fault::unavailable)?.values)
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
        let answers = self.ask_durably(Home::Shard(shard), vec![cmd("TIME")]).await?;
        answers.first().and_then(read_time).ok_or_else(|| strange("the time"))
    }
}
