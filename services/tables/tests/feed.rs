//! Watching: every commit once, in order, without a gap; slow and silent watchers cost a bounded room.

mod common;

use std::sync::{Arc, Weak};
use std::time::Duration;

use common::*;
use rules::{Ask, Event, Millis, Table};
use tables::{
    FeedLimits, MemoryStore, Message, OperatorId, PlayError, Settings, Store, TableId, TableKey, Tables,
    Watcher,
};
use tokio::time::timeout;

/// A table that ann has come to, at version 2; [`go_on`] takes it from there.
async fn with_ann(tables: &Tables) -> TableKey {
    let key = open(tables, 1).await;
    ask(tables, &key, sit("ann")).await.unwrap();
    key
}

async fn go_on(tables: &Tables, key: &TableKey, commits: u64) {
    for number in 0..commits {
        ask(tables, key, wish("ann", number % 2 == 0)).await.unwrap();
    }
}

/// What a watcher is told until he has to wait.
async fn told(watcher: &mut Watcher) -> Vec<Message> {
    let mut told = Vec::new();
    while let Ok(Some(message)) = timeout(Duration::from_millis(10), watcher.next()).await {
        told.push(message);
    }
    told
}

type Step = (u64, Arc<[Event]>, Arc<Table>);

/// The commits among the messages, which have to be nothing else.
fn commits(messages: Vec<Message>) -> Vec<Step> {
    let commit = |message| match message {
        Message::Commit { version, events, table, .. } => (version, events, table),
        other => panic!("not a commit: {other:?}"),
    };
    messages.into_iter().map(commit).collect()
}

