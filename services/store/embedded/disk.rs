//! Tests with a disk that fails or is slow: what is answered then, and what waits for what.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use redb::backends::InMemoryBackend;
use redb::{Database, StorageBackend};
use rules::config::{Clocks, Game, Limit, PivotOrder, Rake, TableConfig};
use rules::{Ante, Chips, Millis, Stakes, Table};
use tables::{Books, Commit, ManualClock, OperatorId, Outcome, Store, StoreError, TableId, TableKey, Token};
use uuid::Uuid;

use super::fault::Fault;
use super::{EmbeddedSettings, EmbeddedStore};
use crate::store::keyring::Keyring;

const NOW: Millis = Millis(1_790_000_000_000);

/// When the disk fails, and what it has done.
#[derive(Debug, Default)]
struct Switches {
    writes: AtomicBool,
    syncs: AtomicBool,
    synced: AtomicUsize,
}

/// How long the disk takes for a sync.
const SYNC: Duration = Duration::from_millis(2);

/// A disk that can be made to fail.
#[derive(Debug)]
struct Disk {
    memory: InMemoryBackend,
    fails: Arc<Switches>,
}

impl Disk {
    fn fail_if(switch: &AtomicBool) -> io::Result<()> {
        if switch.load(Ordering::SeqCst) { Err(io::Error::other("the disk is full")) } else { Ok(()) }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.memory.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.memory.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        Disk::fail_if(&self.fails.writes)?;
        self.memory.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        Disk::fail_if(&self.fails.syncs)?;
        std::thread::sleep(SYNC);
        self.fails.synced.fetch_add(1, Ordering::SeqCst);
        self.memory.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        Disk::fail_if(&self.fails.writes)?;
        self.memory.write(offset, data)
    }
}

fn store() -> (EmbeddedStore, Arc<Switches>) {
    let fails = Arc::new(Switches::default());
    let disk = Disk { memory: InMemoryBackend::new(), fails: Arc::clone(&fails) };
    let database = Database::builder().create_with_backend(disk).expect("an empty disk");
    let keys = Keyring::parse(&format!("test {}", "0f".repeat(32))).expect("a key");
    let clock = Arc::new(ManualClock::at(NOW));
    let settings = EmbeddedSettings { clock, ..EmbeddedSettings::new("no file", Arc::new(keys)) };
    (EmbeddedStore::start(database, settings).expect("it starts"), fails)
}

fn config() -> TableConfig {
    TableConfig {
        display_name: String::new(),
        currency: *b"EUR",
        game: Game::TexasHoldem,
        limit: Limit::NoLimit,
        seats: 6,
        stakes: Stakes {
            small_blind: Chips(1),
            big_blind: Chips(2),
            ante: Ante::None,
            straddles: 0,
            small_bet: Chips(2),
            big_bet: Chips(4),
            min_buy_in: Chips(40),
            max_buy_in: Chips(400),
        },
        rake: Rake::NONE,
        clocks: Clocks::default(),
        pivot_order: PivotOrder::InTurn,
        limit_cap_heads_up: false,
        show_all: false,
        rathole: Millis::ZERO,
    }
}

fn key(number: u128) -> TableKey {
    let operator = OperatorId::new("casino").expect("a name");
    TableKey { operator, table: TableId(Uuid::from_u128(number)) }
}

/// The commit that opens a table.
fn opening(number: u128) -> Commit {
    let (table, event) = Table::open(config(), NOW).expect("settings that can be");
    Commit {
        key: key(number),
        expected: None,
        token: Token { version: 1, nonce: 7 },
        table: Arc::new(table),
        events: vec![event],
        request: None,
        settlements: Vec::new(),
        accounts: Vec::new(),
        due: None,
        not_before: None,
        stamped: rules::Millis::ZERO,
        origin: None,
        untold: false,
    }
}

/// After the disk has failed nothing is known to be true any more, and nothing is served.
async fn check_nothing_is_served(store: &EmbeddedStore) {
    let refused = |error: StoreError| assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    refused(store.check().await.unwrap_err());
    refused(store.load(&key(1)).await.unwrap_err());
    refused(store.history(&key(1), 0, 10).await.unwrap_err());
    refused(store.due(Millis(u64::MAX), 10).await.unwrap_err());
    refused(store.commit(opening(3)).await.unwrap_err());
    refused(store.heartbeat(NOW).await.unwrap_err());
    refused(store.take_cursor(&key(1).operator, "reader").await.unwrap_err());
    assert!(store.check().await.unwrap_err().to_string().contains("restart the service"));
}

