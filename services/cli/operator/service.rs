//! The wallet's service: the contract's messages in, orders to the books, and their decisions out.

use std::sync::Arc;

use tonic::{Code, Request, Response, Status};
use uuid::Uuid;

use super::booking::{Account, Decision, Entry, Kind, Order, Reason, Refusal, State, reference};
use super::books::{Books, Fault};
use super::faults::{Call, Faults};
use super::line::Scissors;
use super::writer::{Broken, Writer};
use crate::pb::wallet_v1::operator_wallet_service_server::OperatorWalletService;
use crate::pb::wallet_v1::{
    CancelRequest, CancelResponse, CreditRequest, CreditResponse, DebitRequest, DebitResponse, DeclineReason,
    GetBalanceRequest, GetBalanceResponse, GetTransactionRequest, GetTransactionResponse, Purpose,
    Transaction, TransactionState,
};

/// The longest name of a player, table or currency that the books take.
const LONGEST_NAME: usize = 256;

/// The service.
pub struct Wallet {
    desk: Arc<Desk>,
    faults: Arc<Faults>,
}

struct Desk {
    books: Arc<Books>,
    writer: Arc<Writer>,
}

impl Wallet {
    /// A wallet with these books and faults.
    #[must_use]
    pub fn new(books: Arc<Books>, writer: Arc<Writer>, faults: Arc<Faults>) -> Wallet {
        Wallet { desk: Arc::new(Desk { books, writer }), faults }
    }

    /// Books an order, with what goes wrong on its way.
    async fn book(
        &self,
        call: Call,
        line: Option<Arc<Scissors>>,
        name: &str,
        order: Order,
    ) -> Result<Decision, Status> {
        let id = id(name)?;
        let order = sensible(order)?;
        let desk = Arc::clone(&self.desk);
        let work = move || {
            let (desk, order) = (Arc::clone(&desk), order.clone());
            async move { desk.writer.book(id, order).await.map_err(broken)?.map_err(refused) }
        };
        self.faults.through(call, line, work).await
    }
}

impl Desk {
    fn balance(&self, request: &GetBalanceRequest) -> Result<GetBalanceResponse, Status> {
        self.writer.check().map_err(broken)?;
        let account = self.books.account(&request.player_id, &request.currency).map_err(fault)?;
        let account = account.map_err(|reason| Status::not_found(no_account(reason)))?;
        Ok(GetBalanceResponse { currency: request.currency.clone(), balance: account.balance })
    }

    fn find(&self, name: &str, id: Uuid) -> Result<GetTransactionResponse, Status> {
        self.writer.check().map_err(broken)?;
        let entry = self.books.entry(id).map_err(fault)?;
        let entry =
            entry.ok_or_else(|| Status::not_found("the wallet has never heard of this transaction"))?;
        Ok(GetTransactionResponse { transaction: Some(transaction(name, &entry)) })
    }
}

#[tonic::async_trait]
impl OperatorWalletService for Wallet {
    async fn get_balance(
        &self,
        request: Request<GetBalanceRequest>,
    ) -> Result<Response<GetBalanceResponse>, Status> {
        let line = line(&request);
        let (desk, request) = (Arc::clone(&self.desk), request.into_inner());
        let work = move || std::future::ready(desk.balance(&request));
        self.faults.through(Call::Balance, line, work).await.map(Response::new)
    }

    async fn debit(&self, request: Request<DebitRequest>) -> Result<Response<DebitResponse>, Status> {
        let line = line(&request);
        let DebitRequest { transaction_id, player_id, amount, currency, purpose, table_id, session } =
            request.into_inner();
        let player = player_id;
        let order = Order { kind: Kind::Debit, player, currency, amount, purpose, table: table_id, session };
        let done = self.book(Call::Debit, line, &transaction_id, order).await?;
        let transaction = Some(debited(&transaction_id, &done.entry));
        Ok(Response::new(DebitResponse { transaction, balance: balance(done.account) }))
    }

    async fn credit(&self, request: Request<CreditRequest>) -> Result<Response<CreditResponse>, Status> {
        let line = line(&request);
        let CreditRequest { transaction_id, player_id, amount, currency, purpose, table_id, session } =
            request.into_inner();
        let player = player_id;
        let order = Order { kind: Kind::Credit, player, currency, amount, purpose, table: table_id, session };
        let done = self.book(Call::Credit, line, &transaction_id, order).await?;
        let transaction = Some(transaction(&transaction_id, &done.entry));
        Ok(Response::new(CreditResponse { transaction, balance: balance(done.account) }))
    }

