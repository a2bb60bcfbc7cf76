//! Tells hands that are over. Whoever has ended one notes it in the store with the same commit, and tells it a moment later;
//! what he does not come to, others find noted and tell. Nothing here makes a table wait.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::trace::SpanData;
use rules::terms::StopScope;
use rules::{Event, Millis, Table};
use tables::{Commit, OperatorId, SettlementPosition, Store, StoreError, TableHand, TableKey};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout_at};

use super::deliveries::{self, Acknowledged};
use super::export::{Export, spans};
use super::gather::{self, Found};
use super::ids::HandTrace;
use super::names::Names;
use super::sweep;
use super::timeline::{Told, timeline};
use crate::telemetry::traces::TraceSettings;
use crate::telemetry::traces::counts::{HandTold, SpanDrop, TraceCounts};

/// So many hands may wait to be told; more are left noted.
const WAITING: usize = 4096;
/// So many acknowledgements.
const ACKNOWLEDGED: usize = 256;
/// So many hands are read at once, and make a batch: about 500 spans.
pub(super) const AT_ONCE: usize = 16;
/// So long a batch waits for more.
const GATHERING: Duration = Duration::from_millis(200);
/// So long it is waited before the collector is asked once more.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];
/// So long hands are told at the end of the process.
const LAST: Duration = Duration::from_secs(3);

/// When what is left over is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// What was noted so long ago, ms, is left over. Until then it is told by the server that noted it, and by nobody else.
    pub age: Millis,
    /// So often it is looked for.
    pub every: Duration,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { age: Millis::seconds(30), every: Duration::from_secs(10) }
    }
}

/// Which hands are told, and where those go that are over.
pub struct HandTraces {
    ratio: f64,
    ended: mpsc::Sender<Ended>,
    acknowledged: mpsc::Sender<Acknowledged>,
    counts: Arc<dyn TraceCounts>,
}

/// A hand that is over.
struct Ended {
    key: TableKey,
    number: u64,
    version: u64,
    /// The table after it.
    after: Arc<Table>,
    since: Instant,
}

/// Tells them.
pub struct Teller {
    ratio: f64,
    names: Names,
    export: Export,
    counts: Arc<dyn TraceCounts>,
    pace: Pace,
    ended: mpsc::Receiver<Ended>,
    acknowledged: mpsc::Receiver<Acknowledged>,
}

impl HandTraces {
    /// As the settings say. Has to be made inside a tokio runtime; what it takes in is told while [`Teller::run`] runs.
    ///
    /// # Errors
    /// If the collector's endpoint is no address.
    pub fn new(
        settings: &TraceSettings,
        counts: Option<Arc<dyn TraceCounts>>,
    ) -> Result<(Arc<HandTraces>, Teller), ExporterBuildError> {
        let counts = counts.unwrap_or_else(|| Arc::new(Uncounted));
        let (ended, hands) = mpsc::channel(WAITING);
        let (acknowledged, records) = mpsc::channel(ACKNOWLEDGED);
        let teller = Teller {
            ratio: settings.ratio,
            names: Names::new(&settings.players),
            export: Export::new(settings, Arc::clone(&counts))?,
            counts: Arc::clone(&counts),
            pace: Pace::default(),
            ended: hands,
            acknowledged: records,
        };
        Ok((Arc::new(HandTraces { ratio: settings.ratio, ended, acknowledged, counts }), teller))
    }

    /// Whether the hand that this commit ends is told: a share of all, and each that went wrong.
    #[must_use]
    pub fn tells(&self, commit: &Commit) -> bool {
        let Some(hand) = &commit.table.hand else {
            return false;
        };
        let trace = HandTrace::of(&commit.key.operator, &commit.key.table, hand.number);
        trace.is_in(self.ratio) || commit.events.iter().any(is_fault) || was_shifted(&commit.table)
    }

    /// Takes in the hand that this commit has ended, if it has ended one and that is told.
    pub fn committed(&self, commit: &Commit) {
        if !commit.events.iter().any(Event::ends_hand) {
            return;
        }
        let Some(hand) = commit.untold_hand() else {
            return self.counts.hand_trace(HandTold::NotSampled);
        };
        let (key, after, since) = (commit.key.clone(), Arc::clone(&commit.table), Instant::now());
        let ended = Ended { key, number: hand.number, version: commit.token.version, after, since };
        if self.ended.try_send(ended).is_err() {
            self.counts.spans_dropped(SpanDrop::HandsWaiting, 1);
        }
    }

    /// Takes in that a consumer has acknowledged these records.
    pub fn acknowledged(
        &self,
        operator: &OperatorId,
        consumer: &str,
        after: Option<SettlementPosition>,
        until: SettlementPosition,
    ) {
        let (operator, consumer) = (operator.clone(), consumer.to_owned());
        if self.acknowledged.try_send(Acknowledged { operator, consumer, after, until }).is_err() {
            self.counts.spans_dropped(SpanDrop::QueueFull, 1);
        }
    }
}

fn is_fault(event: &Event) -> bool {
    matches!(
        event,
        Event::HandVoided { .. }
            | Event::Stopped { scope: StopScope::Malfunction, .. }
            | Event::HistoryLost { .. }
            | Event::ClocksShifted { .. }
    )
}

/// Whether clocks of the last hand got time back (rules 8.4).
fn was_shifted(table: &Table) -> bool {
    table.hand.as_ref().is_some_and(|hand| table.credited_until > hand.started_at)
}

/// Nobody counts.
struct Uncounted;

