//! The same request once more, at the same time and later, of the three calls that move money; and another one under its
//! name.

use std::sync::Arc;
use std::time::Duration;

use fulcrum::pb::v1;
use fulcrum::store::Keyring;
use fulcrum::store::embedded::{EmbeddedSettings, EmbeddedStore};
use tables::Store;
use tokio::sync::Semaphore;
use tonic::Status;

use super::bank::{Act, Bank, Method, OPENING};
use super::room::{
    DEADLINE, Room, add, buy_in, callers, leave, more_chips, seat, setup, stand_up, table_of, until,
};
use crate::harness::{Caller, House, Setup, in_time, reason, texas};

fn is_reused<T: std::fmt::Debug>(answer: Result<T, Status>) {
    assert_eq!(reason(&answer.unwrap_err()), "REQUEST_ID_REUSED");
}

#[tokio::test]
async fn another_request_under_the_same_id_is_refused_and_moves_nothing() {
    let mut room = Room::open().await;
    let table = room.alpha.table_of(texas(), &[]).await;
    let alpha = &mut room.alpha;
    let first = buy_in(&table, "ann", 1, 5_000);
    let seated = seat(alpha, &first).await.expect("a seat");
    for other in [
        v1::SeatPlayerRequest { buy_in: 5_001, ..first.clone() },
        v1::SeatPlayerRequest { seat: 2, ..first.clone() },
        v1::SeatPlayerRequest { player_id: "bob".into(), ..first.clone() },
    ] {
        is_reused(seat(alpha, &other).await);
    }
    let id = first.request_id.clone();
    is_reused(
        add(alpha, &v1::AddChipsRequest { request_id: id.clone(), ..more_chips(&table, "ann", 5_000) }).await,
    );
    is_reused(stand_up(alpha, &v1::StandUpRequest { request_id: id, ..leave(&table, "ann") }).await);

    let chips = more_chips(&table, "ann", 700);
    let added = add(alpha, &chips).await.expect("chips");
    is_reused(add(alpha, &v1::AddChipsRequest { amount: 701, ..chips.clone() }).await);
    let out = leave(&table, "ann");
    let left = stand_up(alpha, &out).await.expect("she leaves");
    is_reused(stand_up(alpha, &v1::StandUpRequest { player_id: "bob".into(), ..out.clone() }).await);

    room.banks[0].until(|bank| bank.balance("ann") == OPENING).await;
    let alpha = &mut room.alpha;
    assert_eq!(seat(alpha, &first).await.expect("the same answer"), seated);
    assert_eq!(add(alpha, &chips).await.expect("the same answer"), added);
    assert_eq!(stand_up(alpha, &out).await.expect("the same answer"), left);
    assert_eq!(room.bank().moved(), [2, 1, 0]);
    room.house.close().await;
}

#[tokio::test]
async fn while_the_wallet_is_asked_the_id_is_taken_too() {
    let mut room = Room::patient().await;
    let table = table_of(&mut room.alpha, texas(), &["bob"]).await;
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    room.bank().play_in(Method::Debit, move |_| Act::When(Arc::clone(&held)));
    let first = buy_in(&table, "ann", 2, 5_000);
    let (mut caller, request) = (room.alpha.clone(), first.clone());
    let asked = tokio::spawn(async move { seat(&mut caller, &request).await });
    until(&mut room.alpha, &table, |table| !table.reserved_seats.is_empty()).await;
    let id = || first.request_id.clone();
    is_reused(seat(&mut room.alpha, &v1::SeatPlayerRequest { buy_in: 5_001, ..first.clone() }).await);
    is_reused(
        add(&mut room.alpha, &v1::AddChipsRequest { request_id: id(), ..more_chips(&table, "bob", 50) })
            .await,
    );
    is_reused(
        stand_up(&mut room.alpha, &v1::StandUpRequest { request_id: id(), ..leave(&table, "bob") }).await,
    );
    let pause = v1::PauseTableRequest { request_id: id(), table_id: table.clone(), ..Default::default() };
    let pause = v1::PauseTableRequest { reason: "why".into(), ..pause };
    is_reused(room.alpha.tables.pause_table(pause).await);
    gate.add_permits(1);
    asked.await.expect("no panic").expect("a seat");
    assert_eq!(room.alpha.table(&table, "").await.seats.len(), 2);
    assert_eq!((room.bank().balance("ann"), room.bank().moved()), (OPENING - 5_000, [2, 0, 0]));
    room.house.close().await;
}

