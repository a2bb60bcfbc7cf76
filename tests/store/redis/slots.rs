//! Slots that move between the machines of a cluster while their tables are played.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fulcrum::store::redis::{Durability, RedisStore};
use tables::stops::{Changed, StopChange};
use tables::{Outcome, Store, StoreError};

use super::books::{a_hand, hands};
use super::failover::Load;
use super::servers::{Installation, begin_to_migrate, migrate, migrate_key, slots_in_use};
use super::{is_done, keeping, open, played};
use crate::chain::Chain;
use crate::fixtures::{key, request};
use crate::stop_records::a_stop;

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn slots_move_and_play_goes_on() {
    let installation = Arc::new(Installation::cluster());
    let store = open(keeping(installation.config())).await;
    let load = Load::start(&store);
    load.go_on(200).await;
    let servers = Arc::clone(&installation);
    let moved = tokio::task::spawn_blocking(move || {
        let slots = slots_in_use(&servers.servers[0]);
        assert!(!slots.is_empty(), "twelve tables leave a server without any");
        for slot in &slots {
            migrate(&servers.servers, *slot, 0, 2);
        }
        slots.len()
    });
    println!("{} slots moved", moved.await.unwrap());
    load.go_on(200).await;
    load.check(&store).await;
}

/// A call with a request record names a key that does not exist: it waits while the slot is half-way, and is told that
/// nothing was done if that takes too long.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_slot_that_stays_half_way_holds_up_requests_and_not_play() {
    let installation = Installation::cluster();
    let store = open(keeping(installation.config())).await;
    let mut chain = Chain::new(key(1), 1);
    for _ in 0..10 {
        assert!(is_done(&store.commit(chain.next()).await));
    }
    let server = installation.servers.iter().position(|server| !slots_in_use(server).is_empty());
    let from = server.expect("the table is somewhere");
    let slot = *slots_in_use(&installation.servers[from]).first().unwrap();
    let to = (from + 1) % 3;
    begin_to_migrate(&installation.servers, slot, from, to);
    for _ in 0..50 {
        let mut commit = chain.next();
        commit.accounts = a_hand();
        let outcome = store.commit(commit).await;
        assert!(is_done(&outcome), "play goes on: {outcome:?}");
    }
    let mut commit = chain.next();
    commit.request = Some(request());
    let outcome = store.commit(commit.clone()).await;
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
    let over = Arc::new(AtomicBool::new(false));
    let (again, ended, waiting) = (Arc::clone(&store), Arc::clone(&over), commit.clone());
    let call = tokio::spawn(async move {
        while !ended.load(Ordering::SeqCst) {
            match again.commit(waiting.clone()).await {
                Ok(outcome) => return outcome,
                Err(StoreError::Unavailable(_)) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        panic!("it never went through")
    });
    tokio::task::block_in_place(|| migrate(&installation.servers, slot, from, to));
    let outcome = tokio::time::timeout(Duration::from_secs(10), call).await;
    over.store(true, Ordering::SeqCst);
    assert!(matches!(outcome.unwrap().unwrap(), Outcome::Committed { .. }));
    super::check_chain(&store, &chain).await;
    assert_eq!(hands(&*store).await, 50, "what was counted moved with its slot");
}

/// What is read with a fence behind it is there, or is not available: never is it told that it does not exist.
async fn check_nothing_is_hidden(store: &RedisStore, chain: &Chain, stop: &StopChange, waits: bool) {
    let state = store.load_durable(&chain.key).await;
    let shelf = store.stops().shelf(&stop.shelf, None).await;
    if waits {
        assert!(matches!(state, Err(StoreError::Unavailable(_))), "{state:?}");
        assert!(matches!(shelf, Err(StoreError::Unavailable(_))), "{shelf:?}");
        return;
    }
    let table = state.unwrap().expect("the table is there");
    assert_eq!(Some(table.token), chain.stored.as_ref().map(|stored| stored.token));
    let shelf = shelf.unwrap().expect("nothing of it is known");
    assert_eq!((shelf.token, &shelf.entries), (Some(stop.token), &stop.put));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_slot_that_is_half_way_hides_nothing() {
    let installation = Installation::cluster_with_replicas();
    let servers = &installation.servers;
    let store = open(keeping(installation.with_durability(Durability::Replicated(1)))).await;
    let (chain, stop) = (played(&store, key(1), 1, 5).await, a_stop());
    assert_eq!(store.stops().change(&stop).await.unwrap(), Changed::Done);
    check_nothing_is_hidden(&store, &chain, &stop, false).await;
    let mut moves = Vec::new();
    for kept in [format!("*:t:{}:s", chain.key), "{fulcrum}:stops:s:*".to_owned()] {
        let keys = |from: usize| servers[from].ask::<Vec<String>>(&["KEYS", &kept]);
        let from = (0..3).find(|from| !keys(*from).is_empty()).expect("a primary has it");
        let slot: u16 = servers[from].ask(&["CLUSTER", "KEYSLOT", &keys(from)[0]]);
        let fence = keys(from)[0].split(':').next().map(|tag| format!("{tag}:fence")).unwrap();
        moves.push((slot, fence, from, (from + 1) % 3));
    }
    for (slot, _, from, to) in &moves {
        begin_to_migrate(servers, *slot, *from, *to);
    }
    // Longer than a fence that goes by itself would stand.
    tokio::time::sleep(Duration::from_millis(1200)).await;
    check_nothing_is_hidden(&store, &chain, &stop, false).await;
    for (_, fence, from, to) in &moves {
        migrate_key(servers, fence, *from, *to);
    }
    check_nothing_is_hidden(&store, &chain, &stop, true).await;
    for (slot, _, from, to) in &moves {
        tokio::task::block_in_place(|| migrate(servers, *slot, *from, *to));
    }
    check_nothing_is_hidden(&store, &chain, &stop, false).await;
}
