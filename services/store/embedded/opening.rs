//! Opening the file: who may, what is checked, and what is said when it cannot be.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use redb::{Database, DatabaseError, Durability, ReadableTable, StorageError, WriteTransaction};
use rules::Millis;
use thiserror::Error;

use super::fault::Fault;
use super::schema::{
    ACCOUNTS, CHECKPOINTS, CURSORS, DUE, EVENTS, HAND_SETTLEMENTS, KEY_CHECKS, LAYOUT, META, META_FORMAT,
    META_HEARTBEAT, META_LAYOUT, OUTAGES, PLAYER_SETTLEMENTS, REQUEST_AGES, REQUESTS, RETIRED,
    SETTLEMENT_IDS, SETTLEMENTS, STOP_AUDIT, STOP_REQUEST_AGES, STOP_REQUESTS, STOP_SHELVES, STOPS,
    TABLE_SETTLEMENTS, TABLES,
};
use super::untold;
use crate::store::codec::{Codec, FIRST_FORMAT};
use crate::store::keyring::{Keyring, sync_folder};
use crate::store::seal::{NONCE_LEN, Place, SealError, Sealed};

/// A silence that is longer than this was an outage; heartbeats come each second.
const SILENCE: Millis = Millis(2000);
/// So many outages are kept: each table applies each of them once, at the next start at the latest.
const OUTAGES_KEPT: usize = 256;

/// Why a store cannot be opened, and what to do.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Another process has the file open.
    #[error(
        "the store {} is in use by another process, and only one can have it: stop that one first, or give this one \
         a file of its own",
        path.display()
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("the store {} cannot be opened: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The folder of the file is not there.
    #[error("the store {} cannot be made, because its folder is not there: make the folder", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// Somebody wants to look into a file that is not there.
    #[error("there is no store {}: say with --store where it is", path.display())]
    NoStore {
        /// The file.
        path: PathBuf,
    },
    /// What is in the file is not what was written.
    #[error(
        "the store {} is damaged, or is no store at all ({detail}): restore it from a copy; to begin with an empty \
         store, move the file away first",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// Another version of the service wrote it.
    #[error("the store {} was written by a version of the service that this one cannot read: {detail}", path.display())]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The store's cards are sealed with a key that is not here.
    #[error(
        "the store {} was sealed with the key {key:?}, which is not among the keys given: add it; hands cannot be \
         played on without it",
        path.display()
    )]
    KeyMissing {
        /// The file.
        path: PathBuf,
        /// The key's name.
        key: String,
    },
    /// A key is not the one that sealed.
    #[error(
        "the key {key:?} is not the key of that name that sealed the store {}: give the right one; nothing has been \
         changed",
        path.display()
    )]
    WrongKey {
        /// The file.
        path: PathBuf,
        /// The key's name.
        key: String,
    },
    /// No random bytes for the check of a new key.
    #[error("the operating system gave no random bytes")]
    NoEntropy,
}

/// Opens the file, or makes it. The file is locked until the database is dropped.
pub(super) fn open_file(path: &Path, cache: usize, verify: bool) -> Result<Database, OpenError> {
    // redb itself locks the file, and refuses what it did not write.
    let mut builder = Database::builder();
    builder.set_cache_size(cache).set_check_integrity_on_open(verify);
    // On a damaged file redb may panic instead of failing.
    let opened = catch_unwind(AssertUnwindSafe(|| builder.create(path)));
    let owned = || path.to_owned();
    let database = match opened {
        Ok(Ok(database)) => database,
        Ok(Err(error)) => return Err(explain(owned(), error)),
        Err(_) => return Err(OpenError::Damaged { path: owned(), detail: "it cannot be read".to_owned() }),
    };
    // A new file is on the disk only when its name in the folder is.
    sync_folder(path).map_err(|source| OpenError::File { path: owned(), source })?;
    Ok(database)
}

