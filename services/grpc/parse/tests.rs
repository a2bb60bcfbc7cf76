//! Requests that are wrong in every way, and what they are told.

use rules::command::{Action, Ask};
use tonic::Code;
use tonic_types::StatusExt;

use super::seats::Funds;
use super::*;

const ID: &str = "123e4567-e89b-42d3-a456-426614174000";

fn operator() -> OperatorId {
    OperatorId::new("alpha").unwrap()
}

/// The fields that are at fault, sorted.
fn faults<T: std::fmt::Debug>(read: Result<T, Status>) -> Vec<String> {
    let status = read.expect_err("this is wrong");
    assert_eq!(status.code(), Code::InvalidArgument);
    let details = status.get_error_details();
    let violations = &details.bad_request().expect("fields are named").field_violations;
    assert!(violations.iter().all(|v| !v.description.is_empty()));
    let mut fields: Vec<String> = violations.iter().map(|v| v.field.clone()).collect();
    fields.sort();
    fields
}

fn seat() -> v1::SeatPlayerRequest {
    v1::SeatPlayerRequest {
        request_id: ID.into(),
        table_id: ID.into(),
        player_id: "ann".into(),
        seat: 4,
        buy_in: 100,
        transaction_id: "tx".into(),
        entry: v1::Entry::Post.into(),
        etag: "7".into(),
    }
}

#[test]
fn a_good_request_becomes_what_it_asks() {
    let change = seats::seat_player(&operator(), Funds::Named, &seat()).unwrap();
    assert_eq!(change.etag, Some(7));
    assert_eq!(change.key.operator, operator());
    assert_eq!(change.key.table.to_string(), ID);
    assert_eq!(change.payload, seat().fingerprint());
    let wanted = Ask::Seat {
        player: PlayerId::new("ann").unwrap(),
        seat: SeatNo::new(4),
        buy_in: Chips(100),
        post: true,
        transaction: "tx".into(),
    };
    assert_eq!(change.ask, wanted);
    let any = v1::SeatPlayerRequest { seat: 0, etag: String::new(), entry: 0, ..seat() };
    let change = seats::seat_player(&operator(), Funds::Named, &any).unwrap();
    assert_eq!(change.etag, None);
    assert!(matches!(change.ask, Ask::Seat { seat: None, post: false, .. }));
}

#[test]
fn everything_wrong_is_told_at_once() {
    let empty = v1::SeatPlayerRequest::default();
    let found = faults(seats::seat_player(&operator(), Funds::Named, &empty));
    assert_eq!(found, ["buy_in", "player_id", "request_id", "table_id", "transaction_id"]);

    let wild = v1::SeatPlayerRequest {
        request_id: "x".repeat(36),
        table_id: "00000000-0000-0000-0000-000000000000".into(),
        player_id: "ann smith".into(),
        seat: 11,
        buy_in: -1,
        transaction_id: "a\nb".into(),
        entry: 99,
        etag: "07".into(),
    };
    let found = faults(seats::seat_player(&operator(), Funds::Named, &wild));
    let all = ["buy_in", "entry", "etag", "player_id", "request_id", "seat", "table_id", "transaction_id"];
    assert_eq!(found, all);
}

#[test]
fn each_field_has_its_bounds() {
    type Break = fn(&mut v1::SeatPlayerRequest);
    let broken: [(&str, Break); 14] = [
        ("request_id", |m| m.request_id = ID.replace('-', "")),
        ("request_id", |m| m.request_id = format!("{{{ID}}}")),
        ("table_id", |m| m.table_id = "table".into()),
        ("player_id", |m| m.player_id = "p".repeat(65)),
        ("player_id", |m| m.player_id = "ä".into()),
        ("seat", |m| m.seat = u32::MAX),
        ("seat", |m| m.seat = 256 + 4),
        ("buy_in", |m| m.buy_in = 0),
        ("buy_in", |m| m.buy_in = i64::MIN),
        ("buy_in", |m| m.buy_in = 1_000_000_000_000_001),
        ("transaction_id", |m| m.transaction_id = "t".repeat(65)),
        ("transaction_id", |m| m.transaction_id = "t".repeat(1_000_000)),
        ("entry", |m| m.entry = -1),
        ("etag", |m| m.etag = "-1".into()),
    ];
    for (field, spoil) in broken {
        let mut message = seat();
        spoil(&mut message);
        assert_eq!(faults(seats::seat_player(&operator(), Funds::Named, &message)), [field]);
    }
}

