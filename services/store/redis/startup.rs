//! What is looked at before the first table is served. What would lose money is refused, in words that say what to do;
//! the rest is warned about.

use std::sync::Arc;
use std::time::Duration;

use ::redis::{Cmd, InfoDict, Value, cmd};
use thiserror::Error;

use super::config::{Durability, Topology};
use super::fault::{Fault, first_fault};
use super::keys::Shard;
use super::node::Node;
use super::route::{Home, Map};
use super::topology::text;
use super::{RedisConfig, RedisStore};

/// Servers whose clocks differ by more are warned about, µs.
const SKEW: u64 = 100_000;

/// Why the store does not start. Each text says what is wrong and what would mend it.
#[derive(Debug, Error)]
pub enum StartError {
    /// Nobody answers, or not as Redis does.
    #[error("Redis cannot be reached: {0}")]
    Unreachable(String),
    /// The server is too old.
    #[error("Redis at {server} is version {version}; version 7.0 or later is needed (sharded channels)")]
    Version {
        /// The server.
        server: String,
        /// Its version.
        version: String,
    },
    /// A replica was named where a primary belongs.
    #[error("Redis at {0} is a replica: name its primary, or use redis-sentinel:// so that it is found")]
    Replica(String),
    /// Not a cluster, or one where none is expected.
    #[error("Redis at {server} {is}")]
    Mode {
        /// The server.
        server: String,
        /// What it is, and what to do about it.
        is: &'static str,
    },
    /// The ACL user may not do what the service does.
    #[error(
        "the user may not do everything that the service does at {server}: {why}. He needs: ~* &* +@read +@write \
         +@scripting +@pubsub +@connection +@transaction +info +time +role +cluster|slots +wait"
    )]
    Permission {
        /// The server.
        server: String,
        /// What Redis said.
        why: String,
    },
    /// Keys can be thrown away.
    #[error(
        "Redis at {server} has maxmemory-policy {policy}: it would throw tables or request records away when memory is \
         short. Set it to noeviction"
    )]
    Evicts {
        /// The server.
        server: String,
        /// The policy.
        policy: String,
    },
    /// A restart loses everything, also at the replicas.
    #[error(
        "Redis at {0} writes no append-only file: a restart loses tables and makes its replicas lose them too. Set \
         appendonly to yes, or start with accept-loss=yes for a trial"
    )]
    NotPersistent(String),
    /// The promised durability is not there.
    #[error("Redis at {server} cannot keep what durability {durability:?} promises: {why}")]
    Durability {
        /// The server.
        server: String,
        /// What was asked for.
        durability: Durability,
        /// What is missing.
        why: String,
    },
    /// Tables would be looked for in the wrong shards.
    #[error(
        "this installation has {stored} shards, the configuration says {configured}: set shards to {stored}"
    )]
    Shards {
        /// As it was set up.
        stored: u16,
        /// As it is configured.
        configured: u16,
    },
    /// A newer version of the service has moved the installation on.
    #[error(
        "the records of this installation have format {installed}, and this version of the service knows them up to \
         {known}: start the newer version"
    )]
    Format {
        /// The installation's format.
        installed: u32,
        /// The newest that this version knows.
        known: u32,
    },
    /// The keyring is another installation's.
    #[error("the keys that seal cards are not those of this installation: {0}")]
    Keys(String),
    /// Something else in Redis is in the way.
    #[error("Redis at {server}: {why}")]
    Strange {
        /// The server.
        server: String,
        /// What.
        why: String,
    },
}

/// What one server says of itself.
struct Checkup {
    server: String,
    info: InfoDict,
    append_fsync: Option<String>,
    min_replicas: Option<String>,
}

impl RedisStore {
    /// Everything that is looked at before the store is used; gives the warnings.
    pub(super) async fn check_start(&self) -> Result<Vec<String>, StartError> {
        let map = self.router.map().await.map_err(|fault| StartError::Unreachable(fault.text()))?;
        let mut warnings = Vec::new();
        for node in &map.primaries {
            let checkup = Checkup::of(node).await?;
            checkup.judge(&self.config, &mut warnings)?;
        }
        self.check_coverage(&map)?;
        self.check_clocks(&mut warnings).await?;
        for node in &map.primaries {
            self.probe(&map, node).await?;
        }
        warnings.extend(self.check_installation().await?);
        Ok(warnings)
    }

    fn check_coverage(&self, map: &Map) -> Result<(), StartError> {
        let homes = Shard::all(self.shards()).map(Home::Shard).chain([Home::Installation]);
        match homes.filter(|home| map.owner(*home).is_none()).count() {
            0 => Ok(()),
            lost => Err(StartError::Unreachable(format!("{lost} shards lie in slots that no server has"))),
        }
    }

    async fn check_clocks(&self, warnings: &mut Vec<String>) -> Result<(), StartError> {
        let times = self.times().await.map_err(|error| StartError::Unreachable(error.to_string()))?;
        let (first, last) = (times.iter().min().unwrap_or(&0), times.iter().max().unwrap_or(&0));
        if last - first > SKEW {
            warnings.push(format!(
                "the clocks of the Redis servers differ by {} ms: synchronise them",
                (last - first) / 1000
            ));
        }
        Ok(())
    }
}

