//! Requests about the delivery of settlement records.

use tables::{DeliveryOrder, OperatorId, SettlementPosition};
use tonic::Status;

use super::page::{ListMark, size};
use super::{Fields, settlements::wanted};
use crate::pb::v1;

/// A place among an operator's records, as he is told it.
#[must_use]
pub fn position(operator: &OperatorId, place: SettlementPosition) -> String {
    places(operator).token(&place.0.to_be_bytes())
}

fn places(operator: &OperatorId) -> ListMark {
    ListMark::new(operator, "StreamSettlements", &[])
}

impl Fields {
    /// The name of a consumer.
    pub fn consumer(&mut self, name: &str) -> Option<String> {
        let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"._-".contains(&c);
        let good = (1..=64).contains(&name.len()) && name.bytes().all(plain);
        let right = "1 to 64 of the characters a-z, 0-9, dot, underscore, hyphen";
        self.check("consumer", Some(name).filter(|_| good), right).map(str::to_owned)
    }

    fn position(&mut self, field: &str, operator: &OperatorId, token: &str) -> Option<SettlementPosition> {
        let place = places(operator).read(token).and_then(|place| <[u8; 8]>::try_from(place).ok());
        let right = "the position of a message that was streamed";
        self.check(field, place, right).map(|place| SettlementPosition(u64::from_be_bytes(place)))
    }
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn stream_settlements(
    operator: &OperatorId,
    m: &v1::StreamSettlementsRequest,
) -> Result<DeliveryOrder, Status> {
    let mut f = Fields::default();
    let consumer = f.consumer(&m.consumer);
    let after = wanted(&m.after_position).map(|token| f.position("after_position", operator, token));
    let table = wanted(&m.table_id).map(|id| f.table(operator, id).map(|key| key.table));
    let order = |consumer| DeliveryOrder {
        operator: operator.clone(),
        consumer,
        after: after.flatten(),
        table: table.flatten(),
    };
    f.done(consumer.map(order))
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn ack_settlements(
    operator: &OperatorId,
    m: &v1::AckSettlementsRequest,
) -> Result<(String, SettlementPosition), Status> {
    let mut f = Fields::default();
    let consumer = f.consumer(&m.consumer);
    let position = f.position("position", operator, &m.position);
    f.done(consumer.zip(position))
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn delete_consumer(m: &v1::DeleteConsumerRequest) -> Result<String, Status> {
    let mut f = Fields::default();
    let consumer = f.consumer(&m.consumer);
    f.done(consumer)
}

/// A page of consumers.
#[derive(Debug)]
pub struct Page {
    /// The last one of the page before.
    pub after: Option<String>,
    /// How many at most.
    pub size: usize,
    mark: ListMark,
}

impl Page {
    /// The token of the page after this consumer.
    #[must_use]
    pub fn token(&self, last: &str) -> String {
        self.mark.token(last.as_bytes())
    }
}

/// # Errors
/// INVALID_ARGUMENT with every fault, or for the page token.
pub fn list_consumers(operator: &OperatorId, m: &v1::ListConsumersRequest) -> Result<Page, Status> {
    let mut f = Fields::default();
    let size = size(&mut f, m.page_size);
    let size = f.done(size)?;
    let mark = ListMark::new(operator, "ListConsumers", &[]);
    let name = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned());
    let after = mark.place_by(&m.page_token, name)?;
    Ok(Page { after, size, mark })
}
