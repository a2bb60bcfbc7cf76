//! Wallets that lie, shout or say nothing sensible: they harm nobody but their operator. Nobody is seated without a
//! debit that the wallet confirms, and nothing is paid twice.

use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use fulcrum::pb::wallet_v1 as wire;
use tables::{OperatorId, TableId, TableKey};
use tonic::Status;

use super::bank::{Act, Bank, Method, OPENING, TOKEN, Twist, client_of};
use super::rogue::{HARMS, Harm, Rogue};
use super::room::{DEADLINE, Room, buy_in, callers, leave, seat, setup, stand_up, table_of};
use crate::harness::{House, in_time, reason, texas};

fn is_no_seat(status: &Status) {
    let reasons = ["WALLET_NOT_CONFIRMED", "WALLET_UNAVAILABLE"];
    assert!(reasons.contains(&&*reason(status)), "{status:?}");
    assert!(status.message().len() <= 200, "{}", status.message());
}

/// Answers about something else than what was asked.
const TWISTS: [(&str, Twist); 9] = [
    ("id", |t| t.transaction_id = "00000000-0000-4000-8000-000000000000".into()),
    ("no id", |t| t.transaction_id.clear()),
    ("player", |t| t.player_id = "mallory".into()),
    ("more", |t| t.amount += 1),
    ("negative", |t| t.amount = -t.amount),
    ("currency", |t| t.currency = "USD".into()),
    ("purpose", |t| t.purpose = wire::Purpose::ReturnedChips.into()),
    ("state", |t| t.state = 77),
    ("no state", |t| t.state = 0),
];

#[tokio::test]
async fn an_answer_to_something_else_seats_nobody() {
    for (name, twist) in TWISTS {
        // A wallet a lie: five of them in a row, and it would not be asked any more.
        let mut room = Room::open().await;
        let table = room.alpha.table_of(texas(), &[]).await;
        room.bank().play(move |asked| match asked.method {
            Method::Debit => Act::BookAndSay(twist),
            Method::Find => Act::Say(twist),
            _ => Act::Honest,
        });
        is_no_seat(&seat(&mut room.alpha, &buy_in(&table, "ann", 1, 5_000)).await.unwrap_err());
        room.bank().until(|bank| bank.moved() == [1, 0, 1]).await;
        assert_eq!(room.bank().balance("ann"), OPENING, "{name}");
        assert!(room.alpha.table(&table, "").await.seats.is_empty(), "{name}");
        room.house.close().await;
    }
}

#[tokio::test]
async fn a_credit_that_is_answered_with_a_lie_is_paid_once() {
    for (name, twist) in TWISTS {
        let mut room = Room::open().await;
        let table = table_of(&mut room.alpha, texas(), &["ann"]).await;
        room.bank().play_in(Method::Credit, move |asked| match asked.before {
            0 => Act::BookAndSay(twist),
            _ => Act::Honest,
        });
        stand_up(&mut room.alpha, &leave(&table, "ann")).await.expect("she leaves");
        let found =
            |bank: &Bank| !bank.calls(Method::Find).is_empty() || bank.calls(Method::Credit).len() > 1;
        room.bank().until(found).await;
        assert_eq!((room.bank().balance("ann"), room.bank().moved()), (OPENING, [1, 1, 0]), "{name}");
        room.house.close().await;
    }
}

#[tokio::test]
async fn an_unknown_reason_declines_and_a_negative_balance_is_the_wallets_own_affair() {
    let mut room = Room::open().await;
    let table = table_of(&mut room.alpha, texas(), &["bob"]).await;
    let declined: Twist = |t| {
        t.set_state(wire::TransactionState::Declined);
        t.decline_reason = 4_711;
    };
    room.bank().play_in(Method::Debit, move |_| Act::Say(declined));
    let status = seat(&mut room.alpha, &buy_in(&table, "ann", 2, 5_000)).await.unwrap_err();
    assert_eq!(reason(&status), "WALLET_DECLINED");
    room.bank().honest();
    room.bank().set_balance("ann", -1_000_000);
    let status = seat(&mut room.alpha, &buy_in(&table, "ann", 2, 5_000)).await.unwrap_err();
    assert_eq!(reason(&status), "WALLET_DECLINED");
    room.bank().set_balance("bob", -1_000_000);
    stand_up(&mut room.alpha, &leave(&table, "bob")).await.expect("he leaves");
    room.bank().until(|bank| bank.balance("bob") == -990_000).await;
    room.house.close().await;
}

