//! What a wallet has let park: people try it again and the wallet books it, or two of them end it, and the wallet's books and
//! ours agree. What was never to be told is in no log.

use fulcrum::pb::v1;
use fulcrum::pb::v1::{Resolution, TransactionState};
use rules::Millis;
use serde_json::json;
use tables::CourierSettings;
use tonic::Status;

use super::bank::{Act, Asked, Method, OPENING, TOKEN};
use super::room::{Room, buy_in, courier, leave, seat, stand_up, table_of};
use crate::harness::operators::{ALPHA, BETA};
use crate::harness::payments::parked;
use crate::harness::{Caller, Setup, in_time, reason, texas};
use crate::lines::Lines;
use crate::resolving::{Clerk, in_state, total};
use crate::secrecy::log::Log;

/// A room that soon leaves to people what a wallet does not do.
async fn hasty() -> Room {
    let short = CourierSettings { park_after: Millis(500), ..courier() };
    Room::with(|setup| Setup { courier: short, ..setup }).await
}

/// Waits for the one transaction that is parked.
async fn the_parked_one(caller: &mut Caller) -> v1::Transaction {
    let wait = async {
        loop {
            let mut found = parked(caller).await;
            if let Some(one) = found.pop() {
                assert!(found.is_empty(), "{one:?} {found:?}");
                return one;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    in_time(wait).await
}

/// Waits until the transaction has ended like this.
async fn until_ended(caller: &mut Caller, id: &str, how: TransactionState) {
    let wait = async {
        while !in_state(caller, how).await.iter().any(|transaction| transaction.transaction_id == id) {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    in_time(wait).await;
}

async fn try_again(caller: &mut Caller, table: &str, transaction: &str) {
    let clerk = Clerk { name: "ada", table, transaction };
    in_time(caller.settlements.retry_transaction(clerk.retrial())).await.expect("tried");
}

#[tokio::test]
async fn a_credit_that_is_tried_again_is_paid() {
    let log = Lines::default();
    let _reading = log.read();
    let mut room = hasty().await;
    let table = table_of(&mut room.alpha, texas(), &["ann"]).await;
    room.bank().play_in(Method::Credit, |_| Act::Fail(Status::unavailable("never")));
    stand_up(&mut room.alpha, &leave(&table, "ann")).await.expect("she leaves");
    let one = the_parked_one(&mut room.alpha).await;
    assert_eq!((one.kind(), one.amount), (v1::TransactionKind::CashOut, 10_000));
    let line = log.only("payment_parked");
    let key = format!("alpha/{table}");
    assert_eq!((&line["level"], &line["table"], &line["payment"]), (&json!("ERROR"), &json!(key), &json!(2)));
    let names = line.as_object().is_some_and(|fields| fields.values().any(|value| value == "ann"));
    assert!(!names, "no player is named: {line}");
    let books = total(&mut room.alpha).await;
    assert_eq!((books.parked, books.delivered, room.bank().balance("ann")), (10_000, 0, OPENING - 10_000));

    // In vain at first: it is parked once more.
    let asked = room.bank().calls(Method::Credit).len();
    try_again(&mut room.alpha, &table, &one.transaction_id).await;
    room.bank().asked(Method::Credit, asked + 1).await;
    assert_eq!(the_parked_one(&mut room.alpha).await.transaction_id, one.transaction_id);
    room.bank().honest();
    try_again(&mut room.alpha, &table, &one.transaction_id).await;
    until_ended(&mut room.alpha, &one.transaction_id, TransactionState::Paid).await;
    let credits = room.bank().calls(Method::Credit);
    assert!(credits.iter().all(|credit| credit.id == one.transaction_id), "{credits:?}");
    assert_eq!((room.bank().balance("ann"), room.bank().moved()), (OPENING, [1, 1, 0]));
    let books = total(&mut room.alpha).await;
    assert_eq!((books.parked, books.in_flight, books.paid_out, books.delivered), (0, 0, 10_000, 10_000));
    room.house.close().await;
}

/// Books the debit, and answers nothing of use to anything.
fn mute(asked: &Asked) -> Act {
    match asked.method {
        Method::Debit => Act::BookAndFail(Status::internal("the disk is full")),
        _ => Act::Fail(Status::internal("the disk is full")),
    }
}

#[tokio::test]
async fn a_debit_whose_cancel_is_tried_again_is_given_back() {
    let mut room = hasty().await;
    let table = room.alpha.table_of(texas(), &[]).await;
    room.bank().play(mute);
    let status = seat(&mut room.alpha, &buy_in(&table, "ann", 1, 5_000)).await.unwrap_err();
    assert_eq!(reason(&status), "WALLET_NOT_CONFIRMED");
    let one = the_parked_one(&mut room.alpha).await;
    assert_eq!((one.kind(), one.amount), (v1::TransactionKind::BuyIn, 5_000));
    assert_eq!((room.bank().balance("ann"), room.bank().moved()), (OPENING - 5_000, [1, 0, 0]));
    room.bank().honest();
    try_again(&mut room.alpha, &table, &one.transaction_id).await;
    until_ended(&mut room.alpha, &one.transaction_id, TransactionState::Cancelled).await;
    assert_eq!((room.bank().balance("ann"), room.bank().moved()), (OPENING, [1, 0, 1]));
    assert_eq!(total(&mut room.alpha).await.bought_in, 0);
    room.house.close().await;
}

#[tokio::test]
async fn a_credit_that_the_wallet_has_booked_in_silence_is_settled_by_two_people() {
    let mut room = hasty().await;
    let table = table_of(&mut room.alpha, texas(), &["ann"]).await;
    room.bank().play(|asked| match (asked.method, asked.before) {
        (Method::Credit, 0) => Act::BookAndFail(Status::internal("the disk is full")),
        _ => Act::Fail(Status::internal("the disk is full")),
    });
    stand_up(&mut room.alpha, &leave(&table, "ann")).await.expect("she leaves");
    let one = the_parked_one(&mut room.alpha).await;
    assert_eq!(room.bank().balance("ann"), OPENING, "as people see there");
    room.bank().honest();
    let [ada, bea] =
        ["ada", "bea"].map(|name| Clerk { name, table: &table, transaction: &one.transaction_id });
    ada.propose(&mut room.alpha, Resolution::Settled).await.expect("a proposal");
    let asked = room.bank().calls(Method::Credit).len();
    let told = bea.confirm(&mut room.alpha, Resolution::Settled).await.expect("an end");
    assert_eq!((told.state(), told.resolution()), (TransactionState::Resolved, Resolution::Settled));
    let books = total(&mut room.alpha).await;
    assert_eq!((books.parked, books.paid_out, books.delivered, books.written_off), (0, 10_000, 10_000, 0));
    // Whoever sits down next is asked for his money, and nobody asks for hers any more.
    seat(&mut room.alpha, &buy_in(&table, "bob", 1, 5_000)).await.expect("the wallet is well");
    assert_eq!((room.bank().calls(Method::Credit).len(), room.bank().moved()), (asked, [2, 1, 0]));
    room.house.close().await;
}

/// The tokens that the wallet wants to see and those of the operators, also where the wallet throws its own back at us.
#[tokio::test]
async fn no_token_is_in_a_log() {
    let log = Log::without(&[TOKEN, ALPHA, BETA]);
    let _reading = log.read();
    let mut room = Room::open().await;
    let table = table_of(&mut room.alpha, texas(), &["ann"]).await;
    // Never so often in a row that the wallet is left alone for a while.
    room.bank().play(|asked| match (asked.method, asked.before) {
        (Method::Debit, _) if asked.player == "cid" => Act::Hang,
        (Method::Debit, _) | (Method::Credit, 0) => {
            Act::Fail(Status::internal(format!("no: authorization: Bearer {TOKEN}")))
        }
        _ => Act::Honest,
    });
    for player in ["bob", "cid"] {
        seat(&mut room.alpha, &buy_in(&table, player, 2, 5_000)).await.unwrap_err();
    }
    stand_up(&mut room.alpha, &leave(&table, "ann")).await.expect("she leaves");
    room.bank().until(|bank| bank.balance("ann") == OPENING).await;
    room.beta.table_of(texas(), &[]).await;
    room.house.close().await;
    let found = log.found();
    assert!(found.own > 10 && found.others > 100, "the log was read: {} and {}", found.own, found.others);
    assert_eq!(found.leaks, Vec::<String>::new());
}
