//! Laws of time: what is due, and what may not come early.

use std::sync::Arc;

use rules::Millis;

use super::fixture::{Verdict, done, ensure, following, key, opening, picture, record, table_at, text};
use crate::store::{Outcome, Store};

pub(super) async fn the_earliest_is_due_first(store: &Arc<dyn Store>) -> Verdict {
    let now = store.now().await.map_err(text)?;
    let empty = store.due(Millis(u64::MAX), 10).await.map_err(text)?;
    let next = store.next_due().await.map_err(text)?;
    ensure!(empty.is_empty() && next.is_none(), "something is due in an empty store: {empty:?}, {next:?}");
    let times = [500_u64, 100, 1 << 40, 300, 0, 200, 65_536, 255, 256];
    for (number, at) in (1..).zip(times) {
        let mut commit = opening(&key(1 + u8::try_from(number % 3).unwrap_or(0), number)?, now)?;
        commit.due = Some(Millis(at));
        done(&**store, commit).await?;
    }
    done(&**store, opening(&key(1, 99)?, now)?).await?;
    let all = store.due(Millis(u64::MAX), 100).await.map_err(text)?;
    let mut sorted = times;
    sorted.sort_unstable();
    let found: Vec<u64> = all.iter().map(|(_, at)| at.0).collect();
    ensure!(found == sorted, "the order is {found:?}");
    let until = store.due(Millis(256), 100).await.map_err(text)?;
    ensure!(until == all[..5], "until 256: {until:?}");
    let first = store.due(Millis(256), 2).await.map_err(text)?;
    ensure!(first == all[..2], "the first two: {first:?}");
    let next = store.next_due().await.map_err(text)?;
    ensure!(next == Some(Millis(0)), "the next is {next:?}");
    Ok(())
}

pub(super) async fn a_commit_replaces_its_tables_due_time(store: &Arc<dyn Store>) -> Verdict {
    let (one, other) = (key(1, 1)?, key(1, 2)?);
    let now = store.now().await.map_err(text)?;
    let mut commit = opening(&one, now)?;
    commit.due = Some(Millis(100));
    let mut stored = done(&**store, commit).await?;
    let mut commit = opening(&other, now)?;
    commit.due = Some(Millis(100));
    done(&**store, commit).await?;
    let all = store.due(Millis(u64::MAX), 10).await.map_err(text)?;
    ensure!(all.len() == 2, "two tables are due at the same time: {all:?}");
    for (due, next) in [(Some(300), 100), (Some(50), 50), (Some(50), 50), (None, 100)] {
        let mut commit = following(&one, &stored, now)?;
        commit.due = due.map(Millis);
        stored = done(&**store, commit).await?;
        let found: Vec<u64> = (store.due(Millis(u64::MAX), 10).await.map_err(text)?.into_iter())
            .filter_map(|(key, at)| (key == one).then_some(at.0))
            .collect();
        ensure!(found == due.into_iter().collect::<Vec<_>>(), "due at {due:?}, the calendar says {found:?}");
        let first = store.next_due().await.map_err(text)?;
        ensure!(first == Some(Millis(next)), "due at {due:?}, the next of all is {first:?}");
    }
    Ok(())
}

pub(super) async fn nothing_is_committed_before_its_time(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let stored = done(&**store, opening(&key, now)?).await?;
    let before = picture(&**store, &key).await?;
    let mut early = following(&key, &stored, now)?;
    early.not_before = Some(now + Millis::minutes(60));
    early.request = Some(record(1, 1, b"", now));
    early.due = Some(Millis(1));
    match store.commit(early).await.map_err(text)? {
        Outcome::TooEarly { now: told } => {
            ensure!(told >= now && told < now + Millis::minutes(60), "the store's time is {told:?}");
        }
        other => return Err(format!("an hour early: {other:?}")),
    }
    ensure!(picture(&**store, &key).await? == before, "what came too early left something");
    let request = store.request(&key, &record(1, 1, b"", now).id).await.map_err(text)?;
    ensure!(request.is_none(), "what came too early left its request record");
    let mut in_time = following(&key, &stored, now)?;
    in_time.not_before = Some(now);
    done(&**store, in_time).await?;
    Ok(())
}

pub(super) async fn nothing_is_stamped_with_a_time_to_come(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let opened = table_at(&**store, &key, 2).await?;
    let mut commit = following(&key, &opened, now)?;
    commit.stamped = now + Millis::minutes(1);
    let outcome = store.commit(commit.clone()).await.map_err(text)?;
    let Outcome::Ahead { now: told } = outcome else {
        return Err(format!("a step of in a minute is answered with {outcome:?}"));
    };
    ensure!(told >= now && told < now + Millis::seconds(50), "the store's time is told as {told:?}");
    let there = store.load(&key).await.map_err(text)?.map(|stored| stored.token);
    ensure!(there == Some(opened.token), "it was done all the same: {there:?}");
    // Two clocks are never quite alike.
    commit.stamped = store.now().await.map_err(text)? + Millis(100);
    done(&**store, commit).await?;
    Ok(())
}

pub(super) async fn time_goes_forward(store: &Arc<dyn Store>) -> Verdict {
    let key = key(1, 1)?;
    let mut last = store.now().await.map_err(text)?;
    let mut commit = opening(&key, last)?;
    for _ in 0..50 {
        let told = match store.commit(commit.clone()).await.map_err(text)? {
            Outcome::Committed { now } => now,
            other => return Err(format!("{other:?}")),
        };
        let now = store.now().await.map_err(text)?;
        ensure!(last <= told && told <= now, "{last:?}, then {told:?}, then {now:?}");
        last = now;
        let stored = store.load(&key).await.map_err(text)?.ok_or("the table is gone")?;
        commit = following(&key, &stored, now)?;
    }
    Ok(())
}

pub(super) async fn a_new_store_has_not_been_away(store: &Arc<dyn Store>) -> Verdict {
    store.check().await.map_err(text)?;
    let now = store.now().await.map_err(text)?;
    store.heartbeat(now).await.map_err(text)?;
    let outages = store.outages().await.map_err(text)?;
    ensure!(outages.is_empty(), "a new store tells of outages: {outages:?}");
    Ok(())
}
