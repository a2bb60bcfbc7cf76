//! Connections: silent, idle and old ones, too many of them, and calls and watchers on those that are sent away.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulcrum::grpc::{Connections, ServeConfig};
use fulcrum::pb::v1;
use fulcrum::pb::v1::table_message::Content;
use fulcrum::telemetry::metrics::Metrics;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::sleep;
use tonic::Status;
use tonic_types::StatusExt;

use super::harness::caller::eyes_of;
use super::harness::{Caller, Eyes, House, Setup, in_time, request_id, texas};

/// What HTTP/2 begins with: the preface and an empty SETTINGS frame.
const HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

async fn house(connections: Connections) -> House {
    let config = ServeConfig { connections, ..ServeConfig::default() };
    House::with(Setup { config, ..Setup::default() }).await
}

/// How long a connection that says this and then nothing stays open.
async fn open_for(address: SocketAddr, words: &[u8]) -> Duration {
    let mut socket = TcpStream::connect(address).await.expect("a connection");
    let begun = Instant::now();
    socket.write_all(words).await.expect("an open connection");
    let mut read = [0; 1024];
    // An error is an end, too.
    while in_time(socket.read(&mut read)).await.is_ok_and(|read| read > 0) {}
    begun.elapsed()
}

#[tokio::test]
async fn who_does_not_say_what_he_speaks_is_not_waited_for() {
    let hello = Duration::from_millis(300);
    let idle = Duration::from_secs(2);
    let house = house(Connections { hello, idle, ..Connections::default() }).await;
    for silence in [&b""[..], b"P", &HELLO[..23]] {
        let open = open_for(house.address, silence).await;
        assert!(open >= hello && open < idle, "{open:?} after {silence:?}");
    }
    assert!(
        open_for(house.address, b"GET / HTTP/1.1\r\n\r\n and no more of it").await < hello,
        "it is no HTTP/2"
    );
    let open = open_for(house.address, HELLO).await;
    assert!(open >= idle, "a caller may wait before he calls, but not for ever: {open:?}");
    house.close().await;
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_its_caller_does_not_notice() {
    let idle = Duration::from_millis(200);
    let house = house(Connections { idle, ..Connections::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann"]).await;
    for _ in 0..3 {
        sleep(idle * 4).await;
        caller.prefer(&table, "ann").await;
    }
    let mut eyes = caller.watch(&table, "ann").await;
    let told = eyes.next().await.expect("a snapshot").sequence;
    sleep(idle * 4).await;
    let changed = caller.prefer(&table, "ann").await;
    assert_eq!(eyes.next().await.expect("the change").sequence, changed, "a watched connection is not idle");
    assert_eq!(changed, told + 1);
    house.close().await;
}

#[tokio::test]
async fn no_more_connections_are_open_than_may_be() {
    let house = house(Connections { most: 2, ..Connections::default() }).await;
    let first = TcpStream::connect(house.address).await.expect("a connection");
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann"]).await;
    assert!(open_for(house.address, b"").await < Duration::from_secs(5), "the third is closed at once");
    caller.prefer(&table, "ann").await;
    drop(first);
    let mut other = loop {
        let mut other = house.caller().await;
        let request = v1::GetTableRequest { table_id: table.clone(), viewer: eyes_of("") };
        if other.tables.get_table(request).await.is_ok() {
            break other;
        }
        sleep(Duration::from_millis(20)).await;
    };
    other.prefer(&table, "ann").await;
    house.close().await;
}

#[tokio::test]
async fn one_address_does_not_take_all_connections() {
    let house = house(Connections { of_an_address: 1, ..Connections::default() }).await;
    let _first = house.caller().await;
    assert!(open_for(house.address, b"").await < Duration::from_secs(5), "the second is closed at once");
    house.close().await;
}

/// Repeats a call when it was not the service that refused it but the caller's own end of the connection: tonic gives up
/// calls that it has not sent yet when the server says that the connection goes.
async fn ask<T, F: Future<Output = Result<T, Status>>>(mut call: impl FnMut() -> F, repeated: &mut u32) -> T {
    for _ in 0..10 {
        match in_time(call()).await {
            Ok(answer) => return answer,
            Err(status) => {
                assert!(status.get_details_error_info().is_none(), "the service refuses nothing: {status:?}");
                *repeated += 1;
            }
        }
    }
    panic!("ten connections in a row were sent away with this call");
}

/// Makes so many changes one after another, with pauses; says how many calls were repeated.
async fn busy(caller: Caller, table: String, changes: usize, pause: Duration) -> u32 {
    let (mut repeated, mut last) = (0, 0);
    for _ in 0..changes {
        let request = v1::SetPreferencesRequest {
            request_id: request_id(),
            table_id: table.clone(),
            player_id: "ann".into(),
            preferences: Some(v1::Preferences { straddle: false, always_show: true }),
            etag: String::new(),
        };
        let change = || {
            let (mut tables, request) = (caller.tables.clone(), request.clone());
            async move { tables.set_preferences(request).await }
        };
        let sequence = ask(change, &mut repeated).await.into_inner().sequence;
        assert!(sequence > last, "no change is made twice");
        last = sequence;
        if !pause.is_zero() {
            sleep(pause).await;
        }
    }
    repeated
}

/// Watches until this sequence, wherever it is sent; says how often it was.
async fn watcher(address: SocketAddr, table: String, until: u64) -> u32 {
    let caller = Caller::connect(address, None).await;
    let (mut token, mut last, mut away, mut repeated) = (Vec::new(), None, 0, 0);
    loop {
        let begin = || {
            let (mut tables, table_id, resume_token) = (caller.tables.clone(), table.clone(), token.clone());
            let request = v1::WatchTableRequest {
                table_id,
                viewer: eyes_of("ann"),
                resume_token,
                ..Default::default()
            };
            async move { tables.watch_table(request).await }
        };
        let mut eyes = Eyes::new(ask(begin, &mut repeated).await.into_inner());
        while let Some(message) = eyes.next().await {
            match &message.content {
                Some(Content::GoAway(why)) => {
                    assert_eq!(why.reason(), v1::GoAwayReason::ConnectionAged);
                    away += 1;
                }
                Some(Content::Update(_)) => {
                    assert_eq!(Some(message.sequence), last.map(|last: u64| last + 1), "nothing is missed");
                }
                Some(Content::Snapshot(_)) => assert_eq!(last, None, "once, at the beginning"),
                _ => {}
            }
            last = Some(message.sequence);
            token = message.resume_token;
            if message.sequence >= until {
                return away;
            }
        }
    }
}

#[tokio::test]
async fn callers_and_watchers_move_from_old_connections_to_new_ones_and_lose_nothing() {
    const CALLERS: usize = 3;
    const CHANGES: usize = 150;
    let age = Some(Duration::from_millis(200));
    let house = house(Connections { age, ..Connections::default() }).await;
    let mut first = Caller::connect(house.address, None).await;
    let table = first.table_of(texas(), &["ann"]).await;
    let before = first.prefer(&table, "ann").await;
    let until = before + (CALLERS * CHANGES) as u64;
    let watching = tokio::spawn(watcher(house.address, table.clone(), until));
    let mut calling = Vec::new();
    for _ in 0..CALLERS {
        let caller = Caller::connect(house.address, None).await;
        calling.push(tokio::spawn(busy(caller, table.clone(), CHANGES, Duration::from_millis(5))));
    }
    let begun = Instant::now();
    let mut repeated = 0;
    for caller in calling {
        repeated += caller.await.expect("every call has its answer");
    }
    let away = in_time(watching).await.expect("the watcher misses nothing");
    println!("{repeated} calls repeated, {away} times sent away, in {:?}", begun.elapsed());
    assert!(away >= 2, "{away} times in {:?}", begun.elapsed());
    let mut last = Caller::connect(house.address, None).await;
    assert_eq!(last.prefer(&table, "ann").await, until + 1, "every change was made once");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_connection_that_is_never_without_calls_each_is_answered_in_the_end() {
    const TASKS: usize = 8;
    // For longer than some connections live: optimised, a change takes a fiftieth of a millisecond.
    const CHANGES: usize = if cfg!(debug_assertions) { 150 } else { 6_000 };
    let (age, moment) = (Some(Duration::from_millis(200)), Duration::from_millis(20));
    let metrics = Arc::new(Metrics::new(&[]));
    let config = ServeConfig {
        connections: Connections { age, moment, ..Connections::default() },
        counting: Some(Arc::<Metrics>::clone(&metrics)),
        ..ServeConfig::default()
    };
    let house = House::with(Setup { config, ..Setup::default() }).await;
    let mut first = Caller::connect(house.address, None).await;
    let table = first.table_of(texas(), &["ann"]).await;
    let until = first.prefer(&table, "ann").await + (TASKS * CHANGES) as u64;
    let caller = Caller::connect(house.address, None).await;
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| tokio::spawn(busy(caller.clone(), table.clone(), CHANGES, Duration::ZERO)))
        .collect();
    let (begun, mut repeated) = (Instant::now(), 0);
    for task in tasks {
        repeated += task.await.expect("every call has its answer");
    }
    let aged = "fulcrum_connections_ended_total{why=\"aged\"} ";
    let aged = metrics.text().expect("metrics").split(aged).nth(1).map_or(0, |rest| {
        let number = rest.split_whitespace().next().expect("a number");
        number.parse::<u32>().expect("a number")
    });
    println!(
        "{repeated} of {} calls repeated, {aged} connections, in {:?}",
        TASKS * CHANGES,
        begun.elapsed()
    );
    assert!(aged >= 2, "{aged} in {:?}", begun.elapsed());
    assert!(
        repeated as usize <= (aged as usize + 1) * TASKS,
        "no call is repeated but when its connection goes"
    );
    let mut last = Caller::connect(house.address, None).await;
    assert_eq!(last.prefer(&table, "ann").await, until + 1, "every change was made once");
    house.close().await;
}

/// His windows are wide, but nothing goes through his socket.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_takes_no_answers_is_cut_off_and_whoever_takes_them_slowly_is_not() {
    let metrics = Arc::new(Metrics::new(&[]));
    let config = ServeConfig {
        connections: Connections { deaf: Duration::from_secs(2), ..Connections::default() },
        counting: Some(Arc::<Metrics>::clone(&metrics)),
        ..ServeConfig::default()
    };
    let house = House::with(Setup { config, ..Setup::default() }).await;
    let mut caller = house.caller().await;
    for _ in 0..100 {
        caller.open_table(texas()).await;
    }
    let open = || async {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4_096).expect("a small one");
        let socket = socket.connect(house.address).await.expect("a connection");
        let client = h2::client::Builder::new()
            .initial_window_size(1 << 30)
            .initial_connection_window_size(1 << 30)
            .handshake::<_, prost::bytes::Bytes>(socket);
        in_time(client).await.expect("HTTP/2")
    };
    let list = || {
        http::Request::post(format!("http://{}/fulcrum.v1.TableService/ListTables", house.address))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())
            .expect("a request")
    };
    let deaf = || {
        let text = metrics.text().expect("metrics");
        text.contains("fulcrum_connections_ended_total{why=\"deaf\"} 1")
    };
    // The connection is worked on as long as it is polled.
    let (mut sender, mut connection) = open().await;
    let mut answers = Vec::new();
    for _ in 0..1_000 {
        let (answer, mut body) = sender.send_request(list(), false).expect("a stream");
        body.send_data(vec![0; 5].into(), true).expect("sent");
        answers.push(answer);
    }
    for _ in 0..3 {
        let worked = tokio::time::timeout(Duration::from_millis(10), &mut connection).await;
        assert!(worked.is_err(), "it is open");
        sleep(Duration::from_millis(300)).await;
    }
    assert!(!deaf(), "it takes something now and then");
    let begun = Instant::now();
    while !deaf() {
        assert!(begun.elapsed() < Duration::from_secs(20), "nobody notices");
        sleep(Duration::from_millis(20)).await;
    }
    caller.open_table(texas()).await;
    house.close().await;
}

