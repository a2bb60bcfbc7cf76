//! Clocks: time-outs, next hands and sit-outs are data in the tables, and whoever runs [`run`] applies what is due,
//! through the same commit as everything else. A time-out is never applied early: the store checks its time again.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rules::{Ask, Command, Due, Millis, Refusal, Table};
use tokio::sync::{Notify, watch};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use crate::committing::Draft;
use crate::ids::TableKey;
use crate::play::{Ended, PlayError, State, Tables, Verdict, stamped};
use crate::store::{Outage, StoreError};

/// A time-out waits this much longer than the rules ask, so that an action that was received at the last moment is in
/// the table's line before it (rules 8.2).
const MARGIN: Millis = Millis(25);
/// The same where the action may stand in another process's line, and its commit may be on its way.
pub const SHARED_MARGIN: Millis = Millis(250);
/// So long whoever takes payments up has to make the calls.
const TERM: Millis = rules::payment::FIRST_TERM;
/// So many tables are worked on at a time.
pub const AT_ONCE: usize = 64;
/// So far ahead the calendar is looked at, and so long the clocks sleep at most while it has entries.
const HORIZON: Millis = Millis(1000);
/// So long they sleep at most if it has none: another process may have written to it.
const LONGEST_SLEEP: Millis = Millis(10_000);
/// The pause after a failure, doubled by each further one up to the longest.
const FIRST_REST: Millis = Millis(100);
const LONGEST_REST: Millis = Millis(10_000);
/// A failure is forgotten after so long.
const MEMORY: Millis = Millis(60_000);
/// How often the store is told that the service is alive.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Where other processes may have credited an outage, no time-out is applied if the last sign of life is older.
const SILENT: Duration = Duration::from_millis(1500);
/// The longest pause there: others are late too while nobody looks.
const SHARED_REST: Millis = Millis(400);
/// Running commits get so long to end at a shutdown.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// Wakes the clocks when something is due before they mean to wake up.
#[derive(Default)]
pub(crate) struct Alarm {
    /// When they wake up anyway; ms since the epoch.
    set_to: AtomicU64,
    notify: Notify,
}

impl Alarm {
    pub(crate) fn ring_for(&self, at: Millis) {
        if at.0 < self.set_to.load(Ordering::SeqCst) {
            self.notify.notify_one();
        }
    }

    fn set(&self, at: Millis) {
        self.set_to.store(at.0, Ordering::SeqCst);
    }
}

/// The tables whose clocks were running when the service went away and have not got that time back yet.
#[derive(Default)]
pub(crate) struct Uncredited(Mutex<HashSet<TableKey>>);

