//! One commit, seen through to its end: also where the store does not say what became of it, or where the caller goes
//! away meanwhile. What is committed is published, and the clocks hear of it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rules::event::{Event, StopScope};
use rules::invariant::Broken;
use rules::{Ask, Command, Millis, Table};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};

use crate::announcing::announce;
use crate::clocks::{Alarm, Uncredited};
use crate::courier::{self, Courier};
use crate::dealer::{Dealer, nonce};
use crate::deriving::{accounts, settlements};
use crate::feed::{Feed, Published};
use crate::hearing;
use crate::ids::TableKey;
use crate::play::{PlayError, Settings, State};
use crate::queues::Queues;
use crate::recent::{Known, Recent};
use crate::resume::Reached;
use crate::signals::{CommitEnd, Retry, Signals, Silent};
use crate::stops::gate::Gate;
use crate::store::{Commit, Ear, Outcome, RequestRecord, Store, StoreError, Stored, Token};

/// So often a commit of which nothing is known is asked about and tried again, about a second and a half in all.
const TRIES: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// So long callers wait for it, and those behind them in the table's line; then it goes on without them.
const PATIENCE: Duration = Duration::from_millis(700);

/// What the parts of [`crate::play::Tables`] share.
pub(crate) struct Core {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) dealer: Arc<dyn Dealer>,
    pub(crate) feed: Arc<Feed>,
    pub(crate) queues: Arc<Queues>,
    pub(crate) alarm: Alarm,
    pub(crate) uncredited: Uncredited,
    pub(crate) recent: Recent,
    pub(crate) courier: OnceLock<Courier>,
    pub(crate) signals: OnceLock<Arc<dyn Signals>>,
    pub(crate) gate: Gate,
    ear: OnceLock<Arc<dyn Ear>>,
}

/// A step that is decided but not committed.
pub(crate) struct Draft {
    pub(crate) events: Vec<Event>,
    pub(crate) after: Arc<Table>,
    pub(crate) request: Option<RequestRecord>,
    pub(crate) not_before: Option<Millis>,
    /// It is not sent again later than this: what it rests on is too old then.
    pub(crate) until: Option<Instant>,
}

/// What became of a commit, for certain.
pub(crate) enum Fate {
    Done,
    /// Another one came first; this is the state that it met.
    Overtaken(Option<Stored>),
    /// The commit that it was to follow is not in the table's past.
    Severed,
    Repeated {
        answer: Vec<u8>,
    },
    RequestReused,
    TooEarly,
    /// Stamped later than the store's time, which is this.
    Ahead(Millis),
}

/// Where a commit of which nothing is known was found.
enum Found {
    Done,
    /// Its version belongs to another commit.
    Overtaken,
    /// Its version is not there; it may still come.
    Nothing,
}

impl Core {
    pub(crate) fn new(store: Arc<dyn Store>, dealer: Arc<dyn Dealer>, settings: Settings) -> Core {
        Core {
            store,
            dealer,
            feed: Arc::new(Feed::new(settings.feed)),
            queues: Arc::default(),
            alarm: Alarm::default(),
            uncredited: Uncredited::default(),
            recent: Recent::new(settings.recent_tables),
            courier: OnceLock::new(),
            signals: OnceLock::new(),
            gate: Gate::new(settings.stops),
            ear: OnceLock::new(),
        }
    }

    /// Who hears what has to be looked at.
    pub(crate) fn signals(&self) -> &dyn Signals {
        self.signals.get().map_or(&Silent, |signals| &**signals)
    }

    /// Who asks the operators' wallets; none if there are none.
    pub(crate) fn courier(&self) -> Option<&Courier> {
        self.courier.get()
    }

    /// Where the store tells of other processes' commits.
    pub(crate) fn ear(self: &Arc<Core>) -> Arc<dyn Ear> {
        Arc::clone(self.ear.get_or_init(|| hearing::begin(self)))
    }

    /// The table as it is in the store.
    pub(crate) async fn load(self: &Arc<Core>, key: &TableKey) -> Result<Option<Stored>, PlayError> {
        self.look(key, false).await
    }

    /// The same, of what is durable.
    pub(crate) async fn load_durable(self: &Arc<Core>, key: &TableKey) -> Result<Option<Stored>, PlayError> {
        self.look(key, true).await
    }

