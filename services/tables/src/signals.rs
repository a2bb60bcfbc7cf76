//! What somebody hears who watches over the service: what is played, what has to be looked at, and how wallets answer. The
//! tables do not know what is made of it.

use std::time::Duration;

use crate::ids::OperatorId;
use crate::store::Commit;
use crate::wallet::{Call, Reply};

/// The span of a trace in which a commit was asked for: names of W3C Trace Context, without any meaning here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    /// The trace.
    pub trace: [u8; 16],
    /// The span.
    pub span: [u8; 8],
}

/// Hears what happens. It may not wait for anything: whoever tells it is in the middle of his work.
pub trait Signals: Send + Sync + 'static {
    /// A table was stopped since its next step would have broken an invariant (rules 10.3).
    fn table_stopped(&self, operator: &OperatorId);

    /// A commit of this process is done. Of one whose caller has gone away it may be heard in another task.
    fn committed(&self, commit: &Commit) {
        let _ = commit;
    }

    /// Where the step that is being made was asked for, if that is to be remembered; heard in the task that makes it.
    fn origin(&self) -> Option<Origin> {
        None
    }

    /// Whether there is something to be told of the hand that this commit ends ([`Commit::untold`]).
    fn tells(&self, commit: &Commit) -> bool {
        let _ = commit;
        false
    }

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
