//! What is told of a call: whose trace it is in, what it is called, how it ended, which hand it is about.

use fulcrum::pb::v1;
use fulcrum::telemetry::hands::ids::HandTrace;
use tables::{OperatorId, TableId, TableKey};

use super::{SPAN, TRACE, Tower, sampled, traced};
use crate::harness::caller::{act_request, eyes_of, seat_request};
use crate::harness::operators::{ALPHA, two_operators};
use crate::harness::{House, Setup, in_time, texas};

const ACT: &str = "fulcrum.v1.ActionService/Act";
const GET_TURN: &str = "fulcrum.v1.ActionService/GetTurn";
const GET_TABLE: &str = "fulcrum.v1.TableService/GetTable";

fn key(table: &str) -> TableKey {
    let operator = OperatorId::new("dev").expect("a name");
    TableKey { operator, table: TableId(table.parse().expect("a UUID")) }
}

fn get_table(table: &str) -> v1::GetTableRequest {
    v1::GetTableRequest { table_id: table.into(), viewer: eyes_of("") }
}

/// A table at which a hand has begun, and its turn.
async fn playing(house: &House) -> (crate::harness::Caller, String, v1::Turn) {
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    caller.begin(&table).await;
    let wait = async {
        loop {
            if let Some(turn) = caller.clone().turn(&table, "").await.turn {
                return turn;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let turn = in_time(wait).await;
    (caller, table, turn)
}

fn whose(turn: &v1::Turn, table: &v1::Table) -> String {
    let seat = turn.seats.first().copied().expect("a seat");
    table.seats.iter().find(|taken| taken.seat == seat).expect("a player").player_id.clone()
}

#[tokio::test]
async fn a_decision_is_told_in_its_callers_trace_and_points_to_its_hand() {
    let tower = Tower::open(0.0);
    let house = House::open().await;
    tower.listen(&house);
    let (mut caller, table, turn) = playing(&house).await;
    let player = whose(&turn, &caller.table(&table, "").await);
    let request = act_request(&table, &player, &turn, v1::Action::Fold, 0);
    in_time(caller.actions.act(sampled(request))).await.expect("a fold");

    let act = tower.span(ACT).await;
    assert_eq!((act.trace.as_str(), act.parent.as_str(), act.kind.as_str()), (TRACE, SPAN, "server"));
    let told = |name: &str| act.attribute(name);
    assert_eq!(told("rpc.system.name"), "grpc");
    assert_eq!(told("rpc.method"), ACT);
    assert_eq!(told("rpc.response.status_code"), "OK");
    assert_eq!(told("fulcrum.operator"), "dev");
    assert_eq!(told("fulcrum.table.id"), table);
    assert_eq!(told("fulcrum.hand.number"), turn.hand_number.to_string());
    assert_eq!((told("error.type"), act.status.as_str()), ("", "unset"));
    assert_eq!(act.resource.get("service.name").map(String::as_str), Some("fulcrum"));
    assert!(act.start > 0 && act.start < act.end, "{act:?}");

    let key = key(&table);
    let hand = HandTrace::of(&key.operator, &key.table, turn.hand_number);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let links: Vec<_> = act.links.iter().map(|(trace, span, _)| (trace.clone(), span.clone())).collect();
    assert_eq!(links, [(hex(&hand.trace), hex(&hand.root()))]);

    // And back: what was committed knows where it was asked for, and nothing else does.
    let history = house.tables.store().history(&key, 0, 100).await.expect("a history");
    let origins: Vec<_> = history.entries.iter().filter_map(|entry| entry.origin).collect();
    assert_eq!(origins.len(), 1, "{origins:?}");
    assert_eq!((hex(&origins[0].trace), hex(&origins[0].span)), (TRACE.to_owned(), act.id.clone()));
    assert_eq!(tower.collector.told().len(), 1, "nothing else was told");
    house.close().await;
}

#[tokio::test]
async fn a_refused_decision_says_why_and_is_no_fault_of_ours() {
    let tower = Tower::open(0.0);
    let house = House::open().await;
    tower.listen(&house);
    let (mut caller, table, turn) = playing(&house).await;
    let other = v1::Turn { number: turn.number + 7, ..turn.clone() };
    let request = act_request(&table, "ann", &other, v1::Action::Fold, 0);
    in_time(caller.actions.act(sampled(request))).await.expect_err("another turn");

    let act = tower.span(ACT).await;
    assert_eq!(act.attribute("rpc.response.status_code"), "FAILED_PRECONDITION");
    assert_eq!(act.attribute("fulcrum.error.reason"), "TURN_NOT_REACHED");
    assert_eq!((act.attribute("error.type"), act.status.as_str()), ("", "unset"));
    assert_eq!(act.attribute("fulcrum.hand.number"), turn.hand_number.to_string());
    assert_eq!(act.links.len(), 1);

    let request = v1::GetTurnRequest { table_id: table.clone(), viewer: eyes_of("") };
    in_time(caller.actions.get_turn(sampled(request))).await.expect("a turn");
    let get = tower.span(GET_TURN).await;
    assert_eq!(get.links, act.links);
    assert_eq!(get.attribute("fulcrum.table.id"), table);
    house.close().await;
}

#[tokio::test]
async fn what_the_service_does_not_have_is_told_without_its_name() {
    let tower = Tower::open(0.0);
    let house = House::open().await;
    let caller = house.caller().await;
    let mut grpc = tonic::client::Grpc::new(caller.channel.clone());
    grpc.ready().await.expect("a connection");
    let codec = tonic_prost::ProstCodec::<v1::GetTableRequest, v1::GetTableResponse>::default();
    let path = "/fulcrum.v1.TableService/Steal".parse().expect("a path");
    grpc.unary(sampled(get_table("")), path, codec).await.expect_err("there is no such call");
    let other = tower.span("_OTHER").await;
    assert_eq!(other.attribute("rpc.method"), "_OTHER");
    assert_eq!(other.attribute("rpc.response.status_code"), "UNIMPLEMENTED");
    assert_eq!(other.attribute("error.type"), "UNIMPLEMENTED");
    assert_eq!(other.status, "error");
    house.close().await;
}

#[tokio::test]
async fn a_stream_is_told_when_it_begins() {
    let tower = Tower::open(0.0);
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann"]).await;
    let request =
        v1::WatchTableRequest { table_id: table.clone(), viewer: eyes_of(""), ..Default::default() };
    let stream = in_time(caller.tables.watch_table(sampled(request))).await.expect("a stream");
    let watch = tower.span("fulcrum.v1.TableService/WatchTable").await;
    assert_eq!(watch.attribute("rpc.response.status_code"), "OK");
    drop(stream);
    house.close().await;
}

#[tokio::test]
async fn a_caller_who_is_not_told_of_stays_so() {
    let tower = Tower::open(1.0);
    let house = House::open().await;
    tower.listen(&house);
    let mut caller = house.caller().await;
    let create = v1::CreateTableRequest { request_id: crate::harness::request_id(), config: Some(texas()) };
    let table = in_time(caller.tables.create_table(traced(create, "00"))).await.expect("a table");
    let table = table.into_inner().table_id;
    let seat = seat_request(&table, "ann", 1, 10_000);
    in_time(caller.tables.seat_player(traced(seat, "00"))).await.expect("a seat");
    in_time(caller.tables.get_table(traced(get_table(&table), "00"))).await.expect("a table");
    // Whoever says nothing is in the share, which is everybody.
    in_time(caller.tables.get_table(get_table(&table))).await.expect("a table");
    let told = tower.collector.until("one", |told| !told.is_empty()).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].name.as_str(), told[0].parent.as_str()), (GET_TABLE, ""));
    assert_ne!(told[0].trace, TRACE);
    let key = key(&table);
    let history = house.tables.store().history(&key, 0, 100).await.expect("a history");
    assert!(history.entries.iter().all(|entry| entry.origin.is_none()), "{history:?}");
    house.close().await;
}

