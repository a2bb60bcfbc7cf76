//! A table for each call, in a state in which the call would be fine, and the request that would be.

use std::time::Duration;

use fulcrum::pb::v1;
use prost::Message;
use prost_reflect::DynamicMessage;

use super::super::harness::caller::{eyes_of, seat_request};
use super::super::harness::{Caller, House, double, payments, request_id, texas};
use super::contract::Call;

/// Calls about a transaction that is parked.
const PARKED: [&str; 3] = ["RetryTransaction", "ProposeResolution", "ConfirmResolution"];

/// A table and a request.
pub struct Scene {
    /// The operator's backend.
    pub caller: Caller,
    /// The table that the request is about.
    pub table: String,
    /// The request: fine as it is.
    pub good: DynamicMessage,
}

/// What a call may change.
#[derive(Debug, PartialEq)]
pub struct Mark {
    /// The table's version.
    pub version: u64,
    /// How many settlement records there are.
    records: usize,
    /// How many tables there are in the house.
    tables: usize,
}

impl Mark {
    /// How many commits, records and tables there are more.
    pub fn effects(&self, later: &Mark) -> (u64, usize, usize) {
        (later.version - self.version, later.records - self.records, later.tables - self.tables)
    }
}

impl Scene {
    /// Sets up the scene for a call.
    pub async fn set(house: &House, call: &Call, token: Option<&str>) -> Scene {
        let mut caller = match token {
            Some(token) => house.caller_with(token).await,
            None => house.caller().await,
        };
        let (table, turn) = scene(&mut caller, &call.name).await;
        if PARKED.contains(&&*call.name) {
            // Tokens begin with the operator's name here.
            let operator = token.and_then(|token| token.split('-').next()).unwrap_or("dev");
            payments::park(house, operator, &table, call.name == "ConfirmResolution").await;
        }
        let bytes = request(&mut caller, &call.name, &table, &turn).await;
        let good = DynamicMessage::decode(call.input.clone(), &bytes[..]).expect("a message of the call");
        Scene { caller, table, good }
    }

