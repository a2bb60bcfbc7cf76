//! Lines for people.

use std::fmt;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

use super::json::Hex;
use crate::telemetry::metrics::output::LINES;
use crate::telemetry::spans::{Traced, of_scope};

pub(super) struct Text {
    pub(super) colours: bool,
}

impl Text {
    fn painted(&self, out: &mut Writer<'_>, code: &str, text: impl fmt::Display) -> fmt::Result {
        if self.colours { write!(out, "\x1b[{code}m{text}\x1b[0m") } else { write!(out, "{text}") }
    }
}

const DIM: &str = "2";

const fn colour(level: Level) -> &'static str {
    match level {
        Level::ERROR => "31",
        Level::WARN => "33",
        Level::INFO => "32",
        Level::DEBUG => "34",
        Level::TRACE => "35",
    }
}

impl<S, N> FormatEvent<S, N> for Text
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
        super::now(&mut out)?;
        out.write_char(' ')?;
        self.painted(&mut out, colour(*meta.level()), format_args!("{:>5}", meta.level().as_str()))?;
        out.write_char(' ')?;
        let span = event.parent().and_then(|id| context.span(id)).or_else(|| context.lookup_current());
        // That of the call: what is below it says nothing more.
        if let Some(call) = span.as_ref().and_then(|span| span.scope().last()) {
            out.write_str(call.name())?;
            let extensions = call.extensions();
            if let Some(fields) = extensions.get::<FormattedFields<N>>().filter(|fields| !fields.is_empty()) {
                write!(out, "{{{fields}}}")?;
            }
            out.write_str(": ")?;
        }
        self.painted(&mut out, DIM, format_args!("{}: ", meta.target()))?;
        context.format_fields(out.by_ref(), event)?;
        if let Some(Traced { trace, .. }) = span.as_ref().and_then(of_scope) {
            out.write_char(' ')?;
            self.painted(&mut out, DIM, format_args!("trace={}", Hex(&trace)))?;
        }
        out.write_char('\n')
    }
}
