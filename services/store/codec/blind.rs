//! Records read by somebody who must not see cards: without keys, so that what is sealed stays closed.
//!
//! A state that was read so is for looking at. Its deck, hole cards and pivots are not those that were dealt, and what lies
//! open (the board, hands that were shown) is in it: whoever shows something of it chooses what.

use rules::table::Table;
use rules::{Event, Millis};
use tables::{Entry, Token};

use super::entry::take_origin;
use super::format::{FORMAT, Formats};
use super::{CodecError, event, frame, table, take_token};
use crate::pb::store_v1 as wire;

/// What an entry tells without its events' contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntryHead {
    /// The format of the record.
    pub format: u32,
    /// The commit.
    pub token: Token,
    /// The commit before it.
    pub previous: Option<Token>,
    /// When the store took it in, ms since the epoch, if the record tells.
    pub at: Option<Millis>,
    /// The kinds of its events, in their order.
    pub events: Vec<&'static str>,
}

/// The format that a record says it has.
///
/// # Errors
/// [`CodecError`] if it is no record.
pub fn format(bytes: &[u8]) -> Result<u32, CodecError> {
    frame::format(bytes)
}

/// A table's state, but for its secrets.
///
/// # Errors
/// [`CodecError`]
pub fn read_table(bytes: &[u8]) -> Result<Table, CodecError> {
    let record: wire::TableRecord = frame::open(bytes, &Formats::up_to(FORMAT))?;
    table::take_record(record, None)
}

/// A commit's entry, but for its secrets.
///
/// # Errors
/// [`CodecError`]
pub fn read_events(bytes: &[u8]) -> Result<Entry, CodecError> {
    let record: wire::EntryRecord = frame::open(bytes, &Formats::up_to(FORMAT))?;
    let token = take_token(record.token.ok_or(CodecError::Missing("EntryRecord.token"))?);
    let events: Vec<Event> = record.events.into_iter().map(event::take_blind).collect::<Result<_, _>>()?;
    let (previous, at) = (record.previous.map(take_token), record.at.map(Millis));
    let origin = take_origin(&record.origin);
    Ok(Entry { version: token.version, token, previous, at, events: events.into(), origin })
}

/// The head of a commit's entry.
///
/// # Errors
/// [`CodecError`]
pub fn read_entry(bytes: &[u8]) -> Result<EntryHead, CodecError> {
    let record: wire::EntryRecord = frame::open(bytes, &Formats::up_to(FORMAT))?;
    let name = |one: &wire::Event| event::name(one).ok_or(CodecError::Missing("Event.kind"));
    Ok(EntryHead {
        format: record.format,
        token: take_token(record.token.ok_or(CodecError::Missing("EntryRecord.token"))?),
        previous: record.previous.map(take_token),
        at: record.at.map(Millis),
        events: record.events.iter().map(name).collect::<Result<_, _>>()?,
    })
}
