//! What can go wrong inside: with the file, which ends everything, or with one record, which does not.

use redb::{CommitError, StorageError, TableError, TransactionError};
use tables::StoreError;

use crate::store::codec::CodecError;

/// A failure.
#[derive(Debug)]
pub(super) enum Fault {
    /// Of the file.
    File(Box<redb::Error>),
    /// Of one record.
    Record(StoreError),
}

macro_rules! of_the_file {
    ($($error:ty),*) => {$(
        impl From<$error> for Fault {
            fn from(error: $error) -> Fault {
                Fault::File(Box::new(error.into()))
            }
        }
    )*};
}

of_the_file! { StorageError, TableError, TransactionError, CommitError }

impl From<CodecError> for Fault {
    fn from(error: CodecError) -> Fault {
        Fault::Record(error.into())
    }
}

/// After a failed read nothing has been done.
impl From<Fault> for StoreError {
    fn from(fault: Fault) -> StoreError {
        match fault {
            Fault::File(error) => StoreError::Unavailable(error.to_string()),
            Fault::Record(error) => error,
        }
    }
}

impl Fault {
    /// A record that is none, or that is not where another one says.
    pub fn corrupt(what: impl Into<String>) -> Fault {
        Fault::Record(StoreError::Corrupt(what.into()))
    }
}