    async fn look(self: &Arc<Core>, key: &TableKey, durable: bool) -> Result<Option<Stored>, PlayError> {
        let read = || async {
            if durable { self.store.load_durable(key).await } else { self.store.load(key).await }
        };
        // What was known before the read has to be in the past of what is read.
        let (known, era) = (self.recent.known(key), self.store.era());
        let mut found = read().await?;
        if found.is_none() && known.is_some() {
            self.store.find_again(key).await?;
            found = read().await?;
        }
        let Some(mut stored) = found else {
            if known.is_some() {
                self.is_gone(key);
            }
            return Ok(None);
        };
        if let Some(known) = known {
            if known.stored.token == stored.token {
                // Ten thousand watchers of one table are to hold one copy of it.
                stored = known.stored;
            } else if self.has_lost(key, &known, &stored).await? {
                self.suspect(key, Reached::of(&known.stored)).await?;
                let Some(anew) = read().await? else {
                    return Ok(None);
                };
                stored = anew;
            }
        }
        self.recent.put(key, stored.clone(), era);
        Ok(Some(stored))
    }

    /// A table that was there is not there any more: nothing is left that could be told of it.
    pub(crate) fn is_gone(&self, key: &TableKey) {
        tracing::error!(event = "table_lost", table = %key, "the store has lost a whole table");
        self.recent.forget(key);
    }

    /// Whether a state that was known is not in the past of the one that was just read. In one era of the store only what
    /// shows at once is looked at; the era is that after the read, since reading can begin a new one.
    async fn has_lost(&self, key: &TableKey, known: &Known, stored: &Stored) -> Result<bool, StoreError> {
        if known.era == self.store.era() && known.stored.token.version < stored.token.version {
            return Ok(false);
        }
        self.is_severed(key, known.stored.token, stored).await
    }

    /// A state to try a commit on: a recent one if there is any.
    pub(crate) async fn some_state(self: &Arc<Core>, key: &TableKey) -> Result<Option<State>, PlayError> {
        if let Some(stored) = self.recent.get(key) {
            return Ok(Some(State { stored, fresh: false, durable: false }));
        }
        let loaded = self.load(key).await?;
        Ok(loaded.map(|stored| State { stored, fresh: true, durable: false }))
    }

    /// The commit that opens a table.
    pub(crate) fn opening(&self, key: &TableKey, draft: Draft) -> Commit {
        commit(key, None, draft, Vec::new())
    }

    /// The commit that follows a state.
    pub(crate) fn next(&self, key: &TableKey, before: &Stored, draft: Draft) -> Commit {
        let settlements = settlements(key, &before.table, &draft.after, &draft.events);
        let accounts = accounts(before.table.config.currency, &settlements, &draft.events);
        let mut next = Commit { accounts, ..commit(key, Some(before.token), draft, settlements) };
        next.origin = self.signals().origin();
        next.untold = next.events.iter().any(Event::ends_hand) && self.signals().tells(&next);
        next
    }

    /// Commits. If the caller hangs up meanwhile, or it takes too long, it goes on in a task of its own, so that there is
    /// no commit of which neither watchers nor clocks hear.
    pub(crate) async fn commit(self: &Arc<Core>, commit: Commit) -> Result<Fate, StoreError> {
        self.commit_until(commit, None).await
    }

    /// As [`Core::commit`], and it is not sent again later than that.
    pub(crate) async fn commit_until(
        self: &Arc<Core>,
        commit: Commit,
        until: Option<Instant>,
    ) -> Result<Fate, StoreError> {
        let mut errand = Errand { core: Arc::clone(self), commit: Arc::new(commit), until, open: true };
        let whole = self.see_through(&errand.commit, None, until);
        // A time-out is tried once and no more, so it has no errand to be left to.
        let fate = if errand.commit.not_before.is_some() {
            whole.await
        } else {
            let waited = timeout(PATIENCE, whole).await;
            waited.map_err(|_| StoreError::Unknown(format!("no answer after {PATIENCE:?}")))?
        };
        errand.open = false;
        fate
    }

    /// `doubt`: an earlier try may have come through, and why that is not known.
    async fn see_through(
        self: &Arc<Core>,
        commit: &Commit,
        doubt: Option<String>,
        until: Option<Instant>,
    ) -> Result<Fate, StoreError> {
        let started = Instant::now();
        let fate = self.keep_trying(commit, doubt, until).await;
        self.signals().commit_ended(ended(&fate), started.elapsed());
        fate
    }

