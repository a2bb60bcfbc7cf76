//! The laws of a store, on every kind of installation.

use std::sync::Arc;

use fulcrum::store::redis::{Durability, RedisConfig, Topology};
use rules::Millis;
use tables::stops::{Author, Changed};
use tables::store::REQUEST_RETENTION;
use tables::{Store, laws};

use super::proxy::Proxy;
use super::servers::Installation;
use super::{is_done, open};
use crate::chain::Chain;
use crate::fixtures::{key, request};
use crate::stop_records::a_stop;

async fn keeps_the_laws(installation: &Installation, config: RedisConfig) {
    laws::all(|setting| {
        let config = RedisConfig { history: setting.history, notes: setting.notes, ..config.clone() };
        async move {
            installation.empty();
            open(config).await as Arc<dyn Store>
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_single_server_keeps_the_laws() {
    let installation = Installation::single();
    keeps_the_laws(&installation, installation.config()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sentinel_keeps_the_laws() {
    let installation = Installation::sentinel();
    keeps_the_laws(&installation, installation.with_durability(Durability::Replicated(1))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_keeps_the_laws() {
    let installation = Installation::cluster();
    keeps_the_laws(&installation, installation.config()).await;
}

/// The laws can tell a right script from a wrong one: a proxy takes the check of the token out of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_without_its_token_check_breaks_the_laws() {
    const SCRIPT: &str = include_str!("../../../services/store/redis/commit.lua");
    // Not what the script of stops has too.
    const CHECK: &str = "if current ~= A[1] then\n";
    const NO_CHECK: &str = "if current == nil  then\n";
    let hash = |script: &str| redis::Script::new(script).get_hash().as_bytes().to_vec();
    let wrong = SCRIPT.replacen(CHECK, NO_CHECK, 1);
    assert_ne!(wrong, SCRIPT, "the check is where it was");
    let lies = vec![(CHECK.into(), NO_CHECK.into()), (hash(SCRIPT), hash(&wrong))];
    let installation = Installation::single();
    let proxy = Proxy::lying(&installation.servers[0].endpoint(), lies).await;
    let config = RedisConfig::new(Topology::Single(proxy.endpoint()));
    let broken = laws::broken(|setting| {
        let config = RedisConfig { history: setting.history, notes: setting.notes, ..config.clone() };
        let installation = &installation;
        async move {
            installation.empty();
            open(config).await as Arc<dyn Store>
        }
    });
    let broken: Vec<&str> = broken.await.iter().map(|law| law.law).collect();
    for law in ["the_token_decides_and_not_the_version", "racing_writers_make_one_history"] {
        assert!(broken.contains(&law), "{law} does not notice; broken are {broken:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_of_settlements_looks_at_so_many() {
    let installation = Installation::single();
    let store = open(installation.config()).await;
    crate::outbox::a_page_has_a_bound(&*store).await;
}

/// The law of request records needs a clock that can be turned; Redis has its own. So it is looked at how long Redis
/// means to keep one.
#[tokio::test]
async fn request_records_are_kept_so_long() {
    for kept in [REQUEST_RETENTION, Millis::minutes(180)] {
        let installation = Installation::single();
        let config = RedisConfig { requests_kept: kept, ..installation.config() };
        are_kept_so_long(&installation, &*open(config).await, kept).await;
    }
}

async fn are_kept_so_long(installation: &Installation, store: &dyn Store, Millis(whole): Millis) {
    let mut commit = Chain::new(key(1), 1).next();
    commit.request = Some(request());
    assert!(is_done(&store.commit(commit).await));
    assert!(store.request(&key(1), &request().id).await.unwrap() == Some(request()));
    let keys: Vec<String> = installation.servers[0].ask(&["KEYS", "*:rq:*"]);
    assert_eq!(keys.len(), 1);
    let left: u64 = installation.servers[0].ask(&["PTTL", &keys[0]]);
    assert!((whole - 10_000..=whole).contains(&left), "{left} ms of {whole}");
    let kept: Vec<String> = installation.servers[0].ask(&["KEYS", "{s*"]);
    for key in kept.iter().filter(|key| !key.contains(":rq:")) {
        let left: i64 = installation.servers[0].ask(&["PTTL", key]);
        assert_eq!(left, -1, "{key} would go by itself");
    }
}

/// Redis refuses times of life that are too short or too long: that must not come after the first write.
#[tokio::test]
async fn requests_are_kept_for_any_time_without_harm() {
    let installation = Installation::single();
    for kept in [Millis::ZERO, Millis(u64::MAX)] {
        installation.empty();
        let store = open(RedisConfig { requests_kept: kept, ..installation.config() }).await;
        let mut commit = Chain::new(key(1), 1).next();
        commit.request = Some(request());
        assert!(is_done(&store.commit(commit).await));
        let mut stop = a_stop();
        stop.request = Some((Author::Operator(key(1).operator), request()));
        assert_eq!(store.stops().change(&stop).await.unwrap(), Changed::Done);
        let shelf = store.stops().shelf(&stop.shelf, None).await.unwrap().unwrap();
        assert_eq!((shelf.token, shelf.entries), (Some(stop.token), stop.put));
    }
}
