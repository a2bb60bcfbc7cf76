//! `fulcrum store`: looking into a store from outside, for those who run an installation and those who answer for it.
//!
//! What is absent, on purpose: no command shows a card, and there is no flag for it. A tool that shows all cards to
//! whoever may run it is how poker rooms were robbed.

mod check;
mod migrate;
mod payments;
mod report;
mod show;
pub(super) mod words;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use tables::StoreError;

use super::failure::Failure;
use super::node::{cannot_open, given_keys};
use crate::store::embedded::FileInspector;
use crate::store::inspect::Inspect;
use crate::store::redis::RedisInspector;
use crate::store::{Keyring, RedisConfig};

/// Looks into a store: shows a table, checks everything, raises the format of records.
///
/// A store in Redis may be looked at while its servers run; the file of a single server only while that is stopped.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct StoreArgs {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  fulcrum store show --redis redis://127.0.0.1:6379 casino-1/0f6c2c1e-3f7c-5a53-9c57-0d7d0a6f7b11
      A table of a running installation.
  fulcrum store check --store fulcrum.redb
      Whether everything fits in the file of a server that is stopped.
  fulcrum store migrate --redis redis://127.0.0.1:6379
      The last step of a roll-out, once all servers run the new version.";

#[derive(Subcommand, Debug)]
enum Command {
    /// Shows what is stored of a table, without a single card.
    Show(show::ShowArgs),
    /// Checks everything that is stored, and says what does not fit.
    Check(check::CheckArgs),
    /// Raises the format of records, once all servers run the new version.
    Migrate(migrate::MigrateArgs),
}

/// Where the store is.
#[derive(Args, Debug)]
pub(super) struct Where {
    /// The installation in Redis: redis://…, redis-sentinel://…/name, redis-cluster://…, and rediss… for TLS.
    #[arg(long, env = "FULCRUM_REDIS", value_name = "URL", hide_env_values = true, conflicts_with = "store")]
    redis: Option<String>,
    /// The file of a server that is stopped.
    #[arg(long, env = "FULCRUM_STORE", value_name = "FILE")]
    store: Option<PathBuf>,
}

/// An opened store and its name.
pub(super) struct Opened {
    pub(super) store: Box<dyn Inspect>,
    pub(super) name: String,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`]
pub async fn run(args: StoreArgs) -> Result<(), Failure> {
    match args.command {
        Command::Show(args) => show::run(args).await,
        Command::Check(args) => check::run(args).await,
        Command::Migrate(args) => migrate::run(args).await,
    }
}

impl Where {
    /// Opens it. `verify`: of a file, every page is looked at.
    pub(super) async fn open(&self, verify: bool) -> Result<Opened, Failure> {
        match (&self.redis, &self.store) {
            (Some(url), _) => {
                let config = RedisConfig::parse(url).map_err(|error| Failure::Usage(error.to_string()))?;
                let name = format!("Redis, {}", config.topology);
                let opened = RedisInspector::open(config).await;
                let store = opened.map_err(|error| Failure::Failed(error.to_string()))?;
                Ok(Opened { store: Box::new(store), name })
            }
            (None, Some(path)) => {
                let (path, name) = (path.clone(), path.display().to_string());
                let opened = tokio::task::spawn_blocking(move || FileInspector::open(&path, verify)).await;
                let opened = opened
                    .map_err(|error| Failure::Failed(format!("opening the store broke down: {error}")))?;
                let store = opened.map_err(|error| cannot_open(&error))?;
                Ok(Opened { store: Box::new(store), name })
            }
            (None, None) => Err(Failure::Usage(
                "which store? Say it with --redis URL or --store FILE, as the server has it.".to_owned(),
            )),
        }
    }

    /// The keys of the store's cards, as the server finds them, but none is ever made.
    fn keys(&self, file: Option<&Path>) -> Result<Keyring, Failure> {
        match (given_keys(file)?, &self.store) {
            (Some(keys), _) => Ok(keys),
            (None, Some(store)) if store.is_file() => {
                Keyring::beside(store).map_err(|error| Failure::Usage(error.to_string()))
            }
            _ => Err(Failure::Usage(
                "the check folds the hands that were played, which needs the key of their cards, the one that the servers \
                 have: name it with --key-file or FULCRUM_CARD_KEY. `fulcrum store show` needs no key."
                    .to_owned(),
            )),
        }
    }
}

/// What a store that cannot be read means for the command.
pub(super) fn cannot_read(what: &str, error: &StoreError) -> Failure {
    match error {
        StoreError::KeyUnavailable(_) => Failure::Usage(error.to_string()),
        _ => Failure::Failed(format!("{what}: {error}")),
    }
}
