//! One task an operator that looks for new records, and for who reads them now, while a stream of his waits.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use super::Undelivered;
use crate::ids::OperatorId;
use crate::settlement::{SettlementFilter, SettlementPosition};
use crate::store::{Store, StoreError};

/// How often it looks.
const EVERY: Duration = Duration::from_millis(250);
/// So many new records are passed with one look.
const PAGE: usize = 512;

/// The task, as those see it who wait. It ends when nobody has it any more.
pub(super) struct Lookout {
    seen: watch::Sender<Seen>,
    waiting: AtomicUsize,
}

/// What it has seen.
#[derive(Clone, Default)]
struct Seen {
    /// There are records up to here.
    until: Option<SettlementPosition>,
    /// Consumers and their generations.
    consumers: Arc<HashMap<String, u64>>,
    /// How often it has looked.
    looks: u64,
}

/// One that waits, until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn of(lookout: &'a Lookout) -> Waiting<'a> {
        lookout.waiting.fetch_add(1, Ordering::Relaxed);
        Waiting(&lookout.waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Lookout {
    /// Begins to look.
    pub(super) fn begin(store: Arc<dyn Store>, operator: OperatorId) -> Arc<Lookout> {
        let lookout =
            Arc::new(Lookout { seen: watch::Sender::new(Seen::default()), waiting: AtomicUsize::new(0) });
        tokio::spawn(run(Arc::downgrade(&lookout), store, operator));
        lookout
    }

    /// There are records up to here.
    pub(super) fn seen(&self) -> Option<SettlementPosition> {
        self.seen.borrow().until
    }

    /// Waits until there are records after this place, which is the end as far as the stream knows.
    ///
    /// # Errors
    /// [`Undelivered::TakenOver`]
    pub(super) async fn wait(
        &self,
        consumer: &str,
        generation: u64,
        at: Option<SettlementPosition>,
    ) -> Result<(), Undelivered> {
        let _waiting = Waiting::of(self);
        // What this stream has read need not be looked at once more.
        self.seen.send_if_modified(|seen| {
            seen.until = seen.until.max(at);
            false
        });
        let mut seen = self.seen.subscribe();
        let first = seen.borrow().looks;
        loop {
            {
                let now = seen.borrow_and_update();
                // A look that had begun before may not have seen that this stream took over.
                let fresh = now.looks > first + 1;
                match now.consumers.get(consumer) {
                    Some(current) if *current > generation => return Err(Undelivered::TakenOver),
                    None if fresh => return Err(Undelivered::TakenOver),
                    _ if now.until > at => return Ok(()),
                    _ => {}
                }
            }
            if seen.changed().await.is_err() {
                return Ok(());
            }
        }
    }

    /// Looks once; says whether there may be more at once.
    async fn look(&self, store: &dyn Store, operator: &OperatorId) -> Result<bool, StoreError> {
        let cursors = store.books().cursors(operator).await?;
        let page = store.settlements(operator, &SettlementFilter::default(), self.seen(), PAGE).await?;
        let last = page.records.last().map(|(place, _)| *place).max(page.next);
        let consumers = cursors.into_iter().map(|(name, cursor)| (name, cursor.generation)).collect();
        self.seen.send_modify(|seen| {
            seen.until = seen.until.max(last);
            seen.consumers = Arc::new(consumers);
            seen.looks += 1;
        });
        Ok(page.records.len() == PAGE || page.next.is_some())
    }
}

async fn run(lookout: Weak<Lookout>, store: Arc<dyn Store>, operator: OperatorId) {
    let mut more = false;
    loop {
        if !more {
            sleep(EVERY).await;
        }
        let Some(lookout) = lookout.upgrade() else {
            return;
        };
        more = if lookout.waiting.load(Ordering::Relaxed) == 0 {
            false
        } else {
            // A store that is away is told of by who follows its health; whoever waits goes on waiting.
            lookout.look(&*store, &operator).await.unwrap_or(false)
        };
    }
}
