//! Settings of connections.

use serde::Deserialize;

use super::ConfigError;

/// What a connection of a caller may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connections {
    /// So many at once.
    pub most: usize,
    /// So many of one address; 0 for no such bound.
    pub of_an_address: usize,
    /// How old one gets, in minutes; 0 for as old as its caller likes.
    pub age_minutes: u64,
    /// How long nothing may go on at one, in seconds.
    pub idle_seconds: u64,
}

impl Connections {
    /// Whether they can be had.
    ///
    /// # Errors
    /// [`ConfigError::Zero`]
    pub(super) const fn check(&self) -> Result<(), ConfigError> {
        match (self.most, self.idle_seconds) {
            (0, _) => Err(ConfigError::Zero("connections.most")),
            (_, 0) => Err(ConfigError::Zero("connections.idle_seconds")),
            _ => Ok(()),
        }
    }
}
