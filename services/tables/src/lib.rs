//! The service around the rules: `request → command → decide → commit → evolve → publish`.
//!
//! What is absent, on purpose: no transport, no generated code, no database. A store is a trait; time comes from
//! [`time`] and from the store, cards and randomness from [`dealer`], and from nowhere else.

pub mod ids;
pub mod settlement;
pub mod store;

pub use ids::{OperatorId, RequestId, TableId, TableKey};
pub use settlement::{
    Settlement, SettlementBody, SettlementFilter, SettlementKind, SettlementPosition,
};
pub use store::{
    Commit, Entry, History, Outage, Outcome, RequestRecord, Store, StoreError, Stored, Token,
};
