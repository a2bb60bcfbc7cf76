//! What finance asks for: books, statements, transactions, and what people do about those that are parked.

use prost::Message;
use rules::Table;
use rules::event::Event;
use rules::payment::Payment;
use tables::statement::Session;
use tables::transactions::Transaction;
use tables::{OperatorId, Tables};
use tonic::{Response, Status};

use super::parse::transactions::Deed;
use super::parse::{balance, transactions};
use super::render::{balance as render_balance, transaction as render};
use super::request::reply;
use super::status;
use crate::pb::v1;

/// A page of the books.
///
/// # Errors
/// NOT_FOUND if there is no such table.
pub async fn trial_balance(
    tables: &Tables,
    page: balance::Page,
) -> Result<v1::GetTrialBalanceResponse, Status> {
    let read = page.wanted.page(&**tables.store(), page.after.clone(), page.size).await;
    let read = read.map_err(|error| status::store(&error))?.ok_or_else(status::table_not_found)?;
    let next = read.reached.as_ref().map(|place| page.token(place));
    Ok(render_balance::page(&read, next.unwrap_or_default()))
}

/// What a session came to.
///
/// # Errors
/// NOT_FOUND if there is no such table or session.
pub async fn statement(tables: &Tables, session: Session) -> Result<v1::GetSessionStatementResponse, Status> {
    let table = tables.read(&session.key).await.map_err(status::failed)?;
    let account = session.account(&**tables.store(), &table).await;
    let account = account.map_err(|error| status::store(&error))?.ok_or_else(status::session_not_found)?;
    Ok(v1::GetSessionStatementResponse { statement: Some(render::statement(&session, &account)) })
}

/// A page of transactions.
///
/// # Errors
/// If the store is away.
pub async fn list(
    tables: &Tables,
    operator: &OperatorId,
    page: transactions::Page,
) -> Result<v1::ListTransactionsResponse, Status> {
    let read = page.wanted.page(&**tables.store(), tables.draws(operator), page.after, page.size).await;
    let read = read.map_err(|error| status::store(&error))?;
    let next = read.reached.as_ref().map(|place| page.token(place));
    Ok(render::page(&read, next.unwrap_or_default()))
}

/// Does something about a parked transaction. The answer is kept, so that a repetition gets the same one.
///
/// # Errors
/// The status of whatever stood in the way; nothing has changed then, unless it says that this is not known.
pub async fn see_to<R: Message + Default>(
    tables: &Tables,
    deed: Deed,
    answer: fn(Option<v1::Transaction>, u64) -> R,
) -> Result<Response<R>, Status> {
    let table = tables.read(&deed.key).await.map_err(status::failed)?;
    let named = |payment: &&Payment| tables::wallet::payment_id(&deed.key, payment) == deed.transaction;
    let before = table.payments.iter().find(named).cloned();
    // Payments count from 1: of one that is not there the table says so, or what it answered when it was.
    let number = before.as_ref().map_or(0, |payment| payment.number);
    let bytes = |events: &[Event], after: &Table| {
        let told = before.as_ref().and_then(|before| told(&deed, before, events, after));
        answer(told, after.version).encode_to_vec()
    };
    let request = tables::Request { id: deed.id, payload: deed.payload };
    let answered = tables.ask(&deed.key, Some(request), None, deed.ask(number), &bytes).await;
    reply(&answered.map_err(status::failed)?.bytes)
}

/// The transaction after the events.
fn told(deed: &Deed, before: &Payment, events: &[Event], after: &Table) -> Option<v1::Transaction> {
    let currency = after.config.currency;
    if let Some(payment) = after.payment(before.number) {
        return Some(render::transaction(&Transaction::open(&deed.key, currency, payment)));
    }
    let mut payment = before.clone();
    let mut end = None;
    for event in events {
        match event {
            Event::PaymentNoted { number, note } if *number == before.number => {
                payment.notes.push(note.clone());
            }
            Event::PaymentEnded { number, ending, at } if *number == before.number => {
                end = Some((*ending, *at));
            }
            _ => {}
        }
    }
    Some(render::transaction(&Transaction::ended(&deed.key, currency, &payment, end?)))
}
