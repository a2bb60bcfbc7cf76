//! The commit loop as its callers see it: requests, repetitions, refusals, turns, many callers at once.

mod common;

use std::sync::Arc;

use common::*;
use rules::{Action, Ask, Chips, Decision, Millis, Refusal};
use tables::{Clock, MemoryStore, PlayError, Request, RequestId, Store, TableId};
use tokio::task::JoinSet;
use uuid::Uuid;

/// What a refused call was refused for.
fn refusal<T: std::fmt::Debug>(result: Result<T, PlayError>) -> Refusal {
    match result {
        Err(PlayError::Refused { refusal, .. }) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_repeated_opening_is_the_same_table() {
    let (_, store) = manual();
    let tables = tables(store);
    let first = tables.open(&operator(), request(1), config(), &answer).await.unwrap();
    let again = tables.open(&operator(), request(1), config(), &|_, _| b"other".to_vec()).await.unwrap();
    assert!(!first.replayed && again.replayed);
    assert_eq!(first.bytes, again.bytes);
    let other = Request { payload: [2; 32], ..request(1) };
    let reused = tables.open(&operator(), other, config(), &answer).await;
    assert!(matches!(reused, Err(PlayError::RequestReused)), "{reused:?}");
    let key = open(&tables, 2).await;
    assert_eq!(key.table, TableId::derived(&operator(), &RequestId(Uuid::from_u128(2))));
    assert_eq!(tables.read(&key).await.unwrap().version, 1);
}

#[tokio::test]
async fn a_bad_opening_is_refused_and_its_id_stays_free() {
    let (_, store) = manual();
    let tables = tables(store);
    let mut bad = config();
    bad.seats = 11;
    let refused = tables.open(&operator(), request(1), bad.clone(), &answer).await;
    assert!(matches!(refusal(refused), Refusal::BadConfig(_)));
    tables.open(&operator(), request(1), config(), &answer).await.unwrap();
    let late = tables.open(&operator(), request(1), bad, &answer).await.unwrap();
    assert!(late.replayed, "an id that was done is answered, whatever stands beside it");
}

#[tokio::test]
async fn a_repeated_request_gets_its_answer_whatever_has_happened_since() {
    let (_, store) = manual();
    let tables = tables(store);
    let key = open(&tables, 1).await;
    let first = tables.ask(&key, Some(request(2)), Some(1), sit("ann"), &answer).await.unwrap();
    assert_eq!((first.bytes.as_slice(), first.replayed), (&b"1 events at 2"[..], false));
    ask(&tables, &key, sit("bob")).await.unwrap();
    // Now it would be refused as seated, and the etag is old as well.
    let again = tables.ask(&key, Some(request(2)), Some(1), sit("ann"), &answer).await.unwrap();
    assert_eq!((again.bytes.as_slice(), again.replayed), (&b"1 events at 2"[..], true));
    ask(&tables, &key, stand_up("ann")).await.unwrap();
    // Now it would be possible again, and must not be done a second time.
    let third = tables.ask(&key, Some(request(2)), None, sit("ann"), &answer).await.unwrap();
    assert!(third.replayed);
    assert!(tables.read(&key).await.unwrap().seat_of(&player("ann")).is_none());
    let other = Request { payload: [2; 32], ..request(2) };
    for etag in [None, Some(1)] {
        let reused = tables.ask(&key, Some(other), etag, sit("eve"), &answer).await;
        assert!(matches!(reused, Err(PlayError::RequestReused)), "{reused:?}");
    }
}

#[tokio::test]
async fn a_refusal_uses_up_no_request_id() {
    let (_, store) = manual();
    let tables = tables(store);
    let key = open(&tables, 1).await;
    let refused = tables.ask(&key, Some(request(2)), None, stand_up("ann"), &answer).await;
    assert_eq!(refusal(refused), Refusal::NotSeated);
    ask(&tables, &key, sit("ann")).await.unwrap();
    let done = tables.ask(&key, Some(request(2)), None, stand_up("ann"), &answer).await.unwrap();
    assert!(!done.replayed);
}

#[tokio::test]
async fn an_etag_is_the_version() {
    let (_, store) = manual();
    let tables = tables(store);
    let key = open(&tables, 1).await;
    ask(&tables, &key, sit("ann")).await.unwrap();
    let stale = tables.ask(&key, Some(request(2)), Some(1), sit("bob"), &answer).await;
    assert!(matches!(stale, Err(PlayError::EtagMismatch { current: 2 })), "{stale:?}");
    tables.ask(&key, Some(request(2)), Some(2), sit("bob"), &answer).await.unwrap();
}

#[tokio::test]
async fn nothing_is_refused_or_answered_from_a_cached_state() {
    let (clock, store) = manual();
    // Two processes over one store: what one has cached the other one makes stale.
    let (here, there) = (tables(store.clone()), tables(store));
    let key = open(&here, 1).await;
    ask(&here, &key, sit("ann")).await.unwrap();
    ask(&there, &key, stand_up("ann")).await.unwrap();
    ask(&here, &key, sit("ann")).await.expect("the cache says that she sits; the store does not");
    ask(&there, &key, sit("bob")).await.unwrap();
    clock.advance(Millis::seconds(3));
    deal(&there, &key).await;
    let table = there.read(&key).await.unwrap();
    let now = clock.now();
    let accepted = there.decide_turn(&key, act(&table, Action::Call), now).await.unwrap();
    let repeated = here.decide_turn(&key, act(&table, Action::Call), now).await.unwrap();
    assert_eq!(accepted, repeated);
    let etag = there.read(&key).await.unwrap().version;
    here.ask(&key, None, Some(etag), wish("ann", true), &answer)
        .await
        .expect("the etag is that of the store");
    assert_eq!(there.read(&key).await.unwrap().version, etag + 1);
}

#[tokio::test]
async fn another_operators_table_is_not_found() {
    let (_, store) = manual();
    let tables = tables(store);
    let mut key = open(&tables, 1).await;
    key.operator = tables::OperatorId::new("other").unwrap();
    assert!(matches!(tables.read(&key).await, Err(PlayError::NotFound)));
    assert!(matches!(ask(&tables, &key, sit("ann")).await, Err(PlayError::NotFound)));
    assert!(matches!(tables.watch(&key, None).await, Err(PlayError::NotFound)));
    assert_eq!(tables.feed().watchers(), 0);
}

#[tokio::test]
async fn two_clients_in_one_seat_decide_a_turn_once() {
    let (clock, store) = manual();
    let tables = tables(store);
    let key = dealt(&tables, &clock, 1).await;
    let table = tables.read(&key).await.unwrap();
    let now = clock.now();
    let (call, fold) = (act(&table, Action::Call), act(&table, Action::Fold));
    let (first, second) = tokio::join!(
        tables.decide_turn(&key, call.clone(), now),
        tables.decide_turn(&key, fold.clone(), now)
    );
    let first = first.unwrap();
    assert!(matches!(refusal(second), Refusal::TurnPassed { .. }));
    assert_eq!(first.version, table.version + 1);
    assert!(matches!(first.decision, Decision::Acted { to: Chips(2), .. }), "{first:?}");
    // The same decision again, now and when the hand has gone on, is the same answer and no second decision.
    assert_eq!(tables.decide_turn(&key, call.clone(), now).await.unwrap(), first);
    let later = tables.read(&key).await.unwrap();
    tables.decide_turn(&key, act(&later, Action::Fold), now).await.unwrap();
    assert!(tables.read(&key).await.unwrap().running_hand().is_none());
    assert_eq!(tables.decide_turn(&key, call, now).await.unwrap(), first);
    let late = refusal(tables.decide_turn(&key, fold, now).await);
    assert!(matches!(late, Refusal::TurnPassed { .. } | Refusal::HandOver { .. }), "{late:?}");
    assert_eq!(tables.read(&key).await.unwrap().version, first.version + 1);
}

#[tokio::test]
async fn r8_2_a_decision_counts_by_when_it_was_received() {
    let (clock, store) = manual();
    let tables = tables(store);
    let key = dealt(&tables, &clock, 1).await;
    let table = tables.read(&key).await.unwrap();
    let deadline = deadline(&table);
    clock.advance(deadline - clock.now() + Millis::seconds(5));
    let late = tables.decide_turn(&key, act(&table, Action::Call), deadline + Millis(1)).await;
    assert!(matches!(refusal(late), Refusal::ClockRanOut { .. }));
    // Five seconds after the deadline nobody has applied the time-out yet: what came in time counts.
    tables.decide_turn(&key, act(&table, Action::Call), deadline).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_of_two_processes_lose_nothing() {
    let store = Arc::new(MemoryStore::default());
    let processes = [tables(store.clone()), tables(store.clone())];
    let key = open(&processes[0], 1).await;
    ask(&processes[0], &key, sit("ann")).await.unwrap();
    let mut callers = JoinSet::new();
    for number in 0..200_u128 {
        let (tables, key) = (processes[usize::try_from(number % 2).unwrap()].clone(), key.clone());
        callers.spawn(async move {
            let request = Some(request(100 + number));
            let made = tables.ask(&key, request, None, wish("ann", number % 3 == 0), &answer).await.unwrap();
            (number, made.bytes)
        });
    }
    let answers: Vec<(u128, Vec<u8>)> = callers.join_all().await;
    assert_eq!(processes[0].read(&key).await.unwrap().version, 202);
    let entries = store.history(&key, 2, 1000).await.unwrap().entries;
    assert_eq!(entries.iter().map(|e| e.version).collect::<Vec<_>>(), (3..=202).collect::<Vec<_>>());
    for (number, bytes) in answers {
        let kept = store.request(&key, &request(100 + number).id).await.unwrap().unwrap();
        assert_eq!(kept.answer, bytes);
    }
}

#[tokio::test]
async fn settlements_are_written_with_what_they_settle() {
    let (clock, store) = manual();
    let tables = tables(store.clone());
    let key = dealt(&tables, &clock, 1).await;
    let table = tables.read(&key).await.unwrap();
    tables.decide_turn(&key, act(&table, Action::Fold), clock.now()).await.unwrap();
    ask(&tables, &key, stand_up("ann")).await.unwrap();
    ask(
        &tables,
        &key,
        Ask::AddChips { player: player("bob"), amount: Chips(50), transaction: "more".to_owned() },
    )
    .await
    .unwrap();
    let found = store.settlements(&key.operator, &Default::default(), None, 100).await.unwrap().records;
    let records: Vec<_> = found.into_iter().map(|(_, s)| s).collect();
    let kinds: Vec<String> = records.iter().map(|s| format!("{:?}", s.kind)).collect();
    assert_eq!(kinds, ["BuyIn", "BuyIn", "Hand", "CashOut", "AddChips"]);
    let ids: std::collections::HashSet<_> = records.iter().map(|s| s.id).collect();
    assert_eq!(ids.len(), records.len(), "each obligation has an id of its own");
    for record in &records {
        let entry = store.history(&key, record.version - 1, 1).await.unwrap().entries.pop().unwrap();
        assert_eq!(record.ordinal, entry.version * 256);
        assert_eq!(store.settlement(&key.operator, &record.id).await.unwrap().as_ref(), Some(record));
    }
}
