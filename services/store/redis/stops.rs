//! The registry of stops in Redis. It belongs to the whole installation and lies on the server that has that, whatever
//! shards the tables are in; what is read there is read with a fence, so that no server that is out of date is believed.

use std::time::Duration;

use ::redis::{Value, cmd};
use async_trait::async_trait;
use tables::stops::{AuditEntry, Author, Changed, Shelf, StopChange, StopEntry, StopName, Stopped, Stops};
use tables::{RequestId, RequestRecord, StoreError, Token};

use super::RedisStore;
use super::commits::STALE;
use super::fault::{Fault, strange};
use super::keys::{StopKeys, stop_request};
use super::reads::{get, stream_entry};
use super::route::{Home, Kind};
use super::script::{StopArguments, bytes, token};
use crate::store::CodecError;

impl RedisStore {
    fn read_stopped(&self, values: Vec<Value>) -> Result<Stopped, StoreError> {
        let mut values = values.into_iter();
        let token = values.next().and_then(bytes).map(read_token).transpose()?;
        let records = match values.next() {
            Some(Value::Map(pairs)) => pairs.into_iter().map(|(_, record)| record).collect(),
            // The older protocol has names and records one after the other.
            Some(Value::Array(flat)) => flat.into_iter().skip(1).step_by(2).collect(),
            _ => return Err(strange("the stops of a shelf")),
        };
        let records: Vec<Value> = records;
        let read = |record| {
            let record = bytes(record).ok_or_else(|| strange("a stop"))?;
            Ok(self.codec.read_stop(&record)?)
        };
        let mut entries = records.into_iter().map(read).collect::<Result<Vec<StopEntry>, StoreError>>()?;
        entries.sort_by_cached_key(|entry| entry.name().to_string());
        Ok(Stopped { token, entries })
    }

    fn stop_change(&self, change: &StopChange) -> Result<StopArguments, StoreError> {
        let StopKeys { token, stops, audit } = StopKeys::of(&change.shelf);
        let mut keys = vec![token, stops, audit];
        let audit = change.audit.as_ref().map(|entry| self.codec.write_stop_audit(entry)).transpose()?;
        let mut request = None;
        if let Some((author, record)) = &change.request {
            keys.push(stop_request(author, &record.id));
            request = Some(self.codec.write_request(author.name(), record)?);
        }
        let put =
            change.put.iter().map(|entry| Ok((entry.name().to_string(), self.codec.write_stop(entry)?)));
        Ok(StopArguments {
            keys,
            expected: change.expected,
            token: change.token,
            audit,
            request,
            request_kept: self.requests_kept(),
            put: put.collect::<Result<_, CodecError>>()?,
            remove: change.remove.iter().map(StopName::to_string).collect(),
        })
    }
}

#[async_trait]
impl Stops for RedisStore {
    async fn shelf(&self, shelf: &Shelf, known: Option<Token>) -> Result<Option<Stopped>, StoreError> {
        let keys = StopKeys::of(shelf);
        if known.is_some() {
            let found =
                self.ask_durably(Home::Installation, vec![get(&keys.token)]).await?.into_iter().next();
            let found = found.and_then(bytes).map(read_token).transpose()?;
            if found == known {
                return Ok(None);
            }
        }
        // The token first: of a change between the two the stops are seen, and that it came is seen the next time.
        let mut stops = cmd("HGETALL");
        stops.arg(&keys.stops);
        let values = self.ask_durably(Home::Installation, vec![get(&keys.token), stops]).await?;
        self.read_stopped(values).map(Some)
    }

    async fn change(&self, change: &StopChange) -> Result<Changed, StoreError> {
        let command = self.stop_change(change)?.command();
        let reply = self.router.call(Home::Installation, &[command], Kind::Commit).await;
        let reply = reply.map_err(Fault::of_commit)?.values.into_iter().next();
        let wrong = || StoreError::Unknown(strange("the answer to a change of stops").to_string());
        let mut parts = reply.and_then(|reply| reply.into_sequence().ok()).ok_or_else(wrong)?.into_iter();
        match (parts.next(), parts.next().and_then(bytes), &change.request) {
            (Some(Value::Int(0)), _, _) => Ok(Changed::Done),
            (Some(Value::Int(1)), _, _) => Ok(Changed::Conflict),
            (Some(Value::Int(2)), Some(record), Some((author, request))) => {
                Ok(Changed::Before(self.codec.read_request(author.name(), &request.id, &record)?))
            }
            _ => Err(wrong()),
        }
    }

    async fn asked(&self, author: &Author, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        let found = self
            .ask_durably(Home::Installation, vec![get(&stop_request(author, id))])
            .await?
            .into_iter()
            .next();
        let record = found.and_then(bytes);
        Ok(record.map(|record| self.codec.read_request(author.name(), id, &record)).transpose()?)
    }

    async fn audit(
        &self,
        shelf: &Shelf,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let from = match before {
            None => "+".to_owned(),
            Some(number) => format!("({number}-0"),
        };
        let mut command = cmd("XREVRANGE");
        command.arg(StopKeys::of(shelf).audit).arg(from).arg("-");
        command.arg("COUNT").arg(i64::try_from(limit).unwrap_or(i64::MAX));
        let answer = self.ask_durably(Home::Installation, vec![command]).await?.into_iter().next();
        let wrong = || strange("an audit of stops");
        let entries = answer.and_then(|answer| answer.into_sequence().ok()).ok_or_else(wrong)?;
        let read = |entry| {
            let (_, fields) = stream_entry(entry).ok_or_else(wrong)?;
            let (_, record) = fields.into_iter().next().ok_or_else(wrong)?;
            Ok(self.codec.read_stop_audit(&record)?)
        };
        entries.into_iter().map(read).collect()
    }

    fn in_flight(&self) -> Duration {
        Duration::from_millis(STALE.0)
    }
}

fn read_token(bytes: Vec<u8>) -> Result<Token, StoreError> {
    token(bytes).ok_or_else(|| strange("the token of a shelf"))
}
