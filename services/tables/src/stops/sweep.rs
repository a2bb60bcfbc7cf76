//! The sweep: tables are made to show what the registry says. It begins when a change has settled, by whoever made it; if
//! he does not finish it, by another process. Beside that, all tables are compared with the registry now and then.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use rules::Table;
use rules::{Millis, event::Event};
use tokio::sync::watch;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

use super::gate::Made;
use super::{Shelf, StopChange, StopName, StopState};
use crate::committing::Draft;
use crate::dealer::nonce;
use crate::ids::{OperatorId, TableKey};
use crate::play::{PlayError, Tables, Verdict};
use crate::store::{StoreError, Token};
use crate::unreadable::unreadable;

/// So many tables are read at a time, and so many are worked on at once: a sweep leaves room for play.
const PAGE: usize = 100;
const AT_ONCE: usize = 8;
/// So often the end of a sweep is tried to be noted against other changes.
const ATTEMPTS: usize = 8;

/// Sweeps until `shutdown` becomes true or its sender goes: the tables of these operators. Tables of others are kept
/// from beginning hands all the same, but idle ones do not show why.
pub async fn run(tables: Tables, operators: Vec<OperatorId>, mut shutdown: watch::Receiver<bool>) {
    let mut sweeper =
        Sweeper { tables, operators, jobs: JoinSet::new(), busy: HashMap::new(), compared: None };
    loop {
        sweeper.begin_what_is_due().await;
        let gate = &sweeper.tables.core.gate;
        let look = Instant::now() + gate.settings.look;
        let next = gate.next_ripe().map_or(look, |ripe| ripe.min(look));
        tokio::select! {
            // An error says that the sender is gone, and with him whoever could want it.
            _ = shutdown.wait_for(|stop| *stop) => return,
            () = gate.sweeping.notified() => {}
            () = sleep_until(next) => {}
            Some(ended) = sweeper.jobs.join_next_with_id() => {
                let id = ended.map_or_else(|died| died.id(), |(id, ())| id);
                sweeper.busy.remove(&id);
            }
        }
    }
}

/// What a task is about.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Job {
    Shelf(Shelf),
    Comparison,
}

struct Sweeper {
    tables: Tables,
    operators: Vec<OperatorId>,
    jobs: JoinSet<()>,
    /// One sweep of a shelf at a time.
    busy: HashMap<Id, Job>,
    /// When all tables were last compared.
    compared: Option<Instant>,
}

impl Sweeper {
    async fn begin_what_is_due(&mut self) {
        let every = self.tables.core.gate.settings.compare;
        if self.compared.is_none_or(|at| at.elapsed() >= every) && !self.is_busy(&Job::Comparison) {
            self.compared = Some(Instant::now());
            let (tables, operators) = (self.tables.clone(), self.operators.clone());
            self.begin(Job::Comparison, async move {
                let all_well = tables.show_all(&operators).await;
                tracing::debug!(all_well, "all tables are compared with what is stopped");
            });
        }
        let made = self.tables.core.gate.ripe();
        let mut shelves = vec![Shelf::Service];
        shelves.extend(self.operators.iter().cloned().map(Shelf::Operator));
        // An administrator may name an operator of whom there is no token here.
        let others = made.iter().map(|made| made.shelf.clone()).filter(|shelf| !shelves.contains(shelf));
        let others: HashSet<Shelf> = others.collect();
        shelves.extend(others);
        for shelf in shelves {
            let own: Vec<Made> = made.iter().filter(|made| made.shelf == shelf).cloned().collect();
            if self.is_busy(&Job::Shelf(shelf.clone())) {
                own.into_iter().for_each(|made| self.put_back(made));
                continue;
            }
            match self.tables.ripe(&shelf, &own).await {
                Ok(ripe) if ripe.is_empty() => {}
                Ok(ripe) => self.sweep(shelf, ripe),
                Err(error) => {
                    tracing::debug!(%shelf, %error, "it cannot be told what is to be swept");
                    own.into_iter().for_each(|made| self.put_back(made));
                }
            }
        }
    }

    fn is_busy(&self, job: &Job) -> bool {
        self.busy.values().any(|busy| busy == job)
    }

    /// To be looked at again soon, and not at once.
    fn put_back(&self, made: Made) {
        let from = Instant::now() + Duration::from_millis(100);
        self.tables.core.gate.put_back(Made { from, ..made });
    }

    fn sweep(&mut self, shelf: Shelf, ripe: Vec<(StopName, u64)>) {
        let tables = self.tables.clone();
        let concerned = match &shelf {
            Shelf::Service => self.operators.clone(),
            Shelf::Operator(operator) => vec![operator.clone()],
        };
        self.begin(Job::Shelf(shelf.clone()), async move {
            if tables.show_all(&concerned).await {
                match tables.finish(&shelf, &ripe).await {
                    Ok(()) => return,
                    Err(error) => tracing::warn!(event = "stop_not_shown", %shelf, %error, "the end of a sweep cannot be noted"),
                }
            }
            // It is swept again, and what fails is not to be tried without a pause.
            sleep(tables.core.gate.settings.look).await;
        });
    }

