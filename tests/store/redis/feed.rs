//! Commits of one process, watched from another.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rules::{Ask, Chips, PlayerId};
use tables::{
    Ear, Heard, Message, OsDealer, Request, RequestId, Settings, Store, StoreError, TableId, TableKey,
    Tables, Token, Watcher,
};
use tokio::time::timeout;
use uuid::Uuid;

use super::proxy::{Mood, Proxy};
use super::servers::{Installation, Server, until};
use super::{is_done, keeping, open, open_through, played};
use crate::chain::Chain;
use crate::fixtures::{config, key, operator};

/// So long a busy machine may take for what has to happen.
const PATIENCE: Duration = Duration::from_secs(25);

async fn process(installation: &Installation) -> Tables {
    let store = open(keeping(installation.config())).await as Arc<dyn Store>;
    Tables::new(store, Arc::new(OsDealer), Settings::default())
}

fn request(number: u128) -> Request {
    Request { id: RequestId(Uuid::from_u128(number)), payload: [1; 32] }
}

async fn table(tables: &Tables, number: u128) -> TableKey {
    let operator = operator("casino-1");
    tables.open(&operator, request(number), config(), &|_, _| Vec::new()).await.unwrap();
    TableKey { table: TableId::derived(&operator, &request(number).id), operator }
}

/// One commit: the player comes or goes.
async fn commit(tables: &Tables, key: &TableKey, number: u64) {
    let (player, transaction) = (PlayerId::new("alice").unwrap(), format!("t{number}"));
    let ask = if number.is_multiple_of(2) {
        Ask::Seat { player, seat: None, buy_in: Chips(5000), post: false, transaction }
    } else {
        Ask::StandUp { player, transaction }
    };
    tables.ask(key, None, None, ask, &|_, _| Vec::new()).await.unwrap();
}

async fn told(watcher: &mut Watcher) -> (u64, bool) {
    let message = timeout(PATIENCE, watcher.next()).await.expect("the watcher is told");
    match message.expect("the stream goes on") {
        Message::Snapshot(table) => (table.version, true),
        Message::Commit { version, table, events, .. } => {
            assert!(table.version == version && !events.is_empty());
            (version, false)
        }
        other => panic!("{other:?}"),
    }
}

/// How many tables are listened to.
fn subscriptions(installation: &Installation) -> usize {
    let listened = |server: &Server| server.ask::<Vec<String>>(&["PUBSUB", "SHARDCHANNELS"]).len();
    installation.servers.iter().map(listened).sum()
}

