//! What is counted of traces. Whoever tells them does not know what becomes of the counts.

/// Why spans are not told.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SpanDrop {
    /// There was no room for them.
    QueueFull,
    /// The collector did not take them.
    ExportFailed,
    /// Too many hands wait; they are left to be told later, and counted here as one each.
    HandsWaiting,
}

impl SpanDrop {
    /// All of them.
    pub const ALL: [SpanDrop; 3] = [SpanDrop::QueueFull, SpanDrop::ExportFailed, SpanDrop::HandsWaiting];

    /// Its name as a label.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            SpanDrop::QueueFull => "queue_full",
            SpanDrop::ExportFailed => "export_failed",
            SpanDrop::HandsWaiting => "hands_waiting",
        }
    }
}

/// What became of the trace of a hand that is over.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HandTold {
    /// The collector has it.
    Exported,
    /// It is not in the share that is told.
    NotSampled,
    /// The collector has it, out of the hands that were left over.
    Late,
}

impl HandTold {
    /// All of them.
    pub const ALL: [HandTold; 3] = [HandTold::Exported, HandTold::NotSampled, HandTold::Late];

    /// Its name as a label.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            HandTold::Exported => "exported",
            HandTold::NotSampled => "not_sampled",
            HandTold::Late => "late",
        }
    }
}

/// Counts what becomes of traces.
pub trait TraceCounts: Send + Sync + 'static {
    /// So many spans are with the collector.
    fn spans_exported(&self, count: u64);

    /// So many are not told.
    fn spans_dropped(&self, why: SpanDrop, count: u64);

    /// A hand that is over.
    fn hand_trace(&self, outcome: HandTold);
}

/// Nobody counts.
pub struct Uncounted;

impl TraceCounts for Uncounted {
    fn spans_exported(&self, _: u64) {}

    fn spans_dropped(&self, _: SpanDrop, _: u64) {}

    fn hand_trace(&self, _: HandTold) {}
}