impl Uncredited {
    fn lock(&self) -> MutexGuard<'_, HashSet<TableKey>> {
        // A set of names: nothing to be left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What looking at a table led to.
enum Applied {
    /// A commit.
    Done,
    /// Nothing before then.
    NotYet(Millis),
    /// Nothing is due.
    Nothing,
}

/// Gives all running clocks back what the service's outages took from them, each once (rules 8.4). To be called
/// before anything is served; [`run`] does it too, before any time-out. Tables that fail are tried again before their
/// next time-out. Says how many were given time back.
///
/// # Errors
/// [`StoreError`] if the outages or the calendar cannot be read.
pub async fn credit_outages(tables: &Tables) -> Result<usize, StoreError> {
    let outages = tables.core.store.outages().await?;
    if outages.is_empty() {
        return Ok(0);
    }
    // Where a server is away nothing is applied either, and it has an outage of its own when it is back.
    let calendar = tables.core.store.due_now(Millis(u64::MAX), usize::MAX).await?;
    let keys: Vec<TableKey> = calendar.into_iter().map(|(key, _)| key).collect();
    tables.core.uncredited.lock().extend(keys.iter().cloned());
    let mut credited = 0;
    let mut jobs = JoinSet::new();
    for key in keys {
        while jobs.len() >= AT_ONCE {
            credited += usize::from(jobs.join_next().await.is_some_and(|done| matches!(done, Ok(true))));
        }
        let tables = tables.clone();
        jobs.spawn(async move { tables.credit(&key).await });
    }
    while let Some(done) = jobs.join_next().await {
        credited += usize::from(matches!(done, Ok(true)));
    }
    Ok(credited)
}

/// Runs the clocks and the heartbeat until `shutdown` becomes true or its sender goes.
pub async fn run(tables: Tables, shutdown: watch::Receiver<bool>) {
    let (beats, beaten) = watch::channel(None);
    let beat = heartbeat(&tables, shutdown.clone(), beats);
    let work = async {
        let mut stop = shutdown.clone();
        tokio::select! {
            () = stopped(&mut stop) => return,
            () = credit_all(&tables) => {}
        }
        Clocks::new(&tables, beaten).run(shutdown).await;
    };
    tokio::join!(beat, work);
}

async fn stopped(shutdown: &mut watch::Receiver<bool>) {
    // An error says that the sender is gone, and with him whoever could want the clocks.
    let _ = shutdown.wait_for(|stop| *stop).await;
}

/// A sign of life that came through.
struct Beat {
    at: Instant,
    /// What was known of outages with it.
    outages: Vec<Outage>,
}

async fn heartbeat(tables: &Tables, mut shutdown: watch::Receiver<bool>, beats: watch::Sender<Option<Beat>>) {
    let store = &tables.core.store;
    loop {
        let at = Instant::now();
        let beat = async {
            store.heartbeat(store.now().await?).await?;
            store.outages().await
        };
        match beat.await {
            Ok(outages) => {
                beats.send_replace(Some(Beat { at, outages }));
            }
            Err(error) => {
                tracing::warn!(event = "heartbeat_failed", %error, "the heartbeat could not be written")
            }
        }
        tokio::select! {
            () = stopped(&mut shutdown) => return,
            () = sleep(HEARTBEAT) => {}
        }
    }
}

/// Credits until the store answers; single tables that fail are left to the time when they are due.
async fn credit_all(tables: &Tables) {
    let mut pause = FIRST_REST;
    while let Err(error) = credit_outages(tables).await {
        tracing::error!(event = "outages_waiting", %error, "outages cannot be given back yet; no time-out is applied before");
        sleep(Duration::from_millis(pause.0)).await;
        pause = longer(pause);
    }
}

fn longer(pause: Millis) -> Millis {
    Millis(pause.0 * 2).min(LONGEST_REST)
}

impl Tables {
    /// Gives a table's clocks back what outages took; true if they got something.
    async fn credit(&self, key: &TableKey) -> bool {
        match self.try_credit(key).await {
            Ok(credited) => credited,
            Err(error) => {
                tracing::error!(event = "outage_kept", table = %key, %error, "an outage could not be given back");
                false
            }
        }
    }

    /// As [`Tables::credit`]; a table that fails stays noted, all others are credited when this returns.
    async fn try_credit(&self, key: &TableKey) -> Result<bool, PlayError> {
        let noted = self.core.uncredited.lock().contains(key);
        // A table that another process left behind is noted nowhere here.
        let shared = self.core.store.poll().is_some();
        if !noted && !shared {
            return Ok(false);
        }
        let outages = self.core.store.outages_of(key).await?;
        self.credit_these(key, outages).await
    }

    /// Before somebody is told that his clock ran out: gives the table's clocks back what an outage took of which this
    /// process may not have heard yet. False if there was none lately, and so no other judgement can be hoped for.
    pub(crate) async fn credit_by_now(&self, key: &TableKey) -> Result<bool, PlayError> {
        let outages = self.core.store.outages_by_now(key).await?;
        let any = !outages.is_empty();
        // Whoever credits them first: with that in the state the clock is another one.
        self.credit_these(key, outages).await?;
        Ok(any)
    }