#[tokio::test]
async fn twenty_at_once_are_one_debit_with_one_answer() {
    let mut room = Room::open().await;
    let table = room.alpha.table_of(texas(), &[]).await;
    let request = buy_in(&table, "ann", 0, 5_000);
    let seated = at_once(&room.alpha, move |mut caller| {
        let request = request.clone();
        async move { seat(&mut caller, &request).await }
    })
    .await;
    assert_eq!((seated.seat, room.bank().balance("ann")), (1, OPENING - 5_000));
    let request = more_chips(&table, "ann", 700);
    let added = at_once(&room.alpha, move |mut caller| {
        let request = request.clone();
        async move { add(&mut caller, &request).await }
    })
    .await;
    assert_eq!((added.added, room.bank().balance("ann")), (700, OPENING - 5_700));
    let request = leave(&table, "ann");
    let left = at_once(&room.alpha, move |mut caller| {
        let request = request.clone();
        async move { stand_up(&mut caller, &request).await }
    })
    .await;
    assert_eq!(left.paid, 5_700);
    room.bank().until(|bank| bank.balance("ann") == OPENING).await;
    assert_eq!(room.bank().moved(), [2, 1, 0]);
    room.house.close().await;
}

/// The one answer of twenty calls at once.
async fn at_once<T, F>(caller: &Caller, call: impl Fn(Caller) -> F) -> T
where
    T: PartialEq + std::fmt::Debug + Send + 'static,
    F: Future<Output = Result<T, Status>> + Send + 'static,
{
    let tasks: Vec<_> = (0..20).map(|_| tokio::spawn(call(caller.clone()))).collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.expect("no panic").expect("an answer"));
    }
    let first = answers.pop().expect("twenty answers");
    assert!(answers.iter().all(|answer| *answer == first), "{first:?} {answers:?}");
    first
}

#[tokio::test]
async fn what_was_declined_stays_declined_and_outlives_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = Arc::new(Keyring::beside(&folder.path().join("tables.redb")).expect("a key"));
    let open = async || {
        // The house before may still be letting go of it.
        let opening = async {
            loop {
                let settings = EmbeddedSettings::new(folder.path().join("tables.redb"), Arc::clone(&keys));
                match EmbeddedStore::open(settings) {
                    Ok(store) => break store,
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        };
        let store: Arc<dyn Store> = Arc::new(in_time(opening).await);
        store
    };
    let bank = Bank::open().await;
    let with = |store| Setup { store, ..setup(bank.client(DEADLINE), bank.client(DEADLINE)) };
    bank.set_balance("ann", 0);
    let house = House::with(with(open().await)).await;
    let (mut alpha, _) = callers(&house).await;
    let table = alpha.table_of(texas(), &[]).await;
    let (declined, paid) = (buy_in(&table, "ann", 1, 5_000), buy_in(&table, "bob", 2, 5_000));
    let refused = seat(&mut alpha, &declined).await.unwrap_err();
    assert_eq!(reason(&refused), "WALLET_DECLINED");
    let seated = seat(&mut alpha, &paid).await.expect("a seat");
    bank.set_balance("ann", 50_000);
    same(&refused, &seat(&mut alpha, &declined).await.unwrap_err());
    is_reused(seat(&mut alpha, &v1::SeatPlayerRequest { seat: 3, ..declined.clone() }).await);
    house.close().await;
    drop(alpha);

    let house = House::with(with(open().await)).await;
    let (mut alpha, _) = callers(&house).await;
    same(&refused, &seat(&mut alpha, &declined).await.unwrap_err());
    is_reused(seat(&mut alpha, &v1::SeatPlayerRequest { seat: 3, ..declined.clone() }).await);
    assert_eq!(seat(&mut alpha, &paid).await.expect("the same answer"), seated);
    assert_eq!(bank.moved(), [1, 0, 0]);
    seat(&mut alpha, &buy_in(&table, "ann", 1, 5_000)).await.expect("a new request begins anew");
    house.close().await;
}

fn same(first: &Status, again: &Status) {
    assert_eq!(
        (first.code(), first.message(), first.details()),
        (again.code(), again.message(), again.details())
    );
}
