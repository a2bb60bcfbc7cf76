//! Commits of other processes, as the servers tell of them. A message is a hint: it can be lost with its connection, at a
//! fail-over, when a slot moves, or because too many come at once. So a watch is kept over every table that is followed,
//! and what was missed is said to be missed.
//!
//! One task does all of it. Channels are subscribed one by one: the crate's own subscribing again after a disconnect puts
//! channels of several slots into one command, which a cluster refuses, silently.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ::redis::{Cmd, PushInfo, PushKind, Value, cmd};
use tables::{Ear, Following, Heard, TableKey, Token};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::config::Endpoint;
use super::keys::{Place, Shard, channel_key};
use super::link::Live;
use super::route::{Home, Router};
use super::script::split_state;
use super::topology::text;
use crate::store::Codec;

/// So much may have come and not yet been taken in.
const BACKLOG: usize = 8192;
/// How long a watcher's first reading may wait for its subscription.
const PATIENCE: Duration = Duration::from_millis(700);
/// How often subscriptions that are gone are made again, and how often it is looked whether something was missed.
const MEND: Duration = Duration::from_millis(250);
const SWEEP: Duration = Duration::from_millis(2000);
/// So many of our own commits are recognised.
const OWN: usize = 4096;

/// What the task is told.
enum Note {
    /// A table is followed from now on; tell when it is.
    Follow(TableKey, oneshot::Sender<()>),
    /// Nobody follows it any more.
    Leave(TableKey),
    /// A server sent something on the connection of that number.
    Pushed(u64, PushInfo),
}

/// Follows tables.
pub(super) struct Listener {
    shared: Arc<Shared>,
    notes: mpsc::Sender<Note>,
}

struct Shared {
    followed: Mutex<HashMap<TableKey, Followed>>,
    own: Mutex<(HashSet<u64>, VecDeque<u64>)>,
    overflow: AtomicBool,
}

struct Followed {
    ear: Arc<dyn Ear>,
    followers: usize,
}

/// Follows one table until it is dropped.
struct Follower {
    shared: Arc<Shared>,
    notes: mpsc::Sender<Note>,
    key: TableKey,
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut followed = self.shared.followed();
        let Some(table) = followed.get_mut(&self.key) else {
            return;
        };
        table.followers -= 1;
        if table.followers == 0 {
            followed.remove(&self.key);
            // If there is no room for it the sweep takes the channel down.
            let _ = self.notes.try_send(Note::Leave(self.key.clone()));
        }
    }
}

impl Shared {
    fn followed(&self) -> MutexGuard<'_, HashMap<TableKey, Followed>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ear(&self, key: &TableKey) -> Option<Arc<dyn Ear>> {
        self.followed().get(key).map(|table| Arc::clone(&table.ear))
    }

    fn missed(&self, key: &TableKey) {
        if let Some(ear) = self.ear(key) {
            ear.hear(key, Heard::Missed);
        }
    }
}

impl Listener {
    pub(super) fn new(router: &Arc<Router>, codec: &Codec, shards: u16) -> Listener {
        let (notes, taken) = mpsc::channel(BACKLOG);
        let shared = Arc::new(Shared {
            followed: Mutex::default(),
            own: Mutex::default(),
            overflow: AtomicBool::new(false),
        });
        let task = Task {
            shared: Arc::clone(&shared),
            router: Arc::downgrade(router),
            codec: codec.clone(),
            shards,
            notes: notes.downgrade(),
            lines: HashMap::new(),
            reached: HashSet::new(),
            places: HashMap::new(),
            next: 0,
        };
        tokio::spawn(task.run(taken));
        Listener { shared, notes }
    }

    /// Tells the ear of the table's commits until what this gives is dropped.
    pub(super) async fn follow(&self, key: &TableKey, ear: &Arc<dyn Ear>) -> Following {
        {
            let mut followed = self.shared.followed();
            let new = || Followed { ear: Arc::clone(ear), followers: 0 };
            followed.entry(key.clone()).or_insert_with(new).followers += 1;
        }
        let follower =
            Follower { shared: Arc::clone(&self.shared), notes: self.notes.clone(), key: key.clone() };
        let (ready, is_ready) = oneshot::channel();
        let asked = async {
            if self.notes.send(Note::Follow(key.clone(), ready)).await.is_ok() {
                let _ = is_ready.await;
            }
        };
        // If it takes longer, the table is swept until the channel is there.
        let _ = timeout(PATIENCE, asked).await;
        Box::new(follower)
    }

