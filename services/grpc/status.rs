//! The one place where a reason to say no becomes a gRPC status.
//!
//! Each status carries a `google.rpc.ErrorInfo` whose reason is a value of `fulcrum.v1.ErrorReason`. What a caller
//! cannot use (texts of stores, of panics) is logged here under an id and never sent.

use std::collections::HashMap;
use std::fmt::Display;
use std::time::Duration;

use rules::payment::Decline;
use rules::{ConfigFault, Legal, Refusal, SeatSet};
use tables::stops::{MOST_STOPS, StopError};
use tables::{PlayError, StoreError};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};

use crate::pb::v1::ErrorReason;

/// The domain of every reason.
pub const DOMAIN: &str = "fulcrum";
/// When to repeat a call that found the store away.
const STORE_RETRY: Duration = Duration::from_secs(1);
/// When to repeat a call that found the operator's wallet away.
const WALLET_RETRY: Duration = Duration::from_secs(2);
/// When to repeat a call that found the server or the table crowded.
const CROWD_RETRY: Duration = Duration::from_millis(100);

/// What is told about a fault.
#[derive(Debug)]
struct Told {
    code: Code,
    message: String,
    metadata: Vec<(&'static str, String)>,
    fields: Vec<FieldViolation>,
    retry: Option<Duration>,
}

impl Told {
    fn new(code: Code, message: impl Into<String>) -> Told {
        Told { code, message: message.into(), metadata: Vec::new(), fields: Vec::new(), retry: None }
    }

    fn with(mut self, name: &'static str, value: impl Display) -> Told {
        self.metadata.push((name, value.to_string()));
        self
    }

    fn fields(self, fields: Vec<FieldViolation>) -> Told {
        Told { fields, ..self }
    }

    fn retry(self, after: Duration) -> Told {
        Told { retry: Some(after), ..self }
    }

    fn status(self, reason: &str) -> Status {
        let metadata: HashMap<String, String> =
            self.metadata.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let mut details = ErrorDetails::with_error_info(reason, DOMAIN, metadata);
        if !self.fields.is_empty() {
            details.set_bad_request(self.fields);
        }
        if let Some(after) = self.retry {
            details.set_retry_info(Some(after));
        }
        Status::with_error_details(self.code, self.message, details)
    }

    fn because(self, reason: ErrorReason) -> Status {
        self.status(name(reason))
    }
}

/// A reason as `ErrorInfo` spells it: the value's name without its prefix.
#[must_use]
pub fn name(reason: ErrorReason) -> &'static str {
    let full = reason.as_str_name();
    full.strip_prefix("ERROR_REASON_").unwrap_or(full)
}

/// What the refusal of a table at this version is on the wire: the rule, and what would be legal instead. Version 0:
/// there is no table yet.
#[must_use]
pub fn refused(refusal: &Refusal, version: u64) -> Status {
    let told = told(refusal).with("rule", refusal.rule());
    let told = if version > 0 { told.with("sequence", version) } else { told };
    told.status(refusal.reason())
}

