//! An operator's wallet of the test: the contract, kept by the book, with a script that says what goes wrong in which call.
//! It shares no code with the service nor with the reference operator.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fulcrum::pb::wallet_v1 as wire;
use fulcrum::wallet::{GrpcWallet, WalletAddress};
use tables::wallet::Wallet;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use wire::operator_wallet_service_server::{OperatorWalletService, OperatorWalletServiceServer};

use crate::harness::in_time;

/// What every player has at first.
pub const OPENING: i64 = 100_000;
/// The token that the wallet wants to see.
pub const TOKEN: &str = "wallet-token-0123456789abcdef";

/// The calls of the contract that move money or ask about it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Method {
    Debit,
    Credit,
    Cancel,
    Find,
}

/// A call as it comes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    pub method: Method,
    pub id: String,
    /// Empty of [`Method::Find`].
    pub player: String,
    pub amount: i64,
    /// How many calls of this method came before.
    pub before: usize,
}

/// Changes an answer on its way out.
pub type Twist = fn(&mut wire::Transaction);

/// What the wallet does with a call.
#[derive(Clone)]
pub enum Act {
    /// As the contract says.
    Honest,
    /// The same, but a while later; the booking is done even if nobody waits for it any more.
    Late(Duration),
    /// The same, as soon as there is a permit; as long as the caller waits.
    When(Arc<Semaphore>),
    /// Nothing, and no answer.
    Hang,
    /// Nothing but this status.
    Fail(Status),
    /// Books, and does not answer.
    BookAndHang,
    /// Books, and says this.
    BookAndFail(Status),
    /// Books, and answers something else.
    BookAndSay(Twist),
    /// Does nothing, and answers something else.
    Say(Twist),
}

type Script = Box<dyn Fn(&Asked) -> Act + Send>;

/// The wallet.
#[derive(Clone)]
pub struct Bank {
    pub address: SocketAddr,
    desk: Arc<Desk>,
    server: Arc<Mutex<Option<Serving>>>,
}

/// A server on a thread of its own: what the service does is not to keep a wallet waiting, nor the other way round. With it
/// its connections end.
struct Serving(Option<Runtime>);

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

struct Desk {
    books: Mutex<Books>,
    script: Mutex<Script>,
}

#[derive(Default)]
struct Books {
    balances: HashMap<String, i64>,
    entries: HashMap<String, Entry>,
    calls: Vec<Asked>,
    /// Where in his trace the caller was, of each call; empty if he did not say.
    parents: Vec<String>,
    /// Bookings: of debits, of credits, and of cancels that gave something back.
    moved: [usize; 3],
}

#[derive(Clone)]
struct Entry {
    method: Method,
    transaction: wire::Transaction,
}

impl Bank {
    /// An honest one.
    pub async fn open() -> Bank {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let desk = Desk { books: Mutex::default(), script: Mutex::new(Box::new(|_| Act::Honest)) };
        let bank = Bank { address, desk: Arc::new(desk), server: Arc::default() };
        bank.serve(listener);
        bank
    }

