//! The whole map from reasons to statuses, as callers see it.

use std::collections::BTreeSet;

use rules::legal::RaiseRange;
use rules::{Chips, ConfigFault, Legal, Millis, Refusal, SeatNo, SeatSet};

use super::*;

fn some_seats() -> SeatSet {
    [2, 5].into_iter().filter_map(SeatNo::new).collect()
}

fn legal(call: u64, raise: Option<(u64, u64, bool)>) -> Legal {
    let raise = raise.map(|(min, max, is_bet)| RaiseRange { min_to: Chips(min), max_to: Chips(max), is_bet });
    Legal { call: Chips(call), raise, all_in: true }
}

/// One of each. The match in [`told`] makes a new one known to the compiler; this list makes it known to the test,
/// which counts.
fn refusals() -> Vec<Refusal> {
    let fault = ConfigFault { field: "seats", rule: "1.2", why: "2 to 10" };
    let seat = SeatNo::new(3).unwrap();
    vec![
        Refusal::BadConfig(vec![fault]),
        Refusal::TableClosed,
        Refusal::TableStopped,
        Refusal::NotStopped,
        Refusal::HandRunning,
        Refusal::NoHandRunning,
        Refusal::NoSuchSeat { seats: 6 },
        Refusal::SeatTaken { free: some_seats() },
        Refusal::TableFull,
        Refusal::AlreadySeated { seat },
        Refusal::NotSeated,
        Refusal::Leaving,
        Refusal::BuyInOutOfRange { min: Chips(40), max: Chips(100) },
        Refusal::BuyInBelowLeft { least: Chips(70), until: Millis(9) },
        Refusal::ChipsPending { pending: Chips(8) },
        Refusal::AlreadySittingOut,
        Refusal::NotSittingOut,
        Refusal::NoChips,
        Refusal::NotDue { at: Some(Millis(7)) },
        Refusal::HandOver { last: 4 },
        Refusal::HandUnknown { last: 4 },
        Refusal::NotInHand,
        Refusal::TurnPassed { current: 6 },
        Refusal::TurnNotReached { current: 0 },
        Refusal::NotYourTurn { seats: some_seats() },
        Refusal::PivotDue,
        Refusal::PivotPicked,
        Refusal::NoPivotDue,
        Refusal::ClockRanOut { at: Millis(5) },
        Refusal::IllegalAction { legal: legal(0, Some((20, 400, true))) },
        Refusal::IllegalAmount { legal: legal(50, Some((100, 400, false))) },
        Refusal::NothingToShow,
        Refusal::AlreadyCredited,
        Refusal::NothingLost,
        Refusal::PaymentsPending { open: 64 },
        Refusal::OtherFunds,
        Refusal::PaymentUnknown,
        Refusal::PaymentNotParked,
        Refusal::NothingProposed,
        Refusal::SamePerson,
        Refusal::FixedSetting { field: "game" },
    ]
}

fn others() -> Vec<Status> {
    let store_errors = [
        StoreError::Unavailable("secret".into()),
        StoreError::Unknown("secret".into()),
        StoreError::KeyUnavailable("secret".into()),
    ];
    let mut all: Vec<Status> = store_errors.iter().map(store).collect();
    all.extend([
        failed(PlayError::NotFound),
        failed(PlayError::RequestReused),
        failed(PlayError::EtagMismatch { current: 12 }),
        failed(PlayError::Contended),
        failed(PlayError::TooManyWatchers),
        failed(PlayError::WalletDeclined(Decline::Funds)),
        failed(PlayError::WalletNotConfirmed),
        failed(PlayError::WalletPending),
        failed(PlayError::WalletAway),
        failed(PlayError::Disabled { scope: "OPERATOR", reason: "audit".into() }),
        not_stopped(StopError::NotDisabled),
        not_stopped(StopError::OfAdministrator),
        not_stopped(StopError::TooMany),
        administrator_required(),
        not_for_administrators(),
        role_not_allowed("support", "/fulcrum.v1.ActionService/Act"),
        not_your_player(),
        spectator_only(),
        not_your_name(),
        keys_unavailable(),
        invalid(vec![FieldViolation::new("seat", "1 to 10")]),
        page_token_invalid(),
        settlement_not_found(),
        consumer_taken_over(),
        consumer_not_found(),
        too_many_consumers(64),
        session_not_found(),
        unauthenticated(),
        busy(CROWD_RETRY),
        operator_rate(Duration::from_millis(20)),
        player_rate(Duration::from_millis(5)),
        operator_share(),
        draining(),
        late(),
        deadline_exceeded(),
        message_too_large(256),
        message_malformed(),
        not_implemented("there is no such call"),
    ]);
    all
}

