//! A wallet that does what the contract says, but for one thing.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use fulcrum::pb::wallet_v1::operator_wallet_service_server::OperatorWalletService;
use fulcrum::pb::wallet_v1::*;
use tonic::{Request, Response, Status};

/// What is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    BooksRepeatedDebits,
    LooksAndBooksLater,
    ForgetsDeclined,
    TakesMoreThanThereIs,
    ReadsTheBalanceFirst,
    ForgetsEarlyCancels,
    IgnoresTheAmount,
    IgnoresThePlayer,
    IgnoresTheCurrency,
    IgnoresTheStay,
    IgnoresTheMethod,
    NamesAnotherTransaction,
    NamesAnotherAmount,
    RefundsEachTime,
    BooksCancelledDebits,
    RefundsDeclinedDebits,
    TakesNegativeAmounts,
    DeclinesWithAStatus,
    KnowsEverybody,
    KnowsEveryCurrency,
    WantsASession,
    BooksRepeatedCredits,
    FindsWhatNeverWas,
    FindsNothing,
    TellsAnotherCurrency,
}

/// How long `LooksAndBooksLater` and `ReadsTheBalanceFirst` take: longer than a busy machine needs to send the other
/// deliveries.
const MEANWHILE: Duration = Duration::from_millis(30);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Debit,
    Credit,
    Cancel,
}

#[derive(Clone)]
struct Entry {
    method: Method,
    /// As it was asked for.
    content: Content,
    state: TransactionState,
    reason: DeclineReason,
    refunded: bool,
}

#[derive(Clone, PartialEq, Eq)]
struct Content {
    id: String,
    player: String,
    amount: i64,
    currency: String,
    purpose: i32,
    stay: (String, u64),
}

#[derive(Default)]
struct Books {
    balances: HashMap<(String, String), i64>,
    entries: HashMap<String, Entry>,
}

/// The wallet. It knows the player `test`, with 5,000 EUR cents.
pub struct Wallet {
    broken: Option<Broken>,
    books: Mutex<Books>,
}

impl Wallet {
    pub fn new(broken: Option<Broken>) -> Wallet {
        let mut books = Books::default();
        books.balances.insert(("test".to_owned(), "EUR".to_owned()), 5000);
        Wallet { broken, books: Mutex::new(books) }
    }

