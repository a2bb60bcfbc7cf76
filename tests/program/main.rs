//! The program as people start it: the built binary, in processes of its own.

mod book;
mod bots;
mod child;
mod crash;
mod demo;
mod duplicates;
mod load;
#[path = "../service/harness/raw.rs"]
#[allow(dead_code, reason = "the service's tests need more of it")]
mod raw;
mod redis;
mod serve;
#[path = "../store/redis/servers.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod servers;
mod spectator;
