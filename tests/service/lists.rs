//! Pages: everything once, in order, and tokens only for their own list.

use fulcrum::pb::v1;
use tonic::Code;

use super::harness::{Caller, House, Setup, double, reason, texas};

async fn pages(caller: &mut Caller, mut request: v1::ListTablesRequest) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    loop {
        let page = caller.tables.list_tables(request.clone()).await.expect("a page").into_inner();
        pages.push(page.tables.into_iter().map(|table| table.table_id).collect());
        if page.next_page_token.is_empty() {
            return pages;
        }
        request.page_token = page.next_page_token;
    }
}

#[tokio::test]
async fn tables_come_in_pages_in_the_order_of_their_ids() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let mut ids = Vec::new();
    for number in 0..7 {
        let config = if number % 3 == 0 { double() } else { texas() };
        ids.push(caller.open_table(config).await);
    }
    let closed = ids[1].clone();
    caller.close_table(&closed).await;
    caller.pause(&ids[2]).await;
    let mut open = ids.clone();
    open.retain(|id| *id != closed);
    open.sort();

    let by_four = pages(&mut caller, v1::ListTablesRequest { page_size: 4, ..Default::default() }).await;
    assert_eq!(by_four.iter().map(Vec::len).collect::<Vec<_>>(), [4, 2]);
    assert_eq!(by_four.concat(), open);
    for page_size in [0, 1, 2, 6, 500, i32::MAX] {
        let request = v1::ListTablesRequest { page_size, ..Default::default() };
        assert_eq!(pages(&mut caller, request).await.concat(), open, "{page_size}");
    }
    let only = |state: v1::TableState| v1::ListTablesRequest {
        states: vec![state.into()],
        page_size: 1,
        ..Default::default()
    };
    assert_eq!(pages(&mut caller, only(v1::TableState::Closed)).await.concat(), [closed]);
    assert_eq!(pages(&mut caller, only(v1::TableState::Paused)).await.concat(), [ids[2].clone()]);
    let games =
        v1::ListTablesRequest { game: v1::Game::DoubleHoldem.into(), page_size: 1, ..Default::default() };
    let mut doubles = vec![ids[0].clone(), ids[3].clone(), ids[6].clone()];
    doubles.sort();
    assert_eq!(pages(&mut caller, games).await.concat(), doubles);
    house.close().await;
}

#[tokio::test]
async fn a_token_is_for_its_own_list_only() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    for _ in 0..3 {
        caller.open_table(texas()).await;
    }
    let first = v1::ListTablesRequest { page_size: 1, ..Default::default() };
    let token = caller.tables.list_tables(first).await.expect("a page").into_inner().next_page_token;
    let other_size = v1::ListTablesRequest { page_size: 2, page_token: token.clone(), ..Default::default() };
    caller.tables.list_tables(other_size).await.expect("the size may change");
    let with =
        |page_token: &str| v1::ListTablesRequest { page_token: page_token.into(), ..Default::default() };
    let other_filter = v1::ListTablesRequest { game: v1::Game::TexasHoldem.into(), ..with(&token) };
    for wrong in [other_filter, with("x"), with(&token[2..]), with(&"00".repeat(25))] {
        let status = caller.tables.list_tables(wrong).await.unwrap_err();
        assert_eq!((status.code(), reason(&status)), (Code::InvalidArgument, "PAGE_TOKEN_INVALID".into()));
    }
    let other_call = v1::ListSettlementsRequest { page_token: token, ..Default::default() };
    let status = caller.settlements.list_settlements(other_call).await.unwrap_err();
    assert_eq!(reason(&status), "PAGE_TOKEN_INVALID");
    house.close().await;
}

#[tokio::test]
async fn records_are_found_by_table_player_and_hand() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob", "cid"]).await;
    let other = caller.table_of(texas(), &["ann", "dan"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    let turn = eyes.turn_after(begun).await;
    caller.pause(&table).await;
    caller.act(&table, "ann", &turn, v1::Action::Fold, 0).await.expect("a fold");
    let next = caller.turn(&table, "").await.turn.expect("bob's turn");
    caller.act(&table, "bob", &next, v1::Action::Fold, 0).await.expect("a fold");
    eyes.settled(1).await;

    let mut count = async |table: &str, player: &str, hand_number| {
        let mut request = v1::ListSettlementsRequest {
            table_id: table.into(),
            player_id: player.into(),
            hand_number,
            page_size: 1,
            ..Default::default()
        };
        let mut ids = std::collections::HashSet::new();
        loop {
            let page =
                caller.settlements.list_settlements(request.clone()).await.expect("a page").into_inner();
            for record in page.settlements {
                assert!(ids.insert(record.settlement_id), "each once");
            }
            if page.next_page_token.is_empty() {
                return ids.len();
            }
            request.page_token = page.next_page_token;
        }
    };
    assert_eq!(count("", "", 0).await, 6);
    assert_eq!(count(&table, "", 0).await, 4);
    assert_eq!(count("", "ann", 0).await, 3);
    assert_eq!(count(&table, "bob", 0).await, 2);
    assert_eq!(count(&table, "", 1).await, 1);
    assert_eq!(count(&table, "dan", 1).await, 0);
    assert_eq!(count(&other, "", 0).await, 2);
    house.close().await;
}

/// More records at the table than the store looks at for one page, none of them bob's.
async fn crowd_the_book(house: &House, table: &str) {
    let (operator, store) = (tables::OperatorId::new("dev").expect("a name"), house.tables.store());
    let key = tables::TableKey { operator, table: tables::TableId(table.parse().expect("an id")) };
    let before = store.load(&key).await.expect("it answers").expect("the table");
    let records =
        store.settlements(&key.operator, &Default::default(), None, 1).await.expect("it answers").records;
    let another = |number| tables::Settlement { id: uuid::Uuid::from_u128(number), ..records[0].1.clone() };
    let ann = rules::PlayerId::new("ann").expect("a name");
    let ask = rules::Ask::Prefer { player: ann, straddle: false, always_show: true };
    let at = store.now().await.expect("it answers");
    let (events, after) = before.table.step(&rules::Command { at, ask }).expect("a wish");
    let commit = tables::Commit {
        key,
        expected: Some(before.token),
        token: tables::Token { version: after.version, nonce: 1 },
        due: after.due().map(|(at, _)| at),
        table: std::sync::Arc::new(after),
        events,
        request: None,
        settlements: (1..=tables::settlement::LOOKED_AT as u128).map(another).collect(),
        accounts: Vec::new(),
        not_before: None,
        stamped: at,
        origin: None,
        untold: false,
    };
    assert!(matches!(store.commit(commit).await, Ok(tables::Outcome::Committed { .. })));
}

#[tokio::test]
async fn a_page_without_a_record_is_not_the_last() {
    let house = House::with(Setup { clocks: false, ..Setup::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann"]).await;
    crowd_the_book(&house, &table).await;
    caller.table_of(texas(), &["bob"]).await;
    let mut request = v1::ListSettlementsRequest { player_id: "bob".into(), ..Default::default() };
    let first = caller.settlements.list_settlements(request.clone()).await.expect("a page").into_inner();
    assert!(first.settlements.is_empty() && !first.next_page_token.is_empty(), "{first:?}");
    request.page_token = first.next_page_token;
    let second = caller.settlements.list_settlements(request).await.expect("a page").into_inner();
    assert_eq!((second.settlements.len(), second.next_page_token.as_str()), (1, ""));
    house.close().await;
}
