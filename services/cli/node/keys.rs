//! The keys for the cards: from where a server has them.

use std::path::Path;

use zeroize::Zeroizing;

use crate::cli::failure::Failure;
use crate::config::Place;
use crate::store::{Keyring, KeyringError};

/// The variable with the keys for the cards. There is no flag for it: flags are seen by everybody on the machine.
const CARD_KEY: &str = "FULCRUM_CARD_KEY";

/// The keys for a store that several servers share: a key that only this one has would lock the others out.
fn shared_keys(file: Option<&Path>) -> Result<Keyring, Failure> {
    match given_keys(file)? {
        Some(keys) => Ok(keys),
        None => Err(Failure::Usage(format!(
            "tables in Redis need a key for their cards, the same one at every server: name it with --key-file or \
             {CARD_KEY}.\n\nA new one: (umask 077; echo \"k1 $(openssl rand -hex 32)\" > fulcrum.keys)"
        ))),
    }
}

/// The keys for tables that live there; none for tables in memory.
///
/// # Errors
/// [`Failure::Usage`], which says what to do.
pub fn keys_of(place: &Place, file: Option<&Path>) -> Result<Option<Keyring>, Failure> {
    match place {
        Place::Memory => Ok(None),
        Place::File(path) => keys_beside(path, file).map(Some),
        Place::Redis(_) => shared_keys(file).map(Some),
    }
}

fn keys_beside(store: &Path, file: Option<&Path>) -> Result<Keyring, Failure> {
    let folder = store.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(Failure::Usage(format!(
            "the store's folder {} is not there: make it first",
            folder.display()
        )));
    }
    match given_keys(file)? {
        Some(keys) => Ok(keys),
        None => Keyring::beside(store).map_err(|error| Failure::Usage(error.to_string())),
    }
}

/// The keys that the variable holds or the file, if either is given.
///
/// # Errors
/// [`Failure::Usage`] if both are, or they cannot be used.
pub fn given_keys(file: Option<&Path>) -> Result<Option<Keyring>, Failure> {
    let unusable = |error: KeyringError| Failure::Usage(error.to_string());
    let variable = std::env::var(CARD_KEY).ok().map(Zeroizing::new).filter(|text| !text.is_empty());
    match (variable, file) {
        (Some(_), Some(file)) => Err(Failure::Usage(format!(
            "both {CARD_KEY} and the key file {} are given, and it is not clear which holds: give one of them",
            file.display()
        ))),
        (Some(text), None) => {
            Keyring::parse(&text).map(Some).map_err(|error| Failure::Usage(format!("{CARD_KEY}: {error}")))
        }
        (None, Some(file)) => Keyring::from_file(file).map(Some).map_err(unusable),
        (None, None) => Ok(None),
    }
}
