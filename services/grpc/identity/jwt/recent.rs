//! Tokens that were verified a moment ago. Verifying one takes 20 to 120 µs of a processor, about as much as the rest of a
//! call; a backend sends the same one with every call.

use std::collections::HashMap;
use std::mem;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::grpc::identity::Caller;

/// So long a token is not verified again.
const KEPT: Duration = Duration::from_secs(60);
/// Half of them are kept when so many more have come.
const HALF: usize = 8192;

/// A token without what is secret in it.
pub type TokenDigest = [u8; 32];

/// The digest of a token.
pub fn digest(token: &str) -> TokenDigest {
    Sha256::digest(token.as_bytes()).into()
}

#[derive(Clone, Debug)]
struct Entry {
    caller: Caller,
    /// Of the keys by which it was verified: with other keys it has to be verified anew.
    generation: u64,
    until: Instant,
}

/// Tokens that were verified a moment ago, so many at most.
#[derive(Debug, Default)]
pub struct Recent(Mutex<Halves>);

#[derive(Debug, Default)]
struct Halves {
    new: HashMap<TokenDigest, Entry>,
    old: HashMap<TokenDigest, Entry>,
}

impl Recent {
    /// Whose it is, if it was verified a moment ago with keys that still hold.
    pub fn find(&self, token: &TokenDigest, generation: u64) -> Option<Caller> {
        let halves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = halves.new.get(token).or_else(|| halves.old.get(token))?;
        let good = entry.generation == generation && Instant::now() < entry.until;
        good.then(|| entry.caller.clone())
    }

    /// Keeps what was found out about a token that is good for so long.
    pub fn keep(&self, token: TokenDigest, generation: u64, left: Duration, caller: &Caller) {
        let entry = Entry { caller: caller.clone(), generation, until: Instant::now() + left.min(KEPT) };
        let mut halves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if halves.new.len() >= HALF {
            halves.old = mem::take(&mut halves.new);
        }
        halves.new.insert(token, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::identity::{Role, developer};

    fn caller() -> Caller {
        Caller::of(developer().unwrap(), Role::Operator)
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_is_known_for_a_while_and_no_longer_than_it_or_its_key_is_good() {
        let recent = Recent::default();
        let (long, short) = (digest("long"), digest("short"));
        recent.keep(long, 1, Duration::from_secs(3600), &caller());
        recent.keep(short, 1, Duration::from_secs(10), &caller());
        assert_eq!(recent.find(&short, 1), Some(caller()));
        assert_eq!((recent.find(&short, 2), recent.find(&digest("other"), 1)), (None, None));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!((recent.find(&short, 1), recent.find(&long, 1)), (None, Some(caller())));
        tokio::time::advance(Duration::from_secs(50)).await;
        assert_eq!(recent.find(&long, 1), None);
    }

    #[tokio::test]
    async fn there_are_never_more_than_twice_the_half() {
        let recent = Recent::default();
        for number in 0..3 * HALF {
            recent.keep(digest(&number.to_string()), 1, KEPT, &caller());
        }
        let halves = recent.0.lock().unwrap();
        assert_eq!((halves.new.len(), halves.old.len()), (HALF, HALF));
    }
}
