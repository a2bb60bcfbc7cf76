//! Stores from outside: what an inspection finds is what the store itself says, and looking changes nothing.

use std::sync::Arc;

use fulcrum::store::embedded::FileInspector;
use fulcrum::store::inspect::{Inspect, check_table};
use fulcrum::store::{Codec, EmbeddedSettings, EmbeddedStore, RedisStore, redis::RedisInspector};
use rules::event::StopScope;
use rules::lost::Seen;
use rules::{Ask, Command, Millis};
use tables::deriving::settlements;
use tables::{Commit, OperatorId, Outcome, Store, TableId, TableKey, Token};

use crate::chain::Chain;
use crate::fixtures::{codec, key, keys, operator};
use crate::redis::servers::Installation;

/// The operators' names begin alike, and one has more tables than a page.
const OPERATORS: [(&str, u128); 3] = [("casino", 3), ("casino-1", 40), ("casino-10", 1)];
/// Two shards, so that a page does not have all of one.
const FEW_SHARDS: u16 = 2;
/// At an operator's first table more than a page of entries, and a block of the file.
fn commits(key: &TableKey) -> u64 {
    if key.table == self::key(0x1_0001).table { 140 } else { 4 }
}

fn keys_of(name: &str, tables: u128) -> impl Iterator<Item = TableKey> {
    let operator = operator(name);
    (1..=tables).map(move |number| TableKey { operator: operator.clone(), ..key(number * 0x1_0001) })
}

async fn fill(store: &dyn Store) {
    for (name, tables) in OPERATORS {
        for key in keys_of(name, tables) {
            let mut chain = Chain::new(key.clone(), 3);
            for _ in 0..commits(&key) {
                store.commit(chain.next()).await.unwrap();
            }
        }
    }
}

/// What the inspection says, held against the store.
async fn compare(inspector: &dyn Inspect, store: &dyn Store, codec: &Codec) {
    let names: Vec<OperatorId> = OPERATORS.iter().map(|(name, _)| operator(name)).collect();
    assert_eq!(inspector.operators().await.unwrap(), names);
    assert_eq!(inspector.count(&operator("nobody")).await.unwrap(), 0);
    for (name, tables) in OPERATORS {
        let operator = operator(name);
        assert_eq!(u128::from(inspector.count(&operator).await.unwrap()), tables);
        let mut found: Vec<TableId> = Vec::new();
        loop {
            let page = inspector.tables(&operator, found.last().copied(), 4).await.unwrap();
            assert!(page.len() <= 4);
            if page.is_empty() {
                break;
            }
            found.extend(page);
        }
        assert!(keys_of(name, tables).map(|key| key.table).eq(found), "{name}");
        for key in keys_of(name, tables) {
            compare_table(inspector, store, codec, &key).await;
        }
    }
    assert!(inspector.state(&key(9)).await.unwrap().is_none());
    assert!(inspector.entries(&key(9), 0, 5).await.unwrap().is_empty());
}

async fn compare_table(inspector: &dyn Inspect, store: &dyn Store, codec: &Codec, key: &TableKey) {
    let stored = store.load(key).await.unwrap().unwrap();
    let raw = inspector.state(key).await.unwrap().unwrap();
    assert_eq!((raw.token, raw.due), (stored.token, stored.table.due().map(|(at, _)| at)));
    assert!(codec.read_table(key, &raw.record).unwrap() == *stored.table);
    let history = store.history(key, 0, 1000).await.unwrap().entries;
    let (commits, size) = (commits(key), inspector.history(key).await.unwrap());
    assert_eq!(size.entries, commits);
    let entries = inspector.entries(key, commits / 2, 2).await.unwrap();
    assert!(entries.iter().map(|raw| raw.version).eq(commits / 2 + 1..commits / 2 + 3));
    let mut latest = inspector.latest(key, commits as usize).await.unwrap();
    latest.reverse();
    let read = latest.iter().map(|raw| codec.read_entry(key, &raw.record).unwrap());
    assert!(read.eq(history));
    assert_eq!(check_table(inspector, codec, key).await.unwrap(), []);
}

/// Settlements that were removed for their age are not missed, and others are.
async fn what_was_retired_is_not_missed(inspector: &dyn Inspect, codec: &Codec) {
    for (name, tables) in OPERATORS {
        for key in keys_of(name, tables) {
            assert_eq!(inspector.retired(&key).await.unwrap().is_some(), name == "casino");
            assert_eq!(check_table(inspector, codec, &key).await.unwrap(), []);
        }
    }
}

