//! The ends of the outboxes: what a reader has still before it, and what is removed because it is old.

use std::collections::BTreeMap;

use ::redis::{Cmd, Value, cmd};
use rules::Millis;
use tables::{Backlog, OperatorId, SettlementPosition, StoreError};
use uuid::Uuid;

use super::RedisStore;
use super::fault::{Fault, strange};
use super::keys::Shard;
use super::script::bytes;
use super::settlements::{Merge, first_after, micros, number, position};
use super::topology::text;

/// So many records without a place in the sequence, which older versions have written, are counted in a shard at most.
const COUNTED: usize = 1000;

/// How many records of an outbox have this number or a later one, and the first of them. EVAL_RO: it cannot write.
const BACKLOG: &str = "\
local outbox, added = KEYS[1], 0
if redis.call('EXISTS', outbox) == 0 then return {0} end
local first = redis.call('XRANGE', outbox, ARGV[1], '+', 'COUNT', 1)[1]
if not first then return {0} end
local info = redis.call('XINFO', 'STREAM', outbox)
for i = 1, #info, 2 do
  if info[i] == 'entries-added' then added = info[i + 1] end
end
if first[2][4] then return {added - first[2][4] + 1, first[2][2]} end
local page = redis.call('XRANGE', outbox, ARGV[1], '+', 'COUNT', ARGV[2])
for i = 1, #page do
  local place = page[i][2][4]
  if place then return {i + added - place, first[2][2]} end
end
return {#page, first[2][2]}";

/// Removes records from an outbox and its index, which then says up to where they are gone.
const RETIRE: &str = "\
local outbox, index, removed = KEYS[1], KEYS[2], 0
for i = 1, #ARGV, 2 do
  removed = removed + redis.call('XDEL', outbox, ARGV[i] .. '-1')
  if redis.call('HGET', index, ARGV[i + 1]) == ARGV[i] then redis.call('HDEL', index, ARGV[i + 1]) end
end
local last, before = ARGV[#ARGV - 1], redis.call('HGET', index, '') or ''
if tonumber(last) > (tonumber(before) or 0) then redis.call('HSET', index, '', last) end
return removed";

impl RedisStore {
    pub(super) async fn read_backlog(
        &self,
        operator: &OperatorId,
        after: Option<SettlementPosition>,
    ) -> Result<Backlog, StoreError> {
        let shards = self.all_shards();
        let answers = self.ask_each(&shards, |shard| backlog(shard, operator, after)).await?;
        let wrong = || strange("a backlog");
        let mut whole = Backlog::default();
        for answer in answers {
            let mut parts = answer.into_sequence().map_err(|_| wrong())?.into_iter();
            let Some(Value::Int(depth)) = parts.next() else {
                return Err(wrong());
            };
            whole.depth = whole.depth.saturating_add(u64::try_from(depth).map_err(|_| wrong())?);
            if let Some(record) = parts.next().and_then(bytes) {
                let at = self.codec.read_settlement(operator, &record)?.at;
                whole.oldest = Some(whole.oldest.map_or(at, |oldest| oldest.min(at)));
            }
        }
        Ok(whole)
    }

    pub(super) async fn retire_settlements(
        &self,
        operator: &OperatorId,
        before: Millis,
        limit: usize,
    ) -> Result<usize, StoreError> {
        let mut merge = Merge::new(self.all_shards(), None, 0..micros(before), limit);
        let mut old: BTreeMap<Shard, Vec<(u64, Uuid)>> = BTreeMap::new();
        for _ in 0..limit {
            let Some((position, settlement)) = self.next(operator, &mut merge).await? else {
                break;
            };
            let (shard, number) = number(position);
            old.entry(shard).or_default().push((number, settlement.id));
        }
        let calls =
            old.into_iter().map(|(shard, old)| (shard, vec![retire(shard, operator, &old)])).collect();
        let answers = self.router.each(calls).await.map_err(Fault::unavailable)?;
        let mut removed = 0;
        for answer in answers.into_iter().flatten() {
            let Value::Int(number) = answer else {
                return Err(strange("how many records were removed"));
            };
            removed += usize::try_from(number).unwrap_or_default();
        }
        Ok(removed)
    }

    pub(super) async fn find_retired(
        &self,
        operator: &OperatorId,
    ) -> Result<Option<SettlementPosition>, StoreError> {
        let shards = self.all_shards();
        let places = self.ask_each(&shards, |shard| retired(shard, operator)).await?;
        let places =
            shards.iter().zip(&places).map(|(shard, place)| Some(position(*shard, read_retired(place)?)));
        Ok(places.flatten().max())
    }
}

fn backlog(shard: Shard, operator: &OperatorId, after: Option<SettlementPosition>) -> Cmd {
    let mut command = cmd("EVAL_RO");
    command.arg(BACKLOG).arg(1).arg(shard.outbox(operator));
    command.arg(format!("{}-0", first_after(shard, after))).arg(COUNTED);
    command
}

fn retire(shard: Shard, operator: &OperatorId, old: &[(u64, Uuid)]) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg(RETIRE).arg(2).arg(shard.outbox(operator)).arg(shard.outbox_index(operator));
    for (number, id) in old {
        command.arg(*number).arg(&id.as_bytes()[..]);
    }
    command
}

/// The read of the last number that was retired.
pub(super) fn retired(shard: Shard, operator: &OperatorId) -> Cmd {
    let mut command = cmd("HGET");
    command.arg(shard.outbox_index(operator)).arg("");
    command
}

/// Its answer.
pub(super) fn read_retired(answer: &Value) -> Option<u64> {
    text(answer)?.parse().ok()
}
