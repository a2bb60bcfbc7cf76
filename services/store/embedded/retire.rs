//! Old settlements are removed, with everything that leads to them.

use redb::ReadableTable;
use rules::Millis;
use tables::{Backlog, OperatorId, Settlement, SettlementPosition};

use super::batch::Batch;
use super::fault::Fault;
use super::players;
use super::read::Reader;
use super::schema::{
    HAND_SETTLEMENTS, PLAYER_SETTLEMENTS, RETIRED, SETTLEMENT_IDS, SETTLEMENTS, TABLE_SETTLEMENTS,
};

/// Removes up to `limit` records of what happened before then, and says how many.
pub(super) fn retire(
    batch: &Batch<'_>,
    operator: &OperatorId,
    before: Millis,
    limit: usize,
) -> Result<usize, Fault> {
    let name = operator.as_str();
    let mut settlements = batch.transaction.open_table(SETTLEMENTS)?;
    let mut old: Vec<(u64, Settlement)> = Vec::new();
    for record in settlements.range((name, 0)..=(name, u64::MAX))?.take(limit) {
        let (key, bytes) = record?;
        let settlement = batch.reader.codec.read_settlement(operator, bytes.value())?;
        if settlement.at >= before {
            break;
        }
        old.push((key.value().1, settlement));
    }
    let Some((last, _)) = old.last() else {
        return Ok(0);
    };
    let mut retired = batch.transaction.open_table(RETIRED)?;
    let earlier = retired.get(name)?.map_or(0, |retired| retired.value().1);
    let until = old.iter().map(|(_, settlement)| settlement.at.0).fold(earlier, u64::max);
    retired.insert(name, (*last, until))?;
    let mut ids = batch.transaction.open_table(SETTLEMENT_IDS)?;
    let mut by_table = batch.transaction.open_table(TABLE_SETTLEMENTS)?;
    let mut by_hand = batch.transaction.open_table(HAND_SETTLEMENTS)?;
    let mut by_player = batch.transaction.open_table(PLAYER_SETTLEMENTS)?;
    for (position, settlement) in &old {
        let (id, table) = (settlement.id.as_u128(), settlement.key.table.0.as_u128());
        settlements.remove((name, *position))?;
        let same = ids.get((name, id))?.is_some_and(|place| place.value() == *position);
        if same {
            ids.remove((name, id))?;
        }
        by_table.remove((name, table, *position))?;
        if let Some(hand) = settlement.hand() {
            by_hand.remove((name, table, hand, *position))?;
        }
        for player in players(&settlement.body) {
            by_player.remove((name, player.as_str(), *position))?;
        }
    }
    Ok(old.len())
}

impl Reader {
    pub(super) fn retired_until(&self, operator: &OperatorId) -> Result<Option<SettlementPosition>, Fault> {
        let retired = self.begin()?.open_table(RETIRED)?;
        let found = retired.get(operator.as_str())?;
        Ok(found.map(|found| SettlementPosition(found.value().0)))
    }

    /// Positions have no gaps, so that the first and the last one tell how many there are.
    pub(super) fn backlog(
        &self,
        operator: &OperatorId,
        after: Option<SettlementPosition>,
    ) -> Result<Backlog, Fault> {
        let name = operator.as_str();
        let Some(from) = after.map_or(Some(0), |after| after.0.checked_add(1)) else {
            return Ok(Backlog::default());
        };
        let settlements = self.begin()?.open_table(SETTLEMENTS)?;
        let mut rest = settlements.range((name, from)..=(name, u64::MAX))?;
        let Some(first) = rest.next().transpose()? else {
            return Ok(Backlog::default());
        };
        let (key, record) = first;
        let first = key.value().1;
        let last = rest.next_back().transpose()?.map_or(first, |(key, _)| key.value().1);
        let oldest = self.codec.read_settlement(operator, record.value())?.at;
        Ok(Backlog { depth: last - first + 1, oldest: Some(oldest) })
    }
}