/// The map. A new refusal does not compile before it is here.
fn told(refusal: &Refusal) -> Told {
    use Code::{FailedPrecondition as Not, InvalidArgument as Bad, NotFound as Missing};
    match refusal {
        Refusal::BadConfig(faults) => Told::new(Bad, list(faults)).fields(violations(faults)),
        Refusal::TableClosed => Told::new(Not, "the table is closed or closing"),
        Refusal::TableStopped => Told::new(Not, "the table is stopped; GetTable says why"),
        Refusal::NotStopped => Told::new(Not, "no such stop is in force"),
        Refusal::HandRunning => Told::new(Not, "a hand is running; this is for between hands"),
        Refusal::NoHandRunning => Told::new(Not, "no hand is running"),
        Refusal::NoSuchSeat { seats } => no_such_seat(*seats),
        Refusal::SeatTaken { free } => {
            Told::new(Not, format!("the seat is taken; free: {}", seats(*free))).with("free", seats(*free))
        }
        Refusal::TableFull => Told::new(Not, "all seats are taken"),
        Refusal::AlreadySeated { seat } => {
            Told::new(Not, format!("the player sits at this table already, in seat {seat}"))
                .with("seat", seat)
        }
        Refusal::NotSeated => Told::new(Not, "the player has no seat at this table"),
        Refusal::Leaving => Told::new(Not, "the player is leaving his seat"),
        Refusal::BuyInOutOfRange { min, max } => {
            Told::new(Not, format!("from {min} to {max} would be accepted")).with("min", min).with("max", max)
        }
        Refusal::BuyInBelowLeft { least, until } => {
            Told::new(Not, format!("the player left a short time ago and has to bring back at least {least}"))
                .with("least", least)
                .with("until", until.0)
        }
        Refusal::ChipsPending { pending } => {
            Told::new(Not, format!("{pending} chips still wait for the end of the hand"))
                .with("pending", pending)
        }
        Refusal::AlreadySittingOut => Told::new(Not, "the player sits out already"),
        Refusal::NotSittingOut => Told::new(Not, "the player neither sits out nor wishes to"),
        Refusal::NoChips => Told::new(Not, "the player has no chips to play with"),
        Refusal::NotDue { at } => due(at.map(|at| at.0)),
        Refusal::HandOver { last } => {
            Told::new(Not, format!("the hand is over; the last one is {last}")).with("last", last)
        }
        Refusal::HandUnknown { last } => {
            Told::new(Missing, format!("there has been no such hand; the last one is {last}"))
                .with("last", last)
        }
        Refusal::NotInHand => Told::new(Not, "the player was not dealt into this hand"),
        Refusal::TurnPassed { current } => turn("the turn was answered otherwise", *current),
        Refusal::TurnNotReached { current } => turn("the hand has not come to this turn", *current),
        Refusal::NotYourTurn { seats: asked } => {
            Told::new(Not, format!("the turn is that of seat {}", seats(*asked))).with("seats", seats(*asked))
        }
        Refusal::PivotDue => Told::new(Not, "the pivot has to be picked first, with SelectPivot"),
        Refusal::PivotPicked => Told::new(Not, "the pivot is picked, and a pick is final"),
        Refusal::NoPivotDue => Told::new(Not, "no pivot is asked for"),
        Refusal::ClockRanOut { at } => {
            Told::new(Not, "the call arrived after the end of the clock and its grace").with("at", at.0)
        }
        Refusal::IllegalAction { legal: now } => legal("the action is not legal now", now),
        Refusal::IllegalAmount { legal: now } => illegal_amount(now),
        Refusal::NothingToShow => Told::new(Not, "the player has no hand that he may show"),
        Refusal::AlreadyCredited => Told::new(Not, "the time of this outage has been given back before"),
        Refusal::NothingLost => Told::new(Not, "it is known that this part of the history is lost"),
        Refusal::PaymentsPending { open } => pending(*open),
        Refusal::OtherFunds => Told::new(Not, OTHER_FUNDS),
        Refusal::PaymentUnknown => Told::new(Missing, "there is no such open transaction, or not any more"),
        Refusal::PaymentNotParked => Told::new(Not, "the transaction is not parked"),
        Refusal::NothingProposed => Told::new(Not, "nobody has proposed to end the transaction so"),
        Refusal::SamePerson => Told::new(Not, "somebody else than who proposed it has to confirm it"),
        Refusal::FixedSetting { field } => fixed(field),
    }
}

const OTHER_FUNDS: &str =
    "the player's chips came another way: from the operator's wallet, or with a transaction of the operator";

fn no_such_seat(seats: u8) -> Told {
    Told::new(Code::InvalidArgument, format!("the table has the seats 1 to {seats}"))
        .with("seats", seats)
        .fields(vec![FieldViolation::new("seat", format!("1 to {seats}, or 0 for any free one"))])
}

fn pending(open: usize) -> Told {
    let message = format!("{open} payments are on their way between this table and the wallet");
    Told::new(Code::FailedPrecondition, message).with("open", open)
}

fn fixed(field: &'static str) -> Told {
    let as_it_is = FieldViolation::new(format!("config.{field}"), "as it is: it cannot change any more");
    Told::new(Code::InvalidArgument, format!("{field} is fixed once the table exists"))
        .with("field", field)
        .fields(vec![as_it_is])
}

fn illegal_amount(now: &Legal) -> Told {
    let right = range(now).unwrap_or_else(|| "no amount is legal".into());
    legal("the amount is not legal now", now).fields(vec![FieldViolation::new("to", right)])
}

