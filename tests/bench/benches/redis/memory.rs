//! What tables take of Redis' memory.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::chain::Chain;
use super::meter::Redis;
use super::open;
use super::servers::Server;
use super::shared::Fault;

/// Commits of an hour: 70 hands of six players, 17 commits each.
const HOUR: usize = 70 * 17;

/// An idle table, and one with an hour of play, with both sizes of a stream's node.
pub async fn print(tables: usize) -> Result<(), Fault> {
    println!(
        "\nMemory of a table in bytes; an hour is {HOUR} commits: 70 hands of six players, 17 commits each; 256 are kept"
    );
    println!(
        "{:<30} {:>10} {:>10} {:>22}",
        "stream-node-max-bytes", "idle", "an hour", "of which settlements"
    );
    for node in ["4096", "1024"] {
        let server = Server::start();
        let redis = Redis::of(&server);
        let _: String = redis.ask(&["CONFIG", "SET", "stream-node-max-bytes", node])?;
        let store = open(server.endpoint()).await?;
        let before = used(&redis)?;
        // Ten times as many, as each takes so little.
        for number in 0..tables * 10 {
            Chain::open(&store, number as u64, 0).await?;
        }
        let idle = (used(&redis)? - before) / (tables * 10) as f64;
        let before = used(&redis)?;
        let settled = settlements(&redis)?;
        let mut jobs = JoinSet::new();
        for number in 0..tables {
            let store = Arc::clone(&store);
            jobs.spawn(async move { Chain::open(&store, number as u64, HOUR).await?.play().await });
        }
        while let Some(done) = jobs.join_next().await {
            done??;
        }
        let hour = (used(&redis)? - before) / tables as f64;
        let settled = (settlements(&redis)? - settled) / tables as f64;
        println!("{node:<30} {idle:>10.0} {hour:>10.0} {settled:>22.0}");
    }
    Ok(())
}

fn used(redis: &Redis) -> Result<f64, Fault> {
    let memory = redis.info("memory")?;
    // Buffers of connections and of the append-only file come and go.
    let number = |name: &str| memory.get(name).and_then(|text| text.parse::<f64>().ok()).unwrap_or_default();
    let passing = ["mem_clients_normal", "mem_aof_buffer", "mem_clients_slaves"];
    Ok(number("used_memory") - passing.iter().map(|name| number(name)).sum::<f64>())
}

/// The outboxes and their indices.
fn settlements(redis: &Redis) -> Result<f64, Fault> {
    let mut all = 0.0;
    for pattern in ["{s*}:ob:*", "{s*}:si:*"] {
        for key in redis.ask::<Vec<String>>(&["KEYS", pattern])? {
            all += redis.ask::<f64>(&["MEMORY", "USAGE", &key, "SAMPLES", "0"])?;
        }
    }
    Ok(all)
}
