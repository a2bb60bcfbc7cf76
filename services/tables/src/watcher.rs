//! One watcher of one table: every commit once, in order, without a gap, or a plain word that it cannot be had.

use std::collections::VecDeque;
use std::sync::Arc;

use rules::event::Event;
use rules::table::{Life, Table};
use tokio::sync::broadcast::error::RecvError;

use crate::feed::{Subscription, Told};
use crate::ids::TableKey;
use crate::store::{Entry, Store, StoreError};

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
        /// The table's version after it: one more than that of the message before.
        version: u64,
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
    key: TableKey,
    store: Arc<dyn Store>,
    subscription: Subscription,
    phase: Phase,
    /// Read from history and not yet told.
    page: VecDeque<Entry>,
    ready: Option<Message>,
    last: Last,
}

/// Where the watcher is: all before is told.
struct Last {
    version: u64,
    /// The state there; `None` only at version 0, before the opening.
    table: Option<Arc<Table>>,
}

#[derive(Clone, Copy)]
enum Phase {
    /// Told from the store's history up to this version.
    CatchingUp(u64),
    /// Told from the ring.
    Live,
    /// Nothing more is told.
    Over,
}

impl Watcher {
    /// A watcher from now on, or from the commit after `after`. `current` was read after the subscription was made, so
    /// that between the two nothing is lost.
    pub(crate) async fn begin(
        key: TableKey,
        store: Arc<dyn Store>,
        subscription: Subscription,
        current: Arc<Table>,
        after: Option<u64>,
    ) -> Result<Watcher, StoreError> {
        let newest = current.version;
        let start = match after {
            None => Start::Snapshot,
            Some(version) if version == newest => Start::At(Some(Arc::clone(&current))),
            Some(0) => Start::At(None),
            Some(version) if version > newest => Start::Compacted,
            Some(version) => match state_at(&*store, &key, version).await? {
                Some(table) => Start::At(Some(Arc::new(table))),
                None => Start::Compacted,
            },
        };
        let last = Last { version: 0, table: None };
        let phase = Phase::Live;
        let mut watcher =
            Watcher { key, store, subscription, phase, page: VecDeque::new(), ready: None, last };
        match start {
            Start::Snapshot => watcher.jump(current, Message::Snapshot),
            Start::Compacted => watcher.jump(current, Message::Compacted),
            Start::At(table) => {
                watcher.last = Last { version: table.as_ref().map_or(0, |t| t.version), table };
                if watcher.last.version < newest {
                    watcher.phase = Phase::CatchingUp(newest);
                }
                watcher.end_if_closed();
            }
        }
        Ok(watcher)
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
                Phase::CatchingUp(_) => self.catch_up().await,
                Phase::Live => match self.subscription.receiver.recv().await {
                    Ok(step) => self.take(&step),
                    Err(RecvError::Lagged(_) | RecvError::Closed) => self.fall_behind(),
                },
            }
        }
    }

    fn take(&mut self, told: &Told) {
        match told {
            Told::Step(step) if step.token.version == self.last.version + 1 => {
                self.tell(Arc::clone(&step.events), Arc::clone(&step.table));
            }
            Told::Step(step) => self.take_newer(step.token.version),
            Told::Newer(version) => self.take_newer(*version),
        }
    }

    fn take_newer(&mut self, version: u64) {
        if version > self.last.version {
            self.phase = Phase::CatchingUp(version);
        }
    }

    /// Tells the next commit out of history.
    async fn catch_up(&mut self) {
        if self.page.is_empty() {
            match self.store.history(&self.key, self.last.version, PAGE).await {
                Ok(history) => self.page = history.entries.into(),
                Err(error) => {
                    tracing::warn!(table = %self.key, %error, "a watcher is ended: history cannot be read");
                    return self.fall_behind();
                }
            }
        }
        let next = self.page.pop_front().filter(|entry| entry.version == self.last.version + 1);
        let folded =
            next.and_then(|entry| Some((fold(self.last.table.as_deref().cloned(), &entry)?, entry.events)));
        match folded {
            Some((table, events)) => self.tell(events, Arc::new(table)),
            None => self.compact().await,
        }
    }

    /// History has a hole here: goes on from the table as it is.
    async fn compact(&mut self) {
        self.page.clear();
        match self.store.load(&self.key).await {
            Ok(Some(stored)) => {
                self.phase = Phase::Live;
                self.jump(stored.table, Message::Compacted);
            }
            Ok(None) => self.fall_behind(),
            Err(error) => {
                tracing::warn!(table = %self.key, %error, "a watcher is ended: the table cannot be read");
                self.fall_behind();
            }
        }
    }

    fn tell(&mut self, events: Arc<[Event]>, table: Arc<Table>) {
        self.last = Last { version: table.version, table: Some(Arc::clone(&table)) };
        self.ready = Some(Message::Commit { version: table.version, events, table });
        self.end_if_closed();
    }

    fn jump(&mut self, table: Arc<Table>, message: fn(Arc<Table>) -> Message) {
        self.last = Last { version: table.version, table: Some(Arc::clone(&table)) };
        self.ready = Some(message(table));
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

    fn fall_behind(&mut self) {
        self.phase = Phase::Over;
        self.ready = Some(Message::Behind { resume: self.last.version });
    }
}

enum Start {
    Snapshot,
    Compacted,
    At(Option<Arc<Table>>),
}

/// The state at a past version, made again from what the store has kept; `None` if it cannot be.
async fn state_at(store: &dyn Store, key: &TableKey, version: u64) -> Result<Option<Table>, StoreError> {
    let mut table = store.checkpoint(key, version).await?.map(|kept| (*kept).clone());
    loop {
        let reached = table.as_ref().map_or(0, |t| t.version);
        if reached == version {
            return Ok(table);
        }
        if version - reached > LONGEST_FOLD {
            return Ok(None);
        }
        let wanted = usize::try_from(version - reached).unwrap_or(FOLD_PAGE).min(FOLD_PAGE);
        let page = store.history(key, reached, wanted).await?.entries;
        if page.first().is_none_or(|entry| entry.version != reached + 1) {
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
            table.apply(&entry.events);
            table
        }
        None => Table::from_opening(entry.events.first()?)?,
    };
    (table.version == entry.version).then_some(table)
}