    fn is(&self, broken: Broken) -> bool {
        self.broken == Some(broken)
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    /// Whether the known transaction is the one that is asked for.
    fn same(&self, entry: &Entry, method: Method, asked: &Content) -> bool {
        let known = &entry.content;
        let all = [
            (entry.method == method, Broken::IgnoresTheMethod),
            (known.player == asked.player, Broken::IgnoresThePlayer),
            (known.amount == asked.amount, Broken::IgnoresTheAmount),
            (known.currency == asked.currency, Broken::IgnoresTheCurrency),
            (known.stay == asked.stay || asked.stay.1 == 0 || known.stay.1 == 0, Broken::IgnoresTheStay),
        ];
        all.iter().all(|(same, broken)| *same || self.is(*broken))
    }

    fn account(&self, books: &Books, asked: &Content) -> Result<i64, DeclineReason> {
        let key = (asked.player.clone(), asked.currency.clone());
        match books.balances.get(&key) {
            Some(balance) => Ok(*balance),
            None if asked.player != "test" && self.is(Broken::KnowsEverybody) => Ok(1000),
            None if asked.player == "test" && self.is(Broken::KnowsEveryCurrency) => Ok(1000),
            None if asked.player == "test" => Err(DeclineReason::CurrencyUnknown),
            None => Err(DeclineReason::PlayerUnknown),
        }
    }

    fn sensible(&self, asked: &Content) -> Result<(), Status> {
        if asked.amount < 1 && !self.is(Broken::TakesNegativeAmounts) {
            return Err(Status::invalid_argument("amount"));
        }
        Ok(())
    }

    async fn take(&self, asked: Content) -> Result<(Entry, i64), Status> {
        self.sensible(&asked)?;
        let (known, before) = {
            let books = self.books();
            (books.entries.get(&asked.id).cloned(), self.account(&books, &asked))
        };
        let raced = self.is(Broken::LooksAndBooksLater) || self.is(Broken::ReadsTheBalanceFirst);
        if raced && known.is_none() {
            tokio::time::sleep(MEANWHILE).await;
        }
        let mut books = self.books();
        let known =
            if self.is(Broken::LooksAndBooksLater) { known } else { books.entries.get(&asked.id).cloned() };
        let found = self.account(&books, &asked);
        let balance = if self.is(Broken::ReadsTheBalanceFirst) { before } else { found };
        match known {
            Some(entry) => self.take_again(&mut books, entry, asked),
            None => self.take_first(&mut books, balance, asked),
        }
    }

    fn take_first(
        &self,
        books: &mut Books,
        balance: Result<i64, DeclineReason>,
        asked: Content,
    ) -> Result<(Entry, i64), Status> {
        let reason = match balance {
            Err(reason) => reason,
            Ok(balance) if balance < asked.amount && !self.is(Broken::TakesMoreThanThereIs) => {
                if self.is(Broken::DeclinesWithAStatus) {
                    return Err(Status::failed_precondition("too little"));
                }
                DeclineReason::InsufficientFunds
            }
            Ok(balance) => {
                books.balances.insert((asked.player.clone(), asked.currency.clone()), balance - asked.amount);
                DeclineReason::Unspecified
            }
        };
        let booked = reason == DeclineReason::Unspecified;
        let state = if booked { TransactionState::Booked } else { TransactionState::Declined };
        let entry = Entry { method: Method::Debit, content: asked, state, reason, refunded: false };
        if booked || !self.is(Broken::ForgetsDeclined) {
            books.entries.insert(entry.content.id.clone(), entry.clone());
        }
        let left = self.account(books, &entry.content).unwrap_or_default();
        Ok((entry, left))
    }

    /// A debit whose id is known.
    fn take_again(&self, books: &mut Books, entry: Entry, asked: Content) -> Result<(Entry, i64), Status> {
        let method = if entry.method == Method::Cancel { Method::Cancel } else { Method::Debit };
        if !self.same(&entry, method, &asked) {
            return Err(Status::already_exists("other content"));
        }
        let balance = self.account(books, &asked);
        let again = match entry.state {
            TransactionState::Booked => self.is(Broken::BooksRepeatedDebits),
            TransactionState::Cancelled => entry.refunded && self.is(Broken::BooksCancelledDebits),
            _ => false,
        };
        if again {
            return self.take_first(books, balance, asked);
        }
        let mut told = entry;
        if told.state == TransactionState::Cancelled {
            (told.state, told.reason) = (TransactionState::Declined, DeclineReason::Cancelled);
        }
        Ok((told, balance.unwrap_or_default()))
    }

    fn give(&self, asked: Content) -> Result<(Entry, i64), Status> {
        self.sensible(&asked)?;
        let mut books = self.books();
        if let Some(entry) = books.entries.get(&asked.id).cloned() {
            if !self.same(&entry, Method::Credit, &asked) {
                return Err(Status::already_exists("other content"));
            }
            if !self.is(Broken::BooksRepeatedCredits) {
                let balance = self.account(&books, &asked).unwrap_or_default();
                return Ok((entry, balance));
            }
        }
        if asked.stay.1 > 1_000_000 && self.is(Broken::WantsASession) {
            return Err(Status::failed_precondition("no such session"));
        }
        let Ok(balance) = self.account(&books, &asked) else {
            return Err(Status::failed_precondition("no account"));
        };
        let balance = balance.checked_add(asked.amount).ok_or_else(|| Status::out_of_range("too much"))?;
        books.balances.insert((asked.player.clone(), asked.currency.clone()), balance);
        let (state, reason) = (TransactionState::Booked, DeclineReason::Unspecified);
        let entry = Entry { method: Method::Credit, content: asked, state, reason, refunded: false };
        books.entries.insert(entry.content.id.clone(), entry.clone());
        Ok((entry, balance))
    }

    fn undo(&self, asked: Content) -> Result<Entry, Status> {
        let mut books = self.books();
        let Some(mut entry) = books.entries.get(&asked.id).cloned() else {
            let (state, reason) = (TransactionState::Cancelled, DeclineReason::Unspecified);
            let entry = Entry { method: Method::Cancel, content: asked, state, reason, refunded: false };
            if !self.is(Broken::ForgetsEarlyCancels) {
                books.entries.insert(entry.content.id.clone(), entry.clone());
            }
            return Ok(entry);
        };
        let method = if entry.method == Method::Cancel { Method::Cancel } else { Method::Debit };
        if !self.same(&entry, method, &asked) {
            return Err(Status::already_exists("other content"));
        }
        let refunds = match entry.state {
            TransactionState::Booked => true,
            TransactionState::Declined => self.is(Broken::RefundsDeclinedDebits),
            _ => entry.refunded && self.is(Broken::RefundsEachTime),
        };
        if refunds {
            let key = (asked.player, asked.currency);
            let balance = books.balances.get(&key).copied().unwrap_or_default();
            books.balances.insert(key, balance.saturating_add(asked.amount));
            (entry.state, entry.refunded) = (TransactionState::Cancelled, true);
            books.entries.insert(entry.content.id.clone(), entry.clone());
        }
        Ok(entry)
    }

    fn told(&self, entry: &Entry) -> Transaction {
        let content = &entry.content;
        let other = self.is(Broken::NamesAnotherTransaction);
        let more = i64::from(self.is(Broken::NamesAnotherAmount));
        Transaction {
            transaction_id: if other { "another".to_owned() } else { content.id.clone() },
            state: entry.state.into(),
            decline_reason: entry.reason.into(),
            player_id: content.player.clone(),
            amount: content.amount.saturating_add(more),
            currency: content.currency.clone(),
            purpose: content.purpose,
            reference: String::new(),
        }
    }
}

#[tonic::async_trait]
impl OperatorWalletService for Wallet {
    async fn get_balance(
        &self,
        request: Request<GetBalanceRequest>,
    ) -> Result<Response<GetBalanceResponse>, Status> {
        let GetBalanceRequest { player_id, currency } = request.into_inner();
        let balance = self.books().balances.get(&(player_id, currency.clone())).copied();
        let balance = balance.ok_or_else(|| Status::not_found("no account"))?;
        let currency = if self.is(Broken::TellsAnotherCurrency) { "USD".to_owned() } else { currency };
        Ok(Response::new(GetBalanceResponse { currency, balance }))
    }

