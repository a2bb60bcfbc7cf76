//! What is wrong with which field, and how it is refused.

use super::contract::Put;
use Put::{Gone, Long, Number, Text, Time, Times};

/// Values of a field that are refused.
pub struct Fault {
    /// The call; `*` for all that have the field, `*-A-B` for all but A and B.
    pub calls: &'static str,
    /// The field.
    pub path: &'static str,
    /// What is put there.
    pub put: &'static [Put],
    /// The reason of the refusal.
    pub reason: &'static str,
    /// The field that is named; `None` where none is at fault by itself.
    pub named: Option<&'static str>,
}

const fn fault(calls: &'static str, path: &'static str, put: &'static [Put], reason: &'static str) -> Fault {
    Fault { calls, path, put, reason, named: Some(path) }
}

const fn invalid(calls: &'static str, path: &'static str, put: &'static [Put]) -> Fault {
    fault(calls, path, put, "INVALID_ARGUMENT")
}

const fn config(path: &'static str, put: &'static [Put]) -> Fault {
    fault("*", path, put, "BAD_CONFIG")
}

/// Well-formed, but not as things are.
const fn stale(calls: &'static str, path: &'static str, put: &'static [Put], reason: &'static str) -> Fault {
    Fault { calls, path, put, reason, named: None }
}

const MOST: i128 = 1_000_000_000_000_000;
const NO_AMOUNT: &[Put] =
    &[Gone, Number(-1), Number(i64::MIN as i128), Number(MOST + 1), Number(i64::MAX as i128)];
const NO_ID: &[Put] = &[
    Gone,
    Text("x"),
    Text("00000000-0000-0000-0000-000000000000"),
    Text("{6f1d2c0e-91a4-4b7a-8e35-d0c45b7e9a13}"),
    Text("6f1d2c0e91a44b7a8e35d0c45b7e9a13"),
    Long(36),
    Long(5_000),
];
const NO_NAME: &[Put] = &[Text("a b"), Text("ä"), Text("a\u{0}"), Long(65), Long(100_000)];
const UNKNOWN_ID: &[Put] = &[Text("6f1d2c0e-91a4-4b7a-8e35-d0c45b7e9a13")];
const NO_CONSUMER: &[Put] =
    &[Gone, Text("Books"), Text("a b"), Text("a:b"), Text("ä"), Text("a\u{0}"), Long(65), Long(100_000)];
const NO_MOMENT: &[Put] =
    &[Time(-1, 0), Time(0, -1), Time(0, 1_000_000_000), Time(253_402_300_800, 0), Time(i64::MAX, 0)];
const NO_TEXT: &[Put] = &[Text("a\u{7}b"), Text("a\nb"), Long(201), Long(100_000)];
const NO_OPERATOR: &[Put] = &[Text("Casino"), Text("a b"), Long(65), Long(100_000)];
const NO_VALUE: &[Put] = &[Number(99), Number(-1), Number(i32::MIN as i128)];
const NO_TOKEN: &[Put] = &[Text("x"), Long(47), Long(48), Long(49), Long(100_000)];
const NOTHING: &[Put] = &[Gone];
const BELOW: &[Put] = &[Number(-1), Number(i64::MIN as i128), Number(MOST + 1)];
const NO_TIME: &[Put] =
    &[Time(-1, 0), Time(0, -1_000_000), Time(0, 1), Time(i64::MAX, 0), Time(0, 1_000_000_000)];
const REFILL: Option<&str> = Some("config.clocks.refill");
const DAY: &[Put] = &[Time(86_401, 0), Time(i64::MAX / 1000, 0)];

