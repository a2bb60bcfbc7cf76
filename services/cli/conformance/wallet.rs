//! The wallet under test: calls over several connections, and what it answered in words.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tonic::{Code, Response, Status};

use crate::cli::client::{Connection, connect, is_transient, timed};
use crate::cli::failure::Failure;
use crate::pb::wallet_v1::operator_wallet_service_client::OperatorWalletServiceClient;
use crate::pb::wallet_v1::{
    CancelRequest, CreditRequest, DebitRequest, DeclineReason, GetBalanceRequest, GetTransactionRequest,
    Transaction, TransactionState,
};
use crate::wallet::endpoint;

/// So many connections, over which the calls go in turn.
const CONNECTIONS: usize = 4;
/// A call without a definite answer is repeated so often, as the service would.
const TRIES: u32 = 6;
/// The first pause before that; each is twice as long as the one before.
const PAUSE: Duration = Duration::from_millis(50);

type Client = OperatorWalletServiceClient<Connection>;

/// A wallet.
pub struct Wallet {
    clients: Vec<Client>,
    next: AtomicUsize,
    address: String,
}

/// An answer about a transaction.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// Empty if the wallet sent none.
    pub transaction: Transaction,
    /// Of a debit or credit.
    pub balance: i64,
    /// Of a cancel.
    pub refunded: bool,
}

/// What a call came to.
pub type Told = Result<Answer, Status>;

impl Wallet {
    /// The wallet at this address: `http://host:port`, `host:port`, or `https://host:port` with a certificate that this
    /// authority (PEM) has signed, or one that the world trusts.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the address is none, or the token or the certificates cannot be used.
    pub fn new(address: &str, token: Option<&str>, authority: Option<&str>) -> Result<Wallet, Failure> {
        let address = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
        let bad = |why| Failure::Usage(format!("{address:?} is no address of a wallet: {why}"));
        let endpoint = endpoint(&address, authority).map_err(bad)?;
        let mut clients = Vec::with_capacity(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            clients.push(OperatorWalletServiceClient::new(connect(endpoint.clone(), token)?));
        }
        Ok(Wallet { clients, next: AtomicUsize::new(0), address })
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What the player has, and the currency that the answer names.
    ///
    /// # Errors
    /// The wallet's status.
    pub async fn balance(&self, player: &str, currency: &str) -> Result<(i64, String), Status> {
        let request = GetBalanceRequest { player_id: player.to_owned(), currency: currency.to_owned() };
        let answer = self.ask(async |mut client| client.get_balance(timed(request.clone())).await).await?;
        Ok((answer.balance, answer.currency))
    }

    /// Debits.
    ///
    /// # Errors
    /// The wallet's status, as of the calls below.
    pub async fn debit(&self, request: &DebitRequest) -> Told {
        let answer = self.ask(async |mut client| client.debit(timed(request.clone())).await).await?;
        Ok(Answer {
            transaction: answer.transaction.unwrap_or_default(),
            balance: answer.balance,
            refunded: false,
        })
    }

    /// Credits.
    pub async fn credit(&self, request: &CreditRequest) -> Told {
        let answer = self.ask(async |mut client| client.credit(timed(request.clone())).await).await?;
        Ok(Answer {
            transaction: answer.transaction.unwrap_or_default(),
            balance: answer.balance,
            refunded: false,
        })
    }

    /// Cancels.
    pub async fn cancel(&self, request: &CancelRequest) -> Told {
        let answer = self.ask(async |mut client| client.cancel(timed(request.clone())).await).await?;
        let transaction = answer.transaction.unwrap_or_default();
        Ok(Answer { transaction, balance: 0, refunded: answer.refunded })
    }

    /// Asks what became of a transaction.
    pub async fn find(&self, id: &str) -> Told {
        let request = GetTransactionRequest { transaction_id: id.to_owned() };
        let answer =
            self.ask(async |mut client| client.get_transaction(timed(request.clone())).await).await?;
        Ok(Answer { transaction: answer.transaction.unwrap_or_default(), balance: 0, refunded: false })
    }

    /// Calls at the next connection, and again while the outcome is not known.
    async fn ask<T>(&self, call: impl AsyncFn(Client) -> Result<Response<T>, Status>) -> Result<T, Status> {
        let mut pause = PAUSE;
        for left in (0..TRIES).rev() {
            let next = self.next.fetch_add(1, Ordering::Relaxed) % self.clients.len();
            match call(self.clients[next].clone()).await {
                Ok(response) => return Ok(response.into_inner()),
                Err(status) if left > 0 && unknown(&status) => {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                Err(status) => return Err(status),
            }
        }
        Err(Status::unknown("no answer"))
    }
}

/// Whether nobody knows what the call came to.
fn unknown(status: &Status) -> bool {
    is_transient(status) || matches!(status.code(), Code::Aborted | Code::ResourceExhausted)
}

/// What was answered, in words.
#[must_use]
pub fn words(told: &Told) -> String {
    match told {
        Ok(answer) => outcome(&answer.transaction),
        Err(status) if status.message().is_empty() => format!("the status {}", name(status.code())),
        Err(status) => format!("the status {} ({})", name(status.code()), status.message()),
    }
}

/// A transaction's state, in words.
#[must_use]
pub fn outcome(transaction: &Transaction) -> String {
    let state = short(transaction.state().as_str_name(), "TRANSACTION_STATE_");
    match (transaction.state(), transaction.decline_reason()) {
        (TransactionState::Unspecified, _) if *transaction == Transaction::default() => {
            "no transaction".to_owned()
        }
        (_, DeclineReason::Unspecified) => state,
        (_, reason) => format!("{state} {}", short(reason.as_str_name(), "DECLINE_REASON_")),
    }
}

fn short(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_owned()
}

/// A status code as the contract writes it: `ALREADY_EXISTS`.
#[must_use]
pub fn name(code: Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_as_the_contract_writes_them() {
        assert_eq!(words(&Err(Status::already_exists("known"))), "the status ALREADY_EXISTS (known)");
        assert_eq!(name(Code::NotFound), "NOT_FOUND");
        let mut transaction = Transaction::default();
        assert_eq!(outcome(&transaction), "no transaction");
        transaction.set_state(TransactionState::Declined);
        transaction.set_decline_reason(DeclineReason::InsufficientFunds);
        assert_eq!(outcome(&transaction), "DECLINED INSUFFICIENT_FUNDS");
    }
}
