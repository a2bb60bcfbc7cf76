//! What is asked of `fulcrum capacity`, and its help.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::model::{Machine, Wanted};
use crate::store::redis::spreading::{HISTORY, SHARDS};

/// The pause between two hands of a table, s.
pub const PAUSE_S: f64 = 5.0;
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
/// Bytes a second of a network of a megabit.
const MEGABIT: f64 = 1e6 / 8.0;
const SECONDS_OF_AN_HOUR: f64 = 3600.0;

/// Measures what play costs on this machine, and says how many servers and how much Redis n tables need.
///
/// It starts servers of its own, plays at them with bots, and looks at what they and Redis take: CPU, memory, bytes. From
/// that it reckons; and it simulates up to a million tables, with a server that dies and a Redis that is away.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct CapacityArgs {
    /// How many tables are to be served, at all of which is played.
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub tables: u32,
    /// How long a player takes for a decision, on average.
    #[arg(long, default_value_t = 6.0, value_name = "SECONDS", value_parser = positive)]
    pub seconds_per_decision: f64,
    /// How many hands are played at a table in an hour; otherwise it follows from the time for a decision, from how many a
    /// hand has, and from a pause of 5 s between hands.
    #[arg(long, value_name = "HANDS", value_parser = positive, conflicts_with = "seconds_per_decision")]
    pub hands_per_hour: Option<f64>,
    /// How many streams watch a table: one for each player whose client is served so, spectators, your own.
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub watchers_per_table: u32,
    /// The part of CPU, memory and network that is to stay free: for peaks, and for the work of whoever is away.
    #[arg(long, default_value_t = 0.5, value_name = "PART", value_parser = part)]
    pub headroom: f64,
    /// In how many hours of a day a table is played: so many settlements are kept.
    #[arg(long, default_value_t = 24.0, value_name = "HOURS", value_parser = positive)]
    pub hours_per_day: f64,
    /// For how many days settlements are kept: the setting limits.settlement_days.
    #[arg(long, default_value_t = 14, value_name = "DAYS")]
    pub settlement_days: u32,
    /// How many commits of each table are kept: ?history= in the URL of Redis.
    #[arg(long, default_value_t = HISTORY, value_name = "COMMITS")]
    pub history: usize,
    /// How many shards the installation has: ?shards= in the URL of Redis.
    #[arg(long, default_value_t = SHARDS, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub shards: u16,
    /// The bound of watched tables of a server: the setting limits.watchers.
    #[arg(long, default_value_t = 20_000, value_name = "STREAMS", value_parser = clap::value_parser!(u32).range(1..))]
    pub watchers_of_a_server: u32,
    /// How many tables a server keeps in memory: the setting limits.recent_tables.
    #[arg(long, default_value_t = 10_000, value_name = "TABLES")]
    pub recent_tables: u32,

    /// The cores of a server.
    #[arg(long, default_value_t = 2.0, value_name = "N", value_parser = positive, help_heading = "Machines")]
    pub cores: f64,
    /// The memory of a server, in GiB.
    #[arg(long, default_value_t = 4.0, value_name = "GIB", value_parser = positive, help_heading = "Machines")]
    pub memory: f64,
    /// The memory of a machine for Redis, in GiB. Of its cores Redis uses one for commands.
    #[arg(long, default_value_t = 16.0, value_name = "GIB", value_parser = positive, help_heading = "Machines")]
    pub redis_memory: f64,
    /// The network of either, in megabits a second.
    #[arg(long, default_value_t = 1000.0, value_name = "MBIT", value_parser = positive, help_heading = "Machines")]
    pub network: f64,

    /// A Redis of your own, one server; without it one is started, which needs redis-server to be installed. An empty
    /// Redis becomes an installation with these keys.
    #[arg(
        long,
        env = "FULCRUM_REDIS",
        value_name = "URL",
        hide_env_values = true,
        help_heading = "Measuring"
    )]
    pub redis: Option<String>,
    /// The keys for the cards of that installation, as servers have them (or FULCRUM_CARD_KEY).
    #[arg(long, env = "FULCRUM_KEY_FILE", value_name = "FILE", help_heading = "Measuring")]
    pub key_file: Option<PathBuf>,
    /// Measures nothing, and reckons with what an earlier run has written with --json.
    #[arg(long, value_name = "FILE", help_heading = "Measuring")]
    pub measured: Option<PathBuf>,
    /// How many bots sit at each table.
    #[arg(long, default_value_t = 6, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10), help_heading = "Measuring")]
    pub seats: u32,
    /// How many tables bots play at.
    #[arg(long, default_value_t = 40, value_name = "N", value_parser = at_least_one, help_heading = "Measuring")]
    pub played: usize,
    /// How many tables are opened to be weighed, at which nobody plays.
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = at_least_one, help_heading = "Measuring")]
    pub idle: usize,
    /// How many watchers are weighed, to whom nothing is told.
    #[arg(long, default_value_t = 2_000, value_name = "N", value_parser = at_least_one, help_heading = "Measuring")]
    pub watchers: usize,
    /// How long each of the eight parts is measured.
    #[arg(long, default_value = "8s", value_name = "TIME", value_parser = humantime::parse_duration, help_heading = "Measuring")]
    pub time: Duration,

    /// For how many tables it is simulated.
    #[arg(
        long,
        default_value = "1000,10000,100000,1000000",
        value_name = "TABLES",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=4_000_000),
        help_heading = "Simulation"
    )]
    pub simulate: Vec<u32>,
    /// Simulates nothing.
    #[arg(long, conflicts_with = "simulate", help_heading = "Simulation")]
    pub no_simulation: bool,
    /// Drives bots and simulation: the same number, the same course of the simulation.
    #[arg(long, default_value_t = 1, value_name = "NUMBER", help_heading = "Simulation")]
    pub seed: u64,
    /// Writes everything to this file as one JSON object.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  fulcrum capacity
      Measures with a redis-server of its own, for about two minutes, and says what 10,000 tables need.
  fulcrum capacity --redis redis://10.0.0.9:6379 --key-file fulcrum.keys --json capacity.json
      The same with a Redis on another machine, over your network, and keeps what was measured.
  fulcrum capacity --measured capacity.json --tables 50000 --watchers-per-table 12 --cores 8 --memory 16
      Asks again with other numbers: nothing is measured.
  fulcrum capacity --measured capacity.json --hands-per-hour 70 --settlement-days 3 --no-simulation
      Shorter memory: what do settlements cost?

