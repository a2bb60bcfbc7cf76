//! The service around the rules: `request → command → decide → commit → evolve → publish`.
//!
//! What is absent, on purpose: no transport, no generated code, no database. A store is a trait; time comes from
//! [`time`] and from the store, cards and randomness from [`dealer`], and from nowhere else.

mod announcing;
pub mod books;
pub mod clocks;
mod committing;
pub mod courier;
pub mod dealer;
pub mod deliveries;
pub mod deriving;
mod drawing;
pub mod feed;
mod hearing;
pub mod ids;
pub mod janitor;
pub mod laws;
mod loss;
pub mod memory;
pub mod play;
mod queues;
mod recent;
pub mod resume;
pub mod settlement;
pub mod signals;
pub mod statement;
pub mod stops;
pub mod store;
pub mod time;
pub mod transactions;
pub mod trial;
mod unreadable;
pub mod untold;
pub mod wallet;
pub mod watcher;

pub use books::{Account, AccountName, AccountStep, Backlog, Books, Cursor, Tally};
pub use courier::{Courier, CourierSettings};
pub use dealer::{Dealer, OsDealer};
pub use deliveries::{Deliveries, Delivery, DeliveryOrder, Parcel, Undelivered};
pub use feed::{Feed, FeedLimits};
pub use ids::{OperatorId, RequestId, TableId, TableKey};
pub use memory::MemoryStore;
pub use play::{Answer, Answered, PlayError, Request, Settings, Tables};
pub use resume::{Reached, ResumeKey};
pub use settlement::{
    Settlement, SettlementBody, SettlementFilter, SettlementKind, SettlementPage, SettlementPosition,
    Statement,
};
pub use signals::{Origin, Signals};
pub use stops::Stops;
pub use store::{
    Commit, Ear, Entry, Following, Heard, History, Listed, Outage, Outcome, RecordFormats, RequestRecord,
    Store, StoreError, Stored, Token,
};
pub use time::{Clock, ManualClock, SystemClock};
pub use unreadable::unreadable;
pub use untold::{TableHand, Untold};
pub use watcher::{Message, Watcher};

#[cfg(test)]
pub(crate) fn test_key(number: u64) -> TableKey {
    let operator = OperatorId::new("casino").expect("a legal name");
    TableKey { operator, table: TableId(uuid::Uuid::from_u128(number.into())) }
}
