//! The keys as they are published now: read again and again, and at once when a token names a key that is not known. Keys
//! change while tokens are in use; whoever publishes them may be away for a while.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::fetch::{self, Source};
use super::keys::Keys;
use crate::grpc::layers::counting::Counting;

/// Between two readings that tokens with unknown keys bring about: anybody can make such a token.
const LEAST_PAUSE: Duration = Duration::from_secs(10);
/// After a reading that failed, if the next one is not due earlier.
const RETRY: Duration = Duration::from_secs(10);
/// So many calls wait for a reading at once.
const WAITING: usize = 256;

/// How the keys are read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Where.
    pub source: Source,
    /// How often.
    pub every: Duration,
    /// For how long keys are used that cannot be read again.
    pub kept: Duration,
}

/// A set of keys that was read.
#[derive(Debug)]
pub struct Held {
    /// The keys.
    pub keys: Keys,
    /// Another one than that of any set before.
    pub generation: u64,
    text: Vec<u8>,
}

/// Why a key is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// There is no such key.
    Unknown,
    /// No keys can be had at the moment.
    Away,
}

/// The keys as they are published now.
#[derive(Debug)]
pub struct Published {
    reading: Reading,
    counting: Option<Arc<dyn Counting>>,
    held: RwLock<Option<Arc<Held>>>,
    /// Readings that have ended.
    ended: watch::Sender<u64>,
    wanted: Notify,
    asked: Mutex<Asked>,
    room: Semaphore,
}

/// What tokens have brought about.
#[derive(Debug, Default)]
struct Asked {
    at: Option<Instant>,
    /// And no reading has ended since.
    open: bool,
}

/// What readings have come to, for who makes them.
struct Past {
    /// The last one that did not fail.
    good: Instant,
    failed: u64,
}

impl Published {
    /// Nothing is read yet.
    #[must_use]
    pub fn new(reading: Reading, counting: Option<Arc<dyn Counting>>) -> Published {
        Published {
            reading,
            counting,
            held: RwLock::default(),
            ended: watch::Sender::default(),
            wanted: Notify::new(),
            asked: Mutex::default(),
            room: Semaphore::new(WAITING),
        }
    }

    /// The keys that hold at the moment.
    #[must_use]
    pub fn held(&self) -> Option<Arc<Held>> {
        self.held.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The set with a key of this id. If it is not known, the keys are read again, unless that was done a moment ago.
    ///
    /// # Errors
    /// [`Missing`]
    pub async fn with(&self, id: &str) -> Result<Arc<Held>, Missing> {
        let known = || self.held().filter(|held| held.keys.find(id).is_some());
        if let Some(held) = known() {
            return Ok(held);
        }
        let Ok(_place) = self.room.try_acquire() else {
            return Err(Missing::Away);
        };
        self.reread().await;
        match known() {
            Some(held) => Ok(held),
            None if self.held().is_none() => Err(Missing::Away),
            None => Err(Missing::Unknown),
        }
    }

    async fn reread(&self) {
        let mut ended = self.ended.subscribe();
        {
            let mut asked = self.asked();
            if !asked.open {
                if asked.at.is_some_and(|at| at.elapsed() < LEAST_PAUSE) {
                    return;
                }
                *asked = Asked { at: Some(Instant::now()), open: true };
                self.wanted.notify_one();
            }
        }
        // Whatever comes of it is seen by looking: a reading that ends late is as good as one that failed.
        let _ = timeout(fetch::PATIENCE, ended.changed()).await;
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the keys, and goes on reading them until `stop`.
    pub async fn run(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut past = Past { good: Instant::now(), failed: 0 };
        loop {
            let next = Instant::now() + self.read(&mut past).await;
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                () = sleep_until(next) => {}
                () = self.wanted.notified() => {}
            }
        }
    }

    /// Waits until the keys have been read for the first time, well or not.
    pub async fn begun(&self) {
        let mut ended = self.ended.subscribe();
        let _ = ended.wait_for(|ended| *ended > 0).await;
    }

    /// One reading; says when the next one is due.
    async fn read(&self, past: &mut Past) -> Duration {
        let read = self.reading.source.read().await;
        let read = read.and_then(|text| match self.held().filter(|held| held.text == text) {
            Some(_) => Ok(None),
            None => {
                Keys::read(&text).map(|keys| Some((keys, text.to_vec()))).map_err(|fault| fault.to_string())
            }
        });
        let due = match read {
            Ok(new) => {
                if let Some((keys, text)) = new {
                    self.take(keys, text);
                }
                *past = Past { good: Instant::now(), failed: 0 };
                self.reading.every
            }
            Err(fault) => {
                past.failed += 1;
                self.failed(past, &fault);
                self.reading.every.min(RETRY)
            }
        };
        if let Some(counting) = &self.counting {
            counting.keys_read(past.failed == 0, self.held().map_or(0, |held| held.keys.ids().len()));
        }
        self.asked().open = false;
        self.ended.send_modify(|ended| *ended += 1);
        due
    }

    fn take(&self, keys: Keys, text: Vec<u8>) {
        let ids = keys.ids().join(" ");
        tracing::info!(event = "jwks_read", %ids, "the keys of tokens have changed");
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        let generation = *self.ended.borrow();
        *held = Some(Arc::new(Held { keys, generation, text }));
    }

    fn failed(&self, past: &Past, error: &str) {
        let seconds = past.good.elapsed().as_secs();
        let held = self.held().is_some();
        if held && past.good.elapsed() >= self.reading.kept {
            *self.held.write().unwrap_or_else(PoisonError::into_inner) = None;
            tracing::error!(
                event = "jwks_given_up",
                error,
                seconds,
                "the keys of tokens are too old: no JWT is taken any more"
            );
        } else if held {
            tracing::warn!(
                event = "jwks_failed",
                error,
                seconds,
                "the keys of tokens cannot be read; the old ones hold"
            );
        } else {
            tracing::error!(event = "jwks_missing", error, "there are no keys of tokens: no JWT is taken");
        }
    }
}
