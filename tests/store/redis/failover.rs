//! Primaries that die under load. What was acknowledged is there afterwards, once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fulcrum::store::redis::{Durability, RedisStore};
use tokio::task::JoinSet;

use super::servers::{Installation, until};
use super::{bring_through, check_chain, keeping, open};
use crate::chain::Chain;
use crate::fixtures::key;

const TABLES: u128 = 12;

/// Tables that are played until they are told to stop.
pub struct Load {
    tables: JoinSet<Chain>,
    stop: Arc<AtomicBool>,
    pub commits: Arc<AtomicUsize>,
}

impl Load {
    pub fn start(store: &Arc<RedisStore>) -> Load {
        let (stop, commits) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let mut tables = JoinSet::new();
        for number in 1..=TABLES {
            let (store, stop, commits) = (Arc::clone(store), Arc::clone(&stop), Arc::clone(&commits));
            tables.spawn(async move {
                let mut chain = Chain::new(key(number), number as u64);
                while !stop.load(Ordering::SeqCst) {
                    bring_through(&store, &chain.next()).await;
                    commits.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                chain
            });
        }
        Load { tables, stop, commits }
    }

    /// Waits for so many commits more.
    pub async fn go_on(&self, more: usize) {
        let (started, until) = (Instant::now(), self.commits.load(Ordering::SeqCst) + more);
        while self.commits.load(Ordering::SeqCst) < until {
            assert!(started.elapsed() < Duration::from_secs(25), "play does not go on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Every table is as it was played.
    pub async fn check(mut self, store: &RedisStore) {
        self.stop.store(true, Ordering::SeqCst);
        while let Some(chain) = self.tables.join_next().await {
            check_chain(store, &chain.expect("no table fails")).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_dies_and_nothing_acknowledged_is_lost() {
    let mut installation = Installation::sentinel();
    let store = open(keeping(installation.with_durability(Durability::Replicated(1)))).await;
    let load = Load::start(&store);
    load.go_on(200).await;
    installation.servers[0].kill();
    let died = Instant::now();
    load.go_on(200).await;
    println!("play went on after {:?}", died.elapsed());
    // The one that was dead comes back as a replica, with what it had.
    installation.servers[0].restart();
    load.go_on(100).await;
    load.check(&store).await;
}

/// The primary loses its connections to everybody but us: WAIT tells, and nothing is acknowledged that the others lack.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_replicas_nothing_is_acknowledged() {
    let installation = Installation::sentinel();
    let store = open(keeping(installation.with_durability(Durability::Replicated(1)))).await;
    let load = Load::start(&store);
    load.go_on(100).await;
    for replica in &installation.servers[1..] {
        replica.signal("-STOP");
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let held = load.commits.load(Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(load.commits.load(Ordering::SeqCst), held, "acknowledged without a replica that has it");
    for replica in &installation.servers[1..] {
        replica.signal("-CONT");
    }
    load.go_on(100).await;
    load.check(&store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_primary_dies_and_comes_back() {
    let mut installation = Installation::cluster();
    let store = open(keeping(installation.config())).await;
    let load = Load::start(&store);
    load.go_on(200).await;
    installation.servers[1].kill();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    installation.servers[1].restart();
    until("the cluster stands again", || {
        installation.servers[1].ask::<String>(&["CLUSTER", "INFO"]).contains("cluster_state:ok")
    });
    load.go_on(300).await;
    load.check(&store).await;
}
