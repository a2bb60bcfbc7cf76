//! Records of requests, of those at tables and of those for stops: kept for so long, and found only so long.

use redb::{ReadableTable, TableDefinition, WriteTransaction};
use rules::Millis;
use tables::{OperatorId, RequestId, RequestRecord};

use super::fault::Fault;
use super::read::Reader;
use super::schema::{REQUEST_AGES, REQUESTS, STOP_REQUEST_AGES, STOP_REQUESTS};

/// So many of each kind go at most with one batch, so that no batch waits for the dropping of many.
const FORGET_AT_ONCE: usize = 64;

/// By owner and request: the time at which it was recorded, and the record.
type ByRequest = (&'static str, u128);
type Kept = (u64, &'static [u8]);
/// By that time, owner and request.
type ByAge = (u64, &'static str, u128);

/// Where records of one kind lie.
#[derive(Clone, Copy)]
pub(super) struct Drawer {
    records: TableDefinition<'static, ByRequest, Kept>,
    ages: TableDefinition<'static, ByAge, ()>,
}

impl Drawer {
    /// Their owners are operators.
    pub const OF_TABLES: Drawer = Drawer { records: REQUESTS, ages: REQUEST_AGES };
    /// Their owners are authors.
    pub const OF_STOPS: Drawer = Drawer { records: STOP_REQUESTS, ages: STOP_REQUEST_AGES };

    pub fn write(
        self,
        transaction: &WriteTransaction,
        owner: &str,
        id: &RequestId,
        record: &[u8],
        now: Millis,
    ) -> Result<(), Fault> {
        let id = id.0.as_u128();
        transaction.open_table(self.records)?.insert((owner, id), (now.0, record))?;
        transaction.open_table(self.ages)?.insert((now.0, owner, id), ())?;
        Ok(())
    }

    /// What was kept of a request, for whoever writes now.
    pub fn read(
        self,
        transaction: &WriteTransaction,
        reader: &Reader,
        wanted: &Wanted<'_>,
        now: Millis,
    ) -> Result<Option<RequestRecord>, Fault> {
        found(reader, &transaction.open_table(self.records)?, wanted, now)
    }

    /// Drops records that are over, a bounded number of them.
    pub fn forget(self, transaction: &WriteTransaction, reader: &Reader, now: Millis) -> Result<(), Fault> {
        let mut ages = transaction.open_table(self.ages)?;
        let mut records = transaction.open_table(self.records)?;
        for _ in 0..FORGET_AT_ONCE {
            let oldest = ages.first()?.map(|(age, _)| {
                let (recorded, owner, id) = age.value();
                (recorded, owner.to_owned(), id)
            });
            let Some((recorded, owner, id)) = oldest.filter(|(at, ..)| reader.is_over(Millis(*at), now))
            else {
                return Ok(());
            };
            ages.remove((recorded, owner.as_str(), id))?;
            // The id may have been used again since.
            let same = records.get((owner.as_str(), id))?.is_some_and(|found| found.value().0 == recorded);
            if same {
                records.remove((owner.as_str(), id))?;
            }
        }
        Ok(())
    }
}

/// The request that is looked for.
pub(super) struct Wanted<'a> {
    pub owner: &'a str,
    /// In whose name its record is sealed.
    pub name: &'a OperatorId,
    pub id: &'a RequestId,
}

impl Reader {
    /// What is kept of a request.
    pub fn request(
        &self,
        drawer: Drawer,
        wanted: &Wanted<'_>,
        now: Millis,
    ) -> Result<Option<RequestRecord>, Fault> {
        found(self, &self.begin()?.open_table(drawer.records)?, wanted, now)
    }
}

fn found(
    reader: &Reader,
    records: &impl ReadableTable<ByRequest, Kept>,
    Wanted { owner, name, id }: &Wanted<'_>,
    now: Millis,
) -> Result<Option<RequestRecord>, Fault> {
    let Some(found) = records.get((*owner, id.0.as_u128()))? else {
        return Ok(None);
    };
    let (recorded, bytes) = found.value();
    if reader.is_over(Millis(recorded), now) {
        return Ok(None);
    }
    Ok(Some(reader.codec.read_request(name, id, bytes)?))
}
