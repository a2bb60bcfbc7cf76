//! What a caller or a store may do wrong without doing harm: size, form, time, failure.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fulcrum::grpc::ServeConfig;
use fulcrum::pb::v1;
use tables::StoreError;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tonic::Code;
use tonic_types::StatusExt;

use super::harness::caller::seat_request;
use super::harness::gated::{Gate, Gated};
use super::harness::{House, Setup, fact, in_time, raw, reason, request_id, texas};

async fn gated(config: ServeConfig) -> (House, Arc<Gated>) {
    let store = Arc::new(Gated::default());
    let house = House::with(Setup { store: Arc::<Gated>::clone(&store), config, ..Setup::default() }).await;
    (house, store)
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_with_the_limit() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    let large = v1::PauseTableRequest {
        request_id: request_id(),
        table_id: table.clone(),
        reason: "x".repeat(4 * 1024 * 1024),
        etag: String::new(),
    };
    let status = in_time(caller.tables.pause_table(large)).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::OutOfRange, "MESSAGE_TOO_LARGE".into()));
    assert_eq!(fact(&status, "limit"), "262144");
    let long = v1::PauseTableRequest {
        request_id: request_id(),
        table_id: table.clone(),
        reason: "x".repeat(201),
        etag: String::new(),
    };
    let status = caller.tables.pause_table(long).await.unwrap_err();
    assert_eq!(reason(&status), "INVALID_ARGUMENT");
    caller.table(&table, "").await;
    house.close().await;
}

#[tokio::test]
async fn bytes_that_are_no_message_are_the_callers_fault() {
    let house = House::open().await;
    let path = "/fulcrum.v1.ActionService/Act";
    for bytes in [vec![0xff; 40], vec![0x0a, 0x05, b'x'], vec![0x0a, 0x02, 0xff, 0xfe], vec![0x38]] {
        let status = raw::call(house.address, path, bytes).await.unwrap_err();
        assert_eq!((status.code(), reason(&status)), (Code::InvalidArgument, "MESSAGE_MALFORMED".into()));
    }
    for path in ["/fulcrum.v1.ActionService/Cheat", "/fulcrum.v2.ActionService/Act", "/"] {
        let status = raw::call(house.address, path, Vec::new()).await.unwrap_err();
        assert_eq!(
            (status.code(), reason(&status)),
            (Code::Unimplemented, "NOT_IMPLEMENTED".into()),
            "{path}"
        );
    }
    house.close().await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_ended_by_the_servers_deadline() {
    let config = ServeConfig { longest_call: Duration::from_millis(200), ..ServeConfig::default() };
    let (house, store) = gated(config).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    store.loads(Gate::Held(Arc::new(Semaphore::new(0))));
    let get = v1::GetTableRequest { table_id: table.clone(), viewer: None };
    let status = in_time(caller.tables.get_table(get)).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::DeadlineExceeded, "DEADLINE_EXCEEDED".into()));
    let watch = v1::WatchTableRequest { table_id: table.clone(), ..Default::default() };
    let status = in_time(caller.tables.watch_table(watch)).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded, "a stream has to begin in time, too");
    store.loads(Gate::Open);
    caller.table(&table, "").await;
    let mut eyes = caller.watch(&table, "").await;
    eyes.next().await.expect("a snapshot");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let sequence = caller.begin(&table).await;
    eyes.until(sequence).await;
    house.close().await;
}

