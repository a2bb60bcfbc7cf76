//! Operations on the store.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use rules::Millis;
use tables::StoreError;

use super::{Register, machine_time, quick};
use crate::telemetry::names;
use crate::telemetry::store::OPERATIONS;

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfOperation {
    operation: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfError {
    operation: &'static str,
    kind: &'static str,
}

/// Operations on the store.
pub struct StoreSide {
    seconds: Family<OfOperation, Histogram, fn() -> Histogram>,
    errors: Family<OfError, Counter>,
    up: Gauge,
    offset: Gauge<f64, AtomicU64>,
}

impl StoreSide {
    pub(super) fn new(register: &mut Register) -> StoreSide {
        let side = StoreSide {
            seconds: Family::new_with_constructor(quick),
            errors: Family::default(),
            up: Gauge::default(),
            offset: Gauge::default(),
        };
        // Whoever has metrics has opened a store.
        side.up.set(1);
        for operation in OPERATIONS {
            for kind in ["unavailable", "unknown", "corrupt", "key"] {
                drop(side.errors.get_or_create(&OfError { operation, kind }));
            }
        }
        register.enter(&names::STORE_SECONDS, side.seconds.clone());
        register.enter(&names::STORE_ERRORS, side.errors.clone());
        register.enter(&names::STORE_UP, side.up.clone());
        register.enter(&names::STORE_TIME_OFFSET_SECONDS, side.offset.clone());
        side
    }

    /// An operation has ended. The names of operations are those of [`OPERATIONS`].
    pub fn done(&self, operation: &'static str, took: Duration, error: Option<&StoreError>) {
        self.seconds.get_or_create(&OfOperation { operation }).observe(took.as_secs_f64());
        let kind = match error {
            None => return,
            Some(StoreError::Unavailable(_)) => "unavailable",
            Some(StoreError::Unknown(_)) => "unknown",
            Some(StoreError::Corrupt(_)) => "corrupt",
            Some(StoreError::KeyUnavailable(_)) => "key",
        };
        self.errors.get_or_create(&OfError { operation, kind }).inc();
    }

    /// The store was asked whether it works.
    pub fn checked(&self, works: bool) {
        self.up.set(i64::from(works));
    }

    /// The store has just told its time.
    pub fn time(&self, now: Millis) {
        let there = Duration::from_millis(now.0);
        self.offset.set(there.as_secs_f64() - machine_time().as_secs_f64());
    }
}
