//! A primary with two replicas and three sentinels: fail-overs, with and without replicas that lag behind.

use std::thread::sleep;
use std::time::{Duration, Instant};

use redis::Value;

use super::stage::{Stage, wait};
use super::{Fault, Promise};
use crate::servers::{Installation, Server, until};

pub const FAULTS: [Fault; 6] = [
    fault("sentinel-kill-memory", KILL, "memory", recommended, kill, Promise::LossIsSaid),
    fault("sentinel-kill-replicated", KILL, "replicated:1", recommended, kill, Promise::NothingLost),
    fault(
        "sentinel-behind-memory",
        BEHIND,
        "memory",
        Installation::sentinel,
        kill_behind,
        Promise::LossIsSaid,
    ),
    fault("sentinel-behind-replicated", BEHIND, "replicated:1", patient, kill_behind, Promise::AnswersKept),
    fault("sentinel-partition-memory", PARTITION, "memory", recommended, partition, Promise::LossIsSaid),
    fault(
        "sentinel-partition-replicated",
        PARTITION,
        "replicated:1",
        recommended,
        partition,
        Promise::NothingLost,
    ),
];

const KILL: &str = "Sentinel: SIGKILL of the primary, back after 6 s";
const BEHIND: &str =
    "Sentinel: SIGKILL of the primary 300 ms after its replicas lost it, `min-replicas-to-write 0`";
const PARTITION: &str = "Sentinel: SIGSTOP of the primary until 2 s after another is one; its callers stay";

const fn fault(
    name: &'static str,
    told: &'static str,
    durability: &'static str,
    redis: fn() -> Installation,
    strike: fn(&mut Stage) -> Option<Duration>,
    promise: Promise,
) -> Fault {
    Fault { name, told, durability, redis, proxied: false, strike, promise }
}

/// How long sentinels wait for a primary, ms.
const DOWN_AFTER: u32 = 1_500;

fn patient() -> Installation {
    let installation = Installation::sentinel();
    installation.give_up_after(DOWN_AFTER);
    installation
}

/// As `deploy/redis.md` asks for it.
fn recommended() -> Installation {
    let installation = patient();
    for server in &installation.servers {
        let _: Value = server.ask(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    }
    installation
}

fn kill(stage: &mut Stage) -> Option<Duration> {
    stage.redis.servers[0].kill();
    Some(fail_over_and_return(stage))
}

/// What the primary does meanwhile nobody else has.
fn kill_behind(stage: &mut Stage) -> Option<Duration> {
    let servers = &mut stage.redis.servers;
    servers[1..].iter().for_each(|replica| replica.signal("-STOP"));
    let _: Value = servers[0].ask(&["CLIENT", "KILL", "TYPE", "replica"]);
    sleep(Duration::from_millis(300));
    servers[0].kill();
    servers[1..].iter().for_each(|replica| replica.signal("-CONT"));
    Some(fail_over_and_return(stage))
}

fn fail_over_and_return(stage: &mut Stage) -> Duration {
    let (died, servers) = (Instant::now(), &mut stage.redis.servers);
    until("another primary", || servers[1..].iter().any(takes_writes));
    let away = died.elapsed();
    sleep(Duration::from_secs(6).saturating_sub(away));
    servers[0].restart();
    away
}

fn partition(stage: &mut Stage) -> Option<Duration> {
    let servers = &stage.redis.servers;
    let stopped = Instant::now();
    servers[0].signal("-STOP");
    until("another primary", || servers[1..].iter().any(is_primary));
    let away = stopped.elapsed();
    wait(2);
    servers[0].signal("-CONT");
    Some(away)
}

/// A new primary takes none before it has the replica that `min-replicas-to-write` asks for.
fn takes_writes(server: &Server) -> bool {
    server.try_ask::<Value>(&["SET", "chaos", "", "PX", "1000"]).is_ok()
}

pub fn is_primary(server: &Server) -> bool {
    let role = server.try_ask::<Vec<Value>>(&["ROLE"]).unwrap_or_default();
    role.first() == Some(&Value::BulkString(b"master".to_vec()))
}
