//! Requests for settlement records.

use prost::Message;
use tables::{OperatorId, SettlementFilter, SettlementKind, SettlementPosition};
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

/// Which of a consumer's records are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivered {
    /// Those that he has acknowledged.
    Acknowledged,
    /// The others.
    Unacknowledged,
}

/// A page of records.
#[derive(Debug)]
pub struct Page {
    /// Which.
    pub filter: SettlementFilter,
    /// Of which consumer, and which of his.
    pub delivery: Option<(String, Delivered)>,
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
    let filter = filter(&mut f, operator, m);
    let delivery = delivery(&mut f, m);
    let ((size, filter), delivery) = f.done(size.zip(filter).zip(delivery))?;

    let bare = v1::ListSettlementsRequest { page_size: 0, page_token: String::new(), ..m.clone() };
    let mark = ListMark::new(operator, "ListSettlements", &bare.encode_to_vec());
    let after = mark.place(&m.page_token)?.map(|place| SettlementPosition(u64::from_be_bytes(place)));
    Ok(Page { filter, delivery, after, size, mark })
}

fn filter(f: &mut Fields, operator: &OperatorId, m: &v1::ListSettlementsRequest) -> Option<SettlementFilter> {
    let table = f.table_of(operator, &m.table_id, m.hand_number);
    let player = wanted(&m.player_id).and_then(|id| f.player("player_id", id));
    let kinds = kinds(f, &m.kinds);
    let from = f.time("from_time", m.from_time);
    let to = f.time("to_time", m.to_time);
    let hand = Some(m.hand_number).filter(|hand| *hand > 0);
    Some(SettlementFilter { table, hand, player, kinds, from: from?, to: to? })
}

fn kinds(f: &mut Fields, wanted: &[i32]) -> Vec<SettlementKind> {
    use v1::SettlementKind as Kind;
    let kinds: Vec<Kind> = f.choices("kind", wanted);
    let kind = |kind| match kind {
        Kind::Unspecified => None,
        Kind::Hand => Some(SettlementKind::Hand),
        Kind::Void => Some(SettlementKind::Void),
        Kind::BuyIn => Some(SettlementKind::BuyIn),
        Kind::AddChips => Some(SettlementKind::AddChips),
        Kind::CashOut => Some(SettlementKind::CashOut),
        Kind::Reversal => Some(SettlementKind::Reversal),
    };
    if kinds.is_empty() {
        return SettlementKind::TOLD.to_vec();
    }
    kinds.into_iter().filter_map(kind).collect()
}

fn delivery(f: &mut Fields, m: &v1::ListSettlementsRequest) -> Option<Option<(String, Delivered)>> {
    let state = f.option::<v1::DeliveryState>("delivery", m.delivery)?;
    let wanted = match state {
        v1::DeliveryState::Unspecified if m.consumer.is_empty() => return Some(None),
        v1::DeliveryState::Unspecified => {
            f.fault("delivery", "which of the consumer's records, as consumer is given");
            return None;
        }
        v1::DeliveryState::Acknowledged => Delivered::Acknowledged,
        v1::DeliveryState::Unacknowledged => Delivered::Unacknowledged,
    };
    Some(Some((f.consumer(&m.consumer)?, wanted)))
}

/// The text of a field that need not be there.
pub(super) fn wanted(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
