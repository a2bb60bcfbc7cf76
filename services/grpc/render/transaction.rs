//! Transactions with operators' wallets, and statements of sessions.

use rules::payment::{Deed, Ending, Note, Payment, Phase, Proposal, Purpose, Resolution};
use tables::statement::{Account, Session};
use tables::transactions::{Content, Page, State, Transaction};
use uuid::Uuid;

use super::{amount, config, number, timestamp};
use crate::pb::v1;

/// A page of transactions.
pub fn page(page: &Page, next_page_token: String) -> v1::ListTransactionsResponse {
    let transactions = page.transactions.iter().map(transaction).collect();
    v1::ListTransactionsResponse { transactions, next_page_token }
}

/// A transaction.
pub fn transaction(t: &Transaction) -> v1::Transaction {
    let all = v1::Transaction {
        state: state(t.state).into(),
        table_id: t.key.table.to_string(),
        currency: config::currency(t.currency),
        state_time: Some(timestamp(t.since)),
        ..Default::default()
    };
    match &t.content {
        Content::Wallet { id, payment, ending } => wallet(all, *id, payment, *ending),
        Content::Named { name, purpose, player, seat, session, amount: chips, settlement } => {
            v1::Transaction {
                transaction_id: name.clone(),
                kind: kind(*purpose).into(),
                player_id: player.as_str().to_owned(),
                session: *session,
                seat: number(*seat),
                amount: amount(*chips),
                begin_time: all.state_time,
                settlement_id: settlement.to_string(),
                ..all
            }
        }
    }
}

fn wallet(all: v1::Transaction, id: Uuid, p: &Payment, ending: Option<Ending>) -> v1::Transaction {
    let open = ending.is_none();
    let waits = open && p.phase != Phase::Parked;
    let request = p.request.as_ref().map(|request| Uuid::from_bytes(request.id).to_string());
    let resolved = match ending {
        Some(Ending::Resolved(how)) => resolution(how),
        _ => v1::Resolution::Unspecified,
    };
    v1::Transaction {
        transaction_id: id.to_string(),
        kind: kind(p.purpose).into(),
        player_id: p.player.as_str().to_owned(),
        session: p.session,
        seat: number(p.seat),
        hand_number: p.hand,
        amount: amount(p.amount),
        begin_time: Some(timestamp(p.begun)),
        attempts: p.attempts,
        next_attempt_time: waits.then(|| timestamp(p.next_at)),
        last_error: p.error.clone(),
        request_id: request.unwrap_or_default(),
        proposal: p.proposal.as_ref().filter(|_| open).map(proposal),
        resolution: resolved.into(),
        notes: p.notes.iter().map(note).collect(),
        ..all
    }
}

const fn kind(purpose: Purpose) -> v1::TransactionKind {
    match purpose {
        Purpose::BuyIn { .. } => v1::TransactionKind::BuyIn,
        Purpose::AddChips => v1::TransactionKind::AddChips,
        Purpose::CashOut => v1::TransactionKind::CashOut,
        Purpose::Returned => v1::TransactionKind::ReturnedChips,
    }
}

const fn state(state: State) -> v1::TransactionState {
    match state {
        State::Debiting => v1::TransactionState::Debiting,
        State::Booked => v1::TransactionState::Booked,
        State::Released => v1::TransactionState::Released,
        State::Cancelling => v1::TransactionState::Cancelling,
        State::Cancelled => v1::TransactionState::Cancelled,
        State::Crediting => v1::TransactionState::Crediting,
        State::Paid => v1::TransactionState::Paid,
        State::Parked => v1::TransactionState::Parked,
        State::Resolved => v1::TransactionState::Resolved,
    }
}

const fn resolution(how: Resolution) -> v1::Resolution {
    match how {
        Resolution::Settled => v1::Resolution::Settled,
        Resolution::WrittenOff => v1::Resolution::WrittenOff,
    }
}

fn proposal(p: &Proposal) -> v1::ResolutionProposal {
    v1::ResolutionProposal {
        time: Some(timestamp(p.at)),
        requester: p.by.clone(),
        reason: p.reason.clone(),
        resolution: resolution(p.resolution).into(),
    }
}

fn note(n: &Note) -> v1::TransactionNote {
    let act = match n.deed {
        Deed::Parked => v1::TransactionAct::Parked,
        Deed::Retried => v1::TransactionAct::Retried,
        Deed::Proposed => v1::TransactionAct::Proposed,
        Deed::Confirmed => v1::TransactionAct::Confirmed,
    };
    v1::TransactionNote {
        time: Some(timestamp(n.at)),
        requester: n.by.clone(),
        act: act.into(),
        reason: n.reason.clone(),
    }
}

/// What a session came to.
pub fn statement(session: &Session, a: &Account) -> v1::SessionStatement {
    let buy_in = a.buy_in.unwrap_or(a.sums.bought_in);
    v1::SessionStatement {
        table_id: session.key.table.to_string(),
        player_id: session.player.as_str().to_owned(),
        session: session.number,
        seat: number(a.seat),
        currency: config::currency(a.currency),
        open: a.open,
        begin_time: a.begun.map(timestamp),
        end_time: a.ended.map(timestamp),
        buy_in: amount(buy_in),
        added: amount(a.sums.bought_in - buy_in),
        cash_out: amount(a.cash_out),
        wagered: amount(a.sums.wagered),
        won: amount(a.sums.won),
        rake_share: amount(a.sums.raked),
        hands: u64::from(a.sums.hands),
        transaction_ids: a.transactions.clone(),
        settlement_ids: a.records.iter().map(Uuid::to_string).collect(),
    }
}
