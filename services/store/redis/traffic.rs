//! What goes between this process and Redis, and how the servers say that they are: for whoever watches over the service.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ::redis::{Cmd, InfoDict, Value, cmd};

use super::RedisStore;
use super::node::Node;
use super::route::Kind;
use super::topology::text;

/// Hears how long Redis takes. It may not wait for anything.
pub trait RoundTrips: Send + Sync + 'static {
    /// Redis has answered after so long: to a `read` or a `commit`.
    fn answered(&self, kind: &'static str, took: Duration);
}

/// What there is at the moment, and has been.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traffic {
    /// Connections to servers with tables that are open, those on which commits are heard of among them.
    pub connections: u64,
    /// How many were made in place of a broken one.
    pub reconnects: u64,
    /// Calls that are not answered yet.
    pub in_flight: u64,
}

/// How a primary says that it is. What it does not tell is `None`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerState {
    /// `host:port`.
    pub server: String,
    /// Whether it writes to its disk.
    pub persists: Option<bool>,
    /// Replicas that are connected and in step.
    pub replicas: Option<u64>,
    /// How much the replica that is furthest behind does not have, in bytes; 0 if there is none.
    pub lag_bytes: Option<u64>,
    /// Memory in use, in bytes.
    pub memory: Option<u64>,
    /// How much it may use, in bytes; 0 for no limit.
    pub memory_limit: Option<u64>,
}

/// The counts of one store.
#[derive(Default)]
pub(super) struct Counts {
    connections: AtomicU64,
    reconnects: AtomicU64,
    in_flight: AtomicU64,
    listener: OnceLock<Arc<dyn RoundTrips>>,
}

impl Counts {
    /// A connection was made; it counts until what this gives is dropped.
    pub(super) fn connected(self: &Arc<Counts>) -> Connected {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Connected(Arc::clone(self))
    }

    /// A connection was made in place of a broken one.
    pub(super) fn reconnected(&self) {
        self.reconnects.fetch_add(1, Ordering::Relaxed);
    }

    /// A call goes out; it is on its way until what this gives is dropped.
    pub(super) fn sent(self: &Arc<Counts>, kind: Kind) -> Sent {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        Sent { counts: Arc::clone(self), kind, at: Instant::now() }
    }
}

