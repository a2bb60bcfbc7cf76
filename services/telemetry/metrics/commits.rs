//! How steps of tables are committed, and who hears of them.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use tables::Feed;
use tables::signals::{CommitEnd, CutOff, Retry};

use super::labels::Trace;
use super::{Register, Traced, observe, quick_traced};
use crate::telemetry::names;

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfOutcome {
    outcome: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfReason {
    why: &'static str,
}

/// Commits and watchers.
pub struct Commits {
    ended: Family<OfOutcome, Counter>,
    seconds: Traced,
    retries: Family<OfReason, Counter>,
    watchers: Gauge,
    cut_off: Family<OfReason, Counter>,
    feed: OnceLock<Arc<Feed>>,
}

impl Commits {
    pub(super) fn new(register: &mut Register) -> Commits {
        let commits = Commits {
            ended: Family::default(),
            seconds: quick_traced(),
            retries: Family::default(),
            watchers: Gauge::default(),
            cut_off: Family::default(),
            feed: OnceLock::new(),
        };
        for end in CommitEnd::ALL {
            drop(commits.ended.get_or_create(&OfOutcome { outcome: end.word() }));
        }
        for why in [Retry::Conflict, Retry::Unknown] {
            drop(commits.retries.get_or_create(&OfReason { why: why.word() }));
        }
        for why in [CutOff::Slow, CutOff::Store] {
            drop(commits.cut_off.get_or_create(&OfReason { why: why.word() }));
        }
        register.enter(&names::COMMITS, commits.ended.clone());
        register.enter(&names::COMMIT_SECONDS, commits.seconds.clone());
        register.enter(&names::COMMIT_RETRIES, commits.retries.clone());
        register.enter(&names::WATCHERS, commits.watchers.clone());
        register.enter(&names::WATCHERS_CUT_OFF, commits.cut_off.clone());
        commits
    }

    /// Has the watchers of this feed counted. Only the first one counts.
    pub fn watch(&self, feed: Arc<Feed>) {
        let _ = self.feed.set(feed);
    }

    pub(super) fn look(&self) {
        if let Some(feed) = self.feed.get() {
            self.watchers.set(i64::try_from(feed.watchers()).unwrap_or(i64::MAX));
        }
    }

    pub(super) fn ended(&self, end: CommitEnd, took: Duration, trace: Option<Trace>) {
        self.ended.get_or_create(&OfOutcome { outcome: end.word() }).inc();
        observe(&self.seconds, took.as_secs_f64(), trace);
    }

    pub(super) fn retried(&self, why: Retry) {
        self.retries.get_or_create(&OfReason { why: why.word() }).inc();
    }

    pub(super) fn cut_off(&self, why: CutOff) {
        self.cut_off.get_or_create(&OfReason { why: why.word() }).inc();
    }
}
