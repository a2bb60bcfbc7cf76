//! Stored records and the stores that keep them: the laws of a store over every store, and what only the embedded one
//! promises.

mod codec;
mod fixtures;
mod keyring;
mod play;
mod seal;