    async fn credit_these(&self, key: &TableKey, mut outages: Vec<Outage>) -> Result<bool, PlayError> {
        if !outages.is_empty()
            && let Some(state) = self.core.some_state(key).await?
        {
            outages.retain(|outage| outage.to > state.stored.table.credited_until);
        }
        let at = self.core.store.now().await?;
        let mut credited = false;
        for Outage { from, to } in outages {
            let command = Command { at, ask: Ask::CreditOutage { from, to } };
            let judge = |table: &Table, at| step(table, &stamped(&command, at), None);
            match self.run(key, at, judge).await {
                Ok(_) => credited = true,
                // Given back before, or closed: there is nothing to give back to.
                Err(PlayError::Refused { .. } | PlayError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        self.core.uncredited.lock().remove(key);
        Ok(credited)
    }

    /// Before a hand is begun it has to be known what is stopped (rules 9.4); nothing else waits for that.
    async fn open_gate(&self, key: &TableKey) -> Result<(), PlayError> {
        let state = self.core.some_state(key).await?;
        let begins = |state: State| matches!(state.stored.table.due(), Some((_, Due::StartHand)));
        if state.is_some_and(begins) {
            self.core.gate.open(&*self.core.store, &key.operator).await?;
        }
        Ok(())
    }

    /// Applies what is due at a table, if anything is.
    async fn apply_due(&self, key: &TableKey) -> Result<Applied, PlayError> {
        if self.try_credit(key).await? {
            return Ok(Applied::Done);
        }
        self.open_gate(key).await?;
        let at = self.core.store.now().await?;
        let margin = self.core.store.poll().map_or(MARGIN, |_| SHARED_MARGIN);
        let judge = |table: &Table, at: Millis| {
            let Some((when, due)) = table.due() else {
                return Verdict::Settled(Ok(Applied::Nothing));
            };
            let from = match due {
                Due::Expire => when + margin,
                Due::StartHand | Due::Payments => when,
            };
            if at < from {
                return Verdict::Settled(Ok(Applied::NotYet(from)));
            }
            let ask = match due {
                Due::Expire => Ask::Expire,
                Due::StartHand => {
                    match self.standing(key).map(|standing| standing.stop(table, at, from)) {
                        Ok(None) => {}
                        Ok(Some(stop)) => return Verdict::Commit(stop, Applied::Done),
                        Err(error) => return Verdict::Settled(Err(error)),
                    }
                    let hand = table.hands + 1;
                    let deck = Box::new(self.core.dealer.deck(key, hand));
                    Ask::StartHand { deck, draw: self.core.dealer.draw(key, hand) }
                }
                // Whoever commits this makes the calls: see `courier`.
                Due::Payments => Ask::TakePayments { until: at + TERM },
            };
            match step(table, &Command { at, ask }, Some(from)) {
                Verdict::Commit(draft, ()) => Verdict::Commit(draft, Applied::Done),
                Verdict::Settled(Ok(())) => Verdict::Settled(Ok(Applied::Nothing)),
                Verdict::Settled(Err(error)) => Verdict::Settled(Err(error)),
                Verdict::Repeated(()) => Verdict::Settled(Ok(Applied::Nothing)),
            }
        };
        match self.run(key, at, judge).await {
            Ok(Ended::Done(applied)) => Ok(applied),
            Ok(Ended::Repeated(_)) => Ok(Applied::Nothing),
            // By the store's time it is not yet due after all.
            Err(PlayError::Refused { refusal: Refusal::NotDue { .. }, .. }) => Ok(Applied::Nothing),
            Err(error) => Err(error),
        }
    }
}

fn step(table: &Table, command: &Command, not_before: Option<Millis>) -> Verdict<()> {
    match table.step(command) {
        Ok((events, after)) => {
            let draft = Draft { events, after: Arc::new(after), request: None, not_before, until: None };
            Verdict::Commit(draft, ())
        }
        Err(refusal) => Verdict::Settled(Err(PlayError::Refused { refusal, version: table.version })),
    }
}

type Job = (TableKey, Result<Applied, PlayError>);

/// The loop. A table that fails rests a while and keeps nobody else waiting.
struct Clocks<'a> {
    tables: &'a Tables,
    beaten: watch::Receiver<Option<Beat>>,
    /// The outages that were credited.
    credited: Vec<Outage>,
    jobs: JoinSet<Job>,
    busy: HashMap<Id, TableKey>,
    resting: HashMap<TableKey, Resting>,
}

struct Resting {
    until: Millis,
    pause: Millis,
}

impl Clocks<'_> {
    fn new(tables: &Tables, beaten: watch::Receiver<Option<Beat>>) -> Clocks<'_> {
        let (jobs, busy, resting) = (JoinSet::new(), HashMap::new(), HashMap::new());
        Clocks { tables, beaten, credited: Vec::new(), jobs, busy, resting }
    }

    /// A store can be away while its users live, and a machine can stand still and wake up. Who comes back first notes
    /// it with his heartbeat; so before each look at the calendar the last heartbeat has to be recent, and what it told
    /// credited.
    async fn credit_absence(&mut self) -> Result<(), StoreError> {
        if self.beaten.borrow().is_none() {
            let _ = timeout(SILENT, self.beaten.wait_for(Option::is_some)).await;
        }
        let known = match &*self.beaten.borrow() {
            Some(beat) if beat.at.elapsed() < SILENT => beat.outages.clone(),
            _ => return Err(StoreError::Unavailable("no heartbeat has come through lately".to_owned())),
        };
        if known != self.credited {
            credit_outages(self.tables).await?;
            self.credited = known;
        }
        Ok(())
    }