async fn is_told_everything(installation: &Installation) {
    let (here, there) = (process(installation).await, process(installation).await);
    let mut watchers = Vec::new();
    for number in 1..=8 {
        let key = table(&here, number).await;
        let mut watcher = there.watch(&key, None).await.unwrap();
        assert_eq!(told(&mut watcher).await, (1, true));
        watchers.push((key, watcher));
    }
    let started = Instant::now();
    for number in 0..30 {
        for (key, watcher) in &mut watchers {
            commit(&here, key, number).await;
            assert_eq!(told(watcher).await, (number + 2, false));
        }
    }
    // Each is told at once, not by the watch that is kept for what is missed: that comes each two seconds.
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    // Both processes commit by turns, each on what it heard of the other.
    for number in 30..40 {
        for (key, watcher) in &mut watchers {
            commit(if number % 2 == 0 { &there } else { &here }, key, number).await;
            assert_eq!(told(watcher).await, (number + 2, false));
        }
    }
    // The connections break; what happens meanwhile is found in history.
    let subscribed = subscriptions(installation);
    assert!(subscribed >= 8, "{subscribed}");
    for server in &installation.servers {
        let _: redis::RedisResult<redis::Value> = server.try_ask(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    }
    for number in 40..50 {
        for (key, _) in &watchers {
            commit(&here, key, number).await;
        }
    }
    for (key, watcher) in &mut watchers {
        for number in 40..50 {
            assert_eq!(told(watcher).await, (number + 2, false), "{key}");
        }
    }
    until("the subscriptions are back", || subscriptions(installation) >= subscribed);
    let started = Instant::now();
    for number in 50..60 {
        for (key, watcher) in &mut watchers {
            commit(&here, key, number).await;
            assert_eq!(told(watcher).await, (number + 2, false));
        }
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    drop(watchers);
    assert_eq!(there.feed().watchers(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_of_another_process_is_told_everything() {
    is_told_everything(&Installation::single()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_of_another_process_is_told_everything_by_a_cluster() {
    is_told_everything(&Installation::cluster()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watcher_who_comes_back_goes_on_where_he_was() {
    let installation = Installation::single();
    let (here, there) = (process(&installation).await, process(&installation).await);
    let key = table(&here, 1).await;
    for number in 0..150 {
        commit(&here, &key, number).await;
    }
    for after in [0, 1, 63, 64, 100, 149] {
        let mut watcher = there.watch(&key, Some(after)).await.unwrap();
        for version in after + 1..=151 {
            assert_eq!(told(&mut watcher).await, (version, false), "after {after}");
        }
    }
}

/// Notes what it heard, of a commit its version; and what its listeners know.
#[derive(Default)]
struct Notes {
    heard: Mutex<Vec<Option<Token>>>,
    told: Mutex<Option<Token>>,
}

impl Ear for Notes {
    fn hear(&self, _: &TableKey, heard: Heard) {
        let token = match heard {
            Heard::Commit(entry) => Some(entry.token),
            Heard::Missed => None,
        };
        self.heard.lock().unwrap().push(token);
    }

    fn told(&self, _: &TableKey) -> Option<Token> {
        Some(self.told.lock().unwrap().unwrap_or(Token { version: 0, nonce: 0 }))
    }
}

impl Notes {
    /// This is passed on.
    fn pass_on(&self, chain: &Chain) {
        *self.told.lock().unwrap() = chain.stored.as_ref().map(|stored| stored.token);
    }

    /// Waits until the last commit is heard of.
    async fn hear_of(&self, chain: &Chain) {
        let last = chain.stored.as_ref().map(|stored| stored.token);
        let started = Instant::now();
        while *self.told.lock().unwrap() != last {
            assert!(started.elapsed() < PATIENCE, "{last:?} is not told");
            for heard in std::mem::take(&mut *self.heard.lock().unwrap()) {
                // What was missed is read.
                *self.told.lock().unwrap() = heard.or(last);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Who asked for a commit and was not answered publishes nothing: if it was done, he has to be told like everybody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_nobody_was_answered_is_told_to_its_own_process() {
    let installation = Installation::single();
    let proxy = Proxy::before(&installation.servers[0].endpoint()).await;
    let store = open_through(&proxy).await;
    let mut chain = played(&store, key(1), 6, 3).await;
    let notes = Arc::new(Notes::default());
    let ear = Arc::clone(&notes) as Arc<dyn Ear>;
    let _following = store.follow(&key(1), &ear).await.unwrap();
    notes.pass_on(&chain);
    notes.heard.lock().unwrap().clear();
    assert!(is_done(&store.commit(chain.next()).await));
    notes.pass_on(&chain);
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(*notes.heard.lock().unwrap(), [], "of its own commits a process is not told");
    // It comes when nobody waits for it any more.
    proxy.be(Mood::LateCommit);
    let late = store.commit(chain.next()).await;
    assert!(matches!(late, Err(StoreError::Unknown(_))), "{late:?}");
    notes.hear_of(&chain).await;
    // It is told, and passed over as our own, before it is known that its answer is lost.
    proxy.be(Mood::UnansweredCommit);
    let unanswered = store.commit(chain.next()).await;
    assert!(matches!(unanswered, Err(StoreError::Unknown(_))), "{unanswered:?}");
    notes.hear_of(&chain).await;
    // Who could not take it in is told again.
    let direct = open(keeping(installation.config())).await;
    assert!(is_done(&direct.commit(chain.next()).await));
    for _ in 0..2 {
        let started = Instant::now();
        while notes.heard.lock().unwrap().is_empty() {
            assert!(started.elapsed() < PATIENCE, "it is not told again");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        notes.heard.lock().unwrap().clear();
    }
}

/// The connection that tells of commits is the one that is gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_connection_is_not_listened_to_for_ever() {
    let installation = Installation::single();
    let proxy = Proxy::before(&installation.servers[0].endpoint()).await;
    let there = open_through(&proxy).await as Arc<dyn Store>;
    let there = Tables::new(there, Arc::new(OsDealer), Settings::default());
    let here = process(&installation).await;
    let key = table(&here, 1).await;
    let mut watcher = there.watch(&key, None).await.unwrap();
    assert_eq!(told(&mut watcher).await, (1, true));
    proxy.count(b"SSUBSCRIBE");
    proxy.be(Mood::DeadEar);
    commit(&here, &key, 0).await;
    assert_eq!(told(&mut watcher).await, (2, false), "found by the watch that is kept");
    until("another connection is listened to", || proxy.counted() > 0);
    let started = Instant::now();
    for number in 1..20 {
        commit(&here, &key, number).await;
        assert_eq!(told(&mut watcher).await, (number + 2, false));
    }
    // The watch alone finds one each two seconds at best.
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}
