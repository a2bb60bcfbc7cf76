//! What is on the primary and not yet on its replicas is acknowledged to nobody, whoever wrote it.

use std::sync::Arc;

use fulcrum::store::redis::{Durability, Endpoint, RedisConfig, RedisStore, Topology};
use tables::{Commit, Outcome, Settlement, SettlementFilter, Store, StoreError};

use super::servers::{Server, until};
use super::{is_done, keeping, open, played};
use crate::fixtures::{key, request, settlements};

fn with_durability(primary: Endpoint, durability: Durability) -> RedisConfig {
    keeping(RedisConfig { durability, ..RedisConfig::new(Topology::Single(primary)) })
}

/// Everything by which a caller could be told that the commit is done: what each way tells.
async fn ways(store: &RedisStore, done: &Commit, record: &Settlement) -> [Result<bool, StoreError>; 5] {
    let filter = SettlementFilter::default();
    let (operator, id) = (&done.key.operator, request().id);
    let mut repeated = done.clone();
    repeated.token.nonce ^= 1;
    let (state, kept, found, listed, again) = tokio::join!(
        store.load_durable(&done.key),
        store.request(&done.key, &id),
        store.settlement(operator, &record.id),
        store.settlements(operator, &filter, None, 100),
        async {
            let itself = store.commit(done.clone()).await?;
            let its_request = store.commit(repeated).await?;
            Ok((itself, its_request))
        },
    );
    [
        state.map(|state| state.is_some_and(|state| state.token == done.token)),
        kept.map(|kept| kept == Some(request())),
        found.map(|found| found.as_ref() == Some(record)),
        listed.map(|listed| listed.records.iter().any(|(_, listed)| listed == record)),
        again.map(|(itself, its_request)| {
            is_done(&Ok(itself)) && matches!(its_request, Outcome::Repeated { .. })
        }),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_replica_has_is_not_acknowledged() {
    let primary = Server::start();
    let port = primary.port.to_string();
    let replica = Server::with(&["--replicaof", "127.0.0.1", &port, "--repl-diskless-sync-delay", "0"]);
    until("the replica follows", || primary.ask::<String>(&["INFO", "replication"]).contains("state=online"));
    // Somebody whose commits wait for nobody stands for one who has died while he waited.
    let hasty = open(with_durability(primary.endpoint(), Durability::Memory)).await;
    let sure: Arc<RedisStore> = open(with_durability(primary.endpoint(), Durability::Replicated(1))).await;
    let mut chain = played(&hasty, key(1), 5, 3).await;
    let mut commit = chain.next();
    let (_, record) = settlements().remove(0);
    commit.request = Some(request());
    commit.settlements = vec![record.clone()];
    replica.signal("-STOP");
    assert!(is_done(&hasty.commit(commit.clone()).await));
    for (way, told) in ways(&sure, &commit, &record).await.into_iter().enumerate() {
        assert!(!matches!(told, Ok(true)), "way {way} acknowledges what no replica has: {told:?}");
    }
    replica.signal("-CONT");
    for (way, told) in ways(&sure, &commit, &record).await.into_iter().enumerate() {
        assert!(matches!(told, Ok(true)), "way {way}: {told:?}");
    }
    // Without the promise nobody waits.
    replica.signal("-STOP");
    for (way, told) in ways(&hasty, &commit, &record).await.into_iter().enumerate() {
        assert!(matches!(told, Ok(true)), "way {way}: {told:?}");
    }
}
