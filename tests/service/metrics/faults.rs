//! What goes wrong, counted: malfunctions, losses, conflicts, a store that fails, watchers that do not keep up.

use std::sync::Arc;

use rules::{Chips, Millis};
use serde_json::json;
use tables::{
    Commit, FeedLimits, MemoryStore, Message, OperatorId, Store, StoreError, SystemClock, TableId, TableKey,
    Token,
};

use super::scraped::{Scraped, value};
use crate::harness::gated::{Gate, Gated};
use crate::harness::{House, Setup, in_time, texas};
use crate::lines::Lines;
use crate::loss::lossy::Lossy;
use fulcrum::pb::v1;

fn key(table: &str) -> TableKey {
    TableKey {
        operator: OperatorId::new("dev").expect("a name"),
        table: TableId(table.parse().expect("a UUID")),
    }
}

/// The state of a table with a chip that nobody brought.
pub async fn falsify(store: &MemoryStore, key: &TableKey) {
    let stored = store.load(key).await.expect("a store").expect("a table");
    let mut table = (*stored.table).clone();
    table.version += 1;
    table.ledger.bought_in += Chips(1);
    let commit = Commit {
        key: key.clone(),
        expected: Some(stored.token),
        token: Token { version: table.version, ..stored.token },
        due: None,
        table: Arc::new(table),
        events: vec![rules::Event::PlayHalted],
        request: None,
        settlements: Vec::new(),
        accounts: Vec::new(),
        not_before: None,
        stamped: Millis::ZERO,
        origin: None,
        untold: false,
    };
    store.commit(commit).await.expect("a commit");
}

#[tokio::test]
async fn a_hand_that_a_malfunction_voids_is_counted_as_such() {
    let store = Arc::new(MemoryStore::default());
    let scraped = Scraped::open(Setup { store: Arc::<MemoryStore>::clone(&store), ..Setup::default() }).await;
    let mut caller = scraped.house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    let turn = eyes.turn_after(begun).await;
    falsify(&store, &key(&table)).await;
    caller.act(&table, "ann", &turn, v1::Action::Call, 0).await.expect_err("the books are wrong");
    let text = scraped.line("fulcrum_tables_stopped_total{operator=\"dev\"} 1").await;
    assert_eq!(value(&text, "fulcrum_hands_voided_total{operator=\"dev\",reason=\"malfunction\"}"), 1.0);
    assert_eq!(value(&text, "fulcrum_hands_voided_total{operator=\"dev\",reason=\"requested\"}"), 0.0);
    // The first try was on the state before somebody meddled with it.
    assert_eq!(value(&text, "fulcrum_commits_total{outcome=\"conflict\"}"), 1.0, "{text}");
    assert_eq!(value(&text, "fulcrum_commit_retries_total{why=\"conflict\"}"), 1.0);
    scraped.close().await;
}

#[tokio::test]
async fn a_hand_of_which_the_store_has_lost_history_is_counted_as_such() {
    let store = Lossy::new(Arc::new(SystemClock::default()));
    let scraped = Scraped::open(Setup { store: Arc::<Lossy>::clone(&store), ..Setup::default() }).await;
    let mut caller = scraped.house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    let turn = eyes.turn_after(begun).await;
    store.cut_replica();
    caller.act(&table, "ann", &turn, v1::Action::Call, 0).await.expect("a legal action");
    store.fail_over();
    caller.table(&table, "").await;
    let text = scraped.line("fulcrum_history_lost_total{operator=\"dev\"} 1").await;
    assert_eq!(value(&text, "fulcrum_hands_voided_total{operator=\"dev\",reason=\"history_lost\"}"), 1.0);
    assert_eq!(value(&text, "fulcrum_hands_voided_total{operator=\"dev\",reason=\"malfunction\"}"), 0.0);
    assert_eq!(value(&text, "fulcrum_settlements_total{operator=\"dev\",kind=\"reversal\"}"), 1.0);
    scraped.close().await;
}

#[tokio::test]
async fn a_step_that_meets_another_servers_is_a_conflict_and_is_decided_anew() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let setup = || Setup { store: Arc::clone(&store), clocks: false, ..Setup::default() };
    let (scraped, other) = (Scraped::open(setup()).await, House::with(setup()).await);
    let (mut caller, mut elsewhere) = (scraped.house.caller().await, other.caller().await);
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    elsewhere.prefer(&table, "ann").await;
    caller.prefer(&table, "bob").await;
    let text = scraped.now().await;
    let commits = |outcome: &str| value(&text, &format!("fulcrum_commits_total{{outcome=\"{outcome}\"}}"));
    assert_eq!((commits("done"), commits("conflict"), commits("failed")), (5.0, 1.0, 0.0), "{text}");
    assert_eq!(value(&text, "fulcrum_commit_retries_total{why=\"conflict\"}"), 1.0);
    other.close().await;
    scraped.close().await;
}

