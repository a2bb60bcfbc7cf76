//! Resume tokens: where a watcher was, so that he can go on there at any server. They name the commit and not only its
//! version, because after a loss of history versions come again with other contents. A caller gives them back, and what
//! he gives back could stop a table; so they carry a code that only the servers of one store can make.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use rules::lost::Seen;
use sha2::Sha256;

use crate::ids::TableKey;
use crate::store::{Stored, Token};

/// The length of the code, bytes.
const CODE: usize = 16;
/// The length of a token, bytes.
const LENGTH: usize = 32 + CODE;

/// Makes and checks the codes of resume tokens. All servers of a store have the same ones.
#[derive(Clone)]
pub struct ResumeKey(Hmac<Sha256>);

/// Without the key.
impl fmt::Debug for ResumeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResumeKey(…)")
    }
}

/// Where a watcher was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reached {
    /// The commit that he was told last.
    pub token: Token,
    /// How far the table had come with it.
    pub seen: Seen,
}

impl Reached {
    /// Where whoever has seen this state is.
    #[must_use]
    pub fn of(stored: &Stored) -> Reached {
        Reached { token: stored.token, seen: stored.table.seen() }
    }

    fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        let numbers = [self.token.version, self.token.nonce, self.seen.hands, self.seen.sessions];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }
}

impl ResumeKey {
    /// A key out of a secret that the servers share.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> ResumeKey {
        // A key of its own for this use.
        let mut derive = keyed(secret);
        derive.update(b"fulcrum/resume tokens/1");
        let derived: [u8; 32] = derive.finalize().into_bytes().into();
        ResumeKey(keyed(&derived))
    }

    /// The token of a watcher who was told this of this table.
    #[must_use]
    pub fn write(&self, key: &TableKey, reached: &Reached) -> Vec<u8> {
        let bytes = reached.bytes();
        let code = self.over(key, &bytes).finalize().into_bytes();
        [&bytes[..], &code[..CODE]].concat()
    }

    /// Where the watcher was; `None` if it is no token of this table and key.
    #[must_use]
    pub fn read(&self, key: &TableKey, token: &[u8]) -> Option<Reached> {
        let (bytes, code) = token.split_at_checked(LENGTH - CODE)?;
        if code.len() != CODE {
            return None;
        }
        self.over(key, bytes).verify_truncated_left(code).ok()?;
        let mut numbers =
            bytes.chunks_exact(8).filter_map(|chunk| chunk.try_into().ok().map(u64::from_be_bytes));
        let (version, nonce) = (numbers.next()?, numbers.next()?);
        let seen = Seen { version, hands: numbers.next()?, sessions: numbers.next()? };
        Some(Reached { token: Token { version, nonce }, seen })
    }

    fn over(&self, key: &TableKey, bytes: &[u8]) -> Hmac<Sha256> {
        let mut code = self.0.clone();
        code.update(bytes);
        code.update(key.to_string().as_bytes());
        code
    }
}

/// A shorter key is filled up with zeros, as RFC 2104 has it.
fn keyed(secret: &[u8; 32]) -> Hmac<Sha256> {
    let mut key = [0; 64];
    key[..32].copy_from_slice(secret);
    <Hmac<Sha256> as KeyInit>::new(&key.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_key;

    fn reached() -> Reached {
        let seen = Seen { version: 7, hands: 3, sessions: 2 };
        Reached { token: Token { version: 7, nonce: u64::MAX - 1 }, seen }
    }

    #[test]
    fn a_token_is_read_by_every_server_with_the_key() {
        let token = ResumeKey::new(&[7; 32]).write(&test_key(1), &reached());
        assert_eq!(ResumeKey::new(&[7; 32]).read(&test_key(1), &token), Some(reached()));
    }

    #[test]
    fn a_token_of_another_table_or_key_is_none_and_so_is_a_changed_one() {
        let key = ResumeKey::new(&[7; 32]);
        let token = key.write(&test_key(1), &reached());
        assert_eq!(key.read(&test_key(2), &token), None);
        assert_eq!(ResumeKey::new(&[8; 32]).read(&test_key(1), &token), None);
        for place in 0..token.len() {
            let mut changed = token.clone();
            changed[place] ^= 1;
            assert_eq!(key.read(&test_key(1), &changed), None, "byte {place}");
            assert_eq!(key.read(&test_key(1), &token[..place]), None, "{place} bytes");
        }
        assert_eq!(key.read(&test_key(1), &[&token[..], &[0]].concat()), None);
    }

    #[test]
    fn the_key_is_not_shown() {
        assert_eq!(format!("{:?}", ResumeKey::new(&[7; 32])), "ResumeKey(…)");
    }
}
