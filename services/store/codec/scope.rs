//! Sealing within one table: what a codec needs to put secrets into the table's records and to get them out.

use tables::TableKey;
use zeroize::Zeroizing;

use super::CodecError;
use crate::pb::store_v1 as wire;
use crate::store::keyring::Keyring;
use crate::store::seal::{Place, Purpose, Sealed};

/// What stands where a card or a pivot is not there.
pub(super) const NOTHING: u8 = u8::MAX;

/// Secrets before they are sealed and after they are opened; wiped when dropped.
pub(super) type Secret = Zeroizing<Vec<u8>>;

/// A table and the keys for its secrets.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub keys: &'a Keyring,
    pub table: &'a TableKey,
}

impl Scope<'_> {
    pub fn seal(
        &self,
        purpose: Purpose,
        hand: u64,
        seat: u8,
        secret: &[u8],
    ) -> Result<Option<wire::Sealed>, CodecError> {
        let sealed = self.keys.seal(&self.place(purpose, hand, seat), secret)?;
        Ok(Some(to_wire(sealed)))
    }

    pub fn open(
        &self,
        purpose: Purpose,
        hand: u64,
        seat: u8,
        sealed: Option<wire::Sealed>,
        at: &'static str,
    ) -> Result<Secret, CodecError> {
        let sealed = from_wire(sealed.ok_or(CodecError::Missing(at))?);
        Ok(self.keys.open(&self.place(purpose, hand, seat), &sealed)?)
    }

    fn place(&self, purpose: Purpose, hand: u64, seat: u8) -> Place<'_> {
        Place { operator: self.table.operator.as_str(), subject: self.table.table.0, hand, seat, purpose }
    }
}

pub(super) fn to_wire(sealed: Sealed) -> wire::Sealed {
    let Sealed { key_id, nonce, ciphertext } = sealed;
    wire::Sealed { key_id, nonce, ciphertext }
}

pub(super) fn from_wire(sealed: wire::Sealed) -> Sealed {
    let wire::Sealed { key_id, nonce, ciphertext } = sealed;
    Sealed { key_id, nonce, ciphertext }
}
