//! One watcher of one table: every commit once, in order, without a gap, or a plain word that it cannot be had.

use std::collections::VecDeque;
use std::sync::Arc;

use rules::Millis;
use rules::event::Event;
use rules::table::{Life, Table};
use tokio::sync::broadcast::error::RecvError;

use crate::committing::Core;
use crate::feed::{Published, Subscription, Told};
use crate::ids::TableKey;
use crate::play::PlayError;
use crate::resume::Reached;
use crate::signals::CutOff;
use crate::store::{Entry, Store, StoreError, Stored, Token};

/// So many commits are read from history at a time to be told.
const PAGE: usize = 16;
/// So many to make a past state again.
const FOLD_PAGE: usize = 128;
/// A state that is further than this from the next one kept is not made again; the watcher gets a snapshot instead.
const LONGEST_FOLD: u64 = 8192;

/// What a watcher is told.
#[derive(Clone, Debug)]
pub enum Message {
    /// The table as it is. The first message, unless the watcher resumes.
    Snapshot(Arc<Table>),
    /// One commit.
    Commit {
        /// The table's version after it: one more than that of the message before, or further if history was lost.
        version: u64,
        /// When it happened, as far as the commit tells; its events may tell it too.
        at: Option<Millis>,
        /// What happened.
        events: Arc<[Event]>,
        /// The state after it.
        table: Arc<Table>,
    },
    /// What followed the version asked for is not kept any more, or never was; this is the table now.
    Compacted(Arc<Table>),
    /// The watcher is too slow, or the store does not answer; his stream ends here and can be resumed.
    Behind {
        /// The version of the last message.
        resume: u64,
    },
}

/// Tells one watcher what happens. Nothing is prepared while he does not ask, so that one who never reads costs his
/// place and one page of history at most.
pub struct Watcher {
    core: Arc<Core>,
    key: TableKey,
    subscription: Subscription,
    phase: Phase,
    /// Read from history and not yet told.
    page: VecDeque<Entry>,
    ready: Option<Message>,
    last: Last,
}

/// Where a watcher begins.
pub(crate) enum From {
    /// With the table as it is.
    Now,
    /// After this version.
    Version(u64),
    /// Where he was.
    Reached(Reached),
}

/// Where the watcher is: all before is told.
#[derive(Default)]
struct Last {
    version: u64,
    /// The commit there, where it is known.
    token: Option<Token>,
    /// The state there; `None` only at version 0, before the opening.
    table: Option<Arc<Table>>,
}

impl Last {
    fn at(stored: &Stored) -> Last {
        Last {
            version: stored.token.version,
            token: Some(stored.token),
            table: Some(Arc::clone(&stored.table)),
        }
    }

    /// Whether a step is the next one: the one that names this one as the one before it.
    fn is_before(&self, version: u64, previous: Option<Token>) -> bool {
        match self.token {
            Some(token) => previous == Some(token),
            None => version == self.version + 1,
        }
    }

    fn reached(&self) -> Option<Reached> {
        Some(Reached { token: self.token?, seen: self.table.as_ref()?.seen() })
    }
}

#[derive(Clone, Copy)]
enum Phase {
    /// Told from the store's history up to this version.
    CatchingUp(u64),
    /// Told from the ring.
    Live,
    /// The table was said to be where the watcher is not: it has to be read.
    Doubtful,
    /// Nothing more is told.
    Over,
}

impl Watcher {
    /// A watcher from there on. `current` was read after the subscription was made, so that between the two nothing is
    /// lost.
    pub(crate) async fn begin(
        core: Arc<Core>,
        key: TableKey,
        subscription: Subscription,
        mut current: Stored,
        from: From,
    ) -> Result<Watcher, PlayError> {
        let newest = current.token.version;
        let start = match from {
            From::Now => Start::Snapshot,
            From::Version(version) if version == newest => Start::At(Last::at(&current)),
            From::Version(0) => Start::At(Last::default()),
            From::Version(version) if version > newest => Start::Compacted,
            From::Version(version) => start_at(&core, &key, version, None).await?,
            From::Reached(reached) if reached.token == current.token => Start::At(Last::at(&current)),
            From::Reached(reached) if core.is_severed(&key, reached.token, &current).await? => {
                core.suspect(&key, reached).await?;
                current = core.load_durable(&key).await?.ok_or(PlayError::NotFound)?;
                Start::Compacted
            }
            From::Reached(Reached { token, .. }) if token.version > newest => Start::Compacted,
            From::Reached(Reached { token, .. }) => start_at(&core, &key, token.version, Some(token)).await?,
        };
        let (page, ready, last) = (VecDeque::new(), None, Last::default());
        let mut watcher = Watcher { core, key, subscription, phase: Phase::Live, page, ready, last };
        match start {
            Start::Snapshot => watcher.jump(&current, Message::Snapshot),
            Start::Compacted => watcher.jump(&current, Message::Compacted),
            Start::At(last) => {
                watcher.last = last;
                if watcher.last.version < newest {
                    watcher.phase = Phase::CatchingUp(newest);
                }
                watcher.end_if_closed();
            }
        }
        Ok(watcher)
    }

