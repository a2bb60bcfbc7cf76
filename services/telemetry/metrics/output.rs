//! What the process tells by its log and its traces.

use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use super::Register;
use crate::telemetry::names;

/// The lines of the log, which a process has one of: it begins before there are metrics.
pub static LINES: Lines =
    Lines { error: AtomicU64::new(0), warn: AtomicU64::new(0), info: AtomicU64::new(0) };

/// How many lines of each level were written.
#[derive(Debug)]
pub struct Lines {
    error: AtomicU64,
    warn: AtomicU64,
    info: AtomicU64,
}

impl Lines {
    /// A line of this level was written. Those of debug and trace are not counted.
    pub fn count(&self, level: tracing::Level) {
        let lines = match level {
            tracing::Level::ERROR => &self.error,
            tracing::Level::WARN => &self.warn,
            tracing::Level::INFO => &self.info,
            _ => return,
        };
        lines.fetch_add(1, Ordering::Relaxed);
    }
}

/// Why nobody will see a span.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dropped {
    /// The queue of those that wait for the collector was full.
    QueueFull,
    /// The collector did not take them.
    ExportFailed,
    /// Too many hands waited to be told.
    HandsWaiting,
}

/// What became of a hand's trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HandTrace {
    /// The collector has it.
    Exported,
    /// It was not among those that are told.
    NotSampled,
    /// The collector has it, by a server that found it untold.
    Late,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfLevel {
    level: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfReason {
    why: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfOutcome {
    outcome: &'static str,
}

/// The log and the traces.
pub struct Output {
    lines: Family<OfLevel, Counter>,
    exported: Counter,
    dropped: Family<OfReason, Counter>,
    hands: Family<OfOutcome, Counter>,
}

impl Output {
    pub(super) fn new(register: &mut Register) -> Output {
        let output = Output {
            lines: Family::default(),
            exported: Counter::default(),
            dropped: Family::default(),
            hands: Family::default(),
        };
        for why in [Dropped::QueueFull, Dropped::ExportFailed, Dropped::HandsWaiting] {
            output.dropped(why, 0);
        }
        for outcome in [HandTrace::Exported, HandTrace::NotSampled, HandTrace::Late] {
            output.hands(outcome, 0);
        }
        output.look();
        register.enter(&names::LOG_LINES, output.lines.clone());
        register.enter(&names::SPANS_EXPORTED, output.exported.clone());
        register.enter(&names::SPANS_DROPPED, output.dropped.clone());
        register.enter(&names::HAND_TRACES, output.hands.clone());
        output
    }

    pub(super) fn look(&self) {
        for (level, lines) in [("error", &LINES.error), ("warn", &LINES.warn), ("info", &LINES.info)] {
            let told = self.lines.get_or_create(&OfLevel { level });
            told.inner().store(lines.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// The collector has taken so many spans.
    pub fn exported(&self, spans: u64) {
        self.exported.inc_by(spans);
    }

    /// Nobody will see so many spans.
    pub fn dropped(&self, why: Dropped, spans: u64) {
        let why = match why {
            Dropped::QueueFull => "queue_full",
            Dropped::ExportFailed => "export_failed",
            Dropped::HandsWaiting => "hands_waiting",
        };
        self.dropped.get_or_create(&OfReason { why }).inc_by(spans);
    }

    /// This became of the traces of so many hands.
    pub fn hands(&self, outcome: HandTrace, hands: u64) {
        let outcome = match outcome {
            HandTrace::Exported => "exported",
            HandTrace::NotSampled => "not_sampled",
            HandTrace::Late => "late",
        };
        self.hands.get_or_create(&OfOutcome { outcome }).inc_by(hands);
    }
}
