//! The books of an operator through gRPC (rules 10.3): tables, those who sit there, those who have left.

use std::time::Duration;

use fulcrum::pb::v1;

use super::harness::caller::leave_request;
use super::harness::decks::arranged;
use super::harness::{Caller, House, in_time, reason, request_id, texas};
use super::money::{act, balance, deal, raked, settled, table_of};

/// All pages of the books in pages of this size, as one.
async fn books(caller: &mut Caller, page_size: i32) -> v1::GetTrialBalanceResponse {
    let mut all = v1::GetTrialBalanceResponse::default();
    let mut request = v1::GetTrialBalanceRequest { page_size, ..Default::default() };
    loop {
        let page = balance(caller, request.clone()).await;
        assert!(page.tables.len() + page.players.len() <= page_size as usize);
        all.tables.extend(page.tables);
        all.players.extend(page.players);
        all.totals.extend(page.totals);
        if page.next_page_token.is_empty() {
            return all;
        }
        request.page_token = page.next_page_token;
    }
}

async fn stand_up(caller: &mut Caller, table: &str, player: &str) -> v1::StandUpResponse {
    let request = leave_request(table, player, &format!("cash-out-{player}"));
    in_time(caller.tables.stand_up(request)).await.expect("a pay-out").into_inner()
}

async fn add_chips(caller: &mut Caller, table: &str, player: &str, amount: i64) -> v1::AddChipsResponse {
    let request = v1::AddChipsRequest {
        request_id: request_id(),
        table_id: table.into(),
        player_id: player.into(),
        amount,
        transaction_id: format!("add-{player}"),
        etag: String::new(),
    };
    in_time(caller.tables.add_chips(request)).await.expect("chips").into_inner()
}

/// Ann wins 18,810 of bob's and her 9,900 with a rake of 990; he adds 3,000 and leaves. Cid and dan sit elsewhere.
async fn a_session(house: &House, caller: &mut Caller) -> [String; 2] {
    let players = [("ann", 10_000), ("bob", 9_900)];
    let table = table_of(caller, raked(texas(), 50, 500, None), &players).await;
    let other = table_of(caller, raked(texas(), 50, 500, None), &[("cid", 700), ("dan", 800)]).await;
    house.decks.lay_out(&table, 1, arranged(&["Kc Kd", "Ac Ad"], "9s 8h 7s 3c 2d"));
    // What moves since a hand began is told apart from what moved before by milliseconds.
    tokio::time::sleep(Duration::from_millis(5)).await;
    let mut eyes = deal(caller, &table).await;
    act(caller, &mut eyes, &table, "ann", v1::Action::AllIn, 0).await;
    act(caller, &mut eyes, &table, "bob", v1::Action::AllIn, 0).await;
    assert_eq!(settled(caller, &table).await.rake, 990);
    add_chips(caller, &table, "bob", 3_000).await;
    stand_up(caller, &table, "bob").await;
    [table, other]
}

#[tokio::test]
async fn r10_3_the_trial_balance_sums_to_zero_after_play_added_chips_and_leaving() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let [table, other] = a_session(&house, &mut caller).await;
    for size in [1, 2, 3, 500] {
        let books = books(&mut caller, size).await;
        let mut ids: Vec<_> = books.tables.iter().map(|row| row.table_id.clone()).collect();
        assert!(ids.is_sorted());
        ids.sort();
        let mut wanted = vec![table.clone(), other.clone()];
        wanted.sort();
        assert_eq!(ids, wanted, "each once, in pages of {size}");
        let row = books.tables.iter().find(|row| row.table_id == table).expect("the table");
        let one = row.balance.as_ref().expect("a balance");
        assert_eq!((one.currency.as_str(), one.bought_in), ("EUR", 10_000 + 9_900 + 3_000));
        assert_eq!((one.on_tables, one.in_pots, one.raked, one.paid_out), (18_910, 0, 990, 3_000));
        assert_eq!((one.in_flight, one.parked, one.owed, one.difference), (0, 0, 0, 0));
        let [ann] = &row.seats[..] else { panic!("{:?}", row.seats) };
        assert_eq!(
            (ann.player_id.as_str(), ann.session, ann.bought_in, ann.stack),
            ("ann", 1, 10_000, 18_910)
        );
        assert_eq!((ann.wagered, ann.won, ann.rake_share, ann.hands), (9_900, 18_810, 495, 1));
        let [bob] = &books.players[..] else { panic!("{:?}", books.players) };
        assert_eq!((bob.player_id.as_str(), bob.session, bob.bought_in), ("bob", 0, 12_900));
        assert_eq!((bob.wagered, bob.won, bob.paid_out, bob.rake_share), (9_900, 0, 3_000, 495));
        assert_eq!((bob.stack, bob.in_pots, bob.hands, bob.owed), (0, 0, 1, 0));
        for player in books.players.iter().chain(books.tables.iter().flat_map(|row| &row.seats)) {
            assert_eq!(player.difference, 0, "{player:?}");
        }
        let total = |sum: fn(&v1::Balance) -> i64| books.totals.iter().map(sum).sum::<i64>();
        assert_eq!((total(|b| b.bought_in), total(|b| b.difference)), (24_400, 0), "the pages add up");
    }
    house.close().await;
}

