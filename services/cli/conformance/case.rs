//! What a check works with: orders for the player under test, and the questions that all checks ask of answers.

use tonic::Code;
use uuid::Uuid;

use super::wallet::{Answer, Told, Wallet, name, words};
use crate::pb::wallet_v1::{
    CancelRequest, CreditRequest, DebitRequest, DeclineReason, Purpose, TransactionState,
};

/// What was seen: as it should be, or not.
pub type Seen = Result<String, String>;

/// The wallet and the player that it is tested with. Whoever runs the checks sees to it that the player has at least
/// [`FLOAT`] before each of them, and gets back what a check has moved.
pub struct Case<'a> {
    /// The wallet.
    pub wallet: &'a Wallet,
    /// The player.
    pub player: &'a str,
    /// The currency, ISO 4217.
    pub currency: &'a str,
}

/// What the player has at least before each check, in minor units.
pub const FLOAT: i64 = 1000;

/// What one id stands for: a debit with its cancel, or a credit.
#[derive(Clone)]
pub struct Order {
    /// The id.
    pub id: String,
    /// The player.
    pub player: String,
    /// Minor units.
    pub amount: i64,
    /// ISO 4217.
    pub currency: String,
    /// The table, which the wallet has never heard of.
    pub table: String,
    /// The player's stay there.
    pub session: u64,
}

impl Case<'_> {
    /// A new order.
    #[must_use]
    pub fn order(&self, amount: i64) -> Order {
        Order {
            id: Uuid::new_v4().to_string(),
            player: self.player.to_owned(),
            amount,
            currency: self.currency.to_owned(),
            table: Uuid::new_v4().to_string(),
            session: 1,
        }
    }

    /// The player's balance.
    ///
    /// # Errors
    /// What was answered instead.
    pub async fn balance(&self) -> Result<i64, String> {
        let told = self.wallet.balance(self.player, self.currency).await;
        told.map(|(balance, _)| balance)
            .map_err(|status| format!("GetBalance was answered with {}", words(&Err(status))))
    }

    /// Debits.
    pub async fn debit(&self, order: &Order) -> Told {
        self.wallet.debit(&order.debit()).await
    }

    /// Credits.
    pub async fn credit(&self, order: &Order) -> Told {
        self.wallet.credit(&order.credit()).await
    }

    /// Cancels.
    pub async fn cancel(&self, order: &Order) -> Told {
        self.wallet.cancel(&order.cancel()).await
    }

    /// Asks what became of it.
    pub async fn find(&self, order: &Order) -> Told {
        self.wallet.find(&order.id).await
    }

    /// The balance has changed by so much.
    ///
    /// # Errors
    /// By how much it has.
    pub async fn moved(&self, before: i64, by: i64) -> Result<(), String> {
        let after = self.balance().await?;
        if i128::from(after) == i128::from(before) + i128::from(by) {
            return Ok(());
        }
        Err(format!("the balance went from {before} to {after}; it should have changed by {by}"))
    }
}

impl Order {
    /// As a debit.
    #[must_use]
    pub fn debit(&self) -> DebitRequest {
        let Order { id, player, amount, currency, table, session } = self.clone();
        DebitRequest {
            transaction_id: id,
            player_id: player,
            amount,
            currency,
            purpose: Purpose::BuyIn.into(),
            table_id: table,
            session,
        }
    }

    /// As a credit.
    #[must_use]
    pub fn credit(&self) -> CreditRequest {
        let Order { id, player, amount, currency, table, session } = self.clone();
        CreditRequest {
            transaction_id: id,
            player_id: player,
            amount,
            currency,
            purpose: Purpose::CashOut.into(),
            table_id: table,
            session,
        }
    }

    /// As the cancel of the debit.
    #[must_use]
    pub fn cancel(&self) -> CancelRequest {
        let Order { id, player, amount, currency, .. } = self.clone();
        CancelRequest { transaction_id: id, player_id: player, amount, currency }
    }
}

/// The transaction is booked.
///
/// # Errors
/// What was answered instead; so do all below.
pub fn booked(what: &str, told: &Told) -> Result<(), String> {
    is(what, told, TransactionState::Booked)
}

/// The transaction is cancelled.
pub fn cancelled(what: &str, told: &Told) -> Result<(), String> {
    is(what, told, TransactionState::Cancelled)
}

/// The transaction is declined, for this reason or without one: a wallet need not say.
pub fn declined(what: &str, told: &Told, reason: DeclineReason) -> Result<(), String> {
    is(what, told, TransactionState::Declined)?;
    let found = told.as_ref().map(|answer| answer.transaction.decline_reason()).unwrap_or_default();
    if found == reason || found == DeclineReason::Unspecified {
        return Ok(());
    }
    Err(format!("{what} was declined with the reason {}, not {}", found.as_str_name(), reason.as_str_name()))
}

/// It has this state.
pub fn is(what: &str, told: &Told, state: TransactionState) -> Result<(), String> {
    match told {
        Ok(answer) if answer.transaction.state() == state => Ok(()),
        _ => Err(format!("{what} was answered with {}", words(told))),
    }
}

/// It is refused with this status.
pub fn refused(what: &str, told: &Told, code: Code) -> Result<(), String> {
    match told {
        Err(status) if status.code() == code => Ok(()),
        _ => Err(format!("{what} was answered with {}, not the status {}", words(told), name(code))),
    }
}

/// Money went back with this cancel or an earlier one, or not.
pub fn refunded(what: &str, told: &Told, wanted: bool) -> Result<(), String> {
    match told {
        Ok(Answer { refunded, .. }) if *refunded == wanted => Ok(()),
        Ok(Answer { refunded, .. }) => Err(format!("{what} was answered with refunded = {refunded}")),
        Err(_) => Err(format!("{what} was answered with {}", words(told))),
    }
}

/// All answers say the same of the transaction.
pub fn alike(what: &str, told: &[Told]) -> Result<(), String> {
    let mut all = Vec::new();
    for told in told {
        match told {
            Ok(answer) => all.push(&answer.transaction),
            Err(_) => return Err(format!("{what} was answered with {}", words(told))),
        }
    }
    match all.iter().find(|other| **other != all[0]) {
        None => Ok(()),
        Some(other) => Err(format!("{what} got different answers: {:?} and {other:?}", all[0])),
    }
}
