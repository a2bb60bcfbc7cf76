//! Where keys come from, and what is said when they cannot be used.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fulcrum::store::{Keyring, KeyringError};

use crate::fixtures::TEST_KEY;

const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

fn file(folder: &Path, text: &str, mode: u32) -> PathBuf {
    let path = folder.join("keys");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

fn ids(keys: &Keyring) -> Vec<&str> {
    keys.ids().collect()
}

#[test]
fn keys_are_lines_or_separated_by_commas() {
    let lines = format!("# the keys\n\nnew-2 {HEX} # seals\n  old_1\t{}\n", HEX.to_uppercase());
    assert_eq!(ids(&Keyring::parse(&lines).unwrap()), ["new-2", "old_1"]);
    let commas = format!("a {HEX},b {HEX}");
    assert_eq!(ids(&Keyring::parse(&commas).unwrap()), ["a", "b"]);
}

#[test]
fn what_is_no_key_is_refused_with_its_place_and_without_its_text() {
    for text in ["", "# nothing\n\n", " , ,"] {
        assert!(matches!(Keyring::parse(text), Err(KeyringError::Empty)), "{text:?}");
    }
    let bad = [
        HEX.to_owned(),
        format!("a {}", &HEX[1..]),
        format!("a {HEX}0"),
        format!("a g{}", &HEX[1..]),
        format!("A {HEX}"),
        format!("{} {HEX}", "a".repeat(33)),
        format!("a {HEX} more"),
    ];
    for entry in bad {
        let error = Keyring::parse(&format!("{TEST_KEY}\n{entry}")).unwrap_err();
        assert!(matches!(error, KeyringError::BadEntry(2)), "{entry}: {error}");
        assert!(!error.to_string().contains("1c1d1e"), "the error shows the key");
    }
    let twice = Keyring::parse(&format!("{TEST_KEY}\n{TEST_KEY}")).unwrap_err();
    assert!(matches!(twice, KeyringError::Twice(id) if id == "test"));
}

#[test]
fn debug_shows_names_only() {
    let keys = Keyring::parse(TEST_KEY).unwrap();
    assert_eq!(format!("{keys:?}"), r#"["test"]"#);
}

#[test]
fn a_key_file_is_its_owners_only() {
    let folder = tempfile::tempdir().unwrap();
    let private = file(folder.path(), TEST_KEY, 0o600);
    assert_eq!(ids(&Keyring::from_file(&private).unwrap()), ["test"]);
    for mode in [0o640, 0o604, 0o660, 0o644, 0o601] {
        let path = file(folder.path(), TEST_KEY, mode);
        let error = Keyring::from_file(&path).unwrap_err();
        assert!(matches!(error, KeyringError::Exposed { .. }), "{mode:o}");
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }
    let missing = Keyring::from_file(&folder.path().join("nowhere")).unwrap_err();
    assert!(matches!(missing, KeyringError::File { .. }));
}

#[test]
fn a_new_store_gets_a_key_file_that_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("fulcrum.redb");
    let made = Keyring::beside(&store).unwrap();
    let path = Keyring::path_beside(&store);
    assert_eq!(path, folder.path().join("fulcrum.redb.keys"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(ids(&made), ids(&Keyring::beside(&store).unwrap()));
    assert_eq!(text, fs::read_to_string(&path).unwrap(), "found, not made again");
}

#[test]
fn two_new_stores_have_different_keys() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["a", "b"].map(|name| {
        let store = folder.path().join(name);
        Keyring::beside(&store).unwrap();
        fs::read_to_string(Keyring::path_beside(&store)).unwrap()
    });
    assert_ne!(one, other);
}

#[test]
fn a_store_that_lost_its_key_file_gets_no_new_key() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("fulcrum.redb");
    fs::write(&store, "a store").unwrap();
    let error = Keyring::beside(&store).unwrap_err();
    assert!(matches!(error, KeyringError::Lost { .. }));
    assert!(error.to_string().contains("put the file back"), "{error}");
    assert!(!Keyring::path_beside(&store).exists());
}
