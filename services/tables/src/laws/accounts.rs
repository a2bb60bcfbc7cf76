//! Laws of accounts: what commits add is there, each once, and never beyond what can be counted.

use std::sync::Arc;

use rules::{Millis, PlayerId};

use super::fixture::{
    Verdict, done, ensure, following, key, opening, operator, picture, record, table_at, text,
};
use crate::books::{ACCOUNT_LIMIT, Account, AccountStep, Tally};
use crate::store::{Outcome, Store, StoreError};

fn step(player: &str, currency: [u8; 3], tally: Tally) -> Result<AccountStep, String> {
    Ok(AccountStep { player: PlayerId::new(player).ok_or("a legal name is refused")?, currency, tally })
}

async fn all(store: &dyn Store) -> Result<Vec<Account>, String> {
    store.books().accounts(&operator(1)?, None, 100).await.map_err(text)
}

pub(super) async fn accounts_add_up_over_tables(store: &Arc<dyn Store>) -> Verdict {
    let (books, me, now) = (store.books(), operator(1)?, store.now().await.map_err(text)?);
    // In their order, in which some names begin with others.
    let names = ["ann", "ann-a", "ann.b", "ann:c", "anna", "bob"];
    let tally = |n: u64| Tally::of_row([n, 2 * n, 3 * n, 4 * n, 5 * n, 6 * n, 7 * n, 1 << 53]);
    for table in 1..=12_u64 {
        let mut commit = opening(&key(1, table.into())?, now)?;
        for (number, name) in (1..).zip(names) {
            commit.accounts.push(step(name, *b"EUR", tally(table * number))?);
            if name == "ann" {
                commit.accounts.push(step(name, *b"EUR", Tally { hands: 1, ..Tally::default() })?);
                commit.accounts.push(step(name, *b"CHF", tally(table))?);
            }
        }
        done(&**store, commit).await?;
        let mut commit = opening(&key(2, table.into())?, now)?;
        commit.accounts.push(step("ann", *b"EUR", tally(1000))?);
        done(&**store, commit).await?;
    }
    let sum = |n: u64| Tally { delivered: 12 << 53, ..tally(78 * n) };
    let account = |name: &str, currency, tally| {
        let AccountStep { player, currency, tally } = step(name, currency, tally)?;
        Ok::<_, String>(Account { player, currency, tally })
    };
    let first = Tally { hands: sum(1).hands + 12, ..sum(1) };
    let mut expected = vec![account("ann", *b"CHF", sum(1))?, account("ann", *b"EUR", first)?];
    for (number, name) in (2..).zip(&names[1..]) {
        expected.push(account(name, *b"EUR", sum(number))?);
    }
    let listed = all(&**store).await?;
    ensure!(listed == expected, "the accounts are {listed:?}, not {expected:?}");
    let mut paged: Vec<Account> = Vec::new();
    loop {
        let last = paged.last().map(|last| (last.player.clone(), last.currency));
        let page = books.accounts(&me, last.as_ref(), 2).await.map_err(text)?;
        ensure!(page.len() <= 2, "a page of 2 has {}", page.len());
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    ensure!(paged == expected, "turning the pages gives {paged:?}");
    for (name, own) in [("ann", &expected[..2]), ("bob", &expected[6..]), ("an", &[])] {
        let found = books.account(&me, &step(name, *b"EUR", sum(0))?.player).await.map_err(text)?;
        ensure!(found == own, "of {name} is found {found:?}");
    }
    Ok(())
}

pub(super) async fn an_account_counts_a_commit_once(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let before = table_at(&**store, &key, 2).await?;
    let steps = vec![step("ann", *b"EUR", Tally { wagered: 5, won: 3, hands: 1, ..Tally::default() })?];
    let mut commit = following(&key, &before, now)?;
    commit.request = Some(record(1, 1, b"answer", now));
    commit.accounts.clone_from(&steps);
    let after = done(&**store, commit.clone()).await?;
    let once = all(&**store).await?;
    ensure!(once.len() == 1 && once[0].tally == steps[0].tally, "after one commit: {once:?}");
    // Sent again as it is, repeated on top of itself, resting on what is past, and too early.
    let mut repeated = following(&key, &after, now)?;
    repeated.request.clone_from(&commit.request);
    let mut late = following(&key, &before, now)?;
    let mut early = following(&key, &after, now)?;
    early.not_before = Some(now + Millis::minutes(60));
    for undone in [&mut repeated, &mut late, &mut early] {
        undone.accounts.clone_from(&steps);
    }
    for again in [commit, repeated, late, early] {
        store.commit(again).await.map_err(text)?;
        let still = all(&**store).await?;
        ensure!(still == once, "a commit that was not done, or was done before, made {still:?}");
    }
    Ok(())
}

pub(super) async fn an_account_that_is_full_stops_its_commit(store: &Arc<dyn Store>) -> Verdict {
    let (key, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let mut stored = table_at(&**store, &key, 2).await?;
    let full = Tally { won: ACCOUNT_LIMIT - 100_000, ..Tally::default() };
    let mut commit = following(&key, &stored, now)?;
    commit.accounts = vec![step("ann", *b"EUR", full)?];
    stored = done(&**store, commit).await?;
    let (before, accounts) = (picture(&**store, &key).await?, all(&**store).await?);
    ensure!(accounts.first().is_some_and(|account| account.tally == full), "the accounts are {accounts:?}");
    for more in [200_000, ACCOUNT_LIMIT, u64::MAX] {
        let mut commit = following(&key, &stored, now)?;
        commit.request = Some(record(1, 1, b"answer", now));
        let small = Tally { hands: 1, ..Tally::default() };
        commit.accounts = vec![
            step("bob", *b"EUR", small)?,
            step("ann", *b"EUR", Tally { won: more / 2, ..small })?,
            step("ann", *b"EUR", Tally { won: more - more / 2, ..small })?,
        ];
        let outcome = store.commit(commit).await;
        ensure!(matches!(outcome, Err(StoreError::Corrupt(_))), "{more} more are answered with {outcome:?}");
        ensure!(picture(&**store, &key).await? == before, "a commit that was refused changed the table");
        ensure!(all(&**store).await? == accounts, "a commit that was refused changed accounts");
    }
    let kept = store.request(&key, &record(1, 1, b"", now).id).await.map_err(text)?;
    ensure!(kept.is_none(), "a commit that was refused left a request record");
    let mut commit = following(&key, &stored, now)?;
    commit.accounts = vec![step("ann", *b"EUR", Tally { won: 50_000, ..Tally::default() })?];
    match store.commit(commit).await.map_err(text)? {
        Outcome::Committed { .. } => Ok(()),
        other => Err(format!("what still fits is answered with {other:?}")),
    }
}
