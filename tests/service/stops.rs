//! Soft stops (rules 9.4) over a socket: what is stopped ends its hands and begins none, says why, and goes on when it is
//! lifted; who may stop what.

use fulcrum::grpc::{ServeConfig, Tokens};
use fulcrum::pb::v1;
use tonic::{Code, Status};

use super::harness::caller::seat_request;
use super::harness::operators::{ALPHA, BETA, two_operators};
use super::harness::{Caller, House, Setup, fact, in_time, reason, request_id, texas};
use v1::scope::Scope as Of;
use v1::table_event::Event;

const ROOT: &str = "root-0f1e2d3c4b5a6978";

fn scope(of: Of) -> Option<v1::Scope> {
    Some(v1::Scope { scope: Some(of) })
}

fn operator(name: &str) -> Of {
    Of::Operator(v1::OperatorScope { operator: name.into() })
}

fn texas_of(operator: &str) -> Of {
    Of::Game(v1::GameScope { game: v1::Game::TexasHoldem.into(), operator: operator.into() })
}

fn player(player: &str, operator: &str) -> Of {
    Of::Player(v1::PlayerScope { player_id: player.into(), operator: operator.into() })
}

fn disabling(of: Of) -> v1::DisableScopeRequest {
    let (reason, requester) = ("licence check".to_owned(), "risk desk".to_owned());
    v1::DisableScopeRequest { request_id: request_id(), scope: scope(of), reason, requester }
}

async fn disable(caller: &mut Caller, of: Of) -> Result<v1::Disabled, Status> {
    let answer = in_time(caller.control.disable_scope(disabling(of))).await?;
    Ok(answer.into_inner().disabled.expect("a stop"))
}

async fn enable(caller: &mut Caller, of: Of) -> Result<v1::Disabled, Status> {
    let (reason, requester) = ("checked".to_owned(), "risk desk".to_owned());
    let request = v1::EnableScopeRequest { request_id: request_id(), scope: scope(of), reason, requester };
    Ok(in_time(caller.control.enable_scope(request)).await?.into_inner().disabled.expect("a stop"))
}

async fn guarded() -> House {
    let administrators = Tokens::read(&format!("root {ROOT}\n")).expect("a token file");
    let config = ServeConfig { administrators: Some(administrators), ..two_operators() };
    House::with(Setup { config, ..Setup::default() }).await
}

fn stopped_by(event: &Event) -> Option<v1::StopScope> {
    match event {
        Event::TableStopped(stopped) => stopped.stop.as_ref().map(v1::Stop::scope),
        _ => None,
    }
}

async fn begun(caller: &mut Caller) -> (String, v1::Turn, super::harness::Eyes) {
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let from = caller.begin(&table).await;
    let turn = eyes.turn_after(from).await;
    (table, turn, eyes)
}

#[tokio::test]
async fn every_scope_of_tables_lets_the_hand_end_begins_none_and_goes_on_when_lifted() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let scopes = [
        (Of::Service(v1::ServiceScope {}), "SERVICE", v1::StopScope::Service),
        (operator(""), "OPERATOR", v1::StopScope::Operator),
        (texas_of(""), "GAME", v1::StopScope::Game),
    ];
    for (of, word, shown) in scopes {
        let (table, turn, mut eyes) = begun(&mut caller).await;
        let made = disable(&mut caller, of.clone()).await.expect("a stop");
        assert_eq!((made.state(), made.reason.as_str()), (v1::DisabledState::Active, "licence check"));
        let refused = in_time(caller.tables.seat_player(seat_request(&table, "eve", 3, 5_000))).await;
        let refused = refused.expect_err(word);
        assert_eq!((refused.code(), reason(&refused).as_str()), (Code::FailedPrecondition, "SCOPE_DISABLED"));
        assert_eq!(
            (fact(&refused, "scope"), fact(&refused, "reason")),
            (word.into(), "licence check".into())
        );
        caller.act(&table, "ann", &turn, v1::Action::Fold, 0).await.expect("the running hand goes on");
        eyes.settled(1).await;
        while !eyes.events().any(|event| stopped_by(event) == Some(shown)) {
            eyes.next().await.expect("watchers are told");
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        let now = caller.table(&table, "").await;
        assert_eq!((eyes.hand, now.state()), (1, v1::TableState::Paused), "{word}");
        assert_eq!(
            now.stops.iter().map(|s| (s.scope(), s.reason.as_str())).collect::<Vec<_>>(),
            [(shown, "licence check")]
        );
        enable(&mut caller, of).await.expect("lifted");
        while eyes.hand < 2 {
            eyes.next().await.expect("play goes on");
        }
        assert_eq!(caller.table(&table, "").await.stops, []);
        caller.close_table(&table).await;
    }
    house.close().await;
}

