//! The ids of a hand's trace and spans. They follow from the hand, so that every server and every repetition makes the same
//! ones.

use opentelemetry::trace::{SpanId, TraceId};
use sha2::{Digest, Sha256};
use tables::{OperatorId, TableId};

use crate::telemetry::conventions::SPAN_HAND;

/// Before what is hashed, so that no other hash of the service is the same.
const DOMAIN: &[u8] = b"fulcrum hand\0";

/// The trace of one hand.
#[derive(Clone)]
pub struct HandTrace {
    over: Sha256,
    /// Its id.
    pub trace: [u8; 16],
}

impl HandTrace {
    /// That of this hand.
    #[must_use]
    pub fn of(operator: &OperatorId, table: &TableId, number: u64) -> HandTrace {
        let over = Sha256::new()
            .chain_update(DOMAIN)
            .chain_update(operator.as_str())
            .chain_update([0])
            .chain_update(table.0.as_bytes())
            .chain_update(number.to_be_bytes());
        let trace = first(over.clone());
        HandTrace { over, trace }
    }

    /// The id of the span with this key.
    #[must_use]
    pub fn span(&self, key: &str) -> [u8; 8] {
        first(self.over.clone().chain_update([0]).chain_update(key))
    }

    /// The id of the root span.
    #[must_use]
    pub fn root(&self) -> [u8; 8] {
        self.span(SPAN_HAND)
    }

    /// The trace's id, as exporters take it.
    #[must_use]
    pub fn trace_id(&self) -> TraceId {
        TraceId::from_bytes(self.trace)
    }

    /// The id of the span with this key, as exporters take it.
    #[must_use]
    pub fn span_id(&self, key: &str) -> SpanId {
        SpanId::from_bytes(self.span(key))
    }

    /// Whether this share of all traces has it: the same ones that OpenTelemetry's `TraceIdRatioBased` takes.
    // The share of a setting; no money.
    #[allow(clippy::float_arithmetic, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    #[must_use]
    pub fn is_in(&self, ratio: f64) -> bool {
        if ratio >= 1.0 {
            return true;
        }
        let bound = (ratio.max(0.0) * (1_u64 << 63) as f64) as u64;
        let low = self.trace.last_chunk::<8>().map_or(0, |low| u64::from_be_bytes(*low));
        low >> 1 < bound
    }
}

fn first<const LENGTH: usize>(hash: Sha256) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    bytes.copy_from_slice(&hash.finalize()[..LENGTH]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry::trace::SpanKind;
    use opentelemetry_sdk::trace::{Sampler, SamplingDecision, ShouldSample};
    use uuid::Uuid;

    fn hand(number: u64) -> HandTrace {
        let operator = OperatorId::new("acme").unwrap();
        HandTrace::of(&operator, &TableId(Uuid::from_u128(7)), number)
    }

    #[test]
    fn ids_are_the_same_for_ever() {
        // What a backend has must be found again by a newer version.
        let told = hand(42);
        assert_eq!(told.trace_id().to_string(), "3cf61c0250e404a79a3384dd8da84dd6");
        assert_eq!(told.span_id("turn 3").to_string(), "5219bbc8b164918f");
    }

    #[test]
    fn no_two_hands_or_spans_have_the_same() {
        let (one, other) = (hand(1), hand(2));
        assert_ne!(one.trace, other.trace);
        assert_ne!(one.root(), other.root());
        assert_ne!(one.span("turn 1"), one.span("turn 2"));
        let (a, b) = (OperatorId::new("a").unwrap(), OperatorId::new("b").unwrap());
        let table = TableId(Uuid::from_u128(7));
        assert_ne!(HandTrace::of(&a, &table, 1).trace, HandTrace::of(&b, &table, 1).trace);
    }

    #[test]
    fn the_share_is_the_one_that_the_sampler_takes() {
        for ratio in [0.0, 0.01, 0.3, 0.5, 0.99, 1.0] {
            let sampler = Sampler::TraceIdRatioBased(ratio);
            let mut taken = 0;
            for number in 0..2000 {
                let told = hand(number);
                let theirs =
                    sampler.should_sample(None, told.trace_id(), "hand", &SpanKind::Internal, &[], &[]);
                assert_eq!(told.is_in(ratio), theirs.decision == SamplingDecision::RecordAndSample);
                taken += u32::from(told.is_in(ratio));
            }
            let expected = f64::from(taken) / 2000.0;
            assert!((expected - ratio).abs() < 0.05, "{ratio}: {taken}");
        }
    }
}