    /// A commit that this process makes itself, and need not be told of.
    pub(super) fn own(&self, token: Token) {
        let mut own = self.shared.own.lock().unwrap_or_else(PoisonError::into_inner);
        let (nonces, order) = &mut *own;
        if nonces.insert(token.nonce) {
            order.push_back(token.nonce);
        }
        if order.len() > OWN
            && let Some(oldest) = order.pop_front()
        {
            nonces.remove(&oldest);
        }
    }

    /// A commit of ours of which it is not certain that it was done: nobody publishes it here if it comes after all. If
    /// it was told already, and passed over as our own, the next sweep finds that out.
    pub(super) fn disown(&self, token: Token) {
        let mut own = self.shared.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.0.remove(&token.nonce);
        own.1.retain(|nonce| *nonce != token.nonce);
    }
}

struct Line {
    live: Live,
    number: u64,
}

struct Task {
    shared: Arc<Shared>,
    router: Weak<Router>,
    codec: Codec,
    shards: u16,
    notes: mpsc::WeakSender<Note>,
    lines: HashMap<Endpoint, Line>,
    /// Which servers were reached before.
    reached: HashSet<Endpoint>,
    /// Where each channel is subscribed.
    places: HashMap<TableKey, Endpoint>,
    next: u64,
}

impl Task {
    async fn run(mut self, mut notes: mpsc::Receiver<Note>) {
        let mut mend = interval(MEND);
        mend.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut swept = Instant::now();
        loop {
            tokio::select! {
                note = notes.recv() => match note {
                    Some(Note::Follow(key, ready)) => {
                        if !self.places.contains_key(&key) {
                            self.subscribe(&key).await;
                        }
                        let _ = ready.send(());
                    }
                    Some(Note::Leave(key)) => self.leave(&key).await,
                    Some(Note::Pushed(number, info)) => self.take(number, info),
                    None => return,
                },
                _ = mend.tick() => {
                    if self.router.strong_count() == 0 {
                        return;
                    }
                    self.mend().await;
                    if swept.elapsed() >= SWEEP || self.shared.overflow.swap(false, Ordering::AcqRel) {
                        swept = Instant::now();
                        self.sweep().await;
                    }
                }
            }
        }
    }

    fn take(&mut self, number: u64, info: PushInfo) {
        match info.kind {
            PushKind::Disconnection => self.close(number),
            // The slot has moved away.
            PushKind::SUnsubscribe => {
                if let Some(key) = info.data.first().and_then(text).and_then(|name| channel_key(&name)) {
                    self.places.remove(&key);
                }
            }
            PushKind::SMessage => self.pass_on(&info.data),
            _ => {}
        }
    }

    fn pass_on(&self, data: &[Value]) {
        let [channel, Value::BulkString(record)] = data else {
            return;
        };
        let Some(key) = text(channel).and_then(|name| channel_key(&name)) else {
            return;
        };
        let entry = match self.codec.read_entry(&key, record) {
            Ok(read) => read,
            Err(error) => {
                tracing::warn!(event = "commit_unread", table = %key, %error, "a commit of another process cannot be read");
                return self.shared.missed(&key);
            }
        };
        let own =
            self.shared.own.lock().unwrap_or_else(PoisonError::into_inner).0.contains(&entry.token.nonce);
        if !own && let Some(ear) = self.shared.ear(&key) {
            ear.hear(&key, Heard::Commit(entry));
        }
    }

    fn close(&mut self, number: u64) {
        let Some(endpoint) =
            self.lines.iter().find(|(_, line)| line.number == number).map(|(at, _)| at.clone())
        else {
            return;
        };
        self.lines.remove(&endpoint);
        self.places.retain(|_, place| *place != endpoint);
    }

    async fn leave(&mut self, key: &TableKey) {
        // Somebody may have come meanwhile.
        if self.shared.followed().contains_key(key) {
            return;
        }
        if let Some(endpoint) = self.places.remove(key)
            && let Some(line) = self.lines.get_mut(&endpoint)
        {
            let command = on_channel("SUNSUBSCRIBE", key, self.shards);
            let _ = line.live.connection.send_packed_command(&command).await;
        }
    }