/// All of them.
pub const FAULTS: &[Fault] = &[
    invalid("*", "request_id", NO_ID),
    invalid("*-ListSettlements-StreamSettlements-GetTrialBalance-ListTransactions", "table_id", NO_ID),
    invalid("StreamSettlements", "table_id", &[Text("x"), Long(36), Long(5_000)]),
    invalid("GetTrialBalance", "table_id", &[Text("x"), Long(36), Long(5_000)]),
    // The hand of no table.
    invalid("ListSettlements", "table_id", &[Gone, Text("x"), Long(36)]),
    invalid("ListTransactions", "table_id", &[Gone, Text("x"), Long(36)]),
    invalid("*", "settlement_id", NO_ID),
    invalid("*", "consumer", NO_CONSUMER),
    stale("AckSettlements", "consumer", &[Text("nobody")], "CONSUMER_NOT_FOUND"),
    stale("ListSettlements", "consumer", &[Text("nobody")], "CONSUMER_NOT_FOUND"),
    invalid("*", "after_position", &[Text("x"), Text("01"), Long(34), Long(5_000)]),
    invalid("*", "position", &[Gone, Text("x"), Text("01"), Long(34), Long(5_000)]),
    Fault { named: Some("kinds[0]"), ..invalid("*", "kinds", NO_VALUE) },
    Fault { named: Some("kinds[0]"), ..invalid("*", "kinds", &[Number(0)]) },
    invalid("*", "kinds", &[Times(17), Times(10_000)]),
    invalid("*", "from_time", NO_MOMENT),
    invalid("*", "to_time", NO_MOMENT),
    invalid("*", "delivery", NO_VALUE),
    invalid("*", "delivery", NOTHING),
    invalid("*", "player_id", NO_NAME),
    invalid("*-ListSettlements-GetTrialBalance-ListTransactions", "player_id", NOTHING),
    stale("StandUp", "player_id", &[Text("zoe")], "NOT_SEATED"),
    stale("SitOut", "player_id", &[Text("zoe")], "NOT_SEATED"),
    stale("SitIn", "player_id", &[Text("zoe")], "NOT_SEATED"),
    stale("AddChips", "player_id", &[Text("zoe")], "NOT_SEATED"),
    stale("SetPreferences", "player_id", &[Text("zoe")], "NOT_SEATED"),
    stale("SeatPlayer", "player_id", &[Text("ann")], "ALREADY_SEATED"),
    stale("Act", "player_id", &[Text("zoe")], "NOT_IN_HAND"),
    stale("Act", "player_id", &[Text("bob")], "NOT_YOUR_TURN"),
    stale("SelectPivot", "player_id", &[Text("zoe")], "NOT_IN_HAND"),
    stale("SelectPivot", "player_id", &[Text("ann")], "NOT_YOUR_TURN"),
    stale("ShowCards", "player_id", &[Text("ann")], "NOTHING_TO_SHOW"),
    invalid("*", "viewer.player_id", NO_NAME),
    invalid("*", "viewer.player_id", &[Text("")]),
    Fault { named: Some("tables[0].table_id"), ..invalid("*", "tables.table_id", NO_ID) },
    invalid("*", "resume_token", NO_TOKEN),
    Fault { named: Some("tables[0].resume_token"), ..invalid("*", "tables.resume_token", NO_TOKEN) },
    invalid("*", "tables", &[Gone, Times(501), Times(5_000)]),
    Fault { named: Some("tables[1].table_id"), ..invalid("*", "tables", &[Times(2)]) },
    invalid("*-ListSettlements-ListTransactions", "hand_number", NOTHING),
    stale(
        "*-ListSettlements-ListTransactions",
        "hand_number",
        &[Number(9), Number(u64::MAX as i128)],
        "HAND_UNKNOWN",
    ),
    invalid("*", "session", NOTHING),
    stale("GetSessionStatement", "session", &[Number(9), Number(u64::MAX as i128)], "SESSION_NOT_FOUND"),
    stale("GetSessionStatement", "player_id", &[Text("zoe")], "SESSION_NOT_FOUND"),
    invalid("*", "resolution", NO_VALUE),
    invalid("*", "resolution", NOTHING),
    stale("ConfirmResolution", "resolution", &[Number(2)], "NOTHING_PROPOSED"),
    stale("ConfirmResolution", "requester", &[Text("ada")], "SAME_PERSON"),
    stale("RetryTransaction", "transaction_id", UNKNOWN_ID, "PAYMENT_UNKNOWN"),
    stale("ProposeResolution", "transaction_id", UNKNOWN_ID, "PAYMENT_UNKNOWN"),
    stale("ConfirmResolution", "transaction_id", UNKNOWN_ID, "PAYMENT_UNKNOWN"),
    invalid("*", "turn", NOTHING),
    stale("*", "turn", &[Number(99), Number(u32::MAX as i128)], "TURN_NOT_REACHED"),
    invalid("Act", "action", NO_VALUE),
    invalid("Act", "action", NOTHING),
    invalid("Act", "to", NO_AMOUNT),
    fault("Act", "to", &[Number(101), Number(199), Number(999_999), Number(MOST)], "ILLEGAL_AMOUNT"),
    invalid("SelectPivot", "card_index", &[Gone, Number(3), Number(u32::MAX as i128)]),
    invalid("SeatPlayer", "seat", &[Number(11), Number(u32::MAX as i128)]),
    fault("SeatPlayer", "seat", &[Number(7), Number(10)], "NO_SUCH_SEAT"),
    stale("SeatPlayer", "seat", &[Number(1)], "SEAT_TAKEN"),
    invalid("SeatPlayer", "buy_in", NO_AMOUNT),
    stale(
        "SeatPlayer",
        "buy_in",
        &[Number(1), Number(3_999), Number(50_001), Number(MOST)],
        "BUY_IN_OUT_OF_RANGE",
    ),
    invalid("*", "transaction_id", &[Gone, Long(65), Long(100_000), Text("a\nb")]),
    invalid("*", "entry", NO_VALUE),
    invalid("*", "from", NO_VALUE),
    invalid("ResumeTable", "scope", NO_VALUE),
    invalid("DisableScope", "scope", &[Gone]),
    invalid("EnableScope", "scope", &[Gone]),
    invalid("*", "scope.table.table_id", NO_ID),
    invalid("*", "scope.operator.operator", NO_OPERATOR),
    invalid("*", "scope.game.game", NO_VALUE),
    invalid("*", "scope.game.game", NOTHING),
    invalid("*", "scope.game.operator", NO_OPERATOR),
    invalid("*", "scope.player.player_id", NO_NAME),
    invalid("*", "scope.player.player_id", NOTHING),
    invalid("*", "scope.player.operator", NO_OPERATOR),
    invalid("ListDisabled", "operator", NO_OPERATOR),
    invalid("ListStopAudit", "operator", NO_OPERATOR),
    invalid("ResumeTable", "scope", &[Number(1), Number(2), Number(3)]),
    stale("ResumeTable", "scope", &[Number(5)], "NOT_STOPPED"),
    invalid("*", "reason", NO_TEXT),
    invalid("*-CloseTable", "reason", NOTHING),
    invalid("*", "requester", NO_TEXT),
    invalid("*", "requester", &[Gone, Long(101)]),
    invalid(
        "*",
        "etag",
        &[Text("x"), Text("01"), Text("-1"), Text("+1"), Text("1.0"), Text(" 1"), Long(5_000)],
    ),
    stale("*", "etag", &[Text("1"), Text("18446744073709551615")], "ETAG_MISMATCH"),
    invalid("*", "amount", NO_AMOUNT),
    invalid("*", "preferences", NOTHING),
    invalid("*", "page_size", &[Number(-1), Number(i32::MIN as i128)]),
    fault("*", "page_token", &[Text("x"), Text("zz"), Text("01"), Long(5_000)], "PAGE_TOKEN_INVALID"),
    Fault { named: Some("states[0]"), ..invalid("*", "states", NO_VALUE) },
    Fault { named: Some("states[0]"), ..invalid("*", "states", &[Number(0)]) },
    invalid("*", "states", &[Times(17), Times(10_000)]),
    invalid("*", "game", NO_VALUE),
    invalid("*", "config", NOTHING),
    invalid("*", "config.display_name", &[Long(101), Text("a\nb"), Long(100_000)]),
    invalid("*", "config.currency", &[Gone, Text("eur"), Text("EURO"), Text("E1R"), Long(5_000)]),
    invalid("*", "config.game", NO_VALUE),
    invalid("*", "config.game", NOTHING),
    invalid("*", "config.limit", NO_VALUE),
    invalid("*", "config.limit", NOTHING),
    config("config.seats", &[Gone, Number(1), Number(11), Number(u32::MAX as i128)]),
    invalid("*", "config.stakes", NOTHING),
    invalid("*", "config.stakes.small_blind", BELOW),
    config("config.stakes.small_blind", &[Number(101)]),
    invalid("*", "config.stakes.big_blind", NO_AMOUNT),
    invalid("*", "config.stakes.ante.per_player", BELOW),
    invalid("*", "config.stakes.ante.big_blind", BELOW),
    config("config.stakes.max_straddles", &[Number(3), Number(u32::MAX as i128)]),
    invalid("*", "config.stakes.small_bet", BELOW),
    invalid("*", "config.stakes.big_bet", BELOW),
    invalid("*", "config.stakes.min_buy_in", BELOW),
    invalid("*", "config.stakes.max_buy_in", BELOW),
    config("config.stakes.max_buy_in", &[Number(1)]),
    config("config.rake.basis_points", &[Number(10_001), Number(u32::MAX as i128)]),
    invalid("*", "config.rake.cap_2", BELOW),
    invalid("*", "config.rake.cap_3_to_4", BELOW),
    invalid("*", "config.rake.cap_5_plus", BELOW),
    invalid("*", "config.rake.unit", BELOW),
    invalid("*", "config.clocks.action", NO_TIME),
    config("config.clocks.action", &[Time(0, 99_000_000), Time(0, 0)]),
    config("config.clocks.action", DAY),
    invalid("*", "config.clocks.pivot", NO_TIME),
    config("config.clocks.pivot", &[Time(0, 99_000_000), Time(0, 0)]),
    config("config.clocks.pivot", DAY),
    invalid("*", "config.clocks.time_bank", NO_TIME),
    config("config.clocks.time_bank", &[Time(30, 1_000_000), Time(86_401, 0)]),
    invalid("*", "config.clocks.refill.amount", NO_TIME),
    // What is wrong is the refill as a whole.
    Fault { named: REFILL, ..config("config.clocks.refill.amount", DAY) },
    Fault { named: REFILL, ..config("config.clocks.refill.every_hands", NOTHING) },
    invalid("*", "config.clocks.grace", NO_TIME),
    config("config.clocks.grace", &[Time(10, 1_000_000), Time(86_401, 0)]),
    invalid("*", "config.clocks.between_hands", NO_TIME),
    config("config.clocks.between_hands", DAY),
    invalid("*", "config.clocks.timeouts_to_sit_out", &[Number(256), Number(u32::MAX as i128)]),
    invalid("*", "config.clocks.sit_out_limit", NO_TIME),
    config("config.clocks.sit_out_limit", &[Time(0, 999_000_000), Time(0, 0), Time(86_401, 0)]),
    invalid("*", "config.pivot_order", NO_VALUE),
    invalid("*", "config.rathole_window", NO_TIME),
    config("config.rathole_window", DAY),
    fault("UpdateTable", "config.game", &[Number(1)], "FIXED_SETTING"),
    fault("UpdateTable", "config.limit", &[Number(2)], "FIXED_SETTING"),
    fault("UpdateTable", "config.seats", &[Number(5)], "FIXED_SETTING"),
    fault("UpdateTable", "config.currency", &[Text("USD")], "FIXED_SETTING"),
];

/// Fields of which every value is legal, with the one that is put to the test.
pub const FREE: &[(&str, &str, Put)] = &[
    ("ListSettlements", "hand_number", Number(u64::MAX as i128)),
    ("ListTransactions", "hand_number", Number(u64::MAX as i128)),
    ("*", "after_sequence", Number(u64::MAX as i128)),
    ("*", "tables.after_sequence", Number(u64::MAX as i128)),
    ("*", "preferences.straddle", Number(0)),
    ("*", "preferences.always_show", Number(1)),
    ("*", "config.limit_cap_heads_up", Number(1)),
    ("*", "config.show_all", Number(1)),
];

/// Whether a row is about this call.
pub fn is_about(calls: &str, call: &str) -> bool {
    let mut parts = calls.split('-');
    let all = parts.next() == Some("*");
    if all { parts.all(|but| but != call) } else { calls == call }
}
