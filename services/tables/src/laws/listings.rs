//! Laws of lists: pages that neither repeat nor skip, and operators that see only their own.

use std::sync::Arc;

use rules::{Millis, PlayerId};
use uuid::Uuid;

use super::fixture::{
    Verdict, a_hand, done, ensure, following, key, opening, operator, record, table_at, text,
};
use crate::ids::TableId;
use crate::settlement::{SettlementFilter, SettlementKind};
use crate::store::{Listed, Store};

pub(super) async fn pages_of_tables_are_stable(store: &Arc<dyn Store>) -> Verdict {
    let now = store.now().await.map_err(text)?;
    let me = operator(1)?;
    for number in [50, 10, 40, 20, 30] {
        done(&**store, opening(&key(1, number)?, now)?).await?;
        done(&**store, opening(&key(2, number + 1)?, now)?).await?;
    }
    let first = store.tables(&me, None, 2).await.map_err(text)?;
    let numbers =
        |page: &[Listed]| -> Vec<u128> { page.iter().map(|(key, _)| key.table.0.as_u128()).collect() };
    ensure!(numbers(&first) == [10, 20], "the first page: {:?}", numbers(&first));
    ensure!(
        first.iter().all(|(key, s)| key.operator == me && s.as_ref().is_ok_and(|s| s.token.version == 1)),
        "a page shows other tables"
    );
    // Between two pages tables are opened before, at and after the place.
    for number in [5, 25, 60] {
        done(&**store, opening(&key(1, number)?, now)?).await?;
    }
    let rest = store.tables(&me, Some(TableId(Uuid::from_u128(20))), 100).await.map_err(text)?;
    ensure!(numbers(&rest) == [25, 30, 40, 50, 60], "the rest: {:?}", numbers(&rest));
    let none = store.tables(&me, Some(TableId(Uuid::from_u128(60))), 100).await.map_err(text)?;
    ensure!(none.is_empty(), "after the last one: {:?}", numbers(&none));
    Ok(())
}

pub(super) async fn pages_of_settlements_are_stable(store: &Arc<dyn Store>) -> Verdict {
    let (one, other, now) = (key(1, 1)?, key(1, 2)?, store.now().await.map_err(text)?);
    let mut a = table_at(&**store, &one, 6).await?;
    let mut b = table_at(&**store, &other, 6).await?;
    table_at(&**store, &key(2, 1)?, 9).await?;
    let all = SettlementFilter::default();
    let mut listed = Vec::new();
    let mut after = None;
    for _ in 0..100 {
        let page = store.settlements(&one.operator, &all, after, 3).await.map_err(text)?.records;
        let Some((last, _)) = page.last() else {
            break;
        };
        after = Some(*last);
        listed.extend(page);
        // Records keep coming while the pages are turned, for a while.
        if listed.len() < 12 {
            a = done(&**store, following(&one, &a, now)?).await?;
            b = done(&**store, following(&other, &b, now)?).await?;
        }
    }
    let again = store.settlements(&one.operator, &all, None, 1000).await.map_err(text)?.records;
    ensure!(listed == again, "turning the pages gave {} records, there are {}", listed.len(), again.len());
    ensure!(listed.windows(2).all(|pair| pair[0].0 < pair[1].0), "positions do not grow");
    let expected = (a.token.version - 1) + (b.token.version - 1);
    ensure!(listed.len() as u64 == expected, "{} records of {expected} commits", listed.len());
    for table in [&one, &other] {
        let ordinals: Vec<u64> =
            listed.iter().filter(|(_, s)| s.key == *table).map(|(_, s)| s.ordinal).collect();
        ensure!(ordinals.windows(2).all(|pair| pair[0] < pair[1]), "a table's records are out of order");
    }
    Ok(())
}

pub(super) async fn settlements_are_found_by_what_they_are_about(store: &Arc<dyn Store>) -> Verdict {
    let (plain, played, now) = (key(1, 1)?, key(1, 2)?, store.now().await.map_err(text)?);
    table_at(&**store, &plain, 4).await?;
    let opened = done(&**store, opening(&played, now)?).await?;
    for commit in a_hand(&played, &opened, now)? {
        done(&**store, commit).await?;
    }
    let list = |filter: SettlementFilter, limit: usize| async move {
        let found = store.settlements(&operator(1)?, &filter, None, limit).await.map_err(text)?.records;
        Ok::<_, String>(found.into_iter().map(|(_, s)| s).collect::<Vec<_>>())
    };
    let all = list(SettlementFilter::default(), 100).await?;
    let player = PlayerId::new("ann").ok_or("a legal name is refused")?;
    for filter in [
        SettlementFilter { table: Some(plain.table), ..Default::default() },
        SettlementFilter { table: Some(played.table), ..Default::default() },
        SettlementFilter { table: Some(played.table), hand: Some(1), ..Default::default() },
        SettlementFilter { player: Some(player.clone()), ..Default::default() },
        SettlementFilter { table: Some(plain.table), player: Some(player), ..Default::default() },
    ] {
        let wanted: Vec<_> = all.iter().filter(|s| filter.matches(s)).cloned().collect();
        ensure!(list(filter.clone(), 100).await? == wanted, "{filter:?} finds others than those it matches");
        let first = wanted.iter().take(1).cloned().collect::<Vec<_>>();
        ensure!(
            list(filter.clone(), 1).await? == first,
            "{filter:?} with a limit of 1 does not find the first"
        );
    }
    let hands = list(SettlementFilter { hand: Some(1), ..Default::default() }, 100).await?;
    let void = hands.iter().all(|s| s.kind == SettlementKind::Void && s.key == played);
    ensure!(hands.len() == 1 && void, "the voided hand is found as {hands:?}");
    Ok(())
}

