//! Commits of one process, watched from another.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rules::{Ask, Chips, PlayerId};
use tables::{Message, OsDealer, Request, RequestId, Settings, Store, TableId, TableKey, Tables, Watcher};
use tokio::time::timeout;
use uuid::Uuid;

use super::servers::Installation;
use super::{keeping, open};
use crate::fixtures::{config, operator};

async fn process(installation: &Installation) -> Tables {
    let store = open(keeping(installation.config())).await as Arc<dyn Store>;
    Tables::new(store, Arc::new(OsDealer), Settings::default())
}

fn request(number: u128) -> Request {
    Request { id: RequestId(Uuid::from_u128(number)), payload: [1; 32] }
}

async fn table(tables: &Tables, number: u128) -> TableKey {
    let operator = operator("casino-1");
    tables.open(&operator, request(number), config(), &|_, _| Vec::new()).await.unwrap();
    TableKey { table: TableId::derived(&operator, &request(number).id), operator }
}

/// One commit: the player comes or goes.
async fn commit(tables: &Tables, key: &TableKey, number: u64) {
    let (player, transaction) = (PlayerId::new("alice").unwrap(), format!("t{number}"));
    let ask = if number.is_multiple_of(2) {
        Ask::Seat { player, seat: None, buy_in: Chips(5000), post: false, transaction }
    } else {
        Ask::StandUp { player, transaction }
    };
    tables.ask(key, None, None, ask, &|_, _| Vec::new()).await.unwrap();
}

async fn told(watcher: &mut Watcher) -> (u64, bool) {
    let message = timeout(Duration::from_secs(6), watcher.next()).await.expect("the watcher is told");
    match message.expect("the stream goes on") {
        Message::Snapshot(table) => (table.version, true),
        Message::Commit { version, table, events } => {
            assert!(table.version == version && !events.is_empty());
            (version, false)
        }
        other => panic!("{other:?}"),
    }
}

async fn is_told_everything(installation: &Installation) {
    let (here, there) = (process(installation).await, process(installation).await);
    let mut watchers = Vec::new();
    for number in 1..=8 {
        let key = table(&here, number).await;
        let mut watcher = there.watch(&key, None).await.unwrap();
        assert_eq!(told(&mut watcher).await, (1, true));
        watchers.push((key, watcher));
    }
    let started = Instant::now();
    for number in 0..30 {
        for (key, watcher) in &mut watchers {
            commit(&here, key, number).await;
            assert_eq!(told(watcher).await, (number + 2, false));
        }
    }
    // Each is told at once, not by the watch that is kept for what is missed.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    // Both processes commit by turns, each on what it heard of the other.
    for number in 30..40 {
        for (key, watcher) in &mut watchers {
            commit(if number % 2 == 0 { &there } else { &here }, key, number).await;
            assert_eq!(told(watcher).await, (number + 2, false));
        }
    }
    // The connections break; what happens meanwhile is found in history.
    for server in &installation.servers {
        let _: redis::RedisResult<redis::Value> = server.try_ask(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    }
    for number in 40..50 {
        for (key, _) in &watchers {
            commit(&here, key, number).await;
        }
    }
    for (key, watcher) in &mut watchers {
        for number in 40..50 {
            assert_eq!(told(watcher).await, (number + 2, false), "{key}");
        }
    }
    // And the subscriptions are back.
    tokio::time::sleep(Duration::from_millis(600)).await;
    let started = Instant::now();
    for number in 50..60 {
        for (key, watcher) in &mut watchers {
            commit(&here, key, number).await;
            assert_eq!(told(watcher).await, (number + 2, false));
        }
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    drop(watchers);
    assert_eq!(there.feed().watchers(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_of_another_process_is_told_everything() {
    is_told_everything(&Installation::single()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_of_another_process_is_told_everything_by_a_cluster() {
    is_told_everything(&Installation::cluster()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_who_comes_back_goes_on_where_he_was() {
    let installation = Installation::single();
    let (here, there) = (process(&installation).await, process(&installation).await);
    let key = table(&here, 1).await;
    for number in 0..150 {
        commit(&here, &key, number).await;
    }
    for after in [0, 1, 63, 64, 100, 149] {
        let mut watcher = there.watch(&key, Some(after)).await.unwrap();
        for version in after + 1..=151 {
            assert_eq!(told(&mut watcher).await, (version, false), "after {after}");
        }
    }
}
