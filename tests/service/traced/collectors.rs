//! Collectors that are away, slow, or full: what is lost is counted, and no call waits.

use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use fulcrum::telemetry::spans::TARGET;

use super::Tower;
use crate::harness::caller::eyes_of;
use crate::harness::collector::Manner;
use crate::harness::{House, PATIENCE, in_time, texas};

/// What becomes of spans: with the collector, no room, not taken.
async fn counted(tower: &Tower, what: &str, holds: impl Fn([u64; 3]) -> bool) -> [u64; 3] {
    let begun = Instant::now();
    loop {
        let counted = tower.pipeline.counted();
        if holds(counted) {
            return counted;
        }
        assert!(begun.elapsed() < PATIENCE, "never: {what}: {counted:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn emit(count: u64) {
    for _ in 0..count {
        drop(tracing::error_span!(target: TARGET, "emitted"));
    }
}

#[tokio::test]
async fn calls_do_not_wait_for_a_collector_that_is_away_and_what_is_lost_is_counted() {
    let mut tower = Tower::open(1.0);
    tower.collector.die();
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.open_table(texas()).await;
    let mut slowest = Duration::ZERO;
    for _ in 0..100 {
        let begun = Instant::now();
        let request = v1::GetTableRequest { table_id: table.clone(), viewer: eyes_of("") };
        in_time(caller.tables.get_table(request)).await.expect("a table");
        slowest = slowest.max(begun.elapsed());
    }
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    let [exported, full, failed] = counted(&tower, "all are lost", |[_, _, failed]| failed >= 101).await;
    assert_eq!((exported, full, failed), (0, 0, 101));
    house.close().await;
}

#[tokio::test]
async fn a_collector_that_comes_back_soon_misses_nothing() {
    let mut tower = Tower::open(1.0);
    tower.collector.die();
    emit(100);
    tokio::time::sleep(Duration::from_millis(700)).await;
    tower.collector.come_back();
    tower.collector.until("all", |told| told.len() == 100).await;
    assert_eq!(counted(&tower, "all", |[exported, ..]| exported == 100).await, [100, 0, 0]);
}

#[tokio::test]
async fn a_collector_that_has_no_room_for_a_moment_misses_nothing() {
    let tower = Tower::open(1.0);
    tower.collector.be(Manner::IsBusy);
    emit(50);
    while tower.collector.calls() == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tower.collector.be(Manner::Takes);
    tower.collector.until("all", |told| told.len() == 50).await;
}

#[tokio::test]
async fn a_slow_collector_costs_spans_and_nobodys_time() {
    const MANY: u64 = 60_000;
    let tower = Tower::open(1.0);
    tower.collector.be(Manner::Dawdles(Duration::from_millis(300)));
    let begun = Instant::now();
    emit(MANY);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?} for {MANY} spans, whoever takes them");
    let [_, full, _] = counted(&tower, "some had no room", |[_, full, _]| full > 0).await;
    assert!(full >= MANY / 2, "{full} of {MANY}");
    tower.collector.be(Manner::Takes);
    let sum = |counts: [u64; 3]| counts.iter().sum::<u64>() == MANY;
    let [exported, _, failed] = counted(&tower, "every span is counted once", sum).await;
    assert_eq!(failed, 0);
    assert_eq!(tower.collector.told().len() as u64, exported);
}

#[tokio::test]
async fn the_end_waits_for_the_last_spans_and_not_for_ever() {
    let tower = Tower::open(1.0);
    emit(700);
    tower.pipeline.finish(Duration::from_secs(10)).await;
    assert_eq!(tower.collector.told().len(), 700);
    assert_eq!(tower.pipeline.counted(), [700, 0, 0]);

    let slow = Tower::open(1.0);
    slow.collector.be(Manner::Dawdles(Duration::from_secs(4)));
    emit(10);
    let begun = Instant::now();
    slow.pipeline.finish(Duration::from_millis(300)).await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}
