//! What is stopped, as tables and those at them see it.

use std::sync::Arc;
use std::time::Duration;

use crate::common::faulty::Faulty;
use rules::event::StopScope;
use rules::{Ask, Event, Game};
use tables::stops::{Scope, StopError};
use tables::{PlayError, Store, TableKey};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::common::*;
use crate::scene::*;

/// Who waits for his turn at a busy table longer than he may go by what he knows of stops looks again, and is judged by what
/// is stopped then.
#[tokio::test(start_paused = true)]
async fn who_waits_long_for_his_turn_is_judged_by_what_is_stopped_then() {
    for stopped in [false, true] {
        let store = alone();
        let (tables, elsewhere) =
            (tables(Arc::<Faulty>::clone(&store) as Arc<dyn Store>), tables(Arc::<Faulty>::clone(&store)));
        let key = two_players(&tables, 1).await;
        let busy = |wanted: Ask| {
            let (tables, key) = (tables.clone(), key.clone());
            tokio::spawn(async move { ask(&tables, &key, wanted).await })
        };
        store.gate.forget_permits(tokio::sync::Semaphore::MAX_PERMITS);
        // Each of them is given up on after a while.
        let before = [busy(wish("ann", true)), busy(wish("bob", true))];
        sleep(Duration::from_millis(10)).await;
        let waits = busy(sit("eve"));
        sleep(Duration::from_millis(10)).await;
        let stopping = tokio::spawn(async move {
            if stopped {
                disable(&elsewhere, 2, &Scope::Operator(operator())).await.unwrap();
            }
        });
        sleep(Duration::from_millis(1500)).await;
        assert!(before.iter().all(JoinHandle::is_finished) && waits.is_finished() == stopped);
        store.gate.add_permits(tokio::sync::Semaphore::MAX_PERMITS);
        let seated = waits.await.unwrap();
        stopping.await.unwrap();
        match stopped {
            false => assert!(seated.is_ok(), "{seated:?}"),
            true => assert_eq!(scope_of_refusal(seated).await, "OPERATOR: audit"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopped_scope_begins_nothing_shows_why_and_goes_on_when_lifted() {
    for scope in every_scope_of_tables() {
        let store = alone();
        let process = Process::start(&store);
        let tables = &process.tables;
        let key = two_players(tables, 1).await;
        sleep(Duration::from_secs(4)).await;
        assert_eq!(hands(tables, &key).await, 1, "a hand runs");
        disable(tables, 2, &scope).await.unwrap();
        let shown = scope.on_table(Game::TexasHoldem).unwrap();
        sleep(Duration::from_secs(1)).await;
        assert_eq!(stops(tables, &key).await, [(shown, "audit".to_owned())], "{scope:?}");
        assert!(tables.read(&key).await.unwrap().running_hand().is_some(), "the running hand goes on");
        let refused = ask(tables, &key, sit("eve")).await;
        assert_eq!(scope_of_refusal(refused).await, format!("{}: audit", scope.word()));
        let chips = Ask::AddChips { player: player("ann"), amount: rules::Chips(1), transaction: "x".into() };
        assert!(matches!(ask(tables, &key, chips).await, Err(PlayError::Disabled { .. })));
        sleep(Duration::from_secs(600)).await;
        let table = tables.read(&key).await.unwrap();
        assert!(table.hands == 1 && table.running_hand().is_none(), "ended, and no other one began");
        ask(tables, &key, stand_up("ann")).await.unwrap();
        enable(tables, 3, &scope).await.unwrap();
        ask(tables, &key, sit("ann")).await.unwrap();
        sleep(Duration::from_secs(5)).await;
        assert_eq!(stops(tables, &key).await, []);
        assert_eq!(hands(tables, &key).await, 2, "{scope:?}: play goes on");
        assert!(tables.stops(&scope.shelf()).await.unwrap().entries.is_empty(), "nothing is left over");
    }
}

#[tokio::test(start_paused = true)]
async fn another_game_and_another_operator_play_on() {
    let store = alone();
    let process = Process::start(&store);
    let tables = &process.tables;
    let key = two_players(tables, 1).await;
    let other = tables::OperatorId::new("other").unwrap();
    disable(tables, 2, &Scope::Game(Some(operator()), Game::DoubleHoldem)).await.unwrap();
    let order = by_administrator(order(3, &Scope::Operator(other)));
    tables.disable(&order, &text).await.unwrap();
    sleep(Duration::from_secs(4)).await;
    assert_eq!((hands(tables, &key).await, stops(tables, &key).await), (1, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_stopped_player_is_not_dealt_in_and_may_leave() {
    let store = alone();
    let process = Process::start(&store);
    let tables = &process.tables;
    let key = two_players(tables, 1).await;
    ask(tables, &key, sit("eve")).await.unwrap();
    let scope = Scope::Player(operator(), player("bob"));
    disable(tables, 2, &scope).await.unwrap();
    sleep(Duration::from_secs(4)).await;
    let table = tables.read(&key).await.unwrap();
    let bob = table.seat_of(&player("bob")).unwrap();
    assert_eq!(table.seat(bob).unwrap().stopped, "audit");
    assert!(table.running_hand().is_some() && !table.in_running_hand(bob), "the others play without him");
    let chips = Ask::AddChips { player: player("bob"), amount: rules::Chips(1), transaction: "x".into() };
    assert_eq!(scope_of_refusal(ask(tables, &key, chips).await).await, "PLAYER: audit");
    ask(tables, &key, stand_up("bob")).await.unwrap();
    assert_eq!(scope_of_refusal(ask(tables, &key, sit("bob")).await).await, "PLAYER: audit");
    let chips = Ask::AddChips { player: player("ann"), amount: rules::Chips(1), transaction: "y".into() };
    ask(tables, &key, chips).await.unwrap();
    enable(tables, 3, &scope).await.unwrap();
    ask(tables, &key, sit("bob")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_table_alone_is_stopped_by_itself_with_an_audit() {
    let store = alone();
    let process = Process::start(&store);
    let tables = &process.tables;
    let key = two_players(tables, 1).await;
    let scope = Scope::Table(key.clone());
    disable(tables, 2, &scope).await.unwrap();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(stops(tables, &key).await, [(StopScope::Table, "audit".to_owned())]);
    assert_eq!(hands(tables, &key).await, 0);
    assert_eq!(scope_of_refusal(ask(tables, &key, sit("eve")).await).await, "TABLE: audit");
    ask(tables, &key, Ask::Resume { scope: StopScope::Table }).await.unwrap();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(hands(tables, &key).await, 0, "ResumeTable lifts what PauseTable did");
    assert_eq!(stops(tables, &key).await, [(StopScope::Table, "audit".to_owned())]);
    enable(tables, 3, &scope).await.unwrap();
    ask(tables, &key, sit("eve")).await.unwrap();
    assert!(matches!(enable(tables, 4, &scope).await, Err(StopError::NotDisabled)));
    sleep(Duration::from_secs(4)).await;
    assert_eq!(hands(tables, &key).await, 1);
    let nowhere = TableKey { table: tables::TableId(uuid::Uuid::from_u128(9)), ..key.clone() };
    let missing = disable(tables, 5, &Scope::Table(nowhere)).await;
    assert!(matches!(missing, Err(StopError::Play(PlayError::NotFound))), "{missing:?}");
    let audit = store.inner.stops().audit(&scope.shelf(), None, 10).await.unwrap();
    assert_eq!(audit.len(), 2, "what was refused is not in it: {audit:?}");
    assert!(audit.iter().all(|entry| entry.scope == scope));
}

#[tokio::test(start_paused = true)]
async fn watchers_are_told_of_the_stop_and_of_its_end() {
    let store = alone();
    let process = Process::start(&store);
    let key = two_players(&process.tables, 1).await;
    let mut watcher = process.tables.watch(&key, None).await.unwrap();
    let scope = Scope::Operator(operator());
    disable(&process.tables, 2, &scope).await.unwrap();
    enable(&process.tables, 3, &scope).await.unwrap();
    let mut told = Vec::new();
    while told.len() < 3 {
        if let Some(tables::Message::Commit { events, .. }) = watcher.next().await {
            told.extend(events.iter().filter_map(|event| match event {
                Event::Stopped { scope: StopScope::Operator, reason, .. } => Some(reason.clone()),
                Event::Resumed { scope: StopScope::Operator, .. } => Some("resumed".to_owned()),
                Event::HandStarted(_) => Some("a hand".to_owned()),
                _ => None,
            }));
        }
    }
    assert_eq!(told, ["audit", "resumed", "a hand"]);
}
