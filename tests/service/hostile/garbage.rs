//! What is no gRPC at all: other protocols, broken frames, connections that come to nothing.

use std::net::SocketAddr;
use std::time::Duration;

use fulcrum::pb::v1;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::super::harness::{Caller, House, in_time, texas};
use super::scene::playing;
use super::transport::wire::{PREFACE, frame, greeted};

/// Bytes that are no conversation.
pub fn rubbish() -> Vec<(&'static str, Vec<u8>)> {
    let noise: Vec<u8> = (0_u32..70_000).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let long_headers: Vec<u8> = (0..100).flat_map(|_| frame(9, 0, 1, &noise[..16_000])).collect();
    vec![
        ("HTTP/1", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec()),
        (
            "a POST without an end",
            b"POST /fulcrum.v1.ActionService/Act HTTP/1.1\r\nContent-Length: 99999\r\n\r\n".to_vec(),
        ),
        ("TLS", vec![0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]),
        ("noise", noise.clone()),
        ("half a preface", PREFACE[..10].to_vec()),
        ("half a frame", greeted(&frame(0, 0, 1, &noise[..100])[..20])),
        ("a frame of 16 MiB", greeted(&[0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1])),
        ("data for no stream", greeted(&frame(0, 0, 7, b"data"))),
        ("a frame of no kind", greeted(&frame(0xee, 0xff, 1, &noise[..50]))),
        ("headers that are none", greeted(&frame(1, 4, 1, &noise[..500]))),
        ("headers without an end", greeted(&[frame(1, 0, 1, &noise[..100]), long_headers].concat())),
        ("settings of a stream", greeted(&frame(4, 0, 3, &[]))),
        ("a window of nothing", greeted(&frame(8, 0, 0, &[0, 0, 0, 0]))),
        ("many pings", greeted(&frame(6, 0, 0, &[0; 8]).repeat(5_000))),
        (
            "many resets",
            greeted(&(0..5_000_u32).flat_map(|i| frame(3, 0, i * 2 + 1, &[0; 4])).collect::<Vec<_>>()),
        ),
    ]
}

async fn send(address: SocketAddr, bytes: &[u8], then_close: bool) {
    let mut socket = TcpStream::connect(address).await.expect("a connection");
    // The server may hang up in the middle of it.
    let _ = tokio::time::timeout(Duration::from_secs(2), socket.write_all(bytes)).await;
    if then_close {
        let _ = socket.shutdown().await;
    }
    let mut answer = vec![0; 4096];
    let read = async {
        while let Ok(length) = socket.read(&mut answer).await
            && length > 0
        {}
    };
    let _ = tokio::time::timeout(Duration::from_millis(100), read).await;
}

/// A hand from its first turn to the next hand's.
async fn plays(caller: &mut Caller) {
    let (table, turn) = playing(caller, texas()).await;
    let mut eyes = caller.watch(&table, "").await;
    let folded = caller.act(&table, "ann", &turn, v1::Action::Fold, 0).await.expect("a fold");
    let next = eyes.turn_after(folded.sequence).await;
    assert_eq!(next.hand_number, 2);
}

#[tokio::test]
async fn rubbish_on_the_socket_disturbs_nobody() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    for (name, bytes) in rubbish() {
        for then_close in [true, false] {
            in_time(send(house.address, &bytes, then_close)).await;
        }
        println!("{name}");
        plays(&mut caller).await;
    }
    house.close().await;
}

#[tokio::test]
async fn a_thousand_connections_that_come_to_nothing_disturb_nobody() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let mut hanging = Vec::new();
    for number in 0..1_000 {
        let mut socket = TcpStream::connect(house.address).await.expect("a connection");
        match number % 4 {
            0 => drop(socket),
            1 => {
                socket.write_all(PREFACE).await.expect("a preface");
                drop(socket);
            }
            2 => hanging.push(socket),
            _ => {
                socket.write_all(&greeted(&[0, 0])).await.expect("half a frame");
                hanging.push(socket);
            }
        }
    }
    plays(&mut caller).await;
    assert_eq!(hanging.len(), 500, "they hang all the while");
    drop(hanging);
    plays(&mut caller).await;
    house.close().await;
}

/// Headers of a megabyte are refused or cut off; in no case are they a fault of the service.
#[tokio::test]
async fn huge_headers_are_not_read() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let socket = TcpStream::connect(house.address).await.expect("a connection");
    let (mut sender, connection) = in_time(h2::client::handshake(socket)).await.expect("HTTP/2");
    let driven = tokio::spawn(connection);
    let mut request =
        http::Request::post(format!("http://{}/fulcrum.v1.TableService/ListTables", house.address));
    for number in 0..100 {
        request = request.header(format!("x-{number}"), "x".repeat(10_000));
    }
    let request = request.header("content-type", "application/grpc").body(()).expect("a request");
    let sent = sender.send_request(request, true);
    let refused = match sent {
        Ok((response, _)) => match in_time(response).await {
            Ok(response) => {
                response.status() == 431 || response.headers().get("grpc-status").is_some_and(|s| s != "0")
            }
            Err(_) => true,
        },
        Err(_) => true,
    };
    assert!(refused);
    driven.abort();
    plays(&mut caller).await;
    house.close().await;
}
