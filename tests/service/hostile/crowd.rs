//! Ten thousand watchers who never read, on real sockets, at a server in a process of its own: its memory stays within
//! bounds, the table plays on as fast as before, and who does read misses nothing.

use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use prost::Message;
use prost::bytes::Bytes;
use tokio::net::TcpStream;

use super::super::harness::{Caller, Eyes, in_time, texas};
use super::child::Server;
use super::contract::call;
use super::scene::playing;

const CONNECTIONS: usize = 50;
const STREAMS: usize = 200;
const ACTIONS: usize = 150;

/// What a watcher who does not read may cost the server, in bytes: his call's and his stream's state in HTTP/2 and
/// tonic, his place at the ring, and one message in a window of 1 KiB. Measured: 17 kB.
const A_WATCHER: u64 = 32 * 1024;

/// The memory that the process holds, in bytes.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process of Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
    let kilobytes: u64 = line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).expect("a number");
    kilobytes * 1024
}

/// A connection with watchers who open their streams and read nothing of them.
async fn deaf(address: &str, table: &str) -> (h2::client::SendRequest<Bytes>, Vec<h2::RecvStream>) {
    let socket = TcpStream::connect(address).await.expect("a connection");
    let mut client = h2::client::Builder::new();
    client.initial_window_size(1024);
    let (mut sender, connection) = client.handshake::<_, Bytes>(socket).await.expect("HTTP/2");
    tokio::spawn(connection);
    let path = call("WatchTable").path;
    let message = v1::WatchTableRequest { table_id: table.into(), ..Default::default() }.encode_to_vec();
    let mut frame = vec![0, 0, 0, 0, u8::try_from(message.len()).expect("a short message")];
    frame.extend(message);
    let mut responses = Vec::new();
    for _ in 0..STREAMS {
        let request = http::Request::post(format!("http://{address}{path}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())
            .expect("a request");
        sender = sender.ready().await.expect("room for a stream");
        let (response, mut body) = sender.send_request(request, false).expect("a stream");
        body.send_data(frame.clone().into(), true).expect("sent");
        responses.push(response);
    }
    let mut streams = Vec::new();
    for response in responses {
        let response = in_time(response).await.expect("an answer");
        assert!(response.headers().get("grpc-status").is_none(), "he watches: {response:?}");
        streams.push(response.into_body());
    }
    (sender, streams)
}

/// Raises between two players, hand after hand: how long so many actions take.
async fn play(caller: &mut Caller, eyes: &mut Eyes, table: &str, actions: usize) -> Duration {
    let started = Instant::now();
    for _ in 0..actions {
        let turn = eyes.turn_after(0).await;
        let player = ["", "ann", "bob"][turn.seats[0] as usize];
        let legal = turn.legal.expect("one player");
        let action = if legal.can_check { v1::Action::Check } else { v1::Action::Call };
        let answer = caller.act(table, player, &turn, action, 0).await.expect("a legal action");
        eyes.until(answer.sequence).await;
    }
    started.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg(target_os = "linux")]
async fn ten_thousand_watchers_who_never_read_hold_up_nobody() {
    let server = Server::start(["--memory", "--listen", "127.0.0.1:0", "--log", "error"]);
    let process = server.process.id();
    let mut caller = Caller::connect(server.address.parse().expect("an address"), None).await;
    let (table, _) = playing(&mut caller, texas()).await;
    let mut eyes = caller.watch(&table, "").await;
    play(&mut caller, &mut eyes, &table, ACTIONS).await;
    let alone = play(&mut caller, &mut eyes, &table, ACTIONS).await;
    let before = memory(process);

    let mut crowd = Vec::new();
    for _ in 0..CONNECTIONS {
        crowd.push(deaf(&server.address, &table).await);
    }
    let watching = memory(process);
    let first = eyes.sequence();
    let rush = play(&mut caller, &mut eyes, &table, ACTIONS).await;
    let crowded = play(&mut caller, &mut eyes, &table, ACTIONS).await;
    let after = memory(process);
    let each = |bytes: u64| bytes.saturating_sub(before) / (CONNECTIONS * STREAMS) as u64;
    println!(
        "{ACTIONS} actions alone {alone:?}, then {rush:?} and {crowded:?}; {} kB before; a watcher {} B, later {} B",
        before / 1024,
        each(watching),
        each(after)
    );
    assert!(
        each(watching) < A_WATCHER && each(after) < A_WATCHER,
        "{} B, later {} B",
        each(watching),
        each(after)
    );
    // A busy machine may halve any speed; a table that waits for ten thousand people would be slower by far.
    let limit = alone * 5 + Duration::from_secs(2);
    assert!(crowded < limit, "{alone:?} alone, {crowded:?} with the crowd");

    // Nobody was cut off before his time, and who reads was told everything.
    eyes.until(first + 1).await;
    let mut told: Vec<u64> = eyes.seen.iter().map(|message| message.sequence).collect();
    // Heartbeats repeat the last one.
    told.dedup();
    assert!(told.windows(2).all(|pair| pair[1] == pair[0] + 1), "contiguous");
    let one_more = caller.prefer(&table, "ann").await;
    eyes.until(one_more).await;

    // When they go, their memory is given back or at least used again: another crowd costs no more.
    drop(crowd);
    let mut again = Vec::new();
    for _ in 0..CONNECTIONS {
        again.push(deaf(&server.address, &table).await);
    }
    let second = memory(process);
    println!("a second crowd: {} kB, the first one: {} kB", second / 1024, after.max(watching) / 1024);
    assert!(second < after.max(watching) + (CONNECTIONS * STREAMS) as u64 * A_WATCHER / 4);
}
