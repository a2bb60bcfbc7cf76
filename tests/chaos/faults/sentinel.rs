//! A primary with two replicas and three sentinels: fail-overs, with and without replicas that lag behind.

use std::thread::sleep;
use std::time::Duration;

use redis::Value;

use super::stage::{Stage, wait};
use super::{Fault, Promise};
use crate::servers::{Installation, Server, until};

pub const FAULTS: [Fault; 6] = [
    fault("sentinel-kill-memory", KILL, "memory", kill, Promise::LossIsSaid),
    fault("sentinel-kill-replicated", KILL, "replicated:1", kill, Promise::NothingLost),
    fault("sentinel-lag-memory", LAG, "memory", kill_while_behind, Promise::LossIsSaid),
    fault("sentinel-lag-replicated", LAG, "replicated:1", kill_while_behind, Promise::NothingLost),
    fault("sentinel-partition-memory", PARTITION, "memory", partition, Promise::LossIsSaid),
    fault("sentinel-partition-replicated", PARTITION, "replicated:1", partition, Promise::NothingLost),
];

const KILL: &str = "Sentinel: SIGKILL of the primary, back after 6 s";
const LAG: &str = "Sentinel: SIGKILL of the primary, its replicas 300 ms behind";
const PARTITION: &str =
    "Sentinel: the primary stands still until another is one, then goes on with its callers";

const fn fault(
    name: &'static str,
    told: &'static str,
    durability: &'static str,
    strike: fn(&mut Stage),
    promise: Promise,
) -> Fault {
    Fault { name, told, durability, redis: recommended, proxied: false, strike, promise }
}

/// As `deploy/redis.md` asks for it.
fn recommended() -> Installation {
    let installation = Installation::sentinel();
    for server in &installation.servers {
        let _: Value = server.ask(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    }
    installation
}

fn kill(stage: &mut Stage) {
    stage.redis.servers[0].kill();
    wait(6);
    stage.redis.servers[0].restart();
}

fn kill_while_behind(stage: &mut Stage) {
    let servers = &mut stage.redis.servers;
    servers[1..].iter().for_each(|replica| replica.signal("-STOP"));
    sleep(Duration::from_millis(300));
    servers[0].kill();
    servers[1..].iter().for_each(|replica| replica.signal("-CONT"));
    wait(6);
    servers[0].restart();
}

fn partition(stage: &mut Stage) {
    let servers = &stage.redis.servers;
    servers[0].signal("-STOP");
    until("another primary", || servers[1..].iter().any(is_primary));
    wait(2);
    servers[0].signal("-CONT");
}

fn is_primary(server: &Server) -> bool {
    let role = server.try_ask::<Vec<Value>>(&["ROLE"]).unwrap_or_default();
    role.first() == Some(&Value::BulkString(b"master".to_vec()))
}
