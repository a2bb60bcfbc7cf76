//! Settlements and operators' wallets.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use rules::event::Event;
use rules::payment::Phase;
use tables::wallet::{Call, Reply};
use tables::{Commit, OperatorId, SettlementKind};

use super::labels::{OfOperator, Operator, Operators};
use super::{Metrics, Register};
use crate::telemetry::names;

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfConsumer {
    operator: Operator,
    consumer: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfCall {
    operator: Operator,
    call: &'static str,
    outcome: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfKind {
    operator: Operator,
    kind: &'static str,
}

/// What one consumer has still before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unread {
    /// Whose records.
    pub operator: OperatorId,
    /// Who has not acknowledged them: 64 names an operator at the most.
    pub consumer: String,
    /// How many.
    pub depth: u64,
    /// How old the oldest is, in seconds.
    pub oldest: u64,
}

/// Settlements and wallets.
pub struct Money {
    settlements: Family<OfKind, Counter>,
    depth: Family<OfConsumer, Gauge>,
    oldest: Family<OfConsumer, Gauge>,
    calls: Family<OfCall, Counter>,
    seconds: Family<OfOperator, Histogram, fn() -> Histogram>,
    parked: Family<OfOperator, Counter>,
}

impl Money {
    pub(super) fn new(register: &mut Register, operators: &Operators) -> Money {
        let money = Money {
            settlements: Family::default(),
            depth: Family::default(),
            oldest: Family::default(),
            calls: Family::default(),
            seconds: Family::new_with_constructor(durations),
            parked: Family::default(),
        };
        for operator in operators.known() {
            drop(money.parked.get_or_create(&OfOperator { operator: operator.clone() }));
        }
        register.enter(&names::UNACKNOWLEDGED, money.depth.clone());
        register.enter(&names::OLDEST, money.oldest.clone());
        register.enter(&names::SETTLEMENTS, money.settlements.clone());
        register.enter(&names::WALLET_CALLS, money.calls.clone());
        register.enter(&names::WALLET_SECONDS, money.seconds.clone());
        register.enter(&names::PAYMENTS_PARKED, money.parked.clone());
        money
    }

    pub(super) fn committed(&self, operator: &Operator, commit: &Commit) {
        for settlement in &commit.settlements {
            let kind = word(settlement.kind);
            self.settlements.get_or_create(&OfKind { operator: operator.clone(), kind }).inc();
        }
        let parked = |event: &&Event| matches!(event, Event::PaymentMoved { phase: Phase::Parked, .. });
        for _ in commit.events.iter().filter(parked) {
            self.parked.get_or_create(&OfOperator { operator: operator.clone() }).inc();
        }
    }

    pub(super) fn wallet_asked(&self, operator: Operator, call: Call, reply: &Reply, took: Duration) {
        let outcome = match reply {
            Reply::Booked => "booked",
            Reply::Declined(_) => "declined",
            Reply::Cancelled => "cancelled",
            Reply::Missing => "missing",
            Reply::Unknown(_) => "unknown",
        };
        self.count(operator.clone(), call, outcome);
        self.seconds.get_or_create(&OfOperator { operator }).observe(took.as_secs_f64());
    }

    pub(super) fn wallet_spared(&self, operator: Operator, call: Call) {
        self.count(operator, call, "not_asked");
    }

    fn count(&self, operator: Operator, call: Call, outcome: &'static str) {
        let call = match call {
            Call::Debit => "debit",
            Call::Credit => "credit",
            Call::Cancel => "cancel",
            Call::Find => "find",
        };
        self.calls.get_or_create(&OfCall { operator, call, outcome }).inc();
    }
}

impl Metrics {
    /// Says what consumers have still before them. Those that are not named are not told of any more.
    pub fn unread(&self, unread: &[Unread]) {
        self.set(|| {
            let Money { depth, oldest, .. } = &self.money;
            depth.clear();
            oldest.clear();
            for one in unread {
                let operator = self.operators.of(&one.operator);
                let labels = OfConsumer { operator, consumer: one.consumer.clone() };
                depth.get_or_create(&labels).set(i64::try_from(one.depth).unwrap_or(i64::MAX));
                oldest.get_or_create(&labels).set(i64::try_from(one.oldest).unwrap_or(i64::MAX));
            }
        });
    }
}

const fn word(kind: SettlementKind) -> &'static str {
    match kind {
        SettlementKind::Hand => "hand",
        SettlementKind::Void => "void",
        SettlementKind::BuyIn => "buy_in",
        SettlementKind::AddChips => "add_chips",
        SettlementKind::CashOut => "cash_out",
        SettlementKind::Reversal => "reversal",
        SettlementKind::Transaction => "transaction",
    }
}

/// From what a wallet next door takes to the longest that it may.
fn durations() -> Histogram {
    Histogram::new([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0])
}
