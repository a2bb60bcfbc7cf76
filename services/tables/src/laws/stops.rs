//! Laws of the registry of stops (rules 9.4).

use std::sync::Arc;

use rules::{Game, Millis, PlayerId};

use super::fixture::{Verdict, ensure, key, operator, record, text};
use crate::dealer::nonce;
use crate::stops::{Act, AuditEntry, Author, Changed, Scope, Shelf, StopChange, StopEntry, StopState, Stops};
use crate::store::{Store, Token};

/// A stop of an operator's player of that number.
fn entry(number: u64) -> Result<StopEntry, String> {
    let player = PlayerId::new(&format!("player-{number}")).ok_or("a legal name is refused")?;
    Ok(StopEntry {
        scope: Scope::Player(operator(1)?, player),
        author: Author::Operator(operator(1)?),
        reason: "because".to_owned(),
        requester: "somebody".to_owned(),
        since: Millis(number),
        changed: Millis(number + 1),
        version: number,
        state: StopState::Active,
        swept: false,
    })
}

/// A change of a shelf that puts these.
fn putting(shelf: &Shelf, expected: Option<Token>, put: Vec<StopEntry>) -> StopChange {
    let token = Token { version: expected.map_or(0, |token| token.version) + 1, nonce: nonce() };
    let audit = put.first().map(|entry| AuditEntry {
        number: token.version,
        at: entry.changed,
        author: entry.author.clone(),
        act: if entry.state == StopState::Active { Act::Disabled } else { Act::Enabled },
        scope: entry.scope.clone(),
        reason: entry.reason.clone(),
        requester: entry.requester.clone(),
    });
    let (shelf, remove) = (shelf.clone(), Vec::new());
    StopChange { shelf, expected, token, put, remove, audit, request: None }
}

fn shelf() -> Result<Shelf, String> {
    Ok(Shelf::Operator(operator(1)?))
}

async fn change(stops: &dyn Stops, change: StopChange) -> Result<Token, String> {
    match stops.change(&change).await.map_err(text)? {
        Changed::Done => Ok(change.token),
        other => Err(format!("a change in order is answered with {other:?}")),
    }
}

async fn entries(stops: &dyn Stops, shelf: &Shelf) -> Result<Vec<StopEntry>, String> {
    let read = stops.shelf(shelf, None).await.map_err(text)?;
    Ok(read.ok_or("a shelf that is not known has not changed")?.entries)
}

pub(super) async fn a_shelf_changes_only_under_its_token(store: &Arc<dyn Store>) -> Verdict {
    let (stops, shelf) = (store.stops(), shelf()?);
    let empty = stops.shelf(&shelf, None).await.map_err(text)?.ok_or("nothing is told of a new shelf")?;
    ensure!(empty.token.is_none() && empty.entries.is_empty(), "a new shelf has {empty:?}");
    let first = putting(&shelf, None, vec![entry(1)?]);
    let token = change(stops, first.clone()).await?;
    let again = stops.change(&first).await.map_err(text)?;
    ensure!(again == Changed::Done, "the same change again: {again:?}");
    for stale in [None, Some(Token { nonce: token.nonce ^ 1, ..token })] {
        let outcome = stops.change(&putting(&shelf, stale, vec![entry(2)?])).await.map_err(text)?;
        ensure!(outcome == Changed::Conflict, "a change that rests on {stale:?}: {outcome:?}");
    }
    let read = stops.shelf(&shelf, None).await.map_err(text)?.ok_or("nothing is told")?;
    ensure!(read.token == Some(token), "the token is {:?}", read.token);
    ensure!(read.entries == [entry(1)?], "the stops are {:?}", read.entries);
    let known = stops.shelf(&shelf, Some(token)).await.map_err(text)?;
    ensure!(known.is_none(), "what is known is told again");
    let second = change(stops, putting(&shelf, Some(token), vec![entry(2)?])).await?;
    let read = stops.shelf(&shelf, Some(token)).await.map_err(text)?;
    ensure!(read.is_some_and(|read| read.token == Some(second)), "a change is not told");
    Ok(())
}

pub(super) async fn stops_come_change_and_go(store: &Arc<dyn Store>) -> Verdict {
    let (stops, shelf) = (store.stops(), shelf()?);
    let token = change(stops, putting(&shelf, None, vec![entry(3)?, entry(1)?, entry(2)?])).await?;
    let all = entries(stops, &shelf).await?;
    ensure!(all == [entry(1)?, entry(2)?, entry(3)?], "not in the order of their names: {all:?}");
    let lifting = StopEntry { state: StopState::Lifting, swept: true, ..entry(2)? };
    let by_administrator = StopEntry { author: Author::Administrator(operator(9)?), ..entry(2)? };
    let mut third = putting(&shelf, Some(token), vec![lifting.clone(), by_administrator.clone()]);
    third.remove = vec![entry(1)?.name()];
    change(stops, third).await?;
    let all = entries(stops, &shelf).await?;
    ensure!(all == [by_administrator, lifting, entry(3)?], "after a change: {all:?}");
    Ok(())
}