fn due(at: Option<u64>) -> Told {
    match at {
        Some(at) => Told::new(Code::FailedPrecondition, "it is too early").with("at", at),
        None => Told::new(Code::FailedPrecondition, "nothing is due"),
    }
}

fn turn(what: &str, current: u32) -> Told {
    let now = if current == 0 { "no turn is open".into() } else { format!("turn {current} is open") };
    Told::new(Code::FailedPrecondition, format!("{what}; {now}")).with("current", current)
}

/// The legal set in words and as metadata, so that a caller need not ask again (rules 5.8).
fn legal(what: &str, now: &Legal) -> Told {
    let mut names = vec!["fold"];
    names.push(if now.can_check() { "check" } else { "call" });
    if let Some(range) = &now.raise {
        names.push(if range.is_bet { "bet" } else { "raise" });
    }
    if now.all_in {
        names.push("all_in");
    }
    let amounts = range(now).map(|range| format!(", {range}")).unwrap_or_default();
    let call = if now.can_check() { String::new() } else { format!(", to call {}", now.call) };
    let message = format!("{what}; legal: {}{call}{amounts}", names.join(", "));
    let told =
        Told::new(Code::FailedPrecondition, message).with("legal", names.join(",")).with("call", now.call);
    match &now.raise {
        Some(range) => told.with("min_to", range.min_to).with("max_to", range.max_to),
        None => told,
    }
}

fn range(now: &Legal) -> Option<String> {
    let range = now.raise?;
    let what = if range.is_bet { "a bet" } else { "a raise" };
    Some(format!("{what} from {} to {}", range.min_to, range.max_to))
}

/// `1,4,5`.
fn seats(set: SeatSet) -> String {
    let numbers: Vec<String> = set.iter().map(|seat| seat.to_string()).collect();
    numbers.join(",")
}

fn list(faults: &[ConfigFault]) -> String {
    let each = faults.iter().map(|f| format!("{}: {} (rules {})", f.field, f.why, f.rule));
    format!("the settings do not go together; {}", each.collect::<Vec<_>>().join("; "))
}

/// Faults of settings as fields of a request, where the settings are `config`.
pub(super) fn violations(faults: &[ConfigFault]) -> Vec<FieldViolation> {
    let each = |f: &ConfigFault| {
        FieldViolation::new(format!("config.{}", f.field), format!("{} (rules {})", f.why, f.rule))
    };
    faults.iter().map(each).collect()
}

/// What the tables' answer is on the wire when it is no answer.
#[must_use]
pub fn failed(error: PlayError) -> Status {
    match error {
        PlayError::NotFound => table_not_found(),
        PlayError::Refused { refusal, version } => refused(&refusal, version),
        PlayError::RequestReused => {
            Told::new(Code::AlreadyExists, "the request id came before with another call or another payload")
                .fields(vec![FieldViolation::new("request_id", "a new UUID for a new request")])
                .because(ErrorReason::RequestIdReused)
        }
        PlayError::EtagMismatch { current } => {
            Told::new(Code::Aborted, "the table has changed since the etag was read")
                .with("etag", current)
                .because(ErrorReason::EtagMismatch)
        }
        PlayError::Store(error) => store(&error),
        PlayError::Disabled { scope, reason } => scope_disabled(scope, &reason),
        PlayError::Contended => overloaded("too many calls wait for this table"),
        PlayError::TooManyWatchers => too_many_watchers(),
        PlayError::WalletDeclined(_)
        | PlayError::WalletNotConfirmed
        | PlayError::WalletPending
        | PlayError::WalletAway => wallet(&error),
        PlayError::Malfunction => internal(&error),
    }
}

