//! The store in Redis, on real servers.

mod absence;
mod books;
mod deliveries;
mod durable;
mod failover;
mod feed;
mod formats;
mod laws;
mod loss;
mod metrics;
mod notes;
mod outages;
mod partial;
mod proxy;
pub mod servers;
mod slots;
mod start;
mod takeover;
mod unknown;

use std::sync::Arc;
use std::time::{Duration, Instant};

use fulcrum::store::redis::{RedisConfig, RedisStore, StartError, Topology};
use tables::{Commit, Outcome, Store, StoreError, TableKey};

use self::proxy::Proxy;
use crate::chain::{Chain, check_whole};
use crate::fixtures::codec;

/// A store of an installation that is there. On a busy machine its first answer may take longer than a start waits.
pub async fn open(config: RedisConfig) -> Arc<RedisStore> {
    let started = Instant::now();
    loop {
        match RedisStore::open(config.clone(), codec()).await {
            Ok(store) => return Arc::new(store),
            Err(StartError::Unreachable(_)) if started.elapsed() < Duration::from_secs(20) => {}
            Err(error) => panic!("the store does not start: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A store that keeps all history and is reached through the proxy.
async fn open_through(proxy: &Proxy) -> Arc<RedisStore> {
    open(keeping(RedisConfig::new(Topology::Single(proxy.endpoint())))).await
}

/// Keeps so much history that the tests can count it.
fn keeping(config: RedisConfig) -> RedisConfig {
    RedisConfig { history: 1_000_000, ..config }
}

fn is_done(outcome: &Result<Outcome, StoreError>) -> bool {
    matches!(outcome, Ok(Outcome::Committed { .. }))
}

/// Brings a commit through as a caller would: sent again until something certain is known. Gives how long the longest
/// try took.
async fn bring_through(store: &RedisStore, commit: &Commit) -> Duration {
    let started = Instant::now();
    let mut longest = Duration::ZERO;
    loop {
        let tried = Instant::now();
        let outcome = store.commit(commit.clone()).await;
        longest = longest.max(tried.elapsed());
        match outcome {
            Ok(Outcome::Committed { .. }) => return longest,
            Err(StoreError::Unknown(_) | StoreError::Unavailable(_)) => {}
            other => panic!("version {} of {}: {other:?}", commit.token.version, commit.key),
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{} does not go on", commit.key);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A table with so many commits.
async fn played(store: &RedisStore, key: TableKey, seed: u64, commits: usize) -> Chain {
    let mut chain = Chain::new(key, seed);
    for _ in 0..commits {
        bring_through(store, &chain.next()).await;
    }
    chain
}

/// Everything of the table is there, and it is what the chain did.
async fn check_chain(store: &RedisStore, chain: &Chain) {
    let tokens = check_whole(store, &chain.key).await;
    let last = chain.stored.as_ref().expect("it was opened").token;
    assert_eq!(tokens.last(), Some(&last), "{}", chain.key);
}