#[tokio::test]
async fn who_does_not_read_is_cut_off_and_leaves_nothing_behind() {
    let connections = Connections {
        age: Some(Duration::from_millis(200)),
        grace: Duration::from_millis(500),
        ..Connections::default()
    };
    let config = ServeConfig { connections, ..ServeConfig::default() };
    // Room for one watcher, who may be as far behind as he likes.
    let feed = tables::FeedLimits { watchers: 1, behind: 100_000, ..tables::FeedLimits::default() };
    let settings = tables::Settings { feed, ..tables::Settings::default() };
    let house = House::with(Setup { config, settings, ..Setup::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann"]).await;
    let mut deaf = Caller::narrow(house.address).await;
    let unread = deaf.watch(&table, "ann").await;
    for _ in 0..40 {
        caller.prefer(&table, "ann").await;
    }
    let begun = Instant::now();
    let watches = || async {
        let mut other = house.caller().await;
        let request =
            v1::WatchTableRequest { table_id: table.clone(), viewer: eyes_of("ann"), ..Default::default() };
        in_time(other.tables.watch_table(request)).await.is_ok()
    };
    assert!(!watches().await, "there is no room");
    while !watches().await {
        assert!(begun.elapsed() < Duration::from_secs(20), "the place is not given back");
        sleep(Duration::from_millis(50)).await;
    }
    drop((unread, deaf));
    house.close().await;
}
