//! Stored records and the stores that keep them: the laws of a store over every store, and what only the embedded one
//! promises.

mod chain;
mod codec;
mod embedded;
mod events;
mod fixtures;
mod golden;
mod inspect;
mod janitor;
mod keyring;
mod kill;
mod laws;
mod lines;
mod outbox;
mod payment_records;
mod payments;
#[allow(dead_code, reason = "the program's tests need more of it")]
mod play;
mod redis;
mod seal;
mod stop_records;
