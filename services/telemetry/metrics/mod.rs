//! What is counted, for Prometheus. Labels are operators' names, their consumers' names, servers of Redis and words of this
//! program: no player, no table, no secret, and no more of them than there may be.

pub mod access;
pub mod calls;
pub mod commits;
pub mod house;
pub mod labels;
pub mod lateness;
pub mod money;
pub mod output;
pub mod play;
pub mod process;
pub mod redis;
pub mod store;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use prometheus_client::encoding::{prometheus_text, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::HistogramWithExemplars;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};
use rules::Table;
use tables::signals::{CommitEnd, CutOff, Retry};
use tables::wallet::{Call, Reply};
use tables::{Clock, Commit, OperatorId, Signals, SystemClock, TableKey};

use self::access::Access;
use self::calls::Calls;
use self::commits::Commits;
use self::house::House;
use self::labels::{Operators, Trace};
use self::money::Money;
use self::output::Output;
use self::play::Play;
use self::process::Process;
use self::redis::RedisSide;
use self::store::StoreSide;
use super::binary::State;
use super::names;

/// A histogram whose values point to traces.
type Traced = HistogramWithExemplars<Trace>;

/// Says in which trace the present task works, if that trace is told.
pub type Present = fn() -> Option<[u8; 16]>;

/// Says which trace a hand has, if that trace is told.
pub type OfHand = Box<dyn Fn(&TableKey, u64) -> Option<[u8; 16]> + Send + Sync>;

/// The metrics of this process.
pub struct Metrics {
    register: Register,
    operators: Operators,
    /// Calls.
    pub calls: Calls,
    /// Who is let in.
    pub access: Access,
    /// What is played.
    pub play: Play,
    /// How steps are committed, and who hears of them.
    pub commits: Commits,
    /// Operations on the store.
    pub store: StoreSide,
    /// The store's servers.
    pub redis: RedisSide,
    /// Settlements and wallets.
    pub money: Money,
    /// All tables of the installation.
    pub house: House,
    /// The log and the traces.
    pub output: Output,
    process: Process,
    present: OnceLock<Present>,
    of_hand: OnceLock<OfHand>,
    /// Held while gauges are set anew, and while they are read.
    gauges: Mutex<()>,
}

impl Metrics {
    /// Nothing counted yet. What should never happen is told as 0 from the beginning, for each of these operators, so that
    /// its first time shows as an increase.
    #[must_use]
    pub fn new(operators: &[OperatorId]) -> Metrics {
        let mut register = Register::default();
        let operators = Operators::new(operators);
        Metrics {
            process: Process::new(&mut register),
            calls: Calls::new(&mut register),
            access: Access::new(&mut register),
            play: Play::new(&mut register, &operators),
            commits: Commits::new(&mut register),
            store: StoreSide::new(&mut register),
            redis: RedisSide::new(&mut register),
            money: Money::new(&mut register, &operators),
            house: House::new(&mut register),
            output: Output::new(&mut register),
            register,
            operators,
            present: OnceLock::new(),
            of_hand: OnceLock::new(),
            gauges: Mutex::default(),
        }
    }

    /// Has values of calls and commits point to the trace of their task. Only the first one counts.
    pub fn point_to_calls(&self, present: Present) {
        let _ = self.present.set(present);
    }

    /// Has values of play point to the trace of their hand. Only the first one counts.
    pub fn point_to_hands(&self, of_hand: OfHand) {
        let _ = self.of_hand.set(of_hand);
    }

    fn present(&self) -> Option<Trace> {
        self.present.get().and_then(|present| present()).map(Trace::new)
    }

    /// How late tasks of this process are, to be measured by [`lateness::run`].
    #[must_use]
    pub fn lateness(&self) -> Arc<lateness::Lateness> {
        self.process.lateness()
    }

    /// The program's file was looked at.
    pub fn binary_looked_at(&self, found: State) {
        self.process.binary_looked_at(found);
    }

