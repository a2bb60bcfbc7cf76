//! What the tables ask of operators' wallets, whoever carries the calls.

use async_trait::async_trait;
use rules::payment::{Decline, Payment, Purpose};
use rules::player::PlayerId;
use rules::{Chips, Table};
use uuid::Uuid;

use crate::ids::{NAMESPACE, RequestId, TableKey};

/// What is asked of a wallet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Call {
    /// To book a debit.
    Debit,
    /// To book a credit.
    Credit,
    /// To cancel a debit.
    Cancel,
    /// What became of a transaction.
    Find,
}

/// A payment as a wallet is told of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// The table.
    pub key: TableKey,
    /// The transaction's id.
    pub id: Uuid,
    /// What for.
    pub purpose: Purpose,
    /// Whose money.
    pub player: PlayerId,
    /// His session at the table.
    pub session: u64,
    /// How much, in minor units.
    pub amount: Chips,
    /// In which currency, ISO 4217.
    pub currency: [u8; 3],
}

/// What a wallet says.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reply {
    /// It has booked the transaction.
    Booked,
    /// It has declined the debit.
    Declined(Decline),
    /// The debit is cancelled.
    Cancelled,
    /// It has never heard of the transaction.
    Missing,
    /// Nothing that could be made use of: no answer in time, an error, or an answer to something else. The text is for
    /// people, at most [`LONGEST_ERROR`] bytes.
    Unknown(String),
}

/// So long is the text of an error at most, in bytes.
pub const LONGEST_ERROR: usize = 200;

/// An operator's wallet. Whatever it does, a call ends within a few seconds, and costs a bounded amount of memory.
#[async_trait]
pub trait Wallet: Send + Sync + 'static {
    /// Asks it.
    async fn ask(&self, call: Call, order: &Order) -> Reply;
}

/// The id of the debit that this request would begin at the table now. The table's own numbers are in it, so that a request
/// which comes again when it is not remembered any more is another debit; and the request, so that a number which comes again
/// after a loss that nobody has noticed is another one, too.
pub(crate) fn debit_id(key: &TableKey, table: &Table, request: &RequestId) -> Uuid {
    let epoch = table.lost.map_or(0, |lost| lost.until);
    debit(key, epoch, table.payments_begun + 1, request)
}

fn debit(key: &TableKey, epoch: u64, number: u64, request: &RequestId) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("{key}/debit/{epoch}/{number}/{request}").as_bytes())
}

/// The id of a payment at the wallet, for ever the same. That of a credit has the time in it when it began, for the same
/// reason as a debit's has the request.
#[must_use]
pub fn payment_id(key: &TableKey, payment: &Payment) -> Uuid {
    let Payment { epoch, number, begun, .. } = payment;
    if let Some(request) = &payment.request {
        return debit(key, *epoch, *number, &RequestId(Uuid::from_bytes(request.id)));
    }
    Uuid::new_v5(&NAMESPACE, format!("{key}/credit/{epoch}/{number}/{}", begun.0).as_bytes())
}

impl Order {
    /// A payment of a table with this currency.
    #[must_use]
    pub fn of(key: &TableKey, payment: &Payment, currency: [u8; 3]) -> Order {
        Order {
            key: key.clone(),
            id: payment_id(key, payment),
            purpose: payment.purpose,
            player: payment.player.clone(),
            session: payment.session,
            amount: payment.amount,
            currency,
        }
    }
}