/// What came of asking an operator's wallet.
fn wallet(error: &PlayError) -> Status {
    match error {
        PlayError::WalletDeclined(why) => {
            let why = decline(*why);
            Told::new(Code::FailedPrecondition, format!("the operator's wallet declined the debit: {why}"))
                .with("decline", why)
                .because(ErrorReason::WalletDeclined)
        }
        PlayError::WalletNotConfirmed => Told::new(
            Code::Aborted,
            "the operator's wallet did not confirm the debit; it is cancelled, and a new request begins anew",
        )
        .because(ErrorReason::WalletNotConfirmed),
        PlayError::WalletAway => {
            Told::new(Code::Unavailable, "the operator's wallet does not answer; nothing was changed")
                .retry(WALLET_RETRY)
                .because(ErrorReason::WalletUnavailable)
        }
        _ => Told::new(Code::Unavailable, "the operator's wallet has not answered yet; repeat the call")
            .retry(STORE_RETRY)
            .because(ErrorReason::WalletPending),
    }
}

const fn decline(why: Decline) -> &'static str {
    match why {
        Decline::Unspecified => "unspecified",
        Decline::Funds => "insufficient_funds",
        Decline::Player => "player_unknown",
        Decline::Blocked => "player_blocked",
        Decline::Limit => "limit_reached",
        Decline::Currency => "currency_unknown",
        Decline::Cancelled => "cancelled",
    }
}

/// A stop stands against it (rules 9.4).
fn scope_disabled(scope: &str, reason: &str) -> Status {
    Told::new(Code::FailedPrecondition, format!("a stop of {scope} is in force: {reason}"))
        .with("rule", "9.4")
        .with("scope", scope)
        .with("reason", reason)
        .because(ErrorReason::ScopeDisabled)
}

/// Why nothing was stopped or lifted.
#[must_use]
pub fn not_stopped(error: StopError) -> Status {
    match error {
        StopError::NotDisabled => {
            Told::new(Code::FailedPrecondition, "there is no such stop of the caller's in force")
                .with("rule", "9.4")
                .because(ErrorReason::NotDisabled)
        }
        StopError::OfAdministrator => {
            Told::new(Code::PermissionDenied, "an administrator of the service has made the stop")
                .because(ErrorReason::StopOfAdministrator)
        }
        StopError::TooMany => {
            let message = format!("an operator has {MOST_STOPS} stops at most; lift some first");
            Told::new(Code::FailedPrecondition, message)
                .with("most", MOST_STOPS)
                .because(ErrorReason::TooManyStops)
        }
        StopError::Play(error) => failed(error),
    }
}

/// The scope is not the caller's.
#[must_use]
pub fn administrator_required() -> Status {
    Told::new(Code::PermissionDenied, "this scope is for administrators of the service")
        .because(ErrorReason::AdministratorRequired)
}

/// An administrator has no tables and no players.
#[must_use]
pub fn not_for_administrators() -> Status {
    Told::new(Code::PermissionDenied, "an administrator's token is for ControlService only")
        .because(ErrorReason::NotForAdministrators)
}

/// A store's fault: its text stays here.
#[must_use]
pub fn store(error: &StoreError) -> Status {
    let away = |message, reason| Told::new(Code::Unavailable, message).retry(STORE_RETRY).because(reason);
    match error {
        StoreError::Unavailable(_) | StoreError::KeyUnavailable(_) => {
            // A store that is away is told of by who follows its health, once and not for every call that it fails.
            tracing::debug!(%error, "the store is away");
            away("the store is not available; nothing was changed", ErrorReason::StoreUnavailable)
        }
        StoreError::Unknown(_) => {
            tracing::debug!(%error, "the outcome of a commit is unknown");
            away("it is not known whether the call took effect; repeat it", ErrorReason::OutcomeUnknown)
        }
        StoreError::Corrupt(_) => internal(error),
    }
}

/// A fault of the service. What it was is logged under an id; the caller gets only the id.
#[must_use]
pub fn internal(what: &dyn Display) -> Status {
    let id = uuid::Uuid::new_v4();
    tracing::error!(%id, error = %what, "a fault of the service");
    Told::new(Code::Internal, format!("a fault of the service; its log has the rest under {id}"))
        .with("id", id)
        .because(ErrorReason::Internal)
}

/// Fields that are at fault, all of a request at once.
#[must_use]
pub fn invalid(fields: Vec<FieldViolation>) -> Status {
    let each: Vec<String> = fields.iter().map(|f| format!("{}: {}", f.field, f.description)).collect();
    Told::new(Code::InvalidArgument, each.join("; ")).fields(fields).because(ErrorReason::InvalidArgument)
}

