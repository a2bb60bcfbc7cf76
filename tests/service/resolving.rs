//! Parked transactions: listed, tried again, ended by two people; and what the books say meanwhile.

use fulcrum::pb::v1;
use fulcrum::pb::v1::{Resolution, TransactionAct, TransactionState};
use rules::command::Ask;
use rules::payment::Phase;
use tonic::{Code, Status};

use super::harness::payments::{Payments, park, parked};
use super::harness::{Caller, House, Setup, in_time, reason, request_id, texas};
use super::money::{balance, raked};

async fn still() -> (House, Caller, String) {
    let house = House::with(Setup { clocks: false, ..Setup::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(raked(texas(), 50, 500, None), &[]).await;
    (house, caller, table)
}

/// As one who works for the operator.
pub struct Clerk<'a> {
    pub name: &'a str,
    pub table: &'a str,
    pub transaction: &'a str,
}

impl Clerk<'_> {
    /// A request to try it again.
    pub fn retrial(&self) -> v1::RetryTransactionRequest {
        v1::RetryTransactionRequest {
            request_id: request_id(),
            table_id: self.table.into(),
            transaction_id: self.transaction.into(),
            reason: "the wallet is back".into(),
            requester: self.name.into(),
        }
    }

    /// Proposes to end it like this.
    pub async fn propose(&self, caller: &mut Caller, how: Resolution) -> Result<v1::Transaction, Status> {
        let request = v1::ProposeResolutionRequest {
            request_id: request_id(),
            table_id: self.table.into(),
            transaction_id: self.transaction.into(),
            reason: "seen to".into(),
            requester: self.name.into(),
            resolution: how.into(),
        };
        let answer = in_time(caller.settlements.propose_resolution(request)).await?.into_inner();
        Ok(answer.transaction.expect("the transaction"))
    }

    fn confirmation(&self, how: Resolution) -> v1::ConfirmResolutionRequest {
        v1::ConfirmResolutionRequest {
            request_id: request_id(),
            table_id: self.table.into(),
            transaction_id: self.transaction.into(),
            reason: "seen as well".into(),
            requester: self.name.into(),
            resolution: how.into(),
        }
    }

    /// Confirms what another one has proposed.
    pub async fn confirm(&self, caller: &mut Caller, how: Resolution) -> Result<v1::Transaction, Status> {
        let request = self.confirmation(how);
        let answer = in_time(caller.settlements.confirm_resolution(request)).await?.into_inner();
        Ok(answer.transaction.expect("the transaction"))
    }
}

fn acts(transaction: &v1::Transaction) -> Vec<(TransactionAct, &str)> {
    transaction.notes.iter().map(|note| (note.act(), note.requester.as_str())).collect()
}

/// The transactions in this state.
pub async fn in_state(caller: &mut Caller, state: TransactionState) -> Vec<v1::Transaction> {
    let request = v1::ListTransactionsRequest { states: vec![state.into()], ..Default::default() };
    in_time(caller.settlements.list_transactions(request)).await.expect("a list").into_inner().transactions
}

#[tokio::test]
async fn a_parked_transaction_is_listed_with_its_story_and_tried_again() {
    let (house, mut caller, table) = still().await;
    park(&house, "dev", &table, false).await;
    let found = parked(&mut caller).await;
    let [one] = &found[..] else { panic!("{found:?}") };
    assert_eq!((one.kind(), one.player_id.as_str()), (v1::TransactionKind::BuyIn, "zed"));
    assert_eq!((one.amount, one.currency.as_str(), &one.table_id), (5_000, "EUR", &table));
    assert_eq!((one.last_error.as_str(), one.next_attempt_time, &one.proposal), ("no answer", None, &None));
    assert!(!one.request_id.is_empty() && one.begin_time.is_some() && one.state_time.is_some());
    assert_eq!(acts(one), [(TransactionAct::Parked, "")]);

    let ada = Clerk { name: "ada", table: &table, transaction: &one.transaction_id };
    let request = ada.retrial();
    let first = caller.settlements.retry_transaction(request.clone()).await.expect("tried").into_inner();
    let told = first.transaction.as_ref().expect("the transaction");
    assert_eq!((told.state(), &told.transaction_id), (TransactionState::Cancelling, &one.transaction_id));
    assert!(told.next_attempt_time.is_some());
    assert_eq!(acts(told), [(TransactionAct::Parked, ""), (TransactionAct::Retried, "ada")]);
    let again = caller.settlements.retry_transaction(request.clone()).await.expect("done").into_inner();
    assert_eq!(again, first, "the same answer");
    let anew = v1::RetryTransactionRequest { request_id: request_id(), ..request };
    let status = caller.settlements.retry_transaction(anew).await.unwrap_err();
    assert_eq!(reason(&status), "PAYMENT_NOT_PARKED");
    // The wallet cancels: the transaction has ended, and is where those are that have.
    Payments::of(&house, "dev", &table).done(1, Phase::Cancelling).await;
    let ended = in_state(&mut caller, TransactionState::Cancelled).await;
    assert_eq!((ended.len(), &ended[0].transaction_id), (1, &one.transaction_id));
    assert!(parked(&mut caller).await.is_empty());
    house.close().await;
}

