//! What each role sees and does, with real tokens at a real table.

use fulcrum::grpc::{LimitSettings, ServeConfig};
use fulcrum::pb::v1;
use fulcrum::pb::v1::table_message::Content;
use fulcrum::pb::v1::viewer::Kind;
use serde_json::json;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::super::harness::caller::eyes_of;
use super::super::harness::payments::{park, parked};
use super::super::harness::{Caller, House, Setup, double, in_time, reason, request_id, texas};
use super::issuer::{claims, keys, player, published, takes, with};

/// A house with a table of `alpha`, at which ann and bob have been dealt cards.
struct Scene {
    house: House,
    table: String,
    turn: v1::Turn,
    _file: tempfile::NamedTempFile,
}

impl Scene {
    async fn set() -> Scene {
        let (file, source) = published(&[&keys().0]);
        let house = House::with(Setup { config: takes(source), ..Setup::default() }).await;
        let mut backend = house.caller_with(&keys().0.sign(&claims("alpha", "operator"))).await;
        let table = backend.table_of(double(), &["ann", "bob"]).await;
        let mut eyes = backend.watch(&table, "").await;
        let begun = backend.begin(&table).await;
        let turn = eyes.turn_after(begun).await;
        Scene { house, table, turn, _file: file }
    }

    async fn role(&self, role: &str) -> Caller {
        self.house.caller_with(&keys().0.sign(&claims("alpha", role))).await
    }

    async fn player(&self, name: &str) -> Caller {
        self.house.caller_with(&keys().0.sign(&player("alpha", name))).await
    }

    fn watch(&self, viewer: Option<v1::Viewer>) -> v1::WatchTableRequest {
        v1::WatchTableRequest { table_id: self.table.clone(), viewer, ..Default::default() }
    }

    /// The table as it is first told to whoever watches so.
    async fn seen(&self, caller: &mut Caller, viewer: Option<v1::Viewer>) -> Result<v1::Table, Status> {
        let mut stream = in_time(caller.tables.watch_table(self.watch(viewer))).await?.into_inner();
        let message = in_time(stream.message()).await?.expect("a message").message.expect("a message");
        match message.content {
            Some(Content::Snapshot(table)) => Ok(*table),
            other => panic!("{other:?}"),
        }
    }
}

/// How many cards of each player are seen.
fn cards(table: &v1::Table) -> Vec<(String, usize)> {
    let hand = table.hand.as_ref().expect("a hand");
    let mut cards: Vec<_> =
        hand.seats.iter().map(|seat| (seat.player_id.clone(), seat.cards.len())).collect();
    cards.sort();
    cards
}

fn refused<T: std::fmt::Debug>(answer: Result<T, Status>) -> String {
    let status = answer.expect_err("a refusal");
    assert_eq!(status.code(), Code::PermissionDenied, "{status:?}");
    reason(&status)
}

#[tokio::test]
async fn a_player_sees_his_own_cards_and_nobody_elses() {
    let scene = Scene::set().await;
    let mut ann = scene.player("ann").await;
    let own = scene.seen(&mut ann, eyes_of("ann")).await.expect("her table");
    assert_eq!(cards(&own), [("ann".to_owned(), 3), ("bob".to_owned(), 0)]);
    for viewer in [None, Some(v1::Viewer { kind: Some(Kind::Spectator(v1::Spectator {})) })] {
        let bare = scene.seen(&mut ann, viewer).await.expect("the table");
        assert_eq!(cards(&bare), [("ann".to_owned(), 0), ("bob".to_owned(), 0)]);
    }
    assert_eq!(refused(scene.seen(&mut ann, eyes_of("bob")).await), "NOT_YOUR_PLAYER");
    let get = v1::GetTableRequest { table_id: scene.table.clone(), viewer: eyes_of("bob") };
    assert_eq!(refused(ann.tables.get_table(get).await), "NOT_YOUR_PLAYER");
    let turn = v1::GetTurnRequest { table_id: scene.table.clone(), viewer: eyes_of("bob") };
    assert_eq!(refused(ann.actions.get_turn(turn).await), "NOT_YOUR_PLAYER");
    let tables = vec![v1::WatchedTable { table_id: scene.table.clone(), ..Default::default() }];
    let many = v1::WatchTablesRequest { tables, viewer: eyes_of("bob") };
    assert_eq!(refused(ann.tables.watch_tables(many).await), "NOT_YOUR_PLAYER");
    scene.house.close().await;
}

