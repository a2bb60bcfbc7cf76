//! Wallets, consumers, and a table whose books are wrong.

use std::sync::Arc;

use fulcrum::pb::v1;
use tables::{MemoryStore, OperatorId, Store, TableId, TableKey};

use super::faults::falsify;
use super::scraped::Scraped;
use crate::harness::{Setup, in_time, request_id, texas};
use crate::wallet::bank::{Act, Bank, Method, TOKEN};
use crate::wallet::room::{DEADLINE, buy_in, callers, seat, setup};

#[tokio::test]
async fn wallets_and_consumers_are_counted_by_operator_and_nothing_secret_is_told() {
    let banks = [Bank::open().await, Bank::open().await];
    let scraped = Scraped::open(setup(banks[0].client(DEADLINE), banks[1].client(DEADLINE))).await;
    let (mut alpha, mut beta) = callers(&scraped.house).await;
    let table = alpha.table_of(texas(), &[]).await;
    let of_beta = beta.table_of(texas(), &[]).await;
    banks[0].set_balance("poor-player", 0);
    seat(&mut alpha, &buy_in(&table, "rich-player", 1, 5_000)).await.expect("a seat");
    seat(&mut alpha, &buy_in(&table, "poor-player", 2, 5_000)).await.unwrap_err();
    seat(&mut beta, &buy_in(&of_beta, "ann", 1, 5_000)).await.expect("a seat");
    banks[1].play_in(Method::Debit, |_| Act::Fail(tonic::Status::internal("no")));
    seat(&mut beta, &buy_in(&of_beta, "bob", 2, 5_000)).await.unwrap_err();

    scraped.line("fulcrum_wallet_calls_total{operator=\"alpha\",call=\"debit\",outcome=\"booked\"} 1").await;
    scraped
        .line("fulcrum_wallet_calls_total{operator=\"alpha\",call=\"debit\",outcome=\"declined\"} 1")
        .await;
    scraped.line("fulcrum_wallet_calls_total{operator=\"beta\",call=\"debit\",outcome=\"unknown\"} 1").await;
    scraped.line("fulcrum_wallet_calls_total{operator=\"beta\",call=\"find\",outcome=\"missing\"} 1").await;
    scraped.line("fulcrum_wallet_call_seconds_count{operator=\"alpha\"} 2").await;

    let first = alpha.first_delivery("books", &table).await;
    scraped.line("fulcrum_settlements_unacknowledged{operator=\"alpha\",consumer=\"books\"} 1").await;
    alpha.acknowledge("books", &first.position).await.expect("acknowledged");
    let text =
        scraped.line("fulcrum_settlements_unacknowledged{operator=\"alpha\",consumer=\"books\"} 0").await;
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("# EOF\n"), "{text}");
    let age = "fulcrum_settlements_oldest_unacknowledged_seconds{operator=\"alpha\",consumer=\"books\"} 0";
    assert!(text.contains(age) && !text.contains("consumer=\"books\",operator=\"beta\""), "{text}");
    for secret in [TOKEN, "rich-player", "poor-player", table.as_str(), "0123456789abcdef"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert!(scraped.ask("GET /", "").await.starts_with("HTTP/1.1 404 "));
    assert!(scraped.ask("POST /metrics", "").await.starts_with("HTTP/1.1 405 "));
    scraped.close().await;
}

#[tokio::test]
async fn a_table_whose_books_are_wrong_stops_and_is_counted() {
    let store = Arc::new(MemoryStore::default());
    let bank = Bank::open().await;
    let with = || {
        let store: Arc<dyn Store> = Arc::<MemoryStore>::clone(&store);
        Setup { store, ..setup(bank.client(DEADLINE), bank.client(DEADLINE)) }
    };
    let before = crate::harness::House::with(with()).await;
    let (mut alpha, _) = callers(&before).await;
    let table = alpha.table_of(texas(), &[]).await;
    seat(&mut alpha, &buy_in(&table, "ann", 1, 5_000)).await.expect("a seat");
    drop(alpha);
    before.close().await;
    let key = TableKey {
        operator: OperatorId::new("alpha").expect("a name"),
        table: TableId(table.parse().expect("a UUID")),
    };
    falsify(&store, &key).await;

    let scraped = Scraped::open(with()).await;
    scraped.line("fulcrum_tables_stopped_total{operator=\"alpha\"} 0").await;
    let (mut alpha, _) = callers(&scraped.house).await;
    let prefer = v1::SetPreferencesRequest {
        request_id: request_id(),
        table_id: table.clone(),
        player_id: "ann".into(),
        preferences: Some(v1::Preferences { straddle: false, always_show: true }),
        etag: String::new(),
    };
    in_time(alpha.tables.set_preferences(prefer)).await.expect_err("the books are wrong");
    scraped.line("fulcrum_tables_stopped_total{operator=\"alpha\"} 1").await;
    scraped.line("fulcrum_tables_stopped_total{operator=\"beta\"} 0").await;
    let stops = alpha.table(&table, "").await.stops;
    assert!(stops.iter().any(|stop| stop.scope() == v1::StopScope::Malfunction), "{stops:?}");
    scraped.close().await;
}
