//! What the tables make of a store that comes back without commits that somebody has seen (rules 10.2).

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use common::lossy::Lossy;
use common::*;
use rules::event::{Event, StopScope};
use rules::{Action, Table};
use tables::{
    ManualClock, Message, PlayError, SettlementBody, SettlementKind, Store, TableKey, Tables, Watcher,
};

/// Two servers of one store, a running hand, and the version until which the replica has everything.
struct Scene {
    clock: Arc<ManualClock>,
    store: Arc<Lossy>,
    here: Tables,
    there: Tables,
    key: TableKey,
    last: u64,
}

async fn scene() -> Scene {
    let (clock, _) = manual();
    let store = Lossy::new(clock.clone());
    let (here, there) = (tables(store.clone()), tables(store.clone()));
    let key = dealt(&here, &clock, 1).await;
    let last = there.read(&key).await.unwrap().version;
    Scene { clock, store, here, there, key, last }
}

/// The next one in turn checks or calls.
async fn go_on(tables: &Tables, key: &TableKey) {
    let table = tables.read(key).await.unwrap();
    let (player, hand, turn) = to_act(&table);
    for action in [Action::Call, Action::Check] {
        let ask = rules::Ask::Act { player: player.clone(), hand, turn, action };
        match tables.decide_turn(key, ask, tables.store().now().await.unwrap()).await {
            Ok(_) => return,
            Err(PlayError::Refused { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("nobody could go on");
}

fn assert_stopped(table: &Table) {
    let stops: Vec<_> = table.stops.iter().map(|stop| (stop.scope, stop.reason.as_str())).collect();
    assert_eq!(stops, [(StopScope::Malfunction, "history lost")]);
    assert!(table.running_hand().is_none());
    rules::invariant::check(table).expect("the books balance");
}

/// The table stopped once, and one record says which others count for nothing.
async fn assert_told(scene: &Scene, seen: u64) {
    let table = scene.there.read(&scene.key).await.unwrap();
    assert_stopped(&table);
    let lost = table.lost.expect("the loss is kept");
    assert!(lost.last == scene.last && lost.until >= seen, "{lost:?}");
    let operator = operator();
    let records = scene.store.settlements(&operator, &Default::default(), None, 100).await.unwrap().records;
    let reversals: Vec<_> =
        records.iter().map(|(_, record)| record).filter(|r| r.kind == SettlementKind::Reversal).collect();
    let [reversal] = reversals.as_slice() else { panic!("{} reversals", reversals.len()) };
    let body =
        SettlementBody::Reversal { last: lost.last, until: lost.until, reason: "history lost".to_owned() };
    assert_eq!(reversal.body, body);
    assert_eq!(reversal.version, table.version);
    let voids = records.iter().filter(|(_, record)| record.kind == SettlementKind::Void).count();
    assert_eq!(voids, 1, "the running hand is void");
}

#[tokio::test]
async fn r10_2_who_commits_on_what_is_lost_finds_it_out() {
    let scene = scene().await;
    scene.store.cut_replica();
    go_on(&scene.here, &scene.key).await;
    scene.store.fail_over();
    // The other server has seen nothing of it and goes on, further than what was lost.
    go_on(&scene.there, &scene.key).await;
    go_on(&scene.there, &scene.key).await;
    let asked =
        ask(&scene.here, &scene.key, wish("ann", true)).await.expect("it is asked of the stopped table");
    assert!(!asked.replayed);
    let lost = scene.there.read(&scene.key).await.unwrap().lost.expect("the loss is known");
    assert_eq!(lost.last, scene.last + 2, "what was committed since stays");
    assert_stopped(&scene.there.read(&scene.key).await.unwrap());
}

#[tokio::test]
async fn r10_2_one_loss_stops_the_table_once_however_many_have_seen_it() {
    let scene = scene().await;
    let mut watcher = scene.here.watch(&scene.key, None).await.unwrap();
    watcher.next().await.unwrap();
    scene.store.cut_replica();
    go_on(&scene.here, &scene.key).await;
    watcher.next().await.unwrap();
    let reached = watcher.reached().unwrap();
    scene.store.fail_over();
    for _ in 0..3 {
        // There is another commit of the version that was lost, and more.
        ask(&scene.there, &scene.key, wish("bob", true)).await.unwrap();
    }
    ask(&scene.here, &scene.key, wish("ann", true)).await.unwrap();
    let resume = rules::Ask::Resume { scope: StopScope::Malfunction };
    ask(&scene.there, &scene.key, resume).await.unwrap();
    let before = scene.there.read(&scene.key).await.unwrap().version;
    for _ in 0..3 {
        let mut resumed = scene.there.resume(&scene.key, reached).await.unwrap();
        assert!(matches!(resumed.next().await, Some(Message::Compacted(_))));
    }
    let table = scene.there.read(&scene.key).await.unwrap();
    assert_eq!((table.version, table.stops.len()), (before, 0));
}

#[tokio::test]
async fn r10_2_who_reads_less_than_he_has_seen_finds_it_out() {
    let scene = scene().await;
    scene.store.cut_replica();
    go_on(&scene.here, &scene.key).await;
    go_on(&scene.here, &scene.key).await;
    scene.store.fail_over();
    assert_stopped(&scene.here.read(&scene.key).await.unwrap());
    assert_told(&scene, scene.last + 2).await;
    // And the other one, who has not seen anything, is told like everybody.
    assert_stopped(&scene.there.read(&scene.key).await.unwrap());
}

#[tokio::test]
async fn r10_2_a_watcher_who_comes_back_with_his_token_finds_it_out() {
    let scene = scene().await;
    let mut watcher = scene.here.watch(&scene.key, None).await.unwrap();
    watcher.next().await.unwrap();
    scene.store.cut_replica();
    go_on(&scene.here, &scene.key).await;
    watcher.next().await.unwrap();
    let reached = watcher.reached().unwrap();
    assert_eq!(reached.token.version, scene.last + 1);
    let token = scene.here.resume_token(&scene.key, &reached);
    scene.store.fail_over();
    // By the version alone nobody could tell: there is another commit of that version.
    go_on(&scene.there, &scene.key).await;
    assert_eq!(scene.there.read(&scene.key).await.unwrap().version, reached.token.version);

    // A third server, which has seen nothing.
    let third = tables(scene.store.clone());
    let reached = third.reached(&scene.key, &token).expect("it is a token of this table");
    let mut resumed = third.resume(&scene.key, reached).await.unwrap();
    let Some(Message::Compacted(table)) = resumed.next().await else { panic!("told as if nothing had been") };
    assert_stopped(&table);
}

#[tokio::test]
async fn r10_2_who_watches_is_told_that_what_he_saw_counts_for_nothing() {
    let scene = scene().await;
    let mut saw = scene.here.watch(&scene.key, None).await.unwrap();
    let mut elsewhere = scene.there.watch(&scene.key, None).await.unwrap();
    saw.next().await.unwrap();
    elsewhere.next().await.unwrap();
    scene.store.cut_replica();
    go_on(&scene.here, &scene.key).await;
    saw.next().await.unwrap();
    scene.store.fail_over();
    ask(&scene.here, &scene.key, wish("ann", true)).await.unwrap();
    let Some(Message::Compacted(table)) = saw.next().await else { panic!("no word of the loss") };
    assert_stopped(&table);

    // Of what was lost nothing was told at the other server: there the stream goes on, over the gap.
    ask(&scene.there, &scene.key, wish("bob", true)).await.unwrap();
    let (version, events) = commit(&mut elsewhere).await;
    assert_eq!(version, 1 << 20);
    let lost = events.iter().find_map(|event| match event {
        Event::HistoryLost { last, until, .. } => Some((*last, *until)),
        _ => None,
    });
    assert_eq!(lost, Some((scene.last, (1 << 20) - 1)));
    assert_eq!(commit(&mut elsewhere).await.0, (1 << 20) + 1);
}

async fn commit(watcher: &mut Watcher) -> (u64, Arc<[Event]>) {
    match watcher.next().await {
        Some(Message::Commit { version, events, .. }) => (version, events),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_healthy_table_is_never_taken_for_one_that_has_lost_history() {
    let scene = scene().await;
    let mut watcher = scene.here.watch(&scene.key, None).await.unwrap();
    watcher.next().await.unwrap();
    let early = watcher.reached().unwrap();
    // Nothing is lost, though servers come and go, and each of the two is behind the other all the time.
    for _ in 0..10 {
        ask(&scene.there, &scene.key, wish("ann", true)).await.unwrap();
        scene.store.fail_over();
        ask(&scene.here, &scene.key, wish("ann", false)).await.unwrap();
        scene.here.read(&scene.key).await.unwrap();
        scene.there.read(&scene.key).await.unwrap();
    }
    let table = scene.there.read(&scene.key).await.unwrap();
    assert_eq!((table.lost, table.stops.len()), (None, 0));
    assert!(table.running_hand().is_some());
    let mut resumed = scene.there.resume(&scene.key, early).await.unwrap();
    assert_eq!(commit(&mut resumed).await.0, scene.last + 1);
}

#[tokio::test]
async fn a_server_that_is_out_of_date_proves_nothing() {
    let scene = scene().await;
    scene.store.cut_replica();
    go_on(&scene.here, &scene.key).await;
    // For a moment the old state is read; then the servers are found again, and nothing is lost.
    scene.store.stray();
    assert_eq!(scene.here.read(&scene.key).await.unwrap().version, scene.last + 1);
    assert_eq!(scene.there.read(&scene.key).await.unwrap().lost, None);
}

#[tokio::test]
async fn a_table_that_is_known_to_have_lost_history_plays_on() {
    let scene = scene().await;
    scene.store.cut_replica();
    go_on(&scene.here, &scene.key).await;
    let seen = scene.here.read(&scene.key).await.unwrap().version;
    scene.store.fail_over();
    scene.here.read(&scene.key).await.unwrap();
    assert_told(&scene, seen).await;
    let resume = rules::Ask::Resume { scope: StopScope::Malfunction };
    ask(&scene.there, &scene.key, resume).await.unwrap();
    scene.clock.advance(rules::Millis::seconds(3));
    deal(&scene.there, &scene.key).await;
    go_on(&scene.here, &scene.key).await;
    let table = scene.there.read(&scene.key).await.unwrap();
    assert!(table.running_hand().is_some_and(|hand| hand.number > 1000));
    assert!(table.stops.is_empty());
    // Somebody else who has seen the lost part tells nothing new.
    let lost = table.lost.unwrap();
    let late = tables::Reached {
        token: tables::Token { version: lost.last + 1, nonce: 1 },
        seen: rules::lost::Seen { version: lost.last + 1, hands: 1, sessions: 2 },
    };
    let mut watcher = scene.there.resume(&scene.key, late).await.unwrap();
    assert!(matches!(watcher.next().await, Some(Message::Compacted(_))));
    assert!(scene.there.read(&scene.key).await.unwrap().stops.is_empty());
}

/// What is acknowledged while nobody answers is remembered until somebody does.
#[tokio::test(start_paused = true)]
async fn r10_2_a_loss_is_found_out_also_after_a_call_without_an_answer() {
    let scene = scene().await;
    scene.store.cut_replica();
    go_on(&scene.here, &scene.key).await;
    scene.store.down.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        let asked = ask(&scene.here, &scene.key, wish("ann", true)).await;
        assert!(matches!(asked, Err(PlayError::Store(_))), "{asked:?}");
        tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    }
    scene.store.fail_over();
    scene.store.down.store(false, Ordering::SeqCst);
    assert_stopped(&scene.here.read(&scene.key).await.unwrap());
    assert_told(&scene, scene.last + 1).await;
}

#[tokio::test]
async fn r10_2_where_records_cannot_tell_it_the_table_stops_all_the_same() {
    let scene = scene().await;
    scene.store.old_records.store(true, Ordering::SeqCst);
    scene.store.cut_replica();
    go_on(&scene.here, &scene.key).await;
    scene.store.fail_over();
    let table = scene.here.read(&scene.key).await.unwrap();
    assert_stopped(&table);
    assert_eq!((table.version, table.lost), (scene.last + 1, None));
}

/// A cash-out that was given out and lost is reversed; the one that comes later is another obligation.
#[tokio::test]
async fn r10_2_what_comes_to_an_end_a_second_time_has_another_id() {
    let scene = scene().await;
    let records = async || {
        let operator = operator();
        let page = scene.store.settlements(&operator, &Default::default(), None, 100).await.unwrap();
        let ends =
            |kind| matches!(kind, SettlementKind::CashOut | SettlementKind::Void | SettlementKind::Hand);
        let records = page.records.into_iter().map(|(_, record)| record);
        records.filter(|record| ends(record.kind)).map(|record| record.id).collect::<Vec<_>>()
    };
    scene.store.cut_replica();
    let void = rules::Ask::Void { hand: 1, reason: "test".to_owned(), requester: "floor".to_owned() };
    ask(&scene.here, &scene.key, void).await.unwrap();
    ask(&scene.here, &scene.key, stand_up("ann")).await.unwrap();
    let lost = records().await;
    assert_eq!(lost.len(), 2);
    scene.store.fail_over();
    scene.here.read(&scene.key).await.unwrap();
    ask(&scene.there, &scene.key, stand_up("ann")).await.unwrap();
    let again = records().await;
    assert_eq!(again.len(), 2, "the hand is void and ann is paid out a second time");
    assert!(again.iter().all(|id| !lost.contains(id)));
}

/// A stream whose server hears nothing more of the table than where it is.
#[tokio::test]
async fn r10_2_who_is_further_than_the_table_is_told() {
    let scene = scene().await;
    let mut watcher = scene.here.watch(&scene.key, None).await.unwrap();
    watcher.next().await.unwrap();
    scene.store.cut_replica();
    for _ in 0..2 {
        go_on(&scene.here, &scene.key).await;
        watcher.next().await.unwrap();
    }
    scene.store.fail_over();
    // The other one gets just as far.
    go_on(&scene.there, &scene.key).await;
    go_on(&scene.there, &scene.key).await;
    assert_eq!(scene.there.read(&scene.key).await.unwrap().version, watcher.reached().unwrap().token.version);
    scene.store.tell_missed(&scene.key);
    let Some(Message::Compacted(table)) = watcher.next().await else { panic!("no word of the loss") };
    assert_stopped(&table);
}
