//! Where stops are made and lifted: one change of the registry, with its audit entry and the record of its request, and
//! then a wait until nothing comes any more that does not know of it.

use std::time::Duration;

use rules::event::StopScope;
use rules::{Ask, Millis, Refusal};
use thiserror::Error;
use tokio::time::{Instant, sleep};

use super::gate::{Made, Standing};
use super::{
    Act, AuditEntry, Author, Changed, MOST_STOPS, Scope, Shelf, StopChange, StopEntry, StopName, StopState,
    Stopped, Stops,
};
use crate::dealer::nonce;
use crate::ids::TableKey;
use crate::play::{Answered, PlayError, Request, Tables};
use crate::store::{RequestRecord, StoreError, Token};

/// So often a change is tried anew because another one came first, or it is not known what became of it.
const ATTEMPTS: u32 = 16;
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(300);

/// What somebody asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// Who. That he may is for the caller to see.
    pub author: Author,
    /// Of what.
    pub scope: Scope,
    /// Why; not empty.
    pub reason: String,
    /// The person or system that asked for it.
    pub requester: String,
    /// His name for the request; it belongs to the author.
    pub request: Request,
}

/// Why nothing was stopped or lifted.
#[derive(Debug, Clone, Error)]
pub enum StopError {
    /// There is no such stop of the author's.
    #[error("no such stop is in force")]
    NotDisabled,
    /// It is an administrator's, and he who asks is none.
    #[error("an administrator has made the stop")]
    OfAdministrator,
    /// The operator has as many stops as he may.
    #[error("an operator has {MOST_STOPS} stops at most")]
    TooMany,
    /// As of any other call.
    #[error(transparent)]
    Play(#[from] PlayError),
}

impl From<StoreError> for StopError {
    fn from(error: StoreError) -> StopError {
        StopError::Play(error.into())
    }
}

/// Makes the answer out of the stop as it is now.
pub type StopAnswer<'a> = &'a (dyn Fn(&StopEntry) -> Vec<u8> + Sync);

impl Tables {
    /// What is stopped for the table, by a copy of the registry that is young enough.
    pub(crate) fn standing(&self, key: &TableKey) -> Result<Standing, PlayError> {
        Ok(self.core.gate.standing(key)?)
    }

    /// Stops the scope softly (rules 9.4). When this returns, no hand begins any more and nobody is seated against it, at
    /// any server. One that the author has stopped already gets the new reason.
    ///
    /// # Errors
    /// [`StopError`]
    pub async fn disable(&self, order: &Order, answer: StopAnswer<'_>) -> Result<Answered, StopError> {
        self.carry_out(Act::Disabled, order, answer).await
    }

    /// Lifts the author's stop of the scope. When this returns, it stands in nobody's way any more; tables go on
    /// playing as soon as they have been swept.
    ///
    /// # Errors
    /// [`StopError`]
    pub async fn enable(&self, order: &Order, answer: StopAnswer<'_>) -> Result<Answered, StopError> {
        self.carry_out(Act::Enabled, order, answer).await
    }

    /// The stops of a shelf, as they are now.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn stops(&self, shelf: &Shelf) -> Result<Stopped, StoreError> {
        let known = self.core.gate.read_anew(&*self.core.store, shelf).await?;
        Ok(known.stopped.clone())
    }

    async fn carry_out(
        &self,
        act: Act,
        order: &Order,
        answer: StopAnswer<'_>,
    ) -> Result<Answered, StopError> {
        let answered = self.register(act, order, answer).await?;
        let Scope::Table(key) = &order.scope else {
            self.settle().await;
            return Ok(answered);
        };
        // Lifted last: whoever still has the entry would stop the table again.
        match act {
            Act::Disabled => {
                self.at_table(act, key, order).await?;
                self.settle().await;
            }
            Act::Enabled => {
                self.settle().await;
                self.at_table(act, key, order).await?;
            }
        }
        Ok(answered)
    }

    /// Until no copy of the registry is as old as what was just changed. Also of a repetition it is not known how long ago it
    /// came through.
    async fn settle(&self) {
        sleep(self.core.gate.settings.settle(&*self.core.store)).await;
    }

