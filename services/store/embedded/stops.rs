//! The registry of stops in the file: written by the one writer as commits are, so that one that was given to it before a
//! stop is done before that.

use async_trait::async_trait;
use redb::ReadableTable;
use tables::stops::{AUDIT_KEPT, AuditEntry, Author, Changed, Shelf, StopChange, StopName, Stopped, Stops};
use tables::{RequestId, RequestRecord, StoreError, Token};

use super::EmbeddedStore;
use super::batch::Batch;
use super::fault::Fault;
use super::read::Reader;
use super::requests::{Drawer, Wanted};
use super::schema::{STOP_AUDIT, STOP_SHELVES, STOPS};

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
            let owner = author.to_string();
            let wanted = Wanted { owner: &owner, name: author.name(), id };
            if let Some(done) = Drawer::OF_STOPS.read(self.transaction, self.reader, &wanted, self.now)? {
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
        if let Some(PreparedRequest { author, id, record }) = &change.request {
            let owner = author.to_string();
            Drawer::OF_STOPS.write(self.transaction, &owner, id, record, self.now)?;
        }
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
}

fn read_token((version, nonce): (u64, u64)) -> Token {
    Token { version, nonce }
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
        let audit = change
            .audit
            .as_ref()
            .map(|entry| Ok::<_, StoreError>((entry.number, codec.write_stop_audit(entry)?)));
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
            audit: audit.transpose()?,
            request: request.transpose()?,
        };
        self.writer.write(move |batch| batch.change_stops(&prepared)).await
    }

    async fn asked(&self, author: &Author, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        let now = self.clock.now();
        let owner = author.to_string();
        let wanted = Wanted { owner: &owner, name: author.name(), id };
        self.look(|reader| reader.request(Drawer::OF_STOPS, &wanted, now))
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
