//! An installation in Redis from outside, beside its servers: nothing is written but a raise of the format.

use std::collections::BTreeSet;
use std::sync::Arc;

use ::redis::{Cmd, Value, cmd};
use async_trait::async_trait;
use rules::Millis;
use tables::{OperatorId, StoreError, TableId, TableKey};
use uuid::Uuid;

use super::RedisConfig;
use super::checks;
use super::clock::read_time;
use super::fault::{Fault, strange};
use super::formats::{self, get_format};
use super::keys::{INSTALLATION, Place, Shard, table_key};
use super::link::Link;
use super::living::PROCESSES;
use super::reads::{self, Raw, get, range, raw_entries, stream_entry};
use super::retire;
use super::route::{Home, Kind, Router};
use super::script::{bytes, split_state};
use super::startup::{StartError, asked};
use super::topology::text;
use crate::store::inspect::{HistorySize, Inspect, Process, RawEntry, RawState};
use crate::store::{Codec, Sealed};

/// So many keys a server looks at before it answers.
const SCANNED: u32 = 1000;

/// So many names are asked of a shard at least.
const LEAST: usize = 8;

/// State and calendar of one moment. EVAL_RO: it cannot write.
const STATE: &str = "return {redis.call('GET', KEYS[1]), redis.call('ZSCORE', KEYS[2], ARGV[1])}";

/// An installation, looked at.
pub struct RedisInspector {
    router: Arc<Router>,
    shards: u16,
}

impl RedisInspector {
    /// Connects to an installation that is there.
    ///
    /// # Errors
    /// [`StartError`] in plain words.
    pub async fn open(config: RedisConfig) -> Result<RedisInspector, StartError> {
        let unreachable = |error: &dyn ToString| StartError::Unreachable(error.to_string());
        let connect = |config: &RedisConfig| {
            let link = Link::new(config).map_err(|error| unreachable(&error))?;
            Ok::<_, StartError>(Arc::new(Router::new(config, link)))
        };
        let router = connect(&config)?;
        let mut shards = cmd("HGET");
        shards.arg(INSTALLATION).arg("shards");
        let reply = router.call(Home::Installation, &[shards], Kind::Read).await;
        let reply = reply.map_err(|fault| StartError::Unreachable(fault.text()))?;
        let stored = reply.values.first().and_then(text).and_then(|stored| stored.parse().ok());
        let Some(shards) = stored else {
            let server = reply.from.endpoint.to_string();
            return Err(StartError::Strange {
                server,
                why: "there is no installation of Fulcrum here".to_owned(),
            });
        };
        // As it was set up, whatever the URL says.
        let router = connect(&RedisConfig { shards, ..config })?;
        Ok(RedisInspector { router, shards })
    }

    async fn ask(&self, home: Home, commands: &[Cmd]) -> Result<Vec<Value>, StoreError> {
        let reply = self.router.call(home, commands, Kind::Read).await;
        Ok(reply.map_err(Fault::unavailable)?.values)
    }

    async fn ask_each(&self, command: impl Fn(Shard) -> Cmd) -> Result<Vec<Value>, StoreError> {
        let calls = Shard::all(self.shards).map(|shard| (shard, vec![command(shard)])).collect();
        let answers = self.router.each(calls).await.map_err(Fault::unavailable)?;
        Ok(answers.into_iter().map(|mut own| own.pop().unwrap_or(Value::Nil)).collect())
    }

    async fn stream(&self, key: &TableKey, command: Cmd) -> Result<Vec<RawEntry>, StoreError> {
        let shard = Shard::of(key, self.shards);
        let values = self.ask(Home::Shard(shard), &[command]).await?;
        let entries = raw_entries(values.into_iter().next()).ok_or_else(|| strange("a history"))?;
        Ok(entries.into_iter().map(raw_entry).collect())
    }
}

fn raw_entry(raw: Raw) -> RawEntry {
    let Raw { version, token, record, state } = raw;
    RawEntry { version, token, record, state }
}

#[async_trait]
impl Inspect for RedisInspector {
    async fn format(&self) -> Result<u32, StoreError> {
        get_format(&self.router).await
    }

    async fn key_checks(&self) -> Result<Vec<Sealed>, StoreError> {
        let mut fields = cmd("HGETALL");
        fields.arg(INSTALLATION);
        let fields = self.ask(Home::Installation, &[fields]).await?.pop();
        checks::sealing(fields.unwrap_or(Value::Nil))
    }

