//! The hands of which is still to be told, by operator.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use rules::Millis;

use super::{MemoryStore, State};
use crate::ids::OperatorId;
use crate::store::StoreError;
use crate::untold::{TableHand, Untold};

/// An operator's.
#[derive(Default)]
pub(super) struct Notes {
    /// When each was noted, or taken last.
    times: BTreeMap<TableHand, Millis>,
    /// The same, by age.
    ages: BTreeSet<(Millis, TableHand)>,
}

impl Notes {
    fn put(&mut self, hand: TableHand, now: Millis) {
        if let Some(before) = self.times.insert(hand, now) {
            self.ages.remove(&(before, hand));
        }
        self.ages.insert((now, hand));
    }

    fn remove(&mut self, hand: TableHand) {
        if let Some(at) = self.times.remove(&hand) {
            self.ages.remove(&(at, hand));
        }
    }

    fn bound(&mut self, most: usize) {
        while self.times.len() > most
            && let Some((_, oldest)) = self.ages.pop_first()
        {
            self.times.remove(&oldest);
        }
    }
}

impl State {
    pub(super) fn note(&mut self, operator: &OperatorId, hand: TableHand, now: Millis, most: usize) {
        let notes = self.untold.entry(operator.clone()).or_default();
        notes.put(hand, now);
        notes.bound(most);
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
        let old = notes.ages.iter().take_while(|(at, _)| *at + age <= now).take(limit);
        let taken: Vec<TableHand> = old.map(|(_, hand)| *hand).collect();
        for hand in &taken {
            notes.put(*hand, now);
        }
        Ok(taken)
    }

    async fn forget(&self, operator: &OperatorId, hands: &[TableHand]) -> Result<(), StoreError> {
        if let Some(notes) = self.state()?.untold.get_mut(operator) {
            hands.iter().for_each(|hand| notes.remove(*hand));
        }
        Ok(())
    }
}
