//! What a call asks of its store, where that is a real Redis.

use std::sync::Arc;

use fulcrum::pb::v1;
use fulcrum::store::redis::{Durability, RedisConfig, Topology};
use fulcrum::store::{Codec, Keyring, RedisStore};
use fulcrum::telemetry::store::Watched;

use super::{TRACE, Tower, sampled, traced};
use crate::harness::caller::{eyes_of, leave_request, seat_request};
use crate::harness::{House, Setup, in_time, texas};
use crate::servers::Server;

async fn house(server: &Server) -> House {
    let keys = Keyring::parse(&format!("k1 {}", "42".repeat(32))).expect("a key");
    let topology = Topology::Single(server.endpoint());
    let config = RedisConfig { durability: Durability::Memory, ..RedisConfig::new(topology) };
    let store = RedisStore::open(config, Codec::new(Arc::new(keys))).await.expect("a store");
    let store = Arc::new(Watched::new(Arc::new(store), None));
    House::with(Setup { store, ..Setup::default() }).await
}

#[tokio::test]
async fn round_trips_to_redis_are_told_below_their_call_and_keys_and_values_are_not() {
    let tower = Tower::open(0.0);
    let server = Server::start();
    let house = house(&server).await;
    tower.listen(&house);
    let mut caller = house.caller().await;
    let table = caller.open_table(texas()).await;
    let seat = seat_request(&table, "ann-the-player", 1, 10_000);
    in_time(caller.tables.seat_player(sampled(seat))).await.expect("a seat");

    let call = tower.span("fulcrum.v1.TableService/SeatPlayer").await;
    let told = tower.collector.told();
    let trips: Vec<_> = told.iter().filter(|span| span.kind == "client").collect();
    assert!(!trips.is_empty(), "{told:?}");
    for trip in &trips {
        assert_eq!(trip.trace, TRACE);
        assert_eq!(trip.attribute("db.system.name"), "redis");
        assert_eq!(trip.attribute("db.operation.name"), trip.name);
        assert_eq!(trip.attribute("server.address"), "127.0.0.1");
        assert_eq!(trip.attribute("server.port"), server.port.to_string());
        assert_eq!(trip.attribute("db.query.text"), "");
        let mut above = *trip;
        while above.id != call.id {
            above = told.iter().find(|span| span.id == above.parent).expect("it is below the call");
        }
        assert!(call.start <= trip.start && trip.end <= call.end, "{trip:?}");
    }
    let commit = told.iter().find(|span| span.name == "store commit").expect("the commit");
    assert_eq!(commit.attribute("fulcrum.commit.outcome"), "done");
    assert_eq!((commit.parent.as_str(), commit.kind.as_str()), (call.id.as_str(), "internal"));
    assert!(trips.iter().any(|trip| trip.name == "EVALSHA" && trip.parent == commit.id), "{trips:?}");
    let bytes = tower.collector.bytes();
    for secret in ["ann-the-player", "fulcrum:"] {
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret}");
    }

    // A call that is not told tells of no round trip either, and neither do clocks and sweeps.
    let before = tower.collector.told().len();
    let request = v1::GetTableRequest { table_id: table.clone(), viewer: eyes_of("") };
    in_time(caller.tables.get_table(traced(request, "00"))).await.expect("a table");
    tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
    assert_eq!(tower.collector.told().len(), before);
    house.close().await;
}

#[tokio::test]
async fn a_step_that_another_server_was_faster_than_shows_how_often_it_was_tried() {
    let tower = Tower::open(0.0);
    let server = Server::start();
    let houses = [house(&server).await, house(&server).await];
    for house in &houses {
        tower.listen(house);
    }
    let (mut here, mut there) = (houses[0].caller().await, houses[1].caller().await);
    let table = here.open_table(texas()).await;
    here.seat(&table, "ann", 1, 10_000).await;
    there.seat(&table, "bob", 2, 10_000).await;
    // The first server knows the table as it was before the second one's commit, until it hears of it.
    let mut conflict = None;
    for round in 0..20 {
        there.prefer(&table, "bob").await;
        let request = sampled(seat_request(&table, &format!("player-{round}"), 3, 10_000));
        if round > 0 {
            let leave = leave_request(&table, &format!("player-{}", round - 1), "out");
            in_time(here.tables.stand_up(leave)).await.expect("he leaves");
            there.prefer(&table, "bob").await;
        }
        in_time(here.tables.seat_player(request)).await.expect("a seat");
        tokio::time::sleep(std::time::Duration::from_millis(600)).await;
        let told = tower.collector.told();
        conflict = told.into_iter().find(|span| span.attribute("fulcrum.commit.outcome") == "conflict");
        if conflict.is_some() {
            break;
        }
    }
    let conflict = conflict.expect("one of many is too late");
    let told = tower.collector.told();
    let call = told.iter().find(|span| span.id == conflict.parent).expect("it was made for a call");
    let tries: Vec<_> =
        told.iter().filter(|span| span.parent == call.id && span.name == "store commit").collect();
    assert_eq!(tries.last().map(|span| span.attribute("fulcrum.commit.outcome")), Some("done"));
    assert!(call.events.iter().any(|(what, _)| what.starts_with("decided anew")), "{call:?}");
    assert_eq!((conflict.status.as_str(), call.attribute("rpc.response.status_code")), ("unset", "OK"));
    for house in houses {
        house.close().await;
    }
}
