//! `fulcrum operator`: the wallet as a process of its own, killed, told to misbehave, and asked for its books.

use std::path::Path;
use std::time::Duration;

use fulcrum::pb::wallet_v1::operator_wallet_service_client::OperatorWalletServiceClient;
use fulcrum::pb::wallet_v1::{
    CancelRequest, CreditRequest, DebitRequest, DeclineReason, GetBalanceRequest, GetTransactionRequest,
    Purpose, TransactionState,
};
use serde_json::Value;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use uuid::Uuid;

use crate::child::{Server, fulcrum, run};

type Wallet = OperatorWalletServiceClient<Channel>;

const OPENING: i64 = 1_000_000;

fn start<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Server {
    let mut all = vec!["--listen", "127.0.0.1:0"];
    all.extend(arguments);
    Server::of(fulcrum(["operator"]), all)
}

fn at(server: &Server) -> Wallet {
    let endpoint = Endpoint::from_shared(format!("http://{}", server.address)).unwrap();
    OperatorWalletServiceClient::new(endpoint.connect_lazy())
}

fn debit(id: &str, player: &str, amount: i64) -> DebitRequest {
    DebitRequest {
        transaction_id: id.to_owned(),
        player_id: player.to_owned(),
        amount,
        currency: "EUR".to_owned(),
        purpose: Purpose::BuyIn.into(),
        table_id: "a-table".to_owned(),
        session: 1,
    }
}

fn credit(id: &str, player: &str, amount: i64) -> CreditRequest {
    let DebitRequest { transaction_id, player_id, currency, table_id, session, .. } =
        debit(id, player, amount);
    let purpose = Purpose::CashOut.into();
    CreditRequest { transaction_id, player_id, amount, currency, purpose, table_id, session }
}

fn cancel(id: &str, player: &str, amount: i64) -> CancelRequest {
    let DebitRequest { transaction_id, player_id, currency, .. } = debit(id, player, amount);
    CancelRequest { transaction_id, player_id, amount, currency }
}

fn new_id() -> String {
    Uuid::new_v4().to_string()
}

async fn balance(wallet: &mut Wallet, player: &str) -> Result<i64, Status> {
    let request = GetBalanceRequest { player_id: player.to_owned(), currency: "EUR".to_owned() };
    Ok(wallet.get_balance(request).await?.into_inner().balance)
}

async fn state(wallet: &mut Wallet, id: &str) -> Result<TransactionState, Status> {
    let request = GetTransactionRequest { transaction_id: id.to_owned() };
    Ok(wallet.get_transaction(request).await?.into_inner().transaction.unwrap().state())
}

fn books(file: &Path) -> Value {
    let (code, output, errors) = run(["operator", "books", "--json", "--file", file.to_str().unwrap()]);
    assert_eq!(code, 0, "{errors}");
    serde_json::from_str(&output).unwrap()
}

/// The amounts in the books of this player.
fn account<'a>(books: &'a Value, player: &str) -> &'a Value {
    books["accounts"].as_array().unwrap().iter().find(|row| row["player"] == player).unwrap()
}

/// A movement that somebody ordered, and the answer if there was one.
struct Ordered {
    id: String,
    player: String,
    amount: i64,
    what: usize,
    answered: Option<TransactionState>,
}

impl Ordered {
    /// Orders it, again if need be: debits, debits that are cancelled, and credits.
    async fn ask(&mut self, wallet: &mut Wallet) -> Result<TransactionState, Status> {
        let (id, player, amount) = (&self.id, &self.player, self.amount);
        let told = match self.what {
            0 => wallet.debit(debit(id, player, amount)).await?.into_inner().transaction,
            1 => wallet.credit(credit(id, player, amount)).await?.into_inner().transaction,
            _ => {
                wallet.debit(debit(id, player, amount)).await?;
                wallet.cancel(cancel(id, player, amount)).await?.into_inner().transaction
            }
        };
        Ok(told.unwrap().state())
    }

    fn moves(&self) -> i64 {
        [-self.amount, self.amount, 0][self.what]
    }
}

/// Orders one thing after another until the wallet is gone.
async fn order_until_gone(mut wallet: Wallet, player: String) -> Vec<Ordered> {
    let mut all = Vec::new();
    for number in 0.. {
        let (id, amount) = (new_id(), 1 + number % 7);
        let mut next =
            Ordered { id, player: player.clone(), amount, what: number as usize % 3, answered: None };
        next.answered = next.ask(&mut wallet).await.ok();
        let gone = next.answered.is_none();
        all.push(next);
        if gone {
            break;
        }
    }
    all
}

