//! Tables with bots, for a while, and what that took of servers and Redis.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tables::{OperatorId, TableId, TableKey};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tonic::Status;
use uuid::Uuid;

use super::audience::Audience;
use super::measured::Phase;
use super::redis::{Done, Redis};
use super::server::{House, Server};
use crate::cli::access::Access;
use crate::cli::client::{Client, request_id};
use crate::cli::failure::Failure;
use crate::cli::load::bot::Manner;
use crate::cli::load::calls::Calls;
use crate::cli::load::connections::Connections;
use crate::cli::load::games::{BUY_IN, Games};
use crate::cli::load::meter::Meter;
use crate::cli::load::room::Room;
use crate::cli::share::Share;
use crate::pb::v1::CloseTableRequest;
use crate::store::redis::spreading::shard_of;

/// How many connections there are to each server.
const CONNECTIONS: usize = 4;
/// So many tables are opened or closed at a time.
const AT_ONCE: usize = 32;
/// The pause between hands, and the clocks: no bot lets one run out.
const BETWEEN_HANDS: Duration = Duration::from_millis(200);
const CLOCK: Duration = Duration::from_secs(20);
/// So long bots play before it counts.
const WARM_UP: Duration = Duration::from_secs(2);
/// So long the last hands may take.
const LAST_HANDS: Duration = Duration::from_secs(60);
/// The bits of a bot's seed that tell the places at a table apart.
const PLACES: u32 = 8;

/// All tables that were opened.
#[derive(Clone, Default)]
pub struct Opened(Arc<Mutex<BTreeSet<String>>>);

/// How one phase is played.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// What it is for.
    pub name: &'static str,
    /// How long bots think.
    pub think: Duration,
    /// Spectators at each table, beside the bots and the one that counts.
    pub spectators: u32,
}

/// What a phase came to.
pub struct Played {
    /// In numbers a second.
    pub phase: Phase,
    /// Of a message to a spectator.
    pub bytes_per_message: f64,
    /// Of a commit kept in the history of a table.
    pub bytes_per_commit_kept: f64,
    /// Of a settlement of a hand, with its place in the index.
    pub bytes_per_hand_kept: f64,
}

/// Who opens tables and plays at them.
pub struct Desk<'a> {
    /// Whose tables they are.
    pub house: &'a House,
    /// Where they lie.
    pub redis: &'a Redis,
    /// Shards of the installation.
    pub shards: u16,
    /// How many tables are played.
    pub tables: usize,
    /// How many bots at each.
    pub seats: u32,
    /// How long a phase is.
    pub time: Duration,
    /// Drives the bots.
    pub seed: u64,
    /// All tables.
    pub opened: Opened,
}

/// The counters at a moment.
struct Moment {
    at: Instant,
    servers: u64,
    redis: Done,
    actions: u64,
    commits: u64,
    hands: u64,
    bytes: u64,
}

impl Opened {
    fn with<R>(&self, work: impl FnOnce(&mut BTreeSet<String>) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The ids of those that are still open.
    pub fn ids(&self) -> Vec<String> {
        self.with(|open| open.iter().cloned().collect())
    }
}

impl Desk<'_> {
    /// Who calls these servers.
    ///
    /// # Errors
    /// [`Failure`]
    pub fn calls(&self, servers: &[Server]) -> Result<Calls, Failure> {
        let addresses: Vec<String> = servers.iter().map(|server| server.address.clone()).collect();
        let count = CONNECTIONS * addresses.len();
        let connections = Connections::with(&addresses, &Access::by_token(Some(&self.house.token)), count)?;
        let meter = Meter::new().map_err(|error| Failure::Failed(format!("cannot measure: {error}")))?;
        Ok(Calls { connections: Arc::new(connections), meter: Arc::new(meter), quiet: CLOCK * 4 })
    }