    /// Where the watcher is; `None` where that cannot be said: before his first message, or in a part of history whose
    /// beginning is no longer kept.
    #[must_use]
    pub fn reached(&self) -> Option<Reached> {
        self.last.reached()
    }

    /// The next message; `None` when there will be no more, because the table is closed or after
    /// [`Message::Behind`]. May be dropped while it waits: nothing is lost.
    pub async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.ready.take() {
                return Some(message);
            }
            match self.phase {
                Phase::Over => return None,
                Phase::CatchingUp(until) if self.last.version >= until => self.phase = Phase::Live,
                Phase::CatchingUp(until) => self.catch_up(until).await,
                Phase::Doubtful => self.look_again().await,
                Phase::Live => match self.subscription.receiver.recv().await {
                    Ok(step) => self.take(&step),
                    Err(RecvError::Lagged(_) | RecvError::Closed) => self.fall_behind(CutOff::Slow),
                },
            }
        }
    }

    fn take(&mut self, told: &Told) {
        match told {
            Told::Step(step) if self.last.is_before(step.token.version, step.previous) => {
                self.tell(step.token, step.at, Arc::clone(&step.events), Arc::clone(&step.table));
            }
            // Told before.
            Told::Step(step) if step.token.version < self.last.version => {}
            Told::Step(Published { token, .. }) | Told::At(token) => self.go_to(*token),
        }
    }

    fn go_to(&mut self, token: Token) {
        if token.version > self.last.version {
            self.phase = Phase::CatchingUp(token.version);
        } else if self.last.token.is_some_and(|last| last != token) {
            self.phase = Phase::Doubtful;
        }
    }

    /// Whether what the watcher was told last is in the table's past. Mostly somebody was only late to say where it is.
    async fn look_again(&mut self) {
        let read = async {
            let stored = self.core.load_durable(&self.key).await?;
            let past = match (&stored, self.last.token) {
                (Some(stored), Some(last)) => self.core.is_past(&self.key, last, stored).await?,
                _ => true,
            };
            Ok::<_, PlayError>((stored, past))
        };
        match read.await {
            Ok((Some(stored), true)) if stored.token.version > self.last.version => {
                self.phase = Phase::CatchingUp(stored.token.version);
            }
            Ok((Some(_), true)) => self.phase = Phase::Live,
            Ok((Some(_), false)) => self.compact().await,
            Ok((None, _)) => self.fall_behind(CutOff::Store),
            Err(error) => {
                tracing::debug!(table = %self.key, %error, "a watcher is ended: the table cannot be read");
                self.fall_behind(CutOff::Store);
            }
        }
    }

    /// Tells the next commit out of history. What is later than that version may not be durable yet.
    async fn catch_up(&mut self, until: u64) {
        if self.page.is_empty() {
            match self.core.store.history(&self.key, self.last.version, PAGE).await {
                Ok(history) => {
                    let durable = history.entries.into_iter().filter(|entry| entry.version <= until);
                    self.page = durable.collect();
                }
                Err(error) => {
                    tracing::debug!(table = %self.key, %error, "a watcher is ended: history cannot be read");
                    return self.fall_behind(CutOff::Store);
                }
            }
        }
        let next = self.page.pop_front().filter(|entry| self.last.is_before(entry.version, entry.previous));
        let folded = next.and_then(|entry| {
            let table = fold(self.last.table.as_deref().cloned(), &entry)?;
            Some((entry.token, entry.at, entry.events, table))
        });
        match folded {
            Some((token, at, events, table)) => self.tell(token, at, events, Arc::new(table)),
            None => self.compact().await,
        }
    }

    /// History has a hole here: goes on from the table as it is.
    async fn compact(&mut self) {
        self.page.clear();
        match self.present().await {
            Ok(Some(stored)) => {
                self.phase = Phase::Live;
                self.jump(&stored, Message::Compacted);
            }
            Ok(None) => self.fall_behind(CutOff::Store),
            Err(error) => {
                tracing::debug!(table = %self.key, %error, "a watcher is ended: the table cannot be read");
                self.fall_behind(CutOff::Store);
            }
        }
    }

    /// The table as it is, after a look whether what the watcher was told is in its past.
    async fn present(&self) -> Result<Option<Stored>, PlayError> {
        let stored = self.core.load_durable(&self.key).await?;
        if let (Some(stored), Some(reached)) = (&stored, self.reached())
            && self.core.is_severed(&self.key, reached.token, stored).await?
        {
            self.core.suspect(&self.key, reached).await?;
            return self.core.load_durable(&self.key).await;
        }
        Ok(stored)
    }

    fn tell(&mut self, token: Token, at: Option<Millis>, events: Arc<[Event]>, table: Arc<Table>) {
        self.last = Last { version: token.version, token: Some(token), table: Some(Arc::clone(&table)) };
        self.ready = Some(Message::Commit { version: token.version, at, events, table });
        self.end_if_closed();
    }

    fn jump(&mut self, stored: &Stored, message: fn(Arc<Table>) -> Message) {
        self.last = Last::at(stored);
        self.ready = Some(message(Arc::clone(&stored.table)));
        self.end_if_closed();
    }

    /// Nothing happens any more at a table that is closed for good.
    fn end_if_closed(&mut self) {
        if let Some(table) = &self.last.table
            && matches!(table.life, Life::Closed { .. })
        {
            self.phase = Phase::Over;
        }
    }

    fn fall_behind(&mut self, why: CutOff) {
        self.core.signals().watcher_cut_off(why);
        let slow = why == CutOff::Slow;
        tracing::info!(event = "watcher_cut_off", table = %self.key, slow, "a watcher's stream is ended");
        self.phase = Phase::Over;
        self.ready = Some(Message::Behind { resume: self.last.version });
    }
}

