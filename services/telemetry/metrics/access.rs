//! Who is let in: whether callers are asked who they are, and the keys that their tokens are verified with.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;

use super::Register;
use crate::telemetry::names;

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfReading {
    outcome: &'static str,
}

/// Who is let in.
pub struct Access {
    insecure: Gauge,
    readings: Family<OfReading, Counter>,
    keys: Gauge,
}

impl Access {
    pub(super) fn new(register: &mut Register) -> Access {
        let access =
            Access { insecure: Gauge::default(), readings: Family::default(), keys: Gauge::default() };
        for outcome in ["ok", "failed"] {
            // Both are told from the beginning.
            drop(access.readings.get_or_create(&OfReading { outcome }));
        }
        register.enter(&names::INSECURE, access.insecure.clone());
        register.enter(&names::JWKS_READINGS, access.readings.clone());
        register.enter(&names::JWKS_KEYS, access.keys.clone());
        access
    }

    /// The keys were read, or could not be; so many are held.
    pub fn keys_read(&self, good: bool, held: usize) {
        let outcome = if good { "ok" } else { "failed" };
        self.readings.get_or_create(&OfReading { outcome }).inc();
        self.keys.set(i64::try_from(held).unwrap_or(i64::MAX));
    }

    /// Callers are not asked who they are.
    pub fn insecure(&self) {
        self.insecure.set(1);
    }
}