fn explain(path: PathBuf, error: DatabaseError) -> OpenError {
    match error {
        DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => OpenError::InUse { path },
        DatabaseError::UpgradeRequired(version) => {
            OpenError::OtherVersion { path, detail: format!("file format {version}") }
        }
        DatabaseError::Storage(StorageError::Io(source)) if source.kind() == io::ErrorKind::NotFound => {
            OpenError::NoFolder { path }
        }
        DatabaseError::Storage(StorageError::Io(source)) if source.kind() != io::ErrorKind::InvalidData => {
            OpenError::File { path, source }
        }
        other => OpenError::Damaged { path, detail: other.to_string() },
    }
}

/// Checks what was found in the file and makes what is missing, in one transaction. Gives the format of records to write.
pub(super) fn prepare(
    database: &Database,
    path: &Path,
    codec: &Codec,
    now: Millis,
) -> Result<u32, OpenError> {
    let damaged = |fault: Fault| {
        let detail = match fault {
            Fault::File(error) => error.to_string(),
            Fault::Record(error) => error.to_string(),
        };
        OpenError::Damaged { path: path.to_owned(), detail }
    };
    let mut transaction = database.begin_write().map_err(|error| damaged(error.into()))?;
    let durable = transaction.set_durability(Durability::Immediate);
    debug_assert!(durable.is_ok(), "only savepoints stand against it");
    let first = Preparing { transaction: &transaction, path, damaged: &damaged };
    let format = first.layout(codec.newest_format())?;
    first.keys(codec.keys())?;
    make_tables(&transaction).map_err(damaged)?;
    untold::prepare(&transaction).map_err(damaged)?;
    note_outage(&transaction, now).map_err(damaged)?;
    transaction.commit().map_err(|error| damaged(error.into()))?;
    Ok(format)
}

struct Preparing<'a> {
    transaction: &'a WriteTransaction,
    path: &'a Path,
    damaged: &'a dyn Fn(Fault) -> OpenError,
}

impl Preparing<'_> {
    /// Layout and format have to be known; gives the format, which is the newest in a new file.
    fn layout(&self, newest: u32) -> Result<u32, OpenError> {
        let (layout, format) = layout(self.transaction, newest).map_err(self.damaged)?;
        let other = |detail| Err(OpenError::OtherVersion { path: self.path.to_owned(), detail });
        if layout != LAYOUT {
            return other(format!("layout {layout}, not {LAYOUT}"));
        }
        match u32::try_from(format) {
            Ok(format) if format <= newest => Ok(format),
            _ => {
                other(format!("its records have format {format}, and this version knows them up to {newest}"))
            }
        }
    }

    /// Every key that ever sealed here has to be given, and has to be the right one.
    fn keys(&self, keys: &Keyring) -> Result<(), OpenError> {
        let (path, key) = (self.path.to_owned(), keys.active().0.to_owned());
        let checks = key_checks(self.transaction).map_err(self.damaged)?;
        for sealed in &checks {
            let (path, key) = (path.clone(), sealed.key_id.clone());
            match keys.open(&Place::CHECK, sealed) {
                Ok(_) => {}
                Err(SealError::UnknownKey(_)) => return Err(OpenError::KeyMissing { path, key }),
                Err(_) => return Err(OpenError::WrongKey { path, key }),
            }
        }
        if checks.iter().any(|sealed| sealed.key_id == key) {
            return Ok(());
        }
        let sealed = keys.seal(&Place::CHECK, b"fulcrum").map_err(|_| OpenError::NoEntropy)?;
        write_key_check(self.transaction, &sealed).map_err(self.damaged)
    }
}

/// The layout of the file and the format of its records; a new file gets ours.
fn layout(transaction: &WriteTransaction, newest: u32) -> Result<(u64, u64), Fault> {
    let mut meta = transaction.open_table(META)?;
    let found = meta.get(META_LAYOUT)?.map(|layout| layout.value());
    match found {
        Some(layout) => {
            let format = meta.get(META_FORMAT)?.map_or(FIRST_FORMAT.into(), |format| format.value());
            Ok((layout, format))
        }
        None => {
            meta.insert(META_LAYOUT, LAYOUT)?;
            meta.insert(META_FORMAT, u64::from(newest))?;
            Ok((LAYOUT, newest.into()))
        }
    }
}

