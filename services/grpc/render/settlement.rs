//! Settlement records.

use rules::result::{HandResult, PlayerResult, PotResult};
use rules::{Chips, SeatNo};
use tables::{Settlement, SettlementBody, SettlementKind, Statement};

use super::{amount, cards, config, number, numbers, table, timestamp};
use crate::pb::v1;

/// A record.
pub fn settlement(s: &Settlement) -> v1::Settlement {
    v1::Settlement {
        settlement_id: s.id.to_string(),
        kind: kind(s.kind).into(),
        table_id: s.key.table.to_string(),
        sequence: s.version,
        time: Some(timestamp(s.at)),
        currency: config::currency(s.currency),
        game: config::game(s.game).into(),
        limit: config::limit(s.limit).into(),
        config_version: s.config_version,
        body: body(&s.body),
    }
}

fn kind(kind: SettlementKind) -> v1::SettlementKind {
    match kind {
        SettlementKind::Hand => v1::SettlementKind::Hand,
        SettlementKind::Void => v1::SettlementKind::Void,
        SettlementKind::BuyIn => v1::SettlementKind::BuyIn,
        SettlementKind::AddChips => v1::SettlementKind::AddChips,
        SettlementKind::CashOut => v1::SettlementKind::CashOut,
        SettlementKind::Reversal => v1::SettlementKind::Reversal,
        // Told as a transaction, and never as a settlement.
        SettlementKind::Transaction => v1::SettlementKind::Unspecified,
    }
}

fn body(body: &SettlementBody) -> Option<v1::settlement::Body> {
    use v1::settlement::Body;
    Some(match body {
        SettlementBody::Hand(result) => Body::Hand(hand(result)),
        SettlementBody::Void { hand, reason, requester, refunds } => {
            let refund = |(seat, player, chips): &(SeatNo, rules::PlayerId, Chips)| v1::Refund {
                player_id: player.as_str().to_owned(),
                seat: number(*seat),
                amount: amount(*chips),
            };
            Body::Void(v1::VoidedHand {
                hand_number: *hand,
                reason: reason.clone(),
                requester: requester.clone(),
                refunds: refunds.iter().map(refund).collect(),
            })
        }
        SettlementBody::Reversal { last, until, reason } => Body::Reversal(v1::Reversal {
            last_sequence: *last,
            until_sequence: *until,
            reason: reason.clone(),
        }),
        SettlementBody::Transaction { .. } => return None,
        SettlementBody::Movement {
            player,
            seat,
            session,
            amount: chips,
            returned,
            transaction,
            reason,
            statement,
        } => {
            let reason = reason.map_or(v1::StandUpReason::Unspecified, table::leave_reason);
            Body::Movement(v1::Movement {
                player_id: player.as_str().to_owned(),
                seat: number(*seat),
                session: *session,
                amount: amount(*chips),
                returned: amount(*returned),
                transaction_id: transaction.clone(),
                reason: reason.into(),
                statement: statement.as_ref().map(self::statement),
            })
        }
    })
}

/// What a session came to.
pub fn statement(s: &Statement) -> v1::SessionSums {
    v1::SessionSums {
        bought_in: amount(s.bought_in),
        wagered: amount(s.wagered),
        won: amount(s.won),
        rake_share: amount(s.raked),
        hands: s.hands,
    }
}

/// A hand as it was paid.
pub fn hand(r: &HandResult) -> v1::SettledHand {
    v1::SettledHand {
        hand_number: r.number,
        started: Some(timestamp(r.started_at)),
        pots: r.pots.iter().map(pot).collect(),
        players: r.players.iter().map(player).collect(),
        rake: amount(r.rake),
    }
}

fn pot(p: &PotResult) -> v1::SettledPot {
    v1::SettledPot {
        amount: amount(p.amount),
        rake: amount(p.rake),
        eligible_seats: numbers(p.eligible),
        winners: seat_amounts(&p.winners),
    }
}

/// What goes to which seat.
pub fn seat_amounts(of: &[(SeatNo, Chips)]) -> Vec<v1::SeatAmount> {
    of.iter().map(|(seat, chips)| v1::SeatAmount { seat: number(*seat), amount: amount(*chips) }).collect()
}

fn player(p: &PlayerResult) -> v1::SettledPlayer {
    v1::SettledPlayer {
        player_id: p.player.as_str().to_owned(),
        seat: number(p.seat),
        session: p.session,
        stack_before: amount(p.stack_before),
        stack_after: amount(p.stack_after),
        contributed: amount(p.contributed),
        returned: amount(p.returned),
        won: amount(p.won),
        rake_share: amount(p.rake_share),
        shown: p.shown.as_ref().map(cards::shown),
    }
}
