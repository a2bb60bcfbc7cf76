//! The keys that seal cards: one that seals, and older ones that only open.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use chacha20poly1305::aead::array::Array;
use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use hmac::{Hmac, Mac};
use rand::TryRng;
use rand::rngs::SysRng;
use sha2::Sha256;
use tables::ResumeKey;
use thiserror::Error;
use zeroize::Zeroizing;

const KEY_LEN: usize = 32;

/// The name of a key that was made for development.
const DEVELOPMENT_ID: &str = "development";

/// A key with its name. The cipher wipes it when it is dropped.
type Named = (String, XChaCha20Poly1305);

/// Named keys: one seals, all of them open.
pub struct Keyring {
    active: Named,
    older: Vec<Named>,
    /// Of each key, the active one's first.
    resume: Vec<ResumeKey>,
    /// Of the active key.
    players: Zeroizing<[u8; KEY_LEN]>,
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}

/// Why there are no keys. The texts say what to do, and show no part of a key.
#[derive(Debug, Error)]
pub enum KeyringError {
    /// The file cannot be read or made.
    #[error("the key file {} cannot be used: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Others than the owner can read the file.
    #[error(
        "the key file {} is open to others (mode {mode:04o}): run `chmod 600` on it, and replace the key if somebody \
         may have read it",
        path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A store is there, and its key file is not.
    #[error(
        "the store is there, but its key file {} is not: put the file back; without it the cards of its hands cannot \
         be read",
        path.display()
    )]
    Lost {
        /// Where the file should be.
        path: PathBuf,
    },
    /// There is not a single key.
    #[error("there is no key: write one a line, a name and 64 hexadecimal digits with a space between them")]
    Empty,
    /// An entry is not a name and a key.
    #[error(
        "key {0} is not a name (1 to 32 of a-z, 0-9, - and _) and 64 hexadecimal digits with a space between them"
    )]
    BadEntry(usize),
    /// A file that is to hold one key holds something else.
    #[error(
        "the key file {} does not hold 64 hexadecimal digits and nothing else: `openssl rand -hex 32` makes some",
        path.display()
    )]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
    /// Two keys have the same name.
    #[error("two keys are named {0:?}")]
    Twice(String),
    /// The operating system gave no random bytes for a new key.
    #[error("the operating system gave no random bytes for a new key")]
    NoEntropy,
}

impl Keyring {
    /// Reads `name hex` entries, one a line or separated by commas; `#` begins a comment. The first entry seals.
    ///
    /// # Errors
    /// [`KeyringError::Empty`], [`KeyringError::BadEntry`] and [`KeyringError::Twice`]
    pub fn parse(text: &str) -> Result<Keyring, KeyringError> {
        let mut keys: Vec<Named> = Vec::new();
        let mut resume = Vec::new();
        let mut players = None;
        let entries = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default())
            .flat_map(|line| line.split(','))
            .map(str::trim)
            .filter(|entry| !entry.is_empty());
        for (index, entry) in entries.enumerate() {
            let (id, key) = parse_entry(entry).ok_or(KeyringError::BadEntry(index + 1))?;
            if keys.iter().any(|(other, _)| *other == id) {
                return Err(KeyringError::Twice(id));
            }
            resume.push(ResumeKey::new(&key));
            players.get_or_insert_with(|| derived(&key, b"fulcrum/player names/1"));
            keys.push((id, XChaCha20Poly1305::new(&Array::from(*key))));
        }
        let mut keys = keys.into_iter();
        let (Some(active), Some(players)) = (keys.next(), players) else {
            return Err(KeyringError::Empty);
        };
        let older = keys.collect();
        Ok(Keyring { active, older, resume, players })
    }

    /// Reads a key file, which nobody but its owner may be able to read.
    ///
    /// # Errors
    /// [`KeyringError`]
    pub fn from_file(path: &Path) -> Result<Keyring, KeyringError> {
        let failed = |source| KeyringError::File { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(failed)?;
        check_mode(path, &file.metadata().map_err(failed)?)?;
        let mut text = Zeroizing::new(String::new());
        file.read_to_string(&mut text).map_err(failed)?;
        Keyring::parse(&text)
    }

    /// For development: the key file beside a store, made together with a new store. A store that has lost its key
    /// file gets no new one, because that could not open what lies there.
    ///
    /// # Errors
    /// [`KeyringError`]
    pub fn beside(store: &Path) -> Result<Keyring, KeyringError> {
        let path = Keyring::path_beside(store);
        if path.exists() {
            return Keyring::from_file(&path);
        }
        if store.exists() {
            return Err(KeyringError::Lost { path });
        }
        make_file(&path)?;
        Keyring::from_file(&path)
    }

    /// Where [`Keyring::beside`] keeps the key file of a store.
    #[must_use]
    pub fn path_beside(store: &Path) -> PathBuf {
        let mut name = store.file_name().unwrap_or_default().to_owned();
        name.push(".keys");
        store.with_file_name(name)
    }

    /// The names of the keys, the sealing one first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.named().map(|(id, _)| id.as_str())
    }

    /// What makes and checks resume tokens, out of the same keys.
    #[must_use]
    pub fn resume_keys(&self) -> &[ResumeKey] {
        &self.resume
    }

    /// The key by which players are named where their ids are not told, out of the active key. It is another one when
    /// another key seals.
    #[must_use]
    pub fn player_key(&self) -> &[u8; KEY_LEN] {
        &self.players
    }

    pub(super) fn active(&self) -> (&str, &XChaCha20Poly1305) {
        (&self.active.0, &self.active.1)
    }

    pub(super) fn get(&self, id: &str) -> Option<&XChaCha20Poly1305> {
        let (_, cipher) = self.named().find(|(other, _)| other == id)?;
        Some(cipher)
    }

    fn named(&self) -> impl Iterator<Item = &Named> {
        std::iter::once(&self.active).chain(&self.older)
    }
}

