//! Delivery of settlement records: at least once, in order, to every consumer by himself, whatever one of them does.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use fulcrum::grpc::ServeConfig;
use fulcrum::pb::v1;
use fulcrum::pb::v1::stream_settlements_response::Content;
use rules::Millis;
use tables::{MemoryStore, OperatorId, Store};
use tonic::Code;

use super::harness::caller::{leave_request, stream_request};
use super::harness::operators::{ALPHA, BETA, two_operators};
use super::harness::{Caller, House, Setup, fact, in_time, reason, texas};

/// Two tables with so many buy-ins each, alternating; says the tables.
async fn busy(caller: &mut Caller, players: usize) -> Vec<String> {
    let tables = vec![caller.table_of(texas(), &[]).await, caller.table_of(texas(), &[]).await];
    for player in 0..players {
        for table in &tables {
            caller.seat(table, &format!("p{player}"), 0, 5_000).await;
        }
    }
    tables
}

fn ids(records: &[v1::DeliveredSettlement]) -> Vec<String> {
    records.iter().map(|r| r.settlement.as_ref().expect("a record").settlement_id.clone()).collect()
}

async fn still(clocks: bool) -> House {
    House::with(Setup { clocks, ..Setup::default() }).await
}

#[tokio::test]
async fn a_consumer_that_dies_between_reading_and_acknowledging_gets_the_same_records_again() {
    let house = still(false).await;
    let mut caller = house.caller().await;
    busy(&mut caller, 3).await;
    let mut first = caller.stream("books").await;
    let read = first.take(6).await;
    assert!(first.is_quiet().await, "there are no more");
    drop(first);
    let mut second = house.caller().await.stream("books").await;
    assert_eq!(second.take(6).await, read, "the same again");
    // He has booked four of them and dies once more.
    let marked = caller.acknowledge("books", &read[3].position).await.expect("a mark");
    assert_eq!((marked.position, marked.backlog.expect("a backlog").depth), (read[3].position.clone(), 2));
    drop(second);
    let mut third = caller.stream("books").await;
    assert_eq!(third.take(2).await, read[4..]);
    // Of his own wish he begins anywhere, and his mark stays.
    let request =
        v1::StreamSettlementsRequest { after_position: read[0].position.clone(), ..stream_request("books") };
    let mut from_one = caller.stream_with(request).await.expect("a stream");
    assert_eq!(from_one.take(5).await, read[1..]);
    let back = caller.acknowledge("books", &read[0].position).await.expect("done before");
    assert_eq!(back.position, read[3].position, "a mark never goes back");
    house.close().await;
}

#[tokio::test]
async fn records_come_as_they_are_made_and_those_of_a_table_in_order() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let mut books = caller.stream("books").await;
    let tables = busy(&mut caller, 4).await;
    for table in &tables {
        caller.begin(table).await;
    }
    let read = books.take(8).await;
    let mut last: HashMap<String, u64> = HashMap::new();
    for record in read {
        let record = record.settlement.expect("a record");
        let before = last.insert(record.table_id.clone(), record.sequence);
        assert!(before.is_none_or(|before| before <= record.sequence), "in the table's order");
    }
    assert_eq!(last.len(), 2);
    for table in &tables {
        caller.pause(table).await;
    }
    house.close().await;
}

#[tokio::test]
async fn the_newest_stream_of_a_name_takes_over_and_other_names_are_of_no_matter() {
    let house = still(false).await;
    let mut caller = house.caller().await;
    busy(&mut caller, 2).await;
    let mut risk = caller.stream("risk").await;
    let mut old = caller.stream("books").await;
    old.take(4).await;
    risk.take(4).await;
    let mut new = house.caller().await.stream("books").await;
    assert_eq!(ids(&new.take(4).await), ids(&old.records), "nothing was acknowledged");
    let ended = old.end().await;
    assert_eq!((ended.code(), reason(&ended)), (Code::Aborted, "CONSUMER_TAKEN_OVER".into()));
    // Marks are independent, too.
    caller.acknowledge("books", &new.records[3].position).await.expect("a mark");
    let table = caller.table_of(texas(), &["ann"]).await;
    for post in [&mut risk, &mut new] {
        assert_eq!(post.record().await.settlement.expect("a record").table_id, table);
    }
    let list = caller.settlements.list_consumers(v1::ListConsumersRequest::default()).await;
    let consumers = list.expect("a list").into_inner().consumers;
    let told: Vec<_> = consumers
        .iter()
        .map(|c| (c.name.as_str(), c.generation, c.backlog.as_ref().expect("a backlog").depth))
        .collect();
    assert_eq!(told, [("books", 2, 1), ("risk", 1, 5)]);
    house.close().await;
}

