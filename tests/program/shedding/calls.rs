//! Every unary call of the contract, each at a table where it would be granted.

mod money;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use fulcrum::pb::v1::action_service_client::ActionServiceClient;
use prost::Message;
use prost_types::FileDescriptorSet;
use tonic::transport::Endpoint;

use crate::spectator::{connect, duel, open_table};

const BUY_IN: i64 = 20_000;

/// A call, ready to be sent.
#[derive(Clone)]
pub struct Call {
    pub path: &'static str,
    pub message: Vec<u8>,
}

fn call(path: &'static str, message: &impl Message) -> Call {
    Call { path, message: message.encode_to_vec() }
}

fn fresh() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Reads a table.
pub fn read(table_id: &str) -> Call {
    let request = v1::GetTableRequest { table_id: table_id.to_owned(), viewer: None };
    call("/fulcrum.v1.TableService/GetTable", &request)
}

/// Sets a player's wishes.
pub fn prefer(table_id: &str, player: &str) -> Call {
    let request = v1::SetPreferencesRequest {
        request_id: fresh(),
        table_id: table_id.to_owned(),
        player_id: player.to_owned(),
        preferences: Some(v1::Preferences { straddle: true, always_show: true }),
        etag: String::new(),
    };
    call("/fulcrum.v1.TableService/SetPreferences", &request)
}

/// A table where `mia` sits and nothing happens by itself.
pub async fn table_for_reading(address: &str) -> String {
    let table_id = open_table(address, duel(BUY_IN)).await;
    seat(address, &table_id, "mia").await;
    table_id
}

async fn seat(address: &str, table_id: &str, player: &str) {
    connect(address).seat_player(seat_request(table_id, player)).await.expect("a seat");
}

fn seat_request(table_id: &str, player: &str) -> v1::SeatPlayerRequest {
    v1::SeatPlayerRequest {
        request_id: fresh(),
        table_id: table_id.to_owned(),
        player_id: player.to_owned(),
        buy_in: BUY_IN,
        transaction_id: fresh(),
        ..Default::default()
    }
}

/// A table with a running hand whose clocks last so many seconds: its id and the number of the open turn.
pub async fn table_with_clock(address: &str, seconds: i64) -> (String, u32) {
    let length = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
    let clocks = v1::Clocks {
        action: length(seconds),
        time_bank: length(0),
        between_hands: length(0),
        ..Default::default()
    };
    let config = v1::TableConfig { clocks: Some(clocks), ..duel(BUY_IN) };
    let table_id = open_table(address, config).await;
    let turn = begin(address, &table_id).await;
    (table_id, turn.number)
}

