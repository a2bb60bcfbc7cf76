//! Several processes, whatever each of them knows and however it ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::common::faulty::Faulty;
use rules::event::StopScope;
use rules::{Ask, Game};
use tables::stops::{Order, Scope, Shelf, StopState};
use tables::{PlayError, StoreError, TableKey};
use tokio::time::{Instant, sleep};

use crate::common::*;
use crate::scene::*;

#[tokio::test(start_paused = true)]
async fn no_other_process_begins_a_hand_or_seats_anybody_after_the_answer() {
    // At each moment of the other's copy, and of a hand that comes due around the answer.
    for offset in (0..1500).step_by(125) {
        let store = shared();
        let (a, b) = (Process::start(&store), Process::start(&store));
        let key = two_players(&b.tables, 1).await;
        a.kill_clocks();
        sleep(Duration::from_millis(offset)).await;
        let a = &a.tables;
        disable(a, 2, &Scope::Operator(operator())).await.unwrap();
        let answered = hands(a, &key).await;
        let seated = ask(&b.tables, &key, sit("eve")).await;
        assert!(matches!(seated, Err(PlayError::Disabled { .. })), "{offset}: {seated:?}");
        sleep(Duration::from_secs(300)).await;
        assert_eq!(hands(a, &key).await, answered, "{offset}");
        assert_eq!(stops(a, &key).await.len(), 1, "{offset}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_on_its_way_is_done_before_the_answer() {
    let store = shared();
    let tables = tables(Arc::<Faulty>::clone(&store));
    let begun = Instant::now();
    disable(&tables, 1, &Scope::Service).await.unwrap();
    // The age of a copy, the longest way of a commit, and a margin.
    assert!(begun.elapsed() >= Duration::from_millis(1000 + 2000 + 250), "{:?}", begun.elapsed());
    let begun = Instant::now();
    enable(&tables, 2, &Scope::Service).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(3250));
    let begun = Instant::now();
    assert!(disable(&tables, 1, &Scope::Service).await.unwrap().replayed);
    assert!(begun.elapsed() >= Duration::from_millis(3250), "also a repetition is answered no earlier");
}

#[tokio::test(start_paused = true)]
async fn nothing_begins_while_the_registry_cannot_be_read() {
    let store = shared();
    let process = Process::start(&store);
    let tables = &process.tables;
    let key = two_players(tables, 1).await;
    sleep(Duration::from_millis(900)).await;
    store.stops_down.store(true, Ordering::SeqCst);
    sleep(Duration::from_secs(2)).await;
    let seated = ask(tables, &key, sit("eve")).await;
    assert!(matches!(seated, Err(PlayError::Store(StoreError::Unavailable(_)))), "{seated:?}");
    ask(tables, &key, wish("ann", true)).await.unwrap();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(hands(tables, &key).await, 0);
    store.stops_down.store(false, Ordering::SeqCst);
    sleep(Duration::from_secs(15)).await;
    assert_eq!(hands(tables, &key).await, 1, "as soon as it can");
}

#[tokio::test(start_paused = true)]
async fn a_copy_serves_many_and_no_longer_than_its_age() {
    let store = shared();
    let tables = tables(Arc::<Faulty>::clone(&store));
    let keys: Vec<TableKey> = {
        let mut keys = Vec::new();
        for number in 1..=5 {
            keys.push(open(&tables, number).await);
        }
        keys
    };
    let read = || store.stops_read.load(Ordering::SeqCst);
    for key in &keys {
        ask(&tables, key, sit("ann")).await.unwrap();
    }
    assert_eq!(read(), 2, "one reading of either shelf for all");
    sleep(Duration::from_millis(1001)).await;
    ask(&tables, &keys[0], sit("bob")).await.unwrap();
    assert_eq!(read(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_sweep_that_its_process_does_not_finish_is_finished_by_another() {
    for (number, scope) in (1..).zip(every_scope_of_tables()) {
        let store = shared();
        let a = Process::start(&store);
        let key = two_players(&a.tables, 1).await;
        let tables = a.tables.clone();
        let order = order(number + 1, &scope);
        // Killed between the change and the sweep, once for the stop and once for its lifting.
        let making = tokio::spawn(async move { tables.disable(&order, &text).await });
        sleep(Duration::from_millis(500)).await;
        making.abort();
        a.kill();
        let b = Process::start(&store);
        sleep(Duration::from_secs(12)).await;
        let shown = scope.on_table(Game::TexasHoldem).unwrap();
        assert_eq!(stops(&b.tables, &key).await, [(shown, "audit".to_owned())], "{scope:?}");
        let entry = b.tables.stops(&scope.shelf()).await.unwrap().entries.remove(0);
        assert!(entry.swept && entry.state == StopState::Active, "{entry:?}");
        let tables = b.tables.clone();
        let order = Order { request: request(number + 100), ..self::order(0, &scope) };
        let lifting = tokio::spawn(async move { tables.enable(&order, &text).await });
        sleep(Duration::from_millis(500)).await;
        lifting.abort();
        b.kill();
        let c = Process::start(&store);
        sleep(Duration::from_secs(20)).await;
        assert_eq!(stops(&c.tables, &key).await, [], "{scope:?}");
        assert!(hands(&c.tables, &key).await >= 1, "{scope:?}: play goes on");
        assert!(c.tables.stops(&scope.shelf()).await.unwrap().entries.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_table_that_fails_is_swept_again_until_it_shows() {
    let store = alone();
    let process = Process::start(&store);
    let tables = &process.tables;
    let (well, ill) = (open(tables, 1).await, open(tables, 2).await);
    store.broken.lock().unwrap().insert(ill.clone());
    disable(tables, 3, &Scope::Service).await.unwrap();
    sleep(Duration::from_secs(60)).await;
    assert_eq!((stops(tables, &well).await.len(), stops(tables, &ill).await.len()), (1, 0));
    assert!(!tables.stops(&Shelf::Service).await.unwrap().entries[0].swept);
    store.broken.lock().unwrap().clear();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(stops(tables, &ill).await.len(), 1);
    assert!(tables.stops(&Shelf::Service).await.unwrap().entries[0].swept);
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_the_registry_does_not_know_is_lifted_by_the_comparison() {
    let store = alone();
    let before = tables(Arc::<Faulty>::clone(&store));
    let key = two_players(&before, 1).await;
    let lost = Ask::Stop { scope: StopScope::Operator, reason: "lost".to_owned() };
    ask(&before, &key, lost).await.unwrap();
    let own = Ask::Stop { scope: StopScope::Table, reason: "its own".to_owned() };
    ask(&before, &key, own).await.unwrap();
    let process = Process::start(&store);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(stops(&process.tables, &key).await, [(StopScope::Table, "its own".to_owned())]);
}
