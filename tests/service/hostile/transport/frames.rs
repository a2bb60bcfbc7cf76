//! Frames: slow, broken, and so many of those that have to be answered or noted; messages that are not what they say.

use std::time::Duration;

use prost::bytes::Bytes;

use super::super::super::harness::operators::ALPHA;
use super::super::{contract, garbage};
use super::MIB;
use super::siege::Siege;
use super::wire::{
    DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, PRIORITY, WINDOW, Wire, call, frame, greeted,
    header, message, settings,
};

/// Connections that say a byte a second: of the first words, of a frame, of a message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_who_take_their_time() {
    let siege = Siege::lay().await;
    let block = call(&contract::call("ListTables").path, Some(ALPHA));
    let headers = greeted(&frame(HEADERS, END_HEADERS, 1, &block));
    let body = frame(DATA, END_STREAM, 1, &message(&[]));
    let mut slow = Vec::new();
    for number in 0..600 {
        let mut wire = Wire::bare(&siege.address).await;
        let (at_once, rest) = match number % 4 {
            0 => (&[][..], &[][..]),
            1 => (&[][..], PREFACE),
            2 => (&headers[..60], &headers[60..]),
            _ => (&headers[..], &body[..]),
        };
        wire.send(at_once).await;
        slow.push((wire, rest));
    }
    for byte in 0..5 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        for (wire, rest) in &mut slow {
            wire.send(rest.get(byte..=byte).unwrap_or_default()).await;
        }
    }
    siege.lift("600 slow callers", 64 * MIB).await;
    drop(slow);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_that_are_none() {
    let siege = Siege::lay().await;
    for _ in 0..20 {
        for (_, bytes) in garbage::rubbish() {
            let mut wire = Wire::bare(&siege.address).await;
            wire.send(&bytes).await;
        }
    }
    siege.lift("broken frames", 32 * MIB).await;
}

/// What has to be answered or noted, again and again; answers are not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_of_frames_that_are_allowed() {
    let siege = Siege::lay().await;
    let open = frame(HEADERS, END_HEADERS, 1, &call(&contract::call("ListTables").path, Some(ALPHA)));
    let floods = [
        ("pings", frame(PING, 0, 0, &[7; 8])),
        ("settings", settings(&[(4, 65_535)])),
        ("windows", frame(WINDOW, 0, 0, &1_u32.to_be_bytes())),
        ("windows of a stream", frame(WINDOW, 0, 1, &1_u32.to_be_bytes())),
        ("priorities", frame(PRIORITY, 0, 3, &[0, 0, 0, 0, 16])),
        ("empty data", frame(DATA, 0, 1, &[])),
        ("unknown frames", frame(0xee, 0, 0, &[1; 100])),
    ];
    for (what, one) in floods {
        let mut wire = Wire::open(&siege.address).await;
        wire.send(&open).await;
        let taken = wire.flood(&one.repeat(1_000), 200).await;
        println!("{what}: {taken} thousand taken");
    }
    siege.lift("floods of small frames", 32 * MIB).await;
}

/// Messages of which the last byte never comes: an operator's, as large as they may be, and larger ones of whoever asks for
/// health.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_are_nearly_sent() {
    let siege = Siege::lay().await;
    let (act, health) = (contract::call("Act").path, "/grpc.health.v1.Health/Check".to_owned());
    let socket = tokio::net::TcpStream::connect(&siege.address).await.expect("a connection");
    // It keeps to the windows that it is given, as whoever wants his bytes to be read.
    let (mut sender, connection) = h2::client::handshake(socket).await.expect("HTTP/2");
    tokio::spawn(connection);
    let mut unended = Vec::new();
    for (path, bytes, times) in [(act, 250_000, 600), (health, 2_000_000, 80)] {
        let whole = message(&vec![0; bytes]);
        let most = Bytes::from(whole).slice(..bytes);
        for _ in 0..times {
            let request = http::Request::post(format!("http://{}{path}", siege.address))
                .header("content-type", "application/grpc")
                .header("te", "trailers")
                .header("authorization", format!("Bearer {ALPHA}"))
                .body(())
                .expect("a request");
            sender = sender.ready().await.expect("room for a stream");
            let (answer, mut body) = sender.send_request(request, false).expect("a stream");
            // One that was refused meanwhile takes no more.
            let _ = body.send_data(most.clone(), false);
            unended.push((answer, body));
        }
    }
    tokio::time::sleep(Duration::from_secs(4)).await;
    siege.lift("messages without their last byte", 192 * MIB).await;
    drop(unended);
}

/// Messages that say that they are of four GiB, that are larger than may be, that unpack to more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_are_larger_than_they_may_be() {
    let siege = Siege::lay().await;
    let path = contract::call("CreateTable").path;
    let plain = call(&path, Some(ALPHA));
    let packed = [plain.clone(), header("grpc-encoding", "gzip")].concat();
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut bomb, &vec![0; 64 << 20]).expect("packed");
    let bomb = bomb.finish().expect("packed");
    let length = u32::try_from(bomb.len()).expect("short").to_be_bytes();
    let messages = [
        (&plain, [&[0, 0xff, 0xff, 0xff, 0xff][..], &[0; 30_000]].concat()),
        (&plain, message(&vec![0x0a; 8 << 20])),
        (&packed, [&[1][..], &length[..], &bomb[..]].concat()),
        (&plain, [&[1][..], &length[..], &bomb[..]].concat()),
    ];
    for (block, bytes) in messages {
        for _ in 0..8 {
            let mut wire = Wire::open(&siege.address).await;
            wire.send(&frame(HEADERS, END_HEADERS, 1, block)).await;
            for part in bytes.chunks(16_384) {
                if !wire.send(&frame(DATA, 0, 1, part)).await {
                    break;
                }
            }
            let (answer, _) = wire.read_for(Duration::from_millis(100)).await;
            assert!(!answer.is_empty(), "at least the server's settings");
        }
    }
    siege.lift("messages that are larger than they may be", 32 * MIB).await;
}
