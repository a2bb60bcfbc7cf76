//! Calls: how many, how they ended, how long they took.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

use super::{Metrics, Register, Traced, observe, quick_traced};
use crate::grpc;
use crate::telemetry::names;

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfMethod {
    method: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfEnd {
    method: &'static str,
    code: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfWhy {
    why: &'static str,
}

/// No labels: a family of one series, which may not be there.
type Unlabelled = [(&'static str, &'static str); 0];

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfShed {
    class: &'static str,
    why: &'static str,
}

/// Calls, and the connections that they come on.
pub struct Calls {
    requests: Family<OfEnd, Counter>,
    seconds: Family<OfMethod, Traced, fn() -> Traced>,
    in_flight: Gauge,
    shed: Family<OfShed, Counter>,
    open: Family<OfMethod, Gauge>,
    streams: Family<OfEnd, Counter>,
    connections: Gauge,
    connections_ended: Family<OfWhy, Counter>,
    /// One series if there is a certificate.
    certificate_end: Family<Unlabelled, Gauge>,
}

impl Calls {
    pub(super) fn new(register: &mut Register) -> Calls {
        let calls = Calls {
            requests: Family::default(),
            seconds: Family::new_with_constructor(quick_traced),
            in_flight: Gauge::default(),
            shed: Family::default(),
            open: Family::default(),
            streams: Family::default(),
            connections: Gauge::default(),
            connections_ended: Family::default(),
            certificate_end: Family::default(),
        };
        register.enter(&names::RPC_REQUESTS, calls.requests.clone());
        register.enter(&names::RPC_SECONDS, calls.seconds.clone());
        register.enter(&names::RPC_IN_FLIGHT, calls.in_flight.clone());
        register.enter(&names::CALLS_SHED, calls.shed.clone());
        register.enter(&names::STREAMS_OPEN, calls.open.clone());
        register.enter(&names::STREAMS, calls.streams.clone());
        register.enter(&names::CONNECTIONS, calls.connections.clone());
        register.enter(&names::CONNECTIONS_ENDED, calls.connections_ended.clone());
        register.enter(&names::TLS_CERTIFICATE_END_SECONDS, calls.certificate_end.clone());
        calls
    }
}

/// `Service/Method` of `/fulcrum.v1.Service/Method`.
fn short(method: &'static str) -> &'static str {
    method.rsplit('.').next().unwrap_or(method)
}

impl grpc::Counting for Metrics {
    fn unary_begun(&self) {
        self.calls.in_flight.inc();
    }

    fn unary_ended(&self, method: &'static str, code: &'static str, took: Duration) {
        let method = short(method);
        self.calls.in_flight.dec();
        self.calls.requests.get_or_create(&OfEnd { method, code }).inc();
        // Calls that do not exist are answered at once, as many as somebody likes.
        if method != grpc::UNKNOWN_METHOD {
            let seconds = self.calls.seconds.get_or_create(&OfMethod { method });
            observe(&seconds, took.as_secs_f64(), self.present());
        }
    }

    fn stream_begun(&self, method: &'static str) {
        self.calls.open.get_or_create(&OfMethod { method: short(method) }).inc();
    }

    fn stream_ended(&self, method: &'static str, code: &'static str) {
        let method = short(method);
        self.calls.open.get_or_create(&OfMethod { method }).dec();
        self.calls.streams.get_or_create(&OfEnd { method, code }).inc();
    }

    fn connection_begun(&self) {
        self.calls.connections.inc();
    }

    fn connection_ended(&self, why: &'static str) {
        self.calls.connections.dec();
        self.calls.connections_ended.get_or_create(&OfWhy { why }).inc();
    }

    fn certificate_ends(&self, second: u64) {
        self.calls.certificate_end.get_or_create(&[]).set(i64::try_from(second).unwrap_or(i64::MAX));
    }

    fn keys_read(&self, good: bool, held: usize) {
        self.access.keys_read(good, held);
    }

    fn insecure(&self) {
        self.access.insecure();
    }

    fn shed(&self, class: &'static str, why: &'static str) {
        self.calls.shed.get_or_create(&OfShed { class, why }).inc();
    }
}
