//! The feed: committed steps on their way to those who watch a table.
//!
//! One bounded ring a watched table, shared by all its watchers, so that what is kept does not grow with their number
//! nor with their slowness. The ring is a hint, the store's history is the truth: a gap is read there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rules::Millis;
use rules::event::Event;
use rules::table::Table;
use tokio::sync::broadcast;

use crate::ids::{OperatorId, TableKey};
use crate::store::{Following, Token};

/// Bounds of the feed of one process.
#[derive(Clone, Copy, Debug)]
pub struct FeedLimits {
    /// So many watchers in all.
    pub watchers: usize,
    /// So many of one operator's tables.
    pub watchers_of_an_operator: usize,
    /// So many of one table.
    pub watchers_of_a_table: usize,
    /// So many commits a watcher may be behind before his stream is ended.
    pub behind: usize,
}

impl Default for FeedLimits {
    fn default() -> FeedLimits {
        FeedLimits {
            watchers: 20_000,
            watchers_of_an_operator: 15_000,
            watchers_of_a_table: 15_000,
            behind: 64,
        }
    }
}

/// A committed step.
#[derive(Clone, Debug)]
pub struct Published {
    /// Its name.
    pub token: Token,
    /// The step that it follows; `None` if it opened the table.
    pub previous: Option<Token>,
    /// When it happened, as far as the commit tells.
    pub at: Option<Millis>,
    /// What happened.
    pub events: Arc<[Event]>,
    /// The state after it.
    pub table: Arc<Table>,
}

/// What a ring carries.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// A step.
    Step(Published),
    /// The table is at this commit; what led to it is in history.
    At(Token),
}

/// The rings of all watched tables.
pub struct Feed {
    rings: Mutex<Rings>,
    limits: FeedLimits,
}

#[derive(Default)]
struct Rings {
    by_table: HashMap<TableKey, Ring>,
    /// How many watch an operator's tables; nobody who has none is in it.
    by_operator: HashMap<OperatorId, usize>,
    watchers: usize,
}

struct Ring {
    sender: broadcast::Sender<Arc<Told>>,
    watchers: usize,
    /// The commit that was told last; of version 0 if none was.
    told: Token,
}

/// A watcher's place at a ring; given up when dropped.
pub(crate) struct Subscription {
    feed: Arc<Feed>,
    key: TableKey,
    pub(crate) receiver: broadcast::Receiver<Arc<Told>>,
    /// As long as somebody watches, the store tells of the commits of others.
    following: Option<Following>,
}

impl Feed {
    /// A feed that nobody watches yet.
    #[must_use]
    pub fn new(limits: FeedLimits) -> Feed {
        Feed { rings: Mutex::default(), limits }
    }

    /// Hands a committed step to the table's watchers, if there are any. Never blocks.
    pub fn publish(&self, key: &TableKey, step: impl FnOnce() -> Published) {
        self.tell(key, || {
            let step = step();
            (step.token, Told::Step(step))
        });
    }

    /// Tells the table's watchers where it is. Mostly that is further on, and what led to it is in history; it may also be
    /// back, if the store has lost something.
    pub(crate) fn hint(&self, key: &TableKey, token: Token) {
        if self.told(key).is_some_and(|told| told != token) {
            self.tell(key, || (token, Told::At(token)));
        }
    }

    fn tell(&self, key: &TableKey, what: impl FnOnce() -> (Token, Told)) {
        // Waking thousands of watchers takes its time: not under the lock that all tables share.
        let sender = self.lock().by_table.get(key).map(|ring| ring.sender.clone());
        let Some(sender) = sender else {
            return;
        };
        let (token, told) = what();
        if let Some(ring) = self.lock().by_table.get_mut(key)
            && (matches!(told, Told::At(_)) || token.version > ring.told.version)
        {
            ring.told = token;
        }
        // An error says that nobody listens, which is no error.
        let _ = sender.send(Arc::new(told));
    }

    /// The commit that the table's watchers were told last; `None` if there are none.
    pub(crate) fn told(&self, key: &TableKey) -> Option<Token> {
        self.lock().by_table.get(key).map(|ring| ring.told)
    }

    /// How many watch.
    #[must_use]
    pub fn watchers(&self) -> usize {
        self.lock().watchers
    }

    /// A place at the table's ring; `None` if there are too many watchers.
    pub(crate) fn subscribe(self: &Arc<Feed>, key: &TableKey) -> Option<Subscription> {
        let mut rings = self.lock();
        let limits = &self.limits;
        let of_operator = rings.by_operator.get(&key.operator).copied().unwrap_or_default();
        let of_table = rings.by_table.get(key).map_or(0, |ring| ring.watchers);
        if rings.watchers >= limits.watchers
            || of_operator >= limits.watchers_of_an_operator
            || of_table >= limits.watchers_of_a_table
        {
            return None;
        }
        rings.watchers += 1;
        rings.by_operator.insert(key.operator.clone(), of_operator + 1);
        let ring = rings.by_table.entry(key.clone()).or_insert_with(|| Ring {
            sender: broadcast::Sender::new(self.limits.behind.max(1)),
            watchers: 0,
            told: Token { version: 0, nonce: 0 },
        });
        ring.watchers += 1;
        let receiver = ring.sender.subscribe();
        Some(Subscription { feed: Arc::clone(self), key: key.clone(), receiver, following: None })
    }

    fn lock(&self) -> MutexGuard<'_, Rings> {
        // A panic elsewhere cannot leave a count half written.
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    /// Keeps what makes the store tell of this table.
    pub(crate) fn keep(&mut self, following: Option<Following>) {
        self.following = following;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut rings = self.feed.lock();
        rings.watchers -= 1;
        if let Some(watchers) = rings.by_operator.get_mut(&self.key.operator) {
            *watchers -= 1;
            if *watchers == 0 {
                rings.by_operator.remove(&self.key.operator);
            }
        }
        if let Some(ring) = rings.by_table.get_mut(&self.key) {
            ring.watchers -= 1;
            if ring.watchers == 0 {
                rings.by_table.remove(&self.key);
            }
        }
    }
}