    /// Opens so many tables.
    ///
    /// # Errors
    /// [`Failure::Failed`] with the first refusal.
    pub async fn open(&self, calls: &Calls, count: usize) -> Result<Vec<Room>, Failure> {
        let (mut opening, mut rooms) = (JoinSet::new(), Vec::new());
        for index in 0..count {
            if opening.len() >= AT_ONCE {
                rooms.extend(finished(opening.join_next().await)?);
            }
            let config = Games::Mix.config(index, self.seats, (CLOCK, BETWEEN_HANDS));
            let (calls, opened) = (calls.clone(), self.opened.clone());
            opening.spawn(async move {
                let room = Room::open(&calls, config).await?;
                opened.with(|open| open.insert(room.id.clone()));
                Ok(room)
            });
        }
        while let Some(done) = opening.join_next().await {
            rooms.extend(finished(Some(done))?);
        }
        Ok(rooms)
    }

    /// Closes tables: whoever still sits there is paid out.
    ///
    /// # Errors
    /// [`Failure::Failed`] with the first refusal.
    pub async fn close(&self, calls: &Calls, ids: Vec<String>) -> Result<(), Failure> {
        let mut closing = JoinSet::new();
        for table_id in ids {
            if closing.len() >= AT_ONCE {
                finished(closing.join_next().await)?;
            }
            let (calls, opened) = (calls.clone(), self.opened.clone());
            closing.spawn(async move {
                let request = CloseTableRequest {
                    request_id: request_id(),
                    table_id: table_id.clone(),
                    reason: "capacity was measured".to_owned(),
                    ..CloseTableRequest::default()
                };
                let call = |mut c: Client, request| async move { c.tables.close_table(request).await };
                calls.ask(&request, call).await.answer?;
                opened.with(|open| open.remove(&table_id));
                Ok(())
            });
        }
        while let Some(done) = closing.join_next().await {
            finished(Some(done))?;
        }
        Ok(())
    }

    /// Plays a phase at these servers, at tables that are opened for it and closed after it.
    ///
    /// # Errors
    /// [`Failure::Failed`] if it cannot be played.
    pub async fn play(&self, servers: &[Server], course: Course) -> Result<Played, Failure> {
        let calls = self.calls(servers)?;
        let mut rooms = self.open(&calls, self.tables).await?;
        let ids: Vec<String> = rooms.iter().map(|room| room.id.clone()).collect();
        let (mut counting, mut audience) = (Audience::default(), Audience::default());
        self.seat(&mut rooms, course.think).await?;
        counting.join(&calls, &ids, 1).await.map_err(|status| refused(&status))?;
        audience.join(&calls, &ids, course.spectators).await.map_err(|status| refused(&status))?;
        sleep(WARM_UP).await;

        // Weighing takes Redis' time, and so is done before and after it is looked at.
        let settled_before = self.weigh_settled().await?;
        let before = self.moment(servers, &calls, &counting).await?;
        sleep(self.time).await;
        let after = self.moment(servers, &calls, &counting).await?;
        let settled = self.weigh_settled().await? - settled_before;
        let broken = [&counting, &audience].map(|some| some.heard.broken.load(Ordering::Relaxed));
        if broken != [0, 0] {
            return Err(Failure::Failed(format!(
                "{} streams broke while it was measured: the machine has too little left for {} tables",
                broken[0] + broken[1],
                self.tables
            )));
        }
        let kept = self.weigh_history(&ids).await?;
        drop((counting, audience));
        self.end(&calls, rooms).await?;
        let watchers = self.seats + 1 + course.spectators;
        let hands = after.hands.saturating_sub(before.hands).max(1) as f64;
        Ok(Played {
            bytes_per_commit_kept: kept,
            bytes_per_hand_kept: settled / hands,
            bytes_per_message: after.bytes_per_message(&before),
            phase: after.since(&before, course.name, servers.len(), watchers),
        })
    }

    async fn seat(&self, rooms: &mut [Room], think: Duration) -> Result<(), Failure> {
        let nothing = Share::NEVER;
        let manner = Manner {
            think,
            absent: nothing,
            fold: nothing,
            churn: nothing,
            wallet: false,
            buy_in: BUY_IN,
            notes: false,
        };
        let run = &Uuid::new_v4().simple().to_string()[..8];
        for (index, room) in (0_u64..).zip(rooms) {
            let players = (1..=self.seats).map(|place| format!("capacity-{run}-{index}-{place}")).collect();
            let seed = self.seed.wrapping_add(index << PLACES);
            room.seat(players, manner, seed).await.map_err(|status| refused(&status))?;
        }
        Ok(())
    }

