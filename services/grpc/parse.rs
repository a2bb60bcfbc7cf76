//! From requests to what the tables understand. Everything that is wrong with a request is told at once, field by
//! field, with what would be right; a value that a caller sent is never repeated in it.

pub mod balance;
pub mod config;
pub mod control;
pub mod delivery;
pub mod page;
pub mod play;
pub mod seats;
pub mod settlements;
pub mod tables;
pub mod transactions;

use std::ops::RangeInclusive;

use ::tables::{OperatorId, RequestId, TableId, TableKey};
use prost_types::Timestamp;
use rules::view::Viewer;
use rules::{Chips, Millis, PlayerId, SeatNo};
use tonic::Status;
use tonic_types::FieldViolation;
use uuid::Uuid;

use super::request::{Change, Mutating};
use super::status;
use crate::pb::v1;

/// The last second that a timestamp can name.
const LAST_SECOND: u64 = 253_402_300_799;

/// The most values of an enum that a list names.
const MOST_CHOICES: usize = 16;

/// Reads fields and collects what is wrong with them.
#[derive(Debug, Default)]
pub struct Fields(Vec<FieldViolation>);

impl Fields {
    /// Notes a fault: what would be right.
    pub fn fault(&mut self, field: impl Into<String>, right: impl Into<String>) {
        self.0.push(FieldViolation::new(field, right));
    }

    fn check<T>(&mut self, field: &str, value: Option<T>, right: &str) -> Option<T> {
        if value.is_none() {
            self.fault(field, right);
        }
        value
    }

