//! The hands of which is still to be told, by operator.

use std::collections::BTreeMap;

use async_trait::async_trait;
use rules::Millis;

use super::{MemoryStore, State};
use crate::ids::OperatorId;
use crate::store::StoreError;
use crate::untold::{MOST, TableHand, Untold};

/// When each was noted, or taken last.
pub(super) type Notes = BTreeMap<TableHand, Millis>;

impl State {
    pub(super) fn note(&mut self, operator: &OperatorId, hand: TableHand, now: Millis) {
        let notes = self.untold.entry(operator.clone()).or_default();
        notes.insert(hand, now);
        if notes.len() > MOST
            && let Some(oldest) = notes.iter().min_by_key(|(_, at)| **at).map(|(hand, _)| *hand)
        {
            notes.remove(&oldest);
        }
    }
}

#[async_trait]
impl Untold for MemoryStore {
    async fn take(
        &self,
        operator: &OperatorId,
        age: Millis,
        limit: usize,
    ) -> Result<Vec<TableHand>, StoreError> {
        let now = self.clock.now();
        let mut state = self.state()?;
        let notes = state.untold.entry(operator.clone()).or_default();
        let old = notes.iter_mut().filter(|(_, at)| **at + age <= now).take(limit);
        Ok(old
            .map(|(hand, at)| {
                *at = now;
                *hand
            })
            .collect())
    }

    async fn forget(&self, operator: &OperatorId, hands: &[TableHand]) -> Result<(), StoreError> {
        if let Some(notes) = self.state()?.untold.get_mut(operator) {
            notes.retain(|hand, _| !hands.contains(hand));
        }
        Ok(())
    }
}
