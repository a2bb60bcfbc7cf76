//! Several servers on one Redis: each serves every table, and one that dies takes no hand with it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fulcrum::pb::v1;
use tonic::Status;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::child::{Server, run};
use crate::servers;
use crate::spectator::{Seen, bot, connect, duel, open_table, read, send_home, watch_until};

const BUY_IN: i64 = 20_000;

/// A file with the key that several servers share.
pub fn key_file(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("keys");
    std::fs::write(&path, format!("k1 {}\n", "5a".repeat(32))).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// A server on this Redis.
pub fn start(redis: &servers::Server, keys: &Path) -> Server {
    start_at("127.0.0.1:0", redis, keys, &[])
}

/// A server on this Redis with more arguments.
pub fn start_with(redis: &servers::Server, keys: &Path, more: &[&str]) -> Server {
    start_at("127.0.0.1:0", redis, keys, more)
}

fn start_at(address: &str, redis: &servers::Server, keys: &Path, more: &[&str]) -> Server {
    let url = format!("redis://127.0.0.1:{}?shards=8", redis.port);
    let arguments = ["--listen", address, "--redis", &url, "--key-file", keys.to_str().unwrap()];
    Server::start(arguments.iter().chain(more))
}

#[tokio::test]
async fn a_table_is_served_by_any_server_and_outlives_the_one_that_dies() {
    let folder = tempfile::tempdir().unwrap();
    let keys = key_file(folder.path());
    let redis = servers::Server::start();
    let (first, second) = (start(&redis, &keys), start(&redis, &keys));
    assert!(first.greeting.contains("Redis, one server at 127.0.0.1"), "{}", first.greeting);
    let table_id = open_table(&first.address, duel(BUY_IN)).await;
    seat(&second.address, &table_id, "mia").await.unwrap();
    let seen = read(&first.address, &table_id).await;
    assert_eq!(seen.seats.len(), 1, "what is done at one server is seen at the other");

    first.process.kill();
    seat(&second.address, &table_id, "leo").await.unwrap();
    let third = start(&redis, &keys);
    let seen = read(&third.address, &table_id).await;
    let players: Vec<&str> = seen.seats.iter().map(|seat| seat.player_id.as_str()).collect();
    assert_eq!(players, ["mia", "leo"]);
}

/// Bots play at two servers; the one of them dies in the middle of a hand and comes back.
#[tokio::test]
async fn a_hand_outlives_the_server_that_dies_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let keys = key_file(folder.path());
    let redis = servers::Server::start();
    let (first, second) = (start(&redis, &keys), start(&redis, &keys));
    let table_id = open_table(&first.address, duel(BUY_IN)).await;
    let mut seen = Seen::default();
    watch_until(&second.address, &table_id, &mut seen, |seen| seen.sequence == 1).await;
    let bots =
        [bot(&first.address, &table_id, "mia", "fast"), bot(&second.address, &table_id, "leo", "fast")];

    // Whoever watches at one server sees what is done at the other.
    watch_until(&second.address, &table_id, &mut seen, |seen| {
        seen.settled >= 2 && seen.actions[1] > 0 && seen.actions[2] > 0
    })
    .await;
    let played = seen.settled;
    watch_until(&first.address, &table_id, &mut seen, |seen| seen.settled > played && seen.in_the_middle())
        .await;

    // Mia's bot waits for its server to come back; her clock runs at the other one, and hands go on.
    let address = first.address.clone();
    first.process.kill();
    assert!(read(&second.address, &table_id).await.version >= seen.sequence);
    let again = start_at(&address, &redis, &keys, &[]);
    let hand = seen.hand;
    watch_until(&second.address, &table_id, &mut seen, |seen| seen.settled > hand + 1).await;

    seen.ending = true;
    send_home(bots.into());
    let gone = |seen: &Seen| seen.paid + seen.raked == seen.brought;
    watch_until(&again.address, &table_id, &mut seen, gone).await;
    assert!(seen.brought >= 2 * BUY_IN);
}

/// Seats a player.
pub async fn seat(address: &str, table_id: &str, player: &str) -> Result<(), Status> {
    let request = v1::SeatPlayerRequest {
        request_id: uuid::Uuid::new_v4().to_string(),
        table_id: table_id.to_owned(),
        player_id: player.to_owned(),
        buy_in: BUY_IN,
        transaction_id: format!("t-{player}"),
        ..Default::default()
    };
    connect(address).seat_player(request).await.map(|_| ())
}

#[tokio::test]
async fn request_ids_are_remembered_for_14_days_or_as_it_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let keys = key_file(folder.path());
    for (more, days) in [(&[][..], 14), (&["--request-days", "3"], 3)] {
        let redis = servers::Server::start();
        let server = start_at("127.0.0.1:0", &redis, &keys, more);
        open_table(&server.address, duel(BUY_IN)).await;
        let records: Vec<String> = redis.ask(&["KEYS", "*:rq:*"]);
        assert_eq!(records.len(), 1, "{records:?}");
        let (left, whole): (u64, u64) = (redis.ask(&["PTTL", &records[0]]), days * 24 * 3_600_000);
        assert!((whole - 60_000..=whole).contains(&left), "{left} ms of {whole}");
    }
}

#[tokio::test]
async fn health_follows_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let keys = key_file(folder.path());
    let mut redis = servers::Server::start();
    let alone = format!("127.0.0.1:{}", servers::free_port());
    let server = start_with(&redis, &keys, &["--health", &alone]);
    let addresses = [&server.address, &alone];
    let until = async |wanted| {
        for address in addresses {
            until_health(address, wanted).await;
            let lives = health(address, "fulcrum.liveness").await;
            assert_eq!(lives, Some(ServingStatus::Serving), "it lives, whatever the store does");
        }
    };
    until(ServingStatus::Serving).await;
    redis.kill();
    until(ServingStatus::NotServing).await;
    for address in addresses {
        assert_eq!(health(address, "").await, Some(ServingStatus::NotServing), "all of it");
    }
    redis.restart();
    until(ServingStatus::Serving).await;
}

async fn until_health(address: &str, wanted: ServingStatus) {
    for _ in 0..300 {
        if health(address, "fulcrum.v1.ActionService").await == Some(wanted) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("health does not become {wanted:?}");
}

/// What is said of the health of this part, if anything is.
pub async fn health(address: &str, service: &str) -> Option<ServingStatus> {
    let channel =
        tonic::transport::Endpoint::from_shared(format!("http://{address}")).unwrap().connect_lazy();
    let request = tonic_health::pb::HealthCheckRequest { service: service.to_owned() };
    let told = HealthClient::new(channel).check(request).await;
    told.ok().map(|told| told.into_inner().status())
}

#[test]
fn what_is_wrong_with_redis_is_said_in_plain_words() {
    let (code, _, errors) = run(["serve", "--redis", "redis://127.0.0.1:1"]);
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("--key-file"), "{errors}");

    let folder = tempfile::tempdir().unwrap();
    let keys = key_file(folder.path());
    let keys = keys.to_str().unwrap();
    let (code, _, errors) = run(["serve", "--redis", "postgres://127.0.0.1", "--key-file", keys]);
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("redis-cluster://"), "{errors}");
    let (code, _, errors) = run(["serve", "--redis", "redis://127.0.0.1:1", "--key-file", keys]);
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("127.0.0.1:1"), "{errors}");
}
