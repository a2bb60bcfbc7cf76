//! Where traces go: a collector that speaks OTLP over gRPC. Nothing here ever makes a table wait.

pub mod counts;
pub mod pipeline;
pub mod sampling;

use std::time::Duration;

use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;

use crate::config::Traces;

/// The longest that a batch of spans may take to a collector.
const PATIENCE: Duration = Duration::from_secs(5);

/// How traces are told.
#[derive(Clone, Debug)]
pub struct TraceSettings {
    /// Where the collector is: `http://host:4317`.
    pub endpoint: String,
    /// The share of hands, and of calls that nobody else decides about, that is told: 0 to 1.
    pub ratio: f64,
    /// Whether a caller's own decision about his trace holds for his calls.
    pub from_callers: bool,
    /// How players are named.
    pub players: PlayerNames,
}

/// Which calls are told, and where.
#[derive(Clone, Debug)]
pub struct CallTraces {
    /// Where the collector is: `http://host:4317`.
    pub endpoint: String,
    /// The share of calls that nobody else decides about which is told: 0 to 1.
    pub ratio: f64,
    /// Whether a caller's own decision about his trace holds for his calls.
    pub from_callers: bool,
}

impl CallTraces {
    /// As the settings say; none without a collector.
    #[must_use]
    pub fn of(settings: &Traces) -> Option<CallTraces> {
        let Traces { endpoint, ratio, from_callers, .. } = settings;
        let (ratio, from_callers) = (*ratio, *from_callers);
        (!endpoint.is_empty()).then(|| CallTraces { endpoint: endpoint.clone(), ratio, from_callers })
    }
}

/// How players are named in traces.
#[derive(Clone, PartialEq, Eq)]
pub enum PlayerNames {
    /// By a hash of their ids with this key: the same player has the same name, and nobody without the key knows whose it is.
    Hashed([u8; 32]),
    /// By their ids.
    Clear,
}

/// Without the key.
impl std::fmt::Debug for PlayerNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PlayerNames::Hashed(_) => "Hashed",
            PlayerNames::Clear => "Clear",
        })
    }
}

/// Takes spans to the collector. It has to be made inside a tokio runtime.
///
/// # Errors
/// If the endpoint is no address.
pub fn exporter(settings: &TraceSettings) -> Result<SpanExporter, ExporterBuildError> {
    exporter_to(&settings.endpoint)
}

/// The same, to the collector at this address.
///
/// # Errors
/// If the endpoint is no address.
pub fn exporter_to(endpoint: &str) -> Result<SpanExporter, ExporterBuildError> {
    SpanExporter::builder().with_tonic().with_endpoint(endpoint).with_timeout(PATIENCE).build()
}

/// Who tells the spans.
#[must_use]
pub fn resource() -> Resource {
    Resource::builder_empty()
        .with_service_name("fulcrum")
        .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build()
}
