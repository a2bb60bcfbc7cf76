//! The one place where a reason to say no becomes a gRPC status.
//!
//! Each status carries a `google.rpc.ErrorInfo` whose reason is a value of `fulcrum.v1.ErrorReason`. What a caller
//! cannot use (texts of stores, of panics) is logged here under an id and never sent.

mod refusals;

use std::collections::HashMap;
use std::fmt::Display;
use std::time::Duration;

use rules::payment::Decline;
use tables::stops::{MOST_STOPS, StopError};
use tables::{PlayError, StoreError};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};

use crate::pb::v1::ErrorReason;

pub use refusals::refused;
pub(super) use refusals::violations;

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

/// The caller's role may not make this call.
#[must_use]
pub fn role_not_allowed(role: &str, method: &str) -> Status {
    Told::new(Code::PermissionDenied, format!("the role {role} may not make this call"))
        .with("role", role)
        .with("method", method)
        .because(ErrorReason::RoleNotAllowed)
}

/// The credentials are those of another player.
#[must_use]
pub fn not_your_player() -> Status {
    Told::new(Code::PermissionDenied, "these credentials are good for another player only")
        .because(ErrorReason::NotYourPlayer)
}

/// The credentials are of somebody who sees no player's cards.
#[must_use]
pub fn spectator_only() -> Status {
    Told::new(Code::PermissionDenied, "this role sees what a spectator sees: leave the viewer out")
        .because(ErrorReason::SpectatorOnly)
}

/// The credentials are of a person, and the request is made in the name of another one.
#[must_use]
pub fn not_your_name() -> Status {
    Told::new(Code::PermissionDenied, "the requester has to be the subject of the credentials")
        .because(ErrorReason::NotYourName)
}

/// The keys that tokens are verified with cannot be had.
#[must_use]
pub fn keys_unavailable() -> Status {
    Told::new(
        Code::Unavailable,
        "the keys of the token's issuer cannot be read at the moment; repeat the call",
    )
    .retry(WALLET_RETRY)
    .because(ErrorReason::KeysUnavailable)
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
    tracing::error!(event = "service_fault", %id, error = %what, "a fault of the service");
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

/// The server has too much to do for this call; it has not been looked at.
#[must_use]
pub fn busy(after: Duration) -> Status {
    Told::new(
        Code::Unavailable,
        "the server is busy, and calls that matter more go first; nothing was changed",
    )
    .retry(after)
    .because(ErrorReason::ServerBusy)
}

/// The operator's bucket is empty.
#[must_use]
pub fn operator_rate(wait: Duration) -> Status {
    Told::new(Code::ResourceExhausted, "the operator makes more calls a second than he may at this server")
        .retry(wait)
        .because(ErrorReason::OperatorRate)
}

/// The player's bucket is empty.
#[must_use]
pub fn player_rate(wait: Duration) -> Status {
    Told::new(Code::ResourceExhausted, "more calls a second name this player than may at this server")
        .retry(wait)
        .because(ErrorReason::PlayerRate)
}

/// The operator takes as much of the room as he may.
#[must_use]
pub fn operator_share() -> Status {
    Told::new(Code::ResourceExhausted, "the operator has as many calls at work as he may at this server")
        .retry(CROWD_RETRY)
        .because(ErrorReason::OperatorShare)
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
