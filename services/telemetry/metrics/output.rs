//! What the process tells by its log and its traces.

use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use super::{Metrics, Register};
use crate::telemetry::names;
use crate::telemetry::traces::counts::{HandTold, SpanDrop, TraceCounts};

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
        for why in SpanDrop::ALL {
            drop(output.dropped.get_or_create(&OfReason { why: why.word() }));
        }
        for outcome in HandTold::ALL {
            drop(output.hands.get_or_create(&OfOutcome { outcome: outcome.word() }));
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
}

impl TraceCounts for Metrics {
    fn spans_exported(&self, count: u64) {
        self.output.exported.inc_by(count);
    }

    fn spans_dropped(&self, why: SpanDrop, count: u64) {
        self.output.dropped.get_or_create(&OfReason { why: why.word() }).inc_by(count);
    }

    fn hand_trace(&self, outcome: HandTold) {
        self.output.hands.get_or_create(&OfOutcome { outcome: outcome.word() }).inc();
    }
}