pub(super) async fn every_scope_is_read_as_it_was_written(store: &Arc<dyn Store>) -> Verdict {
    let one = operator(1)?;
    let scopes = [
        Scope::Service,
        Scope::Game(None, Game::DoubleHoldem),
        Scope::Game(None, Game::TexasHoldem),
        Scope::Operator(one.clone()),
        Scope::Game(Some(one.clone()), Game::DoubleHoldem),
        Scope::Game(Some(one), Game::TexasHoldem),
        entry(1)?.scope,
        Scope::Table(key(1, 1)?),
    ];
    for scope in scopes {
        let shelf = scope.shelf();
        let expected = store.stops().shelf(&shelf, None).await.map_err(text)?.and_then(|read| read.token);
        let written = StopEntry { scope: scope.clone(), ..entry(1)? };
        let change_of_it = putting(&shelf, expected, vec![written.clone()]);
        let told = change_of_it.audit.clone();
        change(store.stops(), change_of_it).await?;
        let all = entries(store.stops(), &shelf).await?;
        ensure!(all.contains(&written), "{scope:?} is read as {all:?}");
        let audit = store.stops().audit(&shelf, None, 1).await.map_err(text)?;
        ensure!(audit.first() == told.as_ref(), "the audit tells {audit:?}");
    }
    Ok(())
}

pub(super) async fn a_request_for_a_stop_is_done_once(store: &Arc<dyn Store>) -> Verdict {
    let (stops, shelf, now) = (store.stops(), shelf()?, store.now().await.map_err(text)?);
    let (mine, yours) = (Author::Operator(operator(1)?), Author::Administrator(operator(1)?));
    let asking = |author: &Author, expected, payload| {
        let request = Some((author.clone(), record(1, payload, b"the first answer", now)));
        Ok::<_, String>(StopChange { request, ..putting(&shelf, expected, vec![entry(1)?]) })
    };
    let token = change(stops, asking(&mine, None, 1)?).await?;
    for payload in [1, 2] {
        let mut again = asking(&mine, Some(token), payload)?;
        again.put = vec![entry(2)?];
        match stops.change(&again).await.map_err(text)? {
            Changed::Before(done) => {
                ensure!(done == record(1, 1, b"the first answer", now), "the record is another one");
            }
            other => return Err(format!("a repetition is answered with {other:?}")),
        }
    }
    ensure!(entries(stops, &shelf).await? == [entry(1)?], "a repetition changed something");
    let kept = stops.asked(&mine, &record(1, 1, b"", now).id).await.map_err(text)?;
    ensure!(kept.is_some_and(|kept| kept.answer == b"the first answer"), "no record is kept");
    let others = stops.asked(&yours, &record(1, 1, b"", now).id).await.map_err(text)?;
    ensure!(others.is_none(), "an id belongs to whoever asked");
    change(stops, asking(&yours, Some(token), 1)?).await?;
    Ok(())
}

pub(super) async fn shelves_are_strangers(store: &Arc<dyn Store>) -> Verdict {
    let stops = store.stops();
    let shelves = [Shelf::Service, shelf()?, Shelf::Operator(operator(2)?)];
    for (number, shelf) in (1..).zip(&shelves) {
        change(stops, putting(shelf, None, vec![entry(number)?])).await?;
    }
    for (number, shelf) in (1..).zip(&shelves) {
        ensure!(entries(stops, shelf).await? == [entry(number)?], "{shelf} has others' stops");
        let audit = stops.audit(shelf, None, 10).await.map_err(text)?;
        ensure!(audit.len() == 1, "{shelf} has others' audit");
    }
    Ok(())
}

pub(super) async fn the_audit_has_the_latest_first(store: &Arc<dyn Store>) -> Verdict {
    let (stops, shelf) = (store.stops(), shelf()?);
    let mut token = None;
    for number in 1..=6 {
        let mut next = putting(&shelf, token, vec![entry(number)?]);
        // What is noted and not asked for is not in it.
        next.audit = next.audit.filter(|_| number != 4);
        token = Some(change(stops, next).await?);
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = stops.audit(&shelf, before, 2).await.map_err(text)?;
        ensure!(page.len() <= 2, "a page of two has {}", page.len());
        let Some(last) = page.last() else {
            break;
        };
        before = Some(last.number);
        seen.extend(page.iter().map(|entry| entry.number));
    }
    ensure!(seen == [6, 5, 3, 2, 1], "the audit has {seen:?}");
    Ok(())
}
