//! Questions to many shards of which some may have no server at the moment: the others' answers do not wait for theirs.

use std::collections::HashMap;
use std::time::Duration;

use ::redis::{Cmd, Value};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tables::StoreError;
use tokio::time::{Instant, timeout_at};

use super::RedisStore;
use super::fault::Fault;
use super::keys::Shard;
use super::route::Home;

impl RedisStore {
    /// The answers of these shards to their one command, as far as their servers give them. Once a server has answered, the
    /// others are waited for so long and no longer.
    ///
    /// # Errors
    /// [`StoreError`] if none answers.
    pub(super) async fn ask_who_answers(
        &self,
        shards: &[Shard],
        command: impl Fn(Shard) -> Cmd,
        others: Duration,
    ) -> Result<Vec<(Shard, Value)>, StoreError> {
        let map = self.router.map().await.map_err(Fault::unavailable)?;
        let mut homes: HashMap<_, Vec<Shard>> = HashMap::new();
        for shard in shards {
            let owner = map.owner(Home::Shard(*shard)).map(|node| node.endpoint.clone());
            homes.entry(owner).or_default().push(*shard);
        }
        let ask = async |shards: Vec<Shard>| {
            let answers = self.ask_each(&shards, &command).await?;
            Ok::<_, StoreError>(shards.into_iter().zip(answers).collect::<Vec<_>>())
        };
        let mut asked: FuturesUnordered<_> = homes.into_values().map(ask).collect();
        let (mut answers, mut until, mut failed) = (Vec::new(), None, None);
        loop {
            let told = match until {
                None => asked.next().await,
                Some(until) => timeout_at(until, asked.next()).await.ok().flatten(),
            };
            match told {
                Some(Ok(told)) => {
                    answers.extend(told);
                    until = until.or(Some(Instant::now() + others));
                }
                Some(Err(error)) => failed = Some(error),
                None => break,
            }
        }
        match failed {
            Some(error) if until.is_none() => Err(error),
            _ => Ok(answers),
        }
    }
}
