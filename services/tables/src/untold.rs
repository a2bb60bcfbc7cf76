//! Hands that are over and of which a trace is still to be told: noted with the commit that ends them, so that a server
//! that is killed a moment later leaves word to the others.

use async_trait::async_trait;
use rules::Millis;

use crate::ids::{OperatorId, TableId};
use crate::store::StoreError;

/// So many are noted of an operator at most, unless a store is told otherwise: beyond that those that were noted, or taken,
/// longest ago are dropped.
pub const MOST: usize = 100_000;

/// A hand of a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TableHand {
    /// The table.
    pub table: TableId,
    /// The hand's number there.
    pub number: u64,
}

/// The part of a store that keeps them; [`crate::Commit::untold`] puts them there. Such a note may be there although its
/// hand is not over: then its commit did not come through.
#[async_trait]
pub trait Untold: Send + Sync {
    /// Up to `limit` hands of the operator that were noted, or taken, at least `age` ms ago: they count as taken now, so
    /// that nobody else takes them for as long.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn take(
        &self,
        operator: &OperatorId,
        age: Millis,
        limit: usize,
    ) -> Result<Vec<TableHand>, StoreError>;

    /// These have been told.
    ///
    /// # Errors
    /// [`StoreError`]: some may have been forgotten all the same.
    async fn forget(&self, operator: &OperatorId, hands: &[TableHand]) -> Result<(), StoreError>;
}
