//! One server: two connections, a bound on what is on its way, and the knowledge whether it answers.
//!
//! Every call carries on its own through one of the connections; commands of many callers share it. A server that does
//! not answer is left alone: calls fail at once, and a task of its own knocks until somebody is at home.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use ::redis::{Cmd, Pipeline, Value};
use tokio::sync::{Mutex as AsyncMutex, Notify, Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout};

use super::config::Endpoint;
use super::durable::Group;
use super::fault::{Fault, Remedy};
use super::link::{Link, Live};
use super::trips;

/// So many callers may wait for each command that may be on its way.
const WAITING: usize = 8;
/// How often a server that is away is knocked at, growing to the longest.
const FIRST_KNOCK: Duration = Duration::from_millis(20);
const LONGEST_KNOCK: Duration = Duration::from_millis(500);

/// A server.
pub(super) struct Node {
    pub(super) endpoint: Endpoint,
    pub(super) link: Arc<Link>,
    lanes: [Lane; 2],
    turn: AtomicUsize,
    permits: Semaphore,
    waiting: AtomicUsize,
    health: Mutex<Health>,
    /// Tells those who wait for an answer that none will come.
    fallen: Notify,
    knocking: AtomicBool,
    group: OnceLock<Group>,
}

#[derive(Default)]
struct Lane(AsyncMutex<Option<Live>>);

struct Health {
    answered: Instant,
    /// Why nobody is to call.
    down: Option<String>,
}

impl Node {
    pub(super) fn new(endpoint: Endpoint, link: &Arc<Link>) -> Arc<Node> {
        Arc::new(Node {
            endpoint,
            link: Arc::clone(link),
            lanes: Default::default(),
            turn: AtomicUsize::new(0),
            permits: Semaphore::new(link.in_flight),
            waiting: AtomicUsize::new(0),
            health: Mutex::new(Health { answered: Instant::now(), down: None }),
            fallen: Notify::new(),
            knocking: AtomicBool::new(false),
            group: OnceLock::new(),
        })
    }

    /// The connections of commits that wait for replicas.
    pub(super) fn group(self: &Arc<Node>, replicas: u8) -> &Group {
        self.group.get_or_init(|| Group::start(self, replicas))
    }

    /// Sends commands together and gives their answers, errors of single commands among them.
    pub(super) async fn send(self: &Arc<Node>, commands: &[Cmd]) -> Result<Vec<Value>, Fault> {
        let trip = trips::trip(&self.endpoint, commands);
        let values = trip.run(self.carry(commands)).await;
        trips::told(&trip, &values);
        values
    }

    async fn carry(self: &Arc<Node>, commands: &[Cmd]) -> Result<Vec<Value>, Fault> {
        self.check_up()?;
        let _permit = self.enter().await?;
        // Before the look whether it is still up, so that a fall between the two is heard of.
        let fallen = pin!(self.fallen.notified());
        self.check_up()?;
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let lane = &self.lanes[turn % self.lanes.len()];
        let mut live = self.live(lane).await?;
        let mut pipeline = Pipeline::with_capacity(commands.len());
        for command in commands {
            pipeline.add_command(command.clone());
        }
        let sent = live.connection.send_packed_commands(&pipeline, 0, commands.len());
        tokio::select! {
            biased;
            answer = sent => self.judge(&live, answer),
            () = fallen => Err(Fault::Unknown(format!("Redis at {} has stopped answering", self.endpoint))),
        }
    }

    /// What an answer, or its absence, tells of the server.
    pub(super) fn judge(
        self: &Arc<Node>,
        live: &Live,
        answer: Result<Vec<Value>, redis::RedisError>,
    ) -> Result<Vec<Value>, Fault> {
        match answer {
            Ok(values) => {
                live.answers();
                self.lock().answered = Instant::now();
                Ok(values)
            }
            Err(error) if error.is_timeout() => {
                // Half of a connection may be gone while the other one to the same server goes on.
                if live.is_silent() {
                    live.give_up();
                }
                let silent = self.lock().answered.elapsed() >= self.link.response_time;
                if silent {
                    live.give_up();
                    self.down(format!("Redis at {} does not answer", self.endpoint));
                }
                Err(Fault::of_connection(&error))
            }
            Err(error) => {
                live.give_up();
                Err(Fault::of_connection(&error))
            }
        }
    }

    /// An error at once if the server is known to be away.
    pub(super) fn check_up(&self) -> Result<(), Fault> {
        match &self.lock().down {
            Some(why) => Err(Fault::Again(Remedy::Reach, why.clone())),
            None => Ok(()),
        }
    }

    /// The server is away until it answers a knock.
    pub(super) fn down(self: &Arc<Node>, why: String) {
        let mut health = self.lock();
        if health.down.is_none() {
            tracing::warn!(event = "redis_away", server = %self.endpoint, why, "Redis is away");
            health.down = Some(why);
        }
        drop(health);
        self.fallen.notify_waiters();
        if self.knocking.swap(true, Ordering::AcqRel) {
            return;
        }
        let node = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut pause = FIRST_KNOCK;
            loop {
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_KNOCK);
                let Some(node) = node.upgrade() else {
                    return;
                };
                if node.knock().await {
                    return;
                }
            }
        });
    }

    async fn knock(self: &Arc<Node>) -> bool {
        let Ok(mut live) = self.link.connect(&self.endpoint).await else {
            return false;
        };
        let mut ping = Pipeline::with_capacity(1);
        ping.add_command(redis::cmd("PING"));
        if live.connection.send_packed_commands(&ping, 0, 1).await.is_err() {
            return false;
        }
        *self.lanes[0].0.lock().await = Some(live);
        *self.lanes[1].0.lock().await = None;
        self.link.counts.reconnected();
        let mut health = self.lock();
        health.answered = Instant::now();
        health.down = None;
        self.knocking.store(false, Ordering::Release);
        tracing::info!(event = "redis_back", server = %self.endpoint, "Redis answers again");
        true
    }

    async fn enter(&self) -> Result<SemaphorePermit<'_>, Fault> {
        if let Ok(permit) = self.permits.try_acquire() {
            return Ok(permit);
        }
        let busy =
            || Fault::Again(Remedy::Reach, format!("too many calls wait for Redis at {}", self.endpoint));
        let place = Waiting(&self.waiting);
        if place.0.fetch_add(1, Ordering::AcqRel) >= self.link.in_flight.saturating_mul(WAITING) {
            return Err(busy());
        }
        match timeout(self.link.response_time, self.permits.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(busy()),
        }
    }

    /// The lane's connection, made anew if there is none. Callers who come meanwhile wait for the same one.
    async fn live(self: &Arc<Node>, lane: &Lane) -> Result<Live, Fault> {
        let mut place = lane.0.lock().await;
        if let Some(live) = place.as_ref().filter(|live| !live.is_closed()) {
            return Ok(live.clone());
        }
        // Who waited here while another one's attempt failed need not try it again.
        self.check_up()?;
        match self.link.connect(&self.endpoint).await {
            Ok(live) => {
                if place.is_some() {
                    self.link.counts.reconnected();
                }
                *place = Some(live.clone());
                Ok(live)
            }
            Err(fault) => {
                *place = None;
                self.down(fault.clone().text());
                Err(fault)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Health> {
        // Two fields, each right by itself.
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the line, given up when dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
