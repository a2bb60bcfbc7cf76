//! Every call that changes something is sent twice, at the same time, to two servers on one Redis: one effect, one
//! answer. Tables are played for it from their opening to their end, and their logs are counted afterwards.

mod log;
mod play;
mod twins;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use fulcrum::pb::v1;
use prost::Message;
use prost_types::FileDescriptorSet;
use tokio::task::JoinSet;

use crate::child::Server;
use crate::redis::key_file;
use crate::servers;
use play::Play;
use twins::{Tally, Twins};

/// So many pairs in all, at least.
const PAIRS: u64 = 10_000;
const TABLES: u64 = 32;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_sent_twice_has_one_effect_and_one_answer() {
    let folder = tempfile::tempdir().unwrap();
    let keys = key_file(folder.path());
    let redis = servers::Server::start();
    // All history is kept: it is counted at the end.
    let url = format!("redis://127.0.0.1:{}?shards=8&history=1000000", redis.port);
    let start =
        || Server::start(["--listen", "127.0.0.1:0", "--redis", &url, "--key-file", keys.to_str().unwrap()]);
    let (one, two) = (start(), start());
    let (tally, begun) = (Arc::new(Tally::default()), Instant::now());
    let mut tables = JoinSet::new();
    for number in 0..TABLES {
        let twins = Twins::open([&one.address, &two.address], &tally).await;
        let (tally, address) = (Arc::clone(&tally), one.address.clone());
        tables.spawn(async move {
            let game = if number % 2 == 0 { v1::Game::DoubleHoldem } else { v1::Game::TexasHoldem };
            let mut play = Play::open(twins, &address, game, number).await;
            while tally.pairs() < PAIRS {
                play.hand().await;
            }
            let (table_id, commits) = play.close().await;
            log::check(&address, &table_id, &commits).await
        });
    }
    let mut hands = 0;
    while let Some(table) = tables.join_next().await {
        hands += table.expect("every table's log is right");
    }
    println!("{} pairs, {hands} hands, {:?}\n{tally}", tally.pairs(), begun.elapsed());
    for call in changing_calls() {
        let count = tally.of(&call);
        assert!(count.accepted > 0 && count.refused > 0, "{call}: {count:?}");
    }
}

/// Calls that this play has no place for, as they are about parked transactions and about stops: `tests/service/resolving.rs`,
/// `tests/service/stops.rs` and `tests/service/hostile/repeated.rs` send them twice.
const ELSEWHERE: [&str; 5] =
    ["RetryTransaction", "ProposeResolution", "ConfirmResolution", "DisableScope", "EnableScope"];

/// The paths of all other calls that carry a request id, read from the contract.
fn changing_calls() -> BTreeSet<String> {
    let set = FileDescriptorSet::decode(fulcrum::pb::DESCRIPTOR).unwrap();
    let has_id = |input: &str| {
        let messages = set.file.iter().flat_map(|file| &file.message_type);
        let mut named = messages.filter(|message| input.ends_with(&format!(".{}", message.name())));
        named.any(|message| message.field.iter().any(|field| field.name() == "request_id"))
    };
    let mut calls = BTreeSet::new();
    for service in set.file.iter().flat_map(|file| &file.service) {
        let changing = service.method.iter().filter(|method| has_id(method.input_type()));
        for method in changing.filter(|method| !ELSEWHERE.contains(&method.name())) {
            calls.insert(format!("/fulcrum.v1.{}/{}", service.name(), method.name()));
        }
    }
    assert!(calls.len() >= 15, "{calls:?}");
    calls
}
