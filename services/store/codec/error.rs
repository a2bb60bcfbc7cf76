//! Why a stored record cannot be read.

use tables::StoreError;
use thiserror::Error;

use crate::store::seal::SealError;

/// Why a record cannot be read or written. Names fields, never what is in them.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CodecError {
    /// The bytes are not those that were written.
    #[error("the record is damaged")]
    Damaged,
    /// The bytes are no record at all.
    #[error("not a record: {0}")]
    Malformed(#[from] prost::DecodeError),
    /// A later version of the service wrote the record.
    #[error("the record has format {0}, which this version does not know")]
    UnknownFormat(u32),
    /// The installation has moved on to a format that this version does not know.
    #[error(
        "the installation's records have format {installed}, and this version knows them up to {known}: replace it by \
         the newer one"
    )]
    Outdated {
        /// The installation's format.
        installed: u32,
        /// The newest that this version knows.
        known: u32,
    },
    /// Somebody wants to go back to an earlier format.
    #[error(
        "the installation is at format {present}, and cannot go back to {to}: newer records may be there already"
    )]
    Lowered {
        /// The installation's format.
        present: u32,
        /// What was asked for.
        to: u32,
    },
    /// What is to be written came with a later format than the installation's.
    #[error(
        "this can be stored from format {needed} on, and the installation is at format {written}: once every server \
         is of this version, run `fulcrum store migrate`"
    )]
    NeedsFormat {
        /// The format that has it.
        needed: u32,
        /// The installation's.
        written: u32,
    },
    /// A field that every record has is not there.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A field holds something that cannot be.
    #[error("{0} holds something that cannot be")]
    Invalid(&'static str),
    /// A secret cannot be sealed or opened.
    #[error("a secret: {0}")]
    Seal(#[from] SealError),
}

impl From<CodecError> for StoreError {
    fn from(error: CodecError) -> StoreError {
        let text = error.to_string();
        match error {
            // In a rolling upgrade a newer process wrote it: this one steps back, it must not call the record broken.
            CodecError::UnknownFormat(_)
            | CodecError::Outdated { .. }
            | CodecError::NeedsFormat { .. }
            | CodecError::Lowered { .. }
            | CodecError::Seal(SealError::NoEntropy) => StoreError::Unavailable(text),
            CodecError::Seal(SealError::UnknownKey(_)) => StoreError::KeyUnavailable(text),
            // The store checks its keys when it is opened: a right key that does not open means changed bytes.
            CodecError::Seal(SealError::DoesNotOpen(_))
            | CodecError::Damaged
            | CodecError::Malformed(_)
            | CodecError::Missing(_)
            | CodecError::Invalid(_) => StoreError::Corrupt(text),
        }
    }
}
