//! What the metrics never do: grow with what callers send, tell who plays or what he holds, or hold a scrape up.

use std::collections::BTreeSet;

use fulcrum::pb::v1;

use super::scraped::{Scraped, series};
use crate::harness::raw::Line;
use crate::harness::{Caller, Setup, texas};

/// A hand of two that ends with a fold; its table stays paused.
async fn fold_a_hand(caller: &mut Caller, table: &str, folds: &str) {
    let mut eyes = caller.watch(table, "").await;
    let begun = caller.begin(table).await;
    let turn = eyes.turn_after(begun).await;
    caller.pause(table).await;
    caller.act(table, folds, &turn, v1::Action::Fold, 0).await.expect("a fold");
}

async fn open_and_play(caller: &mut Caller, players: [&str; 2]) -> String {
    let table = caller.table_of(texas(), &players).await;
    fold_a_hand(caller, &table, players[0]).await;
    table
}

#[tokio::test]
async fn nothing_that_callers_send_makes_the_metrics_grow_or_is_told() {
    let scraped = Scraped::open(Setup::default()).await;
    let mut caller = scraped.house.caller().await;
    let mut line = Line::open(scraped.house.address, None).await;
    open_and_play(&mut caller, ["player-0-a", "player-0-b"]).await;
    line.answer("/fulcrum.v1.ActionService/Nonsense", Vec::new()).await.expect_err("there is none");
    let hands = |count: u64| {
        format!(
            "fulcrum_hands_ended_total{{operator=\"dev\",game=\"texas\",limit=\"no_limit\",outcome=\"settled\"}} {count}"
        )
    };
    scraped.line(&hands(1)).await;
    let ended = "fulcrum_streams_total{method=\"TableService/WatchTable\",code=\"CANCELLED\"} ";
    scraped.line(&format!("{ended}1")).await;
    let before = scraped.line("fulcrum_players_seated{operator=\"dev\",game=\"texas\"} 2").await;

    let mut secrets: Vec<String> = Vec::new();
    for number in 1..=12 {
        let players = [format!("player-{number}-a"), format!("player-{number}-b")];
        secrets.push(open_and_play(&mut caller, [&players[0], &players[1]]).await);
        secrets.extend(players);
    }
    for path in [
        "/fulcrum.v1.ActionService/Act%22%7D%0Afulcrum_planted",
        "/fulcrum.v1.ActionService/act",
        "/fulcrum.v2.ActionService/Act",
        "/a.b.C/D",
        "/",
        "/fulcrum.v1.ActionService/Act/Act",
        "/grpc.health.v1.Health/Nonsense",
    ] {
        line.answer(path, Vec::new()).await.expect_err("there is no such call");
    }
    scraped.line(&hands(13)).await;
    scraped.line(&format!("{ended}13")).await;
    let text = scraped.line("fulcrum_players_seated{operator=\"dev\",game=\"texas\"} 26").await;

    // Of the store's operations, which this program names, more and more are met as time goes on.
    let bounded = |text| {
        series(text)
            .into_iter()
            .filter(|name: &&str| !name.contains("{operation=") && !name.contains(",operation="))
    };
    let (mut was, mut is): (Vec<_>, Vec<_>) = (bounded(&before).collect(), bounded(&text).collect());
    is.sort_unstable();
    was.sort_unstable();
    assert_eq!(is, was, "no series more");
    assert_eq!(is.iter().collect::<BTreeSet<_>>().len(), is.len(), "and none twice");
    assert!(
        text.contains("fulcrum_rpc_requests_total{method=\"unknown\",code=\"UNIMPLEMENTED\"} 7\n"),
        "{text}"
    );
    assert!(
        !text.contains("fulcrum_rpc_seconds_count{method=\"unknown\""),
        "they are answered at once, and say nothing"
    );
    for secret in secrets {
        assert!(!text.contains(&secret), "{secret}: {text}");
    }
    scraped.close().await;
}

#[tokio::test]
async fn an_operators_currencies_beyond_thirty_two_are_told_together() {
    let scraped = Scraped::open(Setup { clocks: false, ..Setup::default() }).await;
    let mut caller = scraped.house.caller().await;
    for number in 0..40_u8 {
        let currency = format!("X{}{}", char::from(b'A' + number / 20), char::from(b'A' + number % 20));
        let table = caller.open_table(v1::TableConfig { currency, ..texas() }).await;
        caller.seat(&table, "ann", 1, 5_000).await;
    }
    let text = scraped.line("fulcrum_chips_stacks{operator=\"dev\",currency=\"other\"} 40000").await;
    let told = text.lines().filter(|line| line.starts_with("fulcrum_chips_stacks{"));
    assert_eq!(told.count(), 33, "{text}");
    assert!(text.contains("fulcrum_chips_stacks{operator=\"dev\",currency=\"XAA\"} 5000\n"));
    scraped.close().await;
}

/// Whether the words of a label could be a card, as faces or as the contract's names.
fn is_card(word: &str) -> bool {
    let mut letters = word.chars();
    let face = matches!((letters.next(), letters.next(), letters.next()), (Some(rank), Some(suit), None)
        if "23456789TJQKA".contains(rank) && "cdhs".contains(suit));
    face || word.to_ascii_lowercase().starts_with("card_")
}

#[tokio::test]
async fn no_label_is_a_card_and_both_formats_are_what_prometheus_reads() {
    let scraped = Scraped::open(Setup::default()).await;
    let mut caller = scraped.house.caller().await;
    open_and_play(&mut caller, ["ann", "bob"]).await;
    let text = scraped.now().await;
    let labels: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| line.split('"').skip(1).step_by(2))
        .collect();
    assert!(labels.len() > 100);
    assert!(labels.iter().all(|label| !is_card(label)), "{labels:?}");
    assert!(is_card("Ah") && is_card("CARD_ACE_OF_HEARTS") && !is_card("act"));

    assert!(
        text.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"),
        "{text}"
    );
    assert!(text.ends_with("# EOF\n"));
    let plain = scraped.ask("GET /metrics", "accept: text/plain;version=0.0.4;q=0.5\r\n").await;
    assert!(plain.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{plain}");
    assert!(plain.contains("# TYPE fulcrum_commits_total counter\n") && !plain.contains("# EOF"), "{plain}");
    let prometheus = "accept: application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                      text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n";
    assert!(scraped.ask("GET /metrics", prometheus).await.ends_with("# EOF\n"));
    for metric in fulcrum::telemetry::names::ALL {
        let described = text.matches(&format!("# TYPE {} ", metric.name)).count();
        assert!(described <= 1, "{}", metric.name);
    }
    scraped.close().await;
}
