//! A wallet that answers late, or not at all, or fails when it has booked: nobody is seated without his debit, and no debit
//! is kept without its seat.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rules::Millis;
use tables::CourierSettings;
use tokio::sync::Semaphore;
use tonic::{Code, Status};

use super::bank::{Act, Method, OPENING};
use super::room::{DEADLINE, Room, add, buy_in, courier, leave, more_chips, seat, stand_up, table_of, until};
use crate::harness::{Setup, reason, texas};

#[tokio::test]
async fn a_debit_that_nobody_confirms_is_cancelled_and_its_seat_is_free_at_once() {
    let mut room = Room::open().await;
    // The debit is booked long after the deadline, and the wallet knows nothing of it before.
    room.bank().play_in(Method::Debit, |asked| match asked.before {
        0 => Act::Late(3 * DEADLINE),
        _ => Act::Honest,
    });
    let table = room.alpha.table_of(texas(), &[]).await;
    let request = buy_in(&table, "ann", 1, 5_000);
    let begun = Instant::now();
    let status = seat(&mut room.alpha, &request).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::Aborted, "WALLET_NOT_CONFIRMED".into()));
    assert!(begun.elapsed() >= DEADLINE && begun.elapsed() < 3 * DEADLINE, "{:?}", begun.elapsed());
    seat(&mut room.alpha, &buy_in(&table, "bob", 1, 5_000)).await.expect("the seat is free");
    room.bank().asked(Method::Cancel, 1).await;
    tokio::time::sleep(3 * DEADLINE).await;
    // The tombstone of the cancel keeps the late debit out.
    assert_eq!(room.bank().balance("ann"), OPENING);
    assert_eq!(room.bank().moved(), [1, 0, 0]);
    let again = seat(&mut room.alpha, &request).await.unwrap_err();
    assert_eq!((again.code(), reason(&again)), (Code::Aborted, "WALLET_NOT_CONFIRMED".into()));
    room.house.close().await;
}

#[tokio::test]
async fn a_debit_that_was_booked_after_the_deadline_is_given_back() {
    let mut room = Room::open().await;
    // Booked, but nobody hears of it: neither by an answer nor by asking.
    room.bank().play(|asked| match asked.method {
        Method::Debit => Act::BookAndHang,
        Method::Find => Act::Hang,
        _ => Act::Honest,
    });
    let table = room.alpha.table_of(texas(), &[]).await;
    let status = seat(&mut room.alpha, &buy_in(&table, "ann", 1, 5_000)).await.unwrap_err();
    assert_eq!(reason(&status), "WALLET_NOT_CONFIRMED");
    room.bank().until(|bank| bank.moved() == [1, 0, 1]).await;
    assert_eq!(room.bank().balance("ann"), OPENING);
    assert!(room.alpha.table(&table, "").await.seats.is_empty());
    room.house.close().await;
}

#[tokio::test]
async fn a_cancel_is_sent_until_it_is_confirmed() {
    let mut room = Room::open().await;
    room.bank().play(|asked| match (asked.method, asked.before) {
        (Method::Debit, _) => Act::BookAndHang,
        (Method::Find, _) => Act::Hang,
        (Method::Cancel, 0) => Act::Fail(Status::unavailable("not now")),
        (Method::Cancel, 1) => Act::BookAndHang,
        _ => Act::Honest,
    });
    let table = room.alpha.table_of(texas(), &[]).await;
    let status = seat(&mut room.alpha, &buy_in(&table, "ann", 1, 5_000)).await.unwrap_err();
    assert_eq!(reason(&status), "WALLET_NOT_CONFIRMED");
    room.bank().asked(Method::Cancel, 3).await;
    assert_eq!((room.bank().balance("ann"), room.bank().moved()), (OPENING, [1, 0, 1]));
    room.house.close().await;
}

#[tokio::test]
async fn a_wallet_that_fails_when_it_has_booked_is_asked_what_it_did() {
    let mut room = Room::open().await;
    room.bank().play_in(Method::Debit, |asked| match asked.before {
        0 => Act::BookAndFail(Status::internal("the disk is full")),
        _ => Act::BookAndHang,
    });
    let table = room.alpha.table_of(texas(), &[]).await;
    seat(&mut room.alpha, &buy_in(&table, "ann", 1, 5_000)).await.expect("the wallet has booked it");
    add(&mut room.alpha, &more_chips(&table, "ann", 500)).await.expect("the wallet has booked it");
    assert_eq!(room.alpha.table(&table, "").await.seats[0].stack, 5_500);
    assert_eq!((room.bank().balance("ann"), room.bank().moved()), (OPENING - 5_500, [2, 0, 0]));
    assert_eq!(room.bank().calls(Method::Find).len(), 2);
    room.house.close().await;
}