    async fn end(&self, calls: &Calls, rooms: Vec<Room>) -> Result<(), Failure> {
        let ids = rooms.iter().map(|room| room.id.clone()).collect();
        let mut ending = JoinSet::new();
        for mut room in rooms {
            ending.spawn(async move {
                room.end(LAST_HANDS).await?;
                room.gather().await;
                Ok(())
            });
        }
        while let Some(done) = ending.join_next().await {
            finished(Some(done))?;
        }
        self.close(calls, ids).await
    }

    async fn moment(
        &self,
        servers: &[Server],
        calls: &Calls,
        counting: &Audience,
    ) -> Result<Moment, Failure> {
        let redis = self.redis.done().await?;
        let servers = servers.iter().map(Server::cpu).sum::<Result<u64, Failure>>()?;
        let heard = &counting.heard;
        Ok(Moment {
            at: Instant::now(),
            servers,
            redis,
            actions: calls.meter.counts().acked,
            commits: heard.updates.load(Ordering::Relaxed),
            hands: heard.hands.load(Ordering::Relaxed),
            bytes: heard.bytes.load(Ordering::Relaxed),
        })
    }

    /// The memory of the operator's settlements, in all shards.
    async fn weigh_settled(&self) -> Result<f64, Failure> {
        let key = |shard: u16, kind: &str| format!("{{s{shard:03}}}:{kind}:{}", self.house.operator);
        let keys: Vec<String> =
            (0..self.shards).flat_map(|shard| [key(shard, "ob"), key(shard, "si")]).collect();
        self.redis.weigh(&keys).await
    }

    /// The memory of an entry in the histories of these tables.
    async fn weigh_history(&self, ids: &[String]) -> Result<f64, Failure> {
        let key = |id: &String| {
            let key = self.table_key(id)?;
            let shard = shard_of(&key, self.shards);
            Some(format!("{{s{shard:03}}}:t:{key}:e"))
        };
        let histories: Vec<String> = ids.iter().filter_map(key).collect();
        let entries = self.redis.entries(&histories).await?;
        Ok(self.redis.weigh(&histories).await? / entries.max(1.0))
    }

    /// Where these tables stand in calendars: the key, and the name in it.
    pub fn calendars(&self, ids: &[String]) -> Vec<(String, String)> {
        let place = |id: &String| {
            let key = self.table_key(id)?;
            Some((format!("{{s{:03}}}:tm", shard_of(&key, self.shards)), key.to_string()))
        };
        ids.iter().filter_map(place).collect()
    }

    /// The name of a table in the store.
    fn table_key(&self, id: &str) -> Option<TableKey> {
        let operator = OperatorId::new(&self.house.operator)?;
        Some(TableKey { operator, table: TableId(Uuid::try_parse(id).ok()?) })
    }
}

impl Moment {
    fn since(&self, then: &Moment, name: &str, servers: usize, watchers: u32) -> Phase {
        let seconds = (self.at - then.at).as_secs_f64();
        let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
        let redis = self.redis.since(then.redis);
        Phase {
            name: name.to_owned(),
            servers: u32::try_from(servers).unwrap_or(u32::MAX),
            watchers,
            actions: rate(self.actions, then.actions),
            commits: rate(self.commits, then.commits),
            hands: rate(self.hands, then.hands),
            server_us: rate(self.servers, then.servers),
            redis_us: redis.us / seconds,
            redis_bytes: redis.bytes / seconds,
            scripts: redis.scripts / seconds,
            looks: redis.looks / seconds,
        }
    }

    /// Of the one who counts: he is told of each commit once.
    fn bytes_per_message(&self, then: &Moment) -> f64 {
        (self.bytes - then.bytes) as f64 / self.commits.saturating_sub(then.commits).max(1) as f64
    }
}

type Job<R> = Result<Result<R, Status>, tokio::task::JoinError>;

fn finished<R>(job: Option<Job<R>>) -> Result<Option<R>, Failure> {
    let Some(job) = job else {
        return Ok(None);
    };
    let done = job.map_err(|died| Failure::Failed(format!("a table broke down: {died}")))?;
    done.map(Some).map_err(|status| refused(&status))
}

fn refused(status: &Status) -> Failure {
    Failure::call("cannot play", "a server that was started here", status)
}