pub(super) async fn settlements_are_found_by_kind_and_time(store: &Arc<dyn Store>) -> Verdict {
    let (me, now) = (operator(1)?, store.now().await.map_err(text)?);
    for table in 1..=3 {
        let key = key(1, table)?;
        let mut stored = done(&**store, opening(&key, now)?).await?;
        for commits in 0..6 {
            stored = done(&**store, following(&key, &stored, now + Millis(100 * commits))?).await?;
        }
    }
    let all = store.settlements(&me, &SettlementFilter::default(), None, 100).await.map_err(text)?.records;
    let time = |ms: u64| Some(now + Millis(ms));
    let kinds = |kinds: &[SettlementKind]| SettlementFilter { kinds: kinds.to_vec(), ..Default::default() };
    let between = |from, to| SettlementFilter { from, to, ..Default::default() };
    let day = Millis::minutes(24 * 60);
    for (filter, count) in [
        (kinds(&[SettlementKind::BuyIn]), 9),
        (kinds(&[SettlementKind::CashOut, SettlementKind::Hand]), 9),
        (kinds(&[SettlementKind::CashOut, SettlementKind::BuyIn]), 18),
        (kinds(&[SettlementKind::Reversal]), 0),
        (between(time(100), None), 15),
        (between(None, time(100)), 3),
        (between(time(100), time(300)), 6),
        (between(time(101), time(200)), 0),
        (between(Some(now - day), Some(now + day)), 18),
        (between(None, Some(now - day)), 0),
        (between(Some(now + day), None), 0),
        (SettlementFilter { table: Some(key(1, 2)?.table), ..between(time(200), time(400)) }, 2),
    ] {
        let wanted: Vec<_> = all.iter().filter(|(_, s)| filter.matches(s)).cloned().collect();
        ensure!(wanted.len() == count, "{filter:?} matches {} records, not {count}", wanted.len());
        let page = store.settlements(&me, &filter, None, 100).await.map_err(text)?;
        ensure!(page.records == wanted, "{filter:?} finds others than those it matches");
        if let [.., before, last] = &wanted[..] {
            let rest = store.settlements(&me, &filter, Some(before.0), 100).await.map_err(text)?;
            ensure!(rest.records == [last.clone()], "{filter:?} does not go on after a record");
        }
    }
    Ok(())
}

pub(super) async fn operators_are_strangers(store: &Arc<dyn Store>) -> Verdict {
    let (mine, now) = (key(1, 1)?, store.now().await.map_err(text)?);
    let before = table_at(&**store, &mine, 3).await?;
    let mut commit = following(&mine, &before, now)?;
    commit.request = Some(record(1, 1, b"", now));
    let settlement = commit.settlements[0].id;
    done(&**store, commit).await?;
    let theirs = key(2, 1)?;
    let stranger = &theirs.operator;
    ensure!(store.load(&theirs).await.map_err(text)?.is_none(), "the table");
    ensure!(store.history(&theirs, 0, 10).await.map_err(text)?.entries.is_empty(), "the history");
    ensure!(store.checkpoint(&theirs, 10).await.map_err(text)?.is_none(), "the checkpoint");
    ensure!(store.tables(stranger, None, 10).await.map_err(text)?.is_empty(), "the list of tables");
    let id = record(1, 1, b"", now).id;
    ensure!(store.request(&theirs, &id).await.map_err(text)?.is_none(), "the request");
    ensure!(store.settlement(stranger, &settlement).await.map_err(text)?.is_none(), "the settlement");
    let listed =
        store.settlements(stranger, &SettlementFilter::default(), None, 10).await.map_err(text)?.records;
    ensure!(listed.is_empty(), "the list of settlements");
    // A name that begins with another operator's name is no part of it.
    let long = crate::OperatorId::new("operator-11").ok_or("a legal name is refused")?;
    let elder = crate::TableKey { operator: long, table: TableId(Uuid::from_u128(5)) };
    done(&**store, opening(&elder, now + Millis(1))?).await?;
    let tables = store.tables(&mine.operator, None, 10).await.map_err(text)?;
    ensure!(tables.len() == 1, "operator-1 sees the tables of operator-11");
    Ok(())
}