#[tokio::test]
async fn the_books_of_one_table_or_one_player() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let [table, other] = a_session(&house, &mut caller).await;
    caller.seat(&other, "bob", 0, 500).await;
    let of = |table_id: &str, player_id: &str| v1::GetTrialBalanceRequest {
        table_id: table_id.into(),
        player_id: player_id.into(),
        ..Default::default()
    };
    let one = balance(&mut caller, of(&table, "")).await;
    assert_eq!((one.tables.len(), one.players.len(), one.totals.len()), (1, 0, 1));
    assert_eq!(one.tables[0].table_id, table);
    let bob = balance(&mut caller, of("", "bob")).await;
    let seats: Vec<_> = bob.tables.iter().map(|row| (row.table_id.as_str(), row.balance.is_some())).collect();
    assert_eq!(seats, [(other.as_str(), false)]);
    assert_eq!((bob.tables[0].seats.len(), bob.tables[0].seats[0].bought_in), (1, 500));
    assert_eq!((bob.players.len(), bob.players[0].paid_out), (1, 3_000), "and what is over");
    let nowhere = balance(&mut caller, of(&table, "cid")).await;
    assert_eq!((nowhere.tables.len(), nowhere.players.len()), (0, 0));
    let never = caller.settlements.get_trial_balance(of(&uuid::Uuid::new_v4().to_string(), "")).await;
    assert_eq!(reason(&never.unwrap_err()), "TABLE_NOT_FOUND");
    house.close().await;
}

async fn statement(
    caller: &mut Caller,
    table: &str,
    player: &str,
    session: u64,
) -> Result<v1::SessionStatement, tonic::Status> {
    let (table_id, player_id) = (table.to_owned(), player.to_owned());
    let request = v1::GetSessionStatementRequest { table_id, player_id, session };
    let answer = in_time(caller.settlements.get_session_statement(request)).await?.into_inner();
    Ok(answer.statement.expect("a statement"))
}

#[tokio::test]
async fn a_session_has_a_statement_while_it_lasts_and_afterwards() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let [table, _] = a_session(&house, &mut caller).await;
    let records = caller.records(&table).await;
    let of = |player: &str| -> Vec<String> {
        let his = records.iter().filter(|record| match &record.body {
            Some(v1::settlement::Body::Movement(moved)) => moved.player_id == player,
            _ => false,
        });
        his.map(|record| record.settlement_id.clone()).collect()
    };
    let bob = statement(&mut caller, &table, "bob", 2).await.expect("bob's");
    assert_eq!((bob.open, bob.seat, bob.currency.as_str()), (false, 2, "EUR"));
    assert_eq!((bob.buy_in, bob.added, bob.cash_out), (9_900, 3_000, 3_000));
    assert_eq!((bob.wagered, bob.won, bob.rake_share, bob.hands), (9_900, 0, 495, 1));
    assert_eq!(bob.buy_in + bob.added - bob.wagered + bob.won, bob.cash_out);
    assert_eq!(bob.transaction_ids, ["buy-in-bob", "add-bob", "cash-out-bob"]);
    assert_eq!((bob.settlement_ids.len(), bob.settlement_ids), (3, of("bob")));
    assert!(bob.begin_time.is_some() && bob.end_time.is_some());
    let ann = statement(&mut caller, &table, "ann", 1).await.expect("ann's");
    assert_eq!((ann.open, ann.buy_in, ann.added, ann.cash_out, ann.end_time), (true, 10_000, 0, 0, None));
    assert_eq!((ann.wagered, ann.won, ann.rake_share, ann.hands), (9_900, 18_810, 495, 1));
    assert_eq!((ann.transaction_ids, ann.settlement_ids), (vec!["buy-in-ann".to_owned()], of("ann")));
    for (player, session) in [("bob", 1), ("bob", 3), ("ann", 2), ("zoe", 1)] {
        let status = statement(&mut caller, &table, player, session).await.unwrap_err();
        assert_eq!(reason(&status), "SESSION_NOT_FOUND", "{player} {session}");
    }
    house.close().await;
}

