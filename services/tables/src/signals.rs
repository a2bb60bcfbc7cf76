//! What somebody hears who watches over the service: what is played, what has to be looked at, and how wallets answer. The
//! tables do not know what is made of it.

use std::time::Duration;

use rules::Table;

use crate::ids::OperatorId;
use crate::settlement::SettlementPosition;
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

/// What became of a step that was to be committed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CommitEnd {
    /// It is done.
    Done,
    /// Another step came first.
    Conflict,
    /// What it was to follow is not in the table's past.
    Severed,
    /// The request had been done before.
    Repeated,
    /// The request's id had been used for another request.
    Reused,
    /// It is not yet time.
    TooEarly,
    /// It was stamped later than the store's time.
    Ahead,
    /// It could not be found out.
    Unknown,
    /// The store could not do it.
    Failed,
}

impl CommitEnd {
    /// All of them.
    pub const ALL: [CommitEnd; 9] = [
        CommitEnd::Done,
        CommitEnd::Conflict,
        CommitEnd::Severed,
        CommitEnd::Repeated,
        CommitEnd::Reused,
        CommitEnd::TooEarly,
        CommitEnd::Ahead,
        CommitEnd::Unknown,
        CommitEnd::Failed,
    ];

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            CommitEnd::Done => "done",
            CommitEnd::Conflict => "conflict",
            CommitEnd::Severed => "severed",
            CommitEnd::Repeated => "repeated",
            CommitEnd::Reused => "reused",
            CommitEnd::TooEarly => "too_early",
            CommitEnd::Ahead => "ahead",
            CommitEnd::Unknown => "unknown",
            CommitEnd::Failed => "failed",
        }
    }
}

/// Why a step is tried again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Retry {
    /// Another one came first: it is decided anew.
    Conflict,
    /// Nothing is known of it: it is sent again.
    Unknown,
}

impl Retry {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Retry::Conflict => "conflict",
            Retry::Unknown => "unknown",
        }
    }
}

/// Why a watcher's stream was ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CutOff {
    /// He did not keep up.
    Slow,
    /// The store did not answer.
    Store,
}

impl CutOff {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            CutOff::Slow => "slow",
            CutOff::Store => "store",
        }
    }
}

/// Hears what happens. It may not wait for anything: whoever tells it is in the middle of his work.
pub trait Signals: Send + Sync + 'static {
    /// A table was stopped since its next step would have broken an invariant (rules 10.3).
    fn table_stopped(&self, operator: &OperatorId);

    /// A commit of this process is done. Of one whose caller has gone away it may be heard in another task.
    fn committed(&self, commit: &Commit) {
        let _ = commit;
    }

    /// The same commit, just before, with the state that it was decided on; not told if that state is not at hand.
    fn decided(&self, before: &Table, commit: &Commit) {
        let _ = (before, commit);
    }

    /// After so long it is known what became of a step; heard in the task that makes it.
    fn commit_ended(&self, end: CommitEnd, took: Duration) {
        let _ = (end, took);
    }

    /// A step is tried again.
    fn commit_retried(&self, why: Retry) {
        let _ = why;
    }

    /// A watcher's stream was ended; he can resume.
    fn watcher_cut_off(&self, why: CutOff) {
        let _ = why;
    }

    /// Where the step that is being made was asked for, if that is to be remembered; heard in the task that makes it.
    fn origin(&self) -> Option<Origin> {
        None
    }

    /// The span of what follows from a step in a task of its own: a payment's way to the wallet and back.
    fn errand(&self) -> tracing::Span {
        tracing::Span::none()
    }

    /// Whether there is something to be told of the hand that this commit ends ([`Commit::untold`]).
    fn tells(&self, commit: &Commit) -> bool {
        let _ = commit;
        false
    }

    /// Whether [`Signals::acknowledged`] is to be told, which costs a read.
    fn hears_acknowledgements(&self) -> bool {
        false
    }

    /// A consumer of the operator's has acknowledged the records after this place up to this one.
    fn acknowledged(
        &self,
        operator: &OperatorId,
        consumer: &str,
        after: Option<SettlementPosition>,
        until: SettlementPosition,
    ) {
        let _ = (operator, consumer, after, until);
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
