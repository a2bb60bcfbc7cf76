//! The hands of which is still to be told: one sorted set an operator, by the time at which each was noted or taken last.

use ::redis::{Value, cmd};
use async_trait::async_trait;
use rules::Millis;
use tables::untold::MOST;
use tables::{OperatorId, StoreError, TableHand, TableId, Untold};
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

impl RedisStore {
    /// Notes a hand, before the commit that ends it: the note may lie at another server than the table.
    pub(super) async fn note(&self, operator: &OperatorId, hand: TableHand) -> Result<(), StoreError> {
        let (key, now) = (untold(operator), self.time().await?);
        let mut add = cmd("ZADD");
        add.arg(&key).arg(now.0).arg(&member(hand)[..]);
        let mut bound = cmd("ZREMRANGEBYRANK");
        bound.arg(&key).arg(0).arg(-(i64::try_from(MOST).unwrap_or(i64::MAX - 1)) - 1);
        // To do it twice does no harm.
        let noted = self.router.call(Home::Installation, &[add, bound], Kind::Read).await;
        noted.map(drop).map_err(Fault::unavailable)
    }
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
