//! The servers of a store in Redis. Of another store nothing of this is told.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use tokio::sync::watch;
use tokio::time::sleep;

use super::labels::Bare;
use super::{Metrics, Register, quick};
use crate::store::{RedisStore, RoundTrips, ServerState};
use crate::telemetry::names;

/// How often the servers are asked how they are.
pub const EVERY: Duration = Duration::from_secs(10);

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfKind {
    kind: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfServer {
    server: String,
}

/// The servers.
pub struct RedisSide {
    round_trips: Family<OfKind, Histogram, fn() -> Histogram>,
    connections: Family<Bare, Gauge>,
    reconnects: Family<Bare, Counter>,
    in_flight: Family<Bare, Gauge>,
    persistence: Family<OfServer, Gauge>,
    replicas: Family<OfServer, Gauge>,
    lag: Family<OfServer, Gauge>,
    memory: Family<OfServer, Gauge>,
    limit: Family<OfServer, Gauge>,
    store: OnceLock<Arc<RedisStore>>,
}

impl RedisSide {
    pub(super) fn new(register: &mut Register) -> RedisSide {
        let side = RedisSide {
            round_trips: Family::new_with_constructor(quick),
            connections: Family::default(),
            reconnects: Family::default(),
            in_flight: Family::default(),
            persistence: Family::default(),
            replicas: Family::default(),
            lag: Family::default(),
            memory: Family::default(),
            limit: Family::default(),
            store: OnceLock::new(),
        };
        register.enter(&names::REDIS_ROUND_TRIP_SECONDS, side.round_trips.clone());
        register.enter(&names::REDIS_CONNECTIONS, side.connections.clone());
        register.enter(&names::REDIS_RECONNECTS, side.reconnects.clone());
        register.enter(&names::REDIS_IN_FLIGHT, side.in_flight.clone());
        register.enter(&names::REDIS_PERSISTENCE, side.persistence.clone());
        register.enter(&names::REDIS_REPLICAS, side.replicas.clone());
        register.enter(&names::REDIS_REPLICA_LAG_BYTES, side.lag.clone());
        register.enter(&names::REDIS_MEMORY_BYTES, side.memory.clone());
        register.enter(&names::REDIS_MEMORY_LIMIT_BYTES, side.limit.clone());
        side
    }

    pub(super) fn look(&self) {
        let Some(store) = self.store.get() else {
            return;
        };
        let traffic = store.traffic();
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.connections.get_or_create(&[]).set(number(traffic.connections));
        self.in_flight.get_or_create(&[]).set(number(traffic.in_flight));
        self.reconnects.get_or_create(&[]).inner().store(traffic.reconnects, Ordering::Relaxed);
    }

    fn told(&self, states: &[ServerState]) {
        for family in [&self.persistence, &self.replicas, &self.lag, &self.memory, &self.limit] {
            family.clear();
        }
        for state in states {
            let labels = OfServer { server: state.server.clone() };
            let put = |family: &Family<OfServer, Gauge>, value: Option<u64>| {
                if let Some(value) = value {
                    family.get_or_create(&labels).set(i64::try_from(value).unwrap_or(i64::MAX));
                }
            };
            put(&self.persistence, state.persists.map(u64::from));
            put(&self.replicas, state.replicas);
            put(&self.lag, state.lag_bytes);
            put(&self.memory, state.memory);
            put(&self.limit, state.memory_limit);
        }
    }
}

impl RoundTrips for Metrics {
    fn answered(&self, kind: &'static str, took: Duration) {
        self.redis.round_trips.get_or_create(&OfKind { kind }).observe(took.as_secs_f64());
    }
}

/// Tells the log of servers that write no file any more, and of those that do so again.
fn note(persists: &mut HashMap<String, bool>, states: &[ServerState]) {
    for ServerState { server, persists: now, .. } in states {
        let Some(now) = *now else {
            continue;
        };
        match (persists.insert(server.clone(), now), now) {
            (None | Some(true), false) => {
                tracing::error!(
                    event = "redis_persistence_off",
                    server,
                    "Redis writes no file: a restart loses tables"
                );
            }
            (Some(false), true) => {
                tracing::info!(event = "redis_persistence_on", server, "Redis writes a file again");
            }
            _ => {}
        }
    }
}

/// Asks the servers how they are until `stop` becomes true or its sender goes.
pub async fn run(
    metrics: Arc<Metrics>,
    store: Arc<RedisStore>,
    every: Duration,
    mut stop: watch::Receiver<bool>,
) {
    store.time_round_trips(Arc::<Metrics>::clone(&metrics));
    let _ = metrics.redis.store.set(Arc::clone(&store));
    let work = async {
        let mut persists = HashMap::new();
        loop {
            // Of a server that does not answer nothing is told: an old figure would look like a new one.
            let states = store.states().await;
            note(&mut persists, &states);
            metrics.set(|| metrics.redis.told(&states));
            sleep(every).await;
        }
    };
    tokio::select! {
        // An error says that the sender is gone.
        _ = stop.wait_for(|stop| *stop) => {}
        () = work => {}
    }
}