#[tokio::test]
async fn a_killed_wallet_has_all_that_it_acknowledged_and_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("operator.redb");
    let opening = OPENING.to_string();
    let arguments = ["--file", file.to_str().unwrap(), "--open-balance", &opening];
    let mut orders: Vec<Ordered> = Vec::new();
    for round in 0..3 {
        let server = start(arguments);
        let mut wallet = at(&server);
        // What was acknowledged is there; what was not is asked for again, as the contract has it.
        for order in &mut orders {
            if let Some(told) = order.answered {
                assert_eq!(state(&mut wallet, &order.id).await.unwrap(), told, "it was acknowledged");
            }
            let again = order.ask(&mut wallet).await.unwrap();
            assert!(order.answered.is_none_or(|told| told == again));
            order.answered = Some(again);
        }
        let callers: Vec<_> = (0..12)
            .map(|caller| {
                tokio::spawn(order_until_gone(at(&server), format!("player-{round}-{}", caller % 4)))
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(400)).await;
        server.process.kill();
        for caller in callers {
            orders.extend(caller.await.unwrap());
        }
    }
    let acknowledged = orders.iter().filter(|order| order.answered.is_some()).count();
    let unknown = orders.len() - acknowledged;
    assert!(acknowledged > 100 && unknown > 0, "{acknowledged} {unknown}");
    check_books(&file, arguments, orders).await;
}

/// Every order is settled, and the books are what the orders say.
async fn check_books(file: &Path, arguments: [&str; 4], mut orders: Vec<Ordered>) {
    let server = start(arguments);
    let mut wallet = at(&server);
    for order in &mut orders {
        let settled = order.ask(&mut wallet).await.unwrap();
        let wanted = if order.what == 2 { TransactionState::Cancelled } else { TransactionState::Booked };
        assert_eq!(settled, wanted);
    }
    server.process.signal("TERM");
    let (code, _, errors) = server.process.wait();
    assert_eq!((code, errors.as_str()), (0, ""));
    let books = books(file);
    assert_eq!(books["transactions"], orders.len());
    for row in books["accounts"].as_array().unwrap() {
        let of = orders.iter().filter(|order| row["player"] == order.player.as_str());
        assert_eq!(row["balance"], OPENING + of.clone().map(Ordered::moves).sum::<i64>(), "{row}");
        assert_eq!(row["transactions"], of.count(), "{row}");
    }
}

#[tokio::test]
async fn faults_are_told_at_run_time_and_no_answer_is_lost_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let faults = folder.path().join("faults");
    let server = start(["--memory", "--player", "ada=1000", "--faults", faults.to_str().unwrap()]);
    let mut wallet = at(&server);
    // The file is looked at five times a second.
    let told = async |text: &str| {
        std::fs::write(&faults, text).unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
    };

    let id = new_id();
    told("drop-after@debit\n").await;
    let lost = wallet.debit(debit(&id, "ada", 100)).await.unwrap_err();
    assert_ne!(lost.code(), Code::AlreadyExists, "{lost}");
    told("twice # all calls\n").await;
    assert_eq!(state(&mut wallet, &id).await.unwrap(), TransactionState::Booked);
    let again = wallet.debit(debit(&id, "ada", 100)).await.unwrap().into_inner();
    assert_eq!(again.balance, 900);
    assert_eq!(wallet.credit(credit(&new_id(), "ada", 50)).await.unwrap().into_inner().balance, 950);

    told("fail:100%@debit\n").await;
    let failed = wallet.debit(debit(&new_id(), "ada", 1)).await.unwrap_err();
    assert_eq!(failed.code(), Code::Unavailable);
    told("hang@credit\n").await;
    let mut hanging = Request::new(credit(&new_id(), "ada", 1));
    hanging.set_timeout(Duration::from_millis(200));
    assert!(wallet.credit(hanging).await.is_err());
    assert_eq!(balance(&mut wallet, "ada").await.unwrap(), 950, "nothing was booked by either");

    // A debit that nobody waits for any more comes after its cancel.
    told("slow=700ms@debit\n").await;
    let id = new_id();
    let mut late = Request::new(debit(&id, "ada", 100));
    late.set_timeout(Duration::from_millis(100));
    assert!(wallet.debit(late).await.is_err());
    assert!(!wallet.cancel(cancel(&id, "ada", 100)).await.unwrap().into_inner().refunded);
    tokio::time::sleep(Duration::from_millis(900)).await;
    told("").await;
    let late = wallet.debit(debit(&id, "ada", 100)).await.unwrap().into_inner().transaction.unwrap();
    assert_eq!((late.state(), late.decline_reason()), (TransactionState::Declined, DeclineReason::Cancelled));
    assert_eq!(balance(&mut wallet, "ada").await.unwrap(), 950);
}

