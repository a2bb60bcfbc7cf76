//! The state of a table in records.

use rules::lost::Lost;
use rules::table::{Departed, Ledger, Life, Stop, Table};

use super::CodecError;
use super::field::{Field, Record, records};
use super::scope::Scope;
use super::{accepted, format, hand, tallies};
use crate::pb::store_v1 as wire;

records! {
    Stop => Stop { scope, reason, at }
    Ledger => Ledger { bought_in, paid_out, raked, owed, delivered, written_off }
    Departed => Departed { player, stack, at }
    Lost => Lost { last, until }
}

impl Record for Life {
    type Wire = wire::Life;

    fn to_wire(&self) -> wire::Life {
        let (kind, reason) = match self {
            Life::Open => (wire::LifeKind::Open, ""),
            Life::Closing { reason } => (wire::LifeKind::Closing, reason.as_str()),
            Life::Closed { reason } => (wire::LifeKind::Closed, reason.as_str()),
        };
        wire::Life { kind: kind.into(), reason: reason.to_owned() }
    }

    fn from_wire(life: wire::Life) -> Result<Life, CodecError> {
        let reason = life.reason;
        match wire::LifeKind::try_from(life.kind) {
            Ok(wire::LifeKind::Open) => Ok(Life::Open),
            Ok(wire::LifeKind::Closing) => Ok(Life::Closing { reason }),
            Ok(wire::LifeKind::Closed) => Ok(Life::Closed { reason }),
            Ok(wire::LifeKind::Unspecified) => Err(CodecError::Missing("Life.kind")),
            Err(_) => Err(CodecError::Invalid("Life.kind")),
        }
    }
}

pub(super) fn put(table: &Table, scope: Scope<'_>) -> Result<wire::Table, CodecError> {
    let Table {
        config,
        version,
        config_version,
        opened_at,
        life,
        stops,
        seats,
        sessions,
        positions,
        interrupted,
        hands,
        next_hand_at,
        hand,
        past,
        ledger,
        departed,
        credited_until,
        lost,
        payments,
        payments_begun,
    } = table;
    let hand = hand.as_ref().map(|hand| hand::put(hand, scope));
    Ok(wire::Table {
        config: config.put(),
        version: version.put(),
        config_version: config_version.put(),
        opened_at: opened_at.put(),
        life: life.put(),
        stops: stops.put(),
        seats: seats.put(),
        sessions: sessions.put(),
        positions: positions.put(),
        interrupted: interrupted.put(),
        hands: hands.put(),
        next_hand_at: next_hand_at.put(),
        hand: hand.transpose()?,
        past: Some(accepted::put_past(past, scope)?),
        ledger: ledger.put(),
        departed: departed.put(),
        credited_until: credited_until.put(),
        lost: lost.put(),
        payments: payments.put(),
        payments_begun: payments_begun.put(),
    })
}

/// Without a scope the secrets stay closed; see [`super::blind`].
pub(super) fn take_record(record: wire::TableRecord, scope: Option<Scope<'_>>) -> Result<Table, CodecError> {
    let mut table = take(record.table.ok_or(CodecError::Missing("TableRecord.table"))?, scope)?;
    if record.format < format::PAYMENTS {
        tallies::begin(&mut table);
    }
    Ok(table)
}

fn take(table: wire::Table, scope: Option<Scope<'_>>) -> Result<Table, CodecError> {
    let hand = table.hand.map(|hand| hand::take(hand, scope));
    let past = table.past.ok_or(CodecError::Missing("Table.past"))?;
    Ok(Table {
        config: Field::take(table.config, "Table.config")?,
        version: table.version,
        config_version: table.config_version,
        opened_at: Field::take(table.opened_at, "Table.opened_at")?,
        life: Field::take(table.life, "Table.life")?,
        stops: Field::take(table.stops, "Table.stops")?,
        seats: Field::take(table.seats, "Table.seats")?,
        sessions: table.sessions,
        positions: Field::take(table.positions, "Table.positions")?,
        interrupted: table.interrupted,
        hands: table.hands,
        next_hand_at: Field::take(table.next_hand_at, "Table.next_hand_at")?,
        hand: hand.transpose()?,
        past: accepted::take_past(past, scope)?,
        ledger: Field::take(table.ledger, "Table.ledger")?,
        departed: Field::take(table.departed, "Table.departed")?,
        credited_until: Field::take(table.credited_until, "Table.credited_until")?,
        lost: Field::take(table.lost, "Table.lost")?,
        payments: Field::take(table.payments, "Table.payments")?,
        payments_begun: table.payments_begun,
    })
}