/// Raises the format of the records that are written from now on, never lowers it; gives what it was.
pub(super) fn raise_format(database: &Database, to: u32) -> Result<u32, Fault> {
    let mut transaction = database.begin_write()?;
    let durable = transaction.set_durability(Durability::Immediate);
    debug_assert!(durable.is_ok(), "only savepoints stand against it");
    let mut meta = transaction.open_table(META)?;
    let before = meta.get(META_FORMAT)?.map_or(FIRST_FORMAT.into(), |format| format.value());
    if u64::from(to) > before {
        meta.insert(META_FORMAT, u64::from(to))?;
    }
    drop(meta);
    transaction.commit()?;
    u32::try_from(before).map_err(|_| Fault::corrupt("the format of the records"))
}

fn key_checks(transaction: &WriteTransaction) -> Result<Vec<Sealed>, Fault> {
    let checks = transaction.open_table(KEY_CHECKS)?;
    let mut found = Vec::new();
    for check in checks.iter()? {
        let (key_id, bytes) = check?;
        found.push(read_key_check(key_id.value(), bytes.value())?);
    }
    Ok(found)
}

pub(super) fn read_key_check(key_id: &str, bytes: &[u8]) -> Result<Sealed, Fault> {
    let (nonce, ciphertext) =
        bytes.split_at_checked(NONCE_LEN).ok_or_else(|| Fault::corrupt("the check of a key"))?;
    Ok(Sealed { key_id: key_id.to_owned(), nonce: nonce.to_vec(), ciphertext: ciphertext.to_vec() })
}

fn write_key_check(transaction: &WriteTransaction, sealed: &Sealed) -> Result<(), Fault> {
    let bytes = [sealed.nonce.as_slice(), &sealed.ciphertext].concat();
    transaction.open_table(KEY_CHECKS)?.insert(sealed.key_id.as_str(), bytes.as_slice())?;
    Ok(())
}

/// Readers cannot make a table that is not there.
fn make_tables(transaction: &WriteTransaction) -> Result<(), Fault> {
    transaction.open_table(TABLES)?;
    transaction.open_table(EVENTS)?;
    transaction.open_table(CHECKPOINTS)?;
    transaction.open_table(DUE)?;
    transaction.open_table(REQUESTS)?;
    transaction.open_table(REQUEST_AGES)?;
    transaction.open_table(SETTLEMENTS)?;
    transaction.open_table(SETTLEMENT_IDS)?;
    transaction.open_table(TABLE_SETTLEMENTS)?;
    transaction.open_table(HAND_SETTLEMENTS)?;
    transaction.open_table(PLAYER_SETTLEMENTS)?;
    transaction.open_table(RETIRED)?;
    transaction.open_table(CURSORS)?;
    transaction.open_table(ACCOUNTS)?;
    transaction.open_table(STOP_SHELVES)?;
    transaction.open_table(STOPS)?;
    transaction.open_table(STOP_AUDIT)?;
    transaction.open_table(STOP_REQUESTS)?;
    transaction.open_table(STOP_REQUEST_AGES)?;
    Ok(())
}

/// Records the time since the last heartbeat as an outage (rules 8.4), and beats.
pub(super) fn note_outage(transaction: &WriteTransaction, now: Millis) -> Result<(), Fault> {
    let mut meta = transaction.open_table(META)?;
    let last = meta.get(META_HEARTBEAT)?.map(|heartbeat| Millis(heartbeat.value()));
    let mut outages = transaction.open_table(OUTAGES)?;
    if let Some(last) = last
        && now - last > SILENCE
    {
        outages.insert(last.0, now.0)?;
        let mut surplus = redb::ReadableTableMetadata::len(&outages)?.saturating_sub(OUTAGES_KEPT as u64);
        while surplus > 0 {
            outages.pop_first()?;
            surplus -= 1;
        }
    }
    meta.insert(META_HEARTBEAT, now.0)?;
    Ok(())
}
