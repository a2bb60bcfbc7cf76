//! A table whose record in the store is damaged: its operator sees the others, and that it is not to be read.

use std::sync::Arc;

use fulcrum::pb::v1;
use fulcrum::store::redis::{RedisConfig, RedisStore, Topology};
use fulcrum::store::{Codec, Keyring};
use serde_json::json;
use tonic::Code;

use crate::harness::{Caller, House, Setup, in_time, request_id, texas};
use crate::lines::Lines;
use crate::servers::Server;

async fn house(server: &Server) -> House {
    let keys = Keyring::parse(&format!("k1 {}", "5a".repeat(32))).expect("a key");
    let config = RedisConfig::new(Topology::Single(server.endpoint()));
    let store = RedisStore::open(config, Codec::new(Arc::new(keys))).await.expect("a store");
    House::with(Setup { store: Arc::new(store), clocks: false, ..Setup::default() }).await
}

/// All pages of so many: the tables that are listed, and those that cannot be read.
async fn list(caller: &mut Caller, page_size: i32, game: v1::Game) -> [Vec<String>; 2] {
    let (mut tables, mut unreadable, mut page_token) = (Vec::new(), Vec::new(), String::new());
    loop {
        let request =
            v1::ListTablesRequest { page_size, page_token, game: game.into(), ..Default::default() };
        let page = in_time(caller.tables.list_tables(request)).await.expect("a page").into_inner();
        let size = page.tables.len() + page.unreadable_table_ids.len();
        assert!(size <= usize::try_from(page_size).unwrap(), "{size}");
        tables.extend(page.tables.into_iter().map(|table| table.table_id));
        unreadable.extend(page.unreadable_table_ids);
        if page.next_page_token.is_empty() {
            return [tables, unreadable];
        }
        page_token = page.next_page_token;
    }
}

#[tokio::test]
async fn a_damaged_table_is_named_and_the_others_are_listed() {
    let log = Lines::default();
    let _reading = log.read();
    let server = Server::start();
    let house = house(&server).await;
    let mut caller = house.caller().await;
    let mut tables = Vec::new();
    for _ in 0..5 {
        tables.push(caller.table_of(texas(), &["ann"]).await);
    }
    tables.sort();
    assert_eq!(list(&mut caller, 2, v1::Game::TexasHoldem).await, [tables.clone(), Vec::new()]);
    assert!(log.of("table_unreadable").is_empty());

    // One is damaged, of another one nothing is left but its name.
    let state = |table: &str| server.ask::<Vec<String>>(&["KEYS", &format!("*:t:dev/{table}:s")]).remove(0);
    server.ask::<u64>(&["SETRANGE", &state(&tables[1]), "40", "damaged"]);
    server.ask::<u64>(&["DEL", &state(&tables[3])]);
    let damaged = vec![tables[1].clone(), tables[3].clone()];
    let whole = vec![tables[0].clone(), tables[2].clone(), tables[4].clone()];
    for page_size in 1..=6 {
        let listed = list(&mut caller, page_size, v1::Game::Unspecified).await;
        assert_eq!(listed, [whole.clone(), damaged.clone()], "pages of {page_size}");
    }
    // What game they are is not known.
    assert_eq!(list(&mut caller, 50, v1::Game::DoubleHoldem).await, [Vec::new(), damaged.clone()]);
    let told = log.of("table_unreadable");
    let told: Vec<_> = told.iter().map(|line| (&line["level"], &line["table"])).collect();
    let names = damaged.iter().map(|table| json!(format!("dev/{table}"))).collect::<Vec<_>>();
    assert_eq!(told, [(&json!("ERROR"), &names[0]), (&json!("ERROR"), &names[1])], "each once");

    // Play goes on at the others; books that lack a table are not told as if they were whole.
    let request = v1::PauseTableRequest {
        request_id: request_id(),
        table_id: whole[0].clone(),
        reason: "a look".into(),
        ..Default::default()
    };
    in_time(caller.tables.pause_table(request)).await.expect("paused");
    let books = in_time(caller.settlements.get_trial_balance(v1::GetTrialBalanceRequest::default())).await;
    assert_eq!(books.expect_err("no books").code(), Code::Internal);
    house.close().await;
}