#[tokio::test]
async fn a_wallet_that_says_no_to_credits_and_cancels_is_asked_again() {
    let mut room = Room::open().await;
    let table = table_of(&mut room.alpha, texas(), &["ann"]).await;
    let no: Twist = |t| t.set_state(wire::TransactionState::Declined);
    let gone: Twist = |t| t.set_state(wire::TransactionState::Cancelled);
    room.bank().play_in(Method::Credit, move |asked| match asked.before {
        0 => Act::Say(no),
        1 => Act::Say(gone),
        _ => Act::Honest,
    });
    stand_up(&mut room.alpha, &leave(&table, "ann")).await.expect("she leaves");
    room.bank().until(|bank| bank.balance("ann") == OPENING).await;
    assert_eq!(room.bank().moved(), [1, 1, 0]);
    let still: Twist = |t| t.set_state(wire::TransactionState::Booked);
    room.bank().play(move |asked| match (asked.method, asked.before) {
        (Method::Debit, _) => Act::BookAndFail(Status::internal("no")),
        (Method::Find, _) => Act::Fail(Status::internal("no")),
        (Method::Cancel, 0) => Act::Say(still),
        _ => Act::Honest,
    });
    is_no_seat(&seat(&mut room.alpha, &buy_in(&table, "bob", 1, 5_000)).await.unwrap_err());
    room.bank().until(|bank| bank.moved()[2] == 1).await;
    assert_eq!(room.bank().balance("bob"), OPENING);
    room.house.close().await;
}

#[tokio::test]
async fn what_a_wallet_says_of_itself_is_cut_and_has_no_token_in_it() {
    let mut room = Room::open().await;
    let table = room.alpha.table_of(texas(), &[]).await;
    let shout = format!("\u{1b}[31m\r\nAuthorization: Bearer {TOKEN} {}", "é".repeat(500));
    room.bank().play(move |_| Act::Fail(Status::internal(shout.clone())));
    is_no_seat(&seat(&mut room.alpha, &buy_in(&table, "ann", 1, 5_000)).await.unwrap_err());
    room.bank().asked(Method::Cancel, 1).await;
    let key = TableKey {
        operator: OperatorId::new("alpha").expect("a name"),
        table: TableId(table.parse().expect("a UUID")),
    };
    let told = async {
        loop {
            let state = room.house.tables.read(&key).await.expect("the table");
            match state.payments[0].error.clone() {
                error if error.is_empty() => tokio::time::sleep(Duration::from_millis(10)).await,
                error => break error,
            }
        }
    };
    let error = in_time(told).await;
    assert!(error.len() <= 200, "{error}");
    assert!(!error.chars().any(char::is_control) && !error.contains(TOKEN), "{error}");
    room.house.close().await;
}

/// The largest part of an answer that may be taken in before it is refused: what HTTP/2 lets another one send unasked.
const WINDOW: usize = 8 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_comes_instead_of_an_answer_harms_only_its_operator() {
    let honest = Bank::open().await;
    for harm in HARMS {
        let rogue = Rogue::open(harm).await;
        let house = House::with(setup(client_of(&rogue.url, DEADLINE), honest.client(DEADLINE))).await;
        let (mut alpha, mut beta) = callers(&house).await;
        let table = alpha.table_of(texas(), &[]).await;
        let of_beta = beta.table_of(texas(), &[]).await;
        let mut waiting = Vec::new();
        for no in 1..=4 {
            let (mut caller, request) = (alpha.clone(), buy_in(&table, &format!("p{no}"), no, 5_000));
            waiting.push(tokio::spawn(async move { seat(&mut caller, &request).await }));
        }
        let begun = Instant::now();
        seat(&mut beta, &buy_in(&of_beta, "ann", 1, 5_000))
            .await
            .unwrap_or_else(|status| panic!("{harm:?}: {status:?}"));
        for call in waiting {
            is_no_seat(&call.await.expect("no panic").unwrap_err());
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{harm:?}: {:?}", begun.elapsed());
        assert!(alpha.table(&table, "").await.seats.is_empty(), "{harm:?}");
        if harm == Harm::Large {
            assert!(rogue.taken() < 4 * WINDOW, "{} bytes were taken", rogue.taken());
        }
        let ended = v1::CloseTableRequest {
            request_id: crate::harness::request_id(),
            table_id: table.clone(),
            ..Default::default()
        };
        alpha.tables.close_table(ended).await.expect("the table is well");
        drop((alpha, beta));
        house.close().await;
    }
}
