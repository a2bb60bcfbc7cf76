//! Random bytes, and bytes that are nearly a message, for every call: no panic, and the server still plays.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use fulcrum::pb::v1;
use prost::Message;
use tonic::Code;
use tonic_types::StatusExt;
use tracing::field::Field;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::{Layer, Registry};

use super::super::harness::raw::Line;
use super::super::harness::{House, in_time, texas};
use super::super::secrecy::report::Dice;
use super::contract::{Call, calls};
use super::scene::{Scene, playing};

const MESSAGES: usize = 20_000;
/// So many calls at a time.
const AT_ONCE: usize = 25;

/// Keeps what the service logs as its own fault: a panic that was caught is one.
#[derive(Clone, Default)]
struct Faults(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Faults {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if *event.metadata().level() == Level::ERROR {
            let mut said = String::new();
            event.record(&mut |field: &Field, value: &dyn fmt::Debug| {
                said += &format!("{field}: {value:?}; ")
            });
            self.0.lock().expect("nobody panics here").push(said);
        }
    }
}

/// Bytes for a call: noise, or the good message with some bytes changed, cut, doubled or put in.
fn bytes(dice: &mut Dice, good: &[u8]) -> Vec<u8> {
    let place = |dice: &mut Dice, length: usize| dice.below(length as u64 + 1) as usize;
    let mut bytes = good.to_vec();
    match dice.below(6) {
        0 => return (0..dice.below(300)).map(|_| dice.below(256) as u8).collect(),
        1 => bytes.truncate(place(dice, good.len())),
        2 => {
            let at = place(dice, good.len());
            bytes.splice(at..at, (0..dice.below(8)).map(|_| dice.below(256) as u8).collect::<Vec<_>>());
        }
        3 => bytes.extend_from_slice(&good[place(dice, good.len())..]),
        _ => {
            for _ in 0..=dice.below(4) {
                let at = place(dice, bytes.len().saturating_sub(1));
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
        }
    }
    bytes
}

async fn batch(line: &Line, call: &Call, messages: Vec<Vec<u8>>) -> Vec<String> {
    let answers = messages.into_iter().map(|message| {
        let mut line = line.clone();
        async move { line.first(&call.path, message).await }
    });
    let answers = in_time(futures_util::future::join_all(answers)).await;
    let word = |answer: Result<_, tonic::Status>| match answer {
        Ok(_) => "OK".to_owned(),
        Err(status) => {
            assert_ne!(status.code(), Code::Internal, "{}: {status:?}", call.name);
            let details = status.get_error_details();
            let info = details.error_info().unwrap_or_else(|| panic!("{}: no reason: {status:?}", call.name));
            info.reason.clone()
        }
    };
    answers.into_iter().map(word).collect()
}

/// In one thread, so that the log is this test's own.
#[tokio::test]
async fn random_bytes_break_nothing() {
    let faults = Faults::default();
    let _reading = tracing::subscriber::set_default(Registry::default().with(faults.clone()));
    let house = House::open().await;
    let line = Line::open(house.address, None).await;
    let mut dice = Dice(20_000);
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    let calls = calls();
    let batches = MESSAGES.div_ceil(calls.len() * AT_ONCE);
    for call in &calls {
        let scene = Scene::set(&house, call, None).await;
        let good = scene.good.encode_to_vec();
        for _ in 0..batches {
            let messages = (0..AT_ONCE).map(|_| bytes(&mut dice, &good)).collect();
            for word in batch(&line, call, messages).await {
                *words.entry(word).or_default() += 1;
            }
        }
    }
    println!("{words:?}");
    assert!(words.values().sum::<usize>() >= MESSAGES);
    assert!(words["MESSAGE_MALFORMED"] > 1_000 && words["INVALID_ARGUMENT"] > 1_000, "both kinds were there");
    let mut said = faults.0.lock().expect("nobody panics here").clone();
    // Some calls are about parked payments: their scenes have a wallet that gives up.
    said.retain(|line| !line.contains("event: \"payment_parked\""));
    assert!(said.is_empty(), "these were logged as faults of the service: {said:#?}");
    let mut caller = house.caller().await;
    let (table, turn) = playing(&mut caller, texas()).await;
    caller.act(&table, "ann", &turn, v1::Action::Raise, 300).await.expect("it still plays");
    house.close().await;
}

/// A message of a later contract: what this one does not know is passed over.
#[tokio::test]
async fn unknown_fields_are_passed_over() {
    let house = House::open().await;
    for call in calls() {
        let scene = Scene::set(&house, &call, None).await;
        let mut bytes = scene.good.encode_to_vec();
        // Field 1000 as a number, field 1001 as a text, field 1002 of eight bytes.
        bytes.extend([0xc0, 0x3e, 0x07, 0xca, 0x3e, 0x02, b'h', b'i', 0xd1, 0x3e, 1, 2, 3, 4, 5, 6, 7, 8]);
        let mut line = Line::open(house.address, None).await;
        in_time(line.first(&call.path, bytes))
            .await
            .unwrap_or_else(|status| panic!("{}: {status:?}", call.name));
    }
    house.close().await;
}

/// 4 MiB to every call: refused with the limit, not read to its end, and nothing changes.
#[tokio::test]
async fn four_mebibytes_are_refused_by_every_call() {
    let house = House::open().await;
    for call in calls() {
        let mut scene = Scene::set(&house, &call, None).await;
        let before = scene.mark().await;
        let mut bytes = scene.good.encode_to_vec();
        // A text in a field that no message has: apart from its size the message is fine.
        bytes.extend([0xca, 0x3e, 0x80, 0x80, 0x80, 0x02]);
        bytes.extend(std::iter::repeat_n(b'x', 4 << 20));
        let mut line = Line::open(house.address, None).await;
        let status = in_time(line.first(&call.path, bytes)).await.expect_err(&call.name);
        assert_eq!(status.code(), Code::OutOfRange, "{}: {status:?}", call.name);
        assert_eq!(super::super::harness::reason(&status), "MESSAGE_TOO_LARGE", "{}", call.name);
        assert_eq!(super::super::harness::fact(&status, "limit"), "262144", "{}", call.name);
        assert_eq!(scene.mark().await, before, "{}: nothing has changed", call.name);
    }
    house.close().await;
}