    /// The value if nothing is wrong.
    ///
    /// # Errors
    /// INVALID_ARGUMENT with every fault.
    pub fn done<T>(self, value: Option<T>) -> Result<T, Status> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(status::invalid(self.0)),
        }
    }

    /// A UUID as `123e4567-e89b-12d3-a456-426614174000`, not that of zeros only.
    fn uuid(&mut self, field: &str, text: &str) -> Option<Uuid> {
        let hyphenated = Some(text).filter(|t| t.len() == 36);
        let uuid = hyphenated.and_then(|t| Uuid::try_parse(t).ok()).filter(|u| !u.is_nil());
        self.check(field, uuid, "a UUID in its hyphenated form, not all zeros")
    }

    /// The caller's name for a request.
    pub fn request_id(&mut self, text: &str) -> Option<RequestId> {
        self.uuid("request_id", text).map(RequestId)
    }

    /// A table of the operator.
    pub fn table(&mut self, operator: &OperatorId, text: &str) -> Option<TableKey> {
        self.table_at("table_id", operator, text)
    }

    /// A table of the operator, in a field of this name.
    pub fn table_at(&mut self, field: &str, operator: &OperatorId, text: &str) -> Option<TableKey> {
        let table = TableId(self.uuid(field, text)?);
        Some(TableKey { operator: operator.clone(), table })
    }

    /// The table that a list is about, if it is about one: it is if it is about one of its hands.
    fn table_of(&mut self, operator: &OperatorId, text: &str, hand: u64) -> Option<TableId> {
        if text.is_empty() {
            if hand > 0 {
                self.fault("table_id", "the table of the hand, as hand_number is given");
            }
            return None;
        }
        self.table(operator, text).map(|key| key.table)
    }

    /// A player.
    pub fn player(&mut self, field: &str, text: &str) -> Option<PlayerId> {
        let right = "1 to 64 of the characters A-Z, a-z, 0-9, dot, underscore, colon, hyphen";
        self.check(field, PlayerId::new(text), right)
    }

    /// An amount in minor units.
    pub fn chips(&mut self, field: &str, amount: i64, least: u64) -> Option<Chips> {
        let chips = u64::try_from(amount).ok().map(Chips).filter(|c| c.0 >= least && *c <= Chips::MAX);
        if chips.is_none() {
            self.fault(field, format!("{least} to {} minor units", Chips::MAX));
        }
        chips
    }

    /// A seat; 0 is any free one.
    pub fn seat(&mut self, field: &str, number: u32) -> Option<Option<SeatNo>> {
        if number == 0 {
            return Some(None);
        }
        let seat = u8::try_from(number).ok().and_then(SeatNo::new);
        self.check(field, seat, "1 to 10, or 0 for any free one").map(Some)
    }

    /// Text for people: so many characters, none of them a control character.
    pub fn text(&mut self, field: &str, text: &str, length: RangeInclusive<usize>) -> Option<String> {
        // A character has four bytes at most: a long text is not counted to its end.
        let short = text.len() <= length.end() * 4 && length.contains(&text.chars().count());
        let plain = !text.chars().any(char::is_control);
        if !(short && plain) {
            let (least, most) = (length.start(), length.end());
            self.fault(field, format!("{least} to {most} characters, no control characters"));
            return None;
        }
        Some(text.to_owned())
    }

    /// A point in time, or none. What is finer than the service's milliseconds counts as the next one.
    pub fn time(&mut self, field: &str, given: Option<Timestamp>) -> Option<Option<Millis>> {
        let Some(given) = given else {
            return Some(None);
        };
        let seconds = u64::try_from(given.seconds).ok().filter(|seconds| *seconds <= LAST_SECOND);
        let nanos = u64::try_from(given.nanos).ok().filter(|nanos| *nanos < 1_000_000_000);
        let at = seconds.zip(nanos).map(|(s, n)| Millis(s * 1000 + n.div_ceil(1_000_000)));
        self.check(field, at, "a time from 1970 to 9999").map(Some)
    }

    /// The operator's name for a movement of money.
    pub fn transaction(&mut self, text: &str) -> Option<String> {
        self.text("transaction_id", text, 1..=64)
    }

    /// A value of an enum, given and known.
    pub fn choice<E: TryFrom<i32> + Default + PartialEq>(&mut self, field: &str, value: i32) -> Option<E> {
        let known = E::try_from(value).ok().filter(|e| *e != E::default());
        self.check(field, known, "one of the values of the enum, not the unspecified one")
    }

    /// Values of an enum, given and known, in a field that is named for one of them: `state` for `states`.
    pub fn choices<E: TryFrom<i32> + Default + PartialEq>(&mut self, one: &str, values: &[i32]) -> Vec<E> {
        // An enum has few values: a long list repeats some, and is cut.
        let named = values.iter().take(MOST_CHOICES).enumerate();
        let known = named.filter_map(|(at, value)| self.choice(&format!("{one}s[{at}]"), *value)).collect();
        if values.len() > MOST_CHOICES {
            self.fault(format!("{one}s"), format!("each {one} once"));
        }
        known
    }

    /// A value of an enum, or the unspecified one.
    pub fn option<E: TryFrom<i32>>(&mut self, field: &str, value: i32) -> Option<E> {
        self.check(field, E::try_from(value).ok(), "one of the values of the enum")
    }

    /// A number that counts from 1.
    pub fn number<N: Into<u64> + Copy>(&mut self, field: &str, number: N) -> Option<N> {
        self.check(field, Some(number).filter(|n| (*n).into() > 0), "1 or more")
    }

    /// The version that a table must still have.
    pub fn etag(&mut self, text: &str) -> Option<Option<u64>> {
        if text.is_empty() {
            return Some(None);
        }
        // As it was sent out: no sign, no leading zero.
        let version = text.parse().ok().filter(|v: &u64| v.to_string() == text);
        self.check("etag", version, "the etag of the table as it was read, or empty for any").map(Some)
    }

    /// For whose eyes.
    pub fn viewer(&mut self, viewer: Option<&v1::Viewer>) -> Option<Viewer> {
        match viewer.and_then(|v| v.kind.as_ref()) {
            Some(v1::viewer::Kind::PlayerId(player)) => {
                self.player("viewer.player_id", player).map(Viewer::Player)
            }
            Some(v1::viewer::Kind::Spectator(_)) | None => Some(Viewer::Spectator),
        }
    }
}

/// Reads a change of a table. `ask` reads what is its own, the rest is the same for all.
fn change<M: Mutating>(
    operator: &OperatorId,
    message: &M,
    (table_id, etag): (&str, &str),
    ask: impl FnOnce(&mut Fields) -> Option<rules::command::Ask>,
) -> Result<Change, Status> {
    let mut fields = Fields::default();
    let id = fields.request_id(message.request_id());
    let key = fields.table(operator, table_id);
    let ask = ask(&mut fields);
    let etag = fields.etag(etag);
    let payload = message.fingerprint();
    let all = || Some(Change { key: key?, id: id?, payload, etag: etag?, ask: ask? });
    let value = all();
    fields.done(value)
}

#[cfg(test)]
#[path = "parse/tests.rs"]
mod tests;
