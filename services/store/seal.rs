//! Cards at rest. Whatever a player may not see lies in a store only sealed: XChaCha20-Poly1305 under a key that is not
//! in the store, bound to the operator, table, hand, seat and purpose that it belongs to.

use std::fmt;

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::aead::array::Array;
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use rand::TryRng;
use rand::rngs::SysRng;
use thiserror::Error;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::keyring::Keyring;

/// The length of a nonce. Drawn at random for each sealing: with 192 bits they do not meet.
pub const NONCE_LEN: usize = 24;

/// The length of the tag that ends a sealed secret.
pub const TAG_LEN: usize = 16;

/// What a secret is. Numbers are never used again: they are part of what old records are bound to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Purpose {
    /// Shows whether a key is the right one; no secret at all.
    Check = 1,
    /// Deck, hole cards and pivots of a running hand.
    Hand = 2,
    /// The pivots of the hand before.
    PastPicks = 3,
    /// The deck in the event that begins a hand.
    Deck = 4,
    /// One seat's hole cards in the event of their deal.
    Holes = 5,
    /// One seat's pivot in the event of its pick.
    Pick = 6,
    /// What was answered to a request.
    Answer = 7,
}

/// Where a secret belongs. It opens nowhere else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place<'a> {
    /// The operator's name.
    pub operator: &'a str,
    /// The table, or the request for an answer.
    pub subject: Uuid,
    /// The hand's number; 0 where it is no hand's.
    pub hand: u64,
    /// The seat's number; 0 where it is no single seat's.
    pub seat: u8,
    /// What it is.
    pub purpose: Purpose,
}

impl Place<'static> {
    /// Where the checks of keys belong: to no operator and no table.
    pub const CHECK: Place<'static> =
        Place { operator: "", subject: Uuid::nil(), hand: 0, seat: 0, purpose: Purpose::Check };
}

impl Place<'_> {
    /// Two places never have the same bytes: only the last part varies in length.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(36 + self.operator.len());
        bytes.extend_from_slice(b"fulcrum/1\0");
        bytes.push(self.purpose as u8);
        bytes.push(self.seat);
        bytes.extend_from_slice(&self.hand.to_be_bytes());
        bytes.extend_from_slice(self.subject.as_bytes());
        bytes.extend_from_slice(self.operator.as_bytes());
        bytes
    }
}

/// A sealed secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The name of the key.
    pub key_id: String,
    /// The nonce, [`NONCE_LEN`] bytes.
    pub nonce: Vec<u8>,
    /// The encrypted secret and its tag.
    pub ciphertext: Vec<u8>,
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed(with {})", self.key_id)
    }
}

/// Why something could not be sealed or opened. Says nothing about the secret.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SealError {
    /// The keyring has no such key.
    #[error("there is no key named {0:?} in the keyring")]
    UnknownKey(String),
    /// The key is here, but the secret is not what it sealed for this place: another key of the same name, changed
    /// bytes, or moved from elsewhere.
    #[error("the key {0:?} does not open it here")]
    DoesNotOpen(String),
    /// The operating system gave no random nonce.
    #[error("the operating system gave no random bytes")]
    NoEntropy,
}

impl Keyring {
    /// Seals a secret with the active key.
    ///
    /// # Errors
    /// [`SealError::NoEntropy`]
    pub fn seal(&self, place: &Place<'_>, secret: &[u8]) -> Result<Sealed, SealError> {
        self.seal_with(self.active().0, place, secret)
    }

    /// Seals a secret with the key of that name.
    ///
    /// # Errors
    /// [`SealError::UnknownKey`] and [`SealError::NoEntropy`]
    pub fn seal_with(&self, key_id: &str, place: &Place<'_>, secret: &[u8]) -> Result<Sealed, SealError> {
        let cipher = self.get(key_id).ok_or_else(|| SealError::UnknownKey(key_id.to_owned()))?;
        let mut nonce = [0; NONCE_LEN];
        SysRng.try_fill_bytes(&mut nonce).map_err(|_| SealError::NoEntropy)?;
        let ciphertext = encrypt(cipher, &nonce, &place.bytes(), secret)
            .ok_or_else(|| SealError::DoesNotOpen(key_id.to_owned()))?;
        Ok(Sealed { key_id: key_id.to_owned(), nonce: nonce.to_vec(), ciphertext })
    }

    /// Opens a secret that was sealed for this place.
    ///
    /// # Errors
    /// [`SealError::UnknownKey`] and [`SealError::DoesNotOpen`]
    pub fn open(&self, place: &Place<'_>, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let cipher = self.get(&sealed.key_id).ok_or_else(|| SealError::UnknownKey(sealed.key_id.clone()))?;
        decrypt(cipher, &sealed.nonce, &place.bytes(), &sealed.ciphertext)
            .ok_or_else(|| SealError::DoesNotOpen(sealed.key_id.clone()))
    }
}

fn encrypt(
    cipher: &XChaCha20Poly1305,
    nonce: &[u8; NONCE_LEN],
    place: &[u8],
    secret: &[u8],
) -> Option<Vec<u8>> {
    // Encrypted where it lies, with room for the tag, so that no copy of the secret stays behind.
    let mut buffer = Vec::with_capacity(secret.len() + TAG_LEN);
    buffer.extend_from_slice(secret);
    cipher.encrypt_in_place(&Array::from(*nonce), place, &mut buffer).ok()?;
    Some(buffer)
}

fn decrypt(
    cipher: &XChaCha20Poly1305,
    nonce: &[u8],
    place: &[u8],
    ciphertext: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let nonce: XNonce = Array::from(<[u8; NONCE_LEN]>::try_from(nonce).ok()?);
    let mut buffer = Zeroizing::new(ciphertext.to_vec());
    cipher.decrypt_in_place(&nonce, place, &mut *buffer).ok()?;
    Some(buffer)
}
