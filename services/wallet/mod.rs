//! Operators' wallets over gRPC, for the tables' courier: `fulcrum.wallet.v1` with us as its client.
//!
//! A wallet is somebody else's program. What it says counts only if it speaks of the transaction that it was asked about;
//! everything else is no answer. A call has a deadline, and an answer a size, so that a wallet can cost its own operator's
//! players time, and nobody else anything.

mod asked;
mod endpoint;
mod reading;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use rules::payment::Purpose;
use tables::wallet::{Call, LONGEST_ERROR, Order, Reply, Wallet};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

use self::asked::Asked;
pub use self::endpoint::endpoint;
use crate::pb::wallet_v1 as wire;
use crate::telemetry::spans::Child;
use wire::operator_wallet_service_client::OperatorWalletServiceClient;

/// The largest answer that is read, in bytes. An honest one has a few hundred.
const LARGEST_ANSWER: usize = 64 * 1024;
/// The largest header or trailer block that is read, in bytes; a status and its text are in one.
const LARGEST_HEADERS: u32 = 16 * 1024;
const CONNECT: Duration = Duration::from_secs(2);

/// Where an operator's wallet is, and how the service shows who it is.
#[derive(Clone)]
pub struct WalletAddress {
    /// `http://host:port`, or `https://…`.
    pub url: String,
    /// The token that is sent along, if any.
    pub token: Option<String>,
    /// The certificates of the authority that has signed the wallet's, PEM; empty: those that the world trusts.
    pub authority: Option<String>,
    /// The longest that a call may take.
    pub deadline: Duration,
}

/// Without the token.
impl fmt::Debug for WalletAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WalletAddress").field("url", &self.url).finish_non_exhaustive()
    }
}

/// An operator's wallet.
pub struct GrpcWallet {
    client: OperatorWalletServiceClient<Channel>,
    token: Option<MetadataValue<Ascii>>,
    deadline: Duration,
}

impl GrpcWallet {
    /// The wallet at this address. It connects with its first call, and again when the connection is lost.
    ///
    /// # Errors
    /// A text that says what is wrong with the address, the token or the certificates.
    pub fn new(address: &WalletAddress) -> Result<GrpcWallet, String> {
        let wrong = |what: &str| format!("the wallet {}: {what}", address.url);
        let endpoint = endpoint(&address.url, address.authority.as_deref()).map_err(|why| wrong(&why))?;
        let channel = endpoint
            .connect_timeout(CONNECT)
            .tcp_nodelay(true)
            // A connection that nobody answers on any more is given up soon, for a new one.
            .http2_keep_alive_interval(Duration::from_secs(5))
            .keep_alive_timeout(Duration::from_secs(3))
            .keep_alive_while_idle(true)
            .http2_max_header_list_size(LARGEST_HEADERS)
            .connect_lazy();
        let token = address.token.as_deref().map(bearer).transpose();
        Ok(GrpcWallet {
            client: OperatorWalletServiceClient::new(channel).max_decoding_message_size(LARGEST_ANSWER),
            token: token.map_err(wrong)?,
            deadline: address.deadline,
        })
    }

    fn request<T>(&self, asked: &Child, message: T) -> Request<T> {
        let mut request = Request::new(message);
        // The courier has a deadline of its own; this one tells the wallet of it.
        request.set_timeout(self.deadline);
        if let Some(token) = &self.token {
            request.metadata_mut().insert("authorization", token.clone());
        }
        asked.send_along(request.metadata_mut());
        request
    }

    async fn transaction(
        &self,
        call: Call,
        order: &Order,
        asked: &Child,
    ) -> Result<Option<wire::Transaction>, Status> {
        let mut client = self.client.clone();
        Ok(match call {
            Call::Debit => client.debit(self.request(asked, debit(order))).await?.into_inner().transaction,
            Call::Credit => client.credit(self.request(asked, credit(order))).await?.into_inner().transaction,
            Call::Cancel => client.cancel(self.request(asked, cancel(order))).await?.into_inner().transaction,
            Call::Find => {
                client.get_transaction(self.request(asked, find(order))).await?.into_inner().transaction
            }
        })
    }
}

#[async_trait]
impl Wallet for GrpcWallet {
    async fn ask(&self, call: Call, order: &Order) -> Reply {
        let asked = Asked::now(call);
        let answer = asked.0.run(self.transaction(call, order, &asked.0)).await;
        let code = answer.as_ref().map_or_else(Status::code, |_| Code::Ok);
        let reply = match answer {
            Ok(Some(transaction)) => reading::reply(call, order, &transaction),
            Ok(None) => Reply::Unknown("an answer without a transaction".to_owned()),
            Err(status) if status.code() == Code::NotFound && call == Call::Find => Reply::Missing,
            Err(status) => Reply::Unknown(self.error(&status)),
        };
        asked.answered(code, &reply);
        reply
    }
}

