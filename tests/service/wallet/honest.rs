//! A wallet that does what it should: whoever comes and goes, it has in the end what its books say.

use fulcrum::pb::v1;
use fulcrum::pb::v1::settlement::Body;
use fulcrum::pb::v1::table_event::Event;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tonic::Code;

use super::bank::{Act, Method, OPENING};
use super::room::{Room, add, buy_in, leave, more_chips, seat, stand_up, table_of, until};
use crate::harness::{Caller, reason, texas};
use crate::money::{act, deal};

/// The record of this id: what kind of movement, of how much, by which transaction of the wallet.
async fn movement(caller: &mut Caller, table: &str, id: &str) -> (v1::SettlementKind, i64, String) {
    let mut records = caller.records(table).await;
    records.retain(|record| record.settlement_id == id);
    let record = records.pop().expect("its record");
    let Some(Body::Movement(movement)) = &record.body else { panic!("{record:?}") };
    (record.kind(), movement.amount, movement.transaction_id.clone())
}

#[tokio::test]
async fn a_seat_is_debited_and_what_is_left_is_credited() {
    let mut room = Room::open().await;
    let table = room.alpha.table_of(texas(), &[]).await;
    let seated = seat(&mut room.alpha, &buy_in(&table, "ann", 2, 5_000)).await.expect("a seat");
    assert_eq!((seated.seat, seated.session), (2, 1));
    assert_eq!(room.bank().balance("ann"), OPENING - 5_000);
    let view = room.alpha.table(&table, "").await;
    assert_eq!((view.version, view.etag.clone()), (seated.sequence, seated.etag.clone()));
    assert_eq!((view.seats[0].stack, view.reserved_seats.len()), (5_000, 0));
    let debit = room.bank().calls(Method::Debit).remove(0);
    let record = movement(&mut room.alpha, &table, &seated.settlement_id).await;
    assert_eq!(record, (v1::SettlementKind::BuyIn, 5_000, debit.id));

    let left = stand_up(&mut room.alpha, &leave(&table, "ann")).await.expect("she leaves");
    assert_eq!((left.pending, left.paid), (false, 5_000));
    room.bank().until(|bank| bank.balance("ann") == OPENING).await;
    let credit = room.bank().calls(Method::Credit).remove(0);
    assert_eq!((credit.player.as_str(), credit.amount), ("ann", 5_000));
    let record = movement(&mut room.alpha, &table, &left.settlement_id).await;
    assert_eq!(record, (v1::SettlementKind::CashOut, 5_000, credit.id));
    assert_eq!(room.bank().moved(), [1, 1, 0]);
    room.house.close().await;
}

#[tokio::test]
async fn chips_between_hands_come_at_once_and_what_does_not_fit_is_not_debited() {
    let mut room = Room::open().await;
    let table = room.alpha.table_of(texas(), &[]).await;
    seat(&mut room.alpha, &buy_in(&table, "ann", 1, 5_000)).await.expect("a seat");
    let added = add(&mut room.alpha, &more_chips(&table, "ann", 3_000)).await.expect("chips");
    assert_eq!((added.pending, added.added, added.returned), (false, 3_000, 0));
    let debit = room.bank().calls(Method::Debit).remove(1);
    let record = movement(&mut room.alpha, &table, &added.settlement_id).await;
    assert_eq!(record, (v1::SettlementKind::AddChips, 3_000, debit.id));
    let refused = add(&mut room.alpha, &more_chips(&table, "ann", 2_001)).await.unwrap_err();
    assert_eq!(reason(&refused), "BUY_IN_OUT_OF_RANGE");
    assert_eq!((room.bank().balance("ann"), room.bank().moved()), (OPENING - 8_000, [2, 0, 0]));
    assert_eq!(room.alpha.table(&table, "").await.seats[0].stack, 8_000);
    room.house.close().await;
}