    fn serve(&self, listener: TcpListener) {
        let service = OperatorWalletServiceServer::new(Counter(Arc::clone(&self.desk)));
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        listener.set_nonblocking(true).expect("a socket that does not block");
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
            let router = Server::builder().add_service(service);
            router.serve_with_incoming(incoming).await.expect("the wallet serves");
        });
        *self.server.lock().unwrap() = Some(Serving(Some(runtime)));
    }

    /// Goes away, with all connections; the books stay.
    pub fn close(&self) {
        self.server.lock().unwrap().take().expect("it serves");
    }

    /// Comes back at the same address.
    pub async fn reopen(&self) {
        let bind = async {
            loop {
                match TcpListener::bind(self.address) {
                    Ok(listener) => break listener,
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        };
        self.serve(in_time(bind).await);
    }

    /// Does from now on what this says.
    pub fn play(&self, script: impl Fn(&Asked) -> Act + Send + 'static) {
        *self.desk.script.lock().unwrap() = Box::new(script);
    }

    /// Does from now on what this says in calls of one method, and is honest in others.
    pub fn play_in(&self, method: Method, script: impl Fn(&Asked) -> Act + Send + 'static) {
        self.play(move |asked| if asked.method == method { script(asked) } else { Act::Honest });
    }

    /// Is honest again.
    pub fn honest(&self) {
        self.play(|_| Act::Honest);
    }

    /// What a player has.
    pub fn balance(&self, player: &str) -> i64 {
        self.desk.books.lock().unwrap().balances.get(player).copied().unwrap_or(OPENING)
    }

    /// Gives a player this balance.
    pub fn set_balance(&self, player: &str, balance: i64) {
        self.desk.books.lock().unwrap().balances.insert(player.to_owned(), balance);
    }

    /// Every call of a method so far.
    pub fn calls(&self, method: Method) -> Vec<Asked> {
        let books = self.desk.books.lock().unwrap();
        books.calls.iter().filter(|asked| asked.method == method).cloned().collect()
    }

    /// How many debits were booked, how many credits, and how many debits were given back.
    pub fn moved(&self) -> [usize; 3] {
        self.desk.books.lock().unwrap().moved
    }

    /// Waits until so many calls of a method have come.
    pub async fn asked(&self, method: Method, count: usize) {
        self.until(|bank| bank.calls(method).len() >= count).await;
    }

    /// What each call said of the trace that it belongs to.
    pub fn parents(&self) -> Vec<String> {
        self.desk.books.lock().unwrap().parents.clone()
    }

    /// Waits until this holds.
    pub async fn until(&self, holds: impl Fn(&Bank) -> bool) {
        let wait = async {
            while !holds(self) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        in_time(wait).await;
    }

    /// The service's client of it.
    pub fn client(&self, deadline: Duration) -> Arc<dyn Wallet> {
        client_of(&format!("http://{}", self.address), deadline)
    }
}

/// The service's client of a wallet at this address.
pub fn client_of(url: &str, deadline: Duration) -> Arc<dyn Wallet> {
    let token = Some(TOKEN.to_owned());
    let address = WalletAddress { url: url.to_owned(), token, authority: None, deadline };
    Arc::new(GrpcWallet::new(&address).expect("an address"))
}

impl Books {
    fn note(&mut self, method: Method, id: &str, player: &str, amount: i64) -> Asked {
        let before = self.calls.iter().filter(|asked| asked.method == method).count();
        let asked = Asked { method, id: id.to_owned(), player: player.to_owned(), amount, before };
        self.calls.push(asked.clone());
        asked
    }

    fn book(&mut self, method: Method, wanted: wire::Transaction) -> Result<wire::Transaction, Status> {
        let id = wanted.transaction_id.clone();
        if method == Method::Find {
            let found = self.entries.get(&id).ok_or_else(|| Status::not_found("no such transaction"))?;
            return Ok(found.transaction.clone());
        }
        if let Some(entry) = self.entries.get(&id).cloned() {
            return self.again(method, &wanted, entry);
        }
        let balance = self.balances.entry(wanted.player_id.clone()).or_insert(OPENING);
        let mut booked = wanted;
        match method {
            Method::Debit if *balance < booked.amount => {
                booked.set_state(wire::TransactionState::Declined);
                booked.set_decline_reason(wire::DeclineReason::InsufficientFunds);
            }
            Method::Debit => {
                *balance -= booked.amount;
                self.moved[0] += 1;
            }
            Method::Credit => {
                *balance += booked.amount;
                self.moved[1] += 1;
            }
            Method::Cancel | Method::Find => booked.set_state(wire::TransactionState::Cancelled),
        }
        self.entries.insert(id, Entry { method, transaction: booked.clone() });
        Ok(booked)
    }

    /// A call for a transaction that is known.
    fn again(
        &mut self,
        method: Method,
        wanted: &wire::Transaction,
        entry: Entry,
    ) -> Result<wire::Transaction, Status> {
        let Entry { method: first, mut transaction } = entry;
        let content = |t: &wire::Transaction| (t.player_id.clone(), t.amount, t.currency.clone());
        if content(wanted) != content(&transaction) {
            return Err(Status::already_exists("this transaction is known with other content"));
        }
        match (first, method) {
            (Method::Debit, Method::Cancel) if transaction.state() == wire::TransactionState::Booked => {
                *self.balances.entry(transaction.player_id.clone()).or_insert(OPENING) += transaction.amount;
                self.moved[2] += 1;
                transaction.set_state(wire::TransactionState::Cancelled);
                let entry = Entry { method: first, transaction: transaction.clone() };
                self.entries.insert(wanted.transaction_id.clone(), entry);
            }
            (Method::Debit | Method::Cancel, Method::Debit)
                if transaction.state() == wire::TransactionState::Cancelled =>
            {
                transaction.set_state(wire::TransactionState::Declined);
                transaction.set_decline_reason(wire::DeclineReason::Cancelled);
                transaction.purpose = wanted.purpose;
            }
            (Method::Debit, Method::Debit | Method::Cancel)
            | (Method::Credit, Method::Credit)
            | (Method::Cancel, Method::Cancel) => {}
            _ => return Err(Status::already_exists("this transaction is of another kind")),
        }
        Ok(transaction)
    }
}

impl Desk {
    async fn answer(
        self: Arc<Self>,
        method: Method,
        wanted: wire::Transaction,
    ) -> Result<(wire::Transaction, i64), Status> {
        let act = {
            let asked = {
                let mut books = self.books.lock().unwrap();
                books.note(method, &wanted.transaction_id, &wanted.player_id, wanted.amount)
            };
            (self.script.lock().unwrap())(&asked)
        };
        let book = || self.books.lock().unwrap().book(method, wanted.clone());
        let told = match act {
            Act::Honest => book(),
            Act::Late(pause) => {
                let (desk, wanted) = (Arc::clone(&self), wanted.clone());
                let booking = tokio::spawn(async move {
                    tokio::time::sleep(pause).await;
                    desk.books.lock().unwrap().book(method, wanted)
                });
                booking.await.expect("no panic")
            }
            Act::When(gate) => {
                gate.acquire().await.expect("an open gate").forget();
                book()
            }
            Act::Hang => std::future::pending().await,
            Act::Fail(status) => Err(status),
            Act::BookAndHang => {
                book()?;
                std::future::pending().await
            }
            Act::BookAndFail(status) => {
                book()?;
                Err(status)
            }
            Act::BookAndSay(twist) => book().map(|booked| twisted(booked, twist)),
            Act::Say(twist) => Ok(twisted(wanted.clone(), twist)),
        };
        let balance = self.books.lock().unwrap().balances.get(&wanted.player_id).copied();
        told.map(|told| (told, balance.unwrap_or(OPENING)))
    }
}

fn twisted(mut transaction: wire::Transaction, twist: Twist) -> wire::Transaction {
    twist(&mut transaction);
    transaction
}

/// Where the calls come in.
struct Counter(Arc<Desk>);

impl Counter {
    async fn serve<T>(
        &self,
        method: Method,
        request: Request<T>,
        wanted: impl FnOnce(T) -> wire::Transaction,
    ) -> Result<(wire::Transaction, i64), Status> {
        let token = request.metadata().get("authorization").and_then(|token| token.to_str().ok());
        if token != Some(&format!("Bearer {TOKEN}")) {
            return Err(Status::unauthenticated("who is this?"));
        }
        let parent = request.metadata().get("traceparent").and_then(|parent| parent.to_str().ok());
        self.0.books.lock().unwrap().parents.push(parent.unwrap_or_default().to_owned());
        let mut wanted = wanted(request.into_inner());
        wanted.set_state(wire::TransactionState::Booked);
        Arc::clone(&self.0).answer(method, wanted).await
    }
}

#[tonic::async_trait]
impl OperatorWalletService for Counter {
    async fn get_balance(
        &self,
        request: Request<wire::GetBalanceRequest>,
    ) -> Result<Response<wire::GetBalanceResponse>, Status> {
        let wire::GetBalanceRequest { player_id, currency } = request.into_inner();
        let balance = self.0.books.lock().unwrap().balances.get(&player_id).copied().unwrap_or(OPENING);
        Ok(Response::new(wire::GetBalanceResponse { currency, balance }))
    }

    async fn debit(
        &self,
        request: Request<wire::DebitRequest>,
    ) -> Result<Response<wire::DebitResponse>, Status> {
        let of = |m: wire::DebitRequest| {
            transaction(m.transaction_id, m.player_id, m.amount, m.currency, m.purpose)
        };
        let (told, balance) = self.serve(Method::Debit, request, of).await?;
        Ok(Response::new(wire::DebitResponse { transaction: Some(told), balance }))
    }

    async fn credit(
        &self,
        request: Request<wire::CreditRequest>,
    ) -> Result<Response<wire::CreditResponse>, Status> {
        let of = |m: wire::CreditRequest| {
            transaction(m.transaction_id, m.player_id, m.amount, m.currency, m.purpose)
        };
        let (told, balance) = self.serve(Method::Credit, request, of).await?;
        Ok(Response::new(wire::CreditResponse { transaction: Some(told), balance }))
    }

    async fn cancel(
        &self,
        request: Request<wire::CancelRequest>,
    ) -> Result<Response<wire::CancelResponse>, Status> {
        let of = |m: wire::CancelRequest| transaction(m.transaction_id, m.player_id, m.amount, m.currency, 0);
        let (told, _) = self.serve(Method::Cancel, request, of).await?;
        Ok(Response::new(wire::CancelResponse { transaction: Some(told), refunded: false }))
    }

    async fn get_transaction(
        &self,
        request: Request<wire::GetTransactionRequest>,
    ) -> Result<Response<wire::GetTransactionResponse>, Status> {
        let of = |m: wire::GetTransactionRequest| {
            transaction(m.transaction_id, String::new(), 0, String::new(), 0)
        };
        let (told, _) = self.serve(Method::Find, request, of).await?;
        Ok(Response::new(wire::GetTransactionResponse { transaction: Some(told) }))
    }
}

fn transaction(
    id: String,
    player_id: String,
    amount: i64,
    currency: String,
    purpose: i32,
) -> wire::Transaction {
    wire::Transaction { transaction_id: id, player_id, amount, currency, purpose, ..Default::default() }
}
