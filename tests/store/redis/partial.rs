//! A cluster of which one server is away: the clocks of the others' tables go on, and its own lose nothing.

use std::time::{Duration, Instant};

use rules::{Due, Millis};
use tables::{Message, TableKey, Watcher};

use super::outages::{Process, all_run_out, process, shifted, table, timed_out, until};
use super::servers::{self, Installation, Server};

/// A cluster whose servers serve their slots although another one's have nobody.
fn cluster() -> Installation {
    let installation = Installation::cluster();
    for server in &installation.servers {
        server.ask::<()>(&["CONFIG", "SET", "cluster-require-full-coverage", "no"]);
    }
    installation
}

/// The place of the server that has such a key.
fn keeper(installation: &Installation, pattern: &str) -> usize {
    let keeps = |server: &Server| !server.ask::<Vec<String>>(&["KEYS", pattern]).is_empty();
    installation.servers.iter().position(keeps).expect("a server has it")
}

/// Tables of which at least one lies at each server, and where they lie.
async fn everywhere(installation: &Installation, process: &Process, action: u64) -> Vec<(usize, TableKey)> {
    let mut keys = Vec::new();
    for number in 1.. {
        let key = table(&process.tables, number, action).await;
        keys.push((keeper(installation, &format!("*:t:{key}:s")), key));
        if (0..installation.servers.len()).all(|server| keys.iter().any(|(place, _)| *place == server)) {
            break;
        }
    }
    keys
}

async fn watch<'a>(process: &Process, keys: impl Iterator<Item = &'a (usize, TableKey)>) -> Vec<Watcher> {
    let mut watchers = Vec::new();
    for (_, key) in keys {
        watchers.push(process.tables.watch(key, None).await.expect("a stream"));
    }
    watchers
}

/// Stands still, for longer than a sign of life counts.
async fn stop(server: &Server) {
    server.signal("-STOP");
    tokio::time::sleep(Duration::from_secs(4)).await;
}

fn go_on(installation: &Installation, away: usize) {
    installation.servers[away].signal("-CONT");
    servers::until("the cluster is whole again", || {
        installation.servers.iter().all(|server| {
            server.ask::<String>(&["CLUSTER", "INFO"]).contains("cluster_state:ok")
                && !server.ask::<String>(&["CLUSTER", "NODES"]).contains("fail")
        })
    });
}

/// Whether the table's clocks were given time back, by what its stream has told so far.
async fn given_back(watcher: &mut Watcher) -> bool {
    let mut given = false;
    while let Ok(Some(message)) = tokio::time::timeout(Duration::from_millis(200), watcher.next()).await {
        if let Message::Commit { events, .. } = message {
            given |= events.iter().any(shifted);
        }
    }
    given
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_2_a_server_that_is_away_does_not_stop_the_clocks_of_the_others_tables() {
    let installation = cluster();
    let process = process(&installation).await;
    let keys = everywhere(&installation, &process, 1000).await;
    let home = keeper(&installation, "{fulcrum}*");
    let away = (home + 1) % installation.servers.len();
    let mut bereft = watch(&process, keys.iter().filter(|(place, _)| *place == away)).await;
    stop(&installation.servers[away]).await;
    // Hands end and begin there as always.
    let mut others = watch(&process, keys.iter().filter(|(place, _)| *place != away)).await;
    all_run_out(&mut others, &**process.tables.store(), 3).await;
    for watcher in &mut others {
        assert!(!given_back(watcher).await, "a clock of another server's table was given time back");
    }
    go_on(&installation, away);
    for watcher in &mut bereft {
        let (events, _) = until(watcher, shifted).await;
        let ran_out = events.iter().filter(|event| timed_out(event)).count();
        assert!(ran_out <= 1, "{ran_out} turns ran out while the server was away");
        until(watcher, timed_out).await;
    }
}

/// It also keeps who is stopped, without which no hand begins, and who else is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_2_running_clocks_do_not_wait_for_the_server_of_what_belongs_to_all() {
    let installation = cluster();
    let process = process(&installation).await;
    let keys = everywhere(&installation, &process, 7000).await;
    let home = keeper(&installation, "{fulcrum}*");
    let began = Instant::now();
    loop {
        assert!(began.elapsed() < Duration::from_secs(25), "nobody is asked");
        let mut asked = Vec::new();
        for (place, key) in &keys {
            let due = process.tables.read(key).await.unwrap().due();
            let now = process.tables.store().now().await.unwrap();
            if *place != home && due.is_some_and(|(at, due)| due == Due::Expire && at > now + Millis(4000)) {
                asked.push((*place, key.clone()));
            }
        }
        if !asked.is_empty() {
            let mut others = watch(&process, asked.iter()).await;
            stop(&installation.servers[home]).await;
            all_run_out(&mut others, &**process.tables.store(), 1).await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
