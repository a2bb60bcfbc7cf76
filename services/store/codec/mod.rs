//! Records: what a store keeps, exactly as the rules and the tables have it, with everything secret sealed.
//!
//! Reading is strict: a record that is damaged, misses something or holds what cannot be is an error and never a guess.
//! Each record begins with its format (`format.rs`); how a new format comes in is told in `tests/golden/README.md`.

mod accepted;
pub mod blind;
mod config;
mod entry;
mod error;
mod event;
mod field;
mod format;
mod frame;
mod hand;
mod payment;
mod player;
mod result;
mod scope;
mod secrets;
mod settlement;
mod stop;
mod table;
pub mod tallies;
mod words;

use std::sync::Arc;

use rules::Millis;
use rules::event::Event;
use rules::table::Table;
use tables::stops::{AuditEntry, StopEntry};
use tables::{Entry, OperatorId, RecordFormats, RequestId, RequestRecord, Settlement, TableKey, Token};

pub use error::CodecError;
pub use format::{FIRST_FORMAT, FORMAT};

pub use self::entry::EntryHead;
use self::entry::{put_origin, take_origin};
use self::field::Field;
use self::format::Formats;
use self::scope::Scope;
use crate::pb::store_v1 as wire;
use crate::store::keyring::Keyring;
use crate::store::seal::{Place, Purpose};

/// Writes and reads records with the keys of one store.
#[derive(Clone, Debug)]
pub struct Codec {
    keys: Arc<Keyring>,
    formats: Arc<Formats>,
}

impl Codec {
    /// A codec that seals and opens with these keys. It writes the newest format until a store says otherwise.
    #[must_use]
    pub fn new(keys: Arc<Keyring>) -> Codec {
        Codec::knowing(keys, FORMAT)
    }

    /// A codec as a version of the service has it that knows the formats up to this one: for tests of roll-outs.
    #[must_use]
    pub fn knowing(keys: Arc<Keyring>, newest: u32) -> Codec {
        Codec { keys, formats: Arc::new(Formats::up_to(newest)) }
    }

    /// The newest format that it reads.
    #[must_use]
    pub fn newest_format(&self) -> u32 {
        self.formats.newest()
    }

    /// The format that it writes.
    ///
    /// # Errors
    /// [`CodecError::Outdated`]
    pub fn written_format(&self) -> Result<u32, CodecError> {
        self.formats.written()
    }

    /// The installation's format and the newest one known here.
    #[must_use]
    pub fn formats(&self) -> RecordFormats {
        RecordFormats { installed: self.formats.installed(), newest: self.formats.newest() }
    }

    /// Whether an installation that is at a format may be raised to another one by this version.
    pub(super) fn check_raise(present: u32, to: u32) -> Result<(), CodecError> {
        let known = FORMAT;
        if to > known || present > known {
            return Err(CodecError::Outdated { installed: to.max(present), known });
        }
        if to < present {
            return Err(CodecError::Lowered { present, to });
        }
        Ok(())
    }

    /// Writes the installation's format, as found when the store is opened.
    pub(super) fn begin_with(&self, installed: u32) {
        self.formats.begin(installed);
    }

    /// Follows the installation's format, which only rises; gives whether it has.
    pub(super) fn follow(&self, installed: u32) -> bool {
        self.formats.follow(installed)
    }

    /// Whether the format that it writes can tell that history was lost.
    pub(super) fn can_tell_loss(&self) -> bool {
        self.written_format().is_ok_and(|written| written >= format::LOSS)
    }

    /// The keys.
    #[must_use]
    pub fn keys(&self) -> &Keyring {
        &self.keys
    }

    fn scope<'a>(&'a self, table: &'a TableKey) -> Scope<'a> {
        Scope { keys: &self.keys, table }
    }

    fn open<M: prost::Message + Default>(&self, bytes: &[u8]) -> Result<M, CodecError> {
        frame::open(bytes, &self.formats)
    }

    /// The record of a table's state.
    ///
    /// # Errors
    /// [`CodecError::Seal`], [`CodecError::NeedsFormat`], and what [`Codec::written_format`] says.
    pub fn write_table(&self, key: &TableKey, table: &Table) -> Result<Vec<u8>, CodecError> {
        let format = self.written_format()?;
        if table.lost.is_some() {
            format::require(format, format::LOSS)?;
        }
        if table.payments_begun > 0 {
            format::require(format, format::PAYMENTS)?;
        }
        let record = wire::TableRecord { format, table: Some(table::put(table, self.scope(key))?) };
        Ok(frame::close(&record))
    }

    /// Reads a table's state; `key` has to be the table that it was written for.
    ///
    /// # Errors
    /// [`CodecError`]
    pub fn read_table(&self, key: &TableKey, bytes: &[u8]) -> Result<Table, CodecError> {
        let record: wire::TableRecord = self.open(bytes)?;
        table::take_record(record, Some(self.scope(key)))
    }