    async fn processes(&self, within: Millis) -> Result<Vec<Process>, StoreError> {
        let time = self.ask(Home::Installation, &[cmd("TIME")]).await?;
        let now = time.first().and_then(read_time).ok_or_else(|| strange("the time"))? / 1000;
        let mut list = cmd("ZRANGEBYSCORE");
        list.arg(PROCESSES).arg((Millis(now) - within).0).arg("+inf");
        let listed = self.ask(Home::Installation, &[list]).await?.pop();
        let names = listed.as_ref().and_then(Value::as_sequence).ok_or_else(|| strange("the processes"))?;
        let ids: Vec<Uuid> =
            names.iter().filter_map(text).filter_map(|name| Uuid::try_parse(&name).ok()).collect();
        let signatures: Vec<Cmd> = ids.iter().map(|id| get(&formats::signature(*id))).collect();
        if signatures.is_empty() {
            return Ok(Vec::new());
        }
        let signed = self.ask(Home::Installation, &signatures).await?;
        let process = |(id, signed)| Ok(Process { id, knows: formats::read(Some(signed))? });
        ids.into_iter().zip(&signed).map(process).collect()
    }

    async fn raise_format(&self, to: u32) -> Result<u32, StoreError> {
        Codec::check_raise(self.format().await?, to)?;
        let reply = self.router.call(Home::Installation, &[formats::raise(to)], Kind::Commit).await;
        match reply.map_err(Fault::of_commit)?.values.first() {
            Some(Value::Int(before)) => {
                u32::try_from(*before).map_err(|_| strange("the raise of the format"))
            }
            _ => Err(strange("the raise of the format")),
        }
    }

    async fn operators(&self) -> Result<Vec<OperatorId>, StoreError> {
        let map = self.router.map().await.map_err(Fault::unavailable)?;
        let mut operators = BTreeSet::new();
        for node in &map.primaries {
            let mut cursor = "0".to_owned();
            loop {
                let mut scan = cmd("SCAN");
                scan.arg(&cursor).arg("MATCH").arg("{s*}:ix:*").arg("COUNT").arg(SCANNED);
                let values = asked(node, &[scan]).await.map_err(Fault::unavailable)?;
                let page = values.first().and_then(Value::as_sequence).ok_or_else(|| strange("a scan"))?;
                let [next, names] = page else {
                    return Err(strange("a scan"));
                };
                let names = names.as_sequence().unwrap_or_default().iter().filter_map(text);
                operators.extend(names.filter_map(|name| OperatorId::new(name.split_once(":ix:")?.1)));
                cursor = text(next).ok_or_else(|| strange("a scan"))?;
                if cursor == "0" {
                    break;
                }
            }
        }
        Ok(operators.into_iter().collect())
    }

    async fn count(&self, operator: &OperatorId) -> Result<u64, StoreError> {
        let counts = self.ask_each(|shard| {
            let mut command = cmd("ZCARD");
            command.arg(shard.tables(operator));
            command
        });
        let number = |value: Value| match value {
            Value::Int(count) => u64::try_from(count).unwrap_or_default(),
            _ => 0,
        };
        Ok(counts.await?.into_iter().map(number).sum())
    }

    async fn tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<TableId>, StoreError> {
        // A few of each shard: of a great installation, most of what is asked for would be thrown away again.
        let some = (limit.saturating_mul(2) / usize::from(self.shards).max(1)).clamp(LEAST, limit.max(LEAST));
        let listed = self.ask_each(|shard| reads::listing(shard, operator, after, some)).await?;
        let (mut ids, mut sure) = (Vec::new(), None);
        for names in listed.iter().filter_map(Value::as_sequence) {
            let own = names.iter().filter_map(text).filter_map(|name| Some(table_key(&name)?.table));
            let own: Vec<TableId> = own.collect();
            // Beyond the last of a shard that may have more, that one may be missing.
            if let Some(last) = own.last().filter(|_| names.len() == some) {
                sure = Some(sure.map_or(*last, |sure: TableId| sure.min(*last)));
            }
            ids.extend(own);
        }
        ids.retain(|id| sure.is_none_or(|sure| *id <= sure));
        ids.sort();
        ids.truncate(limit);
        Ok(ids)
    }

