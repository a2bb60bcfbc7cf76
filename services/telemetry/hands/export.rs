//! Spans of hands on their way to the collector.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{
    Event as SpanEvent, Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter as OtlpExporter};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanExporter, SpanLinks};
use rules::Millis;
use tables::Origin;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::ids::HandTrace;
use super::span::{Attributes, Mark, Span, Value};
use crate::telemetry::traces::counts::{SpanDrop, TraceCounts};
use crate::telemetry::traces::{self, TraceSettings};

/// Takes spans to the collector, one batch at a time.
pub struct Export {
    exporter: Mutex<OtlpExporter>,
    counts: Arc<dyn TraceCounts>,
    /// Whether the collector did not take the last batch.
    away: AtomicBool,
}

impl Export {
    /// To the collector of these settings. Has to be made inside a tokio runtime.
    ///
    /// # Errors
    /// If its endpoint is no address.
    pub fn new(settings: &TraceSettings, counts: Arc<dyn TraceCounts>) -> Result<Export, ExporterBuildError> {
        let mut exporter = traces::exporter(settings)?;
        exporter.set_resource(&traces::resource());
        Ok(Export { exporter: Mutex::new(exporter), counts, away: AtomicBool::new(false) })
    }

    /// Whether the collector has them now. If not it may have them all the same, unless it was too late to send them.
    pub async fn send(&self, spans: Vec<SpanData>, until: Option<Instant>) -> bool {
        let count = spans.len() as u64;
        let exporter = self.exporter.lock().await;
        if until.is_some_and(|until| Instant::now() > until) {
            return false;
        }
        let sent = exporter.export(spans).await;
        drop(exporter);
        let away = self.away.swap(sent.is_err(), Ordering::Relaxed);
        match &sent {
            Ok(()) => self.counts.spans_exported(count),
            Err(_) => self.counts.spans_dropped(SpanDrop::ExportFailed, count),
        }
        match &sent {
            Ok(()) if away => {
                tracing::info!(event = "collector_back", "the collector takes the traces of hands again")
            }
            Err(error) if !away => {
                tracing::warn!(event = "collector_away", %error, "the collector does not take the traces of hands; they are told later");
            }
            _ => {}
        }
        sent.is_ok()
    }
}

/// The spans of a hand, or of a part of one below `parent`, as exporters take them.
#[must_use]
pub fn spans(trace: &HandTrace, parent: Option<&str>, span: &Span) -> Vec<SpanData> {
    let mut all = Vec::with_capacity(span.count());
    let scope =
        InstrumentationScope::builder("fulcrum.hands").with_version(env!("CARGO_PKG_VERSION")).build();
    put(trace, parent, span, &scope, &mut all);
    all
}

fn put(
    trace: &HandTrace,
    parent: Option<&str>,
    span: &Span,
    scope: &InstrumentationScope,
    all: &mut Vec<SpanData>,
) {
    let mut events = SpanEvents::default();
    events.events = span.marks.iter().map(event).collect();
    let mut links = SpanLinks::default();
    links.links = span.link.iter().map(|origin| Link::with_context(context(*origin))).collect();
    all.push(SpanData {
        span_context: SpanContext::new(
            trace.trace_id(),
            trace.span_id(&span.key),
            TraceFlags::SAMPLED,
            false,
            TraceState::default(),
        ),
        parent_span_id: parent.map_or(SpanId::INVALID, |key| trace.span_id(key)),
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: span.name.into(),
        start_time: time(span.start),
        end_time: time(span.end),
        attributes: attributes(&span.attributes),
        dropped_attributes_count: 0,
        events,
        links,
        status: span.fault.map_or(Status::Unset, Status::error),
        instrumentation_scope: scope.clone(),
    });
    for child in &span.children {
        put(trace, Some(&span.key), child, scope, all);
    }
}

fn context(origin: Origin) -> SpanContext {
    let (trace, span) = (TraceId::from_bytes(origin.trace), SpanId::from_bytes(origin.span));
    SpanContext::new(trace, span, TraceFlags::SAMPLED, true, TraceState::default())
}

fn event(mark: &Mark) -> SpanEvent {
    SpanEvent::new(mark.name, time(mark.at), attributes(&mark.attributes), 0)
}

fn attributes(all: &Attributes) -> Vec<KeyValue> {
    all.iter().map(|(name, value)| KeyValue::new(*name, self::value(value))).collect()
}

fn value(value: &Value) -> opentelemetry::Value {
    match value {
        Value::Text(text) => text.clone().into(),
        Value::Number(number) => i64::try_from(*number).unwrap_or(i64::MAX).into(),
        Value::Flag(flag) => (*flag).into(),
    }
}

fn time(at: Millis) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(at.0)
}
