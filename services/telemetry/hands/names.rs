//! How players are named in traces.

use std::fmt::Write;

use hmac::{Hmac, KeyInit, Mac};
use rules::PlayerId;
use sha2::Sha256;

use crate::telemetry::traces::PlayerNames;

/// So many bytes of the hash make a name: enough to tell players apart, and as short as a span's id.
const LENGTH: usize = 8;

/// Gives players their names.
#[derive(Clone)]
pub enum Names {
    /// By a hash with this key.
    Hashed(Box<Hmac<Sha256>>),
    /// By their ids.
    Clear,
}

impl Names {
    /// As the settings say.
    #[must_use]
    pub fn new(players: &PlayerNames) -> Names {
        match players {
            PlayerNames::Clear => Names::Clear,
            PlayerNames::Hashed(key) => {
                // A shorter key is filled up with zeros, as RFC 2104 has it.
                let mut block = [0; 64];
                block[..key.len()].copy_from_slice(key);
                Names::Hashed(Box::new(<Hmac<Sha256> as KeyInit>::new(&block.into())))
            }
        }
    }

    /// The name of a player.
    #[must_use]
    pub fn name(&self, player: &PlayerId) -> String {
        match self {
            Names::Clear => player.as_str().to_owned(),
            Names::Hashed(keyed) => {
                let mut code = (**keyed).clone();
                code.update(player.as_str().as_bytes());
                let hash = code.finalize().into_bytes();
                hash.iter().take(LENGTH).fold(String::with_capacity(2 * LENGTH), |mut name, byte| {
                    // A String takes everything.
                    let _ = write!(name, "{byte:02x}");
                    name
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_the_player_and_of_the_key_and_does_not_show_him() {
        let (ann, bob) = (PlayerId::new("ann").unwrap(), PlayerId::new("bob").unwrap());
        let (one, other) =
            (Names::new(&PlayerNames::Hashed([1; 32])), Names::new(&PlayerNames::Hashed([2; 32])));
        assert_eq!(one.name(&ann), one.name(&ann));
        assert_ne!(one.name(&ann), one.name(&bob));
        assert_ne!(one.name(&ann), other.name(&ann));
        let name = one.name(&ann);
        assert!(name.len() == 16 && name.bytes().all(|c| c.is_ascii_hexdigit()), "{name}");
        assert_eq!(Names::new(&PlayerNames::Clear).name(&ann), "ann");
    }
}
