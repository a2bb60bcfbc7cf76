//! Settlements, out of the outboxes of all shards as if they were one.
//!
//! Records are numbered by Redis' time in µs, and a position is that number with the shard behind it. Outboxes are read
//! one after the other while others write, so nothing is given out that is younger than the moment before the first was
//! read, by the clock of the server that is behind all others: no record can come later with a lesser position. That
//! rests on clocks that are not set back, also not by a fail-over; within one table the order is right whatever they do.

use std::collections::VecDeque;

use ::redis::{Value, cmd};
use tables::settlement::LOOKED_AT;
use tables::{
    OperatorId, Settlement, SettlementFilter, SettlementPage, SettlementPosition, StoreError, TableKey,
};
use uuid::Uuid;

use super::RedisStore;
use super::fault::{Fault, strange};
use super::keys::Shard;
use super::reads::{range, stream_entry};
use super::script::bytes;

/// Bits of a position that are the shard.
const SHARD_BITS: u32 = 12;
/// So many records are asked of a shard at least, so that a page does not take many rounds.
const LEAST: usize = 8;

/// A shard's outbox while it is read.
struct Source {
    shard: Shard,
    /// The least number that is wanted.
    from: u64,
    read: VecDeque<(SettlementPosition, Settlement)>,
    /// There may be more than what was read.
    more: bool,
}

impl RedisStore {
    pub(super) async fn find_settlement(
        &self,
        operator: &OperatorId,
        id: &Uuid,
    ) -> Result<Option<Settlement>, StoreError> {
        let shards = self.all_shards();
        // Where a settlement is does not show in its id: all shards are asked, which is one round trip a server.
        let places = self.ask_each(&shards, |shard| {
            let mut command = cmd("HGET");
            command.arg(shard.outbox_index(operator)).arg(&id.as_bytes()[..]);
            command
        });
        let places = places.await?;
        let found = shards.iter().zip(places).find_map(|(shard, place)| Some((*shard, bytes(place)?)));
        let Some((shard, place)) = found else {
            return Ok(None);
        };
        let place = String::from_utf8(place).map_err(|_| strange("a settlement's place"))? + "-1";
        let answer = self.ask_durably(shard, range(&shard.outbox(operator), &place, &place, 1)).await?;
        let read = self.read_records(operator, shard, answer)?;
        Ok(read.into_iter().next().map(|(_, settlement)| settlement))
    }

    pub(super) async fn list_settlements(
        &self,
        operator: &OperatorId,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: usize,
    ) -> Result<SettlementPage, StoreError> {
        let shards = match filter.table {
            Some(table) => vec![Shard::of(&TableKey { operator: operator.clone(), table }, self.shards())],
            None => self.all_shards(),
        };
        let horizon = self.durable_until().await?;
        let mut sources: Vec<Source> = shards.into_iter().map(|shard| Source::after(shard, after)).collect();
        let chunk = (limit.saturating_mul(2) / sources.len().max(1)).clamp(LEAST, 512);
        let mut page = SettlementPage::default();
        for looked_at in 1.. {
            if page.records.len() >= limit {
                break;
            }
            self.fill(operator, &mut sources, chunk).await?;
            let Some((position, settlement)) = next(&mut sources) else {
                break;
            };
            if position.0 >> SHARD_BITS >= horizon {
                break;
            }
            if filter.matches(&settlement) {
                page.records.push((position, settlement));
            }
            if looked_at == LOOKED_AT {
                page.next = Some(position);
                break;
            }
        }
        Ok(page)
    }

    /// Reads on in every outbox of which nothing is left and that may have more.
    async fn fill(
        &self,
        operator: &OperatorId,
        sources: &mut [Source],
        chunk: usize,
    ) -> Result<(), StoreError> {
        let mut empty: Vec<&mut Source> =
            sources.iter_mut().filter(|source| source.more && source.read.is_empty()).collect();
        if empty.is_empty() {
            return Ok(());
        }
        let call = |source: &&mut Source| {
            let from = format!("{}-0", source.from);
            (source.shard, vec![range(&source.shard.outbox(operator), &from, "+", chunk)])
        };
        let calls = empty.iter().map(call).collect();
        let answers = self.router.each(calls).await.map_err(Fault::unavailable)?;
        for (source, mut answer) in empty.iter_mut().zip(answers) {
            let read = self.read_records(operator, source.shard, answer.pop())?;
            source.more = read.len() == chunk;
            if let Some((last, _)) = read.last() {
                source.from = (last.0 >> SHARD_BITS) + 1;
            }
            source.read = read.into();
        }
        Ok(())
    }

    fn read_records(
        &self,
        operator: &OperatorId,
        shard: Shard,
        answer: Option<Value>,
    ) -> Result<Vec<(SettlementPosition, Settlement)>, StoreError> {
        let wrong = || strange("an outbox");
        let entries = answer.and_then(|answer| answer.into_sequence().ok()).ok_or_else(wrong)?;
        let read = |entry: Value| {
            let (id, fields) = stream_entry(entry).ok_or_else(wrong)?;
            let number: u64 =
                id.split_once('-').and_then(|(number, _)| number.parse().ok()).ok_or_else(wrong)?;
            let (_, record) = fields.into_iter().next().ok_or_else(wrong)?;
            let position = SettlementPosition(number << SHARD_BITS | u64::from(shard.0));
            Ok((position, self.codec.read_settlement(operator, &record)?))
        };
        entries.into_iter().map(read).collect()
    }
}

impl Source {
    fn after(shard: Shard, position: Option<SettlementPosition>) -> Source {
        let from = position.map_or(0, |SettlementPosition(position)| {
            let (number, passed) = (position >> SHARD_BITS, position & ((1 << SHARD_BITS) - 1));
            // Of one number, the shards up to this one are passed.
            if u64::from(shard.0) <= passed { number + 1 } else { number }
        });
        Source { shard, from, read: VecDeque::new(), more: true }
    }
}

/// The least of what was read. Every outbox that may have more has something read, so nothing less can follow.
fn next(sources: &mut [Source]) -> Option<(SettlementPosition, Settlement)> {
    let first = |source: &&mut Source| source.read.front().map(|(position, _)| *position);
    let least = sources.iter_mut().filter(|source| !source.read.is_empty()).min_by_key(first)?;
    least.read.pop_front()
}