#[tokio::test]
async fn a_stopped_player_is_not_seated_and_the_audit_tells_who_asked() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.open_table(texas()).await;
    disable(&mut caller, player("eve", "")).await.expect("a stop");
    let refused = in_time(caller.tables.seat_player(seat_request(&table, "eve", 1, 5_000))).await;
    assert_eq!(fact(&refused.expect_err("stopped"), "scope"), "PLAYER");
    caller.seat(&table, "ann", 2, 5_000).await;
    let of_table = Of::Table(v1::TableScope { table_id: table.clone() });
    disable(&mut caller, of_table.clone()).await.expect("a stop of the table");
    assert_eq!(caller.table(&table, "").await.stops[0].scope(), v1::StopScope::Table);
    let refused = in_time(caller.tables.seat_player(seat_request(&table, "bob", 3, 5_000))).await;
    assert_eq!(fact(&refused.expect_err("stopped"), "scope"), "TABLE");
    enable(&mut caller, of_table).await.expect("lifted");
    let list = v1::ListDisabledRequest::default();
    let list = in_time(caller.control.list_disabled(list)).await.expect("a list").into_inner().disabled;
    assert_eq!(list.iter().map(|d| d.scope.clone()).collect::<Vec<_>>(), [scope(player("eve", "dev"))]);
    let (mut seen, mut page_token) = (Vec::new(), String::new());
    loop {
        let page = v1::ListStopAuditRequest { page_size: 2, page_token, operator: String::new() };
        let page = in_time(caller.control.list_stop_audit(page)).await.expect("a page").into_inner();
        seen.extend(page.entries);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    let acts: Vec<_> = seen.iter().map(v1::StopAuditEntry::act).collect();
    assert_eq!(acts, [v1::StopAct::Enabled, v1::StopAct::Disabled, v1::StopAct::Disabled]);
    assert!(seen.iter().all(|entry| entry.requester == "risk desk" && entry.author_name == "dev"));
    enable(&mut caller, player("eve", "")).await.expect("lifted");
    caller.seat(&table, "eve", 1, 5_000).await;
    house.close().await;
}

#[tokio::test]
async fn an_operator_stops_what_is_his_and_an_administrator_the_rest() {
    let house = guarded().await;
    let (mut alpha, mut root) = (house.caller_with(ALPHA).await, house.caller_with(ROOT).await);
    for of in [Of::Service(v1::ServiceScope {}), operator("beta"), texas_of("beta"), player("ann", "beta")] {
        let refused = disable(&mut alpha, of.clone()).await.expect_err("not his");
        assert_eq!(
            (refused.code(), reason(&refused).as_str()),
            (Code::PermissionDenied, "ADMINISTRATOR_REQUIRED")
        );
        disable(&mut root, of.clone()).await.expect("an administrator may");
        enable(&mut root, of).await.expect("and lift it");
    }
    for of in [operator(""), operator("alpha"), texas_of("alpha"), player("ann", "")] {
        disable(&mut alpha, of.clone()).await.expect("his own");
        enable(&mut alpha, of).await.expect("and lift it");
    }
    let made = disable(&mut root, operator("alpha")).await.expect("a stop");
    assert_eq!((made.author(), made.author_name.as_str()), (v1::StopAuthor::Administrator, "root"));
    let refused = enable(&mut alpha, operator("")).await.expect_err("not his");
    assert_eq!(
        (refused.code(), reason(&refused).as_str()),
        (Code::PermissionDenied, "STOP_OF_ADMINISTRATOR")
    );
    let refused = enable(&mut alpha, texas_of("")).await.expect_err("nothing is stopped");
    assert_eq!(reason(&refused), "NOT_DISABLED");
    let others = v1::ListDisabledRequest { operator: "beta".into(), ..Default::default() };
    let refused = in_time(alpha.control.list_disabled(others)).await.expect_err("another operator's");
    assert_eq!(reason(&refused), "ADMINISTRATOR_REQUIRED");
    let refused = in_time(root.tables.list_tables(v1::ListTablesRequest::default())).await;
    let refused = refused.expect_err("an administrator has no tables");
    assert_eq!(
        (refused.code(), reason(&refused).as_str()),
        (Code::PermissionDenied, "NOT_FOR_ADMINISTRATORS")
    );
    let mut beta = house.caller_with(BETA).await;
    begun(&mut beta).await;
    house.close().await;
}

#[tokio::test]
async fn a_repetition_gets_the_first_answer_and_an_id_is_bound_to_it() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let request = disabling(operator(""));
    let first = in_time(caller.control.disable_scope(request.clone())).await.expect("a stop").into_inner();
    enable(&mut caller, operator("")).await.expect("lifted");
    let again = in_time(caller.control.disable_scope(request.clone())).await.expect("the same").into_inner();
    assert_eq!(again, first);
    let table = caller.open_table(texas()).await;
    caller.seat(&table, "ann", 1, 5_000).await;
    let other = v1::DisableScopeRequest { reason: "another".into(), ..request };
    let refused = in_time(caller.control.disable_scope(other)).await.expect_err("reused");
    assert_eq!((refused.code(), reason(&refused).as_str()), (Code::AlreadyExists, "REQUEST_ID_REUSED"));
    house.close().await;
}
