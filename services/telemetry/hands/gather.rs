//! Gets a hand's commits out of a store: from its end back to its beginning, as far as that is kept.

use std::future::Future;
use std::sync::Arc;

use rules::lost::Lost;
use rules::{Event, Table, TableConfig};
use tables::deriving::record_id;
use tables::{Entry, Settlement, SettlementKind, Store, StoreError, TableKey};

/// So many commits are read at a time.
const PAGE: u64 = 64;
/// A hand of more commits is told from the last so many on.
const MOST: usize = 20_000;

/// What there is of a hand that is over.
pub struct Found {
    /// Its commits.
    pub entries: Vec<Entry>,
    /// The settings that it was played with, if they are known.
    pub config: Option<TableConfig>,
    /// The table's last loss of history before its end.
    pub lost: Option<Lost>,
}

/// What became of a hand that was noted.
pub enum Left {
    /// It is over.
    Over(Box<Found>),
    /// It is not over: the commit that would have ended it did not come through.
    Open,
    /// Nothing is kept of its end.
    Gone,
}

/// The commits of a hand up to this version, oldest first; `read` gives up to so many after a version.
///
/// # Errors
/// What `read` says.
pub async fn commits<E, F, R>(number: u64, until: u64, read: F) -> Result<Vec<Entry>, E>
where
    F: Fn(u64, usize) -> R,
    R: Future<Output = Result<Vec<Entry>, E>>,
{
    let mut found: Vec<Entry> = Vec::new();
    let mut until = until;
    while until > 0 && found.len() < MOST {
        let mut page = read(until.saturating_sub(PAGE), usize::try_from(PAGE).unwrap_or(usize::MAX)).await?;
        page.retain(|entry| entry.version <= until);
        let Some(first) = page.first() else {
            break;
        };
        // Versions are skipped where history was lost.
        until = first.previous.map_or(first.version - 1, |previous| previous.version);
        if let Some((index, begun)) = last_start(&page) {
            // If it is another hand, the beginning of this one is lost.
            page.drain(..if begun == number { index } else { index + 1 });
            until = 0;
        }
        page.append(&mut found);
        found = page;
    }
    Ok(found)
}

/// The last commit with which a hand begins, and which.
fn last_start(page: &[Entry]) -> Option<(usize, u64)> {
    page.iter().enumerate().rev().find_map(|(index, entry)| {
        let starts = |event: &Event| match event {
            Event::HandStarted(start) => Some(start.number),
            _ => None,
        };
        entry.events.iter().find_map(starts).map(|number| (index, number))
    })
}

/// A hand that ended with this version; `after`: the table then.
///
/// # Errors
/// [`StoreError`]
pub async fn ended(
    store: &dyn Store,
    key: &TableKey,
    number: u64,
    version: u64,
    after: &Arc<Table>,
) -> Result<Found, StoreError> {
    let entries = read(store, key, number, version).await?;
    Ok(Found { entries, config: Some(after.config.clone()), lost: after.lost })
}

/// A hand of which only the number is known.
///
/// # Errors
/// [`StoreError`]
pub async fn left(store: &dyn Store, key: &TableKey, number: u64) -> Result<Left, StoreError> {
    let Some(now) = store.load(key).await? else {
        return Ok(Left::Gone);
    };
    let runs = now.table.running_hand().is_some_and(|hand| hand.number == number);
    if runs || number > now.table.hands {
        return Ok(Left::Open);
    }
    let Some((record, lost)) = record(store, key, number, now.table.lost).await? else {
        return Ok(Left::Gone);
    };
    let entries = read(store, key, number, record.version).await?;
    let config = match record.config_version == now.table.config_version {
        true => Some(now.table.config.clone()),
        false => config_then(store, key, &record).await?,
    };
    Ok(Left::Over(Box::new(Found { entries, config, lost })))
}

async fn read(store: &dyn Store, key: &TableKey, number: u64, until: u64) -> Result<Vec<Entry>, StoreError> {
    let page = |after, limit| async move { Ok(store.history(key, after, limit).await?.entries) };
    commits(number, until, page).await
}

/// The record of the hand's end, and the loss of history that it is named after.
async fn record(
    store: &dyn Store,
    key: &TableKey,
    number: u64,
    lost: Option<Lost>,
) -> Result<Option<(Settlement, Option<Lost>)>, StoreError> {
    let before = lost.is_some().then_some(None);
    for lost in std::iter::once(lost).chain(before) {
        for kind in [SettlementKind::Hand, SettlementKind::Void] {
            let id = record_id(key, lost, kind, number);
            if let Some(record) = store.settlement(&key.operator, &id).await? {
                return Ok(Some((record, lost)));
            }
        }
    }
    Ok(None)
}

/// The settings in force at a record that is older than the present ones.
async fn config_then(
    store: &dyn Store,
    key: &TableKey,
    record: &Settlement,
) -> Result<Option<TableConfig>, StoreError> {
    let Some(kept) = store.checkpoint(key, record.version).await? else {
        return Ok(None);
    };
    let (mut config, mut at, mut number) = (kept.config.clone(), kept.version, kept.config_version);
    while number < record.config_version {
        let page = store.history(key, at, usize::try_from(PAGE).unwrap_or(usize::MAX)).await?.entries;
        let Some(last) = page.last() else {
            return Ok(None);
        };
        at = last.version;
        for event in page.iter().flat_map(|entry| entry.events.iter()) {
            if let Event::ConfigChanged { config: changed } = event
                && number < record.config_version
            {
                config = (**changed).clone();
                number += 1;
            }
        }
    }
    Ok((number == record.config_version).then_some(config))
}
