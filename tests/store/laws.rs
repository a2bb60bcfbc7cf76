//! Every store keeps the laws of a store. A new store joins with one line in the list below.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fulcrum::store::{EmbeddedSettings, EmbeddedStore};
use rules::Millis;
use tables::Store;
use tables::laws;
use tables::memory::MemoryStore;
use tables::time::{Clock, ManualClock, SystemClock};
use tempfile::TempDir;

use crate::fixtures::keys;

/// Where a store may put what it keeps, for as long as the test runs.
struct Place {
    folder: TempDir,
    next: AtomicUsize,
}

impl Place {
    /// A path that was not used before.
    fn path(&self) -> PathBuf {
        self.folder.path().join(format!("store-{}.redb", self.next.fetch_add(1, Ordering::Relaxed)))
    }
}

fn memory(_place: &Place, history: usize, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
    Arc::new(MemoryStore::new(clock).with_history(history))
}

fn embedded(place: &Place, history: usize, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
    let settings =
        EmbeddedSettings { history: history as u64, clock, ..EmbeddedSettings::new(place.path(), keys()) };
    Arc::new(EmbeddedStore::open(settings).expect("a new file can be opened"))
}

macro_rules! stores {
    ($($store:ident),*) => {$(
        mod $store {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn keeps_the_laws() {
                super::keeps_the_laws(super::$store).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn keeps_request_records_14_days() {
                super::keeps_request_records_14_days(super::$store).await;
            }
        }
    )*};
}

stores! { memory, embedded }

type Make = fn(&Place, usize, Arc<dyn Clock>) -> Arc<dyn Store>;

fn place() -> Place {
    Place { folder: tempfile::tempdir().expect("a folder"), next: AtomicUsize::new(0) }
}

async fn keeps_the_laws(make: Make) {
    let place = place();
    laws::all(|setting| {
        let store = make(&place, setting.history, Arc::new(SystemClock::default()));
        async move { store }
    })
    .await;
}

async fn keeps_request_records_14_days(make: Make) {
    let place = place();
    let clock = Arc::new(ManualClock::at(Millis(1_790_000_000_000)));
    let store = make(&place, 100, Arc::clone(&clock) as Arc<dyn Clock>);
    laws::request_records_are_kept_14_days(store, &clock).await.expect("the law is kept");
}
