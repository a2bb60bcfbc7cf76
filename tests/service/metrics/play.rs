//! Play, counted: what the metrics tell is what was played.

use fulcrum::pb::v1;
use fulcrum::pb::v1::Action::{Bet, Call, Check, Fold, Raise};

use super::scraped::{Scraped, value};
use crate::harness::decks::arranged;
use crate::harness::{Caller, Eyes, Setup, double, request_id, texas};

async fn act(caller: &mut Caller, eyes: &mut Eyes, table: &str, player: &str, action: v1::Action, to: i64) {
    let turn = eyes.turn.clone().expect("a turn is open");
    let answer = caller.act(table, player, &turn, action, to).await.expect("a legal action");
    eyes.until(answer.sequence).await;
}

fn millis(millis: i32) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds: 0, nanos: millis * 1_000_000 })
}

/// Turns of a tenth of a second, without a time bank unless it is asked for.
fn quick(config: v1::TableConfig, bank: i32) -> v1::TableConfig {
    let clocks = v1::Clocks {
        action: millis(100),
        pivot: millis(100),
        time_bank: millis(bank),
        grace: millis(0),
        between_hands: millis(100),
        timeouts_to_sit_out: 255,
        ..Default::default()
    };
    v1::TableConfig { clocks: Some(clocks), ..config }
}

/// All of a hand of three but its last call; 2,450 lie in the pot then.
async fn play_to_the_last_call(caller: &mut Caller, eyes: &mut Eyes, table: &str) {
    let course = [
        ("ann", Raise, 300),
        ("bob", Fold, 0),
        ("cid", Call, 0),
        ("cid", Check, 0),
        ("ann", Bet, 400),
        ("cid", Call, 0),
        ("cid", Check, 0),
        ("ann", Check, 0),
        ("cid", Check, 0),
        ("ann", Bet, 1000),
    ];
    for (player, action, to) in course {
        act(caller, eyes, table, player, action, to).await;
    }
}