/// Sends commands to one server and gives their answers, or the first error among them. A server that is just loading
/// its data is given some time.
pub(super) async fn asked(node: &Arc<Node>, commands: &[Cmd]) -> Result<Vec<Value>, Fault> {
    let mut left = 50_u32;
    loop {
        let values = node.send(commands).await?;
        match first_fault(&values) {
            None => return Ok(values),
            Some(Fault::Again(_, _)) if left > 0 => {
                left -= 1;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Some(fault) => return Err(fault),
        }
    }
}

impl StartError {
    pub(super) fn of(server: &str, fault: Fault) -> StartError {
        let server = server.to_owned();
        // Who lacks a right is told so with a code if he asks himself, and in words if a script does it for him.
        let of_rights = ["NOPERM", "NOAUTH", "WRONGPASS", "The user executing the script"];
        match fault {
            Fault::Again(_, why) => StartError::Unreachable(why),
            Fault::Refused(why) | Fault::Unknown(why)
                if of_rights.iter().any(|words| why.contains(words)) =>
            {
                StartError::Permission { server, why }
            }
            Fault::Refused(why) | Fault::Unknown(why) => StartError::Strange { server, why },
        }
    }
}

impl Checkup {
    async fn of(node: &Arc<Node>) -> Result<Checkup, StartError> {
        let server = node.endpoint.to_string();
        let values = asked(node, &[cmd("INFO")]).await.map_err(|fault| StartError::of(&server, fault))?;
        let info = values.first().and_then(text).unwrap_or_default();
        let info = InfoDict::new(&info);
        let append_fsync = setting(node, "appendfsync").await;
        let min_replicas = setting(node, "min-replicas-to-write").await;
        Ok(Checkup { server, info, append_fsync, min_replicas })
    }

    fn get(&self, name: &str) -> String {
        self.info.get(name).unwrap_or_default()
    }

    fn judge(&self, config: &RedisConfig, warnings: &mut Vec<String>) -> Result<(), StartError> {
        let version = self.get("redis_version");
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        if major.is_none_or(|major| major < 7) {
            return Err(StartError::Version { server: self.server.clone(), version });
        }
        if self.get("role") != "master" {
            return Err(StartError::Replica(self.server.clone()));
        }
        let mode = |is| Err(StartError::Mode { server: self.server.clone(), is });
        match (&config.topology, self.get("redis_mode").as_str()) {
            (Topology::Cluster(_), "cluster") => {}
            (Topology::Cluster(_), _) => return mode("is no node of a cluster: use redis://"),
            (_, "cluster") => return mode("is a node of a cluster: use redis-cluster://"),
            _ => {}
        }
        self.judge_memory(warnings)?;
        self.judge_disk(config, warnings)?;
        self.judge_durability(config, warnings)
    }

    fn judge_memory(&self, warnings: &mut Vec<String>) -> Result<(), StartError> {
        let (policy, limit) = (self.get("maxmemory_policy"), self.get("maxmemory"));
        if policy != "noeviction" {
            return Err(StartError::Evicts { server: self.server.clone(), policy });
        }
        if limit == "0" {
            warnings.push(format!(
                "Redis at {} has no maxmemory: it can be killed for want of memory",
                self.server
            ));
        }
        Ok(())
    }

    fn judge_disk(&self, config: &RedisConfig, warnings: &mut Vec<String>) -> Result<(), StartError> {
        if self.get("aof_enabled") == "1" {
            return Ok(());
        }
        if !config.accept_loss {
            return Err(StartError::NotPersistent(self.server.clone()));
        }
        warnings.push(format!("Redis at {} writes no append-only file: a restart loses tables", self.server));
        Ok(())
    }

    fn judge_durability(&self, config: &RedisConfig, warnings: &mut Vec<String>) -> Result<(), StartError> {
        let lacking = |why: String| {
            let durability = config.durability;
            Err(StartError::Durability { server: self.server.clone(), durability, why })
        };
        match config.durability {
            Durability::Memory => Ok(()),
            Durability::Fsync if self.get("aof_enabled") != "1" => {
                lacking("appendonly is not yes".to_owned())
            }
            Durability::Fsync => match self.append_fsync.as_deref() {
                Some("always") => Ok(()),
                Some(other) => lacking(format!("appendfsync is {other}, it has to be always")),
                None => {
                    warnings.push(format!(
                        "Redis at {} does not tell its appendfsync: it has to be always",
                        self.server
                    ));
                    Ok(())
                }
            },
            Durability::Replicated(wanted) => {
                let attached = self.info.get::<u32>("connected_slaves").unwrap_or_default();
                if attached < u32::from(wanted) {
                    return lacking(format!("{attached} replicas are attached"));
                }
                if self.min_replicas.as_deref() == Some("0") {
                    let server = &self.server;
                    warnings.push(format!(
                        "Redis at {server} has min-replicas-to-write 0: cut off from its replicas it takes writes that \
                         nobody will see; set it to 1"
                    ));
                }
                Ok(())
            }
        }
    }
}

/// A setting, where the user may ask for it.
async fn setting(node: &Arc<Node>, name: &str) -> Option<String> {
    let mut command = cmd("CONFIG");
    command.arg("GET").arg(name);
    let values = asked(node, &[command]).await.ok()?;
    let value = values.into_iter().next()?;
    let mut pairs = value.as_map_iter()?;
    pairs.next().and_then(|(_, value)| text(value))
}
