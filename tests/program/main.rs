//! The program as people start it: the built binary, in processes of its own.

mod access;
mod binary;
mod book;
mod bookkeeping;
mod bots;
mod capacity;
#[path = "../store/chain.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod chain;
mod child;
#[path = "../service/harness/collector.rs"]
#[allow(dead_code, reason = "the service's tests need more of it")]
mod collector;
mod conformance;
mod crash;
mod crowded;
mod demo;
mod draining;
mod duplicates;
#[path = "../store/events.rs"]
mod events;
#[path = "../store/fixtures.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod fixtures;
mod health;
mod load;
mod metrics;
mod operator;
#[path = "../store/payments.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod payments;
#[path = "../store/play.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod play;
#[path = "../store/redis/proxy.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod proxy;
#[path = "../service/harness/raw.rs"]
#[allow(dead_code, reason = "the service's tests need more of it")]
mod raw;
mod redis;
mod serve;
#[path = "../store/redis/servers.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod servers;
mod shedding;
mod spectator;
mod stops;
mod store;
mod telling;
mod tls;
mod trace;
mod traces;

/// Longer than anything in a process of ours takes.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);
