//! Laws of the readers of settlements: how far they have come is not lost, and does not go back.

use std::sync::Arc;

use super::fixture::{Verdict, ensure, key, operator, table_at, text};
use crate::books::{Backlog, CONSUMERS, Cursor};
use crate::settlement::{SettlementFilter, SettlementPosition};
use crate::store::Store;

pub(super) async fn a_cursor_is_taken_over(store: &Arc<dyn Store>) -> Verdict {
    let (books, me, other) = (store.books(), operator(1)?, operator(2)?);
    for (name, generation) in [("b", 1), ("b", 2), ("a", 1), ("b", 3)] {
        let taken = books.take_cursor(&me, name).await.map_err(text)?;
        let expected = Some(Cursor { position: None, generation });
        ensure!(taken == expected, "{name} is taken as {taken:?}, not as {expected:?}");
    }
    let listed = books.cursors(&me).await.map_err(text)?;
    let cursor = |generation| Cursor { position: None, generation };
    ensure!(listed == [("a".to_owned(), cursor(1)), ("b".to_owned(), cursor(3))], "listed are {listed:?}");
    let strange = books.cursors(&other).await.map_err(text)?;
    ensure!(strange.is_empty(), "an operator sees another one's readers: {strange:?}");
    for there in [true, false] {
        let forgotten = books.forget_cursor(&me, "b").await.map_err(text)?;
        ensure!(forgotten == there, "the cursor is there: {there}, and forgotten: {forgotten}");
    }
    let listed = books.cursors(&me).await.map_err(text)?;
    ensure!(listed.len() == 1, "after one is forgotten there are {listed:?}");
    Ok(())
}

pub(super) async fn an_acknowledgement_does_not_go_back(store: &Arc<dyn Store>) -> Verdict {
    let (books, me) = (store.books(), operator(1)?);
    let nobody = books.acknowledge(&me, "reader", SettlementPosition(1)).await.map_err(text)?;
    ensure!(nobody.is_none(), "a reader that nobody is acknowledges: {nobody:?}");
    books.take_cursor(&me, "reader").await.map_err(text)?;
    books.take_cursor(&me, "other").await.map_err(text)?;
    // The last two differ by less than a float of their size can tell.
    let far = 7_311_999_999_999_999_001;
    for (position, holds) in [(0, 0), (9, 9), (3, 9), (10, 10), (far + 1, far + 1), (far, far + 1)] {
        let cursor = books.acknowledge(&me, "reader", SettlementPosition(position)).await.map_err(text)?;
        let expected = Some(Cursor { position: Some(SettlementPosition(holds)), generation: 1 });
        ensure!(cursor == expected, "after {position} the cursor is {cursor:?}");
    }
    let taken = books.take_cursor(&me, "reader").await.map_err(text)?;
    let expected = Cursor { position: Some(SettlementPosition(far + 1)), generation: 2 };
    ensure!(taken == Some(expected), "who takes it over begins with {taken:?}");
    let listed = books.cursors(&me).await.map_err(text)?;
    let untouched = ("other".to_owned(), Cursor { position: None, generation: 1 });
    ensure!(listed == [untouched, ("reader".to_owned(), expected)], "listed are {listed:?}");
    Ok(())
}

pub(super) async fn an_operator_has_so_many_cursors(store: &Arc<dyn Store>) -> Verdict {
    let (books, me) = (store.books(), operator(1)?);
    for number in 0..CONSUMERS {
        let taken = books.take_cursor(&me, &format!("reader-{number}")).await.map_err(text)?;
        ensure!(taken.is_some(), "there is no room for number {number}");
    }
    let surplus = books.take_cursor(&me, "surplus").await.map_err(text)?;
    ensure!(surplus.is_none(), "there is room for one more than {CONSUMERS}");
    let again = books.take_cursor(&me, "reader-7").await.map_err(text)?;
    ensure!(again.is_some_and(|cursor| cursor.generation == 2), "one that is there is taken as {again:?}");
    let other = books.take_cursor(&operator(2)?, "reader").await.map_err(text)?;
    ensure!(other.is_some(), "one operator's readers take another one's room");
    books.forget_cursor(&me, "reader-7").await.map_err(text)?;
    let room = books.take_cursor(&me, "surplus").await.map_err(text)?;
    ensure!(room.is_some(), "a forgotten one leaves no room");
    Ok(())
}

pub(super) async fn a_backlog_is_what_lies_behind(store: &Arc<dyn Store>) -> Verdict {
    let (books, me) = (store.books(), operator(1)?);
    let none = books.backlog(&me, None).await.map_err(text)?;
    ensure!(none == Backlog::default(), "before the first record the backlog is {none:?}");
    for table in 1..=5 {
        table_at(&**store, &key(1, table)?, 4).await?;
    }
    table_at(&**store, &key(2, 1)?, 9).await?;
    let listed = store.settlements(&me, &SettlementFilter::default(), None, 100).await.map_err(text)?.records;
    ensure!(listed.len() == 15, "{} records of 15 commits", listed.len());
    let places = std::iter::once(None).chain(listed.iter().map(|(position, _)| Some(*position)));
    for (passed, after) in places.enumerate() {
        let rest = &listed[passed..];
        let expected = Backlog { depth: rest.len() as u64, oldest: rest.iter().map(|(_, s)| s.at).min() };
        let backlog = books.backlog(&me, after).await.map_err(text)?;
        ensure!(backlog == expected, "after {passed} records the backlog is {backlog:?}, not {expected:?}");
    }
    Ok(())
}
