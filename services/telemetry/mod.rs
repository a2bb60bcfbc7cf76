//! What the process says about itself: its log, its metrics and its traces. No card is ever written to any of them.

pub mod conventions;
pub mod hands;
pub mod listener;
pub mod metrics;
pub mod names;
pub mod scrape;
pub mod store;
pub mod traces;
pub mod unread;

use std::io::{self, IsTerminal};

use clap::ValueEnum;
use serde::Deserialize;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry;
use tracing_subscriber::util::SubscriberInitExt;

/// How log lines look.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Sends the log to the standard error. Only the first call has an effect: a process has one log.
///
/// # Errors
/// If the filter is not one of the form `info` or `warn,fulcrum=debug`.
pub fn start(format: LogFormat, filter: &str) -> Result<(), ParseError> {
    let filter = EnvFilter::try_new(filter)?;
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    // An error says that there is a log already.
    let _ = match format {
        LogFormat::Text => registry().with(filter).with(lines.with_ansi(colours())).try_init(),
        LogFormat::Json => registry().with(filter).with(lines.json().flatten_event(true)).try_init(),
    };
    Ok(())
}

fn colours() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
