//! The process dies at each step of a payment; another one takes it up on the same store when its term is over, and the
//! wallet's books and ours agree.

use std::sync::Arc;
use std::time::Duration;

use rules::payment::FIRST_TERM;
use tables::MemoryStore;
use tokio::runtime::{Builder, Runtime};
use tonic::Status;

use super::bank::{Act, Asked, Bank, Method, OPENING};
use super::room::{DEADLINE, Leaping, buy_in, callers, leave, seat, setup, stand_up};
use crate::harness::{Caller, House, Setup, in_time, reason, texas};

/// A wallet and a store that outlive the houses in front of them.
struct Ground {
    bank: Bank,
    clock: Arc<Leaping>,
    store: Arc<MemoryStore>,
}

/// A house whose tasks can all be ended at once, wherever they are.
struct Mortal {
    runtime: Runtime,
    alpha: Caller,
    _house: House,
}

impl Ground {
    async fn new() -> Ground {
        let clock = Arc::new(Leaping::default());
        let store = Arc::new(MemoryStore::new(Arc::<Leaping>::clone(&clock)));
        Ground { bank: Bank::open().await, clock, store }
    }

    async fn house(&self) -> Mortal {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let (bank, store) = (self.bank.clone(), Arc::clone(&self.store));
        // The client is made where it lives, since its connection does.
        let opened = runtime.spawn(async move {
            let setup = setup(bank.client(DEADLINE), bank.client(DEADLINE));
            House::with(Setup { store, ..setup }).await
        });
        let house = in_time(opened).await.expect("a house");
        let (alpha, _) = callers(&house).await;
        Mortal { runtime, alpha, _house: house }
    }

    /// The house is gone, and a new one comes after the term of whatever was on its way.
    async fn dies(&self, house: Mortal) -> Mortal {
        house.runtime.shutdown_background();
        self.bank.honest();
        self.clock.leap(FIRST_TERM);
        self.house().await
    }
}

fn in_vain(method: Method, act: Act) -> impl Fn(&Asked) -> Act + Send + 'static {
    move |asked| if asked.method == method { act.clone() } else { Act::Honest }
}

/// A table of its own, with these players at 10,000 each.
async fn table_of(house: &mut Mortal, players: &[&str]) -> String {
    super::room::table_of(&mut house.alpha, texas(), players).await
}

#[tokio::test]
async fn before_the_wallet_has_the_debit() {
    let ground = Ground::new().await;
    let mut house = ground.house().await;
    let table = table_of(&mut house, &[]).await;
    ground.bank.play(in_vain(Method::Debit, Act::Hang));
    let (mut caller, request) = (house.alpha.clone(), buy_in(&table, "ann", 1, 5_000));
    let asked = request.clone();
    let call = tokio::spawn(async move { seat(&mut caller, &asked).await });
    ground.bank.asked(Method::Debit, 1).await;
    let mut house = ground.dies(house).await;
    call.await.expect("no panic").expect_err("nobody answers");
    let status = seat(&mut house.alpha, &request).await.unwrap_err();
    assert_eq!(reason(&status), "WALLET_NOT_CONFIRMED");
    ground.bank.asked(Method::Cancel, 1).await;
    assert_eq!((ground.bank.balance("ann"), ground.bank.moved()), (OPENING, [0, 0, 0]));
    seat(&mut house.alpha, &buy_in(&table, "ann", 1, 5_000)).await.expect("a new request begins anew");
    house.runtime.shutdown_background();
}

#[tokio::test]
async fn when_the_wallet_has_booked_the_debit() {
    let ground = Ground::new().await;
    let mut house = ground.house().await;
    let table = table_of(&mut house, &[]).await;
    ground.bank.play(in_vain(Method::Debit, Act::BookAndHang));
    let (mut caller, request) = (house.alpha.clone(), buy_in(&table, "ann", 1, 5_000));
    let asked = request.clone();
    let call = tokio::spawn(async move { seat(&mut caller, &asked).await });
    ground.bank.until(|bank| bank.moved()[0] == 1).await;
    let mut house = ground.dies(house).await;
    call.await.expect("no panic").expect_err("nobody answers");
    let seated = seat(&mut house.alpha, &request).await.expect("the wallet has booked it");
    assert_eq!((seated.seat, seated.session), (1, 1));
    assert_eq!((ground.bank.balance("ann"), ground.bank.moved()), (OPENING - 5_000, [1, 0, 0]));
    house.runtime.shutdown_background();
}

#[tokio::test]
async fn around_the_cancel_of_a_debit() {
    for act in [Act::Hang, Act::BookAndHang] {
        let ground = Ground::new().await;
        let mut house = ground.house().await;
        let table = table_of(&mut house, &[]).await;
        let cancelling = act.clone();
        ground.bank.play(move |asked| match asked.method {
            Method::Debit => Act::BookAndFail(Status::internal("the disk is full")),
            Method::Find => Act::Fail(Status::internal("the disk is full")),
            _ => cancelling.clone(),
        });
        let request = buy_in(&table, "ann", 1, 5_000);
        let status = seat(&mut house.alpha, &request).await.unwrap_err();
        assert_eq!(reason(&status), "WALLET_NOT_CONFIRMED");
        ground.bank.asked(Method::Cancel, 1).await;
        let mut house = ground.dies(house).await;
        ground.bank.asked(Method::Cancel, 2).await;
        ground.bank.until(|bank| bank.moved() == [1, 0, 1]).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!((ground.bank.balance("ann"), ground.bank.moved()), (OPENING, [1, 0, 1]));
        let again = seat(&mut house.alpha, &request).await.unwrap_err();
        assert_eq!(reason(&again), "WALLET_NOT_CONFIRMED");
        house.runtime.shutdown_background();
    }
}

#[tokio::test]
async fn around_a_credit() {
    for act in [Act::Hang, Act::BookAndHang] {
        let ground = Ground::new().await;
        let mut house = ground.house().await;
        let table = table_of(&mut house, &["ann"]).await;
        ground.bank.play(in_vain(Method::Credit, act));
        let request = leave(&table, "ann");
        let left = stand_up(&mut house.alpha, &request).await.expect("she leaves");
        ground.bank.asked(Method::Credit, 1).await;
        let mut house = ground.dies(house).await;
        ground.bank.until(|bank| bank.moved()[1] == 1).await;
        ground.bank.asked(Method::Find, 1).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!((ground.bank.balance("ann"), ground.bank.moved()), (OPENING, [1, 1, 0]));
        assert_eq!(stand_up(&mut house.alpha, &request).await.expect("the same answer"), left);
        house.runtime.shutdown_background();
    }
}
