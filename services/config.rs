//! The settings of the server: defaults, a file, variables and flags, each stronger than the one before.

mod access;
mod transport;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use config::{Config, File, FileFormat, Value};
use serde::Deserialize;
use thiserror::Error;

use self::access::IdentityTexts;
pub use self::access::Jwt;
pub use self::transport::{Connections, Tls, TlsPaths};
use crate::telemetry::LogFormat;

/// The defaults, as a file with comments that explains every setting.
pub const DEFAULTS: &str = include_str!("config/default.toml");

/// The store that is no file.
const MEMORY: &str = "memory";

/// The settings.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    metrics: String,
    health: String,
    store: String,
    redis: String,
    token_file: String,
    admin_token_file: String,
    /// Whether callers need not say who they are at an address that other machines can reach.
    pub insecure: bool,
    /// Whether reflection is answered also where callers have to say who they are.
    pub reflection: bool,
    operators: Vec<String>,
    key_file: String,
    /// How long the end of the server may take in all, in seconds.
    pub drain_seconds: u64,
    /// How much of that it still takes new connections, in seconds.
    pub linger_seconds: u64,
    /// Connections of callers.
    pub connections: Connections,
    /// How they are kept from others' eyes.
    pub tls: Tls,
    /// Bounds.
    pub limits: Limits,
    /// Which tokens of an issuer are taken.
    pub jwt: Jwt,
    identities: IdentityTexts,
    /// Operators' wallets, by the operators' names.
    pub wallets: BTreeMap<String, WalletSettings>,
    /// What all wallets have in common.
    pub wallet: WalletLimits,
    /// Where traces go.
    pub traces: Traces,
    /// The log.
    pub log: Log,
}

/// What the server holds at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Commits of a table that are kept.
    pub history: u64,
    /// Days for which request ids are remembered.
    pub request_days: u64,
    /// Days for which settlement records are kept.
    pub settlement_days: u64,
    /// The largest message that is read, in bytes.
    pub message_bytes: usize,
    /// Calls at work at once.
    pub calls: usize,
    /// How much of that one operator may take, in percent.
    pub operator_share: usize,
    /// Calls of one operator a second; 0: no limit.
    pub operator_calls_per_second: u32,
    /// Calls that name one player, a second; 0: no limit.
    pub player_calls_per_second: u32,
    /// How many seconds' worth of calls may come at once.
    pub burst_seconds: u32,
    /// How late tasks may run before cheap calls are turned away, in milliseconds; 0: however late.
    pub shed_late_ms: u64,
    /// The longest that a call may take, in seconds.
    pub call_seconds: u64,
    /// Open streams of one operator.
    pub operator_watchers: usize,
    /// Open streams of one player, with tokens of his own.
    pub player_watchers: usize,
    /// Open streams.
    pub watchers: usize,
    /// Open streams of one table.
    pub watchers_of_a_table: usize,
    /// Commits that a watcher may be behind.
    pub watcher_behind: usize,
    /// Tables that are kept in memory.
    pub recent_tables: usize,
}

/// An operator's wallet.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WalletSettings {
    /// Where it is: `http://host:port` or `https://host:port`.
    pub address: String,
    /// The file with the token that is sent along; empty: none is.
    #[serde(default)]
    pub token_file: String,
    /// The file with the certificates of the authority that has signed the wallet's; empty: those that the world trusts.
    #[serde(default)]
    pub ca_file: String,
}

/// How wallets are asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WalletLimits {
    /// The longest that a call to a wallet may take, in milliseconds.
    pub deadline_ms: u64,
    /// Calls to one operator's wallet at work at once.
    pub calls: usize,
    /// Callers of one operator that wait for his wallet at once.
    pub waiting: usize,
    /// How long a wallet is asked for one payment, in seconds.
    pub park_after_seconds: u64,
}

/// A payment's calls have to be over when its term is: [`rules::payment::FIRST_TERM`].
const LONGEST_WALLET_CALL: u64 = 5_000;

/// Which traces are told, and where.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traces {
    /// The collector, `http://host:port`; empty: none.
    pub endpoint: String,
    /// The share that is told, 0 to 1.
    pub ratio: f64,
    /// Whether callers decide about their calls.
    pub from_callers: bool,
    /// How players are named.
    pub player_ids: PlayerIds,
    player_key_file: String,
}

/// How players are named in traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlayerIds {
    /// By a keyed hash.
    Hashed,
    /// By their ids.
    Clear,
}

/// How the log is written.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// For people or for machines.
    pub format: LogFormat,
    /// How much.
    pub filter: String,
}

/// Where the tables live.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// In memory.
    Memory,
    /// In this file.
    File(PathBuf),
    /// In Redis, shared with other servers, at this URL.
    Redis(String),
}