#[tokio::test]
async fn two_people_end_a_parked_transaction_and_one_cannot() {
    let (house, mut caller, table) = still().await;
    park(&house, "dev", &table, false).await;
    let transaction = parked(&mut caller).await.remove(0).transaction_id;
    let [ada, bea] = ["ada", "bea"].map(|name| Clerk { name, table: &table, transaction: &transaction });
    let status = bea.confirm(&mut caller, Resolution::Settled).await.unwrap_err();
    assert_eq!(reason(&status), "NOTHING_PROPOSED");
    let proposed = ada.propose(&mut caller, Resolution::WrittenOff).await.expect("a proposal");
    let proposal = proposed.proposal.as_ref().expect("a proposal");
    assert_eq!((proposal.requester.as_str(), proposal.resolution()), ("ada", Resolution::WrittenOff));
    let status = ada.confirm(&mut caller, Resolution::WrittenOff).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::FailedPrecondition, "SAME_PERSON".into()));
    let status = bea.confirm(&mut caller, Resolution::Settled).await.unwrap_err();
    assert_eq!(reason(&status), "NOTHING_PROPOSED", "not so");

    let request = bea.confirmation(Resolution::WrittenOff);
    let first = caller.settlements.confirm_resolution(request.clone()).await.expect("an end").into_inner();
    let told = first.transaction.clone().expect("the transaction");
    assert_eq!((told.state(), told.resolution()), (TransactionState::Resolved, Resolution::WrittenOff));
    let story =
        [(TransactionAct::Parked, ""), (TransactionAct::Proposed, "ada"), (TransactionAct::Confirmed, "bea")];
    assert_eq!(acts(&told), story);
    let again = caller.settlements.confirm_resolution(request).await.expect("done").into_inner();
    assert_eq!(again, first, "the same answer");
    assert_eq!(in_state(&mut caller, TransactionState::Resolved).await, [told]);
    let status = ada.propose(&mut caller, Resolution::Settled).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::NotFound, "PAYMENT_UNKNOWN".into()));
    // It moved no chips: no settlement record tells of it.
    assert!(caller.records(&table).await.is_empty());
    let get = v1::GetSettlementRequest { settlement_id: transaction.clone() };
    let status = caller.settlements.get_settlement(get).await.unwrap_err();
    assert_eq!(reason(&status), "SETTLEMENT_NOT_FOUND");
    house.close().await;
}

/// The books' one total, whose parts add up.
pub async fn total(caller: &mut Caller) -> v1::Balance {
    let books = balance(caller, v1::GetTrialBalanceRequest::default()).await;
    for player in books.players.iter().chain(books.tables.iter().flat_map(|row| &row.seats)) {
        assert_eq!(player.difference, 0, "{player:?}");
    }
    let total = books.totals[0].clone();
    assert_eq!((total.difference, total.wallet_difference), (0, 0), "{total:?}");
    total
}

#[tokio::test]
async fn r10_3_money_on_its_way_to_the_wallet_is_in_the_books_until_it_is_there() {
    let (house, mut caller, table) = still().await;
    let payments = Payments::of(&house, "dev", &table);
    payments.reserve("ann", 5_000).await;
    assert_eq!(total(&mut caller).await.bought_in, 0, "not before the wallet has booked it");
    payments.done(1, Phase::Debiting).await;
    let seated = total(&mut caller).await;
    assert_eq!((seated.bought_in, seated.on_tables, seated.owed), (5_000, 5_000, 0));
    let player = rules::PlayerId::new("ann").expect("a name");
    payments.ask(Ask::StandUp { player, transaction: String::new() }).await;
    let left = total(&mut caller).await;
    assert_eq!((left.on_tables, left.in_flight, left.parked, left.paid_out), (0, 5_000, 0, 0));
    assert_eq!((left.owed, left.delivered), (5_000, 0));
    payments.unknown(2, Phase::Crediting).await;
    let waits = total(&mut caller).await;
    assert_eq!((waits.in_flight, waits.parked, waits.paid_out), (0, 5_000, 0));

    let found = parked(&mut caller).await;
    let [credit] = &found[..] else { panic!("{found:?}") };
    assert_eq!((credit.kind(), credit.amount), (v1::TransactionKind::CashOut, 5_000));
    let [ada, bea] =
        ["ada", "bea"].map(|name| Clerk { name, table: &table, transaction: &credit.transaction_id });
    ada.propose(&mut caller, Resolution::Settled).await.expect("a proposal");
    bea.confirm(&mut caller, Resolution::Settled).await.expect("an end");
    let over = total(&mut caller).await;
    assert_eq!((over.parked, over.paid_out, over.delivered, over.written_off), (0, 5_000, 5_000, 0));
    let ann = balance(&mut caller, v1::GetTrialBalanceRequest::default()).await.players.remove(0);
    assert_eq!((ann.player_id.as_str(), ann.bought_in, ann.paid_out), ("ann", 5_000, 5_000));
    assert_eq!((ann.owed, ann.delivered), (5_000, 5_000));
    house.close().await;
}