#[test]
fn no_value_of_the_caller_comes_back() {
    let message = v1::SeatPlayerRequest { player_id: "P4ssw0rd!".into(), ..seat() };
    let status = seats::seat_player(&operator(), Funds::Named, &message).unwrap_err();
    let all = [status.message().as_bytes(), status.details()].concat();
    assert!(!String::from_utf8_lossy(&all).contains("P4ssw0rd"));
}

#[test]
fn an_action_has_an_amount_exactly_when_it_is_a_bet_or_a_raise() {
    let read = |action: v1::Action, to| {
        let message = v1::ActRequest {
            request_id: ID.into(),
            table_id: ID.into(),
            hand_number: 1,
            turn: 1,
            player_id: "ann".into(),
            action: action.into(),
            to,
        };
        play::act(&operator(), &message).map(|decision| match decision.ask {
            Ask::Act { action, .. } => action,
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(read(v1::Action::Raise, 300).unwrap(), Action::Raise(Chips(300)));
    assert_eq!(read(v1::Action::AllIn, 0).unwrap(), Action::AllIn);
    for (action, to) in [
        (v1::Action::Fold, 1),
        (v1::Action::Check, -1),
        (v1::Action::AllIn, 500),
        (v1::Action::Bet, 0),
        (v1::Action::Raise, -82),
        (v1::Action::Raise, i64::MAX),
    ] {
        assert_eq!(faults(read(action, to)), ["to"], "{action:?} {to}");
    }
    assert_eq!(faults(read(v1::Action::Unspecified, 0)), ["action"]);
}

#[test]
fn a_pick_of_the_first_card_is_not_a_missing_one() {
    let message = |card_index| v1::SelectPivotRequest {
        request_id: ID.into(),
        table_id: ID.into(),
        hand_number: 1,
        turn: 1,
        player_id: "ann".into(),
        card_index,
    };
    assert!(play::select_pivot(&operator(), &message(Some(0))).is_ok());
    for wrong in [None, Some(3), Some(256), Some(u32::MAX)] {
        assert_eq!(faults(play::select_pivot(&operator(), &message(wrong))), ["card_index"]);
    }
    let empty = v1::SelectPivotRequest::default();
    let found = faults(play::select_pivot(&operator(), &empty));
    assert_eq!(found, ["card_index", "hand_number", "player_id", "request_id", "table_id", "turn"]);
}

#[test]
fn a_stream_has_each_table_once() {
    let watched = |id: &str| v1::WatchedTable { table_id: id.into(), ..Default::default() };
    let request = |tables| v1::WatchTablesRequest { tables, viewer: None };
    let read = |tables| tables::watch_tables(&operator(), &request(tables));
    assert_eq!(read(vec![watched(ID)]).unwrap().tables.len(), 1);
    assert_eq!(faults(read(Vec::new())), ["tables"]);
    assert_eq!(faults(read(vec![watched(ID); 501])), ["tables"]);
    let found = faults(read(vec![watched(ID), watched("x"), watched(ID)]));
    assert_eq!(found, ["tables[1].table_id", "tables[2].table_id"]);
}

#[test]
fn a_list_of_one_hand_names_its_table() {
    let request = v1::ListSettlementsRequest { page_size: -1, hand_number: 3, ..Default::default() };
    assert_eq!(faults(settlements::list_settlements(&operator(), &request)), ["page_size", "table_id"]);
    let many = v1::ListTablesRequest { states: vec![77; 10_000], game: 9, ..Default::default() };
    let found = faults(tables::list_tables(&operator(), &many));
    assert!(found.len() < 20 && found.contains(&"game".to_owned()), "{found:?}");
}
