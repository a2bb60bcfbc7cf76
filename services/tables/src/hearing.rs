//! What a store tells of other processes' commits, on its way to the watchers, the recent states and the clocks of this
//! one.

use std::sync::{Arc, Weak};

use rules::Table;
use tokio::sync::{Semaphore, mpsc};

use crate::committing::Core;
use crate::feed::Published;
use crate::ids::TableKey;
use crate::play::PlayError;
use crate::store::{Ear, Entry, Heard, Stored, Token};

/// So much may be told and not yet taken in. What does not find room is told again as missed.
const UNHEARD: usize = 4096;

/// So many tables are read at a time because of what was told.
const READING: usize = 64;
/// No era of a store.
const UNSURE: u64 = u64::MAX;

struct Mouthpiece {
    sender: mpsc::Sender<(TableKey, Heard)>,
    core: Weak<Core>,
}

impl Ear for Mouthpiece {
    fn hear(&self, key: &TableKey, heard: Heard) {
        let _ = self.sender.try_send((key.clone(), heard));
    }

    fn told(&self, key: &TableKey) -> Option<Token> {
        self.core.upgrade()?.feed.told(key)
    }
}

/// Begins to listen for as long as the process has tables.
pub(crate) fn begin(core: &Arc<Core>) -> Arc<dyn Ear> {
    let (sender, mut receiver) = mpsc::channel(UNHEARD);
    let core: Weak<Core> = Arc::downgrade(core);
    let listening = Weak::clone(&core);
    let reading = Arc::new(Semaphore::new(READING));
    tokio::spawn(async move {
        while let Some((key, heard)) = receiver.recv().await {
            let Some(core) = listening.upgrade() else {
                return;
            };
            let Some(heard) = core.hear(&key, heard) else {
                continue;
            };
            // One table that takes long, because it has lost something perhaps, is not to hold up the others.
            let Ok(place) = Arc::clone(&reading).acquire_owned().await else {
                return;
            };
            tokio::spawn(async move {
                if let Err(error) = core.look_after(&key, heard).await {
                    // The store tells again that something was missed.
                    tracing::debug!(table = %key, %error, "a commit of another process cannot be read");
                }
                drop(place);
            });
        }
    });
    Arc::new(Mouthpiece { sender, core })
}

impl Core {
    /// Passes on what follows what is known; gives back what has to be looked after.
    fn hear(&self, key: &TableKey, heard: Heard) -> Option<Heard> {
        let told = self.feed.told(key)?;
        let Heard::Commit(entry) = heard else {
            return Some(heard);
        };
        if entry.version <= told.version {
            // Our own, or told before; but two commits of one version are not of one history.
            let other = entry.version == told.version && entry.token != told;
            return other.then_some(Heard::Missed);
        }
        match self.recent.get(key).and_then(|known| follow(known, &entry)) {
            Some(table) => {
                self.pass_on(key, entry, table);
                None
            }
            None => Some(Heard::Commit(entry)),
        }
    }

    async fn look_after(self: &Arc<Core>, key: &TableKey, heard: Heard) -> Result<(), PlayError> {
        let stored = self.load_durable(key).await?;
        match (heard, stored) {
            (Heard::Commit(entry), Some(stored)) if stored.token == entry.token => {
                self.pass_on(key, entry, stored.table);
            }
            (_, stored) => self.point_to(key, stored),
        }
        Ok(())
    }

    fn pass_on(&self, key: &TableKey, entry: Entry, table: Arc<Table>) {
        let Entry { token, previous, at, events, .. } = entry;
        // Of what was pushed it is not known when: it is looked at again when the table is read next.
        self.recent.put(key, Stored { token, table: Arc::clone(&table) }, UNSURE);
        self.ring(&table);
        self.feed.publish(key, || Published { token, previous, at, events, table });
    }

    fn point_to(&self, key: &TableKey, stored: Option<Stored>) {
        if let Some(stored) = stored {
            self.ring(&stored.table);
            self.feed.hint(key, stored.token);
        }
    }

    fn ring(&self, table: &Table) {
        if let Some((at, _)) = table.due() {
            self.alarm.ring_for(at);
        }
    }
}

/// The state after an entry, out of the state before it or the one that it led to.
fn follow(known: Stored, entry: &Entry) -> Option<Arc<Table>> {
    if known.token == entry.token {
        return Some(known.table);
    }
    if Some(known.token) != entry.previous {
        return None;
    }
    let mut table = Table::clone(&known.table);
    table.apply(&entry.events);
    (table.version == entry.version).then(|| Arc::new(table))
}
