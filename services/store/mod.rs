//! Stores that outlive the process: records, the sealing of cards, the embedded store, and the one in Redis.
//!
//! What is absent, on purpose: nothing here decides anything about a game, and nothing here knows the contract that
//! callers see. A store keeps what it is given, exactly, and gives it back.

pub mod codec;
pub mod embedded;
pub mod inspect;
pub mod keyring;
pub mod redis;
pub mod seal;

pub use codec::{Codec, CodecError};
pub use embedded::{EmbeddedSettings, EmbeddedStore, OpenError};
pub use keyring::{Keyring, KeyringError};
pub use redis::{RedisConfig, RedisStore, RoundTrips, ServerState};
pub use seal::{Place, Purpose, SealError, Sealed};

/// Later than this no due time lies, ms since the epoch: the greatest number that a sorted set of Redis keeps exactly.
const LATEST: rules::Millis = rules::Millis((1 << 53) - 1);
