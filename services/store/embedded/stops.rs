//! The registry of stops in the file: written by the one writer as commits are, so that one that was given to it before a
//! stop is done before that.

use async_trait::async_trait;
use redb::ReadableTable;
use rules::Millis;
use tables::stops::{AUDIT_KEPT, AuditEntry, Author, Changed, Shelf, StopChange, StopName, Stopped, Stops};
use tables::{RequestId, RequestRecord, StoreError, Token};

use super::EmbeddedStore;
use super::batch::Batch;
use super::fault::Fault;
use super::read::Reader;
use super::schema::{STOP_AUDIT, STOP_REQUEST_AGES, STOP_REQUESTS, STOP_SHELVES, STOPS};

/// So many request records go at most with one change.
const FORGET_AT_ONCE: usize = 64;

/// A change with its records encoded.
struct PreparedStops {
    shelf: String,
    expected: Option<Token>,
    token: Token,
    put: Vec<(String, Vec<u8>)>,
    remove: Vec<String>,
    audit: Option<(u64, Vec<u8>)>,
    request: Option<PreparedRequest>,
}

struct PreparedRequest {
    author: Author,
    id: RequestId,
    record: Vec<u8>,
}

impl Batch<'_> {
    /// Does the change, or says why not.
    fn change_stops(&self, change: &PreparedStops) -> Result<Changed, Fault> {
        if let Some(PreparedRequest { author, id, .. }) = &change.request {
            let requests = self.transaction.open_table(STOP_REQUESTS)?;
            if let Some(done) = found(self.reader, &requests, author, id, self.now)? {
                return Ok(Changed::Before(done));
            }
        }
        let shelf = change.shelf.as_str();
        let mut shelves = self.transaction.open_table(STOP_SHELVES)?;
        let current = shelves.get(shelf)?.map(|token| read_token(token.value()));
        if current == Some(change.token) {
            return Ok(Changed::Done);
        }
        if current != change.expected {
            return Ok(Changed::Conflict);
        }
        shelves.insert(shelf, (change.token.version, change.token.nonce))?;
        let mut stops = self.transaction.open_table(STOPS)?;
        for name in &change.remove {
            stops.remove((shelf, name.as_str()))?;
        }
        for (name, record) in &change.put {
            stops.insert((shelf, name.as_str()), record.as_slice())?;
        }
        self.write_audit(change)?;
        self.write_stop_request(change)?;
        Ok(Changed::Done)
    }

    fn write_audit(&self, change: &PreparedStops) -> Result<(), Fault> {
        let (Some((number, record)), shelf) = (&change.audit, change.shelf.as_str()) else {
            return Ok(());
        };
        let mut audit = self.transaction.open_table(STOP_AUDIT)?;
        audit.insert((shelf, *number), record.as_slice())?;
        let kept = audit.range((shelf, 0)..=(shelf, u64::MAX))?.rev().nth(AUDIT_KEPT);
        let last = kept.transpose()?.map(|(at, _)| at.value().1);
        if let Some(last) = last {
            audit.retain_in((shelf, 0)..=(shelf, last), |_, _| false)?;
        }
        Ok(())
    }

    fn write_stop_request(&self, change: &PreparedStops) -> Result<(), Fault> {
        let Some(PreparedRequest { author, id, record }) = &change.request else {
            return Ok(());
        };
        let (author, id, now) = (author.to_string(), id.0.as_u128(), self.now.0);
        let mut requests = self.transaction.open_table(STOP_REQUESTS)?;
        let mut ages = self.transaction.open_table(STOP_REQUEST_AGES)?;
        requests.insert((author.as_str(), id), (now, record.as_slice()))?;
        ages.insert((now, author.as_str(), id), ())?;
        for _ in 0..FORGET_AT_ONCE {
            let oldest = ages.first()?.map(|(oldest, _)| {
                let (recorded, author, id) = oldest.value();
                (recorded, author.to_owned(), id)
            });
            let Some((recorded, author, id)) =
                oldest.filter(|(at, ..)| self.reader.is_over(Millis(*at), self.now))
            else {
                break;
            };
            ages.remove((recorded, author.as_str(), id))?;
            let same = requests.get((author.as_str(), id))?.is_some_and(|found| found.value().0 == recorded);
            if same {
                requests.remove((author.as_str(), id))?;
            }
        }
        Ok(())
    }
}

