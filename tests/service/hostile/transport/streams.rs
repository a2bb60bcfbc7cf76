//! Streams: more than there may be, taken back as soon as they are opened, and answers that nobody reads.

use std::time::Duration;

use super::super::super::harness::operators::ALPHA;
use super::super::super::harness::texas;
use super::super::contract;
use super::MIB;
use super::siege::Siege;
use super::wire::{
    DATA, END_HEADERS, HEADERS, RESET, Wire, call, frame, greeted, message, settings, short_call, streams,
    whole_call,
};

/// So many streams in one write.
const TOGETHER: usize = 100;

/// Sends streams of these frames on a connection until so many are sent or the server has had enough; how many it took.
async fn flood(wire: &mut Wire, count: usize, frames: impl Fn(u32) -> Vec<u8>) -> usize {
    let ids: Vec<u32> = streams().take(count).collect();
    for (sent, some) in ids.chunks(TOGETHER).enumerate() {
        let bytes: Vec<u8> = some.iter().flat_map(|id| frames(*id)).collect();
        if !wire.send(&bytes).await {
            return sent * TOGETHER;
        }
    }
    count
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_without_number_that_are_never_ended() {
    let siege = Siege::lay().await;
    let path = contract::call("ListTables").path;
    let mut taken = Vec::new();
    let mut wires = Vec::new();
    for token in [None, Some(ALPHA), None, Some(ALPHA)] {
        let block = call(&path, token);
        let mut wire = Wire::open(&siege.address).await;
        taken.push(flood(&mut wire, 4_000, |id| frame(HEADERS, END_HEADERS, id, &block)).await);
        wires.push(wire);
    }
    println!("taken: {taken:?}");
    siege.lift("4,000 open streams on each of four connections", 256 * MIB).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_are_taken_back_as_soon_as_they_are_opened() {
    let siege = Siege::lay().await;
    let block = call(&contract::call("ListTables").path, Some(ALPHA));
    let opened =
        |id| [frame(HEADERS, END_HEADERS, id, &block), frame(RESET, 0, id, &8_u32.to_be_bytes())].concat();
    let (mut taken, mut connections) = (0, 0);
    while taken < 60_000 && connections < 200 {
        let mut wire = Wire::open(&siege.address).await;
        taken += flood(&mut wire, 20_000, opened).await;
        connections += 1;
    }
    println!("{taken} taken on {connections} connections");
    siege.lift("streams opened and reset", 32 * MIB).await;
}

/// Fifteen bytes for each: what is small on the wire is large in memory. Nobody needs a token for that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_without_number_on_many_connections_at_once() {
    let siege = Siege::lay().await;
    let (first, later) = short_call(&contract::call("ListTables").path);
    let mut wires = Vec::new();
    for _ in 0..30 {
        wires.push(Wire::open(&siege.address).await);
    }
    let mut taken = 0;
    for wire in &mut wires {
        taken +=
            flood(wire, 8_000, |id| frame(HEADERS, END_HEADERS, id, if id == 1 { &first } else { &later }))
                .await;
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    siege.lift(&format!("{taken} streams on 30 connections"), 224 * MIB).await;
    drop(wires);
}

/// The window is shut, and the socket is not read either: answers stay where they are made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_and_streams_that_nobody_reads() {
    let siege = Siege::lay().await;
    let mut alpha = siege.alpha().await;
    let mut table = String::new();
    for _ in 0..50 {
        table = alpha.open_table(texas()).await;
    }
    let list = call(&contract::call("ListTables").path, Some(ALPHA));
    let watch = call(&contract::call("WatchTable").path, Some(ALPHA));
    let watched = prost::Message::encode_to_vec(&fulcrum::pb::v1::WatchTableRequest {
        table_id: table,
        ..Default::default()
    });
    let mut wires = Vec::new();
    for _ in 0..4 {
        let mut wire = Wire::bare(&siege.address).await;
        wire.send(&[super::wire::PREFACE, &settings(&[(4, 0)])].concat()).await;
        let taken = flood(&mut wire, 2_000, |id| match id % 4 {
            1 => whole_call(id, &list, &[]),
            _ => [frame(HEADERS, END_HEADERS, id, &watch), frame(DATA, 1, id, &message(&watched))].concat(),
        });
        println!("taken: {}", taken.await);
        wires.push(wire);
    }
    siege.lift("8,000 answers and streams that nobody reads", 192 * MIB).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_connections_of_which_nothing_comes() {
    let siege = Siege::lay().await;
    let mut wires = Vec::new();
    for _ in 0..2_000 {
        let mut wire = Wire::bare(&siege.address).await;
        wire.send(&greeted(&[])).await;
        wires.push(wire);
    }
    siege.lift("2,000 connections", 160 * MIB).await;
    drop(wires);
}
