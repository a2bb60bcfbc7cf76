//! One Redis server: it dies, stands still, or one of ours is cut off from it.

use std::time::{Duration, Instant};

use super::stage::{Stage, wait};
use super::{Fault, Promise};
use crate::proxy::Mood;
use crate::servers::{Installation, Server};

pub const FAULTS: [Fault; 5] = [
    Fault {
        name: "kill-everysec",
        told: "Redis: SIGKILL, started again after 1 s, `appendfsync everysec`",
        durability: "memory",
        redis: Installation::single,
        proxied: false,
        strike: kill,
        // Redis puts off writing its file while the disk is busy.
        promise: Promise::LossIsSaid,
    },
    Fault {
        name: "kill-always",
        told: "Redis: SIGKILL, started again after 1 s, `appendfsync always`",
        durability: "fsync",
        redis: with_fsync,
        proxied: false,
        strike: kill,
        promise: Promise::NothingLost,
    },
    Fault {
        name: "old-disk",
        told: "Redis: SIGKILL, started again with its disk of 1 s before, as after a power cut",
        durability: "memory",
        redis: Installation::single,
        proxied: false,
        strike: lose_a_second,
        promise: Promise::LossIsSaid,
    },
    Fault {
        name: "stop",
        told: "Redis: SIGSTOP for 10 s",
        durability: "memory",
        redis: Installation::single,
        proxied: false,
        strike: stop,
        promise: Promise::NothingLost,
    },
    Fault {
        name: "cut",
        told: "one server of four cut off from Redis for 10 s",
        durability: "memory",
        redis: Installation::single,
        proxied: true,
        strike: cut,
        promise: Promise::OthersPlayOn,
    },
];

fn with_fsync() -> Installation {
    Installation::of(Server::with(&["--appendonly", "yes", "--appendfsync", "always"]))
}

fn kill(stage: &mut Stage) -> Option<Duration> {
    let redis = &mut stage.redis.servers[0];
    let died = Instant::now();
    redis.kill();
    wait(1);
    redis.restart();
    Some(died.elapsed())
}

fn lose_a_second(stage: &mut Stage) -> Option<Duration> {
    let redis = &mut stage.redis.servers[0];
    let disk = redis.copy_disk();
    wait(1);
    let died = Instant::now();
    redis.kill();
    redis.restore_disk(&disk);
    redis.restart();
    Some(died.elapsed())
}

fn stop(stage: &mut Stage) -> Option<Duration> {
    let redis = &stage.redis.servers[0];
    let stopped = Instant::now();
    redis.signal("-STOP");
    wait(10);
    redis.signal("-CONT");
    Some(stopped.elapsed())
}

fn cut(stage: &mut Stage) -> Option<Duration> {
    let proxy = stage.proxy.as_ref().expect("the first server has one");
    proxy.be(Mood::Closed);
    wait(10);
    proxy.be(Mood::Honest);
    None
}
