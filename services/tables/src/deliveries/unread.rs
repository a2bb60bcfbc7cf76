//! What a consumer has still before it. Records of payments lie among the others, and no stream brings them: who has
//! acknowledged everything that he was told is not behind.

use crate::books::Backlog;
use crate::ids::OperatorId;
use crate::settlement::{SettlementFilter, SettlementKind, SettlementPosition};
use crate::store::{Store, StoreError};

/// So many records are counted by themselves; of more, those of payments are counted too.
const COUNTED: usize = 64;

/// What lies behind this position, as far as streams bring it.
///
/// # Errors
/// [`StoreError`]
pub async fn unread(
    store: &dyn Store,
    operator: &OperatorId,
    after: Option<SettlementPosition>,
) -> Result<Backlog, StoreError> {
    let all = store.books().backlog(operator, after).await?;
    if all.depth == 0 {
        return Ok(all);
    }
    let filter = SettlementFilter { kinds: SettlementKind::TOLD.to_vec(), ..SettlementFilter::default() };
    let page = store.settlements(operator, &filter, after, COUNTED).await?;
    let oldest = page.records.first().map(|(_, record)| record.at);
    let whole = page.next.is_none() && page.records.len() < COUNTED;
    match oldest {
        _ if whole => Ok(Backlog { depth: page.records.len() as u64, oldest }),
        Some(_) => Ok(Backlog { oldest, ..all }),
        // So many of payments that the store has not come to the end of them.
        None => Ok(all),
    }
}
