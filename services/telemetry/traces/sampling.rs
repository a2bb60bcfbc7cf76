//! Which calls are told: a share by the trace's id, so that all servers decide alike; or what the caller has decided.

use opentelemetry::trace::{Link, SpanContext, SpanKind, TraceContextExt, TraceId};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{
    IdGenerator, RandomIdGenerator, Sampler, SamplingDecision, SamplingResult, ShouldSample,
};

use super::CallTraces;

/// Put into the context of a caller whose credentials are known: others decide nothing.
#[derive(Clone, Copy, Debug)]
pub struct Known;

/// Put into the context of a call that begins a trace, and that was chosen already.
#[derive(Clone, Copy, Debug)]
pub struct Chosen;

/// Whether a call is told, as far as that can be known before it is known who calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prospect {
    /// It is not: then nothing is made ready for it.
    None,
    /// It is decided when it is known who calls.
    Open,
    /// It begins a trace, and is told.
    Chosen,
}

/// How it is decided.
#[derive(Clone, Debug)]
pub struct Sampling {
    share: Sampler,
    from_callers: bool,
}

impl Sampling {
    /// As the settings say.
    #[must_use]
    pub fn of(settings: &CallTraces) -> Sampling {
        Sampling { share: Sampler::TraceIdRatioBased(settings.ratio), from_callers: settings.from_callers }
    }

    /// What becomes of a call with this parent.
    #[must_use]
    pub fn prospect(&self, parent: Option<&SpanContext>) -> Prospect {
        match parent {
            Some(above) if self.from_callers && above.is_sampled() => Prospect::Open,
            Some(above) if self.has(above.trace_id()) => Prospect::Open,
            None if self.has(RandomIdGenerator::default().new_trace_id()) => Prospect::Chosen,
            _ => Prospect::None,
        }
    }

    /// Whether a trace of this id is in the share.
    fn has(&self, trace: TraceId) -> bool {
        let result = self.share.should_sample(None, trace, "", &SpanKind::Server, &[], &[]);
        result.decision == SamplingDecision::RecordAndSample
    }
}

impl ShouldSample for Sampling {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        trace: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        let mut result = self.share.should_sample(parent, trace, name, kind, attributes, links);
        if parent.is_some_and(|parent| parent.get::<Chosen>().is_some()) {
            result.decision = SamplingDecision::RecordAndSample;
        }
        let above = parent.filter(|parent| parent.span().span_context().is_valid());
        if let Some(above) = above
            && let context = above.span().span_context().clone()
            && (!context.is_remote() || self.from_callers && above.get::<Known>().is_some())
        {
            result.decision = match context.is_sampled() {
                true => SamplingDecision::RecordAndSample,
                false => SamplingDecision::Drop,
            };
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry::trace::{SpanId, TraceFlags, TraceState};

    fn decides(ratio: f64, from_callers: bool, parent: Option<Context>) -> bool {
        let settings = CallTraces { endpoint: String::new(), ratio, from_callers };
        let result = Sampling::of(&settings).should_sample(
            parent.as_ref(),
            TraceId::from(7),
            "call",
            &SpanKind::Server,
            &[],
            &[],
        );
        result.decision == SamplingDecision::RecordAndSample
    }

    fn above(sampled: bool, remote: bool) -> Context {
        let flags = if sampled { TraceFlags::SAMPLED } else { TraceFlags::default() };
        let (trace, span) = (TraceId::from(7), SpanId::from(8));
        Context::new().with_remote_span_context(SpanContext::new(
            trace,
            span,
            flags,
            remote,
            TraceState::default(),
        ))
    }

    #[test]
    fn without_a_caller_it_is_the_share() {
        assert!(decides(1.0, true, None));
        assert!(!decides(0.0, true, None));
        assert!(decides(1.0, true, Some(Context::new())), "a context without a span is none");
    }

    #[test]
    fn a_known_caller_decides_if_the_settings_say_so() {
        let known = |sampled| Some(above(sampled, true).with_value(Known));
        assert!(decides(0.0, true, known(true)));
        assert!(!decides(1.0, true, known(false)));
        assert!(!decides(0.0, false, known(true)));
        assert!(decides(1.0, false, known(false)));
    }

    #[test]
    fn a_caller_whom_nobody_knows_decides_nothing() {
        assert!(!decides(0.0, true, Some(above(true, true))));
        assert!(decides(1.0, true, Some(above(false, true))));
    }

    #[test]
    fn a_span_below_another_of_ours_goes_with_it() {
        for from_callers in [true, false] {
            assert!(decides(0.0, from_callers, Some(above(true, false))));
            assert!(!decides(1.0, from_callers, Some(above(false, false))));
        }
    }

    fn prospect(ratio: f64, from_callers: bool, parent: Option<&Context>) -> Prospect {
        let settings = CallTraces { endpoint: String::new(), ratio, from_callers };
        let parent = parent.map(|parent| parent.span().span_context().clone());
        Sampling::of(&settings).prospect(parent.as_ref())
    }

    /// What is passed over before the caller is known would not have been told after it either.
    #[test]
    fn what_is_passed_over_early_is_told_by_nobody() {
        for ratio in [0.0, 1e-18, 1.0] {
            for from_callers in [true, false] {
                for sampled in [true, false] {
                    let parent = above(sampled, true);
                    let early = prospect(ratio, from_callers, Some(&parent));
                    let told = [parent.clone(), parent.with_value(Known)]
                        .map(|parent| decides(ratio, from_callers, Some(parent)));
                    assert!(
                        early == Prospect::Open || told == [false; 2],
                        "{ratio} {from_callers} {sampled}"
                    );
                    assert_ne!(early, Prospect::Chosen);
                }
            }
        }
        assert_eq!(prospect(1.0, true, None), Prospect::Chosen);
        assert_eq!(prospect(0.0, true, None), Prospect::None);
        assert!(decides(0.0, true, Some(Context::new().with_value(Chosen))));
        let chosen = (0..10_000).filter(|_| prospect(0.01, true, None) == Prospect::Chosen).count();
        assert!((20..300).contains(&chosen), "{chosen}");
    }
}
