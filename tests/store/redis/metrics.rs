//! What the metrics tell of Redis, from real servers: what goes to them, how they say that they are, and when they are
//! away.

use std::sync::Arc;
use std::time::Duration;

use fulcrum::store::redis::{Durability, RedisConfig, RedisStore, Topology};
use fulcrum::telemetry::metrics::{Metrics, redis};
use fulcrum::telemetry::store::Watched;
use serde_json::json;
use tables::{Ear, Heard, Store, TableKey, Token};
use tokio::sync::watch;

use super::servers::{Server, until};
use super::{keeping, open, played};
use crate::fixtures::key;
use crate::lines::Lines;

/// A store that is watched over, and what is told of it.
struct Seen {
    redis: Arc<RedisStore>,
    store: Watched,
    metrics: Arc<Metrics>,
    /// Ends the looking when it is dropped.
    _stop: watch::Sender<bool>,
}

impl Seen {
    async fn open(server: &Server, durability: Durability) -> Seen {
        let config = RedisConfig::new(Topology::Single(server.endpoint()));
        let redis = open(keeping(RedisConfig { durability, accept_loss: true, ..config })).await;
        let metrics = Arc::new(Metrics::new(&[]));
        let store = Watched::new(Arc::<RedisStore>::clone(&redis), Some(Arc::clone(&metrics)));
        let (stop, stopped) = watch::channel(false);
        let every = Duration::from_millis(50);
        tokio::spawn(redis::run(Arc::clone(&metrics), Arc::clone(&redis), every, stopped));
        Seen { redis, store, metrics, _stop: stop }
    }

    fn text(&self) -> String {
        self.metrics.text().expect("metrics")
    }

    fn value(&self, series: &str) -> Option<f64> {
        let text = self.text();
        let told = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))?;
        told.split(' ').next()?.parse().ok()
    }

    async fn until(&self, what: &str, is_so: impl Fn(&Seen) -> bool) {
        for _ in 0..400 {
            if is_so(self) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("never: {what}\n{}", self.text());
    }
}

