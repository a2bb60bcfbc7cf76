//! Refusals on the wire: the reason, the rule, what would be legal; and nothing has changed.

use fulcrum::pb::v1;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::harness::caller::{act_request, seat_request};
use super::harness::{House, fact, reason, request_id, texas};

fn fields(status: &Status) -> Vec<String> {
    let details = status.get_error_details();
    let bad = details.bad_request().map(|b| b.field_violations.clone()).unwrap_or_default();
    bad.into_iter().map(|violation| violation.field).collect()
}

#[tokio::test]
async fn a_refusal_names_its_rule_and_what_is_legal() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    let turn = eyes.turn_after(begun).await;
    let before = caller.turn(&table, "ann").await;
    assert!(before.viewer_to_act, "ann has the button and acts first (rules 2.2)");
    assert!(!caller.turn(&table, "bob").await.viewer_to_act);

    let bet = caller.act(&table, "ann", &turn, v1::Action::Bet, 300).await.unwrap_err();
    assert_eq!((bet.code(), reason(&bet).as_str()), (Code::FailedPrecondition, "ILLEGAL_ACTION"));
    assert_eq!((fact(&bet, "rule"), fact(&bet, "legal")), ("5.8".into(), "fold,call,raise,all_in".into()));
    assert_eq!(
        (fact(&bet, "call"), fact(&bet, "min_to"), fact(&bet, "max_to")),
        ("50".into(), "200".into(), "10000".into())
    );
    let small = caller.act(&table, "ann", &turn, v1::Action::Raise, 199).await.unwrap_err();
    assert_eq!((reason(&small).as_str(), &fields(&small)[..]), ("ILLEGAL_AMOUNT", &["to".to_owned()][..]));

    let bob = caller.act(&table, "bob", &turn, v1::Action::Call, 0).await.unwrap_err();
    assert_eq!((reason(&bob), fact(&bob, "seats")), ("NOT_YOUR_TURN".into(), "1".into()));
    let zoe = caller.act(&table, "zoe", &turn, v1::Action::Call, 0).await.unwrap_err();
    assert_eq!(reason(&zoe), "NOT_IN_HAND");
    let later = v1::Turn { number: 7, ..turn.clone() };
    let later = caller.act(&table, "ann", &later, v1::Action::Call, 0).await.unwrap_err();
    assert_eq!((reason(&later), fact(&later, "current")), ("TURN_NOT_REACHED".into(), "1".into()));
    let unknown = v1::Turn { hand_number: 9, ..turn.clone() };
    let unknown = caller.act(&table, "ann", &unknown, v1::Action::Call, 0).await.unwrap_err();
    assert_eq!((unknown.code(), reason(&unknown)), (Code::NotFound, "HAND_UNKNOWN".into()));

    let after = caller.turn(&table, "ann").await;
    assert_eq!((after.sequence, after.turn), (before.sequence, before.turn), "nothing has changed");
    house.close().await;
}

#[tokio::test]
async fn seats_are_refused_with_those_that_are_free() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(v1::TableConfig { seats: 3, ..texas() }, &["ann"]).await;
    let mut refuse = async |player, seat, buy_in| {
        let request = seat_request(&table, player, seat, buy_in);
        caller.tables.seat_player(request).await.expect_err("a refusal")
    };
    let taken = refuse("bob", 1, 5_000).await;
    assert_eq!((reason(&taken), fact(&taken, "free")), ("SEAT_TAKEN".into(), "2,3".into()));
    let no_such = refuse("bob", 4, 5_000).await;
    assert_eq!((no_such.code(), reason(&no_such)), (Code::InvalidArgument, "NO_SUCH_SEAT".into()));
    assert_eq!(fields(&no_such), ["seat"]);
    let poor = refuse("bob", 2, 3_999).await;
    assert_eq!(
        (reason(&poor), fact(&poor, "min"), fact(&poor, "max")),
        ("BUY_IN_OUT_OF_RANGE".into(), "4000".into(), "10000".into())
    );
    let twice = refuse("ann", 2, 5_000).await;
    assert_eq!((reason(&twice), fact(&twice, "seat")), ("ALREADY_SEATED".into(), "1".into()));
    house.close().await;
}

#[tokio::test]
async fn a_request_without_anything_is_told_everything() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let act = caller.actions.act(v1::ActRequest::default()).await.unwrap_err();
    assert_eq!((act.code(), reason(&act).as_str()), (Code::InvalidArgument, "INVALID_ARGUMENT"));
    let mut named = fields(&act);
    named.sort();
    assert_eq!(named, ["action", "hand_number", "player_id", "request_id", "table_id", "turn"]);
    let create = caller.tables.create_table(v1::CreateTableRequest::default()).await.unwrap_err();
    assert_eq!(fields(&create), ["request_id", "config"]);
    let odd = v1::TableConfig { seats: 40, ..texas() };
    let odd = v1::CreateTableRequest { request_id: request_id(), config: Some(odd) };
    let odd = caller.tables.create_table(odd).await.unwrap_err();
    assert_eq!((reason(&odd).as_str(), &fields(&odd)[..]), ("BAD_CONFIG", &["config.seats".to_owned()][..]));
    house.close().await;
}

#[tokio::test]
async fn settings_change_between_hands_only_and_not_all_of_them() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let update = |config| v1::UpdateTableRequest {
        request_id: request_id(),
        table_id: table.clone(),
        config: Some(config),
        etag: String::new(),
    };
    let game = caller.tables.update_table(update(super::harness::double())).await.unwrap_err();
    assert_eq!((reason(&game), fact(&game, "field")), ("FIXED_SETTING".into(), "game".into()));
    let named = v1::TableConfig { display_name: "Rio".into(), ..texas() };
    let done = caller.tables.update_table(update(named.clone())).await.expect("between hands").into_inner();
    assert_eq!((done.config_version, done.config.expect("settings").display_name), (2, "Rio".into()));
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    eyes.turn_after(begun).await;
    let running = caller.tables.update_table(update(named)).await.unwrap_err();
    assert_eq!(reason(&running), "HAND_RUNNING");
    house.close().await;
}

#[tokio::test]
async fn two_clients_at_once_for_one_turn_move_it_once() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    let turn = eyes.turn_after(begun).await;
    let mut tasks = Vec::new();
    for number in 0..20_i64 {
        let mut other = house.caller().await;
        let request = act_request(&table, "ann", &turn, v1::Action::Raise, 200 + number);
        tasks.push(tokio::spawn(async move { other.actions.act(request).await }));
    }
    let mut accepted = 0;
    for task in tasks {
        match task.await.expect("no panic") {
            Ok(_) => accepted += 1,
            Err(status) => assert_eq!(reason(&status), "TURN_PASSED"),
        }
    }
    assert_eq!(accepted, 1);
    house.close().await;
}
