//! Hears what happens at the tables and passes it on to those who make something of it: metrics and traces.

use std::sync::Arc;
use std::time::Duration;

use rules::{Event, Table};
use tables::signals::{CommitEnd, CutOff, Retry};
use tables::wallet::{Call, Reply};
use tables::{Commit, OperatorId, Origin, SettlementPosition, Signals};

use super::hands::HandTraces;
use super::metrics::Metrics;
use super::spans;

/// Those who listen.
#[derive(Default)]
pub struct Listener {
    /// Counts.
    pub metrics: Option<Arc<Metrics>>,
    /// Tells hands.
    pub hands: Option<Arc<HandTraces>>,
}

impl Listener {
    /// Whether nobody listens.
    #[must_use]
    pub fn is_nobody(&self) -> bool {
        self.metrics.is_none() && self.hands.is_none()
    }
}

impl Signals for Listener {
    fn table_stopped(&self, operator: &OperatorId) {
        if let Some(metrics) = &self.metrics {
            metrics.table_stopped(operator);
        }
    }

    fn committed(&self, commit: &Commit) {
        if let Some(metrics) = &self.metrics {
            metrics.committed(commit);
        }
        if let Some(hands) = &self.hands {
            hands.committed(commit);
        }
        let ended = || commit.events.iter().any(Event::ends_hand);
        let hand = commit.table.hand.as_ref().filter(|hand| hand.is_running() || ended());
        spans::about(&commit.key.operator, commit.key.table, hand.map(|hand| hand.number));
    }

    fn decided(&self, before: &Table, commit: &Commit) {
        if let Some(metrics) = &self.metrics {
            metrics.decided(before, commit);
        }
    }

    fn commit_ended(&self, end: CommitEnd, took: Duration) {
        if let Some(metrics) = &self.metrics {
            metrics.commit_ended(end, took);
        }
    }

    fn commit_retried(&self, why: Retry) {
        if let Some(metrics) = &self.metrics {
            metrics.commit_retried(why);
        }
        spans::note(match why {
            Retry::Conflict => "decided anew: another step came first",
            Retry::Unknown => "sent again: nothing was known of it",
        });
    }

    fn watcher_cut_off(&self, why: CutOff) {
        if let Some(metrics) = &self.metrics {
            metrics.watcher_cut_off(why);
        }
    }

    fn origin(&self) -> Option<Origin> {
        spans::origin()
    }

    fn errand(&self) -> tracing::Span {
        spans::child(spans::Kind::Inner, "payment").into_span()
    }

    fn tells(&self, commit: &Commit) -> bool {
        self.hands.as_ref().is_some_and(|hands| hands.tells(commit))
    }

    fn hears_acknowledgements(&self) -> bool {
        self.hands.is_some()
    }

    fn acknowledged(
        &self,
        operator: &OperatorId,
        consumer: &str,
        after: Option<SettlementPosition>,
        until: SettlementPosition,
    ) {
        if let Some(hands) = &self.hands {
            hands.acknowledged(operator, consumer, after, until);
        }
    }

    fn wallet_asked(&self, operator: &OperatorId, call: Call, reply: &Reply, took: Duration) {
        if let Some(metrics) = &self.metrics {
            metrics.wallet_asked(operator, call, reply, took);
        }
    }

    fn wallet_spared(&self, operator: &OperatorId, call: Call) {
        if let Some(metrics) = &self.metrics {
            metrics.wallet_spared(operator, call);
        }
    }
}
