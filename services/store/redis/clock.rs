//! Redis' time where it has to be asked for.

use std::time::Duration;

use ::redis::{Value, cmd};
use futures_util::stream::{FuturesUnordered, StreamExt};
use rules::Millis;
use tables::StoreError;
use tokio::time::{Instant, timeout_at};

use super::RedisStore;
use super::fault::{Fault, strange};
use super::keys::Shard;
use super::route::{Home, Kind, Map};
use super::topology::text;

/// Once a server has told its time the others are waited for so long.
pub(super) const OTHERS: Duration = Duration::from_millis(50);

impl RedisStore {
    /// Redis' time, asked for only if no answer has told it lately. The servers that answer are enough: tables do not
    /// stand still because another one's server is away.
    pub(super) async fn time(&self) -> Result<Millis, StoreError> {
        if let Some(now) = self.router.time.now() {
            return Ok(now);
        }
        let map = self.router.map().await.map_err(Fault::unavailable)?;
        let mut asked: FuturesUnordered<_> =
            self.homes(&map).into_iter().map(|home| self.ask_time(home)).collect();
        let (mut until, mut failed) = (None, None);
        loop {
            let told = match until {
                None => asked.next().await,
                Some(until) => timeout_at(until, asked.next()).await.ok().flatten(),
            };
            match told {
                Some(Ok(_)) => until = until.or(Some(Instant::now() + OTHERS)),
                Some(Err(error)) => failed = Some(error),
                None => break,
            }
        }
        let silent = || StoreError::Unavailable("Redis does not tell its time".to_owned());
        self.router.time.now().ok_or_else(|| failed.unwrap_or_else(silent))
    }

    /// The time of every primary, µs since the epoch.
    pub(super) async fn times(&self) -> Result<Vec<u64>, StoreError> {
        let map = self.router.map().await.map_err(Fault::unavailable)?;
        let mut times = Vec::new();
        for home in self.homes(&map) {
            times.push(self.ask_time(home).await?);
        }
        Ok(times)
    }

    /// A shard of each primary.
    fn homes(&self, map: &Map) -> Vec<Home> {
        let mut homes = Vec::new();
        for node in &map.primaries {
            let has = |home: &Home| map.owner(*home).is_some_and(|owner| owner.endpoint == node.endpoint);
            homes.extend(Shard::all(self.shards()).map(Home::Shard).find(has));
        }
        homes
    }

    async fn ask_time(&self, home: Home) -> Result<u64, StoreError> {
        let reply = self.router.call(home, &[cmd("TIME")], Kind::Read).await.map_err(Fault::unavailable)?;
        let told = reply.values.first().and_then(read_time).ok_or_else(|| strange("the time"))?;
        self.router.time.heard(&reply.from.endpoint, told);
        Ok(told)
    }
}

/// Seconds and µs, as TIME gives them.
pub(super) fn read_time(value: &Value) -> Option<u64> {
    let [seconds, micros] = value.as_sequence()? else {
        return None;
    };
    let number = |value| text(value)?.parse::<u64>().ok();
    Some(number(seconds)? * 1_000_000 + number(micros)?)
}