    /// The record of a commit's events.
    ///
    /// # Errors
    /// [`CodecError::Seal`], [`CodecError::NeedsFormat`], and what [`Codec::written_format`] says.
    pub fn write_entry(
        &self,
        key: &TableKey,
        head: &EntryHead,
        events: &[Event],
    ) -> Result<Vec<u8>, CodecError> {
        let EntryHead { previous, token, at, hand, origin } = *head;
        let (format, scope) = (self.written_format()?, self.scope(key));
        let events = events.iter().map(|event| {
            format::require(format, format::of_event(event))?;
            event::put(event, hand, scope)
        });
        let record = wire::EntryRecord {
            format,
            token: Some(put_token(token)),
            previous: previous.map(put_token),
            hand,
            events: events.collect::<Result<_, _>>()?,
            at: (format >= format::ENTRY_TIME).then_some(at.0),
            origin: origin.map(put_origin).unwrap_or_default(),
        };
        Ok(frame::close(&record))
    }

    /// Reads a commit's events.
    ///
    /// # Errors
    /// [`CodecError`]
    pub fn read_entry(&self, key: &TableKey, bytes: &[u8]) -> Result<Entry, CodecError> {
        let record: wire::EntryRecord = self.open(bytes)?;
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
        let (at, origin) = (record.at.map(Millis), take_origin(&record.origin));
        Ok(Entry { version: token.version, token, previous, at, events: events.into(), origin })
    }

    /// The record of a settlement.
    ///
    /// # Errors
    /// [`CodecError::NeedsFormat`], and what [`Codec::written_format`] says.
    pub fn write_settlement(&self, settlement: &Settlement) -> Result<Vec<u8>, CodecError> {
        let format = self.written_format()?;
        format::require(format, format::of_settlement(settlement))?;
        Ok(frame::close(&settlement::put(settlement, format)))
    }

    /// Reads a settlement of this operator.
    ///
    /// # Errors
    /// [`CodecError`]
    pub fn read_settlement(&self, operator: &OperatorId, bytes: &[u8]) -> Result<Settlement, CodecError> {
        settlement::take(self.open(bytes)?, operator)
    }

    /// The record of a stop in the registry.
    ///
    /// # Errors
    /// [`CodecError::NeedsFormat`], and what [`Codec::written_format`] says.
    pub fn write_stop(&self, stop: &StopEntry) -> Result<Vec<u8>, CodecError> {
        let format = self.written_format()?;
        format::require(format, format::STOPS)?;
        Ok(frame::close(&stop::put(stop, format)))
    }

    /// Reads a stop.
    ///
    /// # Errors
    /// [`CodecError`]
    pub fn read_stop(&self, bytes: &[u8]) -> Result<StopEntry, CodecError> {
        stop::take(self.open(bytes)?)
    }

    /// The record of an entry of the audit of stops.
    ///
    /// # Errors
    /// As [`Codec::write_stop`].
    pub fn write_stop_audit(&self, entry: &AuditEntry) -> Result<Vec<u8>, CodecError> {
        let format = self.written_format()?;
        format::require(format, format::STOPS)?;
        Ok(frame::close(&stop::put_audit(entry, format)))
    }

    /// Reads an entry of the audit.
    ///
    /// # Errors
    /// [`CodecError`]
    pub fn read_stop_audit(&self, bytes: &[u8]) -> Result<AuditEntry, CodecError> {
        stop::take_audit(self.open(bytes)?)
    }

    /// The record of a request that is remembered.
    ///
    /// # Errors
    /// [`CodecError::Seal`], [`CodecError::NeedsFormat`], and what [`Codec::written_format`] says.
    pub fn write_request(
        &self,
        operator: &OperatorId,
        request: &RequestRecord,
    ) -> Result<Vec<u8>, CodecError> {
        let RequestRecord { id, payload, answer, at, declined } = request;
        let format = self.written_format()?;
        if *declined {
            format::require(format, format::DECLINED)?;
        }
        let answer = self.keys.seal(&answer_place(operator, id), answer)?;
        let record = wire::RequestRecord {
            format,
            payload: payload.put(),
            answer: Some(scope::to_wire(answer)),
            at: at.put(),
            declined: *declined,
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
        let record: wire::RequestRecord = self.open(bytes)?;
        let answer = record.answer.ok_or(CodecError::Missing("RequestRecord.answer"))?;
        let answer = scope::from_wire(answer);
        let mut answer = self.keys.open(&answer_place(operator, id), &answer)?;
        Ok(RequestRecord {
            id: *id,
            payload: Field::take(record.payload, "RequestRecord.payload")?,
            answer: std::mem::take(&mut *answer),
            at: Field::take(record.at, "RequestRecord.at")?,
            declined: record.declined,
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