fn of(name: &str, server: &Server) -> String {
    format!("fulcrum_redis_{name}{{server=\"{}\"}}", server.endpoint())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_tells_how_it_is_and_what_goes_to_it_is_timed() {
    let mut server = Server::with(&["--appendonly", "yes", "--maxmemory", "100mb"]);
    let seen = Seen::open(&server, Durability::Memory).await;
    assert_eq!(seen.value("fulcrum_redis_round_trip_seconds_count{kind=\"commit\"}"), None);
    seen.until("its state", |seen| seen.value(&of("persistence", &server)) == Some(1.0)).await;
    assert_eq!(seen.value(&of("memory_limit_bytes", &server)), Some(100.0 * 1024.0 * 1024.0));
    assert!(seen.value(&of("memory_bytes", &server)).is_some_and(|bytes| bytes > 100_000.0));
    assert_eq!(seen.value(&of("replicas", &server)), Some(0.0));
    assert_eq!(seen.value(&of("replica_lag_bytes", &server)), Some(0.0));

    played(&seen.redis, key(1), 1, 7).await;
    let commits = seen.value("fulcrum_redis_round_trip_seconds_count{kind=\"commit\"}");
    assert_eq!(commits, Some(7.0), "{}", seen.text());
    let reads = "fulcrum_redis_round_trip_seconds_count{kind=\"read\"}";
    let before = seen.value(reads).unwrap_or(0.0);
    seen.store.load(&key(1)).await.expect("a store").expect("a table");
    assert_eq!(seen.value(reads), Some(before + 1.0));
    assert_eq!(seen.value("fulcrum_store_seconds_count{operation=\"load\"}"), Some(1.0));
    assert_eq!(seen.value("fulcrum_redis_in_flight"), Some(0.0));
    let connections = seen.value("fulcrum_redis_connections").expect("connections");
    assert!((1.0..=4.0).contains(&connections), "{connections}");
    assert_eq!(seen.value("fulcrum_redis_reconnects_total"), Some(0.0));

    server.ask::<()>(&["CONFIG", "SET", "appendonly", "no"]);
    seen.until("no persistence", |seen| seen.value(&of("persistence", &server)) == Some(0.0)).await;
    server.ask::<()>(&["CONFIG", "SET", "appendonly", "yes"]);
    seen.until("persistence again", |seen| seen.value(&of("persistence", &server)) == Some(1.0)).await;

    server.kill();
    assert!(seen.store.check().await.is_err());
    assert_eq!(seen.value("fulcrum_store_up"), Some(0.0));
    seen.until("nothing of one that is away", |seen| seen.value(&of("persistence", &server)).is_none()).await;
    let failed = "fulcrum_store_errors_total{operation=\"check\",kind=\"unavailable\"}";
    assert!(seen.value(failed).is_some_and(|count| count >= 1.0), "{}", seen.text());
    server.restart();
    seen.until("a connection in place of the broken one", |seen| {
        seen.value("fulcrum_redis_reconnects_total").is_some_and(|count| count >= 1.0)
    })
    .await;
    seen.store.check().await.expect("it is there again");
    assert_eq!(seen.value("fulcrum_store_up"), Some(1.0));
    seen.until("its state again", |seen| seen.value(&of("persistence", &server)) == Some(1.0)).await;
}

/// The log of the thread is read, so that there is only one.
#[tokio::test]
async fn the_log_says_once_when_a_server_writes_no_file_any_more_and_when_it_does_again() {
    let log = Lines::default();
    let _reading = log.read();
    let server = Server::start();
    let seen = Seen::open(&server, Durability::Memory).await;
    let persistence = of("persistence", &server);
    seen.until("its state", |seen| seen.value(&persistence) == Some(1.0)).await;
    assert_eq!(log.of("redis_persistence_off").len() + log.of("redis_persistence_on").len(), 0);
    server.ask::<()>(&["CONFIG", "SET", "appendonly", "no"]);
    seen.until("no persistence", |seen| seen.value(&persistence) == Some(0.0)).await;
    // It is looked at a few times more.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let line = log.only("redis_persistence_off");
    assert_eq!((&line["level"], &line["server"]), (&json!("ERROR"), &json!(server.endpoint().to_string())));
    assert!(log.of("redis_persistence_on").is_empty());
    server.ask::<()>(&["CONFIG", "SET", "appendonly", "yes"]);
    seen.until("persistence again", |seen| seen.value(&persistence) == Some(1.0)).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let line = log.only("redis_persistence_on");
    assert_eq!((&line["level"], &line["server"]), (&json!("INFO"), &json!(server.endpoint().to_string())));
    assert_eq!(log.of("redis_persistence_off").len(), 1);
}

/// A server that never wrote a file is told of, too.
#[tokio::test]
async fn the_log_says_that_a_server_writes_no_file_from_the_beginning() {
    let log = Lines::default();
    let _reading = log.read();
    let server = Server::with(&[]);
    let seen = Seen::open(&server, Durability::Memory).await;
    seen.until("its state", |seen| seen.value(&of("persistence", &server)) == Some(0.0)).await;
    log.only("redis_persistence_off");
}

/// Nobody is told of commits on it any more, until there is another one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_of_the_listener_that_breaks_and_is_made_anew_is_counted() {
    struct Deaf;
    impl Ear for Deaf {
        fn hear(&self, _: &TableKey, _: Heard) {}

        fn told(&self, _: &TableKey) -> Option<Token> {
            None
        }
    }
    let server = Server::start();
    let seen = Seen::open(&server, Durability::Memory).await;
    played(&seen.redis, key(1), 1, 1).await;
    let ear: Arc<dyn Ear> = Arc::new(Deaf);
    let _following = seen.redis.follow(&key(1), &ear).await.expect("a store").expect("it tells");
    let listened = || server.ask::<Vec<String>>(&["PUBSUB", "SHARDCHANNELS"]).len();
    assert_eq!((listened(), seen.redis.traffic().reconnects), (1, 0));
    for times in [1_u32, 2] {
        let killed: u64 = server.ask(&["CLIENT", "KILL", "TYPE", "pubsub"]);
        assert_eq!(killed, 1);
        let reconnects = |seen: &Seen| seen.redis.traffic().reconnects;
        seen.until("it listens again", |seen| listened() == 1 && reconnects(seen) >= times.into()).await;
        assert_eq!(reconnects(&seen), u64::from(times));
        assert_eq!(seen.value("fulcrum_redis_reconnects_total"), Some(f64::from(times)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_stands_still_falls_behind_and_is_missed_when_it_is_gone() {
    let primary = Server::start();
    let port = primary.port.to_string();
    let mut replica = Server::with(&["--replicaof", "127.0.0.1", &port, "--repl-diskless-sync-delay", "0"]);
    until("the replica follows", || primary.ask::<String>(&["INFO", "replication"]).contains("state=online"));
    let seen = Seen::open(&primary, Durability::Replicated(1)).await;
    seen.until("one replica", |seen| seen.value(&of("replicas", &primary)) == Some(1.0)).await;
    played(&seen.redis, key(1), 1, 3).await;
    let commits = seen.value("fulcrum_redis_round_trip_seconds_count{kind=\"commit\"}");
    assert_eq!(commits, Some(3.0), "those that wait for replicas are timed, too");

    replica.signal("-STOP");
    primary.ask::<()>(&["SET", "filler", &"x".repeat(200_000)]);
    let lag = of("replica_lag_bytes", &primary);
    seen.until("a replica that is behind", |seen| seen.value(&lag).is_some_and(|bytes| bytes >= 200_000.0))
        .await;
    replica.signal("-CONT");
    seen.until("it has caught up", |seen| seen.value(&lag).is_some_and(|bytes| bytes < 10_000.0)).await;
    replica.kill();
    seen.until("no replica", |seen| seen.value(&of("replicas", &primary)) == Some(0.0)).await;
}