/// Seats two players, and waits for the first turn.
async fn begin(address: &str, table_id: &str) -> v1::Turn {
    seat(address, table_id, "mia").await;
    seat(address, table_id, "leo").await;
    let channel = Endpoint::from_shared(format!("http://{address}")).unwrap().connect_lazy();
    let (mut client, begun) = (ActionServiceClient::new(channel), Instant::now());
    loop {
        let request = v1::GetTurnRequest { table_id: table_id.to_owned(), viewer: None };
        if let Some(turn) = client.get_turn(request).await.unwrap().into_inner().turn {
            return turn;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "no hand begins");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// All unary calls. Those that change something have a table each, so that none of them waits for another one.
pub async fn all(address: &str) -> Vec<Call> {
    let mut calls = at_rest(address).await;
    calls.extend(in_a_hand(address).await);
    calls.extend(money::of(address).await);
    calls.extend(stops());
    let paths: BTreeSet<String> = calls.iter().map(|call| call.path.to_owned()).collect();
    assert_eq!(paths, unary_calls(), "no call is left out");
    calls
}

/// The paths of the contract's unary calls, but those that ask no store.
fn unary_calls() -> BTreeSet<String> {
    let set = FileDescriptorSet::decode(fulcrum::pb::DESCRIPTOR).unwrap();
    let mut paths = BTreeSet::new();
    let services = set.file.iter().flat_map(|file| &file.service);
    for service in services.filter(|service| service.name() != "ServerService") {
        for method in service.method.iter().filter(|method| !method.server_streaming()) {
            paths.insert(format!("/fulcrum.v1.{}/{}", service.name(), method.name()));
        }
    }
    paths
}

/// Calls at tables where no hand runs.
async fn at_rest(address: &str) -> Vec<Call> {
    let mut tables = Vec::new();
    for _ in 0..8 {
        tables.push(table_for_reading(address).await);
    }
    let id = |number: usize| tables[number].clone();
    let request_id = fresh();
    let create = v1::CreateTableRequest { request_id, config: Some(duel(BUY_IN)) };
    let update = v1::UpdateTableRequest {
        request_id: fresh(),
        table_id: id(1),
        config: Some(v1::TableConfig { display_name: "Another name".into(), ..duel(BUY_IN) }),
        etag: String::new(),
    };
    let pause = v1::PauseTableRequest {
        request_id: fresh(),
        table_id: id(2),
        reason: "a trial".into(),
        etag: String::new(),
    };
    let resume = v1::ResumeTableRequest { request_id: fresh(), table_id: id(3), ..Default::default() };
    let close = v1::CloseTableRequest { request_id: fresh(), table_id: id(4), ..Default::default() };
    let stand_up = v1::StandUpRequest {
        request_id: fresh(),
        table_id: id(5),
        player_id: "mia".into(),
        transaction_id: fresh(),
        etag: String::new(),
    };
    let list = v1::ListSettlementsRequest { table_id: id(0), ..Default::default() };
    vec![
        read(&id(0)),
        call("/fulcrum.v1.TableService/ListTables", &v1::ListTablesRequest::default()),
        call("/fulcrum.v1.TableService/CreateTable", &create),
        call("/fulcrum.v1.TableService/UpdateTable", &update),
        call("/fulcrum.v1.TableService/PauseTable", &pause),
        call("/fulcrum.v1.TableService/ResumeTable", &resume),
        call("/fulcrum.v1.TableService/CloseTable", &close),
        call("/fulcrum.v1.TableService/StandUp", &stand_up),
        call("/fulcrum.v1.TableService/SeatPlayer", &seat_request(&id(6), "leo")),
        prefer(&id(7), "mia"),
        call("/fulcrum.v1.SettlementService/ListSettlements", &list),
        call(
            "/fulcrum.v1.SettlementService/GetSettlement",
            &v1::GetSettlementRequest { settlement_id: fresh() },
        ),
    ]
}

/// Calls at tables with a running hand.
async fn in_a_hand(address: &str) -> Vec<Call> {
    let mut hands = Vec::new();
    for _ in 0..7 {
        let table_id = open_table(address, duel(BUY_IN)).await;
        let turn = begin(address, &table_id).await;
        hands.push((table_id, turn));
    }
    let id = |number: usize| hands[number].0.clone();
    let turn = &hands[0].1;
    let act = v1::ActRequest {
        request_id: fresh(),
        table_id: id(0),
        hand_number: turn.hand_number,
        turn: turn.number,
        player_id: if turn.seats[0] == 1 { "mia".into() } else { "leo".into() },
        action: v1::Action::Fold.into(),
        to: 0,
    };
    let pick = v1::SelectPivotRequest {
        request_id: fresh(),
        table_id: id(1),
        hand_number: 1,
        turn: 1,
        player_id: "mia".into(),
        card_index: Some(0),
    };
    let void = v1::VoidHandRequest {
        request_id: fresh(),
        table_id: id(2),
        hand_number: 1,
        reason: "a trial".into(),
        requester: "the test".into(),
    };
    let mut calls = wishes(&hands[3..].iter().map(|(id, _)| id.clone()).collect::<Vec<_>>());
    calls.extend([
        call("/fulcrum.v1.ActionService/Act", &act),
        call("/fulcrum.v1.PivotService/SelectPivot", &pick),
        call("/fulcrum.v1.SettlementService/VoidHand", &void),
    ]);
    calls
}

/// Calls about stops, of somebody who sits nowhere.
fn stops() -> Vec<Call> {
    let zoe = v1::PlayerScope { player_id: "zoe".into(), operator: String::new() };
    let scope = Some(v1::Scope { scope: Some(v1::scope::Scope::Player(zoe)) });
    let (reason, requester) = ("a trial".to_owned(), "the test".to_owned());
    let disable = v1::DisableScopeRequest {
        request_id: fresh(),
        scope: scope.clone(),
        reason: reason.clone(),
        requester: requester.clone(),
    };
    let enable = v1::EnableScopeRequest { request_id: fresh(), scope, reason, requester };
    vec![
        call("/fulcrum.v1.ControlService/DisableScope", &disable),
        call("/fulcrum.v1.ControlService/EnableScope", &enable),
        call("/fulcrum.v1.ControlService/ListDisabled", &v1::ListDisabledRequest::default()),
        call("/fulcrum.v1.ControlService/ListStopAudit", &v1::ListStopAuditRequest::default()),
    ]
}

/// Calls of players at four tables who may do so whoever is to act.
fn wishes(tables: &[String]) -> Vec<Call> {
    let id = |number: usize| tables[number].clone();
    let sit_out = v1::SitOutRequest {
        request_id: fresh(),
        table_id: id(0),
        player_id: "mia".into(),
        ..Default::default()
    };
    let sit_in = v1::SitInRequest {
        request_id: fresh(),
        table_id: id(1),
        player_id: "mia".into(),
        ..Default::default()
    };
    let add = v1::AddChipsRequest {
        request_id: fresh(),
        table_id: id(2),
        player_id: "mia".into(),
        amount: 100,
        transaction_id: fresh(),
        etag: String::new(),
    };
    let show = v1::ShowCardsRequest {
        request_id: fresh(),
        table_id: id(3),
        hand_number: 1,
        player_id: "mia".into(),
    };
    let turn = v1::GetTurnRequest { table_id: id(3), viewer: None };
    vec![
        call("/fulcrum.v1.TableService/SitOut", &sit_out),
        call("/fulcrum.v1.TableService/SitIn", &sit_in),
        call("/fulcrum.v1.TableService/AddChips", &add),
        call("/fulcrum.v1.ActionService/ShowCards", &show),
        call("/fulcrum.v1.ActionService/GetTurn", &turn),
    ]
}
