//! Records: what a store keeps, exactly as the rules and the tables have it, with everything secret sealed.
//!
//! Reading is strict: a record that is damaged, misses something or holds what cannot be is an error and never a guess.
//! Each record begins with its format; how a new format comes in is told in `tests/golden/README.md`.

mod accepted;
mod config;
mod error;
mod event;
mod field;
mod frame;
mod hand;
mod player;
mod result;
mod scope;
mod secrets;
mod settlement;
mod table;
mod words;

use std::sync::Arc;

use rules::event::Event;
use rules::table::Table;
use tables::{Entry, OperatorId, RequestId, RequestRecord, Settlement, TableKey, Token};

pub use error::CodecError;

use self::field::Field;
use self::scope::Scope;
use crate::pb::store_v1 as wire;
use crate::store::keyring::Keyring;
use crate::store::seal::{Place, Purpose};

/// The format of all records that are written.
pub const FORMAT: u32 = 1;

/// Writes and reads records with the keys of one store.
#[derive(Clone, Debug)]
pub struct Codec {
    keys: Arc<Keyring>,
}

impl Codec {
    /// A codec that seals and opens with these keys.
    #[must_use]
    pub fn new(keys: Arc<Keyring>) -> Codec {
        Codec { keys }
    }

    /// The keys.
    #[must_use]
    pub fn keys(&self) -> &Keyring {
        &self.keys
    }

    fn scope<'a>(&'a self, table: &'a TableKey) -> Scope<'a> {
        Scope { keys: &self.keys, table }
    }

    /// The record of a table's state.
    ///
    /// # Errors
    /// [`CodecError::Seal`]
    pub fn write_table(&self, key: &TableKey, table: &Table) -> Result<Vec<u8>, CodecError> {
        let record = wire::TableRecord { format: FORMAT, table: Some(table::put(table, self.scope(key))?) };
        Ok(frame::close(&record))
    }

    /// Reads a table's state; `key` has to be the table that it was written for.
    ///
    /// # Errors
    /// [`CodecError`]
    pub fn read_table(&self, key: &TableKey, bytes: &[u8]) -> Result<Table, CodecError> {
        let record: wire::TableRecord = frame::open(bytes)?;
        let table = record.table.ok_or(CodecError::Missing("TableRecord.table"))?;
        table::take(table, self.scope(key))
    }

    /// The record of a commit's events. `hand` is how many hands had begun at the table after it, `previous` names the
    /// commit before it.
    ///
    /// # Errors
    /// [`CodecError::Seal`]
    pub fn write_entry(
        &self,
        key: &TableKey,
        previous: Option<Token>,
        token: Token,
        hand: u64,
        events: &[Event],
    ) -> Result<Vec<u8>, CodecError> {
        let scope = self.scope(key);
        let events = events.iter().map(|event| event::put(event, hand, scope));
        let record = wire::EntryRecord {
            format: FORMAT,
            token: Some(put_token(token)),
            previous: previous.map(put_token),
            hand,
            events: events.collect::<Result<_, _>>()?,
        };
        Ok(frame::close(&record))
    }

    /// Reads a commit's events.
    ///
    /// # Errors
    /// [`CodecError`]
    pub fn read_entry(&self, key: &TableKey, bytes: &[u8]) -> Result<Entry, CodecError> {
        let record: wire::EntryRecord = frame::open(bytes)?;
        let token = record.token.ok_or(CodecError::Missing("EntryRecord.token"))?;
        let scope = self.scope(key);
        let hand = record.hand;
        let events = record.events.into_iter();
        let events: Vec<Event> =
            events.map(|event| event::take(event, hand, scope)).collect::<Result<_, _>>()?;
        if events.is_empty() {
            return Err(CodecError::Missing("EntryRecord.events"));
        }
        let (token, previous) = (take_token(token), record.previous.map(take_token));
        Ok(Entry { version: token.version, token, previous, events: events.into() })
    }

    /// The record of a settlement.
    #[must_use]
    pub fn write_settlement(&self, settlement: &Settlement) -> Vec<u8> {
        frame::close(&settlement::put(settlement))
    }

    /// Reads a settlement of this operator.
    ///
    /// # Errors
    /// [`CodecError`]
    pub fn read_settlement(&self, operator: &OperatorId, bytes: &[u8]) -> Result<Settlement, CodecError> {
        settlement::take(frame::open(bytes)?, operator)
    }

    /// The record of a request that was done.
    ///
    /// # Errors
    /// [`CodecError::Seal`]
    pub fn write_request(
        &self,
        operator: &OperatorId,
        request: &RequestRecord,
    ) -> Result<Vec<u8>, CodecError> {
        let RequestRecord { id, payload, answer, at } = request;
        let answer = self.keys.seal(&answer_place(operator, id), answer)?;
        let record = wire::RequestRecord {
            format: FORMAT,
            payload: payload.put(),
            answer: Some(scope::to_wire(answer)),
            at: at.put(),
        };
        Ok(frame::close(&record))
    }

    /// Reads the record of this request.
    ///
    /// # Errors
    /// [`CodecError`]
    pub fn read_request(
        &self,
        operator: &OperatorId,
        id: &RequestId,
        bytes: &[u8],
    ) -> Result<RequestRecord, CodecError> {
        let record: wire::RequestRecord = frame::open(bytes)?;
        let answer = record.answer.ok_or(CodecError::Missing("RequestRecord.answer"))?;
        let answer = scope::from_wire(answer);
        let mut answer = self.keys.open(&answer_place(operator, id), &answer)?;
        Ok(RequestRecord {
            id: *id,
            payload: Field::take(record.payload, "RequestRecord.payload")?,
            answer: std::mem::take(&mut *answer),
            at: Field::take(record.at, "RequestRecord.at")?,
        })
    }
}

fn answer_place<'a>(operator: &'a OperatorId, id: &RequestId) -> Place<'a> {
    Place { operator: operator.as_str(), subject: id.0, hand: 0, seat: 0, purpose: Purpose::Answer }
}

fn put_token(token: Token) -> wire::Token {
    wire::Token { version: token.version, nonce: token.nonce }
}

fn take_token(token: wire::Token) -> Token {
    Token { version: token.version, nonce: token.nonce }
}
