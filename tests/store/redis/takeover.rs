//! Cluster primaries that die under load and do not come back by themselves: their replicas take over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fulcrum::store::redis::{Durability, RedisConfig, RedisStore};
use tables::{Outcome, Store, StoreError, TableKey};
use tokio::task::JoinSet;

use super::servers::{Installation, until};
use super::{keeping, open};
use crate::chain::{Chain, check_whole};
use crate::fixtures::key;

/// So many that no primary is without one.
const TABLES: u128 = 24;

/// What a table's player knows.
struct Player {
    /// The last version that was acknowledged.
    acknowledged: AtomicU64,
    /// Acknowledged commits that a fail-over lost.
    lost: AtomicU64,
    commits: AtomicUsize,
}

struct Field {
    tables: JoinSet<(TableKey, u64)>,
    players: Vec<Arc<Player>>,
    stop: Arc<AtomicBool>,
}

impl Field {
    fn start(store: &Arc<RedisStore>) -> Field {
        let stop = Arc::new(AtomicBool::new(false));
        let mut field = Field { tables: JoinSet::new(), players: Vec::new(), stop: Arc::clone(&stop) };
        for number in 1..=TABLES {
            let player = Arc::new(Player {
                acknowledged: AtomicU64::new(0),
                lost: AtomicU64::new(0),
                commits: AtomicUsize::new(0),
            });
            field.players.push(Arc::clone(&player));
            let (store, stop) = (Arc::clone(store), Arc::clone(&stop));
            field.tables.spawn(async move {
                let mut chain = Chain::new(key(number), number as u64);
                while !stop.load(Ordering::SeqCst) {
                    play(&store, &mut chain, &player).await;
                    tokio::time::sleep(Duration::from_millis(3)).await;
                }
                (chain.key, player.acknowledged.load(Ordering::SeqCst))
            });
        }
        field
    }

    /// Waits until every table has so many commits more.
    async fn go_on_everywhere(&self, more: usize) {
        let started = Instant::now();
        let goals: Vec<usize> =
            self.players.iter().map(|player| player.commits.load(Ordering::SeqCst) + more).collect();
        let is_behind =
            |(player, goal): &(&Arc<Player>, &usize)| player.commits.load(Ordering::SeqCst) < **goal;
        let behind = || self.players.iter().zip(&goals).filter(is_behind).count();
        while behind() > 0 {
            assert!(started.elapsed() < Duration::from_secs(25), "{} tables do not go on", behind());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn lost(&self) -> u64 {
        self.players.iter().map(|player| player.lost.load(Ordering::SeqCst)).sum()
    }

    /// Every table is whole, and ends with what was acknowledged last.
    async fn check(mut self, store: &RedisStore) {
        self.stop.store(true, Ordering::SeqCst);
        while let Some(table) = self.tables.join_next().await {
            let (key, acknowledged) = table.expect("no table fails");
            let tokens = check_whole(store, &key).await;
            assert_eq!(tokens.last().map(|token| token.version), Some(acknowledged), "{key}");
        }
    }
}

/// One commit, sent again until its outcome is known. Whose history was lost plays on from what there is.
async fn play(store: &RedisStore, chain: &mut Chain, player: &Player) {
    let (commit, started) = (chain.next(), Instant::now());
    loop {
        match store.commit(commit.clone()).await {
            Ok(Outcome::Committed { .. }) => {
                player.acknowledged.store(commit.token.version, Ordering::SeqCst);
                player.commits.fetch_add(1, Ordering::SeqCst);
                return;
            }
            Ok(Outcome::Conflict(Some(stored)) | Outcome::Severed(stored)) => {
                let acknowledged = player.acknowledged.load(Ordering::SeqCst);
                player.lost.fetch_add(acknowledged.saturating_sub(stored.token.version), Ordering::SeqCst);
                player.acknowledged.store(stored.token.version, Ordering::SeqCst);
                *chain = Chain::resume(chain.key.clone(), stored, commit.token.nonce);
                return;
            }
            Err(StoreError::Unknown(_) | StoreError::Unavailable(_)) => {}
            other => panic!("version {} of {}: {other:?}", commit.token.version, commit.key),
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{} does not go on", commit.key);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A cluster of which a primary has died under load, and its replica is in its place.
async fn bereft(config: impl FnOnce(&Installation) -> RedisConfig) -> (Installation, Arc<RedisStore>, Field) {
    let mut installation = Installation::cluster_with_replicas();
    let store = open(keeping(config(&installation))).await;
    let field = Field::start(&store);
    field.go_on_everywhere(20).await;
    for primary in &installation.servers[..3] {
        assert!(primary.ask::<u64>(&["DBSIZE"]) > 8, "a primary without tables shows nothing");
    }
    installation.servers[1].kill();
    let died = Instant::now();
    until("the replica takes over", || {
        let role: Vec<redis::Value> = installation.servers[4].ask(&["ROLE"]);
        role.first() == Some(&redis::Value::BulkString(b"master".to_vec()))
            && installation.servers[4].ask::<String>(&["CLUSTER", "INFO"]).contains("cluster_state:ok")
    });
    println!("the replica took over after {:?}", died.elapsed());
    (installation, store, field)
}

/// With no replica left a shard acknowledges nothing; the others play on, and it does too when the dead one is back as
/// a replica.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_primary_dies_and_nothing_acknowledged_is_lost() {
    let (mut installation, store, field) =
        bereft(|installation| installation.with_durability(Durability::Replicated(1))).await;
    let (alone, others) = held_up(&field).await;
    assert!(alone > 0 && others > 0, "{alone} tables wait for a replica, {others} play");
    let restarted = Instant::now();
    installation.servers[1].restart();
    field.go_on_everywhere(20).await;
    println!("play went on everywhere {:?} after the restart", restarted.elapsed());
    assert_eq!(field.lost(), 0);
    field.check(&store).await;
}

/// How many tables stand still, and how many play. Time alone does not tell the two apart on a busy machine: a table
/// stands still that makes no commit while the quickest makes 150 and all others a tenth of that.
async fn held_up(field: &Field) -> (usize, usize) {
    let counts = || -> Vec<usize> {
        field.players.iter().map(|player| player.commits.load(Ordering::SeqCst)).collect()
    };
    let (started, mut before) = (Instant::now(), counts());
    loop {
        assert!(started.elapsed() < Duration::from_secs(30), "it does not become clear which tables play");
        tokio::time::sleep(Duration::from_millis(20)).await;
        let more: Vec<usize> = counts().iter().zip(&before).map(|(now, before)| now - before).collect();
        if more.iter().all(|more| *more < 150) {
            continue;
        }
        let (stand, play) = (more.iter().filter(|more| **more == 0), more.iter().filter(|more| **more >= 15));
        let (stand, play) = (stand.count(), play.count());
        if stand + play == more.len() {
            return (stand, play);
        }
        // Some have been answered once more, or had to wait for the whole cluster.
        before = counts();
    }
}

/// What is in memory only may be lost at a fail-over; play goes on from what the replica has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_primary_dies_and_play_goes_on_without_it() {
    let (mut installation, store, field) = bereft(Installation::config).await;
    let took_over = Instant::now();
    field.go_on_everywhere(20).await;
    println!("play went on everywhere {:?} later; {} commits lost", took_over.elapsed(), field.lost());
    // The dead one comes back as a replica and is not taken for the primary that it was.
    installation.servers[1].restart();
    field.go_on_everywhere(100).await;
    field.check(&store).await;
}
