//! The last span of a hand: from its settlement record to the operator's acknowledgement, one for each consumer. It is told
//! when that comes, into the trace that is there already; what there is too much of is left out.

use opentelemetry_sdk::trace::SpanData;
use rules::Millis;
use tables::{OperatorId, Settlement, SettlementFilter, SettlementKind, SettlementPosition, StoreError};
use tokio::sync::mpsc;

use super::export::spans;
use super::ids::HandTrace;
use super::span::Span;
use super::teller::Work;
use crate::telemetry::conventions as names;
use crate::telemetry::traces::counts::SpanDrop;

/// So many records are read at a time.
const PAGE: usize = 256;
/// So many of one acknowledgement are told at most.
const MOST: usize = 2048;

/// A consumer has acknowledged records.
pub(super) struct Acknowledged {
    pub(super) operator: OperatorId,
    pub(super) consumer: String,
    /// Those after this one.
    pub(super) after: Option<SettlementPosition>,
    /// Up to this one.
    pub(super) until: SettlementPosition,
}

/// Tells of acknowledgements as they come.
pub(super) async fn run(work: &Work, mut acknowledged: mpsc::Receiver<Acknowledged>) {
    while let Some(one) = acknowledged.recv().await {
        if let Err(error) = work.delivered(&one).await {
            tracing::debug!(operator = %one.operator, %error, "what was acknowledged cannot be read");
        }
    }
}

impl Work {
    async fn delivered(&self, acknowledged: &Acknowledged) -> Result<(), StoreError> {
        let Acknowledged { operator, consumer, until, .. } = acknowledged;
        let now = self.store.now().await?;
        let kinds = vec![SettlementKind::Hand, SettlementKind::Void];
        let filter = SettlementFilter { kinds, ..SettlementFilter::default() };
        let (mut after, mut looked_at) = (acknowledged.after, 0);
        while after < Some(*until) {
            if looked_at >= MOST {
                self.counts.spans_dropped(SpanDrop::QueueFull, 1);
                return Ok(());
            }
            let page = self.store.settlements(operator, &filter, after, PAGE).await?;
            let records = page.records.iter().take_while(|(place, _)| place <= until);
            let batch: Vec<SpanData> =
                records.filter_map(|(_, record)| self.delivery(record, consumer, now)).flatten().collect();
            if !batch.is_empty() {
                // Counted if it fails; nobody tries again.
                self.export.send(batch, None).await;
            }
            looked_at += page.records.len();
            let last = page.records.last().map(|(place, _)| *place);
            match page.next.or(last.filter(|_| page.records.len() == PAGE)) {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// The span, if the hand is told.
    fn delivery(&self, record: &Settlement, consumer: &str, now: Millis) -> Option<Vec<SpanData>> {
        let trace = HandTrace::of(&record.key.operator, &record.key.table, record.hand()?);
        if !trace.is_in(self.ratio) && record.kind != SettlementKind::Void {
            return None;
        }
        let key = format!("{} {consumer}", names::SPAN_DELIVERY);
        let mut span = Span::new(key, names::SPAN_DELIVERY, record.at);
        span.end = now.max(record.at);
        span.put(names::CONSUMER, consumer);
        span.put(names::SETTLEMENT, record.id.to_string());
        Some(spans(&trace, Some(names::SPAN_HAND), &span))
    }
}
