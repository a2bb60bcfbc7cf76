//! Money from an operator's wallet where two servers, or a store that has lost something, get in each other's way: a debit
//! brings its chips once, and nobody else's.

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::faulty::Faulty;
use common::lossy::Lossy;
use common::purse::{Purse, courier};
use common::*;
use rules::event::StopScope;
use rules::payment::{Decline, Phase};
use rules::{Ask, Chips, Millis};
use tables::{PlayError, Store, TableKey, Tables};
use tokio::time::{sleep, timeout};

/// A server of this store and wallet.
fn server(store: Arc<dyn Store>, purse: &Arc<Purse>) -> Tables {
    tables(store).with_courier(courier(operator(), purse))
}

fn add(name: &str, amount: u64) -> Ask {
    Ask::AddChips { player: player(name), amount: Chips(amount), transaction: String::new() }
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(10), waiting).await.unwrap_or_else(|_| panic!("never: {what}"));
}

async fn settled(tables: &Tables, key: &TableKey) {
    until("nothing is open", async || tables.read(key).await.unwrap().payments.is_empty()).await;
}

/// A request and its twin at another server: the twin comes to its end while the first one's commit is held up.
async fn twins(silent: bool) {
    let (_, inner) = manual();
    let (store, purse) = (Faulty::new(inner.clone()), Purse::with(200));
    let (here, there) = (server(store.clone(), &purse), server(inner, &purse));
    let key = open(&there, 1).await;
    there.ask(&key, Some(request(2)), None, sit("ann"), &answer).await.unwrap();
    assert_eq!(purse.balance(), 100);

    here.read(&key).await.unwrap();
    store.gate.forget_permits(tokio::sync::Semaphore::MAX_PERMITS);
    let before = store.commits.load(Ordering::SeqCst);
    let (first, at) = (here.clone(), key.clone());
    let first =
        tokio::spawn(async move { first.ask(&at, Some(request(3)), None, add("ann", 50), &answer).await });
    until("its commit is on its way", async || store.commits.load(Ordering::SeqCst) > before).await;
    let twin = there.ask(&key, Some(request(3)), None, add("ann", 50), &answer).await.unwrap();
    assert_eq!(there.read(&key).await.unwrap().ledger.bought_in, Chips(150));
    purse.silent.store(silent, Ordering::SeqCst);
    store.gate.add_permits(tokio::sync::Semaphore::MAX_PERMITS);

    let answered = first.await.unwrap().expect("the same answer");
    assert_eq!((answered.bytes, answered.replayed), (twin.bytes, true));
    if silent {
        let cancelled = async || {
            let open = there.read(&key).await.unwrap().payments.clone();
            open.iter().all(|payment| payment.phase == Phase::Cancelling)
        };
        until("its own debit is cancelled", cancelled).await;
    } else {
        settled(&there, &key).await;
    }
    let table = there.read(&key).await.unwrap();
    assert_eq!(table.payments_begun, 3, "the first one did begin");
    assert_eq!((table.ledger.bought_in, purse.balance()), (Chips(150), 50));
}

#[tokio::test]
async fn of_a_request_and_its_twin_one_debit_is_used_and_the_other_one_given_back() {
    twins(false).await;
}

/// Also if nobody knows what the wallet has done.
#[tokio::test]
async fn a_debit_that_its_twin_has_made_needless_is_cancelled() {
    twins(true).await;
}

/// Rules 10.2: the wallet's answer comes for a payment that the store has lost, and its number is another player's.
#[tokio::test]
async fn r10_2_an_answer_for_a_lost_payment_is_nobody_elses() {
    let (clock, _) = manual();
    let store = Lossy::new(clock);
    let (anns, bobs) = (Purse::held(100), Purse::held(100));
    let (here, there) = (server(store.clone(), &anns), server(store.clone(), &bobs));
    let key = open(&here, 1).await;
    store.cut_replica();
    let seat = |tables: &Tables, name: &'static str, number| {
        let (tables, key) = (tables.clone(), key.clone());
        tokio::spawn(async move { tables.ask(&key, Some(request(number)), None, sit(name), &answer).await })
    };
    let ann = seat(&here, "ann", 2);
    until("the wallet has her debit", async || anns.balance() == 0).await;
    store.fail_over();
    let bob = seat(&there, "bob", 3);
    until("the wallet has his debit", async || bobs.balance() == 0).await;
    let number = there.read(&key).await.unwrap().payments[0].number;
    assert_eq!(number, 1, "the number of the payment that is lost");

    anns.replies.add_permits(100);
    until("she is told", async || ann.is_finished()).await;
    let told = ann.await.unwrap();
    assert!(matches!(told, Err(PlayError::WalletNotConfirmed)), "{told:?}");
    let table = there.read(&key).await.unwrap();
    assert!(table.occupied().next().is_none(), "bob's debit is not answered yet");
    bobs.replies.add_permits(100);
    bob.await.unwrap().expect("he sits");
    let table = there.read(&key).await.unwrap();
    assert_eq!(table.seat_of(&player("bob")).map(|seat| seat.number()), Some(1));

    // Her debit is booked, and the operator has to see to it: what is lost is not known. It brings no chips to the request
    // that comes again, which is another debit.
    if table.stops.iter().any(|stop| stop.scope == StopScope::Malfunction) {
        ask(&there, &key, Ask::Resume { scope: StopScope::Malfunction }).await.unwrap();
    }
    let told = seat(&here, "ann", 2).await.unwrap();
    assert!(matches!(told, Err(PlayError::WalletDeclined(Decline::Funds))), "{told:?}");
    assert_eq!((anns.balance(), here.read(&key).await.unwrap().ledger.bought_in), (0, Chips(100)));
}

/// A request that is not remembered any more is another debit, not chips for an old one.
#[tokio::test]
async fn a_request_that_is_forgotten_is_paid_for_again() {
    let (clock, store) = manual();
    let purse = Purse::with(250);
    let tables = server(store, &purse);
    let key = open(&tables, 1).await;
    for balance in [150, 50] {
        tables.ask(&key, Some(request(2)), None, sit("ann"), &answer).await.unwrap();
        assert_eq!(purse.balance(), balance);
        assert!(tables.ask(&key, Some(request(2)), None, sit("ann"), &answer).await.unwrap().replayed);
        assert_eq!(purse.balance(), balance, "it is remembered");
        tables.ask(&key, Some(request(3)), None, stand_up("ann"), &answer).await.unwrap();
        settled(&tables, &key).await;
        assert_eq!(purse.balance(), balance + 100);
        purse.take(100);
        clock.advance(Millis::minutes(15 * 24 * 60));
    }
}
