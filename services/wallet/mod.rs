//! Operators' wallets over gRPC, for the tables' courier: `fulcrum.wallet.v1` with us as its client.
//!
//! A wallet is somebody else's program. What it says counts only if it speaks of the transaction that it was asked about;
//! everything else is no answer. A call has a deadline, and an answer a size, so that a wallet can cost its own operator's
//! players time, and nobody else anything.

mod reading;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use rules::payment::Purpose;
use tables::wallet::{Call, LONGEST_ERROR, Order, Reply, Wallet};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status};

use crate::pb::wallet_v1 as wire;
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
        let mut endpoint = Endpoint::from_shared(address.url.clone())
            .map_err(|_| wrong("no address; give http://host:port or https://host:port"))?;
        if endpoint.uri().host().is_none() {
            return Err(wrong("an address is http://host:port or https://host:port"));
        }
        if endpoint.uri().scheme_str() == Some("https") {
            let mut tls = ClientTlsConfig::new();
            tls = match &address.authority {
                Some(pem) => tls.ca_certificate(Certificate::from_pem(pem)),
                None => tls.with_webpki_roots(),
            };
            endpoint = endpoint.tls_config(tls).map_err(|error| wrong(&error.to_string()))?;
        }
        let channel = endpoint
            .connect_timeout(CONNECT)
            .tcp_nodelay(true)
            // A connection that nobody answers on any more is given up soon, for a new one.
            .http2_keep_alive_interval(Duration::from_secs(5))
            .keep_alive_timeout(Duration::from_secs(3))
            .keep_alive_while_idle(true)
            .http2_max_header_list_size(LARGEST_HEADERS)
            .connect_lazy();
        let token = address.token.as_ref().map(|token| {
            let bearer = format!("Bearer {token}");
            bearer.parse().map_err(|_| wrong("its token has characters that cannot be sent"))
        });
        Ok(GrpcWallet {
            client: OperatorWalletServiceClient::new(channel).max_decoding_message_size(LARGEST_ANSWER),
            token: token.transpose()?,
            deadline: address.deadline,
        })
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        // The courier has a deadline of its own; this one tells the wallet of it.
        request.set_timeout(self.deadline);
        if let Some(token) = &self.token {
            request.metadata_mut().insert("authorization", token.clone());
        }
        request
    }

    async fn transaction(&self, call: Call, order: &Order) -> Result<Option<wire::Transaction>, Status> {
        let mut client = self.client.clone();
        Ok(match call {
            Call::Debit => client.debit(self.request(debit(order))).await?.into_inner().transaction,
            Call::Credit => client.credit(self.request(credit(order))).await?.into_inner().transaction,
            Call::Cancel => client.cancel(self.request(cancel(order))).await?.into_inner().transaction,
            Call::Find => client.get_transaction(self.request(find(order))).await?.into_inner().transaction,
        })
    }
}

#[async_trait]
impl Wallet for GrpcWallet {
    async fn ask(&self, call: Call, order: &Order) -> Reply {
        match self.transaction(call, order).await {
            Ok(Some(transaction)) => reading::reply(call, order, &transaction),
            Ok(None) => Reply::Unknown("an answer without a transaction".to_owned()),
            Err(status) if status.code() == Code::NotFound && call == Call::Find => Reply::Missing,
            Err(status) => Reply::Unknown(self.error(&status)),
        }
    }
}

impl GrpcWallet {
    /// The text of a status as it is kept, and without our token if the wallet says that back to us.
    fn error(&self, status: &Status) -> String {
        let token = self.token.as_ref().and_then(|bearer| bearer.to_str().ok()?.strip_prefix("Bearer "));
        match token {
            Some(token) if !token.is_empty() && status.message().contains(token) => {
                format!("{:?}: a text with the service's token in it", status.code())
            }
            _ => error(status),
        }
    }
}

/// The text of a status, cut to what is kept of it: it comes from somebody else.
fn error(status: &Status) -> String {
    let text: String = status.message().chars().filter(|c| !c.is_control()).take(100).collect();
    let mut text = format!("{:?}: {text}", status.code());
    while text.len() > LONGEST_ERROR {
        text.pop();
    }
    text
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

fn debit(order: &Order) -> wire::DebitRequest {
    wire::DebitRequest {
        transaction_id: order.id.to_string(),
        player_id: order.player.to_string(),
        amount: amount(order),
        currency: currency(order),
        purpose: purpose(order.purpose),
        table_id: order.key.table.to_string(),
        session: order.session,
    }
}

fn credit(order: &Order) -> wire::CreditRequest {
    wire::CreditRequest {
        transaction_id: order.id.to_string(),
        player_id: order.player.to_string(),
        amount: amount(order),
        currency: currency(order),
        purpose: purpose(order.purpose),
        table_id: order.key.table.to_string(),
        session: order.session,
    }
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