#[tokio::test]
async fn the_books_can_be_read_once_it_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("operator.redb");
    let path = file.to_str().unwrap();
    let server = start(["--file", path, "--player", "ada=1000", "--player", "bob=70:USD"]);
    let mut wallet = at(&server);
    let cancelled = new_id();
    wallet.debit(debit(&new_id(), "ada", 300)).await.unwrap();
    wallet.debit(debit(&cancelled, "ada", 200)).await.unwrap();
    wallet.cancel(cancel(&cancelled, "ada", 200)).await.unwrap();
    wallet.credit(credit(&new_id(), "ada", 25)).await.unwrap();
    let declined = wallet.debit(debit(&new_id(), "ada", 5000)).await.unwrap().into_inner();
    assert_eq!(declined.transaction.unwrap().decline_reason(), DeclineReason::InsufficientFunds);
    let unknown = wallet.debit(debit(&new_id(), "eve", 1)).await.unwrap().into_inner();
    assert_eq!(unknown.transaction.unwrap().decline_reason(), DeclineReason::PlayerUnknown);
    let other = wallet.debit(debit(&new_id(), "bob", 1)).await.unwrap().into_inner();
    assert_eq!(other.transaction.unwrap().decline_reason(), DeclineReason::CurrencyUnknown);
    let full = wallet.credit(credit(&new_id(), "ada", i64::MAX)).await.unwrap_err();
    assert_eq!(full.code(), Code::OutOfRange);
    let nobody = wallet.credit(credit(&new_id(), "eve", 1)).await.unwrap_err();
    assert_eq!(nobody.code(), Code::FailedPrecondition, "a credit is never declined");

    let (code, _, errors) = run(["operator", "books", "--file", path]);
    assert_eq!(code, 1);
    assert!(errors.contains("in use by another process"), "{errors}");
    server.process.signal("INT");
    assert_eq!(server.process.wait().0, 0);
    let books = books(&file);
    let ada = account(&books, "ada");
    let sums =
        ["opening", "debited", "credited", "cancelled", "balance", "transactions"].map(|name| &ada[name]);
    assert_eq!(sums, [1000, 500, 25, 200, 725, 4]);
    assert_eq!(books["transactions"], 6);
    let (code, text, _) = run(["operator", "books", "--file", path]);
    assert_eq!(code, 0);
    assert!(text.contains("7.25") && text.contains("2 accounts, 6 transactions"), "{text}");
    let (code, _, errors) = run(["operator", "books", "--file", "not/there"]);
    assert_eq!(code, 2, "{errors}");
}

#[tokio::test]
async fn a_wallet_with_a_token_file_wants_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "# the service's\n0123456789abcdef\n").unwrap();
    let tokens = tokens.to_str().unwrap();
    let server = start(["--memory", "--player", "ada=5", "--token-file", tokens]);
    assert!(server.greeting.contains("with a token"), "{}", server.greeting);
    let mut wallet = at(&server);
    assert_eq!(balance(&mut wallet, "ada").await.unwrap_err().code(), Code::Unauthenticated);
    let mut request =
        Request::new(GetBalanceRequest { player_id: "ada".to_owned(), currency: "EUR".to_owned() });
    request.metadata_mut().insert("authorization", "Bearer 0123456789abcdef".parse().unwrap());
    assert_eq!(wallet.get_balance(request).await.unwrap().into_inner().balance, 5);

    let (code, _, errors) = run(["operator", "--memory", "--listen", "0.0.0.0:0"]);
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("--token-file"), "{errors}");
}

#[test]
fn bad_usage_is_two() {
    for command in [
        &["--player", "ada"][..],
        &["--player", "ada=-5"],
        &["--currency", "euro"],
        &["--open-balance", "-1"],
        &["--fault", "explode"],
        &["--fault", "slow"],
        &["--memory", "--file", "here.redb"],
        &["--token-file", "not/there"],
    ] {
        let (code, output, errors) = run(["operator"].iter().chain(command));
        assert_eq!((code, output.as_str()), (2, ""), "{command:?}: {errors}");
        assert!(!errors.is_empty() && !errors.contains("panicked"), "{command:?}: {errors}");
    }
}
