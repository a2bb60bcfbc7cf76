//! Another operator's tables are not there, whatever is asked of them.

use fulcrum::pb::v1;
use prost::Message;
use tonic::Code;

use super::super::harness::operators::{ALPHA, BETA, two_operators};
use super::super::harness::raw::Line;
use super::super::harness::{House, Setup, in_time, reason};
use super::contract::{Put, calls, leaves, put};
use super::scene::Scene;

#[tokio::test]
async fn another_operators_table_is_not_found_by_any_call() {
    let config = two_operators();
    let house = House::with(Setup { config, ..Setup::default() }).await;
    for call in calls() {
        let mut scene = Scene::set(&house, &call, Some(ALPHA)).await;
        let mut stranger = Line::open(house.address, Some(BETA)).await;
        let before = scene.mark().await;
        let answer = in_time(stranger.first(&call.path, scene.good.encode_to_vec())).await;
        match call.name.as_str() {
            // A table of his own.
            "CreateTable" => drop(answer.expect("his own table")),
            "ListTables" => {
                let list = v1::ListTablesResponse::decode(answer.expect("a list")).expect("a list");
                assert!(list.tables.len() <= 1, "his own at most");
            }
            "ListDisabled" => {
                let list = v1::ListDisabledResponse::decode(answer.expect("a list")).expect("a list");
                assert_eq!(list, v1::ListDisabledResponse::default());
            }
            "ListStopAudit" => {
                let list = v1::ListStopAuditResponse::decode(answer.expect("a list")).expect("a list");
                assert_eq!(list, v1::ListStopAuditResponse::default());
            }
            "ListConsumers" => {
                let list = v1::ListConsumersResponse::decode(answer.expect("a list")).expect("a list");
                assert_eq!(list, v1::ListConsumersResponse::default());
            }
            "ListTransactions" => {
                let list = v1::ListTransactionsResponse::decode(answer.expect("a list")).expect("a list");
                assert_eq!(list, v1::ListTransactionsResponse::default());
            }
            // Of his own, who is not there.
            "ListSettlements" => assert_eq!(reason(&answer.expect_err("no consumer")), "CONSUMER_NOT_FOUND"),
            "DeleteConsumer" => drop(answer.expect("nothing")),
            "GetServerInfo" => drop(answer.expect("the same for everybody")),
            // A position is its operator's.
            "AckSettlements" => assert_eq!(reason(&answer.expect_err("no position")), "INVALID_ARGUMENT"),
            name => {
                let status = answer.expect_err(name);
                let wanted = if name == "GetSettlement" { "SETTLEMENT_NOT_FOUND" } else { "TABLE_NOT_FOUND" };
                assert_eq!((status.code(), reason(&status).as_str()), (Code::NotFound, wanted), "{name}");
                // Word for word what is said of a table that never was.
                let mut never = scene.good.clone();
                let ids = ["table_id", "tables.table_id", "settlement_id", "scope.table.table_id"];
                let leaves = leaves(&call.input);
                let id = ids.iter().find(|id| leaves.iter().any(|leaf| leaf == *id)).expect(name);
                put(&mut never, id, Put::Text("123e4567-e89b-12d3-a456-426614174000"));
                let unknown =
                    in_time(stranger.first(&call.path, never.encode_to_vec())).await.expect_err(name);
                assert_eq!(
                    (unknown.message(), unknown.details()),
                    (status.message(), status.details()),
                    "{name}"
                );
            }
        }
        assert_eq!(scene.mark().await, before, "{}: nothing has changed", call.name);
        let mut owner = Line::open(house.address, Some(ALPHA)).await;
        in_time(owner.first(&call.path, scene.good.encode_to_vec())).await.expect("the owner may");
    }
    house.close().await;
}
