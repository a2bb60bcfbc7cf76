//! What all calls share: who calls, what makes a request the same request, and a change on its way to the tables.

use prost::Message;
use rules::command::Ask;
use rules::event::Event;
use rules::{Accepted, Millis, Table};
use sha2::{Digest, Sha256};
use tables::{OperatorId, RequestId, TableId, TableKey, Tables};
use tonic::{Request, Response, Status};

use super::identity::Caller;
use super::identity::scope::{self, Scoped};
use super::layers::limits;
use super::parse::play::Decision;
use super::parse::tables::Opening;
use super::render::answer::{self, Made};
use super::status;
use crate::pb::v1;
use crate::telemetry::spans;

/// The caller's operator and his message. The operator comes from the credentials, never from the message.
///
/// # Errors
/// As [`called`].
pub fn open<T: Scoped>(request: Request<T>) -> Result<(OperatorId, T), Status> {
    let (caller, message) = called(request)?;
    Ok((caller.operator.ok_or_else(status::unauthenticated)?, message))
}

/// Who calls, and his message, which is about no player but one that he may ask about.
///
/// # Errors
/// UNAUTHENTICATED if no layer has put a caller there: a call that gets past them by mistake sees nothing.
/// PERMISSION_DENIED as [`scope::check`] says. RESOURCE_EXHAUSTED as [`limits::player`] says.
pub fn called<T: Scoped>(request: Request<T>) -> Result<(Caller, T), Status> {
    let (_, mut extensions, message) = request.into_parts();
    let caller = extensions.remove::<Caller>().ok_or_else(status::unauthenticated)?;
    scope::check(&caller, &message)?;
    if let Some(player) = scope::player(&caller, &message) {
        limits::player(&extensions, player)?;
    }
    Ok((caller, message))
}

/// A message that changes something, and says so with a request id.
pub trait Mutating: Message + Default + Clone {
    /// The call's name, as the contract spells it.
    const METHOD: &'static str;

    /// The caller's name for the request.
    fn request_id(&self) -> &str;

    /// Takes the request id out.
    fn anonymous(self) -> Self;

    /// What a repetition has to have in common with the first call: SHA-256 of method and message without its id. No
    /// message has a map, so that equal messages are equal bytes.
    fn fingerprint(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(Self::METHOD.as_bytes());
        hash.update([0]);
        hash.update(self.clone().anonymous().encode_to_vec());
        hash.finalize().into()
    }
}

macro_rules! mutating {
    ($($method:literal $message:ident,)*) => {$(
        impl Mutating for v1::$message {
            const METHOD: &'static str = $method;

            fn request_id(&self) -> &str {
                &self.request_id
            }

            fn anonymous(self) -> Self {
                v1::$message { request_id: String::new(), ..self }
            }
        }
    )*
        /// The methods whose requests are remembered.
        #[cfg(test)]
        const REMEMBERED: &[&str] = &[$($method,)*];
    };
}

// Act and SelectPivot are not here: their hand and turn numbers make them repeatable.
mutating! {
    "CreateTable" CreateTableRequest,
    "UpdateTable" UpdateTableRequest,
    "PauseTable" PauseTableRequest,
    "ResumeTable" ResumeTableRequest,
    "CloseTable" CloseTableRequest,
    "SeatPlayer" SeatPlayerRequest,
    "StandUp" StandUpRequest,
    "SitOut" SitOutRequest,
    "SitIn" SitInRequest,
    "AddChips" AddChipsRequest,
    "SetPreferences" SetPreferencesRequest,
    "ShowCards" ShowCardsRequest,
    "VoidHand" VoidHandRequest,
    "DisableScope" DisableScopeRequest,
    "EnableScope" EnableScopeRequest,
    "RetryTransaction" RetryTransactionRequest,
    "ProposeResolution" ProposeResolutionRequest,
    "ConfirmResolution" ConfirmResolutionRequest,
}

/// A change of a table, read and found well-formed.
#[derive(Debug)]
pub struct Change {
    /// Which table.
    pub key: TableKey,
    /// The caller's name for it.
    pub id: RequestId,
    /// Its fingerprint.
    pub payload: [u8; 32],
    /// The version that the table must still have.
    pub etag: Option<u64>,
    /// What is asked.
    pub ask: Ask,
}

