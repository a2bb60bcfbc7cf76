//! What is read: states, history, requests, the calendar, lists of tables.

use std::sync::Arc;

use ::redis::{Cmd, Value, cmd};
use rules::table::Table;
use tables::{
    Entry, History, Listed, OperatorId, RequestId, RequestRecord, StoreError, Stored, TableId, TableKey,
    Token,
};

use super::RedisStore;
use super::fault::{Fault, strange};
use super::keys::{Place, Shard, table_key};
use super::route::{Home, Kind};
use super::script::{bytes, entry_id, split_state};
use super::topology::text;

impl RedisStore {
    /// The answers of the server that has the shard.
    pub(super) async fn ask(&self, shard: Shard, commands: &[Cmd]) -> Result<Vec<Value>, StoreError> {
        let reply = self.router.call(Home::Shard(shard), commands, Kind::Read).await;
        Ok(reply.map_err(Fault::unavailable)?.values)
    }

    /// The answer of every one of these shards to its one command.
    pub(super) async fn ask_each(
        &self,
        shards: &[Shard],
        command: impl Fn(Shard) -> Cmd,
    ) -> Result<Vec<Value>, StoreError> {
        let calls = shards.iter().map(|shard| (*shard, vec![command(*shard)])).collect();
        let answers = self.router.each(calls).await.map_err(Fault::unavailable)?;
        Ok(answers.into_iter().map(|mut own| own.pop().unwrap_or(Value::Nil)).collect())
    }

    pub(super) async fn read_table(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        let place = Place::of(key, self.shards());
        let values = self.ask(place.shard, &[get(&place.state())]).await?;
        let state = values.into_iter().next().and_then(bytes);
        state.map(|state| self.read_state(key, &state)).transpose()
    }

    pub(super) async fn read_durable_table(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        let place = Place::of(key, self.shards());
        let values = self.ask_durably(Home::Shard(place.shard), vec![get(&place.state())]).await?;
        let state = values.into_iter().next().and_then(bytes);
        state.map(|state| self.read_state(key, &state)).transpose()
    }

    pub(super) async fn read_request(
        &self,
        key: &TableKey,
        id: &RequestId,
    ) -> Result<Option<RequestRecord>, StoreError> {
        let place = Place::of(key, self.shards());
        let command = get(&place.request(id));
        let values = self.ask(place.shard, std::slice::from_ref(&command)).await?;
        let mut record = values.into_iter().next().and_then(bytes);
        // Mostly there is none, and nothing to wait for.
        if record.is_some() && self.waits() {
            let values = self.ask_durably(Home::Shard(place.shard), vec![command]).await?;
            record = values.into_iter().next().and_then(bytes);
        }
        Ok(record.map(|record| self.codec.read_request(&key.operator, id, &record)).transpose()?)
    }

    pub(super) async fn read_history(
        &self,
        key: &TableKey,
        after: u64,
        limit: usize,
    ) -> Result<History, StoreError> {
        let place = Place::of(key, self.shards());
        let events = place.events();
        let from = format!("{}-0", after.saturating_add(1));
        // The page before the oldest: what is trimmed in between makes a hole that shows, not one that is hidden.
        let page = range(&events, &from, "+", limit);
        let oldest = range(&events, "-", "+", 1);
        let mut values = self.ask(place.shard, &[page, oldest]).await?.into_iter();
        let entries = raw_entries(values.next()).ok_or_else(|| strange("a history"))?;
        let oldest = raw_entries(values.next()).ok_or_else(|| strange("a history"))?;
        Ok(History {
            entries: entries
                .iter()
                .map(|raw| self.read_entry(key, raw))
                .collect::<Result<_, StoreError>>()?,
            oldest: oldest.first().map_or(0, |raw| raw.version),
        })
    }

    fn read_entry(&self, key: &TableKey, raw: &Raw) -> Result<Entry, StoreError> {
        let entry = self.codec.read_entry(key, &raw.record)?;
        if entry.version != raw.version {
            return Err(StoreError::Corrupt(format!("an entry of {key} is not where its version belongs")));
        }
        Ok(entry)
    }

