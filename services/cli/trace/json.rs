//! The course of a hand as JSON.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::Hand;
use crate::cli::failure::Failure;
use crate::cli::store::words;
use crate::telemetry::hands::span::Attributes;
use crate::telemetry::hands::{HandTrace, Mark, Span, Value};

#[derive(Serialize)]
struct Report {
    table: String,
    hand: u64,
    trace_id: String,
    /// The hand goes on.
    running: bool,
    root: Node,
}

/// A span. Times as RFC 3339, amounts in minor units.
#[derive(Serialize)]
struct Node {
    span_id: String,
    name: &'static str,
    start: String,
    end: String,
    duration_ms: u64,
    attributes: Map<String, Json>,
    events: Vec<Event>,
    link: Option<Link>,
    error: Option<&'static str>,
    children: Vec<Node>,
}

#[derive(Serialize)]
struct Event {
    name: &'static str,
    time: String,
    attributes: Map<String, Json>,
}

#[derive(Serialize)]
struct Link {
    trace_id: String,
    span_id: String,
}

/// The whole of it.
///
/// # Errors
/// [`Failure::Failed`] if it cannot be written.
pub fn text(hand: &Hand) -> Result<String, Failure> {
    let report = Report {
        table: hand.key.to_string(),
        hand: hand.number,
        trace_id: hand.trace.trace_id().to_string(),
        running: hand.runs,
        root: node(&hand.trace, &hand.root),
    };
    let json = serde_json::to_string_pretty(&report);
    Ok(json.map_err(|error| Failure::Failed(format!("cannot write JSON: {error}")))? + "\n")
}

fn node(trace: &HandTrace, span: &Span) -> Node {
    Node {
        span_id: trace.span_id(&span.key).to_string(),
        name: span.name,
        start: words::time(span.start),
        end: words::time(span.end),
        duration_ms: (span.end - span.start).0,
        attributes: attributes(&span.attributes),
        events: span.marks.iter().map(event).collect(),
        link: span
            .link
            .map(|origin| Link { trace_id: super::hex(&origin.trace), span_id: super::hex(&origin.span) }),
        error: span.fault,
        children: span.children.iter().map(|child| node(trace, child)).collect(),
    }
}

fn event(mark: &Mark) -> Event {
    Event { name: mark.name, time: words::time(mark.at), attributes: attributes(&mark.attributes) }
}

fn attributes(all: &Attributes) -> Map<String, Json> {
    let value = |value: &Value| match value {
        Value::Text(text) => Json::from(text.as_str()),
        Value::Number(number) => Json::from(*number),
        Value::Flag(flag) => Json::from(*flag),
    };
    all.iter().map(|(name, one)| ((*name).to_owned(), value(one))).collect()
}
