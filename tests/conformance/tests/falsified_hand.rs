//! A recorded hand that is wrong must be found wrong: each part of it is falsified in turn.

use conformance::record::Record;
use serde_json::{Value, json};

/// A hand with antes, a short all-in, a bet that goes back, a side pot and a showdown.
fn record() -> Value {
    json!({
        "variant": "FLHE", "n": 3, "antes": [2, 2, 2], "ante_dead": false, "blinds_or_straddles": [10, 25, 0],
        "min_bet": 25, "small_bet": 25, "big_bet": 50, "starting_stacks": [2418, 500, 40],
        "holes": ["6c3s", "Qc8s", "7sTh"], "board": "KhQd9sKc5d",
        "actions": [
            [0, "ante", 2], [1, "ante", 2], [2, "ante", 2], [0, "post", 10], [1, "post", 25],
            [2, "raise", 38, [1, 25, 38, 38]], [0, "raise", 63, [1, 28, 63, 63]], [1, "call", 63, [1, 38, 88, 88]],
            [-1, "flop", "KhQd9s"],
            [0, "check", 0, [0, 0, 25, 25]], [1, "bet", 25, [0, 0, 25, 25]],
            [0, "raise", 50, [1, 25, 50, 50]], [1, "fold", 25, [1, 25, 75, 75]],
            [-1, "turn", "Kc"], [-1, "river", "5d"],
        ],
        "expect_legal": [[5, 2, [1, 25, 38, 38]], [12, 1, [1, 25, 75, 75]]],
        "returned": [[0, 25]], "pots": [[120, [0, 2], [2]], [100, [0], [0]]],
        "showdown": {"0": [3620, "pair"], "2": [3610, "pair"]}, "finishing_stacks": [2428, 410, 120],
    })
}

/// The fields that differ when the record is replayed.
fn fields(record: &Value) -> Vec<String> {
    let record = Record::parse(&record.to_string()).expect("a record that can be read");
    record.check().0.into_iter().map(|difference| difference.field).collect()
}

/// With another content at this place, exactly these fields differ.
fn check(place: &str, content: Value, differs: &[&str]) {
    let mut wrong = record();
    *wrong.pointer_mut(place).expect("a place of the record") = content;
    assert_eq!(fields(&wrong), differs, "{place}");
}

#[test]
fn nothing_differs_as_it_is() {
    assert_eq!(fields(&record()), [""; 0]);
}

#[test]
fn forced_bets() {
    check("/actions/0/2", json!(1), &["forced bets"]);
    check("/actions/4/0", json!(0), &["forced bets"]);
    check("/antes", json!([2, 0, 2]), &["set-up"]);
}

#[test]
fn actions() {
    check("/actions/5/0", json!(0), &["action 5: player", "action 5"]);
    check("/actions/6/2", json!(62), &["action 6"]);
    check("/actions/7/2", json!(64), &["action 7"]);
    check("/actions/7/1", json!("check"), &["action 7"]);
    check("/actions/10/1", json!("raise"), &["action 10"]);
    check("/actions/12/2", json!(24), &["action 12"]);
}

#[test]
fn legal_sets() {
    check("/actions/5/3", json!([0, 25, 38, 38]), &["action 5: legal"]);
    check("/actions/6/3/1", json!(27), &["action 6: legal"]);
    check("/actions/7/3/2", json!(87), &["action 7: legal"]);
    check("/actions/7/3/3", json!(null), &["action 7: legal"]);
    check("/expect_legal/0/1", json!(1), &["rule, before action 5: player"]);
    check("/expect_legal/1/2/2", json!(74), &["rule, before action 12: legal"]);
}

#[test]
fn cards() {
    check("/actions/8/2", json!("KhQd8c"), &["action 8"]);
    check("/actions/14/1", json!("turn"), &["action 14"]);
    check("/holes/1", json!("KhQs"), &["set-up"]);
    check(
        "/holes/0",
        json!("6c9c"),
        &["stacks", "pots", "stacks of the result", "showdown", "shown hands as recorded"],
    );
}

#[test]
fn the_end() {
    check("/returned/0/1", json!(24), &["returned"]);
    check("/pots/0/0", json!(121), &["pots"]);
    check("/pots/1/1", json!([0, 1]), &["pots"]);
    check("/pots/0/2", json!([0, 2]), &["pots"]);
    check("/showdown/0/0", json!(3619), &["showdown", "shown hands as recorded"]);
    check("/showdown/2/1", json!("two pair"), &["showdown", "shown hands as recorded"]);
    check("/finishing_stacks/2", json!(121), &["stacks", "stacks of the result"]);
    check("/finishing_stacks", json!(null), &["the hand runs"]);
}