#[tokio::test]
async fn chips_that_are_asked_for_in_a_hand_come_after_it_and_their_rest_goes_back() {
    let mut room = Room::open().await;
    let table = table_of(&mut room.alpha, texas(), &["ann", "bob"]).await;
    let mut eyes = deal(&mut room.alpha, &table).await;
    let asked = add(&mut room.alpha, &more_chips(&table, "ann", 500)).await.expect("chips");
    assert_eq!((asked.pending, asked.added, asked.returned), (true, 0, 0));
    assert_eq!(room.bank().balance("ann"), OPENING - 10_500);
    assert_eq!(room.alpha.table(&table, "").await.seats[0].pending_chips, 500);
    // She folds her small blind of 50, so that 450 of the 500 do not fit.
    act(&mut room.alpha, &mut eyes, &table, "ann", v1::Action::Fold, 0).await;
    room.bank().until(|bank| bank.balance("ann") == OPENING - 10_050).await;
    assert_eq!(room.alpha.table(&table, "").await.seats[0].stack, 10_000);
    room.house.close().await;
}

#[tokio::test]
async fn who_leaves_in_a_hand_is_paid_when_it_is_over() {
    let mut room = Room::open().await;
    let table = table_of(&mut room.alpha, texas(), &["ann", "bob", "cid"]).await;
    let mut eyes = deal(&mut room.alpha, &table).await;
    let left = stand_up(&mut room.alpha, &leave(&table, "bob")).await.expect("he leaves");
    assert_eq!((left.pending, left.paid), (true, 0));
    assert_eq!(room.bank().moved(), [3, 0, 0], "he is still in the hand");
    act(&mut room.alpha, &mut eyes, &table, "ann", v1::Action::Fold, 0).await;
    room.bank().until(|bank| bank.moved()[1] == 1).await;
    // His small blind of 50 is lost.
    assert_eq!(room.bank().balance("bob"), OPENING - 50);
    room.house.close().await;
}

#[tokio::test]
async fn a_table_that_closes_pays_everybody() {
    let mut room = Room::open().await;
    let table = table_of(&mut room.alpha, texas(), &["ann", "bob", "cid"]).await;
    let mut eyes = deal(&mut room.alpha, &table).await;
    room.alpha.close_table(&table).await;
    act(&mut room.alpha, &mut eyes, &table, "ann", v1::Action::Fold, 0).await;
    act(&mut room.alpha, &mut eyes, &table, "bob", v1::Action::Fold, 0).await;
    room.bank().until(|bank| bank.moved()[1] == 3).await;
    let balances = ["ann", "bob", "cid"].map(|player| room.bank().balance(player) - OPENING);
    assert_eq!(balances, [0, -50, 50]);
    assert_eq!(room.alpha.table(&table, "").await.state(), v1::TableState::Closed);
    room.house.close().await;
}

#[tokio::test]
async fn a_transaction_of_the_callers_is_refused_where_the_wallet_pays() {
    let mut room = Room::open().await;
    let table = room.alpha.table_of(texas(), &[]).await;
    let named = v1::SeatPlayerRequest { transaction_id: "mine".into(), ..buy_in(&table, "ann", 1, 5_000) };
    let more = v1::AddChipsRequest { transaction_id: "mine".into(), ..more_chips(&table, "ann", 500) };
    let out = v1::StandUpRequest { transaction_id: "mine".into(), ..leave(&table, "ann") };
    let statuses = [
        seat(&mut room.alpha, &named).await.unwrap_err(),
        add(&mut room.alpha, &more).await.unwrap_err(),
        stand_up(&mut room.alpha, &out).await.unwrap_err(),
    ];
    for status in statuses {
        assert_eq!((status.code(), reason(&status)), (Code::InvalidArgument, "INVALID_ARGUMENT".into()));
    }
    assert_eq!(room.bank().moved(), [0, 0, 0]);
    room.house.close().await;
}

#[tokio::test]
async fn a_debit_that_is_declined_frees_the_seat() {
    let mut room = Room::open().await;
    room.bank().set_balance("ann", 4_999);
    let table = room.alpha.table_of(texas(), &[]).await;
    let status = seat(&mut room.alpha, &buy_in(&table, "ann", 1, 5_000)).await.unwrap_err();
    assert_eq!((status.code(), reason(&status)), (Code::FailedPrecondition, "WALLET_DECLINED".into()));
    seat(&mut room.alpha, &buy_in(&table, "bob", 1, 5_000)).await.expect("the seat is free");
    assert_eq!((room.bank().balance("ann"), room.bank().balance("bob")), (4_999, OPENING - 5_000));
    room.house.close().await;
}