#[tokio::test]
async fn a_commit_that_outlives_its_deadline_is_whole_and_its_repetition_finds_the_answer() {
    let config = ServeConfig { longest_call: Duration::from_millis(200), ..ServeConfig::default() };
    let (house, store) = gated(config).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    let gate = Arc::new(Semaphore::new(0));
    store.commits(Gate::Held(Arc::clone(&gate)));
    let request = seat_request(&table, "ann", 0, 5_000);
    let status = in_time(caller.tables.seat_player(request.clone())).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    gate.add_permits(1);
    store.commits(Gate::Open);
    let landed = async {
        while caller.table(&table, "").await.seats.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    in_time(landed).await;
    let answer = caller.tables.seat_player(request).await.expect("the answer of the first").into_inner();
    let records = caller.records(&table).await;
    assert_eq!(records.len(), 1, "one buy-in");
    assert_eq!(records[0].settlement_id, answer.settlement_id);
    house.close().await;
}

/// The caller's own `grpc-timeout`, read by the server, who answers before it is over. tonic's client would give up by itself at the same moment, so
/// the frames are written by hand.
#[tokio::test]
async fn the_deadline_of_a_caller_is_honoured() {
    let (house, store) = gated(ServeConfig::default()).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    store.loads(Gate::Held(Arc::new(Semaphore::new(0))));
    let socket = TcpStream::connect(house.address).await.expect("a connection");
    let (mut sender, connection) = h2::client::handshake(socket).await.expect("HTTP/2");
    let driven = tokio::spawn(connection);
    let request = http::Request::post(format!("http://{}/fulcrum.v1.TableService/GetTable", house.address))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("grpc-timeout", "150m")
        .body(())
        .expect("a request");
    let started = Instant::now();
    let (response, mut body) = sender.send_request(request, false).expect("a stream");
    let message = prost::Message::encode_to_vec(&v1::GetTableRequest { table_id: table, viewer: None });
    let mut frame = vec![0, 0, 0, 0, u8::try_from(message.len()).expect("a short message")];
    frame.extend(message);
    body.send_data(frame.into(), true).expect("sent");
    let response = in_time(response).await.expect("an answer");
    let status = tonic::Status::from_header_map(response.headers()).expect("a status");
    assert_eq!((status.code(), reason(&status)), (Code::Unavailable, "OUTCOME_UNKNOWN".into()));
    let waited = started.elapsed();
    assert!(waited >= Duration::from_millis(130) && waited < Duration::from_secs(9), "{waited:?}");
    driven.abort();
    house.close().await;
}

#[tokio::test]
async fn a_store_that_fails_is_unavailable_and_says_nothing_of_itself() {
    let (house, store) = gated(ServeConfig::default()).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    let get = v1::GetTableRequest { table_id: table.clone(), viewer: None };
    store.loads(Gate::Failing(StoreError::Unavailable("disk sda1 is on fire".into())));
    let status = caller.tables.get_table(get.clone()).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::Unavailable, "STORE_UNAVAILABLE".into()));
    assert!(status.get_error_details().retry_info().is_some());
    store.loads(Gate::Failing(StoreError::Corrupt("disk sda1 is on fire".into())));
    let status_of_corrupt = caller.tables.get_table(get).await.unwrap_err();
    assert_eq!((status_of_corrupt.code(), reason(&status_of_corrupt)), (Code::Internal, "INTERNAL".into()));
    assert_eq!(fact(&status_of_corrupt, "id").len(), 36, "under which the log has it");
    for status in [status, status_of_corrupt] {
        let text = [status.message().as_bytes(), status.details()].concat();
        assert!(!String::from_utf8_lossy(&text).contains("sda1"));
    }
    store.loads(Gate::Open);
    caller.table(&table, "").await;
    house.close().await;
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_server_goes_on() {
    let (house, store) = gated(ServeConfig::default()).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    store.loads(Gate::Panicking);
    let get = v1::GetTableRequest { table_id: table.clone(), viewer: None };
    let status = in_time(caller.tables.get_table(get)).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::Internal, "INTERNAL".into()));
    assert!(!status.message().contains("planted"));
    store.loads(Gate::Open);
    store.commits(Gate::Panicking);
    let status = in_time(caller.tables.seat_player(seat_request(&table, "ann", 0, 5_000))).await.unwrap_err();
    assert!(matches!(status.code(), Code::Internal | Code::Unavailable), "{status:?}");
    store.commits(Gate::Open);
    caller.seat(&table, "ann", 0, 5_000).await;
    house.close().await;
}

#[tokio::test]
async fn a_full_server_says_when_to_come_again() {
    let (house, store) = gated(ServeConfig { calls_at_once: 2, ..ServeConfig::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    let gate = Arc::new(Semaphore::new(0));
    store.loads(Gate::Held(Arc::clone(&gate)));
    let get = v1::GetTableRequest { table_id: table.clone(), viewer: None };
    let before = store.reads();
    let mut held = Vec::new();
    for _ in 0..2 {
        let (mut other, get) = (caller.clone(), get.clone());
        held.push(tokio::spawn(async move { other.tables.get_table(get).await }));
    }
    in_time(store.arrived(before + 2)).await;
    let status = in_time(caller.tables.get_table(get)).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::Unavailable, "SERVER_BUSY".into()));
    assert!(status.get_error_details().retry_info().is_some());
    gate.add_permits(100);
    for call in held {
        call.await.expect("no panic").expect("an answer");
    }
    caller.table(&table, "").await;
    house.close().await;
}
