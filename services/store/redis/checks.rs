//! The keys that seal cards, tried at the start: of each key that was ever given to a server of this installation,
//! something that it has sealed is kept. Who has another key of that name, or lacks one that cards are sealed with, is
//! not started: he would void nothing, but could not play on either.

use std::collections::BTreeMap;

use ::redis::{Cmd, Value, cmd};
use tables::StoreError;

use super::RedisStore;
use super::fault::{Fault, strange};
use super::keys::INSTALLATION;
use super::route::{Home, Kind};
use super::script;
use super::startup::StartError;
use super::topology::text;
use crate::store::seal::NONCE_LEN;
use crate::store::{Place, SealError, Sealed};

/// The fields of the installation with the checks of keys, by their names.
const FIELD: &str = "check:";
/// Those of the keys that have been the first of a keyring, and so have sealed cards.
const SEALING: &str = "sealing:";
/// The only check of installations that were made before there was one for each key.
const FIRST: &str = "check";

/// What is stored of keys.
#[derive(Default)]
struct Stored {
    /// By field.
    checks: BTreeMap<String, Vec<u8>>,
    /// The names of the keys that have sealed.
    sealing: Vec<String>,
}

impl Stored {
    /// Out of all fields of the installation.
    fn read(fields: Value) -> Option<Stored> {
        let mut stored = Stored::default();
        for (field, value) in fields.into_map_iter().ok()? {
            let Some(field) = text(&field) else {
                continue;
            };
            if let Some(name) = field.strip_prefix(SEALING) {
                stored.sealing.push(name.to_owned());
            } else if (field == FIRST || field.starts_with(FIELD))
                && let Some(check) = script::bytes(value)
            {
                stored.checks.insert(field, check);
            }
        }
        Some(stored)
    }
}

/// The checks of the keys that cards are sealed with, out of all fields of the installation.
pub(super) fn sealing(fields: Value) -> Result<Vec<Sealed>, StoreError> {
    let stored = Stored::read(fields).ok_or_else(|| strange("the installation"))?;
    let wanted = |field: &str| {
        let name = field.strip_prefix(FIELD);
        field == FIRST || name.is_some_and(|name| stored.sealing.iter().any(|sealing| sealing == name))
    };
    let checks = stored.checks.iter().filter(|(field, _)| wanted(field));
    checks.map(|(_, check)| split(check).map_err(|error| StoreError::Corrupt(error.to_string()))).collect()
}

impl RedisStore {
    /// Tries every key, and keeps a check of those that are new; gives the warnings.
    pub(super) async fn check_keys(&self) -> Result<Vec<String>, StartError> {
        // Who has wrong keys is found out before he writes anything.
        let stored = self.stored_keys(&[]).await?;
        self.try_keys(&stored)?;
        let mut commands = Vec::new();
        if let Some(check) = stored.checks.get(FIRST) {
            let name = split(check)?.key_id;
            commands.push(set(FIELD, &name, check));
            commands.push(set(SEALING, &name, b""));
        }
        let keys = self.codec.keys();
        for name in keys.ids() {
            let sealed = keys.seal_with(name, &Place::CHECK, b"fulcrum").map_err(refused)?;
            commands.push(set(FIELD, name, &join(&sealed)));
        }
        if let Some(first) = keys.ids().next() {
            commands.push(set(SEALING, first, b""));
        }
        // Another server may have come with other keys at the same moment: what is there counts.
        let stored = self.stored_keys(&commands).await?;
        self.try_keys(&stored)
    }

    /// What is stored, after these commands.
    async fn stored_keys(&self, commands: &[Cmd]) -> Result<Stored, StartError> {
        let failed = |error: StoreError| StartError::Unreachable(error.to_string());
        let mut get = cmd("HGETALL");
        get.arg(INSTALLATION);
        let commands: Vec<Cmd> = commands.iter().cloned().chain([get]).collect();
        let reply = self.router.call(Home::Installation, &commands, Kind::Read).await;
        let fields = reply.map_err(|fault: Fault| failed(fault.unavailable()))?.values.pop();
        fields.and_then(Stored::read).ok_or_else(|| failed(strange("the installation")))
    }

    fn try_keys(&self, stored: &Stored) -> Result<Vec<String>, StartError> {
        let mut warnings = Vec::new();
        for (field, check) in &stored.checks {
            let sealed = split(check)?;
            match self.codec.keys().open(&Place::CHECK, &sealed) {
                Ok(_) => {}
                Err(SealError::UnknownKey(name)) if field == FIRST || stored.sealing.contains(&name) => {
                    return Err(StartError::Keys(format!(
                        "cards are sealed with the key {name:?}, which is not among the keys given: add it"
                    )));
                }
                Err(SealError::UnknownKey(name)) => warnings.push(format!(
                    "the key {name:?}, which other servers were given, is not among the keys given"
                )),
                Err(error) => return Err(refused(error)),
            }
        }
        Ok(warnings)
    }
}

fn refused(error: SealError) -> StartError {
    StartError::Keys(match error {
        SealError::DoesNotOpen(name) => {
            format!(
                "the key {name:?} is not the key of that name that this installation knows: give that one"
            )
        }
        other => other.to_string(),
    })
}

fn set(kind: &str, name: &str, value: &[u8]) -> Cmd {
    let mut command = cmd("HSETNX");
    command.arg(INSTALLATION).arg(format!("{kind}{name}")).arg(value);
    command
}

/// A check as it is stored: the length of the key's name, the name, the nonce and the rest.
fn join(sealed: &Sealed) -> Vec<u8> {
    let Sealed { key_id, nonce, ciphertext } = sealed;
    let length = u8::try_from(key_id.len()).unwrap_or(u8::MAX);
    [&[length], key_id.as_bytes(), &nonce[..], &ciphertext[..]].concat()
}

fn split(stored: &[u8]) -> Result<Sealed, StartError> {
    let parts = || {
        let (length, rest) = stored.split_first()?;
        let (key_id, rest) = rest.split_at_checked(usize::from(*length))?;
        let (nonce, ciphertext) = rest.split_at_checked(NONCE_LEN)?;
        let key_id = String::from_utf8(key_id.to_vec()).ok()?;
        Some(Sealed { key_id, nonce: nonce.to_vec(), ciphertext: ciphertext.to_vec() })
    };
    parts().ok_or_else(|| StartError::Keys("the stored check of a key is none".to_owned()))
}
