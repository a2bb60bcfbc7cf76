//! Calls to operators' wallets, in the trace of the call that they are made for, and on into the wallet's own.

use super::{TRACE, Tower, sampled, traced};
use crate::harness::{in_time, texas};
use crate::wallet::bank::{Act, Method, TOKEN};
use crate::wallet::room::{Room, buy_in, leave};

const DEBIT: &str = "fulcrum.wallet.v1.OperatorWalletService/Debit";
const CREDIT: &str = "fulcrum.wallet.v1.OperatorWalletService/Credit";
const FIND: &str = "fulcrum.wallet.v1.OperatorWalletService/GetTransaction";

#[tokio::test]
async fn a_wallet_is_told_whose_trace_it_works_for() {
    let tower = Tower::open(0.0);
    let mut room = Room::open().await;
    tower.listen(&room.house);
    let table = room.alpha.table_of(texas(), &[]).await;
    let request = buy_in(&table, "ann-the-player", 1, 5_000);
    in_time(room.alpha.tables.seat_player(sampled(request))).await.expect("a seat");

    let (call, debit) = (tower.span("fulcrum.v1.TableService/SeatPlayer").await, tower.span(DEBIT).await);
    let payment = tower.span("payment").await;
    assert_eq!((payment.parent.as_str(), payment.kind.as_str()), (call.id.as_str(), "internal"));
    assert_eq!((debit.parent.as_str(), debit.kind.as_str()), (payment.id.as_str(), "client"));
    assert_eq!(debit.attribute("fulcrum.wallet.call"), "debit");
    assert_eq!(debit.attribute("fulcrum.wallet.outcome"), "booked");
    assert_eq!(debit.attribute("rpc.system.name"), "grpc");
    assert_eq!(debit.attribute("rpc.response.status_code"), "OK");
    assert_eq!(debit.status, "unset");
    assert_eq!(room.bank().parents(), [format!("00-{TRACE}-{}-01", debit.id)]);
    assert!(call.start <= debit.start && debit.end <= call.end, "the call waits for it");

    // What is owed is paid after the call's answer: it is told as part of it, and does not make it longer.
    in_time(room.alpha.tables.stand_up(sampled(leave(&table, "ann-the-player")))).await.expect("he leaves");
    let (left, credit) = (tower.span("fulcrum.v1.TableService/StandUp").await, tower.span(CREDIT).await);
    assert_eq!(credit.attribute("fulcrum.wallet.outcome"), "booked");
    assert!(left.end <= credit.end, "{left:?} {credit:?}");
    let bytes = tower.collector.bytes();
    for secret in [TOKEN, "ann-the-player"] {
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret}");
    }
    room.house.close().await;
}

#[tokio::test]
async fn a_wallet_of_a_call_that_is_not_told_is_told_so() {
    let tower = Tower::open(0.0);
    let mut room = Room::open().await;
    tower.listen(&room.house);
    let table = room.alpha.table_of(texas(), &[]).await;
    let request = buy_in(&table, "ann", 1, 5_000);
    in_time(room.alpha.tables.seat_player(traced(request, "00"))).await.expect("a seat");
    let parents = room.bank().parents();
    assert_eq!(parents.len(), 1);
    // Its task is one of its own, and nobody would find a span of it.
    assert_eq!(parents[0], "");
    assert_eq!(tower.collector.told(), []);
    room.house.close().await;
}

#[tokio::test]
async fn a_wallet_that_fails_shows_in_the_trace_and_its_words_do_not() {
    let tower = Tower::open(0.0);
    let mut room = Room::open().await;
    tower.listen(&room.house);
    let table = room.alpha.table_of(texas(), &[]).await;
    room.bank().play_in(Method::Debit, |_| Act::Fail(tonic::Status::internal("their-own-secret")));
    let request = buy_in(&table, "ann", 1, 5_000);
    in_time(room.alpha.tables.seat_player(sampled(request))).await.expect_err("no seat");
    let (debit, find) = (tower.span(DEBIT).await, tower.span(FIND).await);
    assert_eq!(debit.attribute("fulcrum.wallet.outcome"), "unknown");
    assert_eq!((debit.attribute("error.type"), debit.status.as_str()), ("unknown", "error"));
    assert_eq!(debit.attribute("rpc.response.status_code"), "INTERNAL");
    assert_eq!(find.attribute("fulcrum.wallet.outcome"), "missing");
    assert_eq!(find.attribute("rpc.response.status_code"), "NOT_FOUND");
    assert_eq!(find.status, "unset");
    let call = tower.span("fulcrum.v1.TableService/SeatPlayer").await;
    assert_eq!(call.attribute("fulcrum.error.reason"), "WALLET_NOT_CONFIRMED");
    let bytes = tower.collector.bytes();
    assert!(!bytes.windows(16).any(|part| part == b"their-own-secret"));
    room.house.close().await;
}