/// A connection that is open.
pub(super) struct Connected(Arc<Counts>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A call on its way.
pub(super) struct Sent {
    counts: Arc<Counts>,
    kind: Kind,
    at: Instant,
}

impl Sent {
    /// Redis has answered it.
    pub(super) fn answered(&self) {
        if let Some(listener) = self.counts.listener.get() {
            let kind = match self.kind {
                Kind::Read => "read",
                Kind::Commit => "commit",
            };
            listener.answered(kind, self.at.elapsed());
        }
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.counts.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl RedisStore {
    /// Has this one hear how long Redis takes. Only the first one does.
    pub fn time_round_trips(&self, listener: Arc<dyn RoundTrips>) {
        let _ = self.router.counts().listener.set(listener);
    }

    /// What goes between this store and Redis.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        let counts = self.router.counts();
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Traffic {
            connections: of(&counts.connections),
            reconnects: of(&counts.reconnects),
            in_flight: of(&counts.in_flight),
        }
    }

    /// How the primaries say that they are, without those that do not answer.
    pub async fn states(&self) -> Vec<ServerState> {
        let Ok(map) = self.router.map().await else {
            return Vec::new();
        };
        let mut states = Vec::new();
        for node in &map.primaries {
            states.extend(state(node).await);
        }
        states
    }
}

async fn state(node: &Arc<Node>) -> Option<ServerState> {
    let ask = |words: [&str; 2]| -> Cmd {
        let mut command = cmd(words[0]);
        command.arg(&words[1..]);
        command
    };
    let mut save = ask(["CONFIG", "GET"]);
    save.arg("save");
    let asked = [ask(["INFO", "replication"]), ask(["INFO", "memory"]), ask(["INFO", "persistence"]), save];
    let answers = node.send(&asked).await.ok()?;
    let [replication, memory, persistence, save] = answers.as_slice() else {
        return None;
    };
    Some(read(&node.endpoint.to_string(), [replication, memory, persistence].map(info), saves(save)))
}

fn info(answer: &Value) -> InfoDict {
    InfoDict::new(&text(answer).unwrap_or_default())
}

/// Whether points in time are set at which it saves; `None` where the user may not ask.
fn saves(answer: &Value) -> Option<bool> {
    let (_, points) = answer.as_map_iter()?.next()?;
    Some(!text(points)?.is_empty())
}

fn read(server: &str, [replication, memory, persistence]: [InfoDict; 3], saves: Option<bool>) -> ServerState {
    let appends = persistence.get::<u8>("aof_enabled").map(|enabled| enabled == 1);
    let persists = match (appends, saves) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    };
    let written: Option<u64> = replication.get("master_repl_offset");
    let attached: Option<u64> = replication.get("connected_slaves");
    let lines =
        (0..attached.unwrap_or_default()).filter_map(|n| replication.get::<String>(&format!("slave{n}")));
    let offsets: Vec<u64> = lines.filter_map(|line| in_step(&line)).collect();
    let behind = offsets.iter().min().copied().or(written);
    ServerState {
        server: server.to_owned(),
        persists,
        replicas: attached.map(|_| offsets.len() as u64),
        lag_bytes: written.zip(behind).map(|(written, behind)| written.saturating_sub(behind)),
        memory: memory.get("used_memory"),
        memory_limit: memory.get("maxmemory"),
    }
}

/// How far a replica is that gets every write: `ip=…,port=…,state=online,offset=…,lag=…`.
fn in_step(line: &str) -> Option<u64> {
    let field = |name: &str| {
        line.split(',')
            .find_map(|field| field.split_once('=').filter(|(key, _)| *key == name))
            .map(|(_, value)| value)
    };
    field("offset").filter(|_| field("state") == Some("online"))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state_of(replication: &str, persistence: &str, saves: Option<bool>) -> ServerState {
        let memory = "used_memory:1000\r\nmaxmemory:0\r\n";
        read("a:1", [replication, memory, persistence].map(InfoDict::new), saves)
    }

    #[test]
    fn the_replica_that_is_furthest_behind_counts_and_one_that_is_being_filled_does_not() {
        let replication = "role:master\r\nconnected_slaves:3\r\n\
            slave0:ip=127.0.0.1,port=2,state=online,offset=900,lag=0\r\n\
            slave1:ip=127.0.0.1,port=3,state=online,offset=1000,lag=0\r\n\
            slave2:ip=127.0.0.1,port=4,state=wait_bgsave,offset=0,lag=0\r\nmaster_repl_offset:1000\r\n";
        let state = state_of(replication, "aof_enabled:1\r\n", None);
        assert_eq!((state.replicas, state.lag_bytes, state.persists), (Some(2), Some(100), Some(true)));
        assert_eq!((state.memory, state.memory_limit), (Some(1000), Some(0)));
        let alone = "role:master\r\nconnected_slaves:0\r\nmaster_repl_offset:77\r\n";
        let state = state_of(alone, "aof_enabled:0\r\n", Some(false));
        assert_eq!((state.replicas, state.lag_bytes, state.persists), (Some(0), Some(0), Some(false)));
    }

    #[test]
    fn a_server_that_does_not_tell_its_settings_is_not_said_to_lose_anything() {
        assert_eq!(state_of("", "aof_enabled:0\r\n", None).persists, None);
        assert_eq!(state_of("", "aof_enabled:0\r\n", Some(true)).persists, Some(true));
        let refused = ::redis::parse_redis_value(b"-NOPERM no\r\n").unwrap();
        assert_eq!(saves(&refused), None);
        assert_eq!(state_of("", "", None).replicas, None);
    }
}
