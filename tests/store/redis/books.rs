//! What is kept beside the tables, where servers die, lag, or have been written to by an older version.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulcrum::store::redis::{Durability, RedisConfig, RedisStore, Topology};
use rules::PlayerId;
use tables::stops::{Author, Changed, StopChange, Stops};
use tables::{AccountStep, Backlog, Books, SettlementFilter, SettlementPosition, Store, StoreError, Tally};

use super::proxy::Proxy;
use super::servers::{Installation, Server, until};
use super::{bring_through, is_done, keeping, open, played};
use crate::chain::Chain;
use crate::fixtures::{key, request, token};
use crate::stop_records::a_stop;

const READER: &str = "ledger";

/// One hand more of one player.
pub fn a_hand() -> Vec<AccountStep> {
    let player = PlayerId::new("ann").unwrap();
    vec![AccountStep { player, currency: *b"EUR", tally: Tally { hands: 1, ..Tally::default() } }]
}

/// How many hands the store has counted.
pub async fn hands(store: &dyn Store) -> u64 {
    let accounts = store.books().accounts(&key(1).operator, None, 10).await.unwrap();
    accounts.iter().map(|account| account.tally.hands).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acknowledgement_waits_for_replicas() {
    let primary = Server::start();
    let port = primary.port.to_string();
    let replica = Server::with(&["--replicaof", "127.0.0.1", &port, "--repl-diskless-sync-delay", "0"]);
    until("the replica follows", || primary.ask::<String>(&["INFO", "replication"]).contains("state=online"));
    let config = |durability| keeping(RedisConfig { durability, ..at(&primary) });
    let hasty = open(config(Durability::Memory)).await;
    let sure = open(config(Durability::Replicated(1))).await;
    let (operator, place) = (key(1).operator, SettlementPosition(5));
    assert_eq!(sure.take_cursor(&operator, READER).await.unwrap().unwrap().generation, 1);
    replica.signal("-STOP");
    let told = sure.acknowledge(&operator, READER, place).await;
    assert!(matches!(told, Err(StoreError::Unknown(_))), "{told:?}");
    // It is on the primary, and that is not enough for whoever asks again.
    let told = hasty.acknowledge(&operator, READER, place).await.unwrap().unwrap();
    assert_eq!(told.position, Some(place));
    let told = sure.acknowledge(&operator, READER, place).await;
    assert!(matches!(told, Err(StoreError::Unknown(_))), "{told:?}");
    replica.signal("-CONT");
    let told = sure.acknowledge(&operator, READER, place).await.unwrap().unwrap();
    assert_eq!(told.position, Some(place));
}

/// A step that adds nothing names no keys, and the script looks for none.
#[tokio::test]
async fn a_step_of_nothing_is_no_step() {
    let installation = Installation::single();
    let store = open(installation.config()).await;
    let mut chain = played(&store, key(1), 1, 3).await;
    let mut commit = chain.next();
    commit.accounts = vec![AccountStep { tally: Tally::default(), ..a_hand().remove(0) }];
    commit.request = Some(request());
    let outcome = store.commit(commit).await;
    assert!(is_done(&outcome), "{outcome:?}");
    assert_eq!(store.request(&key(1), &request().id).await.unwrap(), Some(request()));
    assert_eq!(store.accounts(&key(1).operator, None, 10).await.unwrap(), []);
}

/// Neither is a stop that was made before told to be there until they have it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_waits_for_replicas() {
    let primary = Server::start();
    let port = primary.port.to_string();
    let replica = Server::with(&["--replicaof", "127.0.0.1", &port, "--repl-diskless-sync-delay", "0"]);
    until("the replica follows", || primary.ask::<String>(&["INFO", "replication"]).contains("state=online"));
    let config = |durability| keeping(RedisConfig { durability, ..at(&primary) });
    let hasty = open(config(Durability::Memory)).await;
    let sure = open(config(Durability::Replicated(1))).await;
    let plain = a_stop();
    let asked = StopChange {
        expected: Some(plain.token),
        token: token(2),
        request: Some((Author::Operator(key(1).operator), request())),
        ..a_stop()
    };
    let repeated = StopChange { token: token(9), ..asked.clone() };
    replica.signal("-STOP");
    assert_eq!(hasty.change(&plain).await.unwrap(), Changed::Done);
    let told = sure.change(&plain).await;
    assert!(matches!(told, Err(StoreError::Unknown(_))), "itself again: {told:?}");
    assert_eq!(hasty.change(&asked).await.unwrap(), Changed::Done);
    let told = sure.change(&repeated).await;
    assert!(matches!(told, Err(StoreError::Unknown(_))), "its request again: {told:?}");
    let told = sure.shelf(&plain.shelf, None).await;
    assert!(told.is_err(), "what is read: {told:?}");
    replica.signal("-CONT");
    assert_eq!(sure.change(&repeated).await.unwrap(), Changed::Before(request()));
    let left: u64 = primary.ask(&["PTTL", &primary.ask::<Vec<String>>(&["KEYS", "*:stops:rq:*"])[0]]);
    assert!(left > 3_600_000, "the request record is forgotten in {left} ms");
    assert_eq!(sure.shelf(&plain.shelf, None).await.unwrap().unwrap().token, Some(asked.token));
}

