//! Laws of request records: a request that was done is done once, whatever its caller does.

use std::sync::Arc;

use rules::Millis;

use super::fixture::{Verdict, done, ensure, following, key, opening, picture, record, table_at, text};
use crate::store::{Outcome, RequestRecord, Store};
use crate::time::{Clock, ManualClock};

pub(super) async fn a_repetition_gets_the_first_answer(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let before = table_at(&**store, &key, 2).await?;
    let mut commit = following(&key, &before, now)?;
    commit.request = Some(record(1, 1, b"the first answer", now));
    let after = done(&**store, commit).await?;
    let picture_before = picture(&**store, &key).await?;
    let mut again = following(&key, &after, now)?;
    again.request = Some(record(1, 1, b"another answer", now));
    match store.commit(again).await.map_err(text)? {
        Outcome::Repeated { answer, declined } => {
            ensure!(answer == b"the first answer" && !declined, "the answer is another one");
        }
        other => return Err(format!("a repetition is answered with {other:?}")),
    }
    ensure!(picture(&**store, &key).await? == picture_before, "a repetition changed something");
    let kept = store.request(&key, &record(1, 1, b"", now).id).await.map_err(text)?;
    ensure!(kept.is_some_and(|r| r.answer == b"the first answer"), "a repetition changed the record");
    Ok(())
}

pub(super) async fn a_request_that_was_declined_stays_so(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let before = table_at(&**store, &key, 2).await?;
    let mut commit = following(&key, &before, now)?;
    let declined = RequestRecord { declined: true, ..record(1, 1, b"the refusal", now) };
    commit.request = Some(declined.clone());
    let after = done(&**store, commit).await?;
    let kept = store.request(&key, &declined.id).await.map_err(text)?;
    ensure!(kept.as_ref() == Some(&declined), "the record is {kept:?}");
    let mut again = following(&key, &after, now)?;
    again.request = Some(record(1, 1, b"another answer", now));
    match store.commit(again).await.map_err(text)? {
        Outcome::Repeated { answer, declined: true } if answer == b"the refusal" => Ok(()),
        other => Err(format!("what was declined is answered with {other:?}")),
    }
}

pub(super) async fn an_id_is_bound_to_its_payload(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let before = table_at(&**store, &key, 2).await?;
    let mut commit = following(&key, &before, now)?;
    commit.request = Some(record(1, 1, b"answer", now));
    let after = done(&**store, commit).await?;
    let picture_before = picture(&**store, &key).await?;
    let mut other = following(&key, &after, now)?;
    other.request = Some(record(1, 2, b"answer", now));
    let outcome = store.commit(other).await.map_err(text)?;
    ensure!(matches!(outcome, Outcome::RequestReused), "the id with another payload: {outcome:?}");
    ensure!(picture(&**store, &key).await? == picture_before, "a reused id changed something");
    Ok(())
}

pub(super) async fn the_record_comes_before_the_token_and_the_token_before_the_time(
    store: &Arc<dyn Store>,
) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let before = table_at(&**store, &key, 2).await?;
    let later = now + Millis::minutes(60);
    let mut commit = following(&key, &before, now)?;
    commit.request = Some(record(1, 1, b"answer", now));
    done(&**store, commit).await?;
    let mut stale = following(&key, &before, now)?;
    stale.not_before = Some(later);
    stale.request = Some(record(1, 1, b"", now));
    let outcome = store.commit(stale.clone()).await.map_err(text)?;
    ensure!(matches!(outcome, Outcome::Repeated { .. }), "a stale repetition: {outcome:?}");
    stale.request = Some(record(1, 2, b"", now));
    let outcome = store.commit(stale.clone()).await.map_err(text)?;
    ensure!(matches!(outcome, Outcome::RequestReused), "a stale reuse: {outcome:?}");
    stale.request = Some(record(2, 1, b"", now));
    let outcome = store.commit(stale).await.map_err(text)?;
    ensure!(matches!(outcome, Outcome::Conflict(Some(_))), "stale and too early: {outcome:?}");
    Ok(())
}

pub(super) async fn an_id_belongs_to_its_operator(store: &Arc<dyn Store>) -> Verdict {
    let now = store.now().await.map_err(text)?;
    let (mine, yours) = (key(1, 1)?, key(2, 1)?);
    let mut commit = opening(&mine, now)?;
    commit.request = Some(record(1, 1, b"mine", now));
    done(&**store, commit).await?;
    let id = record(1, 1, b"", now).id;
    let seen = store.request(&yours, &id).await.map_err(text)?;
    ensure!(seen.is_none(), "an operator sees another one's request");
    let mut commit = opening(&yours, now)?;
    commit.request = Some(record(1, 2, b"yours", now));
    done(&**store, commit).await?;
    for (key, answer) in [(&mine, &b"mine"[..]), (&yours, &b"yours"[..])] {
        let kept = store.request(key, &id).await.map_err(text)?;
        ensure!(kept.is_some_and(|r| r.answer == answer), "one operator's record took the other one's place");
    }
    Ok(())
}

pub(super) async fn records_are_kept(store: &Arc<dyn Store>, clock: &ManualClock, time: Millis) -> Verdict {
    let (key, start) = (key(1, 1)?, clock.now());
    let mut commit = opening(&key, start)?;
    let old = record(1, 1, b"answer", start);
    commit.request = Some(old.clone());
    let mut stored = done(&**store, commit).await?;
    clock.advance(time);
    let kept = store.request(&key, &old.id).await.map_err(text)?;
    ensure!(kept.as_ref() == Some(&old), "in its last moment the record is {kept:?}");
    let mut again = following(&key, &stored, clock.now())?;
    again.request = Some(old.clone());
    let outcome = store.commit(again).await.map_err(text)?;
    ensure!(matches!(outcome, Outcome::Repeated { .. }), "in its last moment a repetition: {outcome:?}");
    clock.advance(Millis::minutes(61));
    let mut young = following(&key, &stored, clock.now())?;
    young.request = Some(record(2, 1, b"young", clock.now()));
    stored = done(&**store, young).await?;
    let kept = store.request(&key, &old.id).await.map_err(text)?;
    ensure!(kept.is_none(), "an hour later the record is still there");
    let kept = store.request(&key, &record(2, 1, b"", start).id).await.map_err(text)?;
    ensure!(kept.is_some(), "a young record went with the old one");
    // The id is free again, for another payload too.
    let mut reused = following(&key, &stored, clock.now())?;
    reused.request = Some(record(1, 2, b"new", clock.now()));
    done(&**store, reused).await?;
    Ok(())
}
