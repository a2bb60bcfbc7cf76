//! Commits whose fate is unknown: the request was lost, the answer was lost, the script was not known.

use rules::{Ask, Chips, PlayerId};
use std::sync::Arc;
use tables::{OsDealer, Outcome, Request, RequestId, Settings, Store, StoreError, Tables};
use uuid::Uuid;

use super::proxy::{Mood, Proxy};
use super::servers::Installation;
use super::{check_chain, is_done, keeping, open, open_through, played};
use crate::fixtures::{key, operator};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_knows_itself_when_it_comes_again() {
    let installation = Installation::single();
    let proxy = Proxy::before(&installation.servers[0].endpoint()).await;
    let store = open_through(&proxy).await;
    let mut chain = played(&store, key(1), 1, 3).await;
    for round in 0..40 {
        let commit = chain.next();
        proxy.be(if round % 2 == 0 { Mood::CutsAnswer } else { Mood::CutsRequest });
        let outcome = store.commit(commit.clone()).await;
        assert!(matches!(outcome, Err(StoreError::Unknown(_))), "round {round}: {outcome:?}");
        let there = store.history(&key(1), commit.token.version - 1, 1).await.unwrap().entries;
        let arrived = there.first().is_some_and(|entry| entry.token == commit.token);
        assert_eq!(arrived, round % 2 == 0, "round {round}");
        assert!(is_done(&store.commit(commit).await), "round {round}: sent again it is done, and once");
    }
    assert_eq!(proxy.cuts(), 40);
    check_chain(&store, &chain).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_knows_itself_after_others_came() {
    let installation = Installation::single();
    let proxy = Proxy::before(&installation.servers[0].endpoint()).await;
    let (cut, direct) = (open_through(&proxy).await, open(keeping(installation.config())).await);
    let mut chain = played(&direct, key(1), 2, 5).await;
    let lost = chain.next();
    // So that it has a connection to lose the answer on.
    cut.load(&key(1)).await.unwrap();
    proxy.be(Mood::CutsAnswer);
    assert!(matches!(cut.commit(lost.clone()).await, Err(StoreError::Unknown(_))));
    for _ in 0..10 {
        assert!(is_done(&direct.commit(chain.next()).await));
    }
    assert!(is_done(&cut.commit(lost.clone()).await), "it is in history, and so it was done");
    let mut other = lost;
    other.token.nonce ^= 1;
    assert!(matches!(cut.commit(other).await, Ok(Outcome::Conflict(Some(_)))), "another one was not");
    check_chain(&direct, &chain).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_do_not_notice() {
    let installation = Installation::single();
    let proxy = Proxy::before(&installation.servers[0].endpoint()).await;
    let store = open_through(&proxy).await;
    let tables = Tables::new(Arc::clone(&store) as Arc<dyn Store>, Arc::new(OsDealer), Settings::default());
    let request = |number: u128| Request { id: RequestId(Uuid::from_u128(number)), payload: [1; 32] };
    let config = crate::fixtures::config();
    tables.open(&operator("casino-1"), request(1), config, &|_, _| b"opened".to_vec()).await.unwrap();
    let key = tables::TableKey {
        operator: operator("casino-1"),
        table: tables::TableId::derived(&operator("casino-1"), &request(1).id),
    };
    let player = PlayerId::new("alice").unwrap();
    for number in 0..40_u64 {
        proxy.be([Mood::CutsAnswer, Mood::CutsRequest][number as usize % 2]);
        let transaction = format!("t{number}");
        let player = player.clone();
        let ask = if number.is_multiple_of(2) {
            Ask::Seat { player, seat: None, buy_in: Chips(5000), post: false, transaction }
        } else {
            Ask::StandUp { player, transaction }
        };
        let answer = number.to_be_bytes().to_vec();
        let id = Some(request(100 + u128::from(number)));
        let answered = tables.ask(&key, id, None, ask, &|_, _| answer.clone()).await;
        let answered = answered.unwrap_or_else(|error| panic!("call {number}: {error}"));
        assert_eq!(answered.bytes, number.to_be_bytes());
    }
    assert!(proxy.cuts() >= 40, "{} cuts", proxy.cuts());
    let history = store.history(&key, 0, 1000).await.unwrap().entries;
    assert_eq!(history.len(), 41, "every call has had one effect");
    let records = store.settlements(&key.operator, &Default::default(), None, 1000).await.unwrap().records;
    assert_eq!(records.len(), 40);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_has_forgotten_the_script_learns_it_again() {
    let installation = Installation::single();
    let store = open(keeping(installation.config())).await;
    let mut chain = played(&store, key(1), 3, 3).await;
    for _ in 0..5 {
        let _: redis::Value = installation.servers[0].ask(&["SCRIPT", "FLUSH"]);
        assert!(is_done(&store.commit(chain.next()).await), "the caller does not notice");
        let _: redis::Value = installation.servers[0].ask(&["SCRIPT", "FLUSH"]);
        store.heartbeat(store.now().await.unwrap()).await.unwrap();
    }
    check_chain(&store, &chain).await;
}

/// Design 4: who has the state commits in one round trip, and who has an old one needs one more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_is_one_round_trip() {
    let installation = Installation::single();
    let proxy = Proxy::before(&installation.servers[0].endpoint()).await;
    let store = open_through(&proxy).await;
    let mut chain = played(&store, key(1), 4, 3).await;
    let commits: Vec<_> = (0..50).map(|_| chain.next()).collect();
    for command in ["EVALSHA", "GET", "TIME", "XRANGE", "SCRIPT", "PING"] {
        // The name of a command, as it begins one on the wire.
        let name = format!("${}\r\n{command}\r\n", command.len());
        proxy.count(name.as_bytes());
        let part = if command == "EVALSHA" { &commits[..25] } else { &commits[25..] };
        for commit in part {
            let outcome = store.commit(commit.clone()).await;
            assert!(is_done(&outcome), "{outcome:?}");
        }
        let expected = if command == "EVALSHA" { 25 } else { 0 };
        assert_eq!(proxy.counted(), expected, "{command}");
    }
}