#[tokio::test]
async fn a_credit_is_tried_until_it_is_booked_and_booked_once() {
    let mut room = Room::open().await;
    let table = table_of(&mut room.alpha, texas(), &["ann"]).await;
    room.bank().play_in(Method::Credit, |asked| match asked.before {
        0 => Act::Fail(Status::unavailable("not now")),
        1 => Act::BookAndHang,
        _ => Act::Honest,
    });
    let left =
        stand_up(&mut room.alpha, &leave(&table, "ann")).await.expect("she leaves, whatever her wallet does");
    assert_eq!(left.paid, 10_000);
    room.bank().until(|bank| bank.balance("ann") == OPENING).await;
    // The second one was booked without an answer, and found by asking for it.
    let found = |bank: &super::bank::Bank| bank.calls(Method::Find).len() >= 2;
    room.bank().until(found).await;
    tokio::time::sleep(2 * DEADLINE).await;
    assert_eq!((room.bank().balance("ann"), room.bank().moved()), (OPENING, [1, 1, 0]));
    room.house.close().await;
}

#[tokio::test]
async fn an_answer_in_time_seats_also_when_the_caller_has_gone() {
    let mut room = Room::open().await;
    room.bank().play_in(Method::Debit, |_| Act::Late(DEADLINE / 2));
    let table = room.alpha.table_of(texas(), &[]).await;
    let request = buy_in(&table, "ann", 1, 5_000);
    let gone = tokio::time::timeout(DEADLINE / 8, seat(&mut room.alpha, &request)).await;
    assert!(gone.is_err(), "he has hung up");
    until(&mut room.alpha, &table, |table| !table.seats.is_empty()).await;
    let seated = seat(&mut room.alpha, &request).await.expect("the answer that he did not wait for");
    assert_eq!((seated.seat, room.bank().moved()), (1, [1, 0, 0]));
    room.house.close().await;
}

#[tokio::test]
async fn a_debit_that_comes_when_the_table_has_closed_is_given_back() {
    let mut room = Room::patient().await;
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    room.bank().play_in(Method::Debit, move |_| Act::When(Arc::clone(&held)));
    let table = room.alpha.table_of(texas(), &[]).await;
    let (mut caller, request) = (room.alpha.clone(), buy_in(&table, "ann", 1, 5_000));
    let asked = tokio::spawn(async move { seat(&mut caller, &request).await });
    room.bank().asked(Method::Debit, 1).await;
    room.alpha.close_table(&table).await;
    gate.add_permits(1);
    let status = asked.await.expect("no panic").unwrap_err();
    assert_eq!(reason(&status), "WALLET_NOT_CONFIRMED");
    room.bank().until(|bank| bank.moved() == [1, 0, 1]).await;
    assert_eq!(room.bank().balance("ann"), OPENING);
    room.house.close().await;
}

#[tokio::test]
async fn what_is_never_booked_is_parked_and_not_asked_for_any_more() {
    let short = CourierSettings { park_after: Millis(1_500), ..courier() };
    let mut room = Room::with(|setup| Setup { courier: short, ..setup }).await;
    let table = table_of(&mut room.alpha, texas(), &["ann"]).await;
    room.bank().play_in(Method::Credit, |_| Act::Fail(Status::unavailable("never")));
    stand_up(&mut room.alpha, &leave(&table, "ann")).await.expect("she leaves");
    let parked =
        |table: &rules::Table| table.payments.iter().any(|p| p.phase == rules::payment::Phase::Parked);
    let key = tables::TableKey {
        operator: tables::OperatorId::new("alpha").expect("a name"),
        table: tables::TableId(table.parse().expect("a UUID")),
    };
    let begun = Instant::now();
    while !parked(&room.house.tables.read(&key).await.expect("the table")) {
        assert!(begun.elapsed() < Duration::from_secs(20), "it is not parked");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let asked = room.bank().calls(Method::Credit).len();
    room.bank().honest();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(room.bank().calls(Method::Credit).len(), asked, "people have to see to it");
    assert_eq!(room.bank().balance("ann"), OPENING - 10_000);
    room.house.close().await;
}
