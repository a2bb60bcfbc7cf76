//! Who may see what: tokens, operators, roles, and what is open to everybody.

mod ending;
mod fill;
mod issuer;
mod jwt;
mod matrix;
mod roles;
mod rotation;

use fulcrum::grpc::{ServeConfig, ServeError, serve};
use fulcrum::pb::v1;
use tables::{MemoryStore, OsDealer, Tables};
use tokio::net::TcpListener;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use super::harness::operators::{ALPHA, BETA, two_operators};
use super::harness::{House, Setup, raw, reason, texas};

async fn guarded() -> House {
    let config = two_operators();
    House::with(Setup { config, ..Setup::default() }).await
}

#[tokio::test]
async fn without_a_known_token_nothing_is_served() {
    let house = guarded().await;
    let mut nobody = house.caller().await;
    let mut guesser = house.caller_with("alpha-0123456789abcdeg").await;
    for caller in [&mut nobody, &mut guesser] {
        let answers: [Status; 4] = [
            caller.tables.list_tables(v1::ListTablesRequest::default()).await.unwrap_err(),
            caller.tables.watch_table(v1::WatchTableRequest::default()).await.unwrap_err(),
            caller.actions.get_turn(v1::GetTurnRequest::default()).await.unwrap_err(),
            caller.settlements.list_settlements(v1::ListSettlementsRequest::default()).await.unwrap_err(),
        ];
        for status in answers {
            assert_eq!((status.code(), reason(&status)), (Code::Unauthenticated, "UNAUTHENTICATED".into()));
        }
    }
    let unknown = raw::call(house.address, "/fulcrum.v1.TableService/Nothing", Vec::new()).await.unwrap_err();
    assert_eq!(unknown.code(), Code::Unauthenticated, "not even which calls there are");
    house.close().await;
}

#[tokio::test]
async fn another_operators_things_are_not_there() {
    let house = guarded().await;
    let mut alpha = house.caller_with(ALPHA).await;
    let mut beta = house.caller_with(BETA).await;
    let table = alpha.table_of(texas(), &["ann"]).await;
    let record = alpha.records(&table).await.remove(0);

    let never = uuid::Uuid::new_v4().to_string();
    let mut seen = Vec::new();
    for id in [&table, &never] {
        let get = v1::GetTableRequest { table_id: id.clone(), viewer: None };
        seen.push(beta.tables.get_table(get).await.unwrap_err());
        let watch = v1::WatchTableRequest { table_id: id.clone(), ..Default::default() };
        seen.push(beta.tables.watch_table(watch).await.unwrap_err());
        let seat = super::harness::caller::seat_request(id, "bob", 0, 5_000);
        seen.push(beta.tables.seat_player(seat).await.unwrap_err());
        let turn = v1::GetTurnRequest { table_id: id.clone(), viewer: None };
        seen.push(beta.actions.get_turn(turn).await.unwrap_err());
    }
    for status in &seen {
        assert_eq!((status.code(), reason(status)), (Code::NotFound, "TABLE_NOT_FOUND".into()));
        assert_eq!(status.message(), seen[0].message(), "the same for a table that never was");
    }
    let get = v1::GetSettlementRequest { settlement_id: record.settlement_id.clone() };
    let found = alpha.settlements.get_settlement(get.clone()).await.expect("his own").into_inner();
    assert_eq!(found.settlement, Some(record));
    let hidden = beta.settlements.get_settlement(get).await.unwrap_err();
    assert_eq!((hidden.code(), reason(&hidden)), (Code::NotFound, "SETTLEMENT_NOT_FOUND".into()));
    let tables = beta.tables.list_tables(v1::ListTablesRequest::default()).await.expect("a list");
    assert!(tables.into_inner().tables.is_empty());
    assert!(beta.records(&table).await.is_empty());
    house.close().await;
}

#[tokio::test]
async fn two_operators_may_use_the_same_request_id() {
    let house = guarded().await;
    let request = v1::CreateTableRequest { request_id: super::harness::request_id(), config: Some(texas()) };
    let mut ids = Vec::new();
    for token in [ALPHA, BETA] {
        let mut caller = house.caller_with(token).await;
        ids.push(caller.tables.create_table(request.clone()).await.expect("a table").into_inner().table_id);
    }
    assert_ne!(ids[0], ids[1]);
    house.close().await;
}

