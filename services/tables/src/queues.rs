//! Waiting lines, one a table. Calls of this process for one table go one after the other, first come, first served:
//! so they do not outrun one another at the store, and an action that came before a time-out is looked at before it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as Line, OwnedMutexGuard};

use crate::ids::TableKey;

/// So many calls may wait for one table.
const LONGEST: usize = 1000;

/// The lines in which somebody stands; an empty one takes no room.
#[derive(Default)]
pub(crate) struct Queues {
    lines: Mutex<HashMap<TableKey, Entry>>,
}

#[derive(Default)]
struct Entry {
    line: Arc<Line<()>>,
    /// Who waits or has his turn.
    callers: usize,
}

/// The right to work on a table. The next one's turn begins when it is dropped.
pub(crate) struct Turn {
    // Declared first, so dropped first: the place is given up when the line has moved on.
    _turn: OwnedMutexGuard<()>,
    _place: Place,
}

struct Place {
    queues: Arc<Queues>,
    key: TableKey,
}

impl Queues {
    /// Waits for the table; `None` if too many do already.
    pub(crate) async fn enter(self: &Arc<Queues>, key: &TableKey) -> Option<Turn> {
        let (line, place) = self.line_up(key)?;
        let turn = line.lock_owned().await;
        Some(Turn { _turn: turn, _place: place })
    }

    fn line_up(self: &Arc<Queues>, key: &TableKey) -> Option<(Arc<Line<()>>, Place)> {
        let mut lines = self.lock();
        let entry = lines.entry(key.clone()).or_default();
        if entry.callers >= LONGEST {
            return None;
        }
        entry.callers += 1;
        let place = Place { queues: Arc::clone(self), key: key.clone() };
        Some((Arc::clone(&entry.line), place))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TableKey, Entry>> {
        // A panic elsewhere cannot leave a count half written.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut lines = self.queues.lock();
        if let Some(entry) = lines.get_mut(&self.key) {
            entry.callers -= 1;
            if entry.callers == 0 {
                lines.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_key;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn one_at_a_time_in_order_and_nothing_stays() {
        let queues = Arc::new(Queues::default());
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for number in 0..20 {
            let (queues, order) = (Arc::clone(&queues), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let turn = queues.enter(&test_key(1)).await.unwrap();
                tokio::time::sleep(Duration::from_millis(20 - number)).await;
                order.lock().unwrap().push(number);
                drop(turn);
            }));
            tokio::task::yield_now().await;
        }
        let other = tokio::time::timeout(Duration::from_millis(1), queues.enter(&test_key(2))).await;
        assert!(other.is_ok(), "another table has a line of its own");
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
        drop(other);
        assert!(queues.lock().is_empty());
    }

    #[tokio::test]
    async fn a_line_is_bounded_and_who_goes_away_gives_up_his_place() {
        let queues = Arc::new(Queues::default());
        let key = test_key(1);
        let turn = queues.enter(&key).await.unwrap();
        let mut waiting: Vec<_> = (1..LONGEST).map(|_| queues.line_up(&key).unwrap()).collect();
        assert!(queues.enter(&key).await.is_none());
        waiting.pop();
        assert!(queues.line_up(&key).is_some());
        drop(waiting);
        drop(turn);
        assert!(queues.lock().is_empty());
    }
}
