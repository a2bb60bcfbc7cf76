//! The service over a real socket: a server in this process with a store in memory and decks of ours, a tonic client
//! on the other end of a TCP connection.

mod access;
mod admission;
mod books;
mod connections;
mod damaged;
mod delivery;
mod drain;
mod errors;
mod hands;
mod harness;
mod hostile;
mod limits;
#[path = "../store/lines.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod lines;
mod listing;
mod lists;
mod loss;
mod metrics;
mod money;
mod play;
mod repeats;
mod resolving;
mod secrecy;
#[path = "../store/redis/servers.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod servers;
mod stops;
mod tls;
mod traced;
mod wallet;
mod watching;