    /// Changes the registry, once for one request.
    async fn register(&self, act: Act, order: &Order, answer: StopAnswer<'_>) -> Result<Answered, StopError> {
        let shelf = order.scope.shelf();
        let mut pause = FIRST_PAUSE;
        let mut doubt = None;
        for _ in 0..ATTEMPTS {
            if let Some(done) = self.registry().asked(&order.author, &order.request.id).await? {
                return repeated(order, done);
            }
            let stopped = self.stops(&shelf).await?;
            let at = self.core.store.now().await?;
            let (entry, put) = match self.plan(act, order, &stopped, at).await {
                Ok(plan) => plan,
                // A twin of this request may have slipped in between.
                Err(error) => {
                    let done = self.registry().asked(&order.author, &order.request.id).await?;
                    return done.map_or(Err(error), |done| repeated(order, done));
                }
            };
            let bytes = answer(&entry);
            let change = change(act, order, &stopped, (entry, put), (at, bytes.clone()));
            match self.registry().change(&change).await {
                Ok(Changed::Done) => {
                    let from = Instant::now() + self.core.gate.settings.settle(&*self.core.store);
                    self.core.gate.note(Made { shelf, version: change.token.version, from });
                    return Ok(Answered { bytes, replayed: false });
                }
                Ok(Changed::Before(done)) => return repeated(order, done),
                Ok(Changed::Conflict) => {}
                // The record of the request tells, as soon as the store does.
                Err(StoreError::Unknown(why)) => doubt = Some(why),
                Err(error) => return Err(error.into()),
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Err(doubt.map_or(PlayError::Contended, |why| StoreError::Unknown(why).into()).into())
    }

    /// The stop as it is to be, and what becomes of it on the shelf.
    async fn plan(
        &self,
        act: Act,
        order: &Order,
        stopped: &Stopped,
        at: Millis,
    ) -> Result<(StopEntry, Shelved), StopError> {
        let Scope::Table(key) = &order.scope else {
            let entry = match act {
                Act::Disabled => disabled(order, stopped, at)?,
                Act::Enabled => enabled(order, stopped, at)?,
            };
            return Ok((entry, Shelved::Put));
        };
        let table = self.read(key).await?;
        // The table is stopped at once, and no other one has to be looked at.
        let swept = true;
        if act == Act::Disabled {
            return Ok((StopEntry { swept, ..disabled(order, stopped, at)? }, Shelved::Put));
        }
        if find(stopped, &order.scope, order.author.is_administrator()).is_some() {
            return Ok((enabled(order, stopped, at)?, Shelved::Removed));
        }
        // Stopped with PauseTable.
        let stop = table.stops.iter().find(|stop| stop.scope == StopScope::Table);
        let stop = stop.ok_or(StopError::NotDisabled)?;
        let (state, reason, since) = (StopState::Lifting, stop.reason.clone(), stop.at);
        Ok((StopEntry { state, reason, since, ..new_entry(order, stopped, at) }, Shelved::Nowhere))
    }

    /// Stops a table, or lifts that: the table's own affair, which its token makes exact. The audit has it by now; if this
    /// process dies here, the repetition of the request does the rest.
    async fn at_table(&self, act: Act, key: &TableKey, order: &Order) -> Result<(), PlayError> {
        let scope = StopScope::Table;
        let ask = match act {
            Act::Disabled => Ask::Stop { scope, reason: order.reason.clone() },
            Act::Enabled => Ask::Resume { scope },
        };
        match self.ask(key, Some(order.request), None, ask, &|_, _| Vec::new()).await {
            // Somebody else has lifted it since.
            Err(PlayError::Refused { refusal: Refusal::NotStopped, .. }) => Ok(()),
            done => done.map(|_| ()),
        }
    }

    pub(super) fn registry(&self) -> &dyn Stops {
        self.core.store.stops()
    }
}

fn repeated(order: &Order, done: RequestRecord) -> Result<Answered, StopError> {
    if done.payload != order.request.payload {
        return Err(PlayError::RequestReused.into());
    }
    Ok(Answered { bytes: done.answer, replayed: true })
}

fn version_after(stopped: &Stopped) -> u64 {
    stopped.token.map_or(0, |token| token.version) + 1
}

fn new_entry(order: &Order, stopped: &Stopped, at: Millis) -> StopEntry {
    StopEntry {
        scope: order.scope.clone(),
        author: order.author.clone(),
        reason: order.reason.clone(),
        requester: order.requester.clone(),
        since: at,
        changed: at,
        version: version_after(stopped),
        state: StopState::Active,
        swept: false,
    }
}

fn find<'a>(stopped: &'a Stopped, scope: &Scope, administrator: bool) -> Option<&'a StopEntry> {
    let name = StopName { scope: scope.clone(), administrator };
    stopped.entries.iter().find(|entry| entry.name() == name)
}

fn disabled(order: &Order, stopped: &Stopped, at: Millis) -> Result<StopEntry, StopError> {
    let administrator = order.author.is_administrator();
    let found = find(stopped, &order.scope, administrator);
    let own = stopped.entries.iter().filter(|entry| !entry.author.is_administrator());
    // What the operators fill up never keeps an administrator from stopping something.
    if found.is_none() && !administrator && own.count() >= MOST_STOPS {
        return Err(StopError::TooMany);
    }
    let active = found.filter(|entry| entry.state == StopState::Active);
    let since = active.map_or(at, |entry| entry.since);
    Ok(StopEntry { since, ..new_entry(order, stopped, at) })
}

fn enabled(order: &Order, stopped: &Stopped, at: Millis) -> Result<StopEntry, StopError> {
    let active = |administrator| {
        let found = find(stopped, &order.scope, administrator);
        found.filter(|entry| entry.state == StopState::Active)
    };
    match active(order.author.is_administrator()) {
        Some(entry) => {
            let (changed, version) = (at, version_after(stopped));
            Ok(StopEntry { state: StopState::Lifting, swept: false, changed, version, ..entry.clone() })
        }
        None if active(true).is_some() => Err(StopError::OfAdministrator),
        None => Err(StopError::NotDisabled),
    }
}

/// What becomes of a stop on its shelf.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shelved {
    /// It lies there from now on.
    Put,
    /// It lies there no more.
    Removed,
    /// It never lay there.
    Nowhere,
}

fn change(
    act: Act,
    order: &Order,
    stopped: &Stopped,
    (entry, shelved): (StopEntry, Shelved),
    (at, answer): (Millis, Vec<u8>),
) -> StopChange {
    let token = Token { version: version_after(stopped), nonce: nonce() };
    let Order { author, scope, reason, requester, request } = order.clone();
    let record = RequestRecord { id: request.id, payload: request.payload, answer, at, declined: false };
    StopChange {
        shelf: scope.shelf(),
        expected: stopped.token,
        token,
        remove: if shelved == Shelved::Removed { vec![entry.name()] } else { Vec::new() },
        put: if shelved == Shelved::Put { vec![entry] } else { Vec::new() },
        request: Some((author.clone(), record)),
        audit: Some(AuditEntry { number: token.version, at, author, act, scope, reason, requester }),
    }
}
