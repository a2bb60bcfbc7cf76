//! What the process says about itself: its log, its metrics and its traces. No card is ever written to any of them.

pub mod binary;
pub mod codes;
pub mod conventions;
pub mod hands;
pub mod listener;
pub mod log;
pub mod metrics;
pub mod names;
pub mod scrape;
pub mod spans;
pub mod store;
pub mod traces;
pub mod unread;

use std::io;
use std::sync::Arc;

use opentelemetry_otlp::ExporterBuildError;
use thiserror::Error;
use tracing::Subscriber;
use tracing_subscriber::filter::{LevelFilter, ParseError, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, registry};

pub use self::log::LogFormat;
use self::traces::CallTraces;
use self::traces::pipeline::Pipeline;

/// Why a process cannot say anything about itself.
#[derive(Debug, Error)]
pub enum StartError {
    /// The filter is not one of the form `info` or `warn,fulcrum=debug`.
    #[error("{0}")]
    Filter(#[from] ParseError),
    /// The collector's address is none.
    #[error("{0}")]
    Collector(#[from] ExporterBuildError),
}

/// Sends the log to the standard error, and the spans of calls to the collector if there is one. Only the first call has an
/// effect: a process has one log.
///
/// # Errors
/// [`StartError`]
pub fn start(
    format: LogFormat,
    filter: &str,
    traces: Option<&CallTraces>,
) -> Result<Option<Arc<Pipeline>>, StartError> {
    let (lines, levels) = log::lines(format, filter, io::stderr)?;
    let subscriber = registry().with(lines);
    let pipeline = traces.map(Pipeline::start).transpose()?;
    // An error says that there is a log already.
    let started = match &pipeline {
        Some(pipeline) => subscriber.with(told(pipeline)).try_init(),
        None => subscriber.try_init(),
    };
    if started.is_ok() {
        log::set_levels(levels);
    }
    Ok(pipeline)
}

/// Takes the spans of calls, and nothing else, to the pipeline. Log lines stay out of them: some tell of players.
pub fn told<S>(pipeline: &Pipeline) -> impl Layer<S>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    tracing_opentelemetry::layer()
        .with_tracer(pipeline.tracer())
        // Nobody here looks for the current span where OpenTelemetry keeps it.
        .with_context_activation(false)
        .with_tracked_inactivity(false)
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_level(false)
        .with_filter(
            filter_fn(|meta| meta.is_span() && meta.target() == spans::TARGET)
                // Else what libraries trace, frame by frame, would be looked at.
                .with_max_level_hint(LevelFilter::ERROR),
        )
}