    /// Subscribes a table's channel at the server that has its shard; true if it is.
    async fn subscribe(&mut self, key: &TableKey) -> bool {
        let Some(router) = self.router.upgrade() else {
            return false;
        };
        let Ok(map) = router.map().await else {
            return false;
        };
        let Some(node) = map.owner(Home::Shard(Shard::of(key, self.shards))).cloned() else {
            return false;
        };
        if self.lines.get(&node.endpoint).is_none_or(|line| line.live.is_closed()) {
            if node.check_up().is_err() {
                return false;
            }
            self.next += 1;
            let number = self.next;
            let Ok(live) = node.link.connect_listening(&node.endpoint, self.pushed(number)).await else {
                return false;
            };
            self.places.retain(|_, place| *place != node.endpoint);
            if !self.reached.insert(node.endpoint.clone()) {
                node.link.counts.reconnected();
            }
            self.lines.insert(node.endpoint.clone(), Line { live, number });
        }
        let Some(line) = self.lines.get_mut(&node.endpoint) else {
            return false;
        };
        let command = on_channel("SSUBSCRIBE", key, self.shards);
        match line.live.connection.send_packed_command(&command).await {
            answer @ (Ok(Value::ServerError(_)) | Err(_)) => {
                if answer.is_err() {
                    line.live.give_up();
                }
                // The slot has moved, or the server is away: the map may be old.
                let _ = router.locate(Some(&map)).await;
                false
            }
            Ok(_) => {
                self.places.insert(key.clone(), node.endpoint.clone());
                true
            }
        }
    }

    fn pushed(&self, number: u64) -> super::link::Pushed {
        let (notes, shared) = (self.notes.clone(), Arc::clone(&self.shared));
        Box::new(move |info| {
            let Some(notes) = notes.upgrade() else {
                return;
            };
            if notes.try_send(Note::Pushed(number, info)).is_err() {
                shared.overflow.store(true, Ordering::Release);
            }
        })
    }

    /// Subscribes what is followed and not subscribed where it belongs.
    async fn mend(&mut self) {
        let Some(map) = self.map().await else {
            return;
        };
        self.lines.retain(|_, line| !line.live.is_closed());
        let lines = &self.lines;
        self.places.retain(|key, place| {
            let owner = map.owner(Home::Shard(Shard::of(key, self.shards)));
            lines.contains_key(place) && owner.is_some_and(|node| node.endpoint == *place)
        });
        let lost: Vec<TableKey> = {
            let followed = self.shared.followed();
            followed.keys().filter(|key| !self.places.contains_key(key)).cloned().collect()
        };
        for key in lost {
            if self.subscribe(&key).await {
                self.shared.missed(&key);
            }
        }
    }

    async fn map(&self) -> Option<Arc<super::route::Map>> {
        self.router.upgrade()?.map().await.ok()
    }

    /// Gives up the connections on which nothing comes any more, though nobody has closed them.
    async fn ping(&self) {
        let pings = self.lines.values().map(|line| async {
            if line.live.clone().connection.send_packed_command(&cmd("PING")).await.is_err() {
                line.live.give_up();
            }
        });
        futures_util::future::join_all(pings).await;
    }

    /// Looks for tables that are elsewhere than we have heard: mostly they have gone on.
    async fn sweep(&mut self) {
        let Some(router) = self.router.upgrade() else {
            return;
        };
        let left: Vec<TableKey> = {
            let followed = self.shared.followed();
            self.places.keys().filter(|key| !followed.contains_key(key)).cloned().collect()
        };
        for key in left {
            self.leave(&key).await;
        }
        self.ping().await;
        let keys: Vec<TableKey> = self.shared.followed().keys().cloned().collect();
        let calls =
            keys.iter().map(|key| (Shard::of(key, self.shards), vec![token(key, self.shards)])).collect();
        let Ok(answers) = router.each(calls).await else {
            return;
        };
        for (key, answer) in keys.iter().zip(answers) {
            let Some(Value::BulkString(bytes)) = answer.first() else {
                continue;
            };
            let Some((present, _)) = split_state(bytes) else {
                continue;
            };
            if let Some(ear) = self.shared.ear(key)
                && ear.told(key).is_some_and(|told| told != present)
            {
                ear.hear(key, Heard::Missed);
            }
        }
    }
}

fn on_channel(command: &str, key: &TableKey, shards: u16) -> Cmd {
    let mut command = cmd(command);
    command.arg(Place::of(key, shards).channel());
    command
}

/// The token at the beginning of a state.
fn token(key: &TableKey, shards: u16) -> Cmd {
    let mut command = cmd("GETRANGE");
    command.arg(Place::of(key, shards).state()).arg(0).arg(15);
    command
}
