//! Laws of the history of a table.

use std::sync::Arc;

use rules::Table;

use super::fixture::{Verdict, ensure, key, table_at, text};
use crate::store::{Entry, Store};

pub(super) async fn history_is_contiguous_and_in_order(store: &Arc<dyn Store>) -> Verdict {
    let (one, other) = (key(1, 1)?, key(1, 2)?);
    let nothing = store.history(&one, 0, 10).await.map_err(text)?;
    ensure!(nothing.entries.is_empty() && nothing.oldest == 0, "an unknown table has a history: {nothing:?}");
    let last = table_at(&**store, &one, 40).await?;
    table_at(&**store, &other, 3).await?;
    for (after, limit, expected) in
        [(0, 100, 1..=40), (0, 7, 1..=7), (10, 5, 11..=15), (38, 5, 39..=40), (39, 1, 40..=40)]
    {
        let history = store.history(&one, after, limit).await.map_err(text)?;
        let versions: Vec<u64> = history.entries.iter().map(|entry| entry.version).collect();
        ensure!(versions == expected.collect::<Vec<_>>(), "after {after}, limit {limit}: {versions:?}");
        ensure!(history.oldest == 1, "the oldest kept is {}", history.oldest);
        let own = history.entries.iter().all(|entry| entry.version == entry.token.version);
        ensure!(own, "a token names another version than its entry");
    }
    for after in [40, 41, 1_000_000] {
        let history = store.history(&one, after, 10).await.map_err(text)?;
        ensure!(history.entries.is_empty() && history.oldest == 1, "after {after}: {history:?}");
    }
    let all = store.history(&one, 0, 100).await.map_err(text)?.entries;
    let folded = fold(None, &all)?;
    ensure!(folded == *last.table, "folding the history does not give the state");
    Ok(())
}

pub(super) async fn old_history_goes_and_the_rest_stays_whole(store: &Arc<dyn Store>) -> Verdict {
    const COMMITS: u64 = 600;
    let key = key(1, 1)?;
    let last = table_at(&**store, &key, COMMITS).await?;
    let history = store.history(&key, 0, usize::MAX >> 1).await.map_err(text)?;
    ensure!(history.oldest > 1, "nothing goes: the oldest of {COMMITS} is {}", history.oldest);
    ensure!(history.oldest <= COMMITS + 1 - super::FEW as u64, "too much is gone: {}", history.oldest);
    let versions: Vec<u64> = history.entries.iter().map(|entry| entry.version).collect();
    ensure!(versions == (history.oldest..=COMMITS).collect::<Vec<_>>(), "what is kept: {versions:?}");
    let newest = history.entries.last().map(|entry| entry.token);
    ensure!(newest == Some(last.token), "the latest entry is {newest:?}");
    let page = store.history(&key, 0, 3).await.map_err(text)?.entries;
    ensure!(
        page.first().map(|e| e.version) == Some(history.oldest),
        "a page does not begin at the oldest entry"
    );
    Ok(())
}

pub(super) async fn a_checkpoint_is_a_state_that_was(store: &Arc<dyn Store>) -> Verdict {
    const COMMITS: u64 = 300;
    let key = key(1, 1)?;
    let unknown = store.checkpoint(&key, 5).await.map_err(text)?;
    ensure!(unknown.is_none(), "an unknown table has a checkpoint");
    let last = table_at(&**store, &key, COMMITS).await?;
    let history = store.history(&key, 0, 1000).await.map_err(text)?;
    for version in history.oldest..=COMMITS {
        let Some(kept) = store.checkpoint(&key, version).await.map_err(text)? else {
            continue;
        };
        ensure!(kept.version <= version, "asked for {version}, the checkpoint is of {}", kept.version);
        if kept.version + 1 >= history.oldest {
            let rest: Vec<Entry> =
                history.entries.iter().filter(|e| e.version > kept.version).cloned().collect();
            let folded = fold(Some(&kept), &rest)?;
            ensure!(
                folded == *last.table,
                "folding from the checkpoint {} does not give the state",
                kept.version
            );
        }
    }
    Ok(())
}

/// The state that these entries make out of another one, or out of nothing.
fn fold(from: Option<&Table>, entries: &[Entry]) -> Result<Table, String> {
    let (mut table, rest) = match (from, entries.split_first()) {
        (Some(table), _) => (table.clone(), entries),
        (None, Some((first, rest))) => {
            let opened = first.events.first().and_then(Table::from_opening);
            (opened.ok_or("a history does not begin with an opening")?, rest)
        }
        (None, None) => return Err("nothing to fold".to_owned()),
    };
    for entry in rest {
        table.apply(&entry.events);
    }
    Ok(table)
}
