//! While one operator's old settlements are removed, another one plays and reads as ever.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rules::Millis;
use tables::janitor::{self, Retention};
use tables::{OsDealer, Outcome, Settings, Settlement, SettlementFilter, Store, TableKey, Tables};
use tokio::sync::watch;
use uuid::Uuid;

use crate::chain::Chain;
use crate::fixtures::{key, operator, settlements};
use crate::redis::servers::Installation;

/// What the operator who reads nothing has left lying.
const OLD: usize = 6000;

async fn commit(store: &dyn Store, chain: &mut Chain, records: Vec<Settlement>) {
    let mut commit = chain.next();
    commit.settlements = records;
    assert!(matches!(store.commit(commit).await, Ok(Outcome::Committed { .. })));
}

fn records(key: &TableKey, numbers: impl Iterator<Item = usize>) -> Vec<Settlement> {
    let (_, movement) = settlements().remove(2);
    let record =
        |number| Settlement { key: key.clone(), id: Uuid::from_u128(number as u128 + 1), ..movement.clone() };
    numbers.map(record).collect()
}

async fn nobody_waits(store: Arc<dyn Store>) {
    let (idle, busy) = (key(1), TableKey { operator: operator("busy"), ..key(2) });
    let (mut left, mut played) = (Chain::new(idle.clone(), 1), Chain::new(busy.clone(), 2));
    for number in (0..OLD).step_by(500) {
        commit(&*store, &mut left, records(&idle, number..number + 500)).await;
    }
    let tables = Tables::new(Arc::clone(&store), Arc::new(OsDealer), Settings::default());
    let (stop, shutdown) = watch::channel(false);
    let retention = Retention { operators: vec![idle.operator.clone()], kept: Millis::ZERO };
    let janitor = tokio::spawn(janitor::run(tables, retention, shutdown));
    let (started, mut longest, mut rounds) = (Instant::now(), Duration::ZERO, 0);
    while store.books().backlog(&idle.operator, None).await.unwrap().depth > 0 {
        let began = Instant::now();
        commit(&*store, &mut played, records(&busy, OLD + rounds..OLD + rounds + 1)).await;
        let all = SettlementFilter::default();
        let page = store.settlements(&busy.operator, &all, None, OLD).await.unwrap();
        longest = longest.max(began.elapsed());
        rounds += 1;
        assert_eq!(page.records.len(), rounds, "another operator's records are all there");
        assert!(started.elapsed() < Duration::from_secs(30), "the old records do not go");
    }
    let whole = started.elapsed();
    println!("{OLD} records went in {whole:?}; of {rounds} others the longest took {longest:?}");
    // On a busy machine everything takes longer, and both do.
    assert!(rounds >= 5, "only {rounds} came to their turn");
    assert!(longest < whole / 2, "somebody waited {longest:?} of {whole:?}");
    stop.send(true).unwrap();
    janitor.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_waits_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        fulcrum::store::EmbeddedSettings::new(folder.path().join("fulcrum.redb"), crate::fixtures::keys());
    nobody_waits(Arc::new(fulcrum::store::EmbeddedStore::open(settings).unwrap())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_waits_in_redis() {
    let installation = Installation::single();
    nobody_waits(crate::redis::open(installation.config()).await).await;
}