enum Start {
    Snapshot,
    Compacted,
    At(Last),
}

/// The place after a past version. `token`: the commit there, if it is known to be in the table's past.
async fn start_at(
    core: &Core,
    key: &TableKey,
    version: u64,
    token: Option<Token>,
) -> Result<Start, StoreError> {
    Ok(match state_at(&*core.store, key, version).await? {
        Some(table) => Start::At(Last { version, token, table: Some(Arc::new(table)) }),
        None => Start::Compacted,
    })
}

/// The state at a past version, made again from what the store has kept; `None` if it cannot be.
async fn state_at(store: &dyn Store, key: &TableKey, version: u64) -> Result<Option<Table>, StoreError> {
    let mut table = store.checkpoint(key, version).await?.map(|kept| (*kept).clone());
    loop {
        let reached = table.as_ref().map_or(0, |t| t.version);
        if reached >= version {
            // Beyond it only if it is one that was lost.
            return Ok(table.filter(|_| reached == version));
        }
        if version - reached > LONGEST_FOLD {
            return Ok(None);
        }
        let wanted = usize::try_from(version - reached).unwrap_or(FOLD_PAGE).min(FOLD_PAGE);
        let page = store.history(key, reached, wanted).await?.entries;
        if page.is_empty() {
            return Ok(None);
        }
        for entry in &page {
            table = fold(table, entry);
            if table.is_none() {
                return Ok(None);
            }
        }
    }
}

/// The state after one more commit; `None` if it does not follow.
fn fold(before: Option<Table>, entry: &Entry) -> Option<Table> {
    let table = match before {
        Some(mut table) => {
            if !follows(&table, entry) {
                return None;
            }
            table.apply(&entry.events);
            table
        }
        None => Table::from_opening(entry.events.first()?)?,
    };
    (table.version == entry.version).then_some(table)
}

/// Whether a commit is the next one: only where history was lost versions are skipped.
fn follows(before: &Table, entry: &Entry) -> bool {
    let lost = |event: &Event| matches!(event, Event::HistoryLost { last, .. } if *last == before.version);
    entry.version == before.version + 1 || entry.events.iter().any(lost)
}