impl TraceCounts for Uncounted {
    fn spans_exported(&self, _: u64) {}

    fn spans_dropped(&self, _: SpanDrop, _: u64) {}

    fn hand_trace(&self, _: HandTold) {}
}

impl Teller {
    /// The same, with another pace.
    #[must_use]
    pub fn at(self, pace: Pace) -> Teller {
        Teller { pace, ..self }
    }

    /// Tells hands until it is told to stop, and then those that wait, for a moment.
    pub async fn run(
        self,
        store: Arc<dyn Store>,
        operators: Vec<OperatorId>,
        mut stop: watch::Receiver<bool>,
    ) {
        let Teller { ratio, names, export, counts, pace, mut ended, acknowledged } = self;
        let work = Work { store, ratio, names, export, counts, pace };
        let mut halt = stop.clone();
        let hands = async {
            loop {
                tokio::select! {
                    () = told_to(&mut halt) => break,
                    first = ended.recv() => match first {
                        Some(first) => work.tell(first, &mut ended).await,
                        None => break,
                    },
                }
            }
            while let Ok(first) = ended.try_recv() {
                work.tell(first, &mut ended).await;
            }
        };
        let others =
            async { tokio::join!(sweep::run(&work, &operators), deliveries::run(&work, acknowledged)) };
        let too_long = async {
            told_to(&mut stop).await;
            sleep(LAST).await;
        };
        // What is not told then is noted.
        tokio::select! {
            () = hands => {}
            ((), ()) = others => {}
            () = too_long => {}
        }
    }
}

/// Waits until it is told to stop.
async fn told_to(stop: &mut watch::Receiver<bool>) {
    // An error says that the process is ending.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// What all that is told has in common.
pub(super) struct Work {
    pub(super) store: Arc<dyn Store>,
    pub(super) ratio: f64,
    pub(super) names: Names,
    pub(super) export: Export,
    pub(super) counts: Arc<dyn TraceCounts>,
    pub(super) pace: Pace,
}

impl Work {
    /// Tells this hand and those that end meanwhile.
    async fn tell(&self, first: Ended, more: &mut mpsc::Receiver<Ended>) {
        let until = Instant::now() + GATHERING;
        let mut hands = vec![first];
        while hands.len() < AT_ONCE {
            match timeout_at(until, more.recv()).await {
                Ok(Some(ended)) => hands.push(ended),
                Ok(None) | Err(_) => break,
            }
        }
        hands.retain(|hand| Instant::now() < self.mine_until(hand));
        let Some(until) = hands.iter().map(|hand| self.mine_until(hand)).min() else {
            return;
        };
        let read = join_all(hands.iter().map(|hand| self.read(hand))).await;
        let read = hands.into_iter().zip(read).filter_map(|(hand, spans)| Some((hand.noted(), spans?)));
        let (told, batch): (Vec<_>, Vec<_>) = read.unzip();
        if self.send(batch.concat(), until).await {
            self.forget(&told).await;
            told.iter().for_each(|_| self.counts.hand_trace(HandTold::Exported));
        }
    }

    /// So long nobody else tells this hand; the last try may take a while.
    fn mine_until(&self, hand: &Ended) -> Instant {
        hand.since + Duration::from_millis(self.pace.age.0 / 3 * 2)
    }

    /// The spans of a hand; `None` if they cannot be had now: then it stays noted.
    async fn read(&self, hand: &Ended) -> Option<Vec<SpanData>> {
        let found = gather::ended(&*self.store, &hand.key, hand.number, hand.version, &hand.after).await;
        let found = found.inspect_err(|error| cannot_read(&hand.key, hand.number, error)).ok()?;
        self.spans(&hand.key, hand.number, &found)
    }

    /// The spans of what was found of a hand.
    pub(super) fn spans(&self, key: &TableKey, number: u64, found: &Found) -> Option<Vec<SpanData>> {
        let Found { entries, config, lost } = found;
        let told = Told { key, number, config: config.as_ref(), lost: *lost, names: &self.names };
        let root = timeline(&told, entries)?;
        Some(spans(&HandTrace::of(&key.operator, &key.table, number), None, &root))
    }

    /// Whether the collector has these, if need be after some tries.
    async fn send(&self, batch: Vec<SpanData>, until: Instant) -> bool {
        if batch.is_empty() {
            return false;
        }
        for pause in PAUSES {
            if self.export.send(batch.clone(), Some(until)).await {
                return true;
            }
            if Instant::now() + pause >= until {
                return false;
            }
            sleep(pause).await;
        }
        self.export.send(batch, Some(until)).await
    }

    /// These are told.
    pub(super) async fn forget(&self, told: &[(OperatorId, TableHand)]) {
        let operators: BTreeSet<&OperatorId> = told.iter().map(|(operator, _)| operator).collect();
        for operator in operators {
            let hands = told.iter().filter(|(other, _)| other == operator).map(|(_, hand)| *hand);
            let hands: Vec<TableHand> = hands.collect();
            if let Err(error) = self.store.untold().forget(operator, &hands).await {
                // They are told once more, as the same traces.
                tracing::debug!(%operator, %error, "hands that are told stay noted");
            }
        }
    }
}

impl Ended {
    fn noted(&self) -> (OperatorId, TableHand) {
        (self.key.operator.clone(), TableHand { table: self.key.table, number: self.number })
    }
}

/// A hand that cannot be read now; it stays noted.
pub(super) fn cannot_read(table: &TableKey, hand: u64, error: &StoreError) {
    tracing::debug!(%table, hand, %error, "a hand that is to be told cannot be read");
}
