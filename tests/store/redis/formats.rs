//! A roll-out: servers of two versions on one installation, before and after its format is raised.

use std::time::{Duration, Instant};

use fulcrum::store::codec::FORMAT;
use fulcrum::store::inspect::{Inspect, check_table};
use fulcrum::store::redis::{RedisInspector, RedisStore, StartError};
use fulcrum::store::{Codec, CodecError};
use redis::Value;
use rules::Millis;
use tables::{Commit, Store, StoreError, Token};

use super::servers::{Installation, Server};
use super::{bring_through, check_chain, is_done, keeping, open, played};
use crate::chain::Chain;
use crate::fixtures::{key, keys};

/// The version before this one, as far as its records go.
async fn older(installation: &Installation) -> Result<RedisStore, StartError> {
    RedisStore::open(keeping(installation.config()), Codec::knowing(keys(), 1)).await
}

/// What `fulcrum store` works with.
async fn inspector(installation: &Installation) -> RedisInspector {
    RedisInspector::open(installation.config()).await.unwrap()
}

fn format_of(server: &Server) -> Option<String> {
    server.ask(&["HGET", "{fulcrum}:installation", "format"])
}

/// Everything in Redis, as bytes that only change if something is written.
fn everything(server: &Server) -> Vec<(String, Vec<u8>)> {
    let mut keys: Vec<String> = server.ask(&["KEYS", "*:t:*"]);
    keys.sort();
    keys.into_iter().map(|key| (key.clone(), server.ask(&["DUMP", &key]))).collect()
}

fn is_unavailable(result: Result<impl Sized, StoreError>) -> bool {
    matches!(result, Err(StoreError::Unavailable(_)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_versions_share_tables_until_the_format_is_raised() {
    let installation = Installation::single();
    let server = &installation.servers[0];
    let old = older(&installation).await.unwrap();
    // As a version left it that knew no formats.
    let _: Value = server.ask(&["HDEL", "{fulcrum}:installation", "format"]);
    let new = open(keeping(installation.config())).await;
    assert_eq!(format_of(server), None, "nobody raises it by himself");

    let mut chain = Chain::new(key(1), 5);
    for number in 0..40 {
        let store = if number % 2 == 0 { &old } else { &*new };
        bring_through(store, &chain.next()).await;
    }
    for store in [&old, &*new] {
        check_chain(store, &chain).await;
        let history = store.history(&key(1), 0, 100).await.unwrap();
        assert!(history.entries.iter().all(|entry| entry.at.is_none()), "the first format has no time");
    }
    check_from_outside(&installation).await;

    assert_eq!(inspector(&installation).await.raise_format(FORMAT).await.unwrap(), 1);
    new.heartbeat(new.now().await.unwrap()).await.unwrap();
    assert_eq!(format_of(server), Some(FORMAT.to_string()));
    // What the old one would do with the last state that it has read.
    let first = chain.next();
    let late = Commit { token: Token { nonce: 1, ..first.token }, ..first.clone() };
    bring_through(&new, &first).await;
    for _ in 0..19 {
        bring_through(&new, &chain.next()).await;
    }
    let before = everything(server);
    assert!(is_unavailable(old.load(&key(1)).await));
    assert!(is_unavailable(old.history(&key(1), 0, 100).await));
    assert!(is_unavailable(old.commit(late).await), "a conflict with a state that it cannot read");
    assert_eq!(everything(server), before, "the older version has changed nothing");

    // Once it has heard of the raise it leaves alone what it could read, too.
    old.heartbeat(old.now().await.unwrap()).await.unwrap();
    assert!(is_unavailable(old.commit(Chain::new(key(2), 7).next()).await));
    assert!(is_unavailable(old.check().await), "its health shows it");
    assert_eq!(everything(server), before);
    let error = older(&installation).await.err().expect("it does not start again");
    assert!(matches!(error, StartError::Format { installed: FORMAT, known: 1 }), "{error}");
    assert!(error.to_string().contains("start the newer version"), "{error}");
    let entries = new.history(&key(1), 0, 100).await.unwrap().entries;
    let times: Vec<bool> = entries.iter().map(|entry| entry.at.is_some()).collect();
    assert_eq!(times, [[false; 40].as_slice(), &[true; 20]].concat());
    check_from_outside(&installation).await;
}

/// What came with a format is no damage where an older one was written.
async fn check_from_outside(installation: &Installation) {
    let inspector = inspector(installation).await;
    let codec = Codec::new(keys());
    assert_eq!(check_table(&inspector, &codec, &key(1)).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_raise_is_followed_by_servers_that_run_and_never_taken_back() {
    let installation = Installation::single();
    let server = &installation.servers[0];
    assert!(RedisInspector::open(installation.config()).await.is_err(), "there is no installation yet");
    open(keeping(installation.config())).await;
    assert_eq!(format_of(server), Some(FORMAT.to_string()), "a new installation has the newest");
    let admin = inspector(&installation).await;
    let error = admin.raise_format(1).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        StoreError::from(CodecError::Lowered { present: FORMAT, to: 1 }).to_string()
    );
    assert!(admin.raise_format(FORMAT + 1).await.is_err(), "nobody knows that one");
    assert_eq!(admin.raise_format(FORMAT).await.unwrap(), FORMAT, "once more is no harm");
    assert_eq!(format_of(server), Some(FORMAT.to_string()));

    let _: Value = server.ask(&["HSET", "{fulcrum}:installation", "format", "1"]);
    let other = open(keeping(installation.config())).await;
    let mut chain = played(&other, key(1), 8, 5).await;
    assert_eq!(admin.raise_format(FORMAT).await.unwrap(), 1);
    other.heartbeat(other.now().await.unwrap()).await.unwrap();
    assert!(is_done(&other.commit(chain.next()).await));
    let last = other.history(&key(1), 5, 1).await.unwrap().entries.remove(0);
    assert!(last.at.is_some(), "written in the new format");
    // A fail-over that loses the raise does not make it go back.
    let _: Value = server.ask(&["HSET", "{fulcrum}:installation", "format", "1"]);
    other.heartbeat(other.now().await.unwrap()).await.unwrap();
    assert!(is_done(&other.commit(chain.next()).await));
    assert!(other.history(&key(1), 6, 1).await.unwrap().entries.remove(0).at.is_some());
    check_chain(&other, &chain).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_alive_tells_what_he_knows() {
    let installation = Installation::single();
    let new = open(keeping(installation.config())).await;
    let admin = inspector(&installation).await;
    assert_eq!(admin.processes(Millis(10_000)).await.unwrap(), []);
    // A version that signs its name only.
    let now = new.now().await.unwrap();
    let other = "6a36c1a2-0f1e-4c0b-8f6b-0123456789ab";
    let _: Value = installation.servers[0].ask(&["ZADD", "{fulcrum}:processes", &now.0.to_string(), other]);
    new.heartbeat(now).await.unwrap();
    let mut knows: Vec<u32> =
        admin.processes(Millis(10_000)).await.unwrap().iter().map(|process| process.knows).collect();
    knows.sort_unstable();
    assert_eq!(knows, [1, FORMAT]);
    let started = Instant::now();
    while !admin.processes(Millis(300)).await.unwrap().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(10), "they have not signed since");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
