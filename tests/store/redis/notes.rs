//! Hands that end while the server that keeps the notes of them is away: it is another one than their tables', and their
//! tables go on.

use std::time::{Duration, Instant};

use rules::Millis;
use tables::Store;

use super::servers::{Installation, until};
use super::{check_chain, is_done, keeping, open};
use crate::chain::Chain;
use crate::fixtures::key;

/// Longer than a note may hold up its commit, and a busy machine besides; much less than a call is tried again.
const SOON: Duration = Duration::from_millis(900);

/// The server that keeps what belongs to the installation, by its place.
fn home(installation: &Installation) -> usize {
    let keeps =
        |server: &super::servers::Server| !server.ask::<Vec<String>>(&["KEYS", "{fulcrum}*"]).is_empty();
    installation.servers.iter().position(keeps).expect("a server has it")
}

/// Tables that lie elsewhere.
async fn elsewhere(store: &dyn Store, installation: &Installation, home: usize, count: usize) -> Vec<Chain> {
    let mut chains = Vec::new();
    for number in 1.. {
        let mut chain = Chain::new(key(number), u64::try_from(number).unwrap());
        assert!(is_done(&store.commit(chain.next()).await));
        let state = format!("*:t:{}:s", chain.key);
        if installation.servers[home].ask::<Vec<String>>(&["KEYS", &state]).is_empty() {
            chains.push(chain);
        }
        if chains.len() == count {
            break;
        }
    }
    chains
}

/// Commits that end a hand of which is to be told, one at each table; gives how long the slowest took.
async fn end_hands(store: &dyn Store, chains: &mut [Chain]) -> Duration {
    let mut slowest = Duration::ZERO;
    for chain in chains {
        let mut commit = chain.next();
        commit.untold = true;
        let asked = Instant::now();
        let outcome = store.commit(commit).await;
        assert!(is_done(&outcome), "{outcome:?}");
        slowest = slowest.max(asked.elapsed());
    }
    slowest
}

async fn noted(store: &dyn Store) -> usize {
    store.untold().take(&key(1).operator, Millis::ZERO, 1000).await.map_or(0, |noted| noted.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hands_end_while_the_server_of_their_notes_is_away() {
    let installation = Installation::cluster();
    for server in &installation.servers {
        // Its slots have nobody, and the others serve theirs.
        server.ask::<()>(&["CONFIG", "SET", "cluster-require-full-coverage", "no"]);
    }
    let store = open(keeping(installation.config())).await;
    let away = home(&installation);
    let mut chains = elsewhere(&*store, &installation, away, 10).await;
    end_hands(&*store, &mut chains).await;
    assert_eq!(noted(&*store).await, 10);

    installation.servers[away].signal("-STOP");
    let slowest = end_hands(&*store, &mut chains[..1]).await;
    assert!(slowest < SOON, "the first one waits for a moment: {slowest:?}");
    let began = Instant::now();
    for _ in 0..10 {
        end_hands(&*store, &mut chains).await;
    }
    // A hundred that wait for a moment each would take half a minute.
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());

    // When nobody has called for so long that the time has to be asked for, the others tell it.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let slowest = end_hands(&*store, &mut chains).await;
    assert!(slowest < 2 * SOON, "{slowest:?}");

    installation.servers[away].signal("-CONT");
    until("the cluster is whole again", || {
        installation.servers[away].ask::<String>(&["CLUSTER", "INFO"]).contains("cluster_state:ok")
    });
    let began = Instant::now();
    let before = noted(&*store).await;
    while noted(&*store).await <= before.max(10) {
        assert!(began.elapsed() < Duration::from_secs(20), "nothing is noted any more");
        end_hands(&*store, &mut chains).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for chain in &chains {
        check_chain(&store, chain).await;
    }
}
