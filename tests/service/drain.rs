//! The end of a server: nobody is cut off without a word, and nothing holds it up.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulcrum::grpc::ServeConfig;
use fulcrum::pb::v1;
use fulcrum::pb::v1::table_message::Content;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt;

use super::harness::caller::eyes_of;
use super::harness::gated::{Gate, Gated};
use super::harness::{House, PATIENCE, Setup, in_time, reason, texas};
use super::hostile::transport::wire;

#[tokio::test]
async fn streams_are_sent_away_with_their_sequence_and_the_server_ends() {
    let mut house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann"]).await;
    let mut eyes = caller.watch(&table, "ann").await;
    eyes.next().await.expect("a snapshot");
    let last = caller.prefer(&table, "ann").await;
    eyes.until(last).await;
    let mut health = HealthClient::new(caller.channel.clone());
    let request = HealthCheckRequest { service: "fulcrum.v1.TableService".into() };
    let mut pulse = health.watch(request).await.expect("a stream").into_inner();
    let first = in_time(pulse.message()).await.expect("health").expect("health");
    assert_eq!(first.status(), ServingStatus::Serving);

    let started = Instant::now();
    house.drain();
    let away = eyes.next().await.expect("a go-away");
    let draining = v1::GoAway { reason: v1::GoAwayReason::Draining.into() };
    assert_eq!((away.sequence, away.content), (last, Some(Content::GoAway(draining))));
    assert_eq!(eyes.next().await, None, "the stream ends with OK");
    let then = in_time(pulse.message()).await.expect("health").expect("health");
    assert_eq!(then.status(), ServingStatus::NotServing);
    let address = house.address;
    house.ended().await;
    assert!(started.elapsed() < Duration::from_secs(9), "it did not wait for the limit of twenty seconds");
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
}

/// A connection to a server that ends. When it is asked whether it has heard so, it answers, and goes on to talk for a
/// while, before it looks at what came: whether it ends, or breaks.
async fn talk(address: SocketAddr, connected: Arc<Semaphore>) -> io::Result<()> {
    const ACK: u8 = 1;
    let mut socket = TcpStream::connect(address).await?;
    socket.write_all(&wire::greeted(&[])).await?;
    let mut head = [0; 9];
    loop {
        if socket.read(&mut head[..1]).await? == 0 {
            return Ok(());
        }
        socket.read_exact(&mut head[1..]).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        socket.read_exact(&mut payload).await?;
        let acknowledges = head[4] & ACK != 0;
        if head[3] == wire::SETTINGS && acknowledges {
            connected.add_permits(1);
        }
        if head[3] == wire::PING && !acknowledges {
            socket.write_all(&wire::frame(wire::PING, ACK, 0, &payload)).await?;
            // The server says its last, and this side has not looked yet.
            for _ in 0..5 {
                tokio::time::sleep(Duration::from_millis(50)).await;
                socket.write_all(&wire::frame(wire::PING, 0, 0, &[0; 8])).await?;
            }
        }
    }
}

/// What comes to a closed socket breaks the connection off, and a proxy that is told so while it writes never looks at the
/// go-away that was sent to it last.
#[tokio::test]
async fn who_says_something_to_the_very_end_is_not_broken_off() {
    let mut house = House::open().await;
    let connected = Arc::new(Semaphore::new(0));
    let talking = tokio::spawn(talk(house.address, Arc::clone(&connected)));
    in_time(connected.acquire()).await.expect("it is open").forget();
    house.drain();
    in_time(talking).await.expect("no panic").expect("an end");
    house.ended().await;
}

#[tokio::test]
async fn a_running_call_is_finished() {
    let store = Arc::new(Gated::default());
    let mut house = House::with(Setup { store: Arc::<Gated>::clone(&store), ..Setup::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    let gate = Arc::new(Semaphore::new(0));
    store.loads(Gate::Held(Arc::clone(&gate)));
    let get = v1::GetTableRequest { table_id: table.clone(), viewer: None };
    let before = store.reads();
    let call = tokio::spawn(async move { caller.tables.get_table(get).await });
    in_time(store.arrived(before + 1)).await;
    house.drain();
    tokio::time::sleep(Duration::from_millis(100)).await;
    gate.add_permits(10);
    let answer = in_time(call).await.expect("no panic").expect("an answer").into_inner();
    assert_eq!(answer.table.expect("the table").table_id, table);
    house.ended().await;
}

#[tokio::test]
async fn what_does_not_end_is_not_waited_for_for_ever() {
    let store = Arc::new(Gated::default());
    let config = ServeConfig { drain: Duration::from_millis(300), ..ServeConfig::default() };
    let mut house =
        House::with(Setup { store: Arc::<Gated>::clone(&store), config, ..Setup::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    store.loads(Gate::Held(Arc::new(Semaphore::new(0))));
    let get = v1::GetTableRequest { table_id: table, viewer: None };
    let before = store.reads();
    let call = tokio::spawn(async move { caller.tables.get_table(get).await });
    in_time(store.arrived(before + 1)).await;
    let started = Instant::now();
    house.drain();
    house.ended().await;
    let waited = started.elapsed();
    assert!(waited >= Duration::from_millis(300) && waited < PATIENCE, "{waited:?}");
    call.abort();
}

#[tokio::test]
async fn while_it_lingers_calls_are_answered_and_streams_go_on_but_none_begins() {
    let linger = Duration::from_secs(2);
    let config = ServeConfig { linger, ..ServeConfig::default() };
    let mut house = House::with(Setup { config, ..Setup::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann"]).await;
    let mut eyes = caller.watch(&table, "ann").await;
    eyes.next().await.expect("a snapshot");
    let started = Instant::now();
    house.drain();
    let mut late = loop {
        let late = house.caller().await;
        let mut health = HealthClient::new(late.channel.clone());
        let request = HealthCheckRequest { service: String::new() };
        let answer = in_time(health.check(request)).await.expect("an answer").into_inner();
        if answer.status() == ServingStatus::NotServing {
            break late;
        }
    };
    let changed = late.prefer(&table, "ann").await;
    assert_eq!(eyes.next().await.expect("the change").sequence, changed, "the old stream goes on");
    let request =
        v1::WatchTableRequest { table_id: table.clone(), viewer: eyes_of("ann"), ..Default::default() };
    let refused = in_time(late.tables.watch_table(request)).await.expect_err("no new one");
    assert_eq!((refused.code(), reason(&refused)), (Code::Unavailable, "DRAINING".to_owned()));
    assert!(refused.get_details_retry_info().is_some());
    assert!(started.elapsed() < linger, "all of it while it lingers");
    let away = eyes.next().await.expect("a go-away");
    let draining = v1::GoAway { reason: v1::GoAwayReason::Draining.into() };
    assert_eq!((away.sequence, away.content), (changed, Some(Content::GoAway(draining))));
    assert!(started.elapsed() >= linger);
    let address = house.address;
    house.ended().await;
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn connections_that_say_nothing_do_not_hold_the_end_up() {
    let mut house = House::open().await;
    let silent = TcpStream::connect(house.address).await.expect("a connection");
    let mut deaf = TcpStream::connect(house.address).await.expect("a connection");
    deaf.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.expect("open");
    let mut caller = house.caller().await;
    caller.table_of(texas(), &[]).await;
    let started = Instant::now();
    house.drain();
    house.ended().await;
    assert!(started.elapsed() < Duration::from_secs(9), "{:?}", started.elapsed());
    drop((silent, deaf));
}
