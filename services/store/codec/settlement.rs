//! Settlements in records.

use rules::player::PlayerId;
use rules::{Chips, SeatNo};
use tables::{OperatorId, Settlement, SettlementBody, Statement, TableId, TableKey};

use super::CodecError;
use super::field::{Field, Record, records};
use super::format::PAYMENTS;
use crate::pb::store_v1 as wire;
use wire::settlement_record::Body;

records! {
    Statement => Statement { bought_in, wagered, won, raked, hands }
}

impl Record for (SeatNo, PlayerId, Chips) {
    type Wire = wire::Refund;

    fn to_wire(&self) -> wire::Refund {
        let (seat, player, amount) = self;
        wire::Refund { seat: seat.put(), player: player.put(), amount: amount.put() }
    }

    fn from_wire(refund: wire::Refund) -> Result<Self, CodecError> {
        Ok((
            Field::take(refund.seat, "Refund.seat")?,
            Field::take(refund.player, "Refund.player")?,
            Field::take(refund.amount, "Refund.amount")?,
        ))
    }
}

fn put_body(body: &SettlementBody, format: u32) -> Body {
    match body {
        SettlementBody::Hand(result) => Body::Hand(result.to_wire()),
        SettlementBody::Void { hand, reason, requester, refunds } => Body::Voided(wire::VoidedHand {
            hand: hand.put(),
            reason: reason.put(),
            requester: requester.put(),
            refunds: refunds.put(),
        }),
        SettlementBody::Reversal { last, until, reason } => {
            Body::Reversal(wire::Reversal { last: last.put(), until: until.put(), reason: reason.put() })
        }
        SettlementBody::Transaction { payment, ending } => {
            Body::EndedPayment(wire::EndedPayment { payment: payment.put(), ending: ending.put() })
        }
        SettlementBody::Movement {
            player,
            seat,
            session,
            amount,
            returned,
            transaction,
            reason,
            statement,
        } => {
            Body::Movement(wire::Movement {
                player: player.put(),
                seat: seat.put(),
                session: session.put(),
                amount: amount.put(),
                returned: returned.put(),
                transaction: transaction.put(),
                reason: reason.put(),
                // What the format does not have stays out.
                statement: statement.filter(|_| format >= PAYMENTS).put(),
            })
        }
    }
}

fn take_body(body: Body) -> Result<SettlementBody, CodecError> {
    Ok(match body {
        Body::Hand(result) => SettlementBody::Hand(Box::new(Record::from_wire(result)?)),
        Body::Voided(voided) => SettlementBody::Void {
            hand: voided.hand,
            reason: voided.reason,
            requester: voided.requester,
            refunds: Field::take(voided.refunds, "VoidedHand.refunds")?,
        },
        Body::Reversal(reversal) => {
            SettlementBody::Reversal { last: reversal.last, until: reversal.until, reason: reversal.reason }
        }
        Body::EndedPayment(ended) => SettlementBody::Transaction {
            payment: Field::take(ended.payment, "EndedPayment.payment")?,
            ending: Field::take(ended.ending, "EndedPayment.ending")?,
        },
        Body::Movement(moved) => SettlementBody::Movement {
            player: Field::take(moved.player, "Movement.player")?,
            seat: Field::take(moved.seat, "Movement.seat")?,
            session: moved.session,
            amount: Chips(moved.amount),
            returned: Chips(moved.returned),
            transaction: moved.transaction,
            reason: Field::take(moved.reason, "Movement.reason")?,
            statement: Field::take(moved.statement, "Movement.statement")?,
        },
    })
}

pub(super) fn put(settlement: &Settlement, format: u32) -> wire::SettlementRecord {
    let Settlement { id, ordinal, kind, key, at, version, currency, game, limit, config_version, body } =
        settlement;
    wire::SettlementRecord {
        format,
        id: id.put(),
        ordinal: ordinal.put(),
        kind: kind.put(),
        table: key.table.0.put(),
        at: at.put(),
        version: version.put(),
        currency: currency.put(),
        game: game.put(),
        limit: limit.put(),
        config_version: config_version.put(),
        body: Some(put_body(body, format)),
    }
}

pub(super) fn take(record: wire::SettlementRecord, operator: &OperatorId) -> Result<Settlement, CodecError> {
    let body = record.body.ok_or(CodecError::Missing("SettlementRecord.body"))?;
    Ok(Settlement {
        id: Field::take(record.id, "SettlementRecord.id")?,
        ordinal: record.ordinal,
        kind: Field::take(record.kind, "SettlementRecord.kind")?,
        key: TableKey {
            operator: operator.clone(),
            table: TableId(Field::take(record.table, "SettlementRecord.table")?),
        },
        at: Field::take(record.at, "SettlementRecord.at")?,
        version: record.version,
        currency: Field::take(record.currency, "SettlementRecord.currency")?,
        game: Field::take(record.game, "SettlementRecord.game")?,
        limit: Field::take(record.limit, "SettlementRecord.limit")?,
        config_version: record.config_version,
        body: take_body(body)?,
    })
}