/// One line a status: reason, code, message, and everything in its details.
fn line(status: &Status) -> String {
    let details = status.get_error_details();
    let info = details.error_info().expect("every status has an ErrorInfo");
    assert_eq!(info.domain, DOMAIN);
    let mut parts = vec![format!("{} {:?}", info.reason, status.code()), status.message().to_owned()];
    let mut metadata: Vec<String> = info.metadata.iter().map(|(k, v)| format!("{k}={v}")).collect();
    metadata.sort();
    if !metadata.is_empty() {
        parts.push(metadata.join(" "));
    }
    for fault in details.bad_request().iter().flat_map(|b| &b.field_violations) {
        parts.push(format!("{}: {}", fault.field, fault.description));
    }
    if let Some(retry) = details.retry_info() {
        parts.push(format!("retry {:?}", retry.retry_delay.unwrap_or_default()));
    }
    parts.join(" | ")
}

fn reason(status: &Status) -> String {
    status.get_error_details().error_info().expect("an ErrorInfo").reason.clone()
}

#[test]
fn the_whole_map() {
    let refused = refusals().iter().map(|r| refused(r, 3)).collect::<Vec<_>>();
    let lines: Vec<String> = refused.iter().chain(&others()).map(line).collect();
    let wanted: Vec<&str> = include_str!("map.txt").lines().collect();
    assert_eq!(lines, wanted, "\n{}\n", lines.join("\n"));
}

#[test]
fn every_reason_is_in_the_contract_and_the_other_way_round() {
    let internal = [failed(PlayError::Malfunction), store(&StoreError::Corrupt("secret".into()))];
    let made = refusals().iter().map(|r| reason(&refused(r, 0))).collect::<Vec<_>>().into_iter();
    let made = made.chain(others().iter().chain(&internal).map(reason)).collect::<BTreeSet<_>>();
    let known: BTreeSet<String> = (1..)
        .take(1000)
        .filter_map(|number| ErrorReason::try_from(number).ok())
        .map(|reason| name(reason).to_owned())
        .collect();
    assert_eq!(made, known);
}

#[test]
fn every_refusal_is_listed_here() {
    let source = include_str!("../../rules/src/refusal.rs");
    let variants = source.lines().filter(|line| line.contains("=> (\"")).count();
    assert_eq!(refusals().len(), variants);
}

#[test]
fn what_is_to_be_repeated_says_when() {
    let all = refusals().iter().map(|r| refused(r, 1)).collect::<Vec<_>>().into_iter().chain(others());
    for status in all {
        let wait = status.get_error_details().retry_info().is_some();
        let repeated = matches!(status.code(), Code::Unavailable | Code::ResourceExhausted);
        assert_eq!(wait, repeated, "{}", line(&status));
    }
}

/// What went wrong inside is nobody's business outside: the log has it.
#[test]
fn nothing_internal_is_sent() {
    let inside = "disk: page 17 of /var/lib/x";
    let errors = [
        StoreError::Unavailable(inside.into()),
        StoreError::Unknown(inside.into()),
        StoreError::Corrupt(inside.into()),
        StoreError::KeyUnavailable(inside.into()),
    ];
    for error in errors {
        let status = failed(PlayError::Store(error));
        let bytes = [status.message().as_bytes(), status.details()].concat();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("disk") && !text.contains("page 17"), "{text}");
    }
}
