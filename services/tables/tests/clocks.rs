//! The clocks, in paused time: each jump of the runtime's clock is a jump of the store's.

mod common;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::faulty::Faulty;
use common::*;
use rules::event::By;
use rules::{Action, Deck, Event, Millis, Refusal};
use tables::clocks::{credit_outages, run};
use tables::{
    Clock, Dealer, MemoryStore, Message, Outage, PlayError, Settings, Store, TableKey, Tables, Watcher,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Clocks that run until this is dropped.
struct Running {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

fn start(tables: &Tables) -> Running {
    let (stop, shutdown) = watch::channel(false);
    Running { stop, task: tokio::spawn(run(tables.clone(), shutdown)) }
}

fn memory() -> (Arc<RuntimeClock>, Arc<MemoryStore>) {
    let clock = RuntimeClock::start();
    let store = Arc::new(MemoryStore::new(Arc::clone(&clock) as Arc<dyn Clock>));
    (clock, store)
}

async fn two_players(tables: &Tables, number: u128) -> TableKey {
    let key = open(tables, number).await;
    for name in ["ann", "bob"] {
        ask(tables, &key, sit(name)).await.unwrap();
    }
    key
}

/// The next commit with such an event, and when it came.
async fn wait_for(watcher: &mut Watcher, clock: &RuntimeClock, wanted: fn(&Event) -> bool) -> Millis {
    loop {
        let message = timeout(Duration::from_secs(3600), watcher.next()).await.expect("an hour is enough");
        match message.expect("the stream goes on") {
            Message::Commit { events, .. } if events.iter().any(wanted) => return clock.now(),
            Message::Behind { .. } => panic!("the test is too slow"),
            _ => {}
        }
    }
}

fn started(event: &Event) -> bool {
    matches!(event, Event::HandStarted(_))
}

fn timed_out(event: &Event) -> bool {
    matches!(event, Event::Acted { by: By::TimeOut, .. })
}

/// How late a thing may be that is due at a time.
fn punctual(at: Millis, due: Millis) -> bool {
    (due..due + Millis(100)).contains(&at)
}

#[tokio::test(start_paused = true)]
async fn hands_begin_and_turns_run_out_at_their_time() {
    let (clock, store) = memory();
    let tables = tables(store);
    let _running = start(&tables);
    let key = two_players(&tables, 1).await;
    let mut watcher = tables.watch(&key, Some(0)).await.unwrap();
    let begun = wait_for(&mut watcher, &clock, started).await;
    assert!(punctual(begun, START + Millis::seconds(3)), "rules 8.1: {begun:?}");
    let out = wait_for(&mut watcher, &clock, timed_out).await;
    // 15 s to act, 30 s of time bank, half a second of grace, and never a moment earlier (rules 8.2).
    assert!(punctual(out, begun + Millis(45_500)), "{out:?}");
    let next = wait_for(&mut watcher, &clock, started).await;
    assert!(punctual(next, out + Millis::seconds(3)), "{next:?}");
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_is_due_earlier_wakes_the_clocks() {
    let (clock, store) = memory();
    let tables = tables(store);
    let _running = start(&tables);
    // Nothing is due: the clocks sleep for long.
    sleep(Duration::from_secs(25)).await;
    let key = two_players(&tables, 1).await;
    let seated = clock.now();
    let mut watcher = tables.watch(&key, None).await.unwrap();
    let begun = wait_for(&mut watcher, &clock, started).await;
    assert!(punctual(begun, seated + Millis::seconds(3)), "{begun:?}");
}

#[tokio::test(start_paused = true)]
async fn r8_3_who_sits_out_too_long_is_stood_up_and_paid() {
    let (clock, store) = memory();
    let tables = tables(store.clone());
    let _running = start(&tables);
    let key = two_players(&tables, 1).await;
    let mut watcher = tables.watch(&key, None).await.unwrap();
    // Nobody ever acts: after two time-outs in a row one sits out, ten minutes later he is stood up.
    let out = wait_for(&mut watcher, &clock, |event| matches!(event, Event::SatOut { .. })).await;
    let gone = wait_for(&mut watcher, &clock, |event| matches!(event, Event::PlayerStoodUp { .. })).await;
    assert!(punctual(gone, out + Millis::minutes(10)), "{gone:?}");
    let table = tables.read(&key).await.unwrap();
    let (_, left) = table.occupied().next().expect("the other one stays");
    assert_eq!(table.occupied().count(), 1);
    assert_eq!(table.ledger.paid_out + left.stack, table.ledger.bought_in);
    assert_eq!(store.next_due().await.unwrap(), None, "nothing is waited for any more");
}

#[tokio::test(start_paused = true)]
async fn a_table_that_fails_keeps_nobody_waiting() {
    let (clock, memory) = memory();
    let store = Faulty::new(memory);
    let tables = tables(store.clone());
    let mut bad = Vec::new();
    // More than are worked on at a time, and due before all others.
    for number in 1..=100 {
        bad.push(two_players(&tables, number).await);
    }
    store.broken.lock().unwrap().extend(bad.iter().cloned());
    sleep(Duration::from_millis(100)).await;
    let good = two_players(&tables, 1000).await;
    let due = clock.now() + Millis::seconds(3);
    let _running = start(&tables);
    let mut watcher = tables.watch(&good, None).await.unwrap();
    let begun = wait_for(&mut watcher, &clock, started).await;
    assert!(punctual(begun, due), "{begun:?}");
    sleep(Duration::from_secs(60)).await;
    let tries = store.commits.load(Ordering::SeqCst);
    assert!(tries < 100 * 30, "they are tried less and less often: {tries}");
    store.broken.lock().unwrap().clear();
    sleep(Duration::from_secs(15)).await;
    for key in &bad {
        assert_eq!(tables.read(key).await.unwrap().hands, 1, "and played on when they work again");
    }
}

/// Deals nothing at one table.
struct Breakdown(TableKey);

impl Dealer for Breakdown {
    fn deck(&self, key: &TableKey, _: u64) -> Deck {
        assert!(*key != self.0, "no cards today");
        Deck::ordered()
    }

    fn draw(&self, _: &TableKey, _: u64) -> u64 {
        0
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_at_one_table_keeps_nobody_waiting() {
    let (clock, store) = memory();
    let bad = open(&tables(store.clone()), 1).await;
    let tables = Tables::new(store, Arc::new(Breakdown(bad.clone())), Settings::default());
    for name in ["ann", "bob"] {
        ask(&tables, &bad, sit(name)).await.unwrap();
    }
    let good = two_players(&tables, 2).await;
    let _running = start(&tables);
    let mut watcher = tables.watch(&good, None).await.unwrap();
    let begun = wait_for(&mut watcher, &clock, started).await;
    assert!(punctual(begun, START + Millis::seconds(3)), "{begun:?}");
    wait_for(&mut watcher, &clock, timed_out).await;
    assert_eq!(tables.read(&bad).await.unwrap().hands, 0);
}

#[tokio::test(start_paused = true)]
async fn the_clocks_outlive_an_absence_of_the_store() {
    let (clock, memory) = memory();
    let store = Faulty::new(memory);
    let tables = tables(store.clone());
    let _running = start(&tables);
    let key = two_players(&tables, 1).await;
    store.deaf.store(8, Ordering::SeqCst);
    let mut watcher = tables.watch(&key, None).await.unwrap();
    wait_for(&mut watcher, &clock, started).await;
    assert_eq!(store.deaf.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn two_processes_apply_everything_once() {
    let (_, store) = memory();
    let (here, there) = (tables(store.clone()), tables(store.clone()));
    let _running = (start(&here), start(&there));
    let mut keys = Vec::new();
    for number in 1..=20 {
        keys.push(two_players(&here, number).await);
    }
    sleep(Duration::from_secs(300)).await;
    for key in keys {
        let entries = store.history(&key, 0, 10_000).await.unwrap().entries;
        let events = || entries.iter().flat_map(|entry| entry.events.iter());
        let hands: Vec<u64> = events()
            .filter_map(|event| if let Event::HandStarted(start) = event { Some(start.number) } else { None })
            .collect();
        assert!(hands.len() >= 2);
        assert_eq!(hands, (1..=hands.len() as u64).collect::<Vec<_>>());
        let settled = events().filter(|event| matches!(event, Event::HandSettled(_))).count();
        assert_eq!(settled, hands.len());
    }
}

#[tokio::test(start_paused = true)]
async fn r8_4_an_outage_is_given_back_once_and_before_any_time_out() {
    let clock = RuntimeClock::start();
    let shared = Arc::clone(&clock) as Arc<dyn Clock>;
    let outage = Outage { from: START + Millis::seconds(10), to: START + Millis::seconds(100) };
    let memory = Arc::new(MemoryStore::new(shared).with_outages(vec![outage]));
    let store = Faulty::new(memory);
    let tables = tables(store.clone());
    let (key, idle) = (two_players(&tables, 1).await, open(&tables, 2).await);
    sleep(Duration::from_secs(3)).await;
    deal(&tables, &key).await;
    let before = deadline(&tables.read(&key).await.unwrap());
    assert_eq!(before, START + Millis(48_500));
    // The service goes away at 10 s and is back at 100 s, with the deadline long gone.
    sleep(Duration::from_secs(97)).await;
    assert_eq!(credit_outages(&tables).await.unwrap(), 1);
    let after = deadline(&tables.read(&key).await.unwrap());
    assert_eq!(after, before + Millis::seconds(90));
    assert_eq!(tables.read(&idle).await.unwrap().version, 1, "no clock, nothing to give back");
    // Once: whoever starts next finds nothing to do.
    assert_eq!(credit_outages(&tables).await.unwrap(), 0);
    let _running = start(&tables);
    let mut watcher = tables.watch(&key, None).await.unwrap();
    let out = wait_for(&mut watcher, &clock, timed_out).await;
    assert!(punctual(out, after), "{out:?}");
}

#[tokio::test(start_paused = true)]
async fn r8_4_a_table_that_cannot_be_credited_is_credited_before_its_time_out() {
    let clock = RuntimeClock::start();
    let shared = Arc::clone(&clock) as Arc<dyn Clock>;
    let outage = Outage { from: START + Millis::seconds(10), to: START + Millis::seconds(100) };
    let memory = Arc::new(MemoryStore::new(shared).with_outages(vec![outage]));
    let store = Faulty::new(memory);
    let tables = tables(store.clone());
    let key = two_players(&tables, 1).await;
    sleep(Duration::from_secs(3)).await;
    deal(&tables, &key).await;
    let before = deadline(&tables.read(&key).await.unwrap());
    sleep(Duration::from_secs(97)).await;
    store.broken.lock().unwrap().insert(key.clone());
    let _running = start(&tables);
    sleep(Duration::from_secs(5)).await;
    let table = tables.read(&key).await.unwrap();
    assert_eq!(deadline(&table), before);
    store.broken.lock().unwrap().clear();
    sleep(Duration::from_secs(15)).await;
    let table = tables.read(&key).await.unwrap();
    assert_eq!(deadline(&table), before + Millis::seconds(90));
    assert!(table.running_hand().is_some(), "no time-out came before");
    assert!(clock.now() < before + Millis::seconds(90));
}

#[tokio::test]
async fn r8_4_nobody_is_too_late_while_an_outage_is_not_yet_given_back() {
    let (clock, memory) = manual();
    let store = Faulty::new(memory);
    let tables = tables(store.clone());
    let key = dealt(&tables, &clock, 1).await;
    let table = tables.read(&key).await.unwrap();
    let before = deadline(&table);
    clock.advance(Millis::seconds(90));
    let late = tables.decide_turn(&key, act(&table, Action::Call), clock.now()).await;
    assert!(matches!(late, Err(PlayError::Refused { refusal: Refusal::ClockRanOut { .. }, .. })), "{late:?}");
    // The store was away for most of that time, and no heartbeat has noted it so far.
    let absence = Outage { from: clock.now() - Millis::seconds(80), to: clock.now() };
    *store.absence.lock().unwrap() = Some(absence);
    let told = tables.read_turn(&key, clock.now()).await.unwrap();
    assert_eq!(deadline(&told), before + Millis::seconds(80), "who asks is told of no clock that ran out");
    tables.decide_turn(&key, act(&table, Action::Call), clock.now()).await.expect("in time");

    let table = tables.read(&key).await.unwrap();
    clock.advance(Millis::seconds(60));
    *store.absence.lock().unwrap() =
        Some(Outage { from: clock.now() - Millis::seconds(50), to: clock.now() });
    tables.decide_turn(&key, act(&table, Action::Check), clock.now()).await.expect("in time");
    let table = tables.read(&key).await.unwrap();
    assert!(table.running_hand().is_some());
    clock.advance(Millis::seconds(60));
    let late = tables.decide_turn(&key, act(&table, Action::Check), clock.now()).await;
    assert!(matches!(late, Err(PlayError::Refused { refusal: Refusal::ClockRanOut { .. }, .. })), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn r8_2_an_action_in_the_last_moment_comes_before_the_time_out() {
    let (clock, store) = memory();
    let tables = tables(store);
    let _running = start(&tables);
    let key = two_players(&tables, 1).await;
    let mut watcher = tables.watch(&key, None).await.unwrap();
    wait_for(&mut watcher, &clock, started).await;
    let table = tables.read(&key).await.unwrap();
    let deadline = deadline(&table);
    let left = deadline - clock.now();
    sleep(Duration::from_millis(left.0)).await;
    assert_eq!(clock.now(), deadline);
    let received = clock.now();
    // It was received at the deadline, and is looked at a moment later.
    sleep(Duration::from_millis(10)).await;
    tables.decide_turn(&key, act(&table, Action::Call), received).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_clocks_stop_when_they_are_told_to_and_beat_until_then() {
    let (clock, memory) = memory();
    let store = Faulty::new(memory);
    let tables = tables(store.clone());
    let running = start(&tables);
    let key = two_players(&tables, 1).await;
    sleep(Duration::from_secs(30)).await;
    assert_eq!(tables.read(&key).await.unwrap().hands, 1);
    let beat = store.beat.load(Ordering::SeqCst);
    assert!(clock.now().0 - beat <= 1000, "a heartbeat each second");
    running.stop.send(true).unwrap();
    timeout(Duration::from_millis(100), running.task).await.expect("at once").unwrap();
    let version = tables.read(&key).await.unwrap().version;
    sleep(Duration::from_secs(300)).await;
    assert_eq!(tables.read(&key).await.unwrap().version, version);
    // Without anybody left to stop them they stop by themselves.
    let Running { stop, task } = start(&tables);
    drop(stop);
    timeout(Duration::from_millis(100), task).await.expect("at once").unwrap();
}

#[tokio::test(start_paused = true)]
async fn many_tables_are_punctual() {
    let (clock, store) = memory();
    let tables = tables(store.clone());
    for number in 1..=500 {
        two_players(&tables, number).await;
    }
    let _running = start(&tables);
    sleep(Duration::from_millis(3100)).await;
    let mut late = HashSet::new();
    for (key, stored) in store.tables(&operator(), None, 1000).await.unwrap() {
        let begun = stored.unwrap().table.hand.as_ref().map(|hand| hand.started_at);
        if !begun.is_some_and(|at| punctual(at, START + Millis::seconds(3))) {
            late.insert(key);
        }
    }
    assert!(late.is_empty(), "{} of 500 at {:?}", late.len(), clock.now());
}