#[tokio::test]
async fn the_settings_may_take_the_decision_from_callers() {
    let nobody = Tower::with(|traces| super::CallTraces { from_callers: false, ..traces });
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.open_table(texas()).await;
    in_time(caller.tables.get_table(sampled(get_table(&table)))).await.expect("a table");
    drop(nobody);
    let everybody = Tower::with(|traces| super::CallTraces { from_callers: false, ratio: 1.0, ..traces });
    in_time(caller.tables.get_table(traced(get_table(&table), "00"))).await.expect("a table");
    let told = everybody.span(GET_TABLE).await;
    assert_eq!(told.parent, SPAN, "the trace is still the caller's");
    house.close().await;
}

#[tokio::test]
async fn whoever_has_no_credentials_decides_nothing() {
    let tower = Tower::open(0.0);
    let config = two_operators();
    let house = House::with(Setup { config, ..Setup::default() }).await;
    let mut stranger = house.caller_with("a-token-that-nobody-knows").await;
    for _ in 0..20 {
        let request = sampled(get_table("8f14e45f-ceea-467f-9b3e-000000000001"));
        in_time(stranger.tables.get_table(request)).await.expect_err("a stranger");
    }
    let mut alpha = house.caller_with(ALPHA).await;
    let missing = sampled(get_table("8f14e45f-ceea-467f-9b3e-000000000001"));
    in_time(alpha.tables.get_table(missing)).await.expect_err("no such table");
    let told = tower.span(GET_TABLE).await;
    assert_eq!(told.attribute("rpc.response.status_code"), "NOT_FOUND");
    assert_eq!(told.attribute("fulcrum.error.reason"), "TABLE_NOT_FOUND");
    assert_eq!(told.attribute("fulcrum.operator"), "alpha");
    assert_eq!(tower.collector.told().len(), 1);
    house.close().await;
}

