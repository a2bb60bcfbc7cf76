//! What was measured on a machine: the costs that the model reckons with, and the file that keeps them.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::failure::Failure;

/// Everything that was measured. µs are of CPU, bytes as they are.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Of which build.
    pub version: String,
    /// Whether it was built without optimisation, and so says nothing about one that is used.
    pub debug_build: bool,
    /// The cores of the machine, which servers, Redis and bots shared.
    pub cores: u32,
    /// The version of Redis.
    pub redis_version: String,
    /// How many bots sat at each table.
    pub seats: u32,
    /// Shards of the installation.
    pub shards: u16,
    /// Decisions of a hand.
    pub actions_of_a_hand: f64,
    /// Commits for each decision: deals, time-outs and the like beside it.
    pub commits_of_an_action: f64,
    /// What a server costs.
    pub server: ServerCosts,
    /// What Redis costs.
    pub redis: RedisCosts,
    /// What was played, phase by phase.
    pub phases: Vec<Phase>,
}

/// What a server costs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ServerCosts {
    /// Of each decision, with everything that comes of it but messages to watchers.
    pub us_per_action: f64,
    /// Of each message to a watcher.
    pub us_per_message: f64,
    /// Of each commit, at each further server that has watchers of its table.
    pub us_per_follower: f64,
    /// At rest, each second.
    pub us_per_second: f64,
    /// Of an open stream on which nothing happens, each second.
    pub us_per_second_of_a_watcher: f64,
    /// Of memory, with nothing open.
    pub bytes: f64,
    /// Of memory for each table that it knows.
    pub bytes_per_table: f64,
    /// Of memory for each open stream.
    pub bytes_per_watcher: f64,
    /// Sent for each message to a watcher.
    pub bytes_per_message: f64,
}

/// What Redis costs. Its CPU is that of its main thread, which no machine with more cores makes faster.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RedisCosts {
    /// Of each decision, with everything that comes of it but looks at calendars.
    pub us_per_action: f64,
    /// Of a look whether something is due in a shard.
    pub us_per_look: f64,
    /// So many more are made for each hand by a server that looks after all shards: it begins with what is due and looks
    /// again.
    pub looks_per_hand: f64,
    /// Of each commit, for each further server that has watchers of its table.
    pub us_per_follower: f64,
    /// With one server at rest, each second.
    pub us_per_second: f64,
    /// For each further server at rest, each second.
    pub us_per_second_of_a_server: f64,
    /// Received and sent for a look.
    pub bytes_per_look: f64,
    /// Received and sent for each decision.
    pub bytes_per_action: f64,
    /// Sent for each commit to each further server that has watchers of its table.
    pub bytes_per_follower: f64,
    /// Of memory for each table at which nothing was played yet.
    pub bytes_per_table: f64,
    /// Of memory for each commit that is kept for watchers who come back.
    pub bytes_per_commit_kept: f64,
    /// Of memory for each hand, as long as its settlement is kept.
    pub bytes_per_hand_kept: f64,
}

/// One phase of play.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Phase {
    /// What it was for.
    pub name: String,
    /// So many servers.
    pub servers: u32,
    /// Watchers of each table, the bots among them.
    pub watchers: u32,
    /// Decisions a second.
    pub actions: f64,
    /// Commits a second.
    pub commits: f64,
    /// Hands a second.
    pub hands: f64,
    /// CPU of all servers, µs a second.
    pub server_us: f64,
    /// CPU of Redis' main thread, µs a second.
    pub redis_us: f64,
    /// Received and sent by Redis, a second.
    pub redis_bytes: f64,
    /// Calls of scripts a second, beside those that are made at rest.
    pub scripts: f64,
    /// Looks at calendars a second.
    pub looks: f64,
}

impl Measured {
    /// Reads what an earlier run has written with --json.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the file is none.
    pub fn load(path: &Path) -> Result<Measured, Failure> {
        let unusable = |error: &dyn std::fmt::Display| {
            Failure::Usage(format!(
                "{} is no file that `fulcrum capacity --json` has written: {error}",
                path.display()
            ))
        };
        let text = fs::read_to_string(path).map_err(|error| unusable(&error))?;
        let mut report: Value = serde_json::from_str(&text).map_err(|error| unusable(&error))?;
        serde_json::from_value(report["measured"].take()).map_err(|error| unusable(&error))
    }
}
