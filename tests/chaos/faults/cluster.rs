//! A cluster of three primaries: one dies and its replica takes over, or slots move between them.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::sentinel::is_primary;
use super::stage::Stage;
use super::{Fault, Promise};
use crate::servers::{Installation, migrate, slots_in_use, until};

pub const FAULTS: [Fault; 2] = [
    Fault {
        name: "cluster-kill-replicated",
        told: "Cluster: SIGKILL of one primary of three, back after 6 s as a replica",
        durability: "replicated:1",
        redis: Installation::cluster_with_replicas,
        proxied: false,
        strike: kill,
        promise: Promise::NothingLost,
    },
    Fault {
        name: "cluster-slots",
        told: "Cluster: all slots in use move from one primary to another",
        durability: "memory",
        redis: Installation::cluster,
        proxied: false,
        strike: move_slots,
        promise: Promise::NothingLost,
    },
];

fn kill(stage: &mut Stage) -> Option<Duration> {
    let servers = &mut stage.redis.servers;
    let died = Instant::now();
    servers[0].kill();
    until("its replica takes over", || is_primary(&servers[3]));
    let away = died.elapsed();
    sleep(Duration::from_secs(6).saturating_sub(away));
    servers[0].restart();
    Some(away)
}

fn move_slots(stage: &mut Stage) -> Option<Duration> {
    let servers = &stage.redis.servers;
    for slot in slots_in_use(&servers[0]) {
        stage.load.must_run();
        migrate(servers, slot, 0, 2);
    }
    None
}