#[tokio::test]
async fn a_store_that_fails_is_counted_by_how_it_fails() {
    let store = Arc::new(Gated::default());
    let setup = Setup { store: Arc::<Gated>::clone(&store), clocks: false, ..Setup::default() };
    let scraped = Scraped::open(setup).await;
    let mut caller = scraped.house.caller().await;
    let table = caller.table_of(texas(), &["ann"]).await;
    let errors = |kind: &str| format!("fulcrum_store_errors_total{{operation=\"commit\",kind=\"{kind}\"}}");
    let before = scraped.now().await;
    assert!(before.contains(&format!("{} 0\n", errors("corrupt"))), "told as 0: {before}");
    let failures = [
        ("unavailable", StoreError::Unavailable("planted".into()), 1.0),
        ("corrupt", StoreError::Corrupt("planted".into()), 1.0),
        ("key", StoreError::KeyUnavailable("planted".into()), 1.0),
    ];
    for (kind, error, count) in failures {
        store.commits(Gate::Failing(error));
        let request = v1::ResumeTableRequest {
            request_id: crate::harness::request_id(),
            table_id: table.clone(),
            ..Default::default()
        };
        in_time(caller.tables.resume_table(request)).await.expect_err("the store fails");
        assert_eq!(scraped.value(&errors(kind)).await, count, "{kind}");
    }
    store.commits(Gate::Open);
    let text = scraped.now().await;
    assert_eq!(value(&text, "fulcrum_commits_total{outcome=\"failed\"}"), 3.0);
    assert_eq!(value(&text, "fulcrum_store_up"), 1.0, "its checks are answered");
    let offset = value(&text, "fulcrum_store_time_offset_seconds");
    assert!(offset.abs() < 1.0, "it is the same clock: {offset}");
    scraped.close().await;
}

/// Another server goes on at the table, and what it did cannot be read.
#[tokio::test]
async fn a_watcher_whose_table_cannot_be_read_is_cut_off_and_told_of() {
    let log = Lines::default();
    let _reading = log.read();
    let store = Arc::new(Gated::default());
    let setup =
        || Setup { store: Arc::<Gated>::clone(&store) as Arc<dyn Store>, clocks: false, ..Setup::default() };
    let (scraped, other) = (Scraped::open(setup()).await, House::with(setup()).await);
    let (mut caller, mut elsewhere) = (scraped.house.caller().await, other.caller().await);
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut watcher = scraped.house.tables.watch(&key(&table), None).await.expect("a watcher");
    let Some(Message::Snapshot(snapshot)) = watcher.next().await else { panic!("no snapshot") };
    elsewhere.prefer(&table, "ann").await;
    caller.prefer(&table, "bob").await;
    store.histories(Gate::Failing(StoreError::Unavailable("planted".into())));
    let ended = in_time(watcher.next()).await;
    assert!(matches!(ended, Some(Message::Behind { resume }) if resume == snapshot.version), "{ended:?}");
    assert!(in_time(watcher.next()).await.is_none());
    let text = scraped.now().await;
    assert_eq!(value(&text, "fulcrum_watchers_cut_off_total{why=\"store\"}"), 1.0);
    assert_eq!(value(&text, "fulcrum_watchers_cut_off_total{why=\"slow\"}"), 0.0);
    let line = log.only("watcher_cut_off");
    let told = (&line["level"], &line["slow"], &line["table"]);
    assert_eq!(told, (&json!("INFO"), &json!(false), &json!(format!("dev/{table}"))));
    other.close().await;
    scraped.close().await;
}

#[tokio::test]
async fn a_watcher_who_does_not_keep_up_is_counted() {
    let feed = FeedLimits { behind: 1, ..FeedLimits::default() };
    let settings = tables::Settings { feed, ..tables::Settings::default() };
    let scraped = Scraped::open(Setup { settings, clocks: false, ..Setup::default() }).await;
    let mut caller = scraped.house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut watcher = scraped.house.tables.watch(&key(&table), None).await.expect("a watcher");
    assert!(matches!(watcher.next().await, Some(Message::Snapshot(_))));
    assert_eq!(scraped.value("fulcrum_watchers").await, 1.0);
    for player in ["ann", "bob"] {
        caller.prefer(&table, player).await;
    }
    caller.begin(&table).await;
    let cut_off = "fulcrum_watchers_cut_off_total{why=\"slow\"}";
    assert_eq!(scraped.value(cut_off).await, 0.0, "he has not looked yet");
    assert!(matches!(in_time(watcher.next()).await, Some(Message::Behind { .. })));
    let text = scraped.now().await;
    assert_eq!(value(&text, cut_off), 1.0);
    assert_eq!(value(&text, "fulcrum_watchers_cut_off_total{why=\"store\"}"), 0.0);
    scraped.close().await;
}
