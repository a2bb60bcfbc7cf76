//! What is kept for a reader who never comes is bounded by the retention, and another one misses nothing.

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::*;
use rules::Millis;
use tables::janitor::{self, Retention};
use tables::{
    Books, Clock, MemoryStore, OperatorId, SettlementFilter, SettlementPosition, Store, TableId, TableKey,
    Tables,
};
use tokio::sync::watch;
use tokio::time::sleep;

const READER: &str = "ledger";
/// How long records are kept.
const KEPT: Duration = Duration::from_secs(600);
/// A player comes or goes so often.
const STEP: Duration = Duration::from_secs(5);
/// The janitor comes once in so many steps.
const TURN: u64 = 12;

async fn open_as(tables: &Tables, operator: &str) -> TableKey {
    let (operator, request) = (OperatorId::new(operator).unwrap(), request(1));
    tables.open(&operator, request, config(), &answer).await.unwrap();
    TableKey { table: TableId::derived(&operator, &request.id), operator }
}

/// Ann comes, or goes if she is there.
async fn come_or_go(tables: &Tables, key: &TableKey, number: u64) {
    let asked = if number.is_multiple_of(2) { sit("ann") } else { stand_up("ann") };
    ask(tables, key, asked).await.unwrap();
}

/// Reads and acknowledges what is new; gives how much it was.
async fn read(store: &MemoryStore, key: &TableKey, last: &mut Option<SettlementPosition>) -> usize {
    let all = SettlementFilter::default();
    let page = store.settlements(&key.operator, &all, *last, 100).await.unwrap().records;
    if let Some((position, _)) = page.last() {
        *last = Some(*position);
        store.acknowledge(&key.operator, READER, *position).await.unwrap().unwrap();
    }
    page.len()
}

#[tokio::test(start_paused = true)]
async fn a_reader_who_never_comes_is_bounded_and_another_misses_nothing() {
    let clock = RuntimeClock::start();
    let store = Arc::new(MemoryStore::new(Arc::clone(&clock) as Arc<dyn Clock>));
    let tables = tables(Arc::clone(&store) as Arc<dyn Store>);
    let (diligent, idle) = (open_as(&tables, "diligent").await, open_as(&tables, "idle").await);
    let operators = vec![idle.operator.clone(), diligent.operator.clone()];
    let retention = Retention { operators, kept: Millis(KEPT.as_millis() as u64) };
    let (stop, shutdown) = watch::channel(false);
    let janitor = tokio::spawn(janitor::run(tables.clone(), retention, shutdown));
    for key in [&diligent, &idle] {
        store.take_cursor(&key.operator, READER).await.unwrap().unwrap();
    }
    let (steps, bound) = (1000, KEPT.as_secs() / STEP.as_secs() + TURN + 1);
    let (mut found, mut last) = (0, None);
    for number in 0..steps {
        come_or_go(&tables, &diligent, number).await;
        come_or_go(&tables, &idle, number).await;
        found += read(&store, &diligent, &mut last).await;
        let left = store.backlog(&idle.operator, None).await.unwrap();
        assert!(left.depth <= bound, "{} records lie there at step {number}", left.depth);
        sleep(STEP).await;
    }
    assert_eq!(found as u64, steps, "who reads in time gets everything");
    let left = store.backlog(&idle.operator, None).await.unwrap();
    assert!(left.depth >= bound - TURN - 2, "only {} records are left of the last minutes", left.depth);
    let (now, oldest) = (clock.now(), left.oldest.unwrap());
    assert!(now - oldest <= Millis(((bound + 1) * STEP.as_secs()) * 1000), "one of {oldest:?} at {now:?}");
    // Who comes at last is told that he has missed something.
    let gone = store.retired_until(&idle.operator).await.unwrap().unwrap();
    let cursor = store.cursors(&idle.operator).await.unwrap()[0].1;
    assert!(cursor.position < Some(gone));
    stop.send(true).unwrap();
    janitor.await.unwrap();
}