    pub(super) async fn read_checkpoint(
        &self,
        key: &TableKey,
        version: u64,
    ) -> Result<Option<Arc<Table>>, StoreError> {
        let place = Place::of(key, self.shards());
        let mut command = cmd("XREVRANGE");
        command.arg(place.events()).arg(entry_id(version)).arg("-").arg("COUNT").arg(self.state_every());
        let values = self.ask(place.shard, &[command]).await?;
        let entries = raw_entries(values.into_iter().next()).ok_or_else(|| strange("a history"))?;
        let state = entries.into_iter().find_map(|raw| raw.state);
        Ok(state.map(|state| self.codec.read_table(key, &state)).transpose()?.map(Arc::new))
    }

    pub(super) async fn read_tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let shards = self.all_shards();
        let listed = self.ask_each(&shards, |shard| listing(shard, operator, after, limit)).await?;
        let names = listed.iter().filter_map(Value::as_sequence).flatten().filter_map(text);
        let mut keys: Vec<TableKey> = names.filter_map(|name| table_key(&name)).collect();
        keys.sort();
        keys.truncate(limit);
        let calls = keys.iter().map(|key| Place::of(key, self.shards()));
        let calls = calls.map(|place| (place.shard, vec![get(&place.state())])).collect();
        let states = self.router.each(calls).await.map_err(Fault::unavailable)?;
        let mut tables = Vec::with_capacity(keys.len());
        for (key, mut state) in keys.into_iter().zip(states) {
            let stored = match state.pop().and_then(bytes) {
                Some(state) => self.read_state(&key, &state),
                None => Err(StoreError::Corrupt(format!("there is no state of {key}, which is listed"))),
            };
            tables.push((key, stored));
        }
        Ok(tables)
    }
}

/// The names of an operator's tables in a shard after this one.
pub(super) fn listing(shard: Shard, operator: &OperatorId, after: Option<TableId>, limit: usize) -> Cmd {
    let from = after.map_or("-".to_owned(), |table| format!("({operator}/{table}"));
    let limit = i64::try_from(limit).unwrap_or(-1);
    let mut command = cmd("ZRANGEBYLEX");
    command.arg(shard.tables(operator)).arg(from).arg("+").arg("LIMIT").arg(0).arg(limit);
    command
}

/// An entry of a history as it lies in Redis.
pub(super) struct Raw {
    pub(super) version: u64,
    pub(super) token: Option<Token>,
    pub(super) record: Vec<u8>,
    pub(super) state: Option<Vec<u8>>,
}

/// Reads what XRANGE gives of a history.
pub(super) fn raw_entries(answer: Option<Value>) -> Option<Vec<Raw>> {
    let entries = answer?.into_sequence().ok()?;
    entries.into_iter().map(raw_entry).collect()
}

fn raw_entry(entry: Value) -> Option<Raw> {
    let (id, fields) = stream_entry(entry)?;
    let version = id.split_once('-')?.0.parse().ok()?;
    let mut raw = Raw { version, token: None, record: Vec::new(), state: None };
    for (name, value) in fields {
        match &name[..] {
            b"t" => raw.token = split_state(&value).map(|(token, _)| token),
            b"e" => raw.record = value,
            b"s" => raw.state = Some(value),
            _ => {}
        }
    }
    Some(raw)
}

/// Names and values.
type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// The id and the fields of a stream's entry.
pub(super) fn stream_entry(entry: Value) -> Option<(String, Fields)> {
    let mut parts = entry.into_sequence().ok()?.into_iter();
    let id = text(&parts.next()?)?;
    let mut fields = parts.next()?.into_sequence().ok()?.into_iter().map(bytes);
    let mut pairs = Vec::new();
    while let Some(name) = fields.next() {
        pairs.push((name?, fields.next()??));
    }
    Some((id, pairs))
}

pub(super) fn get(key: &str) -> Cmd {
    let mut command = cmd("GET");
    command.arg(key);
    command
}

pub(super) fn range(stream: &str, from: &str, to: &str, limit: usize) -> Cmd {
    let mut command = cmd("XRANGE");
    command.arg(stream).arg(from).arg(to).arg("COUNT").arg(i64::try_from(limit).unwrap_or(i64::MAX));
    command
}