#[tokio::test]
async fn another_process_takes_over_as_well() {
    let store = Arc::new(MemoryStore::default());
    let house = |store: Arc<dyn Store>| House::with(Setup { store, clocks: false, ..Setup::default() });
    let (here, there) = (house(Arc::<MemoryStore>::clone(&store)).await, house(store).await);
    let mut caller = here.caller().await;
    busy(&mut caller, 1).await;
    let mut old = caller.stream("books").await;
    old.take(2).await;
    let mut new = there.caller().await.stream("books").await;
    new.take(2).await;
    assert_eq!(reason(&old.end().await), "CONSUMER_TAKEN_OVER");
    // What is committed at one is streamed by the other.
    let table = caller.table_of(texas(), &["ann"]).await;
    assert_eq!(new.record().await.settlement.expect("a record").table_id, table);
    here.close().await;
    there.close().await;
}

#[tokio::test]
async fn a_deleted_consumer_begins_anew_and_his_stream_ends() {
    let house = still(false).await;
    let mut caller = house.caller().await;
    busy(&mut caller, 1).await;
    let mut books = caller.stream("books").await;
    let read = books.take(2).await;
    caller.acknowledge("books", &read[1].position).await.expect("a mark");
    for _ in 0..2 {
        let delete = v1::DeleteConsumerRequest { consumer: "books".into() };
        caller.settlements.delete_consumer(delete).await.expect("forgotten, once or twice");
    }
    assert_eq!(reason(&books.end().await), "CONSUMER_TAKEN_OVER");
    let status = caller.acknowledge("books", &read[1].position).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::NotFound, "CONSUMER_NOT_FOUND".into()));
    assert_eq!(caller.stream("books").await.take(2).await, read, "from the beginning");
    house.close().await;
}

#[tokio::test]
async fn an_operator_who_never_acknowledges_holds_up_nobody() {
    let config = two_operators();
    let house = House::with(Setup { config, clocks: false, ..Setup::default() }).await;
    let mut never = house.caller_with(ALPHA).await;
    let mut always = house.caller_with(BETA).await;
    let mut mute = never.stream("books").await;
    let mut books = always.stream("books").await;
    let mut tables = Vec::new();
    for caller in [&mut never, &mut always] {
        tables.push(caller.table_of(texas(), &[]).await);
    }
    for round in 0..20 {
        for (caller, table) in [(&mut never, &tables[0]), (&mut always, &tables[1])] {
            caller.seat(table, "ann", 1, 5_000 + round).await;
            caller.tables.stand_up(leave_request(table, "ann", "out")).await.expect("she leaves");
        }
        let read = books.take(2).await;
        let marked = always.acknowledge("books", &read[1].position).await.expect("a mark");
        let backlog = marked.backlog.expect("a backlog");
        assert_eq!((backlog.depth, backlog.oldest_age), (0, None), "nothing is left");
        assert!(
            read.iter().all(|r| r.settlement.as_ref().expect("a record").table_id == tables[1]),
            "his own"
        );
    }
    let list = never.settlements.list_consumers(v1::ListConsumersRequest::default()).await;
    let mute_one = list.expect("a list").into_inner().consumers.remove(0);
    let backlog = mute_one.backlog.expect("a backlog");
    assert_eq!((mute_one.position.as_str(), backlog.depth), ("", 40));
    assert!(backlog.oldest_age.is_some());
    assert_eq!(mute.take(40).await.len(), 40, "and everything is there for him");
    house.close().await;
}

