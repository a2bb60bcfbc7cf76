//! Whose stop it is, and what is kept of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::common::faulty::Faulty;
use rules::Millis;
use tables::stops::{Act, Author, MOST_STOPS, Scope, Shelf, StopChange, StopEntry, StopError, StopState};
use tables::{PlayError, Store, Token};

use crate::common::*;
use crate::scene::*;

#[tokio::test(start_paused = true)]
async fn operator_and_administrator_have_a_stop_each() {
    let store = alone();
    let tables = tables(Arc::<Faulty>::clone(&store));
    let key = open(&tables, 1).await;
    let scope = Scope::Player(operator(), player("ann"));
    disable(&tables, 2, &scope).await.unwrap();
    let of_administrator = |number| by_administrator(order(number, &scope));
    tables.disable(&of_administrator(3), &text).await.unwrap();
    enable(&tables, 4, &scope).await.unwrap();
    let seated = ask(&tables, &key, sit("ann")).await;
    assert!(matches!(seated, Err(PlayError::Disabled { .. })), "{seated:?}");
    let lifted = enable(&tables, 5, &scope).await;
    assert!(matches!(lifted, Err(StopError::OfAdministrator)), "{lifted:?}");
    tables.enable(&of_administrator(6), &text).await.unwrap();
    ask(&tables, &key, sit("ann")).await.unwrap();
    for number in [7, 8] {
        let order = if number == 7 { order(7, &scope) } else { of_administrator(8) };
        assert!(matches!(tables.enable(&order, &text).await, Err(StopError::NotDisabled)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_is_done_once_and_its_id_is_bound_to_it() {
    let store = alone();
    let tables = tables(Arc::<Faulty>::clone(&store));
    let scope = Scope::Operator(operator());
    store.stops_doubted.store(1, Ordering::SeqCst);
    let first = disable(&tables, 1, &scope).await.unwrap();
    assert!(first.replayed, "the answer was lost, and the record found");
    let again = disable(&tables, 1, &scope).await.unwrap();
    assert_eq!(again.bytes, first.bytes);
    enable(&tables, 2, &scope).await.unwrap();
    assert_eq!(disable(&tables, 1, &scope).await.unwrap().bytes, first.bytes, "whatever happened since");
    let mut other = order(1, &scope);
    other.request.payload = [9; 32];
    let reused = tables.disable(&other, &text).await;
    assert!(matches!(reused, Err(StopError::Play(PlayError::RequestReused))), "{reused:?}");
    let audit = store.inner.stops().audit(&scope.shelf(), None, 10).await.unwrap();
    let acts: Vec<Act> = audit.iter().map(|entry| entry.act).collect();
    assert_eq!(acts, [Act::Enabled, Act::Disabled], "a repetition is nothing new");
    assert!(audit.iter().all(|entry| entry.requester == "risk desk" && entry.at > Millis::ZERO));
}

#[tokio::test(start_paused = true)]
async fn an_operator_has_so_many_stops_and_an_administrator_one_more() {
    let store = alone();
    let tables = tables(Arc::<Faulty>::clone(&store));
    let shelf = Shelf::Operator(operator());
    let full = (0..MOST_STOPS).map(|number| {
        let scope = Scope::Player(operator(), player(&format!("p{number}")));
        StopEntry {
            scope,
            author: Author::Operator(operator()),
            reason: "r".to_owned(),
            requester: "q".to_owned(),
            since: Millis(1),
            changed: Millis(1),
            version: 1,
            state: StopState::Active,
            swept: true,
        }
    });
    let token = Token { version: 1, nonce: 1 };
    let (put, remove) = (full.collect(), Vec::new());
    let filled = StopChange { shelf, expected: None, token, put, remove, audit: None, request: None };
    store.inner.stops().change(&filled).await.unwrap();
    let one_more = Scope::Player(operator(), player("ann"));
    let refused = disable(&tables, 1, &one_more).await;
    assert!(matches!(refused, Err(StopError::TooMany)), "{refused:?}");
    disable(&tables, 2, &Scope::Player(operator(), player("p7"))).await.unwrap();
    tables.disable(&by_administrator(order(3, &one_more)), &text).await.unwrap();
}