#[tokio::test]
async fn a_commit_whose_sync_failed_is_unknown() {
    let (store, fails) = store();
    assert!(matches!(store.commit(opening(1)).await, Ok(Outcome::Committed { now: NOW })));
    fails.syncs.store(true, Ordering::SeqCst);
    let failed = store.commit(opening(2)).await;
    assert!(matches!(failed, Err(StoreError::Unknown(_))), "{failed:?}");
    fails.syncs.store(false, Ordering::SeqCst);
    check_nothing_is_served(&store).await;
}

#[tokio::test]
async fn a_commit_that_could_not_be_written_is_an_error_and_the_end() {
    let (store, fails) = store();
    assert!(matches!(store.commit(opening(1)).await, Ok(Outcome::Committed { .. })));
    fails.writes.store(true, Ordering::SeqCst);
    let failed = store.commit(opening(2)).await;
    assert!(matches!(failed, Err(StoreError::Unknown(_) | StoreError::Unavailable(_))), "{failed:?}");
    fails.writes.store(false, Ordering::SeqCst);
    check_nothing_is_served(&store).await;
}

#[tokio::test]
async fn other_writes_tell_what_is_known_too() {
    let (store, fails) = store();
    fails.syncs.store(true, Ordering::SeqCst);
    let failed = store.take_cursor(&key(1).operator, "reader").await;
    assert!(matches!(failed, Err(StoreError::Unknown(_))), "{failed:?}");
    check_nothing_is_served(&store).await;
}

/// It may have been done: the panic may have come after the sync.
#[tokio::test]
async fn a_writer_that_panics_leaves_unknown_what_it_had() {
    let (store, _) = store();
    let told = store.writer.write(|_| -> Result<(), Fault> { panic!("in the middle") }).await;
    assert!(matches!(told, Err(StoreError::Unknown(_))), "{told:?}");
    let failed = async {
        while store.check().await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), failed).await.expect("the panic is noticed");
    check_nothing_is_served(&store).await;
}

#[tokio::test]
async fn a_conflict_needs_no_disk() {
    let (store, fails) = store();
    assert!(matches!(store.commit(opening(1)).await, Ok(Outcome::Committed { .. })));
    fails.writes.store(true, Ordering::SeqCst);
    fails.syncs.store(true, Ordering::SeqCst);
    let again = store.commit(opening(1)).await;
    assert!(matches!(again, Ok(Outcome::Conflict(Some(_)))), "{again:?}");
    assert!(store.check().await.is_ok(), "the store still works");
}

#[tokio::test]
async fn commits_that_wait_share_a_sync() {
    const COMMITS: u128 = 100;
    let (store, disk) = store();
    let store = Arc::new(store);
    let before = disk.synced.load(Ordering::SeqCst);
    let tasks: Vec<_> = (1..=COMMITS)
        .map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.commit(opening(number)).await })
        })
        .collect();
    for task in tasks {
        let outcome = task.await.expect("it is answered");
        assert!(matches!(outcome, Ok(Outcome::Committed { .. })), "{outcome:?}");
    }
    let syncs = disk.synced.load(Ordering::SeqCst) - before;
    // The first transaction takes what is there then; all others wait for it together.
    assert!((1..=20).contains(&syncs), "{COMMITS} commits took {syncs} syncs");
}

#[tokio::test]
async fn nobody_sees_a_commit_before_it_is_durable() {
    let (store, disk) = store();
    let store = Arc::new(store);
    for number in 1..=20 {
        let before = disk.synced.load(Ordering::SeqCst);
        let committing = {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.commit(opening(number)).await })
        };
        loop {
            let seen = store.load(&key(number)).await.expect("it can be read").is_some();
            if seen {
                assert!(
                    disk.synced.load(Ordering::SeqCst) > before,
                    "table {number} was seen before the sync"
                );
                break;
            }
            tokio::task::yield_now().await;
        }
        assert!(matches!(committing.await, Ok(Ok(Outcome::Committed { .. }))));
    }
}