    async fn debit(&self, request: Request<DebitRequest>) -> Result<Response<DebitResponse>, Status> {
        let r = request.into_inner();
        let stay = (r.table_id, r.session);
        let (id, player, amount) = (r.transaction_id, r.player_id, r.amount);
        let asked = Content { id, player, amount, currency: r.currency, purpose: r.purpose, stay };
        let (entry, balance) = self.take(asked).await?;
        Ok(Response::new(DebitResponse { transaction: Some(self.told(&entry)), balance }))
    }

    async fn credit(&self, request: Request<CreditRequest>) -> Result<Response<CreditResponse>, Status> {
        let r = request.into_inner();
        let stay = (r.table_id, r.session);
        let (id, player, amount) = (r.transaction_id, r.player_id, r.amount);
        let asked = Content { id, player, amount, currency: r.currency, purpose: r.purpose, stay };
        let (entry, balance) = self.give(asked)?;
        Ok(Response::new(CreditResponse { transaction: Some(self.told(&entry)), balance }))
    }

    async fn cancel(&self, request: Request<CancelRequest>) -> Result<Response<CancelResponse>, Status> {
        let r = request.into_inner();
        let (id, player, amount) = (r.transaction_id, r.player_id, r.amount);
        let stay = (String::new(), 0);
        let entry = self.undo(Content { id, player, amount, currency: r.currency, purpose: 0, stay })?;
        let transaction = Some(self.told(&entry));
        Ok(Response::new(CancelResponse { transaction, refunded: entry.refunded }))
    }

    async fn get_transaction(
        &self,
        request: Request<GetTransactionRequest>,
    ) -> Result<Response<GetTransactionResponse>, Status> {
        let id = request.into_inner().transaction_id;
        let found = self.books().entries.get(&id).map(|entry| self.told(entry));
        let found = match found {
            Some(_) if self.is(Broken::FindsNothing) => None,
            None if self.is(Broken::FindsWhatNeverWas) => {
                let state = TransactionState::Cancelled.into();
                Some(Transaction { transaction_id: id, state, ..Transaction::default() })
            }
            found => found,
        };
        let transaction = Some(found.ok_or_else(|| Status::not_found("never heard of"))?);
        Ok(Response::new(GetTransactionResponse { transaction }))
    }
}