fn at(server: &Server) -> RedisConfig {
    RedisConfig::new(Topology::Single(server.endpoint()))
}

/// Acknowledges until it is known to be done.
async fn acknowledge(store: &RedisStore, place: SettlementPosition) {
    let started = Instant::now();
    while store.acknowledge(&key(1).operator, READER, place).await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(25), "acknowledging does not go on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_dies_and_every_commit_counts_once() {
    let mut installation = Installation::sentinel();
    let store = open(keeping(installation.with_durability(Durability::Replicated(1)))).await;
    store.take_cursor(&key(1).operator, READER).await.unwrap();
    let mut chain = Chain::new(key(1), 7);
    let commits = 120;
    for number in 1..=commits {
        let mut commit = chain.next();
        commit.accounts = a_hand();
        bring_through(&store, &commit).await;
        acknowledge(&store, SettlementPosition(number)).await;
        match number {
            40 => installation.servers[0].kill(),
            80 => installation.servers[0].restart(),
            _ => {}
        }
    }
    assert_eq!(hands(&*store).await, commits);
    let cursors = store.cursors(&key(1).operator).await.unwrap();
    assert_eq!(cursors[0].1.position, Some(SettlementPosition(commits)));
}

/// Records that have no place in the sequence are counted, those with one are not, and the number is the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backlog_counts_what_an_older_version_wrote() {
    const SCRIPT: &str = include_str!("../../../services/store/redis/commit.lua");
    const NOW: &str = "'r', A[i + 1], 'n', string.format('%.0f', added))";
    let before = format!("{:width$}", "'r', A[i + 1])", width = NOW.len());
    let hash = |script: &str| redis::Script::new(script).get_hash().as_bytes().to_vec();
    let old_script = SCRIPT.replacen(NOW, &before, 1);
    assert_ne!(old_script, SCRIPT, "the place is written where it was");
    let lies = vec![(NOW.into(), before.into()), (hash(SCRIPT), hash(&old_script))];
    let installation = Installation::single();
    let proxy = Proxy::lying(&installation.servers[0].endpoint(), lies).await;
    let few = |config| keeping(RedisConfig { shards: 2, ..config });
    let old = open(few(RedisConfig::new(Topology::Single(proxy.endpoint())))).await;
    let mut chains = Vec::new();
    for table in 1..=4 {
        chains.push(played(&old, key(table), 5, 60).await);
    }
    assert_eq!(newest_of_all(&installation.servers[0]), BTreeSet::from([2]), "a record alone");
    check_backlogs(&old).await;
    let store: Arc<RedisStore> = open(few(installation.config())).await;
    for chain in &mut chains {
        for _ in 0..60 {
            bring_through(&store, &chain.next()).await;
        }
    }
    assert_eq!(newest_of_all(&installation.servers[0]), BTreeSet::from([4]), "a record and its place");
    check_backlogs(&store).await;
}

/// How many names and values the newest entries of the outboxes have.
fn newest_of_all(server: &Server) -> BTreeSet<usize> {
    const FIELDS: &str = "return #redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1][2]";
    let outboxes: Vec<String> = server.ask(&["KEYS", "{s*}:ob:*"]);
    outboxes.iter().map(|outbox| server.ask(&["EVAL", FIELDS, "1", outbox])).collect()
}

async fn check_backlogs(store: &RedisStore) {
    let (operator, all) = (key(1).operator, SettlementFilter::default());
    let listed = store.settlements(&operator, &all, None, 1000).await.unwrap().records;
    assert!(listed.len() > 20, "{} records", listed.len());
    let places = std::iter::once(None).chain(listed.iter().map(|(place, _)| Some(*place)));
    for (passed, after) in places.enumerate() {
        let Backlog { depth, .. } = store.backlog(&operator, after).await.unwrap();
        assert_eq!(depth, (listed.len() - passed) as u64, "after {passed}");
    }
}
