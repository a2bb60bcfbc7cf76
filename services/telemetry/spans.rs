//! Spans of calls, and what happens in them, for whoever takes part: who is traced, what is to be said of it, what is
//! done below it.
//!
//! A call's span is a span of `tracing`, so that its log lines know of it. What is below it becomes a span only if the call
//! is told at all: nothing begins a trace by itself, and a call that is not told pays for a look.

use std::future::Future;

use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::{SpanContext, SpanId, Status, TraceContextExt, TraceFlags, TraceId, TraceState};
use opentelemetry::{Context, Value};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tables::{OperatorId, Origin, TableId};
use tracing::{Dispatch, Instrument, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Registry;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use super::conventions as names;
use super::hands::ids::HandTrace;
use super::traces::sampling::{Chosen, Known, Prospect};

/// The target of all spans that may be told.
pub const TARGET: &str = "fulcrum::trace";

/// The headers of W3C Trace Context.
const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";
/// What all systems on a trace's way may keep in its state, in bytes: nobody has to carry more.
const LONGEST_STATE: usize = 512;
/// A parent of a version that is not known yet may be longer than ours, which has 55 bytes.
const LONGEST_PARENT: usize = 128;

/// The trace that a task works for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traced {
    /// The trace.
    pub trace: [u8; 16],
    /// The span; the caller's own where none of ours is made.
    pub span: [u8; 8],
    /// Whether it is told.
    pub sampled: bool,
}

impl Traced {
    fn of(context: &SpanContext) -> Traced {
        let (trace, span) = (context.trace_id().to_bytes(), context.span_id().to_bytes());
        Traced { trace, span, sampled: context.is_sampled() }
    }
}

/// Which table and hand a call's span tells of already.
#[derive(PartialEq, Eq)]
struct About {
    table: TableId,
    hand: Option<u64>,
}

/// What a span is to whoever reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Something that this process does itself.
    Inner,
    /// A call of another one.
    Client,
}

/// The caller's place in his trace, if his headers name one. What is not well-formed, or comes twice, names none.
#[must_use]
pub fn parent(headers: &http::HeaderMap) -> Option<SpanContext> {
    let mut parents = headers.get_all(PARENT).iter();
    let parent = parents.next()?;
    if parents.next().is_some() || parent.len() > LONGEST_PARENT {
        return None;
    }
    let found = TraceContextPropagator::new().extract_with_context(&Context::new(), &Headers(headers));
    let context = found.span().span_context().clone();
    context.is_valid().then_some(context)
}

struct Headers<'a>(&'a http::HeaderMap);

/// The SDK takes members without a name, which nobody could read again.
fn has_keys(state: &str) -> bool {
    state.split(',').all(|member| !member.trim_start().starts_with('='))
}

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        let mut values = self.0.get_all(key).iter();
        let value = values.next()?.to_str().ok()?;
        // The state may be cut into several headers; whoever does that goes without.
        let mut unfit = || values.next().is_some() || value.len() > LONGEST_STATE || !has_keys(value);
        (key != STATE || !unfit()).then_some(value)
    }

    fn keys(&self) -> Vec<&str> {
        vec![PARENT, STATE]
    }
}

/// Decides what trace the current span belongs to, and whether it is told. `known`: the caller has shown who he is.
pub fn begin(parent: Option<SpanContext>, prospect: Prospect, known: bool) {
    let span = Span::current();
    if prospect == Prospect::None {
        if let Some(parent) = &parent {
            mark(&span, Traced { sampled: false, ..Traced::of(parent) });
        }
        return;
    }
    if prospect == Prospect::Chosen {
        // An error says that traces are not told.
        let _ = span.set_parent(Context::new().with_value(Chosen));
    }
    if let Some(parent) = &parent {
        let context = Context::new().with_remote_span_context(parent.clone());
        let context = if known { context.with_value(Known) } else { context };
        // An error says that traces are not told: then the log has the caller's.
        let _ = span.set_parent(context);
    }
    let own = span.context();
    let own = own.span().span_context().clone();
    let traced = match parent {
        _ if own.is_valid() => Traced::of(&own),
        Some(parent) => Traced { sampled: false, ..Traced::of(&parent) },
        None => return,
    };
    mark(&span, traced);
}

fn mark(span: &Span, traced: Traced) {
    in_registry(span, |span| span.extensions_mut().replace(traced));
}