/// Why there are no settings. The texts say what to do.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A file, variable or flag holds something that is no such setting.
    #[error(
        "the settings cannot be used: {0}\n\n`fulcrum serve --print-config` shows all settings with their defaults."
    )]
    Unusable(String),
    /// Anybody could play at the tables.
    #[error(
        "{0} can be reached by other machines, and without a token file whoever reaches it may do everything.\n\nGive \
         each operator a token in a file, one a line (`acme a-long-random-token`), and name it with --token-file, or set \
         up [jwt] or [identities]; or listen on 127.0.0.1. For a test among friends there is --insecure."
    )]
    Unguarded(SocketAddr),
    /// A number that has to be at least one is none.
    #[error("the setting {0} has to be at least 1")]
    Zero(&'static str),
}

/// A setting that a variable or flag has set: its name in the file, with dots, and its value.
pub type Override = (&'static str, Value);

impl Settings {
    /// The settings: the defaults, then the file, then the overrides.
    ///
    /// # Errors
    /// [`ConfigError`]
    pub fn load(file: Option<&Path>, overrides: Vec<Override>) -> Result<Settings, ConfigError> {
        let mut layers = Config::builder().add_source(File::from_str(DEFAULTS, FileFormat::Toml));
        if let Some(path) = file {
            layers = layers.add_source(File::from(path).format(FileFormat::Toml));
        }
        for (name, value) in overrides {
            layers = layers.set_override(name, value).map_err(unusable)?;
        }
        let settings: Settings = layers.build().and_then(Config::try_deserialize).map_err(unusable)?;
        settings.check()?;
        Ok(settings)
    }

    /// Where the tables live.
    #[must_use]
    pub fn place(&self) -> Place {
        match (self.redis.as_str(), self.store.as_str()) {
            ("", MEMORY) => Place::Memory,
            ("", file) => Place::File(PathBuf::from(file)),
            (url, _) => Place::Redis(url.to_owned()),
        }
    }

    /// The file with the key by which players are named in traces, if there is one.
    #[must_use]
    pub fn player_key_file(&self) -> Option<&Path> {
        given(&self.traces.player_key_file)
    }

    /// The key file, if one is named.
    #[must_use]
    pub fn key_file(&self) -> Option<&Path> {
        given(&self.key_file)
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.check_access()?;
        if self.store.is_empty() {
            return Err(ConfigError::Unusable(
                "the store has no name: give a file, or \"memory\"".to_owned(),
            ));
        }
        if self.wallet.deadline_ms > LONGEST_WALLET_CALL {
            let most = format!("wallet.deadline_ms is {LONGEST_WALLET_CALL} at the most");
            return Err(ConfigError::Unusable(most));
        }
        self.metrics()?;
        self.health()?;
        self.connections.check()?;
        self.tls.paths()?;
        if self.linger_seconds > self.drain_seconds / 2 {
            let most = "linger_seconds is half of drain_seconds at the most: calls have to end after it";
            return Err(ConfigError::Unusable(most.to_owned()));
        }
        if !(0.0..=1.0).contains(&self.traces.ratio) {
            let ratio = self.traces.ratio;
            return Err(ConfigError::Unusable(format!("traces.ratio is a share from 0 to 1, not {ratio}")));
        }
        let limits = &self.limits;
        if limits.operator_share > 100 {
            let share = limits.operator_share;
            return Err(ConfigError::Unusable(format!(
                "limits.operator_share is 1 to 100 percent, not {share}"
            )));
        }
        let numbers = [
            ("wallet.deadline_ms", self.wallet.deadline_ms == 0),
            ("wallet.calls", self.wallet.calls == 0),
            ("wallet.waiting", self.wallet.waiting == 0),
            ("wallet.park_after_seconds", self.wallet.park_after_seconds == 0),
            ("limits.history", limits.history == 0),
            ("limits.request_days", limits.request_days == 0),
            ("limits.settlement_days", limits.settlement_days == 0),
            ("limits.message_bytes", limits.message_bytes == 0),
            ("limits.calls", limits.calls == 0),
            ("limits.operator_share", limits.operator_share == 0),
            ("limits.burst_seconds", limits.burst_seconds == 0),
            ("limits.operator_watchers", limits.operator_watchers == 0),
            ("limits.player_watchers", limits.player_watchers == 0),
            ("limits.call_seconds", limits.call_seconds == 0),
            ("limits.watchers", limits.watchers == 0),
            ("limits.watchers_of_a_table", limits.watchers_of_a_table == 0),
            ("limits.watcher_behind", limits.watcher_behind == 0),
            ("limits.recent_tables", limits.recent_tables == 0),
        ];
        match numbers.iter().find(|(_, none)| *none) {
            Some((name, _)) => Err(ConfigError::Zero(name)),
            None => Ok(()),
        }
    }
}

fn given(path: &str) -> Option<&Path> {
    (!path.is_empty()).then(|| Path::new(path))
}

fn unusable(error: config::ConfigError) -> ConfigError {
    ConfigError::Unusable(error.to_string())
}

#[cfg(test)]
mod tests;
