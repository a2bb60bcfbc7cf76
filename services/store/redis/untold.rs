//! The hands of which is still to be told: one sorted set an operator, by the time at which each was noted or taken last.
//!
//! It lies with what belongs to the installation, in a cluster mostly at another server than the table. So a note is a
//! best effort: a table does not stand still because that server is away.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::redis::{Cmd, Value, cmd};
use async_trait::async_trait;
use rules::Millis;
use tables::{OperatorId, StoreError, TableHand, TableId, Untold};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use tracing::Instrument;
use uuid::Uuid;

use super::RedisStore;
use super::fault::{Fault, strange};
use super::keys::untold;
use super::route::{Home, Kind};
use super::script::bytes;

/// Bytes of a member: the table, then the hand's number.
const TABLE: usize = 16;
const HAND: usize = 8;

/// Those up to ARGV[1], ARGV[2] at most, have the time ARGV[3] from now on.
const TAKE: &str = "\
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, hand in ipairs(old) do redis.call('ZADD', KEYS[1], 'XX', ARGV[3], hand) end
return old";

/// A commit waits so long for the note of its hand.
const NOTING: Duration = Duration::from_millis(250);
/// So many notes may be on their way.
const UNDER_WAY: usize = 1024;
/// The log tells of notes that fail not more often than this.
const COMPLAINT: Duration = Duration::from_secs(30);

/// Whether notes come through.
pub(super) struct Noting {
    /// The last one did not, or not soon enough: nobody waits for those that follow, until one does.
    away: AtomicBool,
    places: Semaphore,
    complained: Mutex<Option<Instant>>,
}

impl Noting {
    pub(super) fn new() -> Noting {
        Noting {
            away: AtomicBool::new(false),
            places: Semaphore::new(UNDER_WAY),
            complained: Mutex::default(),
        }
    }

    fn came_through(&self, took: Duration) {
        if took < NOTING {
            self.away.store(false, Ordering::Release);
        }
    }

    fn failed(&self, why: &str) {
        self.away.store(true, Ordering::Release);
        let mut complained = self.complained.lock().unwrap_or_else(PoisonError::into_inner);
        if complained.is_none_or(|last| last.elapsed() >= COMPLAINT) {
            *complained = Some(Instant::now());
            drop(complained);
            tracing::warn!(
                event = "hands_not_noted",
                why,
                "hands end without a note that they are to be told"
            );
        }
    }
}

impl RedisStore {
    /// Notes a hand, before the commit that ends it, which waits for a moment at the most: without a note the hand is told
    /// all the same, by this process and by no other.
    pub(super) async fn note(&self, operator: &OperatorId, hand: TableHand, now: Millis) {
        let waits = !self.noting.away.load(Ordering::Acquire);
        let (noting, router) = (Arc::clone(&self.noting), Arc::clone(&self.router));
        let commands = noting_of(operator, hand, now, self.config.notes);
        let noted = async move {
            let began = Instant::now();
            let Ok(_place) = noting.places.try_acquire() else {
                return noting.failed("too many notes are on their way");
            };
            // To do it twice does no harm.
            match router.call(Home::Installation, &commands, Kind::Read).await {
                Ok(_) => noting.came_through(began.elapsed()),
                Err(fault) => noting.failed(&fault.text()),
            }
        };
        let noted = tokio::spawn(noted.in_current_span());
        if waits && timeout(NOTING, noted).await.is_err() {
            self.noting.failed("Redis does not confirm the note in time");
        }
    }
}

fn noting_of(operator: &OperatorId, hand: TableHand, now: Millis, most: usize) -> [Cmd; 2] {
    let key = untold(operator);
    let mut add = cmd("ZADD");
    add.arg(&key).arg(now.0).arg(&member(hand)[..]);
    let mut bound = cmd("ZREMRANGEBYRANK");
    bound.arg(&key).arg(0).arg(-i64::try_from(most).unwrap_or(i64::MAX) - 1);
    [add, bound]
}

#[async_trait]
impl Untold for RedisStore {
    async fn take(
        &self,
        operator: &OperatorId,
        age: Millis,
        limit: usize,
    ) -> Result<Vec<TableHand>, StoreError> {
        let now = self.time().await?;
        let mut take = cmd("EVAL");
        take.arg(TAKE).arg(1).arg(untold(operator)).arg((now - age).0).arg(limit).arg(now.0);
        let reply = self.router.call(Home::Installation, &[take], Kind::Read).await;
        let Some(Value::Array(members)) = reply.map_err(Fault::unavailable)?.values.pop() else {
            return Err(strange("hands of which is to be told"));
        };
        let hands = members.into_iter().map(|member| hand(&bytes(member)?));
        hands.collect::<Option<_>>().ok_or_else(|| strange("a hand of which is to be told"))
    }

    async fn forget(&self, operator: &OperatorId, hands: &[TableHand]) -> Result<(), StoreError> {
        if hands.is_empty() {
            return Ok(());
        }
        let mut forget = cmd("ZREM");
        forget.arg(untold(operator));
        for hand in hands {
            forget.arg(&member(*hand)[..]);
        }
        let forgotten = self.router.call(Home::Installation, &[forget], Kind::Read).await;
        forgotten.map(drop).map_err(Fault::unavailable)
    }
}

fn member(hand: TableHand) -> [u8; TABLE + HAND] {
    let mut member = [0; TABLE + HAND];
    member[..TABLE].copy_from_slice(hand.table.0.as_bytes());
    member[TABLE..].copy_from_slice(&hand.number.to_be_bytes());
    member
}

fn hand(member: &[u8]) -> Option<TableHand> {
    let (table, number) = member.split_first_chunk::<TABLE>()?;
    let number = u64::from_be_bytes(number.try_into().ok()?);
    Some(TableHand { table: TableId(Uuid::from_bytes(*table)), number })
}
