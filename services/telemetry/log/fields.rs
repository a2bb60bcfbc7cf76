//! The fields of lines and spans, as text and as members of a JSON object. Names that only the traces' layer reads are left
//! out. No control character gets into a line: some values are texts of other people's programs.

use std::error::Error;
use std::fmt::{self, Debug, Write};

use tracing::field::{Field, Visit};
use tracing::span::Record;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormattedFields;
use tracing_subscriber::fmt::format::{FormatFields, Writer};

/// What the traces' layer reads.
const FOR_TRACES: &str = "otel.";

/// `name=value name=value`, the message first and without its name.
pub(super) struct TextFields;

/// `"name":value,"name":value`
pub(super) struct JsonFields;

impl<'writer> FormatFields<'writer> for TextFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut visit = TextVisit { out: &mut writer, empty: true, result: Ok(()) };
        fields.record(&mut visit);
        visit.result
    }
}

impl<'writer> FormatFields<'writer> for JsonFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        members(&mut writer, true, |visit| fields.record(visit))
    }

    fn add_fields(&self, current: &'writer mut FormattedFields<Self>, fields: &Record<'_>) -> fmt::Result {
        let empty = current.fields.is_empty();
        members(&mut current.as_writer(), empty, |visit| fields.record(visit))
    }
}

struct TextVisit<'a> {
    out: &'a mut dyn Write,
    empty: bool,
    result: fmt::Result,
}

impl TextVisit<'_> {
    fn write(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        if self.result.is_err() || field.name().starts_with(FOR_TRACES) {
            return;
        }
        let pad = if self.empty { "" } else { " " };
        self.empty = false;
        let mut clean = Clean(self.out);
        self.result = match field.name() {
            "message" => write!(clean, "{pad}{value}"),
            name => write!(clean, "{pad}{name}={value}"),
        };
    }
}

impl Visit for TextVisit<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.write(field, format_args!("{value}")),
            _ => self.write(field, format_args!("{value:?}")),
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.write(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.write(field, format_args!("{value:?}"));
    }
}

/// Writes control characters as escapes.
struct Clean<'a>(&'a mut dyn Write);

impl Write for Clean<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive(char::is_control) {
            let mut chars = part.chars();
            match chars.next_back() {
                Some(last) if last.is_control() => {
                    self.0.write_str(chars.as_str())?;
                    write!(self.0, "{}", last.escape_default())?;
                }
                _ => self.0.write_str(part)?,
            }
        }
        Ok(())
    }
}

/// Writes fields as members of an object that is empty so far, or not.
pub(super) fn members(out: &mut dyn Write, empty: bool, record: impl FnOnce(&mut dyn Visit)) -> fmt::Result {
    let mut visit = JsonVisit { out, empty, result: Ok(()) };
    record(&mut visit);
    visit.result
}

/// Writes a text as JSON.
pub(super) fn quoted(out: &mut dyn Write, text: &str) -> fmt::Result {
    out.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?)
}

struct JsonVisit<'a> {
    out: &'a mut dyn Write,
    empty: bool,
    result: fmt::Result,
}

impl JsonVisit<'_> {
    fn member(&mut self, field: &Field, value: impl FnOnce(&mut dyn Write) -> fmt::Result) {
        if self.result.is_err() || field.name().starts_with(FOR_TRACES) {
            return;
        }
        let comma = if self.empty { "" } else { "," };
        self.empty = false;
        self.result = member(self.out, comma, field.name().trim_start_matches("r#"), value);
    }
}

fn member(
    out: &mut dyn Write,
    comma: &str,
    name: &str,
    value: impl FnOnce(&mut dyn Write) -> fmt::Result,
) -> fmt::Result {
    out.write_str(comma)?;
    quoted(out, name)?;
    out.write_char(':')?;
    value(out)
}

impl Visit for JsonVisit<'_> {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.member(field, |out| write!(out, "{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.member(field, |out| write!(out, "{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.member(field, |out| write!(out, "{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.member(field, |out| quoted(out, value));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.member(field, |out| quoted(out, &value.to_string()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.member(field, |out| quoted(out, &format!("{value:?}")));
    }
}