impl GrpcWallet {
    /// The text of a status as it is kept: it comes from somebody else, and may say our token back to us.
    fn error(&self, status: &Status) -> String {
        let text: String = status.message().chars().filter(|c| !c.is_control()).collect();
        let token = self.token.as_ref().and_then(|bearer| bearer.to_str().ok()?.strip_prefix("Bearer "));
        let text = match token {
            Some(token) if text.contains(token) => "a text with the service's token in it",
            _ => &text,
        };
        let text: String = text.chars().take(100).collect();
        let mut text = format!("{:?}: {text}", status.code());
        while text.len() > LONGEST_ERROR {
            text.pop();
        }
        text
    }
}

fn bearer(token: &str) -> Result<MetadataValue<Ascii>, &'static str> {
    if token.is_empty() {
        return Err("its token file is empty");
    }
    let bearer = format!("Bearer {token}").parse();
    let mut bearer: MetadataValue<Ascii> =
        bearer.map_err(|_| "its token has characters that cannot be sent")?;
    // A log of headers does not show it then.
    bearer.set_sensitive(true);
    Ok(bearer)
}

fn purpose(purpose: Purpose) -> i32 {
    let purpose = match purpose {
        Purpose::BuyIn { .. } => wire::Purpose::BuyIn,
        Purpose::AddChips => wire::Purpose::AddChips,
        Purpose::CashOut => wire::Purpose::CashOut,
        Purpose::Returned => wire::Purpose::ReturnedChips,
    };
    purpose.into()
}

/// Chips are at most 10^15, and so is a stack of all of them that ever came to a table, as far as a ledger can count.
fn amount(order: &Order) -> i64 {
    i64::try_from(order.amount.0).unwrap_or(i64::MAX)
}

fn currency(order: &Order) -> String {
    String::from_utf8_lossy(&order.currency).into_owned()
}

/// What debits and credits say.
macro_rules! movement {
    ($message:ident, $order:expr) => {
        wire::$message {
            transaction_id: $order.id.to_string(),
            player_id: $order.player.to_string(),
            amount: amount($order),
            currency: currency($order),
            purpose: purpose($order.purpose),
            table_id: $order.key.table.to_string(),
            session: $order.session,
        }
    };
}

fn debit(order: &Order) -> wire::DebitRequest {
    movement!(DebitRequest, order)
}

fn credit(order: &Order) -> wire::CreditRequest {
    movement!(CreditRequest, order)
}

fn cancel(order: &Order) -> wire::CancelRequest {
    wire::CancelRequest {
        transaction_id: order.id.to_string(),
        player_id: order.player.to_string(),
        amount: amount(order),
        currency: currency(order),
    }
}

fn find(order: &Order) -> wire::GetTransactionRequest {
    wire::GetTransactionRequest { transaction_id: order.id.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn wallet(token: &str) -> Result<GrpcWallet, String> {
        GrpcWallet::new(&WalletAddress {
            url: "http://127.0.0.1:1".to_owned(),
            token: Some(token.to_owned()),
            authority: None,
            deadline: Duration::from_secs(1),
        })
    }

    #[tokio::test]
    async fn no_log_of_headers_shows_the_token() {
        let request = wallet(TOKEN).unwrap().request(&Child::default(), ());
        assert_eq!(request.metadata().get("authorization").unwrap(), &*format!("Bearer {TOKEN}"));
        let shown = format!("{request:?}");
        assert!(shown.contains("authorization") && !shown.contains(TOKEN), "{shown}");
    }

    #[tokio::test]
    async fn a_wallet_that_says_the_token_back_is_not_quoted() {
        let wallet = wallet(TOKEN).unwrap();
        let error = |text: &str| wallet.error(&Status::unavailable(text));
        assert_eq!(error("no\nroom"), "Unavailable: noroom");
        let hidden = "Unavailable: a text with the service's token in it";
        assert_eq!(error(&format!("who is {TOKEN}?")), hidden);
        assert_eq!(error("who is 01234567\u{7}89abcdef?"), hidden, "what is left out can hide nothing");
        assert!(error(&"ä".repeat(500)).len() <= LONGEST_ERROR);
    }

    #[tokio::test]
    async fn a_token_that_is_none_is_told_at_the_start() {
        for (bad, why) in [("", "empty"), ("a\nb", "cannot be sent")] {
            let error = wallet(bad).err().unwrap();
            assert!(error.contains(why), "{error}");
        }
    }
}
