//! What is in no span and in no line of the log, at its finest level: tokens, players, cards, and what players hold of them.

use fulcrum::pb::v1;

use super::Tower;
use crate::harness::operators::ALPHA;
use crate::harness::{in_time, texas};
use crate::secrecy::faces;
use crate::wallet::bank::TOKEN;
use crate::wallet::room::{Room, leave, table_of};

const PLAYERS: [&str; 2] = ["ann-the-player", "bob-the-player"];

#[tokio::test]
async fn no_span_and_no_line_names_a_player_a_token_or_a_card() {
    let tower = Tower::open(1.0);
    let mut room = Room::open().await;
    tower.listen(&room.house);
    let table = table_of(&mut room.alpha, texas(), &PLAYERS).await;
    room.alpha.begin(&table).await;
    let mut hands = std::collections::BTreeSet::new();
    while hands.len() < 5 {
        let Some(turn) = room.alpha.turn(&table, "").await.turn else {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            continue;
        };
        hands.insert(turn.hand_number);
        let seated = room.alpha.table(&table, PLAYERS[0]).await.seats;
        for player in PLAYERS {
            let seat = seated.iter().find(|seat| seat.player_id == player).map(|seat| seat.seat);
            if seat.is_some_and(|seat| turn.seats.contains(&seat)) {
                // One that may be refused: refusals are told, too.
                for action in [v1::Action::Check, v1::Action::Call] {
                    let _ = in_time(room.alpha.act(&table, player, &turn, action, 0)).await;
                }
            }
        }
    }
    for player in PLAYERS {
        let _ = in_time(room.alpha.tables.stand_up(leave(&table, player))).await;
    }
    room.house.close().await;
    tower.pipeline.finish(std::time::Duration::from_secs(10)).await;

    let (bytes, told) = (tower.collector.bytes(), tower.collector.told());
    assert!(told.len() > 50, "{}", told.len());
    let secrets = [PLAYERS[0], PLAYERS[1], TOKEN, ALPHA];
    for secret in secrets {
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret} was told");
    }
    let words = told.iter().flat_map(|span| {
        let events = span.events.iter().flat_map(|(name, more)| std::iter::once(name).chain(more.values()));
        span.attributes.values().chain(events).chain([&span.name])
    });
    let cards: Vec<_> = words.filter_map(|text| faces::find(text).map(|card| (card, text.clone()))).collect();
    assert!(cards.is_empty(), "{cards:?}");

    let log = tower.log.text();
    let mut own = 0;
    for line in log.lines() {
        let parsed: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let target = parsed["target"].as_str().unwrap_or_default();
        if target.starts_with("fulcrum") || target.starts_with("rules") || target.starts_with("tables") {
            own += 1;
            for secret in secrets {
                assert!(!line.contains(secret), "{secret}: {line}");
            }
            assert_eq!(faces::find(parsed["message"].as_str().unwrap_or_default()), None, "{line}");
        }
    }
    println!("{} spans, {own} lines of our own", told.len());
}
