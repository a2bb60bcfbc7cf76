//! A record that is wrong must be found wrong: each field of one of each kind is falsified in turn.

use conformance::record::Record;
use serde_json::{Value, json};

/// The fields that differ when the record is replayed.
fn fields(record: &Value) -> Vec<String> {
    let record = Record::parse(&record.to_string()).expect("a record that can be read");
    let differences = record.check();
    differences.0.into_iter().map(|difference| difference.field).collect()
}

/// Nothing differs as it is, and exactly each field that is given another content does.
fn check(record: &Value, falsified: &[(&str, Value)]) {
    assert!(fields(record).is_empty(), "{record}");
    for (field, content) in falsified {
        let mut wrong = record.clone();
        wrong[*field] = content.clone();
        assert_eq!(fields(&wrong), [*field], "{wrong}");
    }
}

#[test]
fn an_evaluation() {
    let record = json!({
        "hole": "8s8d7s", "pivot": 0, "board": "3h3d8c3s7c",
        "hand1": ["full house", 249], "hand2": ["full house", 305], "counts": 1, "rank": 249,
    });
    check(
        &record,
        &[
            ("hand1", json!(["full house", 250])),
            ("hand1", json!(["flush", 249])),
            ("hand2", json!(["full house", 304])),
            ("counts", json!(2)),
            ("rank", json!(305)),
        ],
    );
}

#[test]
fn a_showdown() {
    let record = json!({
        "n": 3, "board": "2h3h6s4s9h", "holes": ["Ts6hAd", "9cKs5h", "7c2s5d"], "pivots": [2, 1, 1],
        "ranks": [[6566, 5123], [4517, 1608], [6156, 1608]], "counts": [2, 2, 2], "winners": [1, 2],
        "class": "straight", "committed": [100, 100, 75], "folded": [1],
        "pots": [[225, [0, 2], [2]], [50, [0], [0]]], "won": [50, 0, 225],
    });
    check(
        &record,
        &[
            ("ranks", json!([[6566, 5123], [4517, 1608], [6156, 1609]])),
            ("counts", json!([2, 2, 0])),
            ("winners", json!([2])),
            ("class", json!("flush")),
            ("pots", json!([[225, [0, 2], [2]], [50, [0], [2]]])),
            ("won", json!([0, 0, 275])),
        ],
    );
}

#[test]
fn a_pivot_at_time_out() {
    let record = json!({ "hole": "KcKs6c", "pivot": 0, "card": "Kc" });
    check(&record, &[("pivot", json!(1)), ("card", json!("Ks"))]);
}

#[test]
fn what_is_none_of_the_known_records_is_refused() {
    for line in [
        "",
        "{}",
        "[]",
        r#"{"hand1": 1}"#,
        r#"{"hole": "KcKs", "pivot": 0, "card": "Kc"}"#,
        r#"{"hole": "KcKs6x", "pivot": 0, "card": "Kc"}"#,
        r#"{"hole": "KcKs6c", "pivot": 3, "card": "Kc"}"#,
    ] {
        assert!(Record::parse(line).is_err(), "{line:?}");
    }
}
