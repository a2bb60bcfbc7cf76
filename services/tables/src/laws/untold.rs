//! Laws of the hands of which is still to be told.

use std::sync::Arc;

use rules::Millis;

use super::fixture::{Verdict, a_hand, done, ensure, key, opening, operator, text};
use crate::ids::TableKey;
use crate::signals::Origin;
use crate::store::Store;
use crate::untold::TableHand;

const SPAN: Origin = Origin { trace: [7; 16], span: [9; 8] };

/// Plays a hand whose end is noted.
async fn play(store: &Arc<dyn Store>, key: &TableKey) -> Result<TableHand, String> {
    let at = store.now().await.map_err(text)?;
    let stored = done(&**store, opening(key, at)?).await?;
    let mut commits = a_hand(key, &stored, at)?;
    let last = commits.last_mut().ok_or("a hand without commits")?;
    last.untold = true;
    last.origin = Some(SPAN);
    for commit in commits {
        done(&**store, commit).await?;
    }
    Ok(TableHand { table: key.table, number: 1 })
}

/// It is there when the commit is, and the commit tells where it was asked for.
pub(super) async fn a_hand_is_noted_with_its_commit(store: &Arc<dyn Store>) -> Verdict {
    let key = key(1, 1)?;
    let untold = store.untold();
    ensure!(
        untold.take(&key.operator, Millis::ZERO, 10).await.map_err(text)?.is_empty(),
        "nothing was played"
    );
    let hand = play(store, &key).await?;
    let found = untold.take(&key.operator, Millis::ZERO, 10).await.map_err(text)?;
    ensure!(found == [hand], "the hand is not noted");
    untold.forget(&key.operator, &found).await.map_err(text)?;
    untold.forget(&key.operator, &found).await.map_err(text)?;
    ensure!(untold.take(&key.operator, Millis::ZERO, 10).await.map_err(text)?.is_empty(), "it was forgotten");
    let history = store.history(&key, 0, 100).await.map_err(text)?;
    let origins: Vec<_> = history.entries.iter().filter_map(|entry| entry.origin).collect();
    ensure!(origins == [SPAN], "the commit does not tell where it was asked for");
    Ok(())
}

/// Whoever takes it has it for himself so long.
pub(super) async fn a_hand_that_was_taken_is_not_taken_again_for_as_long(store: &Arc<dyn Store>) -> Verdict {
    let (one, other) = (key(1, 1)?, key(1, 2)?);
    let hands = [play(store, &one).await?, play(store, &other).await?];
    let take = |age, limit| store.untold().take(&one.operator, age, limit);
    let minute = Millis(60_000);
    ensure!(take(minute, 10).await.map_err(text)?.is_empty(), "a hand is taken before its time");
    let first = take(Millis::ZERO, 1).await.map_err(text)?;
    ensure!(first.len() == 1 && hands.contains(&first[0]), "a limit does not hold");
    ensure!(take(minute, 10).await.map_err(text)?.is_empty(), "a hand is taken twice");
    let mut all = take(Millis::ZERO, 10).await.map_err(text)?;
    all.sort();
    ensure!(all == hands, "what was taken and not forgotten does not come again");
    Ok(())
}

/// Nor forget them.
pub(super) async fn operators_do_not_take_each_others_hands(store: &Arc<dyn Store>) -> Verdict {
    let key = key(1, 1)?;
    let hand = play(store, &key).await?;
    let stranger = operator(2)?;
    let untold = store.untold();
    ensure!(untold.take(&stranger, Millis::ZERO, 10).await.map_err(text)?.is_empty(), "a stranger's hand");
    untold.forget(&stranger, &[hand]).await.map_err(text)?;
    ensure!(
        untold.take(&key.operator, Millis::ZERO, 10).await.map_err(text)? == [hand],
        "a stranger forgot it"
    );
    Ok(())
}