#[tokio::test]
async fn a_seat_that_waits_for_its_money_is_seen_and_nobody_else_gets_it() {
    let mut room = Room::patient().await;
    let table = room.alpha.table_of(texas(), &[]).await;
    let mut eyes = room.alpha.watch(&table, "").await;
    eyes.next().await.expect("a snapshot");
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    room.bank().play_in(Method::Debit, move |_| Act::When(Arc::clone(&held)));
    let (mut other, request) = (room.alpha.clone(), buy_in(&table, "ann", 3, 5_000));
    let asked = tokio::spawn(async move { seat(&mut other, &request).await });
    until(&mut room.alpha, &table, |table| !table.reserved_seats.is_empty()).await;
    let view = room.alpha.table(&table, "").await;
    let reserved = v1::ReservedSeat { seat: 3, player_id: "ann".into(), session: 1 };
    assert_eq!((view.reserved_seats, view.seats.len()), (vec![reserved], 0));
    let taken = seat(&mut room.alpha, &buy_in(&table, "bob", 3, 5_000)).await.unwrap_err();
    assert_eq!(reason(&taken), "SEAT_TAKEN");
    gate.add_permits(1);
    let seated = asked.await.expect("no panic").expect("a seat");
    eyes.until(seated.sequence).await;
    let events: Vec<&Event> = eyes.events().collect();
    assert!(
        matches!(events[..], [Event::SeatReserved(reserved), Event::PlayerSeated(seated), ..]
            if (reserved.seat, reserved.session, seated.seat, seated.session) == (3, 1, 3, 1)),
        "{events:?}"
    );
    room.house.close().await;
}

#[tokio::test]
async fn a_seat_that_is_free_again_is_told_with_its_player() {
    let mut room = Room::open().await;
    room.bank().set_balance("ann", 0);
    let table = room.alpha.table_of(texas(), &[]).await;
    let mut eyes = room.alpha.watch(&table, "").await;
    seat(&mut room.alpha, &buy_in(&table, "ann", 3, 5_000)).await.unwrap_err();
    room.bank().play_in(Method::Debit, |_| Act::Hang);
    seat(&mut room.alpha, &buy_in(&table, "bob", 4, 5_000)).await.unwrap_err();
    // The cancel of his debit ends later than his seat's reservation, and is nobody's business.
    until(&mut room.alpha, &table, |table| table.reserved_seats.is_empty()).await;
    let version = room.alpha.begin(&table).await;
    eyes.until(version).await;
    let told: Vec<String> = eyes
        .events()
        .filter_map(|event| match event {
            Event::SeatReserved(v1::SeatReserved { seat, player_id, session }) => {
                Some(format!("{player_id} waits at {seat} as {session}"))
            }
            Event::SeatReleased(v1::SeatReleased { seat, player_id, session }) => {
                Some(format!("{player_id} is gone from {seat} as {session}"))
            }
            _ => None,
        })
        .collect();
    let expected =
        ["ann waits at 3 as 1", "ann is gone from 3 as 1", "bob waits at 4 as 2", "bob is gone from 4 as 2"];
    assert_eq!(told, expected);
    room.house.close().await;
}

#[tokio::test]
async fn operators_without_a_wallet_and_with_one_are_beside_each_other() {
    let mut room = Room::with(|mut setup| {
        setup.wallets.truncate(1);
        setup
    })
    .await;
    let of_beta = room.beta.table_of(texas(), &["ann"]).await;
    assert_eq!(room.beta.table(&of_beta, "").await.seats.len(), 1, "with a transaction of the operator's");
    let nameless = seat(&mut room.beta, &buy_in(&of_beta, "bob", 2, 5_000)).await.unwrap_err();
    assert_eq!(reason(&nameless), "INVALID_ARGUMENT");
    let of_alpha = table_of(&mut room.alpha, texas(), &["ann"]).await;
    assert_eq!(room.alpha.table(&of_alpha, "").await.seats.len(), 1);
    assert_eq!((room.banks[0].moved(), room.banks[1].moved()), ([1, 0, 0], [0, 0, 0]));
    room.house.close().await;
}