fn in_registry<R>(span: &Span, work: impl FnOnce(SpanRef<'_, Registry>) -> R) -> Option<R> {
    let found = |(id, dispatch): (&tracing::Id, &Dispatch)| {
        let registry = dispatch.downcast_ref::<Registry>()?;
        registry.span(id).map(work)
    };
    span.with_subscriber(found).flatten()
}

/// The trace that the current task works for.
#[must_use]
pub fn current() -> Option<Traced> {
    in_registry(&Span::current(), |span| of_scope(&span)).flatten()
}

/// That of the nearest span which has one.
pub(super) fn of_scope<'a, R>(span: &SpanRef<'a, R>) -> Option<Traced>
where
    R: LookupSpan<'a>,
{
    span.scope().find_map(|span| span.extensions().get::<Traced>().copied())
}

/// The trace that the current task works for, if that is told: where a measured value may point to.
#[must_use]
pub fn told_trace() -> Option<[u8; 16]> {
    current().filter(|current| current.sampled).map(|current| current.trace)
}

/// The current span as commits remember it: one that is told.
#[must_use]
pub fn origin() -> Option<Origin> {
    let Traced { trace, span, sampled } = current()?;
    sampled.then_some(Origin { trace, span })
}

/// Says which table the current call is about, and which hand, and points to the hand's trace.
pub fn about(operator: &OperatorId, table: TableId, hand: Option<u64>) {
    let span = Span::current();
    let news = in_registry(&span, |span| {
        if !of_scope(&span)?.sampled {
            return None;
        }
        let about = About { table, hand };
        let before = span.extensions_mut().replace(About { table, hand });
        (before.as_ref() != Some(&about)).then_some(before.and_then(|before| before.hand))
    });
    let Some(before) = news.flatten() else {
        return;
    };
    span.set_attribute(names::TABLE, table.to_string());
    let Some(number) = hand else {
        return;
    };
    span.set_attribute(names::HAND, i64::try_from(number).unwrap_or(i64::MAX));
    if before != hand {
        let hand = HandTrace::of(operator, &table, number);
        let (trace, root) = (TraceId::from_bytes(hand.trace), SpanId::from_bytes(hand.root()));
        span.add_link(SpanContext::new(trace, root, TraceFlags::SAMPLED, false, TraceState::default()));
    }
}

/// Notes that something happened in the current span.
pub fn note(what: &'static str) {
    if is_told() {
        Span::current().add_event(what, Vec::new());
    }
}

/// Whether the current span is told, and so what is done below it.
#[must_use]
pub fn is_told() -> bool {
    current().is_some_and(|current| current.sampled)
}

/// What is done below the current span; nothing if that is not told.
#[must_use]
pub fn child(kind: Kind, name: &str) -> Child {
    if !is_told() {
        return Child::default();
    }
    let kind = match kind {
        Kind::Inner => "internal",
        Kind::Client => "client",
    };
    let span = tracing::error_span!(target: TARGET, "child", { names::SPAN_NAME } = name, { names::SPAN_KIND } = kind);
    let context = span.context();
    mark(&span, Traced::of(context.span().span_context()));
    Child(span)
}

/// Something that is done below a call; by default something that is not told.
#[derive(Clone)]
pub struct Child(Span);

impl Default for Child {
    fn default() -> Child {
        Child(Span::none())
    }
}

impl Child {
    /// Whether it is told: what is said of it need not be made otherwise.
    #[must_use]
    pub fn is_told(&self) -> bool {
        !self.0.is_none()
    }

    /// Says something of it.
    pub fn set(&self, name: &'static str, value: impl Into<Value>) {
        if self.is_told() {
            self.0.set_attribute(name, value);
        }
    }

    /// It went wrong, in this way: a word of ours, no text of somebody else's.
    pub fn failed(&self, kind: &'static str) {
        if self.is_told() {
            self.0.set_attribute(names::ERROR_TYPE, kind);
            self.0.set_status(Status::error(""));
        }
    }

    /// Does it.
    pub async fn run<F: Future>(&self, work: F) -> F::Output {
        if self.is_told() { work.instrument(self.0.clone()).await } else { work.await }
    }

    /// The span, for a task of its own.
    #[must_use]
    pub fn into_span(self) -> Span {
        self.0
    }

    /// What the other side of a call is to be sent, so that its spans are below this one; of a call that is not told, that
    /// it is not.
    pub fn send_along(&self, headers: &mut tonic::metadata::MetadataMap) {
        let span = if self.is_told() { self.0.clone() } else { Span::current() };
        let context = span.context();
        if context.span().span_context().is_valid() {
            TraceContextPropagator::new().inject_context(&context, &mut Metadata(headers));
        }
    }
}

struct Metadata<'a>(&'a mut tonic::metadata::MetadataMap);

impl Injector for Metadata<'_> {
    fn set(&mut self, key: &str, value: String) {
        let names: Option<tonic::metadata::AsciiMetadataKey> = key.parse().ok();
        if let (Some(name), Ok(value), false) = (names, value.parse(), value.is_empty()) {
            self.0.insert(name, value);
        }
    }
}