    /// Waits until the clocks have nothing more to do at once: a hand that is due has begun.
    pub async fn settle(&mut self) {
        let (table, mut version) = (self.table.clone(), 0);
        loop {
            let now = self.caller.table(&table, "").await;
            if now.version == version && now.next_hand_at.is_none() {
                return;
            }
            version = now.version;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// What is so now.
    pub async fn mark(&mut self) -> Mark {
        let table = self.table.clone();
        let states = [1, 2, 3, 4].to_vec();
        let list = v1::ListTablesRequest { page_size: 500, states, ..Default::default() };
        let tables = self.caller.tables.list_tables(list).await.expect("a list").into_inner().tables.len();
        let records = self.caller.records(&table).await.len();
        Mark { version: self.caller.table(&table, "").await.version, records, tables }
    }
}

/// Settings in which every field is set.
pub fn config(base: v1::TableConfig) -> v1::TableConfig {
    let seconds = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
    v1::TableConfig {
        stakes: Some(v1::Stakes {
            ante: Some(v1::Ante { kind: Some(v1::ante::Kind::PerPlayer(5)) }),
            max_straddles: 1,
            small_bet: 100,
            big_bet: 200,
            min_buy_in: 4_000,
            max_buy_in: 50_000,
            ..base.stakes.unwrap_or_default()
        }),
        rake: Some(v1::Rake {
            basis_points: 500,
            cap_2: Some(100),
            cap_3_to_4: Some(200),
            cap_5_plus: Some(300),
            unit: 1,
        }),
        clocks: Some(v1::Clocks {
            action: seconds(60),
            pivot: seconds(60),
            time_bank: seconds(10),
            refill: Some(v1::TimeBankRefill { amount: seconds(5), every_hands: 10 }),
            grace: seconds(1),
            between_hands: seconds(0),
            timeouts_to_sit_out: 3,
            sit_out_limit: seconds(600),
        }),
        rathole_window: seconds(60),
        ..base
    }
}

async fn scene(caller: &mut Caller, call: &str) -> (String, v1::Turn) {
    match call {
        "Act" | "VoidHand" | "GetTurn" => playing(caller, texas()).await,
        "SelectPivot" => picking(caller).await,
        "ShowCards" => won(caller).await,
        _ => {
            // One player: no hand begins.
            let table = caller.open_table(config(texas())).await;
            caller.seat(&table, "ann", 1, 10_000).await;
            match call {
                "ResumeTable" | "EnableScope" => caller.pause(&table).await,
                "SitIn" => {
                    let out = v1::SitOutRequest { from: 0, ..sit_out(&table) };
                    caller.tables.sit_out(out).await.expect("she sits out");
                }
                _ => {}
            }
            (table, v1::Turn::default())
        }
    }
}

/// Ann, on the button, is to act first.
pub async fn playing(caller: &mut Caller, game: v1::TableConfig) -> (String, v1::Turn) {
    let table = caller.table_of(config(game), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    let turn = eyes.turn_after(begun).await;
    (table, turn)
}

/// Bob is to pick.
pub async fn picking(caller: &mut Caller) -> (String, v1::Turn) {
    let (table, turn) = playing(caller, double()).await;
    let mut eyes = caller.watch(&table, "").await;
    let called = caller.act(&table, "ann", &turn, v1::Action::Call, 0).await.expect("a call");
    let turn = eyes.turn_after(called.sequence).await;
    let checked = caller.act(&table, "bob", &turn, v1::Action::Check, 0).await.expect("a check");
    let turn = eyes.turn_after(checked.sequence).await;
    assert_eq!(turn.kind(), v1::TurnKind::Pick);
    (table, turn)
}

/// Ann has folded: bob may show.
async fn won(caller: &mut Caller) -> (String, v1::Turn) {
    let (table, turn) = playing(caller, texas()).await;
    caller.pause(&table).await;
    caller.act(&table, "ann", &turn, v1::Action::Fold, 0).await.expect("a fold");
    (table, turn)
}

fn sit_out(table: &str) -> v1::SitOutRequest {
    v1::SitOutRequest {
        request_id: request_id(),
        table_id: table.into(),
        player_id: "ann".into(),
        from: v1::SitOutFrom::NextHand.into(),
        etag: String::new(),
    }
}

async fn request(caller: &mut Caller, call: &str, table: &str, turn: &v1::Turn) -> Vec<u8> {
    let (request_id, table_id, player_id) = (request_id(), table.to_owned(), "ann".to_owned());
    let (hand_number, etag, viewer) = (turn.hand_number, String::new(), eyes_of("ann"));
    match call {
        "CreateTable" => v1::CreateTableRequest { request_id, config: Some(config(texas())) }.encode_to_vec(),
        "GetTable" => v1::GetTableRequest { table_id, viewer }.encode_to_vec(),
        "ListTables" => {
            v1::ListTablesRequest { page_size: 5, states: vec![1], game: 2, ..Default::default() }
                .encode_to_vec()
        }
        "UpdateTable" => {
            let config = Some(v1::TableConfig { show_all: true, ..config(texas()) });
            v1::UpdateTableRequest { request_id, table_id, config, etag }.encode_to_vec()
        }
        "PauseTable" => {
            v1::PauseTableRequest { request_id, table_id, reason: "why".into(), etag }.encode_to_vec()
        }
        "ResumeTable" => v1::ResumeTableRequest { request_id, table_id, scope: 4, etag }.encode_to_vec(),
        "CloseTable" => {
            v1::CloseTableRequest { request_id, table_id, reason: "why".into(), etag }.encode_to_vec()
        }
        "WatchTable" => v1::WatchTableRequest { table_id, viewer, ..Default::default() }.encode_to_vec(),
        "WatchTables" => {
            let tables = vec![v1::WatchedTable { table_id, ..Default::default() }];
            v1::WatchTablesRequest { tables, viewer }.encode_to_vec()
        }
        "Act" => {
            let (turn, action, to) = (turn.number, v1::Action::Raise.into(), 300);
            v1::ActRequest { request_id, table_id, hand_number, turn, player_id, action, to }.encode_to_vec()
        }
        "SelectPivot" => {
            let (turn, player_id, card_index) = (turn.number, "bob".to_owned(), Some(1));
            v1::SelectPivotRequest { request_id, table_id, hand_number, turn, player_id, card_index }
                .encode_to_vec()
        }
        "ShowCards" => {
            let player_id = "bob".to_owned();
            v1::ShowCardsRequest { request_id, table_id, hand_number, player_id }.encode_to_vec()
        }
        "GetTurn" => v1::GetTurnRequest { table_id, viewer }.encode_to_vec(),
        "VoidHand" => {
            let (reason, requester) = ("why".to_owned(), "floor".to_owned());
            v1::VoidHandRequest { request_id, table_id, hand_number, reason, requester }.encode_to_vec()
        }
        "SeatPlayer" | "StandUp" | "SitOut" | "SitIn" | "AddChips" | "SetPreferences" => {
            of_a_seat(call, table)
        }
        _ => of_the_books(caller, call, table).await,
    }
}

async fn of_the_books(caller: &mut Caller, call: &str, table: &str) -> Vec<u8> {
    let (table_id, player_id) = (table.to_owned(), "ann".to_owned());
    match call {
        "GetSettlement" => {
            let settlement_id = caller.records(table).await[0].settlement_id.clone();
            v1::GetSettlementRequest { settlement_id }.encode_to_vec()
        }
        "ListSettlements" => {
            caller.first_delivery("books", table).await;
            let (consumer, delivery) = ("books".to_owned(), v1::DeliveryState::Unacknowledged.into());
            let (page_size, hand_number, kinds) = (5, 1, vec![v1::SettlementKind::Hand.into()]);
            let list = v1::ListSettlementsRequest { consumer, delivery, kinds, ..Default::default() };
            v1::ListSettlementsRequest { page_size, table_id, hand_number, player_id, ..list }.encode_to_vec()
        }
        "StreamSettlements" => {
            let (consumer, after_position) = ("books".to_owned(), String::new());
            v1::StreamSettlementsRequest { consumer, after_position, table_id }.encode_to_vec()
        }
        "AckSettlements" => {
            let position = caller.first_delivery("books", table).await.position;
            v1::AckSettlementsRequest { consumer: "books".into(), position }.encode_to_vec()
        }
        "GetSessionStatement" => {
            v1::GetSessionStatementRequest { table_id, player_id, session: 1 }.encode_to_vec()
        }
        "ListTransactions" => {
            let states = vec![v1::TransactionState::Booked.into()];
            let list = v1::ListTransactionsRequest { table_id, player_id, states, ..Default::default() };
            v1::ListTransactionsRequest { page_size: 5, hand_number: 1, ..list }.encode_to_vec()
        }
        call if PARKED.contains(&call) => payments::request(call, caller, table).await,
        "GetTrialBalance" => {
            let request = v1::GetTrialBalanceRequest { table_id, player_id, ..Default::default() };
            v1::GetTrialBalanceRequest { page_size: 5, ..request }.encode_to_vec()
        }
        "DisableScope" | "EnableScope" => {
            let scope = v1::scope::Scope::Table(v1::TableScope { table_id });
            let (scope, reason) = (Some(v1::Scope { scope: Some(scope) }), "why".to_owned());
            let (request_id, requester) = (request_id(), "floor".to_owned());
            // Both have the same fields.
            v1::DisableScopeRequest { request_id, scope, reason, requester }.encode_to_vec()
        }
        "ListDisabled" => v1::ListDisabledRequest { page_size: 5, ..Default::default() }.encode_to_vec(),
        "ListStopAudit" => v1::ListStopAuditRequest { page_size: 5, ..Default::default() }.encode_to_vec(),
        "ListConsumers" => v1::ListConsumersRequest { page_size: 5, ..Default::default() }.encode_to_vec(),
        "DeleteConsumer" => v1::DeleteConsumerRequest { consumer: "books".into() }.encode_to_vec(),
        "GetServerInfo" => v1::GetServerInfoRequest {}.encode_to_vec(),
        other => panic!("{other} is new: it wants a scene and its bad inputs"),
    }
}

fn of_a_seat(call: &str, table: &str) -> Vec<u8> {
    let (request_id, table_id, player_id) = (request_id(), table.to_owned(), "ann".to_owned());
    let (transaction_id, etag) = ("tx".to_owned(), String::new());
    match call {
        "SeatPlayer" => {
            let entry = v1::Entry::Post.into();
            v1::SeatPlayerRequest { entry, ..seat_request(table, "bob", 2, 5_000) }.encode_to_vec()
        }
        "StandUp" => {
            v1::StandUpRequest { request_id, table_id, player_id, transaction_id, etag }.encode_to_vec()
        }
        "SitOut" => sit_out(table).encode_to_vec(),
        "SitIn" => v1::SitInRequest { request_id, table_id, player_id, entry: 2, etag }.encode_to_vec(),
        "AddChips" => {
            let amount = 1_000;
            v1::AddChipsRequest { request_id, table_id, player_id, amount, transaction_id, etag }
                .encode_to_vec()
        }
        "SetPreferences" => {
            let preferences = Some(v1::Preferences { straddle: true, always_show: false });
            v1::SetPreferencesRequest { request_id, table_id, player_id, preferences, etag }.encode_to_vec()
        }
        other => panic!("{other} is no call about a seat"),
    }
}