How it measures: servers of its own on loopback, with an operator of its own, capacity-<something>, whose tables are
closed and whose keys are removed at the end, also after Ctrl-C. Servers' CPU and memory are what Linux counts, those
of Redis are its own (INFO). Bots play in this process: on a machine with few cores they take from what servers get, which
makes play slower and a decision hardly dearer. What others do at that Redis meanwhile is counted too.

How it reckons: every cost is that of the middle rate, and grows in step with what causes it. Servers: CPU of decisions,
of messages to watchers, of commits that are told to every server with watchers of the table; memory; network; the bound of
watchers, with one server away. Redis: the one core that does commands, memory (mostly settlements, kept for days), and
network of the machine with the most shards. deploy/capacity.md has the formulas.

Exit codes: 0 measured and reckoned, 1 it could not be measured, 2 bad usage.";

impl CapacityArgs {
    /// What is to be served, on what, where a hand has so many decisions.
    #[must_use]
    pub fn wanted(&self, actions_of_a_hand: f64) -> Wanted {
        let hand = actions_of_a_hand * self.seconds_per_decision + PAUSE_S;
        let machine =
            |cores, memory: f64| Machine { cores, memory: memory * GIB, network: self.network * MEGABIT };
        Wanted {
            tables: f64::from(self.tables),
            hands_per_hour: self.hands_per_hour.unwrap_or(SECONDS_OF_AN_HOUR / hand),
            watchers_per_table: f64::from(self.watchers_per_table),
            headroom: self.headroom,
            hours_per_day: self.hours_per_day.min(24.0),
            settlement_days: f64::from(self.settlement_days),
            history: self.history as f64,
            shards: self.shards,
            server: machine(self.cores, self.memory),
            redis: machine(1.0, self.redis_memory),
            watchers_of_a_server: f64::from(self.watchers_of_a_server),
            recent_tables: f64::from(self.recent_tables),
        }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err(format!("{text:?} is no number above 0")),
    }
}

fn part(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=0.95).contains(&number) => Ok(number),
        _ => Err(format!("{text:?} is no part between 0 and 0.95")),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("{text:?} is no number")),
    }
}
