//! Slots that move between the machines of a cluster while their tables are played.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redis::Value;
use tables::{Outcome, Store, StoreError};

use super::books::{a_hand, hands};
use super::failover::Load;
use super::servers::{Installation, migrate, slots_in_use};
use super::{is_done, keeping, open};
use crate::chain::Chain;
use crate::fixtures::{key, request};

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
    let id = |server: usize| installation.servers[server].ask::<String>(&["CLUSTER", "MYID"]);
    let (text, source, target) = (slot.to_string(), id(from), id(to));
    let _: Value = installation.servers[to].ask(&["CLUSTER", "SETSLOT", &text, "IMPORTING", &source]);
    let _: Value = installation.servers[from].ask(&["CLUSTER", "SETSLOT", &text, "MIGRATING", &target]);
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
