//! A house whose hands are told to a collector.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fulcrum::pb::v1;
use fulcrum::telemetry::hands::teller::Pace;
use fulcrum::telemetry::hands::{HandTrace, HandTraces};
use fulcrum::telemetry::listener::Listener;
use fulcrum::telemetry::traces::counts::{HandTold, SpanDrop, TraceCounts};
use fulcrum::telemetry::traces::{PlayerNames, TraceSettings};
use rules::Millis;
use tables::{OperatorId, TableId, TableKey};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::harness::collector::{Collector, Told};
use crate::harness::{Caller, Eyes, House, PATIENCE};

/// As servers have it.
pub fn slow() -> Pace {
    Pace::default()
}

/// What is left over is found within a moment.
pub fn fast() -> Pace {
    Pace { age: Millis(1500), every: Duration::from_millis(100) }
}

/// What was counted.
#[derive(Default)]
pub struct Counts {
    pub spans: AtomicU64,
    pub failed: AtomicU64,
    pub exported: AtomicU64,
    pub not_sampled: AtomicU64,
    pub late: AtomicU64,
}

impl TraceCounts for Counts {
    fn spans_exported(&self, count: u64) {
        self.spans.fetch_add(count, Ordering::SeqCst);
    }

    fn spans_dropped(&self, _: SpanDrop, count: u64) {
        self.failed.fetch_add(count, Ordering::SeqCst);
    }

    fn hand_trace(&self, told: HandTold) {
        let counted = match told {
            HandTold::Exported => &self.exported,
            HandTold::NotSampled => &self.not_sampled,
            HandTold::Late => &self.late,
        };
        counted.fetch_add(1, Ordering::SeqCst);
    }
}

/// The task that tells a house's hands.
pub struct Telling {
    pub counts: Arc<Counts>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Telling {
    /// Tells this share of the house's hands to the collector.
    pub fn begin(house: &House, collector: &Collector, ratio: f64, pace: Pace) -> Telling {
        let players = PlayerNames::Hashed([7; 32]);
        let settings = TraceSettings { endpoint: collector.endpoint(), ratio, from_callers: true, players };
        let counts = Arc::new(Counts::default());
        let counted: Arc<dyn TraceCounts> = Arc::<Counts>::clone(&counts);
        let (hands, teller) = HandTraces::new(&settings, Some(counted)).expect("an address");
        let listener = Listener { hands: Some(hands), ..Listener::default() };
        let _ = house.tables.clone().with_signals(Arc::new(listener));
        let (stop, stopped) = watch::channel(false);
        let store = Arc::clone(house.tables.store());
        let operators = OperatorId::new("dev").into_iter().collect();
        let task = tokio::spawn(teller.at(pace).run(store, operators, stopped));
        Telling { counts, stop, task }
    }

    /// Ends in good order.
    pub async fn end(self) {
        self.stop.send_replace(true);
        tokio::time::timeout(PATIENCE, self.task).await.expect("it ends").expect("it does not panic");
    }

    /// Ends as a process that is killed.
    pub fn die(self) {
        self.task.abort();
    }
}

/// The table, as stores know it.
pub fn key(table: &str) -> TableKey {
    TableKey { operator: OperatorId::new("dev").unwrap(), table: TableId(table.parse().unwrap()) }
}

/// The trace of a hand.
pub fn trace_of(table: &str, number: u64) -> String {
    let key = key(table);
    HandTrace::of(&key.operator, &key.table, number).trace_id().to_string()
}

/// Waits for the whole trace of a hand; its spans as they came, the root first. All of a hand comes in one batch.
pub async fn trace(collector: &Collector, table: &str, number: u64) -> Vec<Told> {
    let id = trace_of(table, number);
    let is = |told: &&Told| told.trace == id;
    let told = collector
        .until(&format!("hand {number}"), |told| told.iter().filter(is).any(|told| told.name == "hand"))
        .await;
    told.iter().filter(is).cloned().collect()
}

/// Plays the running hand to its end: nobody folds, everybody calls, and all pick their second card.
pub async fn play_out(caller: &mut Caller, eyes: &mut Eyes, table: &str, players: &[&str]) -> u64 {
    let number = eyes.hand;
    while let Some(turn) = eyes.turn.clone() {
        let seat = turn.seats[0] as usize;
        let player = players[seat - 1];
        let sequence = if turn.kind() == v1::TurnKind::Pick {
            caller.pick(table, player, &turn, 1).await.expect("a pick").sequence
        } else {
            let legal = turn.legal.expect("one is asked");
            let action = if legal.can_check { v1::Action::Check } else { v1::Action::Call };
            caller.act(table, player, &turn, action, 0).await.expect("an action").sequence
        };
        eyes.until(sequence).await;
    }
    number
}