/// A page token that is none, or one of another list.
#[must_use]
pub fn page_token_invalid() -> Status {
    let what =
        "the next_page_token of the page before, with all other fields as then; empty for the first page";
    Told::new(Code::InvalidArgument, "the page token is not one of this list")
        .fields(vec![FieldViolation::new("page_token", what)])
        .because(ErrorReason::PageTokenInvalid)
}

/// No such table, or another operator's.
#[must_use]
pub fn table_not_found() -> Status {
    Told::new(Code::NotFound, "there is no such table").because(ErrorReason::TableNotFound)
}

/// No such settlement record, or another operator's.
#[must_use]
pub fn settlement_not_found() -> Status {
    Told::new(Code::NotFound, "there is no such settlement record").because(ErrorReason::SettlementNotFound)
}

/// A newer stream reads in the consumer's name.
#[must_use]
pub fn consumer_taken_over() -> Status {
    Told::new(Code::Aborted, "a newer stream of this consumer has taken over, or the consumer was deleted")
        .because(ErrorReason::ConsumerTakenOver)
}

/// No such consumer, or another operator's.
#[must_use]
pub fn consumer_not_found() -> Status {
    Told::new(Code::NotFound, "there is no such consumer").because(ErrorReason::ConsumerNotFound)
}

/// As many consumers as an operator may have.
#[must_use]
pub fn too_many_consumers(most: usize) -> Status {
    Told::new(Code::FailedPrecondition, "there are as many consumers as may be; DeleteConsumer forgets one")
        .with("most", most)
        .because(ErrorReason::TooManyConsumers)
}

/// No such session of the player at the table.
#[must_use]
pub fn session_not_found() -> Status {
    Told::new(
        Code::NotFound,
        "the player has not had this session here, or its records are not kept any more",
    )
    .because(ErrorReason::SessionNotFound)
}

/// No credentials, or unknown ones; which of the two is not said.
#[must_use]
pub fn unauthenticated() -> Status {
    let how = "send `authorization: Bearer <token>` with a token that this server knows";
    Told::new(Code::Unauthenticated, how).because(ErrorReason::Unauthenticated)
}

/// Too much is going on.
#[must_use]
pub fn overloaded(what: &str) -> Status {
    Told::new(Code::ResourceExhausted, what).retry(CROWD_RETRY).because(ErrorReason::Overloaded)
}

/// As many watchers as there may be.
#[must_use]
pub fn too_many_watchers() -> Status {
    Told::new(Code::ResourceExhausted, "as many streams are open as may be")
        .retry(STORE_RETRY)
        .because(ErrorReason::TooManyWatchers)
}

/// The server is being shut down.
#[must_use]
pub fn draining() -> Status {
    Told::new(Code::Unavailable, "this server is being shut down; call again on a new connection")
        .retry(CROWD_RETRY)
        .because(ErrorReason::Draining)
}

/// There will be no answer before the caller gives up. A change may yet happen: the same call again finds out.
#[must_use]
pub fn late() -> Status {
    Told::new(
        Code::Unavailable,
        "there is no answer within the deadline; whether the call took effect is not known, repeat it",
    )
    .retry(STORE_RETRY)
    .because(ErrorReason::OutcomeUnknown)
}

/// As long as a call may take has passed. A change may yet happen: the same call again finds out.
#[must_use]
pub fn deadline_exceeded() -> Status {
    Told::new(
        Code::DeadlineExceeded,
        "the deadline passed; whether the call took effect is not known, repeat it",
    )
    .because(ErrorReason::DeadlineExceeded)
}

/// More bytes than the service reads.
pub(super) fn message_too_large(limit: usize) -> Status {
    Told::new(Code::OutOfRange, format!("the message is larger than {limit} bytes"))
        .with("limit", limit)
        .because(ErrorReason::MessageTooLarge)
}

/// Bytes that are no message of the call.
pub(super) fn message_malformed() -> Status {
    Told::new(Code::InvalidArgument, "the bytes are not a message of this call")
        .because(ErrorReason::MessageMalformed)
}

/// A call that the service does not have.
pub(super) fn not_implemented(what: &str) -> Status {
    Told::new(Code::Unimplemented, what).because(ErrorReason::NotImplemented)
}

#[cfg(test)]
#[path = "status/tests.rs"]
mod tests;