    async fn keep_trying(
        self: &Arc<Core>,
        commit: &Commit,
        mut doubt: Option<String>,
        until: Option<Instant>,
    ) -> Result<Fate, StoreError> {
        let mut pause = FIRST_PAUSE;
        // A time-out is not sent again: if the store was away meanwhile, the clocks get that time back first (rules 8.4).
        let tries = if commit.not_before.is_some() { 1 } else { TRIES };
        for attempt in 0..tries {
            if doubt.is_some() && until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            if attempt > 0 {
                self.signals().commit_retried(Retry::Unknown);
            }
            let era = self.store.era();
            match self.store.commit(commit.clone()).await {
                Ok(Outcome::Committed { .. }) => return Ok(self.done(commit, era)),
                // What the repetition of a commit meets that has come through after all.
                Ok(outcome) if doubt.is_some() => match self.find(commit).await {
                    Ok(Found::Done) => return Ok(self.done(commit, era)),
                    Ok(Found::Overtaken | Found::Nothing) => return Ok(self.fate(commit, outcome, era)),
                    Err(error) => doubt = Some(error.to_string()),
                },
                Ok(outcome) => return Ok(self.fate(commit, outcome, era)),
                Err(StoreError::Unknown(why)) => {
                    doubt = Some(why);
                    if let Ok(Found::Done) = self.find(commit).await {
                        return Ok(self.done(commit, era));
                    }
                    // Else the same commit once more: its token keeps it from being done twice.
                }
                Err(error) if doubt.is_none() => return Err(error),
                Err(error) => doubt = Some(error.to_string()),
            }
            sleep(pause).await;
            pause *= 2;
        }
        // What is known of the table stays known: if the store comes back without it, that is how it shows.
        Err(StoreError::Unknown(doubt.unwrap_or_default()))
    }

    /// Looks for a commit; its nonce tells it from another one of the same version. What is found is durable: the state
    /// that is read first is, and with it the history before it.
    async fn find(&self, commit: &Commit) -> Result<Found, StoreError> {
        let version = commit.token.version;
        match self.store.load_durable(&commit.key).await? {
            Some(now) if now.token == commit.token => return Ok(Found::Done),
            Some(now) if now.token.version >= version => {}
            _ => return Ok(Found::Nothing),
        }
        let history = self.store.history(&commit.key, version - 1, 1).await?;
        match history.entries.first() {
            Some(entry) if entry.token == commit.token => Ok(Found::Done),
            Some(entry) if entry.version == version => Ok(Found::Overtaken),
            // Skipped, since history was lost.
            Some(_) if history.oldest <= version => Ok(Found::Overtaken),
            None if history.oldest <= version => Ok(Found::Nothing),
            _ => Err(StoreError::Unknown(format!("version {version} is not kept any more"))),
        }
    }

    fn fate(&self, commit: &Commit, outcome: Outcome, era: u64) -> Fate {
        match outcome {
            Outcome::Committed { .. } => Fate::Done,
            Outcome::Conflict(current) => {
                match &current {
                    Some(stored) => self.recent.put(&commit.key, stored.clone(), era),
                    None if commit.expected.is_some() => self.is_gone(&commit.key),
                    None => {}
                }
                Fate::Overtaken(current)
            }
            Outcome::Severed(_) => Fate::Severed,
            Outcome::Repeated { answer, .. } => Fate::Repeated { answer },
            Outcome::RequestReused => Fate::RequestReused,
            Outcome::TooEarly { .. } => Fate::TooEarly,
            Outcome::Ahead { now } => Fate::Ahead(now),
        }
    }

    /// What follows a commit, and nothing before it.
    fn done(self: &Arc<Core>, commit: &Commit, era: u64) -> Fate {
        let (token, previous, table) = (commit.token, commit.expected, &commit.table);
        let heard = self.signals.get().is_some();
        let before = heard.then(|| self.recent.get(&commit.key)).flatten();
        let before = before.filter(|before| Some(before.token) == previous);
        self.recent.put(&commit.key, Stored { token, table: Arc::clone(table) }, era);
        let events = || commit.events.clone().into();
        let at = (commit.stamped > Millis::ZERO).then_some(commit.stamped);
        let step = || Published { token, previous, at, events: events(), table: Arc::clone(table) };
        self.feed.publish(&commit.key, step);
        if let Some(at) = commit.due {
            self.alarm.ring_for(at);
        }
        if let Some(before) = before {
            self.signals().decided(&before.table, commit);
        }
        announce(commit);
        self.signals().committed(commit);
        courier::send(self, &commit.key, table, &commit.events);
        Fate::Done
    }

