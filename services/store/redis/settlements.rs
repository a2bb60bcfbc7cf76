//! Settlements, out of the outboxes of all shards as if they were one.
//!
//! Records are numbered by Redis' time in µs, and a position is that number with the shard behind it. Outboxes are read
//! one after the other while others write, so nothing is given out that is younger than the moment before the first was
//! read, by the clock of the server that is behind all others: no record can come later with a lesser position. That
//! rests on clocks that are not set back, also not by a fail-over; within one table the order is right whatever they do.

use std::collections::VecDeque;
use std::ops::Range;

use ::redis::{Value, cmd};
use rules::Millis;
use tables::settlement::LOOKED_AT;
use tables::{
    OperatorId, Settlement, SettlementFilter, SettlementPage, SettlementPosition, StoreError, TableKey,
};
use uuid::Uuid;

use super::RedisStore;
use super::fault::{Fault, strange};
use super::keys::Shard;
use super::reads::{range, stream_entry};
use super::route::Home;
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
        let command = range(&shard.outbox(operator), &place, &place, 1);
        let answer = self.ask_durably(Home::Shard(shard), vec![command]).await?.into_iter().next();
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
        let until = filter.latest().map_or(horizon, |latest| horizon.min(micros(latest).saturating_add(1)));
        let from = filter.earliest().map_or(0, micros);
        let mut merge = Merge::new(shards, after, from..until, limit);
        let mut page = SettlementPage::default();
        for looked_at in 1.. {
            if page.records.len() >= limit {
                break;
            }
            let Some((position, settlement)) = self.next(operator, &mut merge).await? else {
                break;
            };
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

    /// The next record of all outboxes.
    pub(super) async fn next(
        &self,
        operator: &OperatorId,
        merge: &mut Merge,
    ) -> Result<Option<(SettlementPosition, Settlement)>, StoreError> {
        self.fill(operator, merge).await?;
        Ok(merge.least())
    }

    /// Reads on in every outbox of which nothing is left and that may have more.
    async fn fill(&self, operator: &OperatorId, merge: &mut Merge) -> Result<(), StoreError> {
        let (chunk, last) = (merge.chunk, merge.last.as_str());
        let mut empty: Vec<&mut Source> =
            merge.sources.iter_mut().filter(|source| source.more && source.read.is_empty()).collect();
        if empty.is_empty() {
            return Ok(());
        }
        let call = |source: &&mut Source| {
            let from = format!("{}-0", source.from);
            (source.shard, vec![range(&source.shard.outbox(operator), &from, last, chunk)])
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

    pub(super) fn read_records(
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
            Ok((position(shard, number), self.codec.read_settlement(operator, &record)?))
        };
        entries.into_iter().map(read).collect()
    }
}

/// The outboxes of several shards, read as one.
pub(super) struct Merge {
    sources: Vec<Source>,
    /// So many records are asked of a shard at a time.
    chunk: usize,
    /// The last number that is wanted.
    last: String,
}

impl Merge {
    /// What comes after the position and has a number of this range.
    pub(super) fn new(
        shards: Vec<Shard>,
        after: Option<SettlementPosition>,
        numbers: Range<u64>,
        limit: usize,
    ) -> Merge {
        let chunk = (limit.saturating_mul(2) / shards.len().max(1)).clamp(LEAST, 512);
        let more = !numbers.is_empty();
        let source = |shard| Source {
            shard,
            from: first_after(shard, after).max(numbers.start),
            read: VecDeque::new(),
            more,
        };
        let last = numbers.end.saturating_sub(1).to_string();
        Merge { sources: shards.into_iter().map(source).collect(), chunk, last }
    }

    /// The least of what was read. Every outbox that may have more has something read, so nothing less can follow.
    fn least(&mut self) -> Option<(SettlementPosition, Settlement)> {
        let first = |source: &&mut Source| source.read.front().map(|(position, _)| *position);
        let least = self.sources.iter_mut().filter(|source| !source.read.is_empty()).min_by_key(first)?;
        least.read.pop_front()
    }
}

/// The first number of a shard that comes after the position.
pub(super) fn first_after(shard: Shard, position: Option<SettlementPosition>) -> u64 {
    position.map_or(0, |SettlementPosition(position)| {
        let (number, passed) = (position >> SHARD_BITS, position & ((1 << SHARD_BITS) - 1));
        // Of one number, the shards up to this one are passed.
        if u64::from(shard.0) <= passed { number + 1 } else { number }
    })
}

/// The position of a number of a shard.
pub(super) fn position(shard: Shard, number: u64) -> SettlementPosition {
    SettlementPosition(number << SHARD_BITS | u64::from(shard.0))
}

/// The shard and the number of a position.
pub(super) fn number(SettlementPosition(position): SettlementPosition) -> (Shard, u64) {
    let shard = u16::try_from(position & ((1 << SHARD_BITS) - 1)).unwrap_or_default();
    (Shard(shard), position >> SHARD_BITS)
}

/// The number that a record of that moment would have.
pub(super) fn micros(at: Millis) -> u64 {
    at.0.saturating_mul(1000)
}
