//! A Redis that is slow, silent or dead: callers are told soon, and everything goes on by itself afterwards.

use std::time::{Duration, Instant};

use tables::{Store, StoreError};

use super::proxy::{Mood, Proxy};
use super::servers::{Installation, until};
use super::{bring_through, check_chain, is_done, keeping, open, open_through, played};
use crate::fixtures::key;

/// Waits until the store is well again by itself.
async fn recovers(store: &dyn Store) {
    let started = Instant::now();
    while store.check().await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(25), "it does not recover");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What a call usually takes: a busy machine makes some of them late, not most.
fn median(waits: &mut [Duration]) -> Duration {
    waits.sort_unstable();
    waits[waits.len() / 2]
}

fn unavailable<T: std::fmt::Debug>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Unavailable(_)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_server_is_told_of_at_once_and_comes_back() {
    let mut installation = Installation::single();
    let store = open(keeping(installation.config())).await;
    let mut chain = played(&store, key(1), 1, 20).await;
    installation.servers[0].kill();
    let _ = store.load(&key(1)).await;
    let commit = chain.next();
    let mut waits = Vec::new();
    for _ in 0..50 {
        let asked = Instant::now();
        let outcome = store.commit(commit.clone()).await;
        assert!(unavailable(&outcome), "{outcome:?}");
        assert!(unavailable(&store.load(&key(1)).await));
        waits.push(asked.elapsed());
    }
    // Who waited for an answer would wait half a second.
    assert!(median(&mut waits) < Duration::from_millis(250), "{waits:?}");
    installation.servers[0].restart();
    recovers(&*store).await;
    assert!(is_done(&store.commit(commit).await));
    check_chain(&store, &chain).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_server_costs_one_time_out_and_then_nothing() {
    let installation = Installation::single();
    let proxy = Proxy::before(&installation.servers[0].endpoint()).await;
    let store = open_through(&proxy).await;
    let mut chain = played(&store, key(1), 2, 20).await;
    proxy.be(Mood::Silent);
    let commit = chain.next();
    let asked = Instant::now();
    let outcome = store.commit(commit.clone()).await;
    assert!(matches!(outcome, Err(StoreError::Unknown(_))), "it may have been done: {outcome:?}");
    let first = asked.elapsed();
    assert!(first < Duration::from_secs(3), "{first:?}");
    let mut waits = Vec::new();
    for _ in 0..20 {
        let asked = Instant::now();
        assert!(unavailable(&store.load(&key(1)).await));
        waits.push(asked.elapsed());
    }
    assert!(median(&mut waits) < first / 2, "{waits:?} after {first:?}");
    proxy.be(Mood::Honest);
    recovers(&*store).await;
    assert!(is_done(&store.commit(commit).await));
    check_chain(&store, &chain).await;
}

/// What Redis sat on while it stood still is not done when it goes on: whoever sent it has given up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_redis_sat_on_is_not_done_later() {
    let installation = Installation::single();
    let store = open(keeping(installation.config())).await;
    let mut chain = played(&store, key(1), 3, 5).await;
    let before = store.load(&key(1)).await.unwrap().unwrap().token;
    installation.servers[0].signal("-STOP");
    let commit = chain.next();
    assert!(matches!(store.commit(commit.clone()).await, Err(StoreError::Unknown(_))));
    tokio::time::sleep(Duration::from_millis(2500)).await;
    installation.servers[0].signal("-CONT");
    recovers(&*store).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(store.load(&key(1)).await.unwrap().unwrap().token, before);
    bring_through(&store, &commit).await;
    check_chain(&store, &chain).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_calls_are_turned_away_and_none_hangs() {
    let installation = Installation::single();
    let proxy = Proxy::before(&installation.servers[0].endpoint()).await;
    let store = open_through(&proxy).await;
    played(&store, key(1), 4, 5).await;
    let crowd = || async {
        let started = Instant::now();
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..5000 {
            let store = store.clone();
            calls.spawn(async move { store.load(&key(1)).await });
        }
        let answers = calls.join_all().await;
        (answers, started.elapsed())
    };
    // What so many calls cost this machine where nobody waits for Redis.
    let (_, usual) = crowd().await;
    proxy.be(Mood::Silent);
    let (answers, took) = crowd().await;
    assert!(answers.iter().all(unavailable));
    assert!(took < Duration::from_secs(4) + 2 * usual, "{took:?}, {usual:?} while Redis answers");
    proxy.be(Mood::Honest);
    recovers(&*store).await;
    until("the server is asked again", || installation.servers[0].ask::<String>(&["PING"]) == "PONG");
    assert!(store.load(&key(1)).await.unwrap().is_some());
}

/// The other side of one connection is gone, and nobody closes it; the server answers on all others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_connection_is_given_up_while_others_answer() {
    let installation = Installation::single();
    let proxy = Proxy::before(&installation.servers[0].endpoint()).await;
    let store = open_through(&proxy).await;
    let mut chain = played(&store, key(1), 7, 20).await;
    proxy.be(Mood::DeadLine);
    let started = Instant::now();
    let caller = |number: u64| {
        let store = &store;
        async move {
            let (mut slow, mut late) = (0, 0);
            tokio::time::sleep(Duration::from_millis(number)).await;
            while started.elapsed() < Duration::from_secs(6) {
                let asked = Instant::now();
                let _ = store.load(&key(1)).await;
                if asked.elapsed() > Duration::from_millis(400) {
                    slow += 1;
                    late += u32::from(asked - started > Duration::from_secs(3));
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            (slow, late)
        }
    };
    let callers = futures_util::future::join_all((0..8).map(caller)).await;
    let slow: u32 = callers.iter().map(|(slow, _)| slow).sum();
    let late: u32 = callers.iter().map(|(_, late)| late).sum();
    assert!(slow > 0, "nothing was lost on the dead connection");
    // While the dead one is used each caller meets it several times a second. A busy machine makes a few calls late.
    assert!(late < 8, "of {slow} calls that have timed out {late} were made after three seconds");
    bring_through(&store, &chain.next()).await;
    check_chain(&store, &chain).await;
}