    /// Stops a table whose next step would break an invariant, and voids its running hand (rules 10.2, 10.3). If
    /// somebody else commits first nothing is done here: his step is checked too.
    pub(crate) async fn stop_broken(
        self: &Arc<Core>,
        key: &TableKey,
        at: &Stored,
        broken: Option<Broken>,
    ) -> Result<(), PlayError> {
        // `Broken` tells amounts and numbers, no cards.
        tracing::error!(event = "invariant_broken", table = %key, version = at.token.version, ?broken, "an invariant does not hold: the table stops");
        let now = self.store.now().await?;
        if let Some(draft) = stop(&at.table, now, "malfunction") {
            let fate = self.commit(self.next(key, at, draft)).await?;
            if let Fate::Done = fate {
                self.signals().table_stopped(&key.operator);
            }
        }
        Ok(())
    }
}

fn ended(fate: &Result<Fate, StoreError>) -> CommitEnd {
    match fate {
        Ok(Fate::Done) => CommitEnd::Done,
        Ok(Fate::Overtaken(_)) => CommitEnd::Conflict,
        Ok(Fate::Severed) => CommitEnd::Severed,
        Ok(Fate::Repeated { .. }) => CommitEnd::Repeated,
        Ok(Fate::RequestReused) => CommitEnd::Reused,
        Ok(Fate::TooEarly) => CommitEnd::TooEarly,
        Ok(Fate::Ahead(_)) => CommitEnd::Ahead,
        Err(StoreError::Unknown(_)) => CommitEnd::Unknown,
        Err(_) => CommitEnd::Failed,
    }
}

/// A commit on its way. Dropped before its end it is seen through all the same.
struct Errand {
    core: Arc<Core>,
    commit: Arc<Commit>,
    until: Option<Instant>,
    open: bool,
}

impl Drop for Errand {
    fn drop(&mut self) {
        // Without a runtime the process is ending, and nobody is left to hear of it.
        let Some(runtime) = self.open.then(|| Handle::try_current().ok()).flatten() else {
            return;
        };
        let (core, commit, until) = (Arc::clone(&self.core), Arc::clone(&self.commit), self.until);
        runtime.spawn(async move {
            let doubt = Some("the caller went away".to_owned());
            if let Err(error) = core.see_through(&commit, doubt, until).await {
                tracing::warn!(event = "commit_unknown", table = %commit.key, %error, "a commit whose caller went away");
            }
        });
    }
}

fn commit(
    key: &TableKey,
    expected: Option<Token>,
    draft: Draft,
    settlements: Vec<crate::Settlement>,
) -> Commit {
    let Draft { events, after, request, not_before, until: _ } = draft;
    Commit {
        key: key.clone(),
        expected,
        token: Token { version: after.version, nonce: nonce() },
        due: after.due().map(|(at, _)| at),
        table: after,
        events,
        request,
        settlements,
        accounts: Vec::new(),
        not_before,
        stamped: Millis::ZERO,
        origin: None,
        untold: false,
    }
}

/// The void of the running hand and the stop of the table in one step; `None` if there is nothing left to stop. It is
/// not checked itself: where the books were wrong before, the stop has to go through all the same.
pub(crate) fn stop(table: &Table, at: Millis, reason: &str) -> Option<Draft> {
    if table.stops.iter().any(|stop| stop.scope == StopScope::Malfunction) && table.running_hand().is_none() {
        return None;
    }
    let stop = Ask::Stop { scope: StopScope::Malfunction, reason: reason.to_owned() };
    // The stop first, so that the end of the hand does not put the next one on the calendar.
    let mut events = table.decide(&Command { at, ask: stop }).ok()?;
    let mut stopped = table.clone();
    for event in &events {
        stopped.evolve(event);
    }
    if let Some(hand) = table.running_hand() {
        let void = Ask::Void { hand: hand.number, reason: reason.to_owned(), requester: String::new() };
        events.extend(stopped.decide(&Command { at, ask: void }).ok()?);
    }
    let mut after = table.clone();
    after.apply(&events);
    Some(Draft { events, after: Arc::new(after), request: None, not_before: None, until: None })
}