/// All pages of transactions, in pages of this size.
async fn transactions(
    caller: &mut Caller,
    page_size: i32,
    request: v1::ListTransactionsRequest,
) -> Vec<v1::Transaction> {
    let (mut all, mut request) = (Vec::new(), v1::ListTransactionsRequest { page_size, ..request });
    loop {
        let page = in_time(caller.settlements.list_transactions(request.clone())).await.expect("a page");
        let page = page.into_inner();
        assert!(page.transactions.len() <= page_size as usize);
        all.extend(page.transactions);
        if page.next_page_token.is_empty() {
            return all;
        }
        request.page_token = page.next_page_token;
    }
}

#[tokio::test]
async fn where_the_operator_moves_the_money_his_transactions_are_those_that_he_named() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let [table, other] = a_session(&house, &mut caller).await;
    let all = transactions(&mut caller, 500, v1::ListTransactionsRequest::default()).await;
    let names: Vec<_> = all.iter().map(|one| one.transaction_id.as_str()).collect();
    let named = ["buy-in-ann", "buy-in-bob", "buy-in-cid", "buy-in-dan", "add-bob", "cash-out-bob"];
    assert_eq!(names, named);
    for size in [1, 2, 5] {
        let paged = transactions(&mut caller, size, v1::ListTransactionsRequest::default()).await;
        assert_eq!(paged, all, "in pages of {size}");
    }
    let added = &all[4];
    assert_eq!((added.kind(), added.state()), (v1::TransactionKind::AddChips, v1::TransactionState::Booked));
    assert_eq!((added.player_id.as_str(), added.session, added.seat, added.amount), ("bob", 2, 2, 3_000));
    assert_eq!((added.table_id.as_str(), added.currency.as_str()), (table.as_str(), "EUR"));
    let get = v1::GetSettlementRequest { settlement_id: added.settlement_id.clone() };
    caller.settlements.get_settlement(get).await.expect("its record");
    let count = async |caller: &mut Caller, request| transactions(caller, 2, request).await.len();
    let request = v1::ListTransactionsRequest { table_id: other, ..Default::default() };
    assert_eq!(count(&mut caller, request).await, 2);
    let request = v1::ListTransactionsRequest { player_id: "bob".into(), ..Default::default() };
    assert_eq!(count(&mut caller, request).await, 3);
    let request =
        v1::ListTransactionsRequest { table_id: table.clone(), hand_number: 1, ..Default::default() };
    let during: Vec<_> = transactions(&mut caller, 1, request).await;
    assert_eq!(during, all[4..], "since the hand began");
    let request = v1::ListTransactionsRequest { table_id: table, hand_number: 2, ..Default::default() };
    assert_eq!(count(&mut caller, request).await, 0, "there was no such hand");
    let request = v1::ListTransactionsRequest { from_time: all[4].state_time, ..Default::default() };
    assert_eq!(count(&mut caller, request).await, 2);
    let request = v1::ListTransactionsRequest { to_time: all[0].state_time, ..Default::default() };
    assert_eq!(count(&mut caller, request).await, 0);
    let states = vec![v1::TransactionState::Parked.into()];
    let request = v1::ListTransactionsRequest { states, ..Default::default() };
    assert_eq!(count(&mut caller, request).await, 0);
    house.close().await;
}
