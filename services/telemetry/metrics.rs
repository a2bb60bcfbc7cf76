//! What is counted, for Prometheus. Labels are operators' names, their consumers' names and words of this file: no player,
//! no table, no secret, and no more of them than operators may have consumers.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tables::wallet::{Call, Reply};
use tables::{OperatorId, Signals};

use super::names;

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfOperator {
    operator: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfConsumer {
    operator: String,
    consumer: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfCall {
    operator: String,
    call: &'static str,
    outcome: &'static str,
}

/// What one consumer has still before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unread {
    /// Whose records.
    pub operator: OperatorId,
    /// Who has not acknowledged them.
    pub consumer: String,
    /// How many.
    pub depth: u64,
    /// How old the oldest is, in seconds.
    pub oldest: u64,
}

/// The metrics of this process.
pub struct Metrics {
    registry: Registry,
    stopped: Family<OfOperator, Counter>,
    calls: Family<OfCall, Counter>,
    seconds: Family<OfOperator, Histogram, fn() -> Histogram>,
    depth: Family<OfConsumer, Gauge>,
    oldest: Family<OfConsumer, Gauge>,
    /// Held while the gauges are set anew, and while they are read.
    gauges: Mutex<()>,
}

impl Metrics {
    /// Nothing counted yet. What should never happen is told as 0 of each of these operators, so that its first time shows
    /// as an increase.
    #[must_use]
    pub fn new(operators: &[OperatorId]) -> Metrics {
        let metrics = Metrics {
            registry: Registry::default(),
            stopped: Family::default(),
            calls: Family::default(),
            seconds: Family::new_with_constructor(durations),
            depth: Family::default(),
            oldest: Family::default(),
            gauges: Mutex::default(),
        };
        for operator in operators {
            drop(metrics.stopped.get_or_create(&of(operator)));
        }
        metrics.registered()
    }

    fn registered(mut self) -> Metrics {
        let Metrics { registry, stopped, calls, seconds, depth, oldest, .. } = &mut self;
        let help = "Tables that were stopped since an invariant did not hold";
        registry.register(names::STOPPED, help, stopped.clone());
        registry.register(names::WALLET_CALLS, "Calls to operators' wallets", calls.clone());
        registry.register(names::WALLET_SECONDS, "How long operators' wallets take", seconds.clone());
        let help = "Settlement records that a consumer has not acknowledged";
        registry.register(names::UNACKNOWLEDGED, help, depth.clone());
        let help = "Age of the oldest settlement record that a consumer has not acknowledged";
        registry.register(names::OLDEST, help, oldest.clone());
        self
    }

    /// Says what consumers have still before them. Those that are not named are not told of any more.
    pub fn unread(&self, unread: &[Unread]) {
        // Nothing can be left half done that the next time does not set right.
        let _held = self.gauges.lock().unwrap_or_else(PoisonError::into_inner);
        self.depth.clear();
        self.oldest.clear();
        for Unread { operator, consumer, depth, oldest } in unread {
            let labels = OfConsumer { operator: operator.to_string(), consumer: consumer.clone() };
            self.depth.get_or_create(&labels).set(i64::try_from(*depth).unwrap_or(i64::MAX));
            self.oldest.get_or_create(&labels).set(i64::try_from(*oldest).unwrap_or(i64::MAX));
        }
    }

    /// All of it, as Prometheus reads it; `None` if it cannot be written.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let _held = self.gauges.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        encode(&mut text, &self.registry).ok()?;
        Some(text)
    }

    fn count(&self, operator: &OperatorId, call: Call, outcome: &'static str) {
        let call = match call {
            Call::Debit => "debit",
            Call::Credit => "credit",
            Call::Cancel => "cancel",
            Call::Find => "find",
        };
        self.calls.get_or_create(&OfCall { operator: operator.to_string(), call, outcome }).inc();
    }
}

impl Signals for Metrics {
    fn table_stopped(&self, operator: &OperatorId) {
        self.stopped.get_or_create(&of(operator)).inc();
    }

    fn wallet_asked(&self, operator: &OperatorId, call: Call, reply: &Reply, took: Duration) {
        let outcome = match reply {
            Reply::Booked => "booked",
            Reply::Declined(_) => "declined",
            Reply::Cancelled => "cancelled",
            Reply::Missing => "missing",
            Reply::Unknown(_) => "unknown",
        };
        self.count(operator, call, outcome);
        self.seconds.get_or_create(&of(operator)).observe(took.as_secs_f64());
    }

    fn wallet_spared(&self, operator: &OperatorId, call: Call) {
        self.count(operator, call, "not_asked");
    }
}

fn of(operator: &OperatorId) -> OfOperator {
    OfOperator { operator: operator.to_string() }
}

/// From what a wallet next door takes to the longest that it may.
fn durations() -> Histogram {
    Histogram::new([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0])
}
