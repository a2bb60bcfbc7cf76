//! Laws of retention: what is old goes, the oldest first, and nothing else does.

use std::sync::Arc;
use std::time::Duration;

use rules::{Millis, PlayerId};
use tokio::time::sleep;

use super::fixture::{Verdict, done, ensure, following, key, operator, table_at, text};
use crate::settlement::{Settlement, SettlementFilter, SettlementPosition};
use crate::store::Store;

/// Longer than a store's clock is uncertain.
const A_WHILE: Duration = Duration::from_millis(30);

type Records = Vec<(SettlementPosition, Settlement)>;

async fn list(store: &dyn Store, filter: &SettlementFilter) -> Result<Records, String> {
    Ok(store.settlements(&operator(1)?, filter, None, 1000).await.map_err(text)?.records)
}

pub(super) async fn old_settlements_go_and_the_rest_stays(store: &Arc<dyn Store>) -> Verdict {
    let (books, me, other) = (store.books(), operator(1)?, key(2, 1)?);
    let before = books.retired_until(&me).await.map_err(text)?;
    ensure!(before.is_none(), "in an empty store records are gone up to {before:?}");
    let mut tables = Vec::new();
    for table in 1..=4 {
        let key = key(1, table)?;
        tables.push((table_at(&**store, &key, 3).await?, key));
    }
    table_at(&**store, &other, 4).await?;
    sleep(A_WHILE).await;
    let cut = store.now().await.map_err(text)?;
    sleep(A_WHILE).await;
    for (stored, key) in &tables {
        let now = store.now().await.map_err(text)?;
        done(&**store, following(key, stored, now)?).await?;
    }
    let all = list(&**store, &SettlementFilter::default()).await?;
    let old = all.iter().filter(|(_, settlement)| settlement.at < cut).count();
    ensure!((all.len(), old) == (12, 8), "{} records, {old} of them old", all.len());
    for (limit, gone) in [(3, 3), (100, 8), (100, 8)] {
        let left = gone_by(&**store, &all, cut, limit, gone).await?;
        ensure!(left == 0, "{left} records too many or too few are gone");
    }
    let untouched = store.settlements(&other.operator, &SettlementFilter::default(), None, 100).await;
    ensure!(untouched.map_err(text)?.records.len() == 3, "another operator's records went too");
    Ok(())
}

/// Retires, and looks that the first `gone` of all records are not there any more, by no way, and the others are.
async fn gone_by(
    store: &dyn Store,
    all: &Records,
    cut: Millis,
    limit: usize,
    gone: usize,
) -> Result<usize, String> {
    let (books, me) = (store.books(), operator(1)?);
    let before = all.len() - list(store, &SettlementFilter::default()).await?.len();
    let retired = books.retire(&me, cut, limit).await.map_err(text)?;
    let (lost, kept) = all.split_at(gone);
    ensure!(
        list(store, &SettlementFilter::default()).await? == kept,
        "not the first {gone} records are gone"
    );
    let until = books.retired_until(&me).await.map_err(text)?;
    ensure!(
        until == lost.last().map(|(position, _)| *position),
        "records are said to be gone up to {until:?}"
    );
    let backlog = books.backlog(&me, None).await.map_err(text)?;
    ensure!(backlog.depth == kept.len() as u64, "of {} records {backlog:?} is left", kept.len());
    for (_, settlement) in lost {
        let found = store.settlement(&me, &settlement.id).await.map_err(text)?;
        ensure!(found.is_none(), "a record that is gone is found by its id");
    }
    for (_, settlement) in kept {
        let found = store.settlement(&me, &settlement.id).await.map_err(text)?;
        ensure!(found.as_ref() == Some(settlement), "a record that is kept is not found by its id");
    }
    for filter in [
        SettlementFilter { table: Some(key(1, 1)?.table), ..SettlementFilter::default() },
        SettlementFilter { player: PlayerId::new("player"), ..SettlementFilter::default() },
    ] {
        let wanted: Records = kept.iter().filter(|(_, s)| filter.matches(s)).cloned().collect();
        ensure!(list(store, &filter).await? == wanted, "{filter:?} finds others than those that are kept");
    }
    Ok(retired.abs_diff(gone - before))
}

pub(super) async fn positions_go_on_after_all_records_went(store: &Arc<dyn Store>) -> Verdict {
    let (books, me, key) = (store.books(), operator(1)?, key(1, 1)?);
    let mut stored = table_at(&**store, &key, 5).await?;
    let mut last = None;
    for _ in 0..3 {
        let now = store.now().await.map_err(text)?;
        stored = done(&**store, following(&key, &stored, now)?).await?;
        let listed = list(&**store, &SettlementFilter::default()).await?;
        let newest = listed.last().map(|(position, _)| *position);
        ensure!(newest > last, "a record comes at {newest:?}, after all up to {last:?} went");
        last = newest;
        let retired = books.retire(&me, now + Millis::minutes(60), 1000).await.map_err(text)?;
        ensure!(retired == listed.len(), "{retired} of {} records went", listed.len());
        let until = books.retired_until(&me).await.map_err(text)?;
        ensure!(until == last, "the last one was {last:?}, and they are gone up to {until:?}");
        let left = list(&**store, &SettlementFilter::default()).await?;
        ensure!(left.is_empty(), "{} records are left", left.len());
    }
    Ok(())
}
