//! What the commit loop makes of a store that fails, doubts or is overtaken, and of books that do not balance.

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::faulty::{Fault, Faulty};
use common::*;
use rules::event::{Event, StopScope};
use rules::{Action, Chips, Millis};
use tables::{
    Clock, Commit, Message, Outcome, PlayError, SettlementBody, SettlementKind, Store, StoreError, Token,
};
use tokio::time::timeout;

#[tokio::test(start_paused = true)]
async fn a_commit_that_nobody_answers_for_is_found_and_done_once() {
    for faults in [
        vec![Fault::AnswerLost],
        vec![Fault::RequestLost],
        vec![Fault::RequestLost, Fault::Down, Fault::AnswerLost],
        vec![Fault::Late],
        vec![Fault::Late, Fault::Down, Fault::Down],
        vec![Fault::RequestLost, Fault::Late],
    ] {
        let (_, memory) = manual();
        let store = Faulty::new(memory);
        let tables = tables(store.clone());
        let key = open(&tables, 1).await;
        let mut watcher = tables.watch(&key, Some(1)).await.unwrap();
        store.fail(faults.clone());
        let asked = tables.ask(&key, Some(request(2)), None, sit("ann"), &answer).await.unwrap();
        assert_eq!(asked.bytes, b"1 events at 2", "{faults:?}");
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(tables.read(&key).await.unwrap().version, 2, "{faults:?}: done once");
        let told = timeout(Duration::from_secs(5), watcher.next()).await;
        assert!(matches!(told, Ok(Some(Message::Commit { version: 2, .. }))), "{faults:?}: {told:?}");
        ask(&tables, &key, sit("bob")).await.unwrap();
        let told = timeout(Duration::from_secs(5), watcher.next()).await;
        assert!(matches!(told, Ok(Some(Message::Commit { version: 3, .. }))), "{faults:?}: {told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_doubt_that_stays_is_told_and_not_guessed() {
    let (_, memory) = manual();
    let store = Faulty::new(memory);
    let tables = tables(store.clone());
    let key = open(&tables, 1).await;
    store.fail([Fault::RequestLost; 50]);
    let asked = ask(&tables, &key, sit("ann")).await;
    assert!(matches!(asked, Err(PlayError::Store(StoreError::Unknown(_)))), "{asked:?}");
    assert!(store.commits.load(Ordering::SeqCst) < 20, "not for ever");
    store.fail([]);
    ask(&tables, &key, sit("ann")).await.expect("the table is not harmed");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_yet_durable_is_not_acknowledged() {
    let (clock, memory) = manual();
    let store = Faulty::new(memory.clone());
    let (here, there) = (tables(store.clone()), tables(memory));
    let key = dealt(&here, &clock, 1).await;
    let call = act(&here.read(&key).await.unwrap(), Action::Call);
    store.unconfirmed.store(true, Ordering::SeqCst);
    // Another process has decided the turn; whether that will last is not known here.
    let accepted = there.decide_turn(&key, call.clone(), clock.now()).await.unwrap();
    let repeated = here.decide_turn(&key, call.clone(), clock.now()).await;
    assert!(matches!(repeated, Err(PlayError::Store(StoreError::Unavailable(_)))), "{repeated:?}");
    // Nor is a commit of our own done because it can be read.
    store.fail([Fault::AnswerLost; 50]);
    let asked = ask(&here, &key, wish("ann", true)).await;
    assert!(matches!(asked, Err(PlayError::Store(StoreError::Unknown(_)))), "{asked:?}");
    store.fail([]);
    store.unconfirmed.store(false, Ordering::SeqCst);
    assert_eq!(here.decide_turn(&key, call, clock.now()).await.unwrap(), accepted);
}

/// Design: a process whose idea of the store's time is ahead of it stamps nothing with a time that is to come.
#[tokio::test]
async fn nothing_is_stamped_with_a_time_to_come() {
    let (clock, memory) = manual();
    let store = Faulty::new(memory.clone());
    let tables = tables(store.clone());
    store.ahead.store(3_000, Ordering::SeqCst);
    let key = open(&tables, 1).await;
    for name in ["ann", "bob"] {
        ask(&tables, &key, sit(name)).await.unwrap();
    }
    let due = tables.read(&key).await.unwrap().due().map(|(at, _)| at);
    assert_eq!(due, Some(clock.now() + Millis::seconds(3)), "the next hand begins three seconds from now");
    clock.advance(Millis::seconds(3));
    deal(&tables, &key).await;
    let table = tables.read(&key).await.unwrap();
    assert_eq!(table.hand.as_ref().unwrap().started_at, clock.now());
    // An action counts by when it was received, but it cannot have been received later than now.
    clock.advance(Millis::seconds(5));
    let received = store.now().await.unwrap();
    tables.decide_turn(&key, act(&table, Action::Call), received).await.unwrap();
    let table = tables.read(&key).await.unwrap();
    assert_eq!(table.hand.as_ref().unwrap().prompt.unwrap().at, clock.now());
    // What is less than a quarter of a second off stays as it is.
    store.ahead.store(200, Ordering::SeqCst);
    clock.advance(Millis::seconds(5));
    let received = store.now().await.unwrap();
    tables.decide_turn(&key, act(&table, Action::Check), received).await.unwrap();
    let table = tables.read(&key).await.unwrap();
    assert_eq!(table.hand.as_ref().unwrap().prompt.unwrap().at, received);
}

#[tokio::test(start_paused = true)]
async fn a_doubtful_commit_that_was_overtaken_is_decided_anew() {
    let (_, memory) = manual();
    let store = Faulty::new(memory.clone());
    let (here, there) = (tables(store.clone()), tables(memory));
    let key = open(&here, 1).await;
    store.fail([Fault::RequestLost]);
    store.gate.forget_permits(usize::MAX);
    let slow = tokio::spawn({
        let (here, key) = (here.clone(), key.clone());
        async move { ask(&here, &key, sit("ann")).await }
    });
    tokio::time::sleep(Duration::from_millis(1)).await;
    ask(&there, &key, sit("bob")).await.unwrap();
    store.gate.add_permits(1);
    assert_eq!(slow.await.unwrap().unwrap().bytes, b"2 events at 3");
    let table = here.read(&key).await.unwrap();
    assert!(table.seat_of(&player("ann")).is_some() && table.seat_of(&player("bob")).is_some());
}

#[tokio::test]
async fn a_store_that_is_away_is_an_error_and_nothing_more() {
    let (_, memory) = manual();
    let store = Faulty::new(memory);
    let tables = tables(store.clone());
    let key = open(&tables, 1).await;
    store.fail([Fault::Down]);
    let asked = tables.ask(&key, Some(request(2)), None, sit("ann"), &answer).await;
    assert!(matches!(asked, Err(PlayError::Store(StoreError::Unavailable(_)))), "{asked:?}");
    assert_eq!(tables.read(&key).await.unwrap().version, 1);
    let again = tables.ask(&key, Some(request(2)), None, sit("ann"), &answer).await.unwrap();
    assert!(!again.replayed);
}

#[tokio::test]
async fn who_is_always_overtaken_gives_up() {
    let (_, memory) = manual();
    let store = Faulty::new(memory);
    let tables = tables(store.clone());
    let key = open(&tables, 1).await;
    let before = store.commits.load(Ordering::SeqCst);
    store.fail([Fault::Overtaken; 100]);
    let asked = ask(&tables, &key, sit("ann")).await;
    assert!(matches!(asked, Err(PlayError::Contended)), "{asked:?}");
    assert!((10..=20).contains(&(store.commits.load(Ordering::SeqCst) - before)));
    store.fail([Fault::Overtaken; 10]);
    ask(&tables, &key, sit("ann")).await.expect("ten times overtaken is not yet always");
}

#[tokio::test(start_paused = true)]
async fn nobody_sees_a_commit_before_it_is_done() {
    let (_, memory) = manual();
    let store = Faulty::new(memory);
    let tables = tables(store.clone());
    let key = open(&tables, 1).await;
    let mut watcher = tables.watch(&key, Some(1)).await.unwrap();
    store.gate.forget_permits(usize::MAX);
    let caller = tokio::spawn({
        let (tables, key) = (tables.clone(), key.clone());
        async move { ask(&tables, &key, sit("ann")).await }
    });
    let early = timeout(Duration::from_secs(5), watcher.next()).await;
    assert!(early.is_err(), "{early:?}");
    assert_eq!(tables.read(&key).await.unwrap().version, 1);
    // The caller hangs up while his commit is on its way: it is done and told all the same.
    caller.abort();
    store.gate.add_permits(1);
    let told = timeout(Duration::from_secs(5), watcher.next()).await.unwrap();
    assert!(matches!(told, Some(Message::Commit { version: 2, .. })), "{told:?}");
}

/// Puts chips on a table that nobody brought.
async fn falsify(store: &dyn Store, key: &tables::TableKey) {
    let stored = store.load(key).await.unwrap().unwrap();
    let mut table = (*stored.table).clone();
    table.seats.iter_mut().flatten().next().unwrap().stack += Chips(1);
    table.version += 1;
    let commit = Commit {
        key: key.clone(),
        expected: Some(stored.token),
        token: Token { version: table.version, nonce: 7 },
        events: vec![Event::PlayHalted],
        due: table.due().map(|(at, _)| at),
        table: Arc::new(table),
        request: None,
        settlements: Vec::new(),
        accounts: Vec::new(),
        not_before: None,
        stamped: Millis::ZERO,
        origin: None,
        untold: false,
    };
    assert!(matches!(store.commit(commit).await.unwrap(), Outcome::Committed { .. }));
}

#[tokio::test]
async fn r10_3_a_table_whose_books_do_not_balance_voids_its_hand_and_stops() {
    let (clock, store) = manual();
    let tables = tables(store.clone());
    let key = dealt(&tables, &clock, 1).await;
    let mut watcher = tables.watch(&key, None).await.unwrap();
    watcher.next().await.unwrap();
    falsify(&*store, &key).await;
    let table = tables.read(&key).await.unwrap();
    let acted = tables.decide_turn(&key, act(&table, Action::Call), clock.now()).await;
    assert!(matches!(acted, Err(PlayError::Malfunction)), "{acted:?}");
    let stopped = tables.read(&key).await.unwrap();
    assert_eq!(stopped.version, table.version + 1, "one commit for void and stop");
    assert!(stopped.running_hand().is_none());
    assert_eq!(stopped.stops.iter().map(|s| s.scope).collect::<Vec<_>>(), [StopScope::Malfunction]);
    assert_eq!(stopped.due(), None, "no next hand");
    let records = store.settlements(&key.operator, &Default::default(), None, 100).await.unwrap().records;
    let (_, void) = records.last().unwrap();
    assert_eq!((void.kind, void.hand()), (SettlementKind::Void, Some(1)));
    let SettlementBody::Void { refunds, .. } = &void.body else {
        panic!("not a void: {void:?}");
    };
    let refunds: Vec<(&str, u64)> =
        refunds.iter().map(|(_, player, chips)| (player.as_str(), chips.0)).collect();
    assert_eq!(refunds, [("ann", 1), ("bob", 2)], "rules 10.1: the blinds go back");
    assert!(matches!(watcher.next().await, Some(Message::Commit { .. })), "those who watch are told");
    // From now on it refuses to go on, and writes nothing more.
    clock.advance(Millis::minutes(1));
    for _ in 0..3 {
        let asked = ask(&tables, &key, wish("ann", true)).await;
        assert!(matches!(asked, Err(PlayError::Malfunction)), "{asked:?}");
    }
    assert_eq!(tables.read(&key).await.unwrap().version, stopped.version);
}

#[tokio::test]
async fn r10_3_without_a_hand_the_table_just_stops() {
    let (_, store) = manual();
    let tables = tables(store.clone());
    let key = open(&tables, 1).await;
    ask(&tables, &key, sit("ann")).await.unwrap();
    falsify(&*store, &key).await;
    let asked = tables.ask(&key, Some(request(9)), None, sit("bob"), &answer).await;
    assert!(matches!(asked, Err(PlayError::Malfunction)), "{asked:?}");
    let stopped = tables.read(&key).await.unwrap();
    assert_eq!(stopped.stops.len(), 1);
    assert!(stopped.seat_of(&player("bob")).is_none());
    assert!(store.request(&key, &request(9).id).await.unwrap().is_none());
}
