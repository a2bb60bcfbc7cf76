//! The log: lines on the standard error, for people or for machines, at a level that can be changed while the process runs.
//!
//! What somebody should be called for has a name in the field `event`; `deploy/logs.md` lists them.

pub mod admin;
mod fields;
mod json;
mod text;

use std::io::{self, IsTerminal};
use std::sync::OnceLock;

use clap::ValueEnum;
use serde::Deserialize;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::reload::{self, Handle};
use tracing_subscriber::{EnvFilter, Layer, Registry};

use fields::{JsonFields, TextFields};
use json::Json;
use text::Text;

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

/// What is written, of the log of this process.
static LEVELS: OnceLock<Levels> = OnceLock::new();

/// Says what is written, and changes it.
pub struct Levels(Handle<EnvFilter, Registry>);

impl Levels {
    /// The filter, as `--log` takes it.
    #[must_use]
    pub fn now(&self) -> Option<String> {
        self.0.with_current(ToString::to_string).ok()
    }

    /// From now on what this filter says is written.
    ///
    /// # Errors
    /// A text that says what is wrong with the filter.
    pub fn change(&self, filter: &str) -> Result<(), String> {
        let filter = read(filter).map_err(|error| error.to_string())?;
        self.0.reload(filter).map_err(|error| error.to_string())
    }
}

/// The levels of this process's log; none if it has no log of ours.
#[must_use]
pub fn levels() -> Option<&'static Levels> {
    LEVELS.get()
}

/// Makes them the levels of this process's log.
pub(super) fn set_levels(levels: Levels) {
    // Only the first log is in force, and only its levels.
    let _ = LEVELS.set(levels);
}

fn read(filter: &str) -> Result<EnvFilter, ParseError> {
    EnvFilter::try_new(filter)
}

/// Lines to the standard error.
pub(super) type Lines = Box<dyn Layer<Registry> + Send + Sync>;

/// Lines in this form, of what the filter lets through.
///
/// # Errors
/// If the filter is not one of the form `info` or `warn,fulcrum=debug`.
pub fn lines<W>(format: LogFormat, filter: &str, to: W) -> Result<(Lines, Levels), ParseError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let (filter, handle) = reload::Layer::new(read(filter)?);
    let layer = tracing_subscriber::fmt::layer().with_writer(to);
    let lines: Lines = match format {
        LogFormat::Text => {
            let colours = colours();
            let layer = layer.with_ansi(colours).fmt_fields(TextFields).event_format(Text { colours });
            layer.with_filter(filter).boxed()
        }
        LogFormat::Json => {
            layer.with_ansi(false).fmt_fields(JsonFields).event_format(Json).with_filter(filter).boxed()
        }
    };
    Ok((lines, Levels(handle)))
}

fn colours() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// When a line is written, in UTC.
fn now(writer: &mut tracing_subscriber::fmt::format::Writer<'_>) -> std::fmt::Result {
    use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
    SystemTime.format_time(writer)
}