    /// The pause after another failure.
    fn next_pause(&self, pause: Millis) -> Millis {
        match self.tables.core.store.poll() {
            Some(_) => longer(pause).min(SHARED_REST),
            None => longer(pause),
        }
    }

    async fn run(mut self, mut shutdown: watch::Receiver<bool>) {
        let alarm = &self.tables.core.alarm;
        let mut pause = FIRST_REST;
        while !*shutdown.borrow() {
            // From here on any commit rings, until it is known when the clocks wake up next.
            alarm.set(Millis(u64::MAX));
            let wait = match self.pass().await {
                Ok((now, wake)) => {
                    pause = FIRST_REST;
                    alarm.set(wake);
                    wake - now
                }
                Err(error) => {
                    tracing::error!(event = "clocks_stalled", %error, "the calendar of the clocks cannot be read");
                    alarm.set(Millis::ZERO);
                    pause = self.next_pause(pause);
                    pause
                }
            };
            tokio::select! {
                () = stopped(&mut shutdown) => break,
                () = alarm.notify.notified() => {}
                () = sleep(Duration::from_millis(wait.0)) => {}
                Some(ended) = self.jobs.join_next_with_id() => self.finish(ended).await,
            }
            while let Some(ended) = self.jobs.try_join_next_with_id() {
                self.finish(ended).await;
            }
        }
        // A commit that has begun is seen through in a task of its own; this waits only to end in good order.
        let rest = async { while self.jobs.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST_WAIT, rest).await;
    }

    /// Begins with all tables that are due; says what time it is, and when to look again.
    async fn pass(&mut self) -> Result<(Millis, Millis), StoreError> {
        self.credit_absence().await?;
        let store = &self.tables.core.store;
        let now = store.now().await?;
        self.resting.retain(|_, resting| resting.until + MEMORY > now);
        let limit = AT_ONCE + self.busy.len() + self.resting.len();
        let calendar = store.due_now(now + HORIZON, limit).await?;
        let mut wake = now + HORIZON;
        // Who looks again soon anyway need not know.
        if calendar.is_empty() && store.poll().is_none() {
            let next = store.next_due().await?.unwrap_or(now + LONGEST_SLEEP);
            wake = next.clamp(now, now + LONGEST_SLEEP);
        }
        if let Some(poll) = store.poll() {
            wake = wake.min(now + poll);
        }
        let busy: HashSet<TableKey> = self.busy.values().cloned().collect();
        for (key, at) in calendar {
            let at = self.resting.get(&key).map_or(at, |resting| resting.until.max(at));
            if at > now {
                wake = wake.min(at);
            } else if self.jobs.len() < AT_ONCE && !busy.contains(&key) {
                self.begin(key);
            }
        }
        Ok((now, wake))
    }

    fn begin(&mut self, key: TableKey) {
        let (tables, of) = (self.tables.clone(), key.clone());
        let job = self.jobs.spawn(async move {
            let applied = tables.apply_due(&of).await;
            (of, applied)
        });
        self.busy.insert(job.id(), key);
    }

    async fn finish(&mut self, ended: Result<(Id, Job), JoinError>) {
        let (id, applied) = match ended {
            Ok((id, (_, applied))) => (id, applied),
            Err(died) => (died.id(), Err(PlayError::Store(StoreError::Unknown(died.to_string())))),
        };
        let Some(key) = self.busy.remove(&id) else {
            return;
        };
        match applied {
            Ok(Applied::Done) => {
                self.resting.remove(&key);
            }
            Ok(Applied::NotYet(until)) => {
                self.resting.insert(key, Resting { until, pause: FIRST_REST });
            }
            Ok(Applied::Nothing) => self.rest(key).await,
            Err(error @ PlayError::Store(StoreError::Unavailable(_))) => {
                // It is tried again soon; if the store stays away, that is told by who looks after the store.
                tracing::warn!(event = "clock_waits", table = %key, %error, "what is due at a table waits");
                self.rest(key).await;
            }
            Err(error) => {
                tracing::error!(event = "clock_failed", table = %key, %error, "what is due at a table cannot be applied");
                self.rest(key).await;
            }
        }
    }

    async fn rest(&mut self, key: TableKey) {
        // If even the time cannot be had, the next pass fails and waits.
        let Ok(now) = self.tables.core.store.now().await else {
            return;
        };
        let pause = self.resting.get(&key).map_or(FIRST_REST, |resting| longer(resting.pause));
        self.resting.insert(key, Resting { until: now + pause, pause });
    }
}