fn versions(steps: &[Step]) -> Vec<u64> {
    steps.iter().map(|(version, _, _)| *version).collect()
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_and_then_every_commit() {
    let (_, store) = manual();
    let tables = tables(store);
    let key = with_ann(&tables).await;
    let mut watcher = tables.watch(&key, None).await.unwrap();
    go_on(&tables, &key, 5).await;
    let mut messages = told(&mut watcher).await;
    let snapshot = messages.remove(0);
    assert!(matches!(snapshot, Message::Snapshot(table) if table.version == 2));
    let steps = commits(messages);
    assert_eq!(versions(&steps), [3, 4, 5, 6, 7]);
    assert!(steps.iter().all(|(version, events, table)| table.version == *version && !events.is_empty()));
    assert_eq!(steps[4].2, tables.read(&key).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn who_resumes_is_told_what_he_would_have_been_told() {
    let (clock, store) = manual();
    let tables = tables(store);
    let key = open(&tables, 1).await;
    let mut first = tables.watch(&key, Some(0)).await.unwrap();
    for name in ["ann", "bob"] {
        ask(&tables, &key, sit(name)).await.unwrap();
    }
    clock.advance(Millis::seconds(3));
    deal(&tables, &key).await;
    // Long enough that the state is made again from a checkpoint, short enough for the ring.
    let mut all = commits(told(&mut first).await);
    for _ in 0..10 {
        go_on(&tables, &key, 30).await;
        all.extend(commits(told(&mut first).await));
    }
    assert_eq!(versions(&all), (1..=304).collect::<Vec<_>>());
    for after in [0, 1, 2, 3, 4, 127, 128, 129, 200, 255, 256, 300, 303, 304] {
        let mut again = tables.watch(&key, Some(after)).await.unwrap();
        let rest = commits(told(&mut again).await);
        assert!(rest == all[usize::try_from(after).unwrap()..], "after {after}: {:?}", versions(&rest));
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_resumed_is_said_to_be_compacted() {
    // Versions 21 to 30 are kept: 20 is the first one after which nothing is missing.
    for (after, whole) in
        [(0, false), (1, false), (19, false), (20, true), (29, true), (30, true), (31, false)]
    {
        let tables = tables(Arc::new(MemoryStore::default().with_history(10)));
        let key = with_ann(&tables).await;
        go_on(&tables, &key, 28).await;
        let mut watcher = tables.watch(&key, Some(after)).await.unwrap();
        let mut messages = told(&mut watcher).await;
        if whole {
            assert_eq!(versions(&commits(messages)), (after + 1..=30).collect::<Vec<_>>());
        } else {
            let first = messages.remove(0);
            assert!(matches!(first, Message::Compacted(table) if table.version == 30), "after {after}");
            assert!(messages.is_empty());
        }
        go_on(&tables, &key, 1).await;
        assert_eq!(versions(&commits(told(&mut watcher).await)), [31], "after {after} it goes on");
    }
}

#[tokio::test(start_paused = true)]
async fn a_gap_in_the_ring_is_read_from_history() {
    let (_, store) = manual();
    // The other process commits without this one's feed hearing of it.
    let (here, there) = (tables(store.clone()), tables(store));
    let key = with_ann(&here).await;
    let mut watcher = here.watch(&key, Some(2)).await.unwrap();
    go_on(&there, &key, 100).await;
    assert!(told(&mut watcher).await.is_empty());
    go_on(&here, &key, 2).await;
    let steps = commits(told(&mut watcher).await);
    assert_eq!(versions(&steps), (3..=104).collect::<Vec<_>>());
    assert_eq!(steps.last().unwrap().2, here.read(&key).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn who_falls_behind_is_ended_with_the_place_to_resume() {
    let (_, store) = manual();
    let tables = tables(store);
    let key = with_ann(&tables).await;
    let mut watcher = tables.watch(&key, Some(2)).await.unwrap();
    go_on(&tables, &key, 3).await;
    assert_eq!(versions(&commits(told(&mut watcher).await)), [3, 4, 5]);
    go_on(&tables, &key, 1000).await;
    let messages = told(&mut watcher).await;
    assert!(matches!(messages.as_slice(), [Message::Behind { resume: 5 }]), "{messages:?}");
    assert!(watcher.next().await.is_none(), "the stream has ended");
    let mut again = tables.watch(&key, Some(5)).await.unwrap();
    let rest = versions(&commits(told(&mut again).await));
    assert_eq!(rest, (6..=1005).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_watchers_who_never_read_cost_a_bounded_room() {
    let store = Arc::new(MemoryStore::default().with_history(16));
    let tables = tables(store);
    let key = with_ann(&tables).await;
    go_on(&tables, &key, 100).await;
    let mut silent = Vec::new();
    for number in 0..10_000 {
        // Some begin now, some resume.
        let after = (number % 2 == 0).then_some(100);
        silent.push(tables.watch(&key, after).await.unwrap());
    }
    assert_eq!(tables.feed().watchers(), 10_000);
    let mut reader = tables.watch(&key, Some(102)).await.unwrap();
    let mut states: Vec<Weak<Table>> = Vec::new();
    for _ in 0..40 {
        go_on(&tables, &key, 25).await;
        let steps = commits(told(&mut reader).await);
        states.extend(steps.iter().map(|(_, _, table)| Arc::downgrade(table)));
    }
    assert_eq!(states.len(), 1000);
    let kept = states.iter().filter(|state| state.strong_count() > 0).count();
    // The ring's 64, the cache's, the reader's, and the store's own checkpoints.
    assert!(kept <= 80, "{kept} of 1000 states are still held");
    for watcher in &mut silent {
        let first = watcher.next().await;
        let second = watcher.next().await;
        let ended = matches!(first, Some(Message::Behind { resume: 100 }))
            || matches!(
                (&first, &second),
                (Some(Message::Snapshot(_)), Some(Message::Behind { resume: 102 }))
            )
            || matches!(first, Some(Message::Compacted(_)));
        assert!(ended, "{first:?}, {second:?}");
    }
    drop(silent);
    drop(reader);
    assert_eq!(tables.feed().watchers(), 0);
}

#[tokio::test]
async fn there_is_room_for_so_many_watchers() {
    let limits = FeedLimits { watchers: 5, watchers_of_a_table: 3, behind: 4, ..FeedLimits::default() };
    let settings = Settings { feed: limits, ..Settings::default() };
    let tables = Tables::new(Arc::new(MemoryStore::default()), Arc::new(FixedDealer), settings);
    let (one, two) = (open(&tables, 1).await, open(&tables, 2).await);
    let mut here = Vec::new();
    for _ in 0..3 {
        here.push(tables.watch(&one, None).await.unwrap());
    }
    assert!(matches!(tables.watch(&one, None).await, Err(PlayError::TooManyWatchers)));
    let mut there = Vec::new();
    for _ in 0..2 {
        there.push(tables.watch(&two, None).await.unwrap());
    }
    assert!(matches!(tables.watch(&two, None).await, Err(PlayError::TooManyWatchers)));
    here.pop();
    there.push(tables.watch(&two, None).await.unwrap());
    assert!(matches!(tables.watch(&one, None).await, Err(PlayError::TooManyWatchers)));
}

#[tokio::test]
async fn an_operators_watchers_leave_the_others_their_places() {
    let limits = FeedLimits { watchers: 5, watchers_of_an_operator: 3, ..FeedLimits::default() };
    let settings = Settings { feed: limits, ..Settings::default() };
    let tables = Tables::new(Arc::new(MemoryStore::default()), Arc::new(FixedDealer), settings);
    let (one, two) = (open(&tables, 1).await, open(&tables, 2).await);
    let neighbour = OperatorId::new("neighbour").unwrap();
    tables.open(&neighbour, request(3), config(), &answer).await.unwrap();
    let table = TableId::derived(&neighbour, &request(3).id);
    let other = TableKey { operator: neighbour, table };
    let mut here = Vec::new();
    for key in [&one, &two, &one] {
        here.push(tables.watch(key, None).await.unwrap());
    }
    assert!(matches!(tables.watch(&two, None).await, Err(PlayError::TooManyWatchers)));
    let there = tables.watch(&other, None).await.unwrap();
    here.pop();
    here.push(tables.watch(&two, None).await.unwrap());
    assert!(matches!(tables.watch(&two, None).await, Err(PlayError::TooManyWatchers)));
    drop((here, there));
    assert_eq!(tables.feed().watchers(), 0);
    let again = tables.watch(&two, None).await;
    assert!(again.is_ok(), "their places are given back");
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_with_its_table() {
    let (_, store) = manual();
    let tables = tables(store as Arc<dyn Store>);
    let key = with_ann(&tables).await;
    let mut watcher = tables.watch(&key, Some(2)).await.unwrap();
    ask(&tables, &key, Ask::Close { reason: "end of day".to_owned() }).await.unwrap();
    assert_eq!(versions(&commits(told(&mut watcher).await)), [3]);
    assert!(watcher.next().await.is_none());
    let mut late = tables.watch(&key, None).await.unwrap();
    assert!(matches!(late.next().await, Some(Message::Snapshot(_))));
    assert!(late.next().await.is_none());
    let mut resumed = tables.watch(&key, Some(3)).await.unwrap();
    assert!(resumed.next().await.is_none());
}
