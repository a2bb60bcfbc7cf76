//! What is on the primary and not yet on its replicas is acknowledged to nobody, whoever wrote it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fulcrum::store::redis::{Durability, Endpoint, RedisConfig, RedisStore, Topology};
use rules::{Ask, Chips, PlayerId, Wish};
use tables::{
    Commit, Message, OsDealer, Outcome, PlayError, Request, RequestId, Settings, Settlement,
    SettlementFilter, Store, StoreError, TableId, TableKey, Tables, Watcher,
};
use tokio::time::timeout;
use uuid::Uuid;

use super::servers::{Server, until};
use super::{is_done, keeping, open, played};
use crate::fixtures::{config, key, operator, request, settlements};

fn with_durability(primary: Endpoint, durability: Durability) -> RedisConfig {
    keeping(RedisConfig { durability, ..RedisConfig::new(Topology::Single(primary)) })
}

/// Everything by which a caller could be told that the commit is done: what each way tells.
async fn ways(store: &RedisStore, done: &Commit, record: &Settlement) -> [Result<bool, StoreError>; 5] {
    let filter = SettlementFilter::default();
    let (operator, id) = (&done.key.operator, request().id);
    let mut repeated = done.clone();
    repeated.token.nonce ^= 1;
    let (state, kept, found, listed, again) = tokio::join!(
        store.load_durable(&done.key),
        store.request(&done.key, &id),
        store.settlement(operator, &record.id),
        store.settlements(operator, &filter, None, 100),
        async {
            let itself = store.commit(done.clone()).await?;
            let its_request = store.commit(repeated).await?;
            Ok((itself, its_request))
        },
    );
    [
        state.map(|state| state.is_some_and(|state| state.token == done.token)),
        kept.map(|kept| kept == Some(request())),
        found.map(|found| found.as_ref() == Some(record)),
        listed.map(|listed| listed.records.iter().any(|(_, listed)| listed == record)),
        again.map(|(itself, its_request)| {
            is_done(&Ok(itself)) && matches!(its_request, Outcome::Repeated { .. })
        }),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_replica_has_is_not_acknowledged() {
    let primary = Server::start();
    let port = primary.port.to_string();
    let replica = Server::with(&["--replicaof", "127.0.0.1", &port, "--repl-diskless-sync-delay", "0"]);
    until("the replica follows", || primary.ask::<String>(&["INFO", "replication"]).contains("state=online"));
    // Somebody whose commits wait for nobody stands for one who has died while he waited.
    let hasty = open(with_durability(primary.endpoint(), Durability::Memory)).await;
    let sure: Arc<RedisStore> = open(with_durability(primary.endpoint(), Durability::Replicated(1))).await;
    let mut chain = played(&hasty, key(1), 5, 3).await;
    let mut commit = chain.next();
    let (_, record) = settlements().remove(0);
    commit.request = Some(request());
    commit.settlements = vec![record.clone()];
    replica.signal("-STOP");
    assert!(is_done(&hasty.commit(commit.clone()).await));
    for (way, told) in ways(&sure, &commit, &record).await.into_iter().enumerate() {
        assert!(!matches!(told, Ok(true)), "way {way} acknowledges what no replica has: {told:?}");
    }
    replica.signal("-CONT");
    for (way, told) in ways(&sure, &commit, &record).await.into_iter().enumerate() {
        assert!(matches!(told, Ok(true)), "way {way}: {told:?}");
    }
    // Without the promise nobody waits.
    replica.signal("-STOP");
    for (way, told) in ways(&hasty, &commit, &record).await.into_iter().enumerate() {
        assert!(matches!(told, Ok(true)), "way {way}: {told:?}");
    }
}

/// Neither is it told to those who watch, wherever they do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_replica_has_is_told_to_nobody_who_watches() {
    let primary = Server::start();
    let port = primary.port.to_string();
    let replica = Server::with(&["--replicaof", "127.0.0.1", &port, "--repl-diskless-sync-delay", "0"]);
    until("the replica follows", || primary.ask::<String>(&["INFO", "replication"]).contains("state=online"));
    let process = async || {
        let store = open(with_durability(primary.endpoint(), Durability::Replicated(1))).await;
        Tables::new(store as Arc<dyn Store>, Arc::new(OsDealer), Settings::default())
    };
    let (here, there) = (process().await, process().await);
    let (operator, id) = (operator("casino-1"), RequestId(Uuid::from_u128(1)));
    let opening = Request { id, payload: [1; 32] };
    // The first answer of a busy machine's replica may take longer than a caller waits.
    let started = Instant::now();
    while let Err(error) = here.open(&operator, opening, config(), &|_, _| Vec::new()).await {
        assert!(started.elapsed() < Duration::from_secs(20), "{error}");
    }
    let key = TableKey { table: TableId::derived(&operator, &id), operator };
    let player = PlayerId::new("alice").unwrap();
    let (seat, transaction) = (None, String::new());
    let sit = Ask::Seat { player: player.clone(), seat, buy_in: Chips(5000), post: false, transaction };
    here.ask(&key, None, None, sit, &|_, _| Vec::new()).await.expect("a seat");
    let mut watchers = [here.watch(&key, None).await.unwrap(), there.watch(&key, None).await.unwrap()];
    for watcher in &mut watchers {
        assert!(matches!(watcher.next().await, Some(Message::Snapshot(_))));
    }
    replica.signal("-STOP");
    // Nothing that a stop could stand against: that would not even be tried.
    let sit_out = Ask::SitOut { player, wish: Wish::NextHand };
    let asked = here.ask(&key, None, None, sit_out, &|_, _| Vec::new()).await;
    assert!(matches!(asked, Err(PlayError::Store(_))), "{asked:?}");
    let told = async |watcher: &mut Watcher, patience| timeout(patience, watcher.next()).await;
    // Longer than it takes to look for what was missed.
    for watcher in &mut watchers {
        let told = told(watcher, Duration::from_secs(3)).await;
        assert!(told.is_err(), "told before a replica has it: {told:?}");
    }
    assert!(there.watch(&key, None).await.is_err(), "nor is it in a snapshot");
    replica.signal("-CONT");
    for watcher in &mut watchers {
        let told = told(watcher, Duration::from_secs(30)).await;
        assert!(matches!(told, Ok(Some(Message::Commit { version: 3, .. }))), "{told:?}");
    }
}
