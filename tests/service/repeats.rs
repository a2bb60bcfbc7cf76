//! The same request again: the same bytes, and nothing happens twice.

use fulcrum::pb::v1;
use prost::Message;
use tonic::Code;

use super::harness::caller::{leave_request, seat_request};
use super::harness::{House, fact, raw, reason, request_id, texas};

#[tokio::test]
async fn a_repeated_opening_opens_one_table() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let request = v1::CreateTableRequest { request_id: request_id(), config: Some(texas()) };
    let first = caller.tables.create_table(request.clone()).await.expect("a table").into_inner();
    let again = caller.tables.create_table(request.clone()).await.expect("the same").into_inner();
    assert_eq!(again, first);
    let listed =
        caller.tables.list_tables(v1::ListTablesRequest::default()).await.expect("a list").into_inner();
    assert_eq!(listed.tables.len(), 1);
    let other = v1::TableConfig { seats: 5, ..texas() };
    let reused = v1::CreateTableRequest { config: Some(other), ..request.clone() };
    let reused = caller.tables.create_table(reused).await.unwrap_err();
    assert_eq!((reused.code(), reason(&reused)), (Code::AlreadyExists, "REQUEST_ID_REUSED".into()));
    let pause = v1::PauseTableRequest {
        request_id: request.request_id,
        table_id: first.table_id,
        reason: "x".into(),
        etag: String::new(),
    };
    let reused = caller.tables.pause_table(pause).await.unwrap_err();
    assert_eq!(reason(&reused), "REQUEST_ID_REUSED", "by another call");
    house.close().await;
}

#[tokio::test]
async fn a_repeated_buy_in_has_the_bytes_of_the_first_whatever_has_happened_since() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    let bytes = seat_request(&table, "ann", 4, 5_000).encode_to_vec();
    let path = "/fulcrum.v1.TableService/SeatPlayer";
    let first = raw::call(house.address, path, bytes.clone()).await.expect("a seat");
    let leave = leave_request(&table, "ann", "out");
    caller.tables.stand_up(leave).await.expect("she leaves");
    let again = raw::call(house.address, path, bytes).await.expect("the same answer");
    assert_eq!(again, first);
    assert!(caller.table(&table, "").await.seats.is_empty(), "she does not sit down a second time");
    assert_eq!(caller.records(&table).await.len(), 2);
    house.close().await;
}

#[tokio::test]
async fn a_refusal_is_not_remembered() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    let prefer = v1::SetPreferencesRequest {
        request_id: request_id(),
        table_id: table.clone(),
        player_id: "ann".into(),
        preferences: Some(v1::Preferences::default()),
        etag: String::new(),
    };
    let early = caller.tables.set_preferences(prefer.clone()).await.unwrap_err();
    assert_eq!(reason(&early), "NOT_SEATED");
    caller.seat(&table, "ann", 1, 5_000).await;
    caller.tables.set_preferences(prefer).await.expect("now she is there");
    house.close().await;
}

#[tokio::test]
async fn a_repeated_action_gets_its_answer_also_in_the_next_hand_and_another_one_never_counts() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    let turn = eyes.turn_after(begun).await;
    let first = caller.act(&table, "ann", &turn, v1::Action::Raise, 300).await.expect("accepted");
    let again = caller.act(&table, "ann", &turn, v1::Action::Raise, 300).await.expect("the same answer");
    assert_eq!(again, first);
    for (action, to) in [(v1::Action::Raise, 400), (v1::Action::Fold, 0), (v1::Action::Call, 0)] {
        let other = caller.act(&table, "ann", &turn, action, to).await.unwrap_err();
        assert_eq!((reason(&other), fact(&other, "current")), ("TURN_PASSED".into(), "2".into()));
    }
    for hand in 1..=2 {
        // Bob folds to the raise; in the next hand the button is his, and he folds at once.
        let open = eyes.turn_after(first.sequence).await;
        let folded = caller.act(&table, "bob", &open, v1::Action::Fold, 0).await.expect("a fold");
        eyes.until(folded.sequence).await;
        while eyes.hand == hand {
            eyes.next().await;
        }
        let late = caller.act(&table, "ann", &turn, v1::Action::Raise, 300).await;
        match hand {
            1 => assert_eq!(late.expect("the hand before is remembered"), first),
            _ => assert_eq!(reason(&late.expect_err("an older one is not")), "HAND_OVER"),
        }
    }
    house.close().await;
}

#[tokio::test]
async fn an_etag_of_the_past_is_refused_with_the_one_of_now() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    let etag = caller.table(&table, "").await.etag;
    let good = v1::SeatPlayerRequest { etag: etag.clone(), ..seat_request(&table, "ann", 0, 5_000) };
    let seated = caller.tables.seat_player(good.clone()).await.expect("nothing has changed").into_inner();
    let late = v1::SeatPlayerRequest { etag, ..seat_request(&table, "bob", 0, 5_000) };
    let late = caller.tables.seat_player(late).await.unwrap_err();
    assert_eq!((late.code(), reason(&late)), (Code::Aborted, "ETAG_MISMATCH".into()));
    assert_eq!(fact(&late, "etag"), seated.etag);
    let again = caller.tables.seat_player(good).await.expect("a repetition is no second try").into_inner();
    assert_eq!(again, seated);
    house.close().await;
}

#[tokio::test]
async fn a_hundred_repetitions_at_once_are_one_buy_in() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    let request = seat_request(&table, "ann", 0, 5_000);
    let mut tasks = Vec::new();
    for _ in 0..100 {
        let (mut other, request) = (caller.clone(), request.clone());
        tasks.push(tokio::spawn(async move { other.tables.seat_player(request).await }));
    }
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.expect("no panic").expect("an answer").into_inner());
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
    assert_eq!(caller.records(&table).await.len(), 1);
    house.close().await;
}