    async fn state(&self, key: &TableKey) -> Result<Option<RawState>, StoreError> {
        let place = Place::of(key, self.shards);
        let mut command = cmd("EVAL_RO");
        command.arg(STATE).arg(2).arg(place.state()).arg(place.shard.calendar()).arg(key.to_string());
        let answer = self.ask(Home::Shard(place.shard), &[command]).await?.pop();
        let parts = answer.and_then(|answer| answer.into_sequence().ok()).unwrap_or_default();
        let mut parts = parts.into_iter();
        let Some(state) = parts.next().and_then(bytes) else {
            return Ok(None);
        };
        let due = parts.next().as_ref().and_then(text).and_then(|at| at.parse().ok()).map(Millis);
        let (token, record) = split_state(&state)
            .ok_or_else(|| StoreError::Corrupt("the state has not even a token".to_owned()))?;
        Ok(Some(RawState { token, record: record.to_vec(), due }))
    }

    async fn entries(&self, key: &TableKey, after: u64, limit: usize) -> Result<Vec<RawEntry>, StoreError> {
        let from = format!("{}-0", after.saturating_add(1));
        let events = Place::of(key, self.shards).events();
        self.stream(key, range(&events, &from, "+", limit)).await
    }

    async fn latest(&self, key: &TableKey, limit: usize) -> Result<Vec<RawEntry>, StoreError> {
        let mut command = cmd("XREVRANGE");
        let events = Place::of(key, self.shards).events();
        command.arg(events).arg("+").arg("-").arg("COUNT").arg(limit);
        self.stream(key, command).await
    }

    async fn history(&self, key: &TableKey) -> Result<HistorySize, StoreError> {
        let place = Place::of(key, self.shards);
        let (mut length, mut memory) = (cmd("XLEN"), cmd("MEMORY"));
        length.arg(place.events());
        memory.arg("USAGE").arg(place.events());
        let entries = match self.ask(Home::Shard(place.shard), &[length]).await?.first() {
            Some(Value::Int(entries)) => u64::try_from(*entries).unwrap_or_default(),
            _ => return Err(strange("the length of a history")),
        };
        // Not every user may ask for it.
        let bytes = match self.ask(Home::Shard(place.shard), &[memory]).await {
            Ok(values) => match values.first() {
                Some(Value::Int(bytes)) => u64::try_from(*bytes).ok(),
                _ => None,
            },
            Err(_) => None,
        };
        Ok(HistorySize { entries, bytes })
    }

    async fn settlements(&self, key: &TableKey, ids: &[Uuid]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let shard = Shard::of(key, self.shards);
        let mut places = cmd("HMGET");
        places.arg(shard.outbox_index(&key.operator));
        for id in ids {
            places.arg(&id.as_bytes()[..]);
        }
        let places = self.ask(Home::Shard(shard), &[places]).await?.pop();
        let places = places.and_then(|places| places.into_sequence().ok()).unwrap_or_default();
        let places: Vec<Option<String>> = places.iter().map(text).collect();
        let outbox = shard.outbox(&key.operator);
        let read = |place: &String| range(&outbox, &format!("{place}-1"), &format!("{place}-1"), 1);
        let reads: Vec<Cmd> = places.iter().flatten().map(read).collect();
        let records =
            if reads.is_empty() { Vec::new() } else { self.ask(Home::Shard(shard), &reads).await? };
        let mut records = records.into_iter().map(only_record);
        Ok(places.iter().map(|place| place.as_ref().and_then(|_| records.next().flatten())).collect())
    }

    async fn retired(&self, key: &TableKey) -> Result<Option<Millis>, StoreError> {
        let shard = Shard::of(key, self.shards);
        let place = self.ask(Home::Shard(shard), &[retire::retired(shard, &key.operator)]).await?.pop();
        Ok(place.as_ref().and_then(retire::read_retired).map(|micros| Millis(micros / 1000)))
    }
}

/// The record of an outbox's only entry in this answer.
fn only_record(answer: Value) -> Option<Vec<u8>> {
    let entry = answer.into_sequence().ok()?.into_iter().next()?;
    let (_, fields) = stream_entry(entry)?;
    fields.into_iter().next().map(|(_, record)| record)
}
