//! Laws of the hands of which is still to be told.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rules::Millis;

use super::NOTES;
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

/// A hand at each of these tables.
async fn play_at(store: &Arc<dyn Store>, tables: RangeInclusive<u128>) -> Result<Vec<TableHand>, String> {
    let mut hands = Vec::new();
    for table in tables {
        hands.push(play(store, &key(1, table)?).await?);
    }
    Ok(hands)
}

/// All that are noted of the operator of these tables.
async fn noted(store: &Arc<dyn Store>) -> Result<Vec<TableHand>, String> {
    let mut noted = store.untold().take(&operator(1)?, Millis::ZERO, 10 * NOTES).await.map_err(text)?;
    noted.sort();
    Ok(noted)
}

/// The others are dropped, those that were noted first before the rest; and those of other operators stay.
pub(super) async fn only_so_many_hands_are_noted(store: &Arc<dyn Store>) -> Verdict {
    let stranger = key(2, 1)?;
    let of_stranger = play(store, &stranger).await?;
    let mut hands = play_at(store, 1..=NOTES as u128 + 3).await?;
    ensure!(noted(store).await? == hands[3..], "it is not the first ones that are dropped");
    // What is noted, taken or forgotten twice counts once.
    for _ in 0..2 {
        store.untold().forget(&operator(1)?, &hands[3..7]).await.map_err(text)?;
    }
    hands.extend(play_at(store, 101..=104).await?);
    ensure!(noted(store).await? == hands[7..], "hands are dropped although there is room");
    hands.extend(play_at(store, 201..=202).await?);
    let left = noted(store).await?;
    ensure!(left.len() == NOTES && left.ends_with(&hands[NOTES + 7..]), "those that are dropped are not old");
    let of_others = store.untold().take(&stranger.operator, Millis::ZERO, 10).await.map_err(text)?;
    ensure!(of_others == [of_stranger], "an operator's hands are dropped for another's");
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