#[tokio::test]
async fn a_player_watches_so_many_tables_and_leaves_the_others_theirs() {
    let (file, source) = published(&[&keys().0]);
    let limits = LimitSettings { player_watchers: 3, ..LimitSettings::default() };
    let house =
        House::with(Setup { config: ServeConfig { limits, ..takes(source) }, ..Setup::default() }).await;
    let mut backend = house.caller_with(&keys().0.sign(&claims("alpha", "operator"))).await;
    let mut tables = Vec::new();
    for _ in 0..4 {
        tables.push(backend.open_table(double()).await);
    }
    let watched = |id: &String| v1::WatchedTable { table_id: id.clone(), ..Default::default() };
    let many = |count| v1::WatchTablesRequest {
        tables: tables.iter().take(count).map(watched).collect(),
        viewer: None,
    };
    let one = || v1::WatchTableRequest { table_id: tables[0].clone(), ..Default::default() };
    let mut ann = house.caller_with(&keys().0.sign(&player("alpha", "ann"))).await;
    let mut bob = house.caller_with(&keys().0.sign(&player("alpha", "bob"))).await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(in_time(ann.tables.watch_table(one())).await.expect("a stream").into_inner());
    }
    let refused = in_time(ann.tables.watch_table(one())).await.expect_err("one too many");
    assert_eq!((refused.code(), reason(&refused)), (Code::ResourceExhausted, "TOO_MANY_WATCHERS".to_owned()));
    assert!(refused.get_details_retry_info().is_some(), "{refused:?}");
    let refused = in_time(bob.tables.watch_tables(many(4))).await;
    assert_eq!(refused.expect_err("too many at once").code(), Code::ResourceExhausted);
    // What was refused has left nothing behind, and who goes makes room.
    in_time(bob.tables.watch_table(one())).await.expect("his own");
    drop(streams.pop());
    in_time(async {
        while ann.tables.watch_table(one()).await.is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
    in_time(backend.tables.watch_tables(many(4))).await.expect("the backend has its own bounds");
    drop(file);
    house.close().await;
}

#[tokio::test]
async fn a_player_acts_for_himself_and_for_nobody_else() {
    let scene = Scene::set().await;
    let (mut ann, mut bob) = (scene.player("ann").await, scene.player("bob").await);
    let stolen = bob.act(&scene.table, "ann", &scene.turn, v1::Action::Fold, 0).await;
    assert_eq!(refused(stolen), "NOT_YOUR_PLAYER");
    let called = ann.act(&scene.table, "ann", &scene.turn, v1::Action::Call, 0).await.expect("her call");
    assert!(called.sequence > 0);
    let sit_out = |player: &str| v1::SitOutRequest {
        request_id: request_id(),
        table_id: scene.table.clone(),
        player_id: player.into(),
        ..Default::default()
    };
    assert_eq!(refused(bob.tables.sit_out(sit_out("ann")).await), "NOT_YOUR_PLAYER");
    bob.tables.sit_out(sit_out("bob")).await.expect("his own");
    // Money is the backend's, also his own.
    let chips =
        v1::AddChipsRequest { table_id: scene.table.clone(), player_id: "bob".into(), ..Default::default() };
    assert_eq!(refused(bob.tables.add_chips(chips).await), "ROLE_NOT_ALLOWED");
    let statement =
        v1::GetSessionStatementRequest { table_id: scene.table.clone(), player_id: "bob".into(), session: 1 };
    assert_eq!(refused(bob.settlements.get_session_statement(statement).await), "ROLE_NOT_ALLOWED");
    // Before anything is looked up: whether there is such a consumer or table is not said.
    let stream = v1::StreamSettlementsRequest { consumer: "No Such".into(), ..Default::default() };
    assert_eq!(refused(bob.settlements.stream_settlements(stream).await), "ROLE_NOT_ALLOWED");
    let acknowledge = v1::AckSettlementsRequest { consumer: "x".into(), position: "x".into() };
    assert_eq!(refused(bob.settlements.ack_settlements(acknowledge).await), "ROLE_NOT_ALLOWED");
    scene.house.close().await;
}

#[tokio::test]
async fn support_and_auditors_see_what_a_spectator_sees_and_change_nothing() {
    let scene = Scene::set().await;
    let version = scene.role("operator").await.table(&scene.table, "").await.version;
    for role in ["support", "auditor"] {
        let mut caller = scene.role(role).await;
        let seen = scene.seen(&mut caller, None).await.expect("the table");
        assert_eq!(cards(&seen), [("ann".to_owned(), 0), ("bob".to_owned(), 0)], "{role}");
        assert_eq!(refused(scene.seen(&mut caller, eyes_of("ann")).await), "SPECTATOR_ONLY");
        let act = caller.act(&scene.table, "ann", &scene.turn, v1::Action::Fold, 0).await;
        assert_eq!(refused(act), "ROLE_NOT_ALLOWED");
        let pause = v1::PauseTableRequest {
            request_id: request_id(),
            table_id: scene.table.clone(),
            ..Default::default()
        };
        assert_eq!(refused(caller.tables.pause_table(pause).await), "ROLE_NOT_ALLOWED");
        caller.settlements.list_transactions(v1::ListTransactionsRequest::default()).await.expect("a list");
    }
    let mut support = scene.role("support").await;
    let books = support.settlements.get_trial_balance(v1::GetTrialBalanceRequest::default()).await;
    assert_eq!(refused(books), "ROLE_NOT_ALLOWED");
    let mut auditor = scene.role("auditor").await;
    let books = v1::GetTrialBalanceRequest { table_id: scene.table.clone(), ..Default::default() };
    auditor.settlements.get_trial_balance(books).await.expect("the books");
    auditor.control.list_stop_audit(v1::ListStopAuditRequest::default()).await.expect("what was stopped");
    assert_eq!(scene.role("operator").await.table(&scene.table, "").await.version, version);
    scene.house.close().await;
}

#[tokio::test]
async fn two_people_end_a_transaction_each_in_his_own_name() {
    let (_file, source) = published(&[&keys().0]);
    let house = House::with(Setup { config: takes(source), ..Setup::default() }).await;
    let person = async |name: &str| {
        let claims = with(claims("alpha", "operator"), "sub", json!(name));
        house.caller_with(&keys().0.sign(&claims)).await
    };
    let (mut ada, mut bea) = (person("ada").await, person("bea").await);
    let table_id = ada.table_of(texas(), &["ann"]).await;
    park(&house, "alpha", &table_id, false).await;
    let transaction_id = parked(&mut ada).await.remove(0).transaction_id;
    let propose = |by: &str| v1::ProposeResolutionRequest {
        request_id: request_id(),
        table_id: table_id.clone(),
        transaction_id: transaction_id.clone(),
        reason: "paid by hand".into(),
        requester: by.into(),
        resolution: v1::Resolution::Settled.into(),
    };
    let confirm = |by: &str| {
        let v1::ProposeResolutionRequest {
            request_id,
            table_id,
            transaction_id,
            reason,
            requester,
            resolution,
        } = propose(by);
        v1::ConfirmResolutionRequest { request_id, table_id, transaction_id, reason, requester, resolution }
    };
    assert_eq!(refused(ada.settlements.propose_resolution(propose("bea")).await), "NOT_YOUR_NAME");
    ada.settlements.propose_resolution(propose("ada")).await.expect("her proposal");
    // She may neither say that she is somebody else nor agree with herself.
    assert_eq!(refused(ada.settlements.confirm_resolution(confirm("bea")).await), "NOT_YOUR_NAME");
    let same = ada.settlements.confirm_resolution(confirm("ada")).await.expect_err("one person");
    assert_eq!(reason(&same), "SAME_PERSON");
    bea.settlements.confirm_resolution(confirm("bea")).await.expect("two people");
    house.close().await;
}