#[tokio::test]
async fn probes_are_not_told() {
    let tower = Tower::open(1.0);
    let house = House::open().await;
    let caller = house.caller().await;
    let mut health = tonic_health::pb::health_client::HealthClient::new(caller.channel.clone());
    for _ in 0..5 {
        let request = tonic_health::pb::HealthCheckRequest { service: String::new() };
        in_time(health.check(sampled(request))).await.expect("health");
    }
    let mut caller = house.caller().await;
    caller.open_table(texas()).await;
    let told = tower.collector.until("one", |told| !told.is_empty()).await;
    assert!(told.iter().all(|span| span.name.starts_with("fulcrum.v1.")), "{told:?}");
    house.close().await;
}

#[tokio::test]
async fn every_line_of_a_call_names_its_trace_and_every_line_is_json() {
    let tower = Tower::open(0.0);
    let house = House::open().await;
    tower.listen(&house);
    let mut caller = house.caller().await;
    let table = caller.open_table(texas()).await;
    for flags in ["00", "01"] {
        in_time(caller.tables.get_table(traced(get_table(&table), flags))).await.expect("a table");
    }
    house.close().await;
    let mut named = 0;
    for line in tower.log.text().lines() {
        let line: serde_json::Value =
            serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"));
        assert!(line["timestamp"].is_string() && line["level"].is_string(), "{line}");
        if line["span"]["rpc.method"] == GET_TABLE {
            let (trace, span) = (line["trace_id"].as_str(), line["span_id"].as_str());
            assert_eq!(trace, Some(TRACE), "{line}");
            assert!(span.is_some_and(|span| span.len() == 16), "{line}");
            assert!(line["span"].get("otel.name").is_none(), "{line}");
            named += 1;
        }
    }
    assert!(named >= 2, "{named}");
}
