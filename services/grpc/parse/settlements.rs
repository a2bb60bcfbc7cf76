//! Requests for settlement records.

use prost::Message;
use tables::{OperatorId, SettlementFilter, SettlementPosition};
use tonic::Status;
use uuid::Uuid;

use super::Fields;
use super::page::{ListMark, size};
use crate::pb::v1;

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn get_settlement(m: &v1::GetSettlementRequest) -> Result<Uuid, Status> {
    let mut f = Fields::default();
    let id = f.uuid("settlement_id", &m.settlement_id);
    f.done(id)
}

/// A page of records.
#[derive(Debug)]
pub struct Page {
    /// Which.
    pub filter: SettlementFilter,
    /// The last one of the page before.
    pub after: Option<SettlementPosition>,
    /// How many at most.
    pub size: usize,
    mark: ListMark,
}

impl Page {
    /// The token of the page after this record.
    #[must_use]
    pub fn token(&self, last: SettlementPosition) -> String {
        self.mark.token(&last.0.to_be_bytes())
    }
}

/// # Errors
/// INVALID_ARGUMENT with every fault, or for the page token.
pub fn list_settlements(operator: &OperatorId, m: &v1::ListSettlementsRequest) -> Result<Page, Status> {
    let mut f = Fields::default();
    let size = size(&mut f, m.page_size);
    let table = wanted(&m.table_id).map(|id| f.table(operator, id).map(|key| key.table));
    if m.hand_number > 0 && table.is_none() {
        f.fault("table_id", "the table of the hand, as hand_number is given");
    }
    let player = wanted(&m.player_id).map(|id| f.player("player_id", id));
    let (table, player) = (table.flatten(), player.flatten());
    let hand = Some(m.hand_number).filter(|hand| *hand > 0);
    let filter = SettlementFilter { table, hand, player, ..SettlementFilter::default() };
    let size = f.done(size)?;

    let bare = v1::ListSettlementsRequest { page_size: 0, page_token: String::new(), ..m.clone() };
    let mark = ListMark::new(operator, "ListSettlements", &bare.encode_to_vec());
    let after = mark.place(&m.page_token)?.map(|place| SettlementPosition(u64::from_be_bytes(place)));
    Ok(Page { filter, after, size, mark })
}

fn wanted(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