#[tokio::test]
async fn what_retention_has_removed_is_told_as_a_gap() {
    let store = Arc::new(MemoryStore::default());
    let setup = Setup { store: Arc::<MemoryStore>::clone(&store), clocks: false, ..Setup::default() };
    let house = House::with(setup).await;
    let mut caller = house.caller().await;
    busy(&mut caller, 3).await;
    let mut books = caller.stream("books").await;
    let read = books.take(6).await;
    caller.acknowledge("books", &read[0].position).await.expect("a mark");
    let dev = OperatorId::new("dev").expect("a name");
    let future = Millis(store.now().await.expect("a time").0 + 1);
    assert_eq!(store.books().retire(&dev, future, 4).await.expect("removed"), 4);

    for (after, from) in [("", &read[0].position), (read[1].position.as_str(), &read[1].position)] {
        let request =
            v1::StreamSettlementsRequest { after_position: after.into(), ..stream_request("books") };
        let mut again = caller.stream_with(request).await.expect("a stream");
        let gap = again.next().await.expect("a message").expect("a message");
        let wanted =
            v1::DeliveryGap { after_position: from.clone(), until_position: read[3].position.clone() };
        assert_eq!(gap, Content::Gap(wanted));
        assert_eq!(again.take(2).await, read[4..], "then what is left");
        assert!(again.is_quiet().await, "the gap is told once");
    }
    // One who has read as far misses nothing, and may acknowledge what is gone.
    let request =
        v1::StreamSettlementsRequest { after_position: read[3].position.clone(), ..stream_request("books") };
    assert_eq!(caller.stream_with(request).await.expect("a stream").take(2).await, read[4..]);
    caller.acknowledge("books", &read[2].position).await.expect("a mark");
    house.close().await;
}

#[tokio::test]
async fn a_quiet_stream_has_a_heartbeat_with_its_place_and_what_is_left() {
    let config = ServeConfig { heartbeat: Duration::from_millis(600), ..ServeConfig::default() };
    let house = House::with(Setup { config, clocks: false, ..Setup::default() }).await;
    let mut caller = house.caller().await;
    let tables = busy(&mut caller, 2).await;
    let request = v1::StreamSettlementsRequest { table_id: tables[0].clone(), ..stream_request("one") };
    let mut one = caller.stream_with(request).await.expect("a stream");
    let read = one.take(2).await;
    assert!(read.iter().all(|r| r.settlement.as_ref().expect("a record").table_id == tables[0]));
    let mut beats = Vec::new();
    while beats.len() < 2 {
        match one.next().await.expect("a message").expect("a message") {
            Content::Heartbeat(beat) => beats.push(beat),
            other => panic!("{other:?}"),
        }
    }
    let backlog = beats[1].backlog.as_ref().expect("a backlog");
    assert_eq!((backlog.depth, backlog.oldest_age.is_some()), (4, true), "of all tables");
    assert!(beats[1].time.is_some());
    // The place is after the other table's last record, too.
    let marked = caller.acknowledge("one", &beats[1].position).await.expect("a mark");
    assert_eq!(marked.backlog.expect("a backlog").depth, 0);
    house.close().await;
}

#[tokio::test]
async fn streams_are_counted_and_sent_away_when_the_server_drains() {
    let mut house = still(false).await;
    let mut caller = house.caller().await;
    busy(&mut caller, 1).await;
    let mut open = Vec::new();
    for number in 0..64 {
        open.push(caller.stream(&format!("c{number}")).await);
    }
    let refused = caller.stream_with(stream_request("c0")).await.err().expect("one too many");
    assert_eq!((refused.code(), reason(&refused)), (Code::ResourceExhausted, "TOO_MANY_WATCHERS".into()));
    // A place is free when a stream is gone; a name is not.
    drop(open.pop());
    let refused = loop {
        match caller.stream_with(stream_request("one-more")).await.err() {
            Some(status) if status.code() == Code::ResourceExhausted => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            other => break other.expect("no room for a name"),
        }
    };
    assert_eq!((refused.code(), reason(&refused)), (Code::FailedPrecondition, "TOO_MANY_CONSUMERS".into()));
    assert_eq!(fact(&refused, "most"), "64");
    for post in &mut open {
        post.take(2).await;
    }
    house.drain();
    for post in &mut open {
        let away = post.next().await.expect("a message").expect("a message");
        assert_eq!(away, Content::GoAway(v1::GoAway { reason: v1::GoAwayReason::Draining.into() }));
        assert_eq!(post.next().await.expect("an end in good order"), None);
    }
    in_time(house.ended()).await;
}

#[tokio::test]
async fn only_what_was_streamed_can_be_acknowledged() {
    let house = still(false).await;
    let mut caller = house.caller().await;
    busy(&mut caller, 1).await;
    let read = caller.stream("books").await.take(2).await;
    let last = &read[1].position;
    let beyond = format!("{}{}", &last[..last.len() - 4], "ffff");
    let status = caller.acknowledge("books", &beyond).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::InvalidArgument, "INVALID_ARGUMENT".into()));
    house.close().await;
}