/// Removes all settlements of the first operator.
async fn retire(store: &dyn Store) {
    let casino = operator("casino");
    while store.books().retire(&casino, Millis(u64::MAX), 50).await.unwrap() > 0 {}
    assert!(store.books().retired_until(&casino).await.unwrap().is_some());
}

#[tokio::test]
async fn a_file_is_seen_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fulcrum.redb");
    let settings = || EmbeddedSettings { verify: false, ..EmbeddedSettings::new(&path, keys()) };
    fill(&EmbeddedStore::open(settings()).unwrap()).await;
    // Only one can have the file: what the store says is asked of a copy.
    let copy = folder.path().join("copy.redb");
    std::fs::copy(&path, &copy).unwrap();
    let store = EmbeddedStore::open(EmbeddedSettings { path: copy, ..settings() }).unwrap();
    let inspector = FileInspector::open(&path, true).unwrap();
    compare(&inspector, &store, &codec()).await;
    assert_eq!(inspector.processes(Millis(10_000)).await.unwrap(), []);
    drop(inspector);
    drop(store);
    retire(&EmbeddedStore::open(settings()).unwrap()).await;
    what_was_retired_is_not_missed(&FileInspector::open(&path, true).unwrap(), &codec()).await;
}

async fn seen_as_it_is(installation: Installation) {
    let few = fulcrum::store::RedisConfig { shards: FEW_SHARDS, ..installation.config() };
    let store = RedisStore::open(few, codec()).await.unwrap();
    fill(&store).await;
    let keys = |installation: &Installation| -> Vec<Vec<String>> {
        let names = |server: &crate::redis::servers::Server| {
            let mut names: Vec<String> = server.ask(&["KEYS", "*"]);
            names.sort();
            names
        };
        installation.servers.iter().map(names).collect()
    };
    let before = keys(&installation);
    // Whatever the URL says, the installation knows how many shards it has.
    let config = fulcrum::store::RedisConfig { shards: 16, ..installation.config() };
    let inspector = RedisInspector::open(config).await.unwrap();
    compare(&inspector, &store, &codec()).await;
    assert_eq!(keys(&installation), before, "looking leaves nothing behind");
    retire(&store).await;
    what_was_retired_is_not_missed(&inspector, &codec()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_installation_in_redis_is_seen_as_it_is() {
    seen_as_it_is(Installation::single()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_is_seen_as_it_is() {
    seen_as_it_is(Installation::cluster()).await;
}

/// The step that a command makes at the table, committed.
async fn step(store: &dyn Store, key: &TableKey, ask: Ask) {
    let before = store.load(key).await.unwrap().unwrap();
    let at = before.table.credited_until.max(Millis(1_900_000_000_000));
    let events = before.table.decide(&Command { at, ask }).unwrap();
    let mut after = (*before.table).clone();
    after.apply(&events);
    let commit = Commit {
        key: key.clone(),
        expected: Some(before.token),
        token: Token { version: after.version, nonce: 77 },
        settlements: settlements(key, &before.table, &after, &events),
        accounts: Vec::new(),
        due: after.due().map(|(at, _)| at),
        table: Arc::new(after),
        events,
        request: None,
        not_before: None,
        stamped: Millis::ZERO,
        origin: None,
        untold: false,
    };
    let outcome = store.commit(commit).await.unwrap();
    assert!(matches!(outcome, Outcome::Committed { .. }), "{outcome:?}");
}

/// Versions that are skipped because history was lost (rules 10.2) are no hole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_has_lost_history_fits_again() {
    let installation = Installation::single();
    let store = RedisStore::open(installation.config(), codec()).await.unwrap();
    let mut chain = Chain::new(key(1), 3);
    for _ in 0..60 {
        store.commit(chain.next()).await.unwrap();
    }
    let seen = chain.game.table.seen();
    step(&store, &key(1), Ask::LoseHistory { seen: Seen { version: seen.version + 5, ..seen } }).await;
    step(&store, &key(1), Ask::Resume { scope: StopScope::Malfunction }).await;
    let version = store.load(&key(1)).await.unwrap().unwrap().token.version;
    assert!(version > 1 << 20, "{version}");
    let inspector = RedisInspector::open(installation.config()).await.unwrap();
    assert_eq!(check_table(&inspector, &codec(), &key(1)).await.unwrap(), []);
}
