//! Streams of settlements: what they hold and what they cost, however many there are and however slow their readers.

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::faulty::Faulty;
use common::*;
use tables::{
    Deliveries, Delivery, DeliveryOrder, MemoryStore, Parcel, Store, TableKey, Tables, Undelivered,
};
use tokio::time::sleep;

/// So many records a stream holds at most.
const PAGE: usize = 256;

struct Scene {
    store: Arc<Faulty>,
    tables: Tables,
    key: TableKey,
    deliveries: Deliveries,
    here: bool,
}

impl Scene {
    async fn set() -> Scene {
        let clock = RuntimeClock::start();
        let store = Faulty::new(Arc::new(MemoryStore::new(clock)));
        let tables = tables(Arc::clone(&store) as Arc<dyn Store>);
        let key = open(&tables, 1).await;
        let deliveries = Deliveries::new(Arc::clone(&store) as Arc<dyn Store>);
        Scene { store, tables, key, deliveries, here: false }
    }

    /// So many records: ann comes and goes.
    async fn records(&mut self, count: usize) {
        for _ in 0..count {
            let what = if self.here { stand_up("ann") } else { sit("ann") };
            ask(&self.tables, &self.key, what).await.unwrap();
            self.here = !self.here;
        }
    }

    async fn begin(&self, consumer: &str) -> Delivery {
        let consumer = consumer.to_owned();
        let order = DeliveryOrder { operator: operator(), consumer, after: None, table: None };
        self.deliveries.begin(order).await.unwrap()
    }

    fn pages(&self) -> usize {
        self.store.pages.load(Ordering::SeqCst) as usize
    }
}

async fn take(delivery: &mut Delivery, count: usize) {
    for _ in 0..count {
        assert!(matches!(delivery.next().await, Ok(Parcel::Record(..))));
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_who_does_not_read_holds_one_page_and_no_more_is_read_for_him() {
    let mut scene = Scene::set().await;
    scene.records(3 * PAGE).await;
    let mut slow = scene.begin("slow").await;
    take(&mut slow, 1).await;
    sleep(Duration::from_secs(3600)).await;
    scene.records(PAGE).await;
    assert_eq!(scene.pages(), 1, "an hour later");
    take(&mut slow, PAGE - 1).await;
    assert_eq!(scene.pages(), 1, "of what he holds");
    take(&mut slow, 1).await;
    assert_eq!(scene.pages(), 2);
    take(&mut slow, 3 * PAGE - 1).await;
}

#[tokio::test(start_paused = true)]
async fn what_waiting_costs_does_not_grow_with_the_number_of_streams() {
    let mut scene = Scene::set().await;
    scene.records(10).await;
    let mut readers = Vec::new();
    for number in 0..50 {
        let mut delivery = scene.begin(&format!("reader-{number}")).await;
        readers.push(tokio::spawn(async move { take(&mut delivery, 11).await }));
    }
    sleep(Duration::from_secs(1)).await;
    let before = scene.pages();
    sleep(Duration::from_secs(60)).await;
    let looks = scene.pages() - before;
    assert!((200..=250).contains(&looks), "{looks} looks in a minute");
    // And all of them hear of the next record.
    scene.records(1).await;
    for reader in readers {
        tokio::time::timeout(Duration::from_secs(1), reader).await.expect("soon").unwrap();
    }
    // Nobody waits any more: nobody looks.
    sleep(Duration::from_secs(1)).await;
    let after = scene.pages();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(scene.pages(), after);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_was_taken_over_ends_with_its_page() {
    let mut scene = Scene::set().await;
    scene.records(2 * PAGE).await;
    let mut old = scene.begin("books").await;
    take(&mut old, 1).await;
    let mut new = scene.begin("books").await;
    take(&mut old, PAGE - 1).await;
    assert!(matches!(old.next().await, Err(Undelivered::TakenOver)));
    take(&mut new, 2 * PAGE).await;
    // One that waits is told as well.
    let waiting = tokio::spawn(async move { new.next().await });
    sleep(Duration::from_secs(1)).await;
    let _newest = scene.begin("books").await;
    let ended = tokio::time::timeout(Duration::from_secs(1), waiting).await.expect("soon").unwrap();
    assert!(matches!(ended, Err(Undelivered::TakenOver)), "{ended:?}");
}
