//! redis-benchmark with the commit script. It can put random numbers into arguments and nothing else, so its script
//! does not check the token and lets Redis number the entries; everything else is done as in the service's.

use std::process::Command;

use super::meter::{Redis, Way};
use super::shared::Fault;
use super::wire::Recorded;

const SCRIPT: &str = include_str!("../../../../services/store/redis/commit.lua");
const CHECK: &str = "if current ~= A[1] then";
const NO_CHECK: &str = "if current == nil  then";

/// So many commits over so many connections.
pub async fn run(
    redis: &Redis,
    recorded: &Recorded,
    connections: usize,
    commits: usize,
    way: &mut Way,
) -> Result<(), Fault> {
    let script = SCRIPT.replacen(CHECK, NO_CHECK, 1);
    if script == SCRIPT {
        return Err("the script's check of its token is not where it was".into());
    }
    let hash: String = redis.ask(&["SCRIPT", "LOAD", &script])?;
    let (connections, commits) = (connections.to_string(), commits.max(connections));
    let mut command = Command::new("redis-benchmark");
    command.args(["-p", &redis.port.to_string(), "-c", &connections, "-n", &commits.to_string()]);
    // With this range each token is another one.
    command.args(["-r", "1000000000", "--csv", "--precision", "3", "EVALSHA", &hash, "3"]);
    command.args([
        "{s000}:t:bench/tool:s",
        "{s000}:t:bench/tool:e",
        "{s000}:tm",
        "any other token.",
        "tok:__rand_int__",
    ]);
    command.args(["x".repeat(recorded.length(3)), "x".repeat(recorded.length(4))]);
    command.args([
        "*",
        "256",
        "1896031846521",
        "bench/tool",
        "1000000000000",
        "9999999999999",
        "{s000}:c:bench/tool",
    ]);
    command.args(["", "", "1209600000", "0"]);
    let before = redis.usage()?;
    let output = tokio::task::spawn_blocking(move || command.output()).await??;
    let used = redis.usage()?.since(&before);
    let text = String::from_utf8_lossy(&output.stdout);
    // name, calls a second, and in ms: average, least, p50, p95, p99, most
    let last = text.lines().last().unwrap_or_default().rsplit(',').take(7);
    let numbers: Vec<f64> = last.filter_map(|field| field.trim_matches('"').parse().ok()).collect();
    let [_, p99, _, p50, _, _, rate] = numbers[..] else {
        return Err(format!("redis-benchmark says {text}").into());
    };
    way.told(used, commits, rate, (p50 * 1e3, p99 * 1e3));
    Ok(())
}
