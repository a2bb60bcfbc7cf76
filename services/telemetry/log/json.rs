//! Lines for machines: one JSON object each, with the ids of the trace and the span that it was written in.

use std::fmt;

use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

use super::fields::{JsonFields, members, quoted};
use crate::telemetry::metrics::output::LINES;
use crate::telemetry::spans::{Traced, of_scope};

pub(super) struct Json;

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut out: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let meta = event.metadata();
        LINES.count(*meta.level());
        out.write_str("{\"timestamp\":\"")?;
        super::now(&mut out)?;
        write!(out, "\",\"level\":\"{}\"", meta.level())?;
        members(&mut out, false, |visit| event.record(visit))?;
        out.write_str(",\"target\":")?;
        quoted(&mut out, meta.target())?;
        let span = event.parent().and_then(|id| context.span(id)).or_else(|| context.lookup_current());
        if let Some(span) = &span {
            if let Some(Traced { trace, span, .. }) = of_scope(span) {
                write!(out, ",\"trace_id\":\"{}\",\"span_id\":\"{}\"", Hex(&trace), Hex(&span))?;
            }
            // That of the call: what is below it says nothing more.
            if let Some(call) = span.scope().last() {
                out.write_str(",\"span\":{\"name\":")?;
                quoted(&mut out, call.name())?;
                let extensions = call.extensions();
                let fields = extensions.get::<FormattedFields<JsonFields>>();
                if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
                    write!(out, ",{fields}")?;
                }
                out.write_char('}')?;
            }
        }
        out.write_str("}\n")
    }
}

/// Bytes as hexadecimal digits.
pub(super) struct Hex<'a>(pub(super) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