impl Change {
    /// Carries it out. The answer is made from the events and kept with them, so that a repetition gets the same one.
    ///
    /// # Errors
    /// The status of whatever stood in the way; nothing has changed then, unless it says that this is not known.
    pub async fn make<R>(self, tables: &Tables, answer: fn(Made<'_>) -> R) -> Result<Response<R>, Status>
    where
        R: Message + Default,
    {
        let Change { key, id, payload, etag, ask } = self;
        about(&key, None);
        let bytes =
            |events: &[Event], table: &Table| answer(Made { key: &key, events, table }).encode_to_vec();
        let request = tables::Request { id, payload };
        let answered = tables.ask(&key, Some(request), etag, ask, &bytes).await;
        reply(&answered.map_err(status::failed)?.bytes)
    }
}

/// The answer to SeatPlayer where the wallet has paid for the seat.
#[must_use]
pub fn seated(key: &TableKey, events: &[Event], table: &Table) -> Vec<u8> {
    answer::seat_player(Made { key, events, table }).encode_to_vec()
}

/// The answer to AddChips where the wallet has paid for the chips.
#[must_use]
pub fn added(key: &TableKey, events: &[Event], table: &Table) -> Vec<u8> {
    answer::add_chips(Made { key, events, table }).encode_to_vec()
}

impl Opening {
    /// Opens the table.
    ///
    /// # Errors
    /// As [`Change::make`].
    pub async fn make(
        self,
        tables: &Tables,
        operator: &OperatorId,
    ) -> Result<Response<v1::CreateTableResponse>, Status> {
        let key = TableKey { operator: operator.clone(), table: TableId::derived(operator, &self.id) };
        let bytes = |events: &[Event], table: &Table| {
            answer::create_table(Made { key: &key, events, table }).encode_to_vec()
        };
        let request = tables::Request { id: self.id, payload: self.payload };
        let answered = tables.open(operator, request, self.config, &bytes).await;
        reply(&answered.map_err(status::failed)?.bytes)
    }
}

impl Decision {
    /// Answers a turn.
    ///
    /// # Errors
    /// As [`Change::make`].
    pub async fn make(self, tables: &Tables, received: Millis) -> Result<Accepted, Status> {
        let hand = match &self.ask {
            Ask::Act { hand, .. } | Ask::Pick { hand, .. } => Some(*hand),
            _ => None,
        };
        about(&self.key, hand);
        tables.decide_turn(&self.key, self.ask, received).await.map_err(status::failed)
    }
}

/// Says in the call's span what it is about, also if nothing comes of it.
pub fn about(key: &TableKey, hand: Option<u64>) {
    spans::about(&key.operator, key.table, hand);
}

/// When a call is received, by the store's time: a decision counts by this, not by when it is looked at (rules 8.2).
///
/// # Errors
/// UNAVAILABLE if the store is away.
pub async fn now(tables: &Tables) -> Result<Millis, Status> {
    tables.store().now().await.map_err(|error| status::store(&error))
}

/// An answer as it was kept.
pub fn reply<R: Message + Default>(bytes: &[u8]) -> Result<Response<R>, Status> {
    R::decode(bytes).map(Response::new).map_err(|error| status::internal(&error))
}

/// An answer that a decision of this kind always has.
///
/// # Errors
/// INTERNAL if it has not.
pub fn expect<R>(answer: Option<R>) -> Result<Response<R>, Status> {
    answer.map(Response::new).ok_or_else(|| status::internal(&"an accepted decision was of another kind"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_types::FileDescriptorSet;

    fn request(id: &str, reason: &str) -> v1::PauseTableRequest {
        v1::PauseTableRequest {
            request_id: id.into(),
            table_id: "t".into(),
            reason: reason.into(),
            etag: String::new(),
        }
    }

    #[test]
    fn a_fingerprint_is_that_of_the_payload_and_the_method() {
        let first = request("a", "x").fingerprint();
        assert_eq!(first, request("b", "x").fingerprint(), "whatever its id");
        assert_ne!(first, request("a", "y").fingerprint());
        let close = v1::CloseTableRequest { table_id: "t".into(), reason: "x".into(), ..Default::default() };
        assert_eq!(close.encode_to_vec(), request("", "x").encode_to_vec(), "the same bytes");
        assert_ne!(first, close.fingerprint());
    }

    #[test]
    fn every_call_with_a_request_id_is_remembered_but_those_with_a_turn() {
        let set = FileDescriptorSet::decode(crate::pb::DESCRIPTOR).unwrap();
        let messages: Vec<_> = set.file.iter().flat_map(|f| &f.message_type).collect();
        let has = |message: &str, field: &str| {
            let found = messages.iter().find(|m| message.ends_with(&format!(".{}", m.name())));
            found.is_some_and(|m| m.field.iter().any(|f| f.name() == field))
        };
        let methods = set.file.iter().flat_map(|f| &f.service).flat_map(|s| &s.method);
        let mut wanted: Vec<_> = methods
            .filter(|m| has(m.input_type(), "request_id") && !has(m.input_type(), "turn"))
            .map(|m| m.name().to_owned())
            .collect();
        let mut known: Vec<_> = REMEMBERED.iter().map(|m| (*m).to_owned()).collect();
        wanted.sort();
        known.sort();
        assert_eq!(known, wanted);
    }
}
