//! Laws of many callers at once.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinSet;

use super::fixture::{Verdict, done, ensure, following, key, opening, table_at, text};
use crate::ids::TableKey;
use crate::store::{Outcome, Store};

const WRITERS: u64 = 32;
const COMMITS_EACH: u64 = 4;

pub(super) async fn racing_writers_make_one_history(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    done(&**store, opening(&key, now)?).await?;
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let (store, key) = (Arc::clone(store), key.clone());
        writers.spawn(async move { write(store, key).await });
    }
    let mut done = HashSet::new();
    while let Some(written) = writers.join_next().await {
        done.extend(written.map_err(text)??);
    }
    let last = 1 + WRITERS * COMMITS_EACH;
    let stored = store.load(&key).await.map_err(text)?.ok_or("the table is gone")?;
    ensure!(stored.token.version == last, "{last} commits, version {}", stored.token.version);
    let entries = store.history(&key, 1, 1000).await.map_err(text)?.entries;
    let versions: Vec<u64> = entries.iter().map(|entry| entry.version).collect();
    ensure!(versions == (2..=last).collect::<Vec<_>>(), "versions {versions:?}");
    let kept: HashSet<_> = entries.iter().map(|entry| entry.token).collect();
    ensure!(kept == done, "the history is not what the writers were told");
    let records =
        store.settlements(&key.operator, &Default::default(), None, 1000).await.map_err(text)?.records;
    ensure!(records.len() as u64 == last - 1, "{} settlements of {} commits", records.len(), last - 1);
    Ok(())
}

async fn write(store: Arc<dyn Store>, key: TableKey) -> Result<Vec<crate::Token>, String> {
    let mut done = Vec::new();
    let mut current = store.load(&key).await.map_err(text)?.ok_or("the table is gone")?;
    while (done.len() as u64) < COMMITS_EACH {
        let now = store.now().await.map_err(text)?;
        let commit = following(&key, &current, now)?;
        let (token, table) = (commit.token, Arc::clone(&commit.table));
        // Let the others at the state that this commit rests on.
        tokio::task::yield_now().await;
        match store.commit(commit).await.map_err(text)? {
            Outcome::Committed { .. } => {
                done.push(token);
                current = crate::Stored { token, table };
            }
            Outcome::Conflict(Some(other)) => current = other,
            other => return Err(format!("{other:?}")),
        }
    }
    Ok(done)
}

pub(super) async fn readers_see_whole_commits(store: &Arc<dyn Store>) -> Verdict {
    let key = key(1, 1)?;
    let mut stored = table_at(&**store, &key, 2).await?;
    let over = Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    for _ in 0..4 {
        let (store, key, over) = (Arc::clone(store), key.clone(), Arc::clone(&over));
        readers.spawn(async move {
            while !over.load(Ordering::Acquire) {
                look(&*store, &key).await?;
                tokio::task::yield_now().await;
            }
            Ok::<(), String>(())
        });
    }
    for _ in 0..100 {
        let now = store.now().await.map_err(text)?;
        stored = done(&**store, following(&key, &stored, now)?).await?;
        tokio::task::yield_now().await;
    }
    over.store(true, Ordering::Release);
    while let Some(seen) = readers.join_next().await {
        seen.map_err(text)??;
    }
    Ok(())
}

/// Whoever sees a state sees everything that was committed with it.
async fn look(store: &dyn Store, key: &TableKey) -> Verdict {
    let stored = store.load(key).await.map_err(text)?.ok_or("the table is gone")?;
    let version = stored.token.version;
    ensure!(
        stored.table.version == version,
        "the token is of {version}, the state of {}",
        stored.table.version
    );
    let entry = store.history(key, version - 1, 1).await.map_err(text)?.entries.pop();
    ensure!(
        entry.is_some_and(|e| e.token == stored.token),
        "version {version} is seen before its history entry"
    );
    let records =
        store.settlements(&key.operator, &Default::default(), None, 1000).await.map_err(text)?.records;
    let seen = records.iter().any(|(_, s)| s.version == version);
    ensure!(seen, "version {version} is seen before its settlement");
    Ok(())
}