#[tokio::test]
async fn a_texas_hand_is_counted_action_by_action() {
    let scraped = Scraped::open(Setup::default()).await;
    scraped.metrics.point_to_hands(Box::new(|_, hand| (hand == 1).then_some([0xab; 16])));
    scraped.metrics.point_to_calls(|| Some([0xcd; 16]));
    let mut caller = scraped.house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob", "cid"]).await;
    let mut eyes = caller.watch(&table, "").await;
    scraped.house.decks.lay_out(&table, 1, arranged(&["7c 2d", "Kh Kd", "As Ad"], "Ah 5c 9d Ks 3h"));
    let begun = caller.begin(&table).await;
    eyes.turn_after(begun).await;
    play_to_the_last_call(&mut caller, &mut eyes, &table).await;
    let text = scraped.line("fulcrum_chips_pots{operator=\"dev\",currency=\"EUR\"} 2450").await;
    assert_eq!(value(&text, "fulcrum_chips_stacks{operator=\"dev\",currency=\"EUR\"}"), 27_550.0);
    assert_eq!(value(&text, "fulcrum_players_seated{operator=\"dev\",game=\"texas\"}"), 3.0);
    assert_eq!(value(&text, "fulcrum_tables_open{operator=\"dev\",game=\"texas\"}"), 1.0);
    assert_eq!(value(&text, "fulcrum_tables_open{operator=\"dev\",game=\"double\"}"), 0.0);
    let early = eyes.turn.clone().expect("a turn");
    caller.act(&table, "ann", &early, Fold, 0).await.expect_err("it is not her turn");
    caller.pause(&table).await;
    act(&mut caller, &mut eyes, &table, "cid", Call, 0).await;
    eyes.settled(1).await;

    let text = scraped.now().await;
    for (action, count) in [("raise", 1), ("fold", 1), ("call", 3), ("check", 4), ("bet", 2)] {
        let series = format!("fulcrum_actions_total{{game=\"texas\",action=\"{action}\",by=\"player\"}}");
        assert_eq!(value(&text, &series), f64::from(count), "{action}");
    }
    let played = "{operator=\"dev\",game=\"texas\",limit=\"no_limit\"";
    assert_eq!(value(&text, &format!("fulcrum_hands_started_total{played}}}")), 1.0);
    assert_eq!(value(&text, &format!("fulcrum_hands_ended_total{played},outcome=\"settled\"}}")), 1.0);
    assert_eq!(value(&text, "fulcrum_hand_seconds_count{game=\"texas\"}"), 1.0);
    assert_eq!(value(&text, "fulcrum_decision_seconds_count{game=\"texas\",kind=\"act\"}"), 11.0);
    assert_eq!(value(&text, "fulcrum_settlements_total{operator=\"dev\",kind=\"hand\"}"), 1.0);
    assert_eq!(value(&text, "fulcrum_settlements_total{operator=\"dev\",kind=\"buy_in\"}"), 3.0);
    assert_eq!(value(&text, "fulcrum_hands_voided_total{operator=\"dev\",reason=\"requested\"}"), 0.0);
    // Calls and commits of it: the opening, two pauses and a resumption, three seats, a hand, eleven actions.
    let calls = "fulcrum_rpc_requests_total{method=\"ActionService/Act\",code=";
    assert_eq!(value(&text, &format!("{calls}\"OK\"}}")), 11.0);
    assert_eq!(value(&text, &format!("{calls}\"FAILED_PRECONDITION\"}}")), 1.0, "{text}");
    assert_eq!(value(&text, "fulcrum_rpc_seconds_count{method=\"ActionService/Act\"}"), 12.0);
    assert_eq!(value(&text, "fulcrum_rpc_in_flight"), 0.0);
    assert_eq!(value(&text, "fulcrum_commits_total{outcome=\"done\"}"), 19.0, "{text}");
    assert_eq!(
        value(&text, "fulcrum_store_seconds_count{operation=\"commit\"}"),
        value(&text, "fulcrum_commit_seconds_count")
    );
    assert!(value(&text, "fulcrum_clock_late_seconds_count") >= 1.0, "the clocks began the hand");
    assert_eq!(value(&text, "fulcrum_watchers"), 1.0);
    assert_eq!(value(&text, "fulcrum_streams_open{method=\"TableService/WatchTable\"}"), 1.0);

    // What was slow points to where: to the hand, and to the call.
    let points = |name: &str, id: &str| {
        let exemplar = format!("# {{trace_id=\"{}\"}} ", id.repeat(16));
        text.lines().any(|line| line.starts_with(&format!("{name}_bucket{{")) && line.contains(&exemplar))
    };
    assert!(points("fulcrum_hand_seconds", "ab") && points("fulcrum_decision_seconds", "ab"), "{text}");
    assert!(points("fulcrum_rpc_seconds", "cd") && points("fulcrum_commit_seconds", "cd"), "{text}");

    drop(eyes);
    let left = "fulcrum_streams_total{method=\"TableService/WatchTable\",code=\"CANCELLED\"} 1";
    let text = scraped.line(left).await;
    assert_eq!(value(&text, "fulcrum_streams_open{method=\"TableService/WatchTable\"}"), 0.0);
    scraped.close().await;
}