    /// The names and kinds of all metrics, also of those of which there is nothing to tell yet.
    #[cfg(test)]
    pub(super) fn entered(&self) -> &[(&'static str, MetricType)] {
        &self.register.entered
    }

    /// Sets gauges that belong together, so that no scrape meets half of them.
    fn set<T>(&self, set: impl FnOnce() -> T) -> T {
        // Nothing can be left half done that the next time does not set right.
        let _held = self.gauges.lock().unwrap_or_else(PoisonError::into_inner);
        set()
    }

    /// All of it in the format of OpenMetrics, which has exemplars; `None` if it cannot be written.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        self.write(text::encode)
    }

    /// The same in the older text format, which has none.
    #[must_use]
    pub fn plain_text(&self) -> Option<String> {
        self.write(prometheus_text::encode)
    }

    fn write(
        &self,
        encode: impl FnOnce(&mut String, &Registry) -> Result<(), std::fmt::Error>,
    ) -> Option<String> {
        self.set(|| {
            self.process.look();
            self.commits.look();
            self.redis.look();
            self.output.look();
            let mut text = String::with_capacity(64 * 1024);
            encode(&mut text, &self.register.registry).ok()?;
            Some(text)
        })
    }
}

impl Signals for Metrics {
    fn table_stopped(&self, operator: &OperatorId) {
        self.play.stopped(self.operators.of(operator));
    }

    fn decided(&self, before: &Table, commit: &Commit) {
        self.play.decided(before, commit, || self.trace_of(&commit.key, before));
    }

    fn committed(&self, commit: &Commit) {
        let operator = self.operators.of(&commit.key.operator);
        self.play.committed(&operator, commit, || self.trace_of(&commit.key, &commit.table));
        self.money.committed(&operator, commit);
    }

    fn commit_ended(&self, end: CommitEnd, took: Duration) {
        self.commits.ended(end, took, self.present());
    }

    fn commit_retried(&self, why: Retry) {
        self.commits.retried(why);
    }

    fn watcher_cut_off(&self, why: CutOff) {
        self.commits.cut_off(why);
    }

    fn wallet_asked(&self, operator: &OperatorId, call: Call, reply: &Reply, took: Duration) {
        self.money.wallet_asked(self.operators.of(operator), call, reply, took);
    }

    fn wallet_spared(&self, operator: &OperatorId, call: Call) {
        self.money.wallet_spared(self.operators.of(operator), call);
    }
}

impl Metrics {
    /// The trace of the hand that the table is at.
    fn trace_of(&self, key: &TableKey, table: &Table) -> Option<Trace> {
        // After a loss of history the table counts its hands from further on than this one.
        let number = table.hand.as_ref()?.number;
        self.of_hand.get().and_then(|of_hand| of_hand(key, number)).map(Trace::new)
    }
}

/// The metrics that there are.
#[derive(Default)]
struct Register {
    registry: Registry,
    entered: Vec<(&'static str, MetricType)>,
}

impl Register {
    /// Enters a metric of the table of names.
    fn enter(&mut self, metric: &names::Metric, what: impl Metric) {
        self.entered.push((metric.name, what.metric_type()));
        match metric.parts() {
            (name, None) => self.registry.register(name, metric.help, what),
            (name, Some(unit)) => self.registry.register_with_unit(name, metric.help, unit, what),
        }
    }
}

/// From what memory takes to what callers hardly wait for.
const QUICK: [f64; 14] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];
/// What people take.
const HUMAN: [f64; 13] = [0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0];

fn quick() -> Histogram {
    Histogram::new(QUICK)
}

fn quick_traced() -> Traced {
    Traced::new(QUICK.into_iter())
}

fn human_traced() -> Traced {
    Traced::new(HUMAN.into_iter())
}

/// What the machine's clock says, since the epoch.
fn machine_time() -> Duration {
    Duration::from_millis(SystemClock::default().now().0)
}

/// Observes a value, which may point to a trace.
fn observe(histogram: &Traced, value: f64, trace: Option<Trace>) {
    let now = trace.map(|_| UNIX_EPOCH + machine_time());
    histogram.observe(value, trace, now);
}
