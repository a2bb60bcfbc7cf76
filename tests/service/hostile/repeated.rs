//! Request ids of every call that changes something: with another payload, and many times at once.

use prost::Message;
use tonic::Code;
use tonic_types::StatusExt;

use super::super::harness::raw::Line;
use super::super::harness::{House, in_time, reason};
use super::contract::{Call, Put, calls, leaves, put};
use super::scene::Scene;

/// What else a request could say, the first of these that its call has.
const OTHERWISE: &[(&str, Put)] = &[
    ("config.display_name", Put::Text("another")),
    ("reason", Put::Text("another")),
    ("transaction_id", Put::Text("another")),
    ("preferences.always_show", Put::Number(1)),
    ("from", Put::Number(2)),
    ("entry", Put::Number(1)),
    ("scope", Put::Number(0)),
    ("card_index", Put::Number(2)),
    ("to", Put::Number(400)),
    ("player_id", Put::Text("ann")),
];

fn other(call: &Call, scene: &Scene) -> Vec<u8> {
    let leaves = leaves(&call.input);
    let found = OTHERWISE.iter().find(|(path, _)| leaves.iter().any(|leaf| leaf == path));
    let (path, what) = found.unwrap_or_else(|| panic!("{} has nothing that could be otherwise", call.name));
    let mut other = scene.good.clone();
    put(&mut other, path, *what);
    assert_ne!(other, scene.good, "{}", call.name);
    other.encode_to_vec()
}

#[tokio::test]
async fn the_same_request_id_with_another_payload_is_refused_by_every_call() {
    let house = House::open().await;
    for call in calls().into_iter().filter(Call::mutates) {
        let mut scene = Scene::set(&house, &call, None).await;
        let mut line = Line::open(house.address, None).await;
        let good = scene.good.encode_to_vec();
        let first = in_time(line.first(&call.path, good.clone())).await.expect(&call.name);
        scene.settle().await;
        let before = scene.mark().await;
        let status = in_time(line.first(&call.path, other(&call, &scene))).await.expect_err(&call.name);
        if call.remembered() {
            assert_eq!(status.code(), Code::AlreadyExists, "{}: {status:?}", call.name);
            assert_eq!(reason(&status), "REQUEST_ID_REUSED", "{}", call.name);
            let details = status.get_error_details();
            let named = details.bad_request().map(|bad| bad.field_violations[0].field.clone());
            assert_eq!(named.as_deref(), Some("request_id"), "{}", call.name);
        } else {
            assert_eq!(reason(&status), "TURN_PASSED", "{}: the turn is what counts", call.name);
        }
        assert_eq!(scene.mark().await, before, "{}: nothing has changed", call.name);
        let again = in_time(line.first(&call.path, good)).await.expect("the first answer again");
        assert_eq!(again, first, "{}", call.name);
        assert_eq!(scene.mark().await, before, "{}", call.name);
    }
    house.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_request_many_times_at_once_is_one_effect_with_one_answer_of_every_call() {
    let house = House::open().await;
    for call in calls().into_iter().filter(Call::mutates) {
        let mut scene = Scene::set(&house, &call, None).await;
        let before = scene.mark().await;
        let mut tasks = Vec::new();
        for _ in 0..8 {
            let mut line = Line::open(house.address, None).await;
            let (path, good) = (call.path.clone(), scene.good.encode_to_vec());
            tasks.push(tokio::spawn(async move { line.first(&path, good).await }));
        }
        let mut answers = Vec::new();
        for task in tasks {
            answers.push(in_time(task).await.expect("no panic").expect(&call.name));
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{}: one answer", call.name);
        let after = scene.mark().await;
        let effects = before.effects(&after);
        match call.name.as_str() {
            "CreateTable" => assert_eq!(effects, (0, 0, 1), "one table"),
            // A hand may begin after it by itself.
            "SeatPlayer" | "VoidHand" => assert_eq!(effects.1, 1, "{}: one record", call.name),
            "AddChips" | "StandUp" => assert_eq!(effects, (1, 1, 0), "{}: one commit and record", call.name),
            // All players are paid out with it.
            "CloseTable" => assert_eq!(effects, (1, 1, 0)),
            _ => assert_eq!(effects, (1, 0, 0), "{}: one commit", call.name),
        }
    }
    house.close().await;
}