fn read_token((version, nonce): (u64, u64)) -> Token {
    Token { version, nonce }
}

/// The record of a request that is still kept.
fn found(
    reader: &Reader,
    requests: &impl ReadableTable<(&'static str, u128), (u64, &'static [u8])>,
    author: &Author,
    id: &RequestId,
    now: Millis,
) -> Result<Option<RequestRecord>, Fault> {
    let Some(found) = requests.get((author.to_string().as_str(), id.0.as_u128()))? else {
        return Ok(None);
    };
    let (recorded, bytes) = found.value();
    if reader.is_over(Millis(recorded), now) {
        return Ok(None);
    }
    Ok(Some(reader.codec.read_request(author.name(), id, bytes)?))
}

impl Reader {
    fn shelf(&self, shelf: &str, known: Option<Token>) -> Result<Option<Stopped>, Fault> {
        let transaction = self.begin()?;
        let token = transaction.open_table(STOP_SHELVES)?.get(shelf)?.map(|token| read_token(token.value()));
        if known.is_some() && token == known {
            return Ok(None);
        }
        let stops = transaction.open_table(STOPS)?;
        let mut entries = Vec::new();
        for entry in stops.range((shelf, "")..)? {
            let (at, record) = entry?;
            if at.value().0 != shelf {
                break;
            }
            entries.push(self.codec.read_stop(record.value())?);
        }
        Ok(Some(Stopped { token, entries }))
    }

    fn stop_audit(&self, shelf: &str, before: u64, limit: usize) -> Result<Vec<AuditEntry>, Fault> {
        let audit = self.begin()?.open_table(STOP_AUDIT)?;
        let mut entries = Vec::new();
        for entry in audit.range((shelf, 0)..(shelf, before))?.rev().take(limit) {
            entries.push(self.codec.read_stop_audit(entry?.1.value())?);
        }
        Ok(entries)
    }
}

#[async_trait]
impl Stops for EmbeddedStore {
    async fn shelf(&self, shelf: &Shelf, known: Option<Token>) -> Result<Option<Stopped>, StoreError> {
        let shelf = shelf.to_string();
        self.study(move |reader| reader.shelf(&shelf, known)).await
    }

    async fn change(&self, change: &StopChange) -> Result<Changed, StoreError> {
        let codec = &self.reader.codec;
        let put = change.put.iter().map(|entry| Ok((entry.name().to_string(), codec.write_stop(entry)?)));
        let audit = change.audit.as_ref().map(|entry| Ok((entry.number, codec.write_stop_audit(entry)?)));
        let request = change.request.as_ref().map(|(author, record)| {
            let (id, record) = (record.id, codec.write_request(author.name(), record)?);
            Ok::<_, StoreError>(PreparedRequest { author: author.clone(), id, record })
        });
        let prepared = PreparedStops {
            shelf: change.shelf.to_string(),
            expected: change.expected,
            token: change.token,
            put: put.collect::<Result<_, StoreError>>()?,
            remove: change.remove.iter().map(StopName::to_string).collect(),
            audit: audit.transpose().map_err(|error: StoreError| error)?,
            request: request.transpose()?,
        };
        self.writer.write(move |batch| batch.change_stops(&prepared)).await
    }

    async fn asked(&self, author: &Author, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        let now = self.clock.now();
        self.look(|reader| {
            let requests = reader.begin()?.open_table(STOP_REQUESTS)?;
            found(reader, &requests, author, id, now)
        })
    }

    async fn audit(
        &self,
        shelf: &Shelf,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let (shelf, before) = (shelf.to_string(), before.unwrap_or(u64::MAX));
        self.study(move |reader| reader.stop_audit(&shelf, before, limit)).await
    }
}
