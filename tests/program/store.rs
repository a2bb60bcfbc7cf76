//! `fulcrum store` on real stores: an installation in Redis and a file.

mod check;
mod migrate;
pub mod show;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulcrum::store::redis::{RedisConfig, RedisStore, Topology};
use fulcrum::store::{EmbeddedSettings, EmbeddedStore};
use tables::{Outcome, Store, TableKey};
use tempfile::TempDir;

use crate::chain::Chain;
use crate::child::run;
use crate::fixtures::{TEST_KEY, codec, keys};
use crate::servers::Server;

/// A folder with the file of the test key.
pub fn folder_with_key() -> (TempDir, String) {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    std::fs::write(&path, TEST_KEY).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

pub fn url(server: &Server) -> String {
    format!("redis://127.0.0.1:{}", server.port)
}

pub async fn open_redis(server: &Server) -> RedisStore {
    RedisStore::open(RedisConfig::new(Topology::Single(server.endpoint())), codec()).await.unwrap()
}

pub fn open_file(path: &Path) -> EmbeddedStore {
    EmbeddedStore::open(EmbeddedSettings { verify: false, ..EmbeddedSettings::new(path, keys()) }).unwrap()
}

/// A table with so many commits of random play.
async fn play(store: &dyn Store, key: TableKey, commits: usize) -> Chain {
    let seed = key.table.0.as_u64_pair().1;
    let mut chain = Chain::new(key, seed);
    for _ in 0..commits {
        let outcome = store.commit(chain.next()).await.unwrap();
        assert!(matches!(outcome, Outcome::Committed { .. }), "{outcome:?}");
    }
    chain
}

pub fn store_in(folder: &TempDir) -> (PathBuf, String) {
    let path = folder.path().join("fulcrum.redb");
    let name = path.to_str().unwrap().to_owned();
    (path, name)
}

/// A connection for what the tests do behind the service's back.
fn direct(server: &Server) -> redis::Connection {
    let client = redis::Client::open(format!("redis://127.0.0.1:{}", server.port)).unwrap();
    client.get_connection().unwrap()
}

#[test]
fn what_is_missing_is_said_and_what_to_do() {
    let (folder, key_file) = folder_with_key();
    let (code, _, errors) = run(["store", "check", "--key-file", &key_file]);
    assert!(code == 2 && errors.contains("--redis URL or --store FILE"), "{errors}");
    let nowhere = folder.path().join("nowhere.redb");
    let nowhere = nowhere.to_str().unwrap();
    let (code, _, errors) = run(["store", "check", "--store", nowhere, "--key-file", &key_file]);
    assert!(code == 2 && errors.contains("there is no store"), "{errors}");
    assert!(!Path::new(nowhere).exists(), "looking makes no file");
    let (code, _, errors) = run(["store", "check", "--redis", "redis://127.0.0.1:1"]);
    assert!(code == 2 && errors.contains("--key-file"), "{errors}");
    let (code, _, errors) =
        run(["store", "check", "--redis", "redis://127.0.0.1:1", "--key-file", &key_file]);
    assert!(code == 1 && errors.contains("127.0.0.1:1"), "{errors}");
    let (code, _, errors) = run(["store", "show", "--store", nowhere, "casino-1"]);
    assert!(code == 2 && errors.contains("operator/table"), "{errors}");
    let server = Server::start();
    let (code, _, errors) = run(["store", "migrate", "--redis", &url(&server), "--yes", "--to", "1"]);
    assert!(code == 1 && errors.contains("no installation of Fulcrum"), "{errors}");
    assert_eq!(server.ask::<u64>(&["DBSIZE"]), 0, "looking makes no installation");
}

#[tokio::test]
async fn a_file_in_use_and_another_ones_keys_are_refused() {
    let (folder, key_file) = folder_with_key();
    let (path, file) = store_in(&folder);
    let store = Arc::new(open_file(&path));
    let (code, _, errors) = run(["store", "check", "--store", &file, "--key-file", &key_file]);
    assert!(code == 1 && errors.contains("in use by another process"), "{errors}");
    drop(store);
    std::fs::write(&key_file, format!("test {}", "77".repeat(32))).unwrap();
    let (code, _, errors) = run(["store", "check", "--store", &file, "--key-file", &key_file]);
    assert!(code == 2 && errors.contains("another one than the store's"), "{errors}");
    std::fs::write(&key_file, format!("other {}", "77".repeat(32))).unwrap();
    let (code, _, errors) = run(["store", "check", "--store", &file, "--key-file", &key_file]);
    assert!(code == 2 && errors.contains("\"test\" is not among"), "{errors}");
}