    async fn cancel(&self, request: Request<CancelRequest>) -> Result<Response<CancelResponse>, Status> {
        let line = line(&request);
        let CancelRequest { transaction_id, player_id, amount, currency } = request.into_inner();
        let (kind, player) = (Kind::Cancel, player_id);
        let order = Order { kind, player, currency, amount, purpose: 0, table: String::new(), session: 0 };
        let done = self.book(Call::Cancel, line, &transaction_id, order).await?;
        let refunded = done.entry.state == State::Cancelled { refunded: true };
        Ok(Response::new(CancelResponse {
            transaction: Some(transaction(&transaction_id, &done.entry)),
            refunded,
        }))
    }

    async fn get_transaction(
        &self,
        request: Request<GetTransactionRequest>,
    ) -> Result<Response<GetTransactionResponse>, Status> {
        let line = line(&request);
        let (desk, name) = (Arc::clone(&self.desk), request.into_inner().transaction_id);
        let id = id(&name)?;
        let work = move || std::future::ready(desk.find(&name, id));
        self.faults.through(Call::Find, line, work).await.map(Response::new)
    }
}

/// What cuts the connection of this request.
fn line<T>(request: &Request<T>) -> Option<Arc<Scissors>> {
    request.extensions().get::<Arc<Scissors>>().cloned()
}

fn id(name: &str) -> Result<Uuid, Status> {
    Uuid::try_parse(name).map_err(|_| Status::invalid_argument("transaction_id is no UUID"))
}

/// What cannot be booked at all is no transaction, and is not remembered.
fn sensible(order: Order) -> Result<Order, Status> {
    if order.amount < 1 {
        return Err(Status::invalid_argument("amount is less than 1"));
    }
    let names = [("player_id", &order.player), ("currency", &order.currency), ("table_id", &order.table)];
    if let Some((field, _)) = names.iter().find(|(_, text)| text.len() > LONGEST_NAME) {
        return Err(Status::invalid_argument(format!("{field} is longer than {LONGEST_NAME} bytes")));
    }
    if order.player.is_empty() {
        return Err(Status::invalid_argument("player_id is empty"));
    }
    Ok(order)
}

fn balance(account: Option<Account>) -> i64 {
    account.map_or(0, |account| account.balance)
}

/// The transaction as a debit's answer has it: declined once it is cancelled, so that nobody takes it for booked.
fn debited(name: &str, entry: &Entry) -> Transaction {
    let mut told = transaction(name, entry);
    if let State::Cancelled { .. } = entry.state {
        told.set_state(TransactionState::Declined);
        told.set_decline_reason(DeclineReason::Cancelled);
    }
    told
}

/// The transaction, under the name that the request had for it.
fn transaction(name: &str, entry: &Entry) -> Transaction {
    let (state, reason) = match entry.state {
        State::Booked => (TransactionState::Booked, DeclineReason::Unspecified),
        State::Declined(reason) => (TransactionState::Declined, declined(reason)),
        State::Cancelled { .. } => (TransactionState::Cancelled, DeclineReason::Unspecified),
    };
    let purpose =
        if entry.order.kind == Kind::Cancel { Purpose::Unspecified.into() } else { entry.order.purpose };
    Transaction {
        transaction_id: name.to_owned(),
        state: state.into(),
        decline_reason: reason.into(),
        player_id: entry.order.player.clone(),
        amount: entry.order.amount,
        currency: entry.order.currency.clone(),
        purpose,
        reference: reference(entry.number),
    }
}

fn declined(reason: Reason) -> DeclineReason {
    match reason {
        Reason::InsufficientFunds => DeclineReason::InsufficientFunds,
        Reason::PlayerUnknown => DeclineReason::PlayerUnknown,
        Reason::CurrencyUnknown => DeclineReason::CurrencyUnknown,
    }
}

fn no_account(reason: Reason) -> &'static str {
    match reason {
        Reason::CurrencyUnknown => "the player has no account in this currency",
        _ => "the wallet knows no such player",
    }
}

fn refused(refusal: Refusal) -> Status {
    match refusal {
        Refusal::Reused => Status::new(Code::AlreadyExists, "this transaction is known with other content"),
        Refusal::Overflow => Status::new(Code::OutOfRange, "the books cannot hold such a sum"),
        Refusal::NoAccount(reason) => Status::new(Code::FailedPrecondition, no_account(reason)),
    }
}

/// The cause is for the wallet's own log.
fn fault(fault: Fault) -> Status {
    tracing::error!(%fault, "the books cannot be read");
    Status::internal("the books cannot be read")
}

fn broken(_: Broken) -> Status {
    Status::internal("the books cannot be written")
}
