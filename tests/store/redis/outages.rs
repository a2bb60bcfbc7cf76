//! Clocks that several processes run over one Redis: what is due happens once, and an absence of Redis is given back
//! (rules 8.4).

use std::sync::Arc;
use std::time::{Duration, Instant};

use rules::config::{Clocks, TableConfig};
use rules::event::Event;
use rules::{Ask, Chips, Millis, PlayerId};
use tables::{
    Message, OsDealer, Request, RequestId, Settings, Store, TableId, TableKey, Tables, Watcher, clocks,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::proxy::{Mood, Proxy};
use super::servers::Installation;
use super::{keeping, open, open_through};
use crate::fixtures::{config, operator};

pub(super) struct Process {
    pub(super) tables: Tables,
    _stop: watch::Sender<bool>,
    clocks: JoinHandle<()>,
}

pub(super) async fn process(installation: &Installation) -> Process {
    let store = open(keeping(installation.config())).await as Arc<dyn Store>;
    let tables = Tables::new(store, Arc::new(OsDealer), Settings::default());
    let (stop, stopped) = watch::channel(false);
    let clocks = tokio::spawn(clocks::run(tables.clone(), stopped));
    Process { tables, _stop: stop, clocks }
}

fn request(number: u128) -> Request {
    Request { id: RequestId(Uuid::from_u128(number)), payload: [1; 32] }
}

/// A table with two players and these clocks; the first hand begins by itself.
pub(super) async fn table(tables: &Tables, number: u128, action: u64) -> TableKey {
    let operator = operator("casino-1");
    let clocks = Clocks {
        action: Millis(action),
        pivot: Millis(action),
        time_bank: Millis::ZERO,
        refill: None,
        timeouts_to_sit_out: 100,
        ..Clocks::default()
    };
    let config = TableConfig { clocks, ..config() };
    tables.open(&operator, request(number), config, &|_, _| Vec::new()).await.unwrap();
    let key = TableKey { table: TableId::derived(&operator, &request(number).id), operator };
    for name in ["alice", "bob"] {
        let (player, transaction) = (PlayerId::new(name).unwrap(), name.to_owned());
        let ask = Ask::Seat { player, seat: None, buy_in: Chips(5000), post: false, transaction };
        tables.ask(&key, None, None, ask, &|_, _| Vec::new()).await.unwrap();
    }
    key
}

/// The commits up to the one with such an event, and when they were told.
pub(super) async fn until(watcher: &mut Watcher, wanted: fn(&Event) -> bool) -> (Vec<Event>, Instant) {
    let mut all = Vec::new();
    loop {
        let message =
            tokio::time::timeout(Duration::from_secs(25), watcher.next()).await.expect("it happens");
        if let Some(Message::Commit { events, .. }) = message {
            let found = events.iter().any(wanted);
            all.extend(events.iter().cloned());
            if found {
                return (all, Instant::now());
            }
        }
    }
}

fn prompted(event: &Event) -> bool {
    matches!(event, Event::Prompted { .. })
}

pub(super) fn timed_out(event: &Event) -> bool {
    use rules::event::By;
    matches!(event, Event::Acted { by: By::TimeOut, .. } | Event::PivotPicked { by: By::TimeOut, .. })
}

pub(super) fn shifted(event: &Event) -> bool {
    matches!(event, Event::ClocksShifted { .. })
}

/// Reads on until so many turns have run out; none before its time, by Redis' own. Gives the latest of them.
async fn run_out(watcher: &mut Watcher, store: &dyn Store, mut left: u32) -> Millis {
    let (mut due, mut latest) = (None, Millis::ZERO);
    while left > 0 {
        let message =
            tokio::time::timeout(Duration::from_secs(25), watcher.next()).await.expect("it happens");
        let (Some(Message::Commit { table, .. } | Message::Snapshot(table)), now) =
            (&message, store.now().await)
        else {
            panic!("{message:?}");
        };
        if let Some(Message::Commit { events, .. }) = &message
            && events.iter().any(timed_out)
        {
            let (now, due): (Millis, Millis) = (now.unwrap(), due.expect("what runs out was due"));
            assert!(now >= due, "{} ms early", (due - now).0);
            latest = latest.max(now - due);
            left -= 1;
        }
        due = table.due().map(|(at, _)| at);
    }
    latest
}

/// Reads all streams on until so many turns of each have run out. Gives the latest of them.
pub(super) async fn all_run_out(watchers: &mut [Watcher], store: &dyn Store, turns: u32) -> Millis {
    let latest = watchers.iter_mut().map(|watcher| run_out(watcher, store, turns));
    let latest = futures_util::future::join_all(latest).await.into_iter().max().unwrap();
    println!("the latest of {} time-outs was {} ms late", watchers.len() * turns as usize, latest.0);
    latest
}

/// Waits until a turn runs out within a moment at one of the tables.
async fn nearly_due(tables: &Tables, keys: &[TableKey]) {
    let started = Instant::now();
    loop {
        let now = tables.store().now().await.unwrap();
        for key in keys {
            let due = tables.read(key).await.unwrap().due();
            if due.is_some_and(|(at, due)| due == rules::Due::Expire && at <= now + Millis(100)) {
                return;
            }
        }
        assert!(started.elapsed() < Duration::from_secs(25), "nobody's turn runs out");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_2_what_is_due_happens_once_and_in_time_whoever_looks() {
    let installation = Installation::single();
    let survivor = process(&installation).await;
    let mut dying = process(&installation).await;
    let (mut keys, mut watchers) = (Vec::new(), Vec::new());
    for number in 1..=16 {
        let key = table(&dying.tables, number, 1000).await;
        watchers.push(survivor.tables.watch(&key, Some(0)).await.unwrap());
        keys.push(key);
    }
    let store = survivor.tables.store();
    for _ in 0..2 {
        // What the machine makes late, whoever lives.
        let usual = all_run_out(&mut watchers, &**store, 2).await;
        assert!(usual < Millis(2000), "{usual:?}");
        // It dies without a word, just before turns run out at tables of its shards too, and another one comes.
        nearly_due(&survivor.tables, &keys).await;
        dying.clocks.abort();
        drop(std::mem::replace(&mut dying, process(&installation).await));
        let latest = all_run_out(&mut watchers, &**store, 2).await;
        assert!(latest < Millis(700) + usual.max(Millis(300)), "{latest:?} late, {usual:?} while all lived");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_4_while_redis_was_away_no_clock_ran() {
    let mut installation = Installation::single();
    let (one, two) = (process(&installation).await, process(&installation).await);
    let key = table(&one.tables, 1, 6000).await;
    let mut watcher = two.tables.watch(&key, Some(0)).await.unwrap();
    let (_, asked) = until(&mut watcher, prompted).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    installation.servers[0].kill();
    tokio::time::sleep(Duration::from_millis(7000)).await;
    installation.servers[0].restart();
    let (events, _) = until(&mut watcher, shifted).await;
    assert!(!events.iter().any(timed_out), "a time-out came before the clocks got their time back");
    let (_, ran_out) = until(&mut watcher, timed_out).await;
    let waited = ran_out - asked;
    // 6 s of clock, half a second of grace, and at least the 7 s that Redis was away, less the second between two beats.
    assert!(waited >= Duration::from_millis(12_400), "after {waited:?}");
    assert!(waited <= Duration::from_millis(17_500), "after {waited:?}");
    drop((one, two));
}

/// Nobody but the player himself is there when Redis comes back: no clock runs that would note its absence first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_4_who_acts_first_after_an_absence_of_redis_is_not_too_late() {
    let installation = Installation::single();
    let proxy = Proxy::before(&installation.servers[0].endpoint()).await;
    let store = open_through(&proxy).await;
    let tables = Tables::new(Arc::clone(&store) as Arc<dyn Store>, Arc::new(OsDealer), Settings::default());
    let key = table(&tables, 1, 2000).await;
    let start = Ask::StartHand { deck: Box::new(rules::Deck::ordered()), draw: 0 };
    tokio::time::sleep(Duration::from_millis(3100)).await;
    tables.ask(&key, None, None, start, &|_, _| Vec::new()).await.unwrap();
    store.heartbeat(store.now().await.unwrap()).await.unwrap();
    // Nobody reaches it; what it has been told it has, which a kill would leave to its disk.
    proxy.be(Mood::Closed);
    tokio::time::sleep(Duration::from_millis(4000)).await;
    proxy.be(Mood::Honest);
    let started = Instant::now();
    let asked = loop {
        match tables.read(&key).await {
            Ok(table) => break table,
            Err(error) => assert!(started.elapsed() < Duration::from_secs(10), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let prompt = asked.running_hand().and_then(|hand| hand.prompt).expect("somebody is asked");
    let now = store.now().await.unwrap();
    assert!(prompt.bank_until + asked.config.clocks.grace < now, "by the clock alone it is over");
    let seat = prompt.seats.iter().next().unwrap();
    let (player, hand) = (asked.seat(seat).unwrap().player.clone(), asked.hands);
    let fold = Ask::Act { player, hand, turn: prompt.turn, action: rules::Action::Fold };
    tables.decide_turn(&key, fold, now).await.expect("the time that Redis was away does not count");
}
