//! Every store keeps the laws of a store. A new store joins with one line in the list below.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fulcrum::store::{EmbeddedSettings, EmbeddedStore};
use rules::Millis;
use tables::Store;
use tables::laws::{self, Setting};
use tables::memory::MemoryStore;
use tables::store::REQUEST_RETENTION;
use tables::time::{Clock, ManualClock, SystemClock};
use tempfile::TempDir;

use crate::fixtures::keys;

/// Where a store may put what it keeps, for as long as the test runs.
struct Place {
    folder: TempDir,
    stores: AtomicUsize,
}

impl Place {
    /// In memory where the machine allows it: the laws ask nothing of the disk, and wait for it thousands of times.
    fn new() -> Place {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Place { folder: folder.expect("a folder"), stores: AtomicUsize::new(0) }
    }

    /// A path that was not used before. The store before this one has been tried, and its file goes.
    fn path(&self) -> PathBuf {
        let path = |number: usize| self.folder.path().join(format!("store-{number}.redb"));
        let number = self.stores.fetch_add(1, Ordering::Relaxed);
        if let Some(before) = number.checked_sub(1) {
            std::fs::remove_file(path(before)).ok();
        }
        path(number)
    }
}

fn memory(_place: &Place, setting: Setting, requests_kept: Millis, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
    let Setting { history, notes } = setting;
    let store = MemoryStore::new(clock).with_history(history).with_notes(notes);
    Arc::new(store.with_requests_kept(requests_kept))
}

fn embedded(place: &Place, setting: Setting, requests_kept: Millis, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
    let settings = EmbeddedSettings {
        history: setting.history as u64,
        notes: setting.notes,
        requests_kept,
        clock,
        ..EmbeddedSettings::new(place.path(), keys())
    };
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
            async fn keeps_request_records_so_long() {
                super::keeps_request_records_so_long(super::$store).await;
            }
        }
    )*};
}

stores! { memory, embedded }

type Make = fn(&Place, Setting, Millis, Arc<dyn Clock>) -> Arc<dyn Store>;

async fn keeps_the_laws(make: Make) {
    let place = Place::new();
    laws::all(|setting| {
        let store = make(&place, setting, REQUEST_RETENTION, Arc::new(SystemClock::default()));
        async move { store }
    })
    .await;
}

async fn keeps_request_records_so_long(make: Make) {
    let place = Place::new();
    for kept in [REQUEST_RETENTION, Millis::minutes(180)] {
        let clock = Arc::new(ManualClock::at(Millis(1_790_000_000_000)));
        let store =
            make(&place, Setting { history: 100, notes: 100 }, kept, Arc::clone(&clock) as Arc<dyn Clock>);
        laws::request_records_are_kept(store, &clock, kept).await.expect("the law is kept");
    }
}