#[tokio::test]
async fn a_double_hand_that_nobody_plays_is_played_by_its_clocks() {
    let scraped = Scraped::open(Setup::default()).await;
    let mut caller = scraped.house.caller().await;
    let table = caller.table_of(quick(double(), 0), &["ann", "bob"]).await;
    caller.begin(&table).await;
    // Before the flop one folds, in whichever hand: until then pivots and actions are the clocks'.
    let fold = "fulcrum_actions_total{game=\"double\",action=\"fold\",by=\"clock\"}";
    let text = scraped.until(fold, |text| value(text, fold) >= 3.0).await;
    let timeouts =
        |kind: &str| value(&text, &format!("fulcrum_timeouts_total{{game=\"double\",kind=\"{kind}\"}}"));
    let by_clock = |action: &str| {
        value(&text, &format!("fulcrum_actions_total{{game=\"double\",action=\"{action}\",by=\"clock\"}}"))
    };
    assert_eq!(timeouts("act"), by_clock("fold") + by_clock("check"), "{text}");
    assert_eq!(timeouts("pick"), by_clock("pick"), "{text}");
    let decided = |part: &str| {
        value(&text, &format!("fulcrum_decision_seconds_{part}{{game=\"double\",kind=\"act\"}}"))
    };
    assert_eq!(decided("count"), timeouts("act"));
    assert!(decided("sum") >= 0.1 * decided("count"), "each took the tenth of a second that it may");
    let late = |part: &str| value(&text, &format!("fulcrum_clock_late_seconds_{part}"));
    assert!(late("count") >= timeouts("act") + timeouts("pick"), "{text}");
    assert!(late("sum") < late("count"), "less than a second late on the average");
    assert_eq!(value(&text, "fulcrum_time_bank_seconds_total{game=\"double\"}"), 0.0);
    scraped.close().await;
}

#[tokio::test]
async fn pivots_are_counted_by_who_picked_them_and_time_banks_by_what_was_taken() {
    let scraped = Scraped::open(Setup::default()).await;
    let mut caller = scraped.house.caller().await;
    let mut config = quick(double(), 900);
    config.pivot_order = v1::PivotOrder::Simultaneous.into();
    let table = caller.table_of(config, &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    eyes.turn_after(begun).await;
    // Ann has the button and acts first; she thinks longer than her clock and less than her bank.
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    act(&mut caller, &mut eyes, &table, "ann", Call, 0).await;
    let text = scraped.now().await;
    let bank = value(&text, "fulcrum_time_bank_seconds_total{game=\"double\"}");
    assert!((0.2..0.9).contains(&bank), "{bank}");
    assert_eq!(
        value(&text, "fulcrum_decision_seconds_bucket{le=\"0.25\",game=\"double\",kind=\"act\"}"),
        0.0
    );
    act(&mut caller, &mut eyes, &table, "bob", Check, 0).await;
    let turn = eyes.turn.clone().expect("both are to pick");
    caller.pick(&table, "ann", &turn, 1).await.expect("a pivot");
    let by = |by: &str| format!("fulcrum_actions_total{{game=\"double\",action=\"pick\",by=\"{by}\"}} 1");
    scraped.line(&by("player")).await;
    let text = scraped.line(&by("clock")).await;
    assert_eq!(value(&text, "fulcrum_decision_seconds_count{game=\"double\",kind=\"pick\"}"), 2.0);
    assert_eq!(value(&text, "fulcrum_timeouts_total{game=\"double\",kind=\"pick\"}"), 1.0);
    scraped.close().await;
}

#[tokio::test]
async fn a_hand_that_is_voided_on_request_is_counted_as_such() {
    let scraped = Scraped::open(Setup::default()).await;
    let mut caller = scraped.house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    let hand_number = eyes.turn_after(begun).await.hand_number;
    caller.pause(&table).await;
    let request = v1::VoidHandRequest {
        request_id: request_id(),
        table_id: table.clone(),
        hand_number,
        reason: "a test".into(),
        requester: "the test".into(),
    };
    caller.settlements.void_hand(request).await.expect("void");
    let text = scraped.line("fulcrum_hands_voided_total{operator=\"dev\",reason=\"requested\"} 1").await;
    let ended =
        "fulcrum_hands_ended_total{operator=\"dev\",game=\"texas\",limit=\"no_limit\",outcome=\"voided\"}";
    assert_eq!(value(&text, ended), 1.0);
    assert_eq!(value(&text, "fulcrum_settlements_total{operator=\"dev\",kind=\"void\"}"), 1.0);
    for reason in ["malfunction", "history_lost"] {
        let line = format!("fulcrum_hands_voided_total{{operator=\"dev\",reason=\"{reason}\"}} 0");
        assert!(text.lines().any(|told| told == line), "told as 0: {text}");
    }
    scraped.close().await;
}
