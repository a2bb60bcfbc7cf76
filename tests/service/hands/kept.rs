//! A collector that is away, slow or refuses, and a server that is killed: play goes on, and each hand arrives once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use fulcrum::store::redis::{RedisConfig, RedisStore, Topology};
use fulcrum::store::{Codec, Keyring};
use tables::{Store, SystemClock};

use super::scene::{Telling, fast, key, play_out, trace, trace_of};
use crate::harness::collector::{Collector, Manner};
use crate::harness::{Caller, Eyes, House, Setup, texas};
use crate::loss::lossy::Lossy;
use crate::money::deal;
use crate::servers::Server;

const PLAYERS: [&str; 2] = ["ann-marie", "bob.the.player"];

/// So many hands, one after the other; the table is paused then.
async fn play(caller: &mut Caller, table: &str, hands: u64) -> Eyes {
    let mut eyes = caller.watch(table, "").await;
    let begun = caller.begin(table).await;
    let first = eyes.turn_after(begun).await.hand_number;
    for number in first..first + hands {
        while eyes.hand < number || eyes.turn.is_none() {
            eyes.next().await.expect("the hand");
        }
        if number + 1 == first + hands {
            caller.pause(table).await;
        }
        play_out(caller, &mut eyes, table, &PLAYERS).await;
        eyes.settled(number).await;
    }
    eyes
}

/// Every hand is there, and every span once.
async fn check_once(collector: &Collector, table: &str, hands: u64) {
    for number in 1..=hands {
        trace(collector, table, number).await;
    }
    // A second time would come by now.
    tokio::time::sleep(Duration::from_millis(2000)).await;
    let mut times: BTreeMap<(String, String), u32> = BTreeMap::new();
    for span in collector.told() {
        *times.entry((span.trace, span.id)).or_default() += 1;
    }
    let twice: Vec<_> = times.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[tokio::test]
async fn a_collector_that_refuses_or_is_away_gets_the_hands_later_once() {
    let (house, mut collector) = (House::open().await, Collector::open());
    let telling = Telling::begin(&house, &collector, 1.0, fast());
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &PLAYERS).await;
    collector.be(Manner::Refuses);
    play(&mut caller, &table, 2).await;
    tokio::time::sleep(Duration::from_millis(800)).await;
    collector.die();
    play(&mut caller, &table, 2).await;
    assert!(collector.told().is_empty());
    collector.be(Manner::Takes);
    collector.come_back();
    check_once(&collector, &table, 4).await;
    let counts = Arc::clone(&telling.counts);
    let told = counts.exported.load(Ordering::SeqCst) + counts.late.load(Ordering::SeqCst);
    assert_eq!(told, 4);
    assert!(counts.late.load(Ordering::SeqCst) >= 2 && counts.failed.load(Ordering::SeqCst) > 0);
    telling.end().await;
    house.close().await;
}

#[tokio::test]
async fn a_slow_collector_holds_up_nobody() {
    let (house, collector) = (House::open().await, Collector::open());
    let telling = Telling::begin(&house, &collector, 1.0, super::scene::slow());
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &PLAYERS).await;
    collector.be(Manner::Dawdles(Duration::from_millis(2500)));
    let begun = Instant::now();
    play(&mut caller, &table, 6).await;
    assert!(begun.elapsed() < Duration::from_millis(2400), "it took {:?}", begun.elapsed());
    check_once(&collector, &table, 6).await;
    telling.end().await;
    house.close().await;
}

async fn redis(server: &Server) -> Arc<dyn Store> {
    let keys = Keyring::parse(&format!("k1 {}", "5a".repeat(32))).expect("a key");
    let config = RedisConfig::new(Topology::Single(server.endpoint()));
    Arc::new(RedisStore::open(config, Codec::new(Arc::new(keys))).await.expect("a store"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hands_of_a_server_that_is_killed_are_told_by_another_one() {
    let (server, collector) = (Server::start(), Collector::open());
    let first = House::with(Setup { store: redis(&server).await, ..Setup::default() }).await;
    let dying = Telling::begin(&first, &collector, 1.0, fast());
    let mut caller = first.caller().await;
    let table = caller.table_of(texas(), &PLAYERS).await;
    collector.be(Manner::IsBusy);
    play(&mut caller, &table, 3).await;
    dying.die();
    drop(first);
    collector.be(Manner::Takes);
    assert!(collector.told().is_empty());

    let second = House::with(Setup { store: redis(&server).await, ..Setup::default() }).await;
    let telling = Telling::begin(&second, &collector, 1.0, fast());
    check_once(&collector, &table, 3).await;
    assert_eq!(telling.counts.late.load(Ordering::SeqCst), 3);
    let root =
        collector.told().into_iter().find(|span| span.trace == trace_of(&table, 2) && span.name == "hand");
    let root = root.expect("a root");
    assert_eq!(root.attribute("fulcrum.stakes"), "50/100", "the settings are found again");
    let left = second.tables.store().untold().take(&key(&table).operator, rules::Millis(0), 10).await;
    assert!(left.expect("a store").is_empty(), "nothing is left");
    telling.end().await;
    second.close().await;
}

#[tokio::test]
async fn a_hand_whose_history_is_lost_is_told_whatever_the_share_and_says_so() {
    let (store, collector) = (Lossy::new(Arc::new(SystemClock::default())), Collector::open());
    let house = House::with(Setup { store: Arc::<Lossy>::clone(&store), ..Setup::default() }).await;
    let telling = Telling::begin(&house, &collector, 0.0, super::scene::slow());
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &PLAYERS).await;
    let mut eyes = deal(&mut caller, &table).await;
    store.cut_replica();
    play_out(&mut caller, &mut eyes, &table, &PLAYERS).await;
    store.fail_over();
    caller.table(&table, "").await;

    let told = trace(&collector, &table, 1).await;
    let root = told.iter().find(|span| span.name == "hand").expect("a root");
    let outcome = (root.attribute("fulcrum.hand.outcome"), root.attribute("fulcrum.void.reason"));
    assert_eq!((outcome, &*root.status), (("voided", "history_lost"), "error"));
    let marks: Vec<&str> = root.events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(marks, ["stopped", "history_lost"]);
    assert_eq!(told.iter().filter(|span| span.name == "hand").count(), 1);
    let records = caller.records(&table).await;
    let void = records.iter().find(|record| record.kind() == v1::SettlementKind::Void).expect("a record");
    let settlement = told.iter().find(|span| span.name == "settlement").expect("a settlement");
    assert_eq!(settlement.attribute("fulcrum.settlement.id"), void.settlement_id);
    telling.end().await;
    house.close().await;
}
