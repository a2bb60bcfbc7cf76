//! Money on its way while a player is stopped.

use std::sync::Arc;
use std::time::Duration;

use crate::common::faulty::Faulty;
use crate::common::purse::{Purse, courier};
use rules::Ask;
use rules::event::StopScope;
use tables::PlayError;
use tables::stops::Scope;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::common::*;
use crate::scene::*;

#[tokio::test(start_paused = true)]
async fn money_that_comes_after_the_stop_goes_back() {
    let store = alone();
    let purse = Purse::held(1000);
    let tables = tables(Arc::<Faulty>::clone(&store)).with_courier(courier(operator(), &purse));
    let key = open(&tables, 1).await;
    let (seating, at) = (tables.clone(), key.clone());
    let seated =
        tokio::spawn(async move { seating.ask(&at, Some(request(7)), None, sit("ann"), &answer).await });
    while purse.balance() == 1000 {
        sleep(Duration::from_millis(10)).await;
    }
    disable(&tables, 2, &Scope::Player(operator(), player("ann"))).await.unwrap();
    purse.replies.add_permits(tokio::sync::Semaphore::MAX_PERMITS);
    assert!(matches!(seated.await.unwrap(), Err(PlayError::WalletNotConfirmed)));
    while !tables.read(&key).await.unwrap().payments.is_empty() {
        sleep(Duration::from_millis(100)).await;
    }
    let table = tables.read(&key).await.unwrap();
    assert_eq!((table.seat_of(&player("ann")), purse.balance()), (None, 1000));
}

/// The wallet's answer waits in the table's line while the player is stopped: what it rests on is too old by its turn.
#[tokio::test(start_paused = true)]
async fn money_that_waits_for_its_turn_during_the_stop_goes_back() {
    let store = shared();
    let purse = Purse::held(1000);
    let tables = tables(Arc::<Faulty>::clone(&store)).with_courier(courier(operator(), &purse));
    let key = open(&tables, 1).await;
    let asked = |number, ask| {
        let (tables, key) = (tables.clone(), key.clone());
        tokio::spawn(async move { tables.ask(&key, Some(request(number)), None, ask, &answer).await })
    };
    let seated = asked(7, sit("ann"));
    while purse.balance() == 1000 {
        sleep(Duration::from_millis(10)).await;
    }
    store.gate.forget_permits(tokio::sync::Semaphore::MAX_PERMITS);
    let stop = || Ask::Stop { scope: StopScope::Table, reason: "slow".to_owned() };
    let line: Vec<_> = (10..17).map(|number| asked(number, stop())).collect();
    sleep(Duration::from_millis(10)).await;
    purse.replies.add_permits(tokio::sync::Semaphore::MAX_PERMITS);
    sleep(Duration::from_millis(10)).await;
    disable(&tables, 2, &Scope::Player(operator(), player("ann"))).await.unwrap();
    assert!(line.iter().any(|waiting| !waiting.is_finished()), "the answer is still behind them");
    store.gate.add_permits(tokio::sync::Semaphore::MAX_PERMITS);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(tables.read(&key).await.unwrap().seat_of(&player("ann")), None);

    let (_stop, shutdown) = watch::channel(false);
    tokio::spawn(tables::clocks::run(tables.clone(), shutdown));
    while !tables.read(&key).await.unwrap().payments.is_empty() {
        sleep(Duration::from_millis(100)).await;
    }
    assert!(matches!(seated.await.unwrap(), Err(PlayError::WalletPending)));
    assert!(matches!(asked(7, sit("ann")).await.unwrap(), Err(PlayError::WalletNotConfirmed)));
    let table = tables.read(&key).await.unwrap();
    assert_eq!((table.seat_of(&player("ann")), purse.balance()), (None, 1000));
}
