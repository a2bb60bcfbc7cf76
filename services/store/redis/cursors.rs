//! Cursors of the readers of settlements: one hash an operator, changed by scripts of one step each.

use ::redis::{Cmd, Value, cmd};
use tables::books::CONSUMERS;
use tables::{Cursor, OperatorId, SettlementPosition, StoreError};

use super::RedisStore;
use super::fault::{Fault, strange};
use super::keys::cursors;
use super::route::{Home, Kind};
use super::script::bytes;
use super::topology::text;

/// Digits of a position: as texts of one length they compare as the numbers do, which are too large for Lua.
const DIGITS: usize = 20;

/// Makes the cursor or takes it over.
const TAKE: &str = "\
local found = redis.call('HGET', KEYS[1], ARGV[1])
if not found and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[2]) then return false end
local generation, position = string.match(found or '0 ', '^(%d+) (%d*)$')
local taken = string.format('%.0f', generation + 1) .. ' ' .. position
redis.call('HSET', KEYS[1], ARGV[1], taken)
return taken";

/// Moves it forward. It is written in any case: only what this connection wrote is waited for at replicas.
const ACKNOWLEDGE: &str = "\
local found = redis.call('HGET', KEYS[1], ARGV[1])
if not found then return false end
local generation, position = string.match(found, '^(%d+) (%d*)$')
if ARGV[2] > position then position = ARGV[2] end
local moved = generation .. ' ' .. position
redis.call('HSET', KEYS[1], ARGV[1], moved)
return moved";

impl RedisStore {
    pub(super) async fn read_cursors(
        &self,
        operator: &OperatorId,
    ) -> Result<Vec<(String, Cursor)>, StoreError> {
        let mut command = cmd("HGETALL");
        command.arg(cursors(operator));
        let reply = self.router.call(Home::Installation, &[command], Kind::Read).await;
        let fields = reply.map_err(Fault::unavailable)?.values.pop().unwrap_or(Value::Nil);
        let wrong = || strange("cursors");
        let fields = fields.into_map_iter().map_err(|_| wrong())?;
        let read = |(name, value)| Some((text(&name)?, cursor(value)?));
        let mut read: Vec<_> = fields.map(read).collect::<Option<_>>().ok_or_else(wrong)?;
        read.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(read)
    }

    pub(super) async fn take(
        &self,
        operator: &OperatorId,
        consumer: &str,
    ) -> Result<Option<Cursor>, StoreError> {
        self.change(script(TAKE, operator, consumer).arg(CONSUMERS).clone()).await
    }

    pub(super) async fn move_cursor(
        &self,
        operator: &OperatorId,
        consumer: &str,
        position: SettlementPosition,
    ) -> Result<Option<Cursor>, StoreError> {
        let position = format!("{:0DIGITS$}", position.0);
        self.change(script(ACKNOWLEDGE, operator, consumer).arg(position).clone()).await
    }

    pub(super) async fn drop_cursor(
        &self,
        operator: &OperatorId,
        consumer: &str,
    ) -> Result<bool, StoreError> {
        let mut command = cmd("HDEL");
        command.arg(cursors(operator)).arg(consumer);
        match self.write_cursor(command).await? {
            Value::Int(dropped) => Ok(dropped > 0),
            _ => Err(strange("how many cursors were dropped")),
        }
    }

    async fn change(&self, command: Cmd) -> Result<Option<Cursor>, StoreError> {
        match self.write_cursor(command).await? {
            Value::Nil => Ok(None),
            value => Ok(Some(cursor(value).ok_or_else(|| strange("a cursor"))?)),
        }
    }

    /// Confirmed as a commit is.
    async fn write_cursor(&self, command: Cmd) -> Result<Value, StoreError> {
        let reply = self.router.call(Home::Installation, &[command], Kind::Commit).await;
        Ok(reply.map_err(Fault::of_commit)?.values.pop().unwrap_or(Value::Nil))
    }
}

fn script(script: &str, operator: &OperatorId, consumer: &str) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg(script).arg(1).arg(cursors(operator)).arg(consumer);
    command
}

/// As it is stored: the generation, a blank, and the position if there is one.
fn cursor(value: Value) -> Option<Cursor> {
    let stored = String::from_utf8(bytes(value)?).ok()?;
    let (generation, position) = stored.split_once(' ')?;
    let position = Some(position).filter(|position| !position.is_empty()).map(str::parse).transpose().ok()?;
    Some(Cursor { position: position.map(SettlementPosition), generation: generation.parse().ok()? })
}
