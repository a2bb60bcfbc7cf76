//! What somebody hears who watches over the service: what has to be looked at, and how wallets answer. The tables do not
//! know what is made of it.

use std::time::Duration;

use crate::ids::OperatorId;
use crate::wallet::{Call, Reply};

/// Hears what happens. It may not wait for anything: whoever tells it is in the middle of his work.
pub trait Signals: Send + Sync + 'static {
    /// A table was stopped since its next step would have broken an invariant (rules 10.3).
    fn table_stopped(&self, operator: &OperatorId);

    /// A wallet was asked; after so long this is what it said.
    fn wallet_asked(&self, operator: &OperatorId, call: Call, reply: &Reply, took: Duration);

    /// A wallet was not asked, since it did not answer lately.
    fn wallet_spared(&self, operator: &OperatorId, call: Call);
}

/// Nobody listens.
pub(crate) struct Silent;

impl Signals for Silent {
    fn table_stopped(&self, _: &OperatorId) {}

    fn wallet_asked(&self, _: &OperatorId, _: Call, _: &Reply, _: Duration) {}

    fn wallet_spared(&self, _: &OperatorId, _: Call) {}
}