/// A key of its own for this use, as HMAC makes one.
fn derived(secret: &[u8; KEY_LEN], purpose: &[u8]) -> Zeroizing<[u8; KEY_LEN]> {
    // A shorter key is filled up with zeros, as RFC 2104 has it.
    let mut block = Zeroizing::new([0; 64]);
    block[..KEY_LEN].copy_from_slice(secret);
    let mut code = <Hmac<Sha256> as hmac::KeyInit>::new((&*block).into());
    code.update(purpose);
    Zeroizing::new(code.finalize().into_bytes().into())
}

/// The key in a file of its own: 64 hexadecimal digits, and nobody but its owner can read it.
///
/// # Errors
/// [`KeyringError::File`], [`KeyringError::Exposed`] and [`KeyringError::NotAKey`]
pub fn lone_key(path: &Path) -> Result<[u8; KEY_LEN], KeyringError> {
    let failed = |source| KeyringError::File { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    check_mode(path, &file.metadata().map_err(failed)?)?;
    let mut text = Zeroizing::new(String::new());
    file.read_to_string(&mut text).map_err(failed)?;
    let key = parse_key(text.trim()).ok_or_else(|| KeyringError::NotAKey { path: path.to_owned() })?;
    Ok(*key)
}

fn parse_key(hex: &str) -> Option<Zeroizing<[u8; KEY_LEN]>> {
    if hex.len() != 2 * KEY_LEN {
        return None;
    }
    let mut key = Zeroizing::new([0; KEY_LEN]);
    for (byte, digits) in key.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        *byte = digit(digits[0])? << 4 | digit(digits[1])?;
    }
    Some(key)
}

fn parse_entry(entry: &str) -> Option<(String, Zeroizing<[u8; KEY_LEN]>)> {
    let mut parts = entry.split_whitespace();
    let (id, hex) = (parts.next()?, parts.next()?);
    let legal = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-' || c == b'_';
    let named = (1..=32).contains(&id.len()) && id.bytes().all(legal);
    if !named || parts.next().is_some() {
        return None;
    }
    Some((id.to_owned(), parse_key(hex)?))
}

fn digit(letter: u8) -> Option<u8> {
    let value = char::from(letter).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(unix)]
fn check_mode(path: &Path, metadata: &fs::Metadata) -> Result<(), KeyringError> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let mode = metadata.permissions().mode() & 0o7777;
    if is_closed(mode, metadata.uid(), rustix::process::geteuid().as_raw()) {
        return Ok(());
    }
    Err(KeyringError::Exposed { path: path.to_owned(), mode })
}

/// Whether a file of this owner keeps its content from others than us. What root lets our group read is meant for us: an
/// orchestrator mounts secrets so.
#[cfg(unix)]
const fn is_closed(mode: u32, owner: u32, us: u32) -> bool {
    const ROOT: u32 = 0;
    let others = if owner == ROOT && us != ROOT { 0o037 } else { 0o077 };
    mode & others == 0
}

#[cfg(not(unix))]
fn check_mode(_path: &Path, _metadata: &fs::Metadata) -> Result<(), KeyringError> {
    Ok(())
}

/// Makes a key file with one random key. It is on the disk when this returns: a store must not outlive its key.
fn make_file(path: &Path) -> Result<(), KeyringError> {
    let mut key = Zeroizing::new([0; KEY_LEN]);
    SysRng.try_fill_bytes(&mut *key).map_err(|_| KeyringError::NoEntropy)?;
    let mut text = Zeroizing::new(String::with_capacity(256));
    text.push_str(
        "# Seals the cards in the store beside this file. Made for development: keep it with the store.\n",
    );
    text.push_str(DEVELOPMENT_ID);
    text.push(' ');
    for digit in key.iter().flat_map(|byte| [byte >> 4, byte & 15]) {
        text.extend(char::from_digit(u32::from(digit), 16));
    }
    text.push('\n');
    write_durably(path, text.as_bytes())
        .map_err(|source| KeyringError::File { path: path.to_owned(), source })
}

fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    sync_folder(path)
}

/// Makes the name of a new file durable.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        // Elsewhere a folder cannot be opened, and need not be.
        Some(_) if !cfg!(unix) => Ok(()),
        Some(folder) if folder.as_os_str().is_empty() => File::open(".")?.sync_all(),
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_group_may_read_what_root_gives_it() {
        const US: u32 = 65_532;
        for closed in [0o400, 0o600, 0o440, 0o640] {
            assert!(is_closed(closed, 0, US), "{closed:o}");
        }
        for open in [0o444, 0o644, 0o660, 0o650, 0o404, 0o402] {
            assert!(!is_closed(open, 0, US), "{open:o}");
        }
        assert!(is_closed(0o600, US, US) && !is_closed(0o640, US, US), "a file of our own");
        assert!(is_closed(0o600, 0, 0) && !is_closed(0o640, 0, 0), "root's own");
        assert!(!is_closed(0o640, 1_000, US), "somebody else's");
    }
}
