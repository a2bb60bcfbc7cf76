//! Lists of settlement records by time, kind and delivery, while play goes on: every page is where it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fulcrum::pb::v1;
use fulcrum::pb::v1::{DeliveryState, SettlementKind};
use prost_types::Timestamp;
use tokio::task::JoinHandle;

use super::harness::{Caller, House, in_time, reason, texas};

/// Two who fold to each other, hand after hand, until they are told to stop.
struct Folding {
    table: String,
    stop: Arc<AtomicBool>,
    playing: JoinHandle<()>,
}

async fn folding(house: &House) -> Folding {
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    let stop = Arc::new(AtomicBool::new(false));
    let (told, at) = (Arc::clone(&stop), table.clone());
    let playing = tokio::spawn(async move {
        let mut last = begun;
        while !told.load(Ordering::Relaxed) {
            let turn = eyes.turn_after(last).await;
            let player = ["ann", "bob"][turn.seats[0] as usize - 1];
            last = caller.act(&at, player, &turn, v1::Action::Fold, 0).await.expect("a fold").sequence;
        }
    });
    Folding { table, stop, playing }
}

impl Folding {
    async fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        in_time(self.playing).await.expect("no panic");
    }
}

/// All pages of a list.
async fn pages(caller: &mut Caller, mut request: v1::ListSettlementsRequest) -> Vec<Vec<v1::Settlement>> {
    let mut pages = Vec::new();
    loop {
        let page = caller.settlements.list_settlements(request.clone()).await.expect("a page").into_inner();
        pages.push(page.settlements);
        if page.next_page_token.is_empty() {
            return pages;
        }
        request.page_token = page.next_page_token;
    }
}

/// Waits until so many hands are over.
async fn hands(caller: &mut Caller, table: &str, count: u64) {
    while caller.table(table, "").await.hand.is_none_or(|hand| hand.number <= count) {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// As the filters are meant, by comparing.
fn between(record: &v1::Settlement, from: &Timestamp, to: &Timestamp) -> bool {
    let key = |time: &Timestamp| (time.seconds, time.nanos);
    let at = record.time.as_ref().expect("a time");
    key(from) <= key(at) && key(at) < key(to)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_by_time_and_kind_are_stable_while_play_goes_on() {
    let house = House::open().await;
    let folding = folding(&house).await;
    let mut caller = house.caller().await;
    hands(&mut caller, &folding.table, 30).await;
    let all = pages(&mut caller, v1::ListSettlementsRequest { page_size: 500, ..Default::default() })
        .await
        .concat();
    let from = all[all.len() / 4].time.expect("a time");
    let to = all[all.len() * 3 / 4].time.expect("a time");
    let mut some = 0;
    for kinds in [vec![], vec![SettlementKind::Hand], vec![SettlementKind::BuyIn, SettlementKind::Hand]] {
        let of = |record: &&v1::Settlement| kinds.is_empty() || kinds.contains(&record.kind());
        let wanted: Vec<_> = all.iter().filter(|r| between(r, &from, &to)).filter(of).cloned().collect();
        let request = v1::ListSettlementsRequest {
            page_size: 3,
            kinds: kinds.iter().map(|kind| i32::from(*kind)).collect(),
            from_time: Some(from),
            to_time: Some(to),
            ..Default::default()
        };
        let first = pages(&mut caller, request.clone()).await;
        let played = caller.table(&folding.table, "").await.hand.expect("a hand").number;
        hands(&mut caller, &folding.table, played).await;
        let second = pages(&mut caller, request).await;
        assert_eq!(first, second, "the same pages, whatever has been played");
        assert_eq!(first.concat(), wanted, "{kinds:?}");
        some += wanted.len();
    }
    assert!(some > 20, "{some}");
    let none = v1::ListSettlementsRequest { from_time: Some(to), to_time: Some(from), ..Default::default() };
    assert_eq!(pages(&mut caller, none).await, [vec![]], "no time at all");
    folding.end().await;
    house.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_by_what_a_consumer_has_acknowledged_are_stable_while_play_goes_on() {
    let house = House::open().await;
    let folding = folding(&house).await;
    let mut caller = house.caller().await;
    hands(&mut caller, &folding.table, 200).await;
    let mut books = caller.stream("books").await;
    let read = books.take(160).await;
    let list = |delivery: DeliveryState, to_time| v1::ListSettlementsRequest {
        page_size: 3,
        consumer: "books".into(),
        delivery: delivery.into(),
        to_time,
        ..Default::default()
    };
    let nothing = pages(&mut caller, list(DeliveryState::Acknowledged, None)).await;
    assert_eq!(nothing, [vec![]], "he has not acknowledged anything");
    caller.acknowledge("books", &read[7].position).await.expect("a mark");
    let of = |read: &[v1::DeliveredSettlement]| -> Vec<v1::Settlement> {
        read.iter().map(|record| record.settlement.clone().expect("a record")).collect()
    };
    let done = pages(&mut caller, list(DeliveryState::Acknowledged, None)).await;
    assert_eq!(done.concat(), of(&read[..8]));
    assert_eq!(done.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 2]);
    let to = of(&read)[159].time;
    let before = |record: &v1::Settlement| between(record, &Timestamp::default(), &to.expect("a time"));
    let wanted: Vec<_> = of(&read[8..]).into_iter().filter(before).collect();
    assert!(wanted.len() > 2, "they are of different times");
    let left = pages(&mut caller, list(DeliveryState::Unacknowledged, to)).await;
    assert_eq!(left.concat(), wanted);
    let unknown =
        v1::ListSettlementsRequest { consumer: "nobody".into(), ..list(DeliveryState::Acknowledged, None) };
    let status = caller.settlements.list_settlements(unknown).await.unwrap_err();
    assert_eq!(reason(&status), "CONSUMER_NOT_FOUND");
    folding.end().await;
    house.close().await;
}
