//! Laws of the single commit.

use std::sync::Arc;

use rules::Millis;

use super::fixture::{
    Verdict, a_hand, done, ensure, following, key, opening, picture, record, table_at, text,
};
use crate::store::{Outcome, Store, Token};

pub(super) async fn a_table_is_opened_once(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    ensure!(store.load(&key).await.map_err(text)?.is_none(), "a table is there before it was opened");
    let first = done(&**store, opening(&key, now)?).await?;
    match store.commit(opening(&key, now)?).await.map_err(text)? {
        Outcome::Conflict(Some(current)) => {
            ensure!(
                current.token == first.token,
                "the second opening is shown another table than the first one's"
            );
        }
        other => return Err(format!("the second opening is answered with {other:?}")),
    }
    let loaded = store.load(&key).await.map_err(text)?;
    ensure!(loaded.is_some_and(|s| s.token == first.token), "the second opening changed the table");
    Ok(())
}

pub(super) async fn the_token_decides_and_not_the_version(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let current = table_at(&**store, &key, 3).await?;
    // After a lossy fail-over a writer may know a commit of the same version that is not the one in the store.
    let mut stranger = following(&key, &current, now)?;
    stranger.expected = Some(Token { version: 3, nonce: current.token.nonce ^ 1 });
    let outcome = store.commit(stranger).await.map_err(text)?;
    ensure!(matches!(outcome, Outcome::Severed(_)), "the right version with the wrong nonce: {outcome:?}");
    for (version, what) in
        [(2, "an earlier version that never was"), (4, "a version that is not there any more")]
    {
        let mut stranger = following(&key, &current, now)?;
        stranger.expected = Some(Token { version, nonce: current.token.nonce });
        stranger.token.version = version + 1;
        let outcome = store.commit(stranger).await.map_err(text)?;
        ensure!(matches!(outcome, Outcome::Severed(_)), "{what}: {outcome:?}");
    }
    let second = store.history(&key, 1, 1).await.map_err(text)?.entries.pop().ok_or("no second commit")?;
    let mut late = following(&key, &current, now)?;
    late.expected = Some(second.token);
    late.token.version = 3;
    let outcome = store.commit(late).await.map_err(text)?;
    ensure!(matches!(outcome, Outcome::Conflict(Some(_))), "a commit that came first: {outcome:?}");
    let mut unknown = following(&key, &current, now)?;
    unknown.key.table = crate::TableId(uuid::Uuid::from_u128(99));
    let outcome = store.commit(unknown).await.map_err(text)?;
    ensure!(matches!(outcome, Outcome::Conflict(None)), "a step of a table that is not there: {outcome:?}");
    done(&**store, following(&key, &current, now)?).await?;
    Ok(())
}

pub(super) async fn a_conflict_shows_the_present_and_changes_nothing(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let past = table_at(&**store, &key, 4).await?;
    let mut next = following(&key, &past, now)?;
    next.due = Some(Millis(5_000));
    let present = done(&**store, next).await?;
    let before = picture(&**store, &key).await?;
    let mut late = following(&key, &past, now)?;
    late.due = Some(Millis(1));
    late.request = Some(record(7, 1, b"late", now));
    let late_settlement = late.settlements.first().map(|s| s.id).ok_or("a buy-in makes a settlement")?;
    // The same obligation as the commit that was first has the same id: told apart, so that it can be looked for.
    late.settlements[0].id = uuid::Uuid::from_u128(late_settlement.as_u128() ^ 1);
    let id = late.settlements[0].id;
    match store.commit(late).await.map_err(text)? {
        Outcome::Conflict(Some(current)) => {
            ensure!(current.token == present.token, "the conflict shows {:?}", current.token);
            ensure!(current.table == present.table, "the conflict shows another state");
        }
        other => return Err(format!("a late commit is answered with {other:?}")),
    }
    let after = picture(&**store, &key).await?;
    ensure!(before == after, "a conflict left something: {before:?} became {after:?}");
    let request = store.request(&key, &record(7, 1, b"", now).id).await.map_err(text)?;
    ensure!(request.is_none(), "a conflict left its request record");
    let settlement = store.settlement(&key.operator, &id).await.map_err(text)?;
    ensure!(settlement.is_none(), "a conflict left its settlement");
    Ok(())
}

pub(super) async fn a_commit_is_there_as_a_whole(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let before = table_at(&**store, &key, 5).await?;
    let mut commit = following(&key, &before, now)?;
    commit.due = Some(Millis(123_456));
    commit.request = Some(record(1, 1, b"answer", now));
    let wanted = commit.clone();
    done(&**store, commit).await?;
    let stored = store.load(&key).await.map_err(text)?.ok_or("the table is gone")?;
    ensure!(stored.token == wanted.token && stored.table == wanted.table, "the state is not the commit's");
    let entries = store.history(&key, 5, 10).await.map_err(text)?.entries;
    let [entry] = entries.as_slice() else {
        return Err(format!("{} entries after version 5", entries.len()));
    };
    ensure!(entry.version == 6 && entry.token == wanted.token, "the entry is {:?}", entry.token);
    ensure!(entry.previous == wanted.expected, "the entry follows {:?}", entry.previous);
    ensure!(*entry.events == *wanted.events, "the entry has other events");
    let due = store.due(Millis(123_456), 10).await.map_err(text)?;
    ensure!(due == [(key.clone(), Millis(123_456))], "the calendar says {due:?}");
    let id = record(1, 1, b"", now).id;
    let request = store.request(&key, &id).await.map_err(text)?;
    ensure!(request == wanted.request, "the request record is {request:?}");
    let settlement = &wanted.settlements[0];
    let by_id = store.settlement(&key.operator, &settlement.id).await.map_err(text)?;
    ensure!(by_id.as_ref() == Some(settlement), "the settlement by its id is {by_id:?}");
    let listed =
        store.settlements(&key.operator, &Default::default(), None, 100).await.map_err(text)?.records;
    ensure!(listed.last().map(|(_, s)| s) == Some(settlement), "the settlement is not the last of the list");
    Ok(())
}

/// States with a running hand in them, too: every version of a hand, from the deal to the void.
pub(super) async fn what_is_read_is_what_was_written(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let opened = done(&**store, opening(&key, now)?).await?;
    for commit in a_hand(&key, &opened, now)? {
        let (token, table, events) = (commit.token, Arc::clone(&commit.table), commit.events.clone());
        done(&**store, commit).await?;
        let loaded = store.load(&key).await.map_err(text)?.ok_or("the table is gone")?;
        ensure!(loaded.token == token, "version {}: another token", token.version);
        ensure!(*loaded.table == *table, "version {}: another state", token.version);
        let entry = store.history(&key, token.version - 1, 1).await.map_err(text)?.entries.pop();
        ensure!(entry.is_some_and(|e| *e.events == *events), "version {}: other events", token.version);
    }
    Ok(())
}