    fn begin(&mut self, job: Job, work: impl Future<Output = ()> + Send + 'static) {
        let id = self.jobs.spawn(work).id();
        self.busy.insert(id, job);
    }
}

impl Tables {
    /// What of a shelf is to be swept now: what was changed here and has settled, and what others should have swept.
    async fn ripe(&self, shelf: &Shelf, made: &[Made]) -> Result<Vec<(StopName, u64)>, StoreError> {
        let stopped = self.stops(shelf).await?;
        let pending: Vec<_> = stopped.entries.iter().filter(|entry| entry.is_pending()).collect();
        if pending.is_empty() {
            return Ok(Vec::new());
        }
        let settings = &self.core.gate.settings;
        let left_to_others = settings.settle(&*self.core.store) + settings.grace;
        let left = Millis(u64::try_from(left_to_others.as_millis()).unwrap_or(u64::MAX));
        let now = self.core.store.now().await?;
        let until = made.iter().map(|made| made.version).max().unwrap_or_default();
        let ripe = pending.into_iter().filter(|entry| entry.version <= until || now - entry.changed > left);
        Ok(ripe.map(|entry| (entry.name(), entry.version)).collect())
    }

    /// Makes all tables of the operators show what is stopped. False if some could not be made to.
    async fn show_all(&self, operators: &[OperatorId]) -> bool {
        let mut all_well = true;
        for operator in operators {
            if let Err(error) = self.show_those_of(operator).await {
                tracing::warn!(event = "stop_not_shown", %operator, %error, "the operator's tables cannot be swept");
                all_well = false;
            }
        }
        all_well
    }

    async fn show_those_of(&self, operator: &OperatorId) -> Result<(), PlayError> {
        let (mut after, mut last_error) = (None, None);
        loop {
            let page = self.core.store.tables(operator, after, PAGE).await?;
            let Some((last, _)) = page.last() else {
                return last_error.map_or(Ok(()), Err);
            };
            after = Some(last.table);
            self.core.gate.open(&*self.core.store, operator).await?;
            let mut jobs = JoinSet::new();
            for (key, stored) in page {
                let stored = match stored {
                    Ok(stored) => stored,
                    // Nothing can be done at it, and so nothing that is stopped.
                    Err(error) => {
                        unreadable(&key, &error);
                        continue;
                    }
                };
                if self.standing(&key)?.asks(&stored.table).is_empty() {
                    continue;
                }
                if jobs.len() >= AT_ONCE {
                    last_error = failure(jobs.join_next().await).or(last_error);
                }
                let tables = self.clone();
                jobs.spawn(async move { tables.show(&key).await });
            }
            while let Some(ended) = jobs.join_next().await {
                last_error = failure(Some(ended)).or(last_error);
            }
        }
    }

    /// Makes a table show what is stopped, by the registry as it is: whoever does that has nothing to undo.
    async fn show(&self, key: &TableKey) -> Result<(), PlayError> {
        self.core.gate.open(&*self.core.store, &key.operator).await?;
        let at = self.core.store.now().await?;
        let judge = |table: &Table, at: Millis| {
            let standing = match self.standing(key) {
                Ok(standing) => standing,
                Err(error) => return Verdict::Settled(Err(error)),
            };
            match standing.step(table, at) {
                None => Verdict::Settled(Ok(())),
                Some((events, after)) => Verdict::Commit(Draft::resting(events, after, &standing), ()),
            }
        };
        self.run(key, at, judge).await.map(|_| ())
    }

    /// Notes that these are swept, unless they have been changed since.
    async fn finish(&self, shelf: &Shelf, swept: &[(StopName, u64)]) -> Result<(), PlayError> {
        for _ in 0..ATTEMPTS {
            let stopped = self.stops(shelf).await?;
            let is_swept = |name: &StopName, version| swept.iter().any(|(n, v)| n == name && *v == version);
            let pending = stopped.entries.iter().filter(|entry| entry.is_pending());
            let of_it = pending.filter(|entry| is_swept(&entry.name(), entry.version));
            let (lifted, shown): (Vec<_>, Vec<_>) =
                of_it.cloned().partition(|e| e.state == StopState::Lifting);
            if lifted.is_empty() && shown.is_empty() {
                return Ok(());
            }
            let change = StopChange {
                shelf: shelf.clone(),
                expected: stopped.token,
                token: Token { version: stopped.token.map_or(0, |t| t.version) + 1, nonce: nonce() },
                put: shown.into_iter().map(|entry| super::StopEntry { swept: true, ..entry }).collect(),
                remove: lifted.iter().map(super::StopEntry::name).collect(),
                audit: None,
                request: None,
            };
            if self.registry().change(&change).await? == super::Changed::Done {
                return Ok(());
            }
        }
        Err(PlayError::Contended)
    }
}

impl Draft {
    /// A step that rests on what is stopped.
    pub(crate) fn resting(events: Vec<Event>, after: Table, standing: &super::gate::Standing) -> Draft {
        Draft { events, after: after.into(), request: None, not_before: None, until: Some(standing.until) }
    }
}

fn failure(ended: Option<Result<Result<(), PlayError>, tokio::task::JoinError>>) -> Option<PlayError> {
    match ended? {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error),
        Err(died) => Some(StoreError::Unknown(died.to_string()).into()),
    }
}