#[tokio::test]
async fn health_and_reflection_are_open_and_tell_no_more_than_the_contract() {
    let config = ServeConfig { reflection: true, ..two_operators() };
    let house = House::with(Setup { config, ..Setup::default() }).await;
    let caller = house.caller().await;
    let mut health = HealthClient::new(caller.channel.clone());
    for service in ["", "fulcrum.v1.TableService", "fulcrum.v1.ActionService", "fulcrum.v1.PivotService"] {
        let request = HealthCheckRequest { service: service.into() };
        let answer = health.check(request).await.expect("healthy").into_inner();
        assert_eq!(
            answer.status(),
            tonic_health::pb::health_check_response::ServingStatus::Serving,
            "{service}"
        );
    }
    let mut reflection = ServerReflectionClient::new(caller.channel);
    let request = ServerReflectionRequest {
        message_request: Some(MessageRequest::ListServices(String::new())),
        ..Default::default()
    };
    let mut stream = reflection
        .server_reflection_info(tokio_stream::iter([request]))
        .await
        .expect("reflection")
        .into_inner();
    let answer = stream.message().await.expect("an answer").expect("an answer");
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
        panic!("{answer:?}");
    };
    let mut names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
    names.sort();
    let wanted = [
        "fulcrum.v1.ActionService",
        "fulcrum.v1.ControlService",
        "fulcrum.v1.PivotService",
        "fulcrum.v1.ServerService",
        "fulcrum.v1.SettlementService",
        "fulcrum.v1.TableService",
        "grpc.health.v1.Health",
    ];
    assert_eq!(names, wanted);
    drop(stream);
    house.close().await;
}

#[tokio::test]
async fn without_tokens_only_loopback_is_served() {
    let listener = TcpListener::bind(("0.0.0.0", 0)).await.expect("a free port");
    let store = std::sync::Arc::new(MemoryStore::default());
    let tables = Tables::new(store, std::sync::Arc::new(OsDealer), tables::Settings::default());
    let served = serve(ServeConfig::default(), tables, listener, std::future::pending()).await;
    assert!(matches!(served, Err(ServeError::NoTokens(_))), "{served:?}");
}

/// Whoever may not call has no use for a list of the calls.
#[tokio::test]
async fn reflection_is_answered_in_development_and_where_it_is_asked_for() {
    for (config, answered) in [
        (ServeConfig::default(), true),
        (two_operators(), false),
        (ServeConfig { reflection: true, ..two_operators() }, true),
    ] {
        let house = House::with(Setup { config, ..Setup::default() }).await;
        let mut reflection = ServerReflectionClient::new(house.caller().await.channel);
        let request = ServerReflectionRequest {
            message_request: Some(MessageRequest::ListServices(String::new())),
            ..Default::default()
        };
        let answer = reflection.server_reflection_info(tokio_stream::iter([request])).await;
        assert_eq!(answer.as_ref().err().map(Status::code), (!answered).then_some(Code::Unimplemented));
        drop(answer);
        house.close().await;
    }
}

#[tokio::test]
async fn other_machines_are_let_in_without_credentials_where_that_is_asked_for() {
    let listener = TcpListener::bind(("0.0.0.0", 0)).await.expect("a free port");
    let store = std::sync::Arc::new(MemoryStore::default());
    let tables = Tables::new(store, std::sync::Arc::new(OsDealer), tables::Settings::default());
    let config = ServeConfig { insecure: true, ..ServeConfig::default() };
    let served = serve(config, tables, listener, async {}).await;
    assert!(served.is_ok(), "{served:?}");
}

/// Nobody needs a token for health: so it must not be a way to fill the server's memory, nor to keep a probe from its answer.
#[tokio::test]
async fn open_calls_are_bounded_and_give_their_places_back() {
    let house = guarded().await;
    let caller = house.caller().await;
    let mut health = HealthClient::new(caller.channel.clone());
    let mut streams = Vec::new();
    let refused = loop {
        match health.watch(HealthCheckRequest::default()).await {
            Ok(stream) => streams.push(stream.into_inner()),
            Err(status) => break status,
        }
        assert!(streams.len() <= 1000, "no bound");
    };
    assert_eq!((refused.code(), reason(&refused)), (Code::ResourceExhausted, "OVERLOADED".into()));
    assert!(streams.len() >= 50, "only {}", streams.len());
    // Those with a token are served all the same, and so is whoever asks for health on a connection of his own, as probes do.
    let mut alpha = house.caller_with(ALPHA).await;
    let mut probe = HealthClient::new(house.caller().await.channel);
    probe.check(HealthCheckRequest::default()).await.expect("its health");
    let long = HealthCheckRequest { service: "x".repeat(2_000) };
    let refused = probe.check(long).await.expect_err("too large");
    assert_eq!(refused.code(), Code::OutOfRange, "{refused:?}");
    alpha.tables.list_tables(v1::ListTablesRequest::default()).await.expect("a list");
    drop(streams);
    for _ in 0..500 {
        if health.check(HealthCheckRequest::default()).await.is_ok() {
            return house.close().await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the places do not come back");
}
