//! What is refused at the start, and in which words; what is only warned about.

use std::sync::Arc;

use fulcrum::store::inspect::{Inspect, check_table};
use fulcrum::store::redis::{
    Durability, Endpoint, RedisConfig, RedisInspector, RedisStore, StartError, Tls, Topology,
};
use fulcrum::store::{Codec, Keyring};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use redis::Value;
use tables::Store;

use super::servers::{Installation, Server};
use super::{check_chain, keeping, open, played};
use crate::fixtures::{codec, key};

async fn refused(config: RedisConfig) -> StartError {
    match RedisStore::open(config, codec()).await {
        Ok(_) => panic!("the store starts"),
        Err(error) => error,
    }
}

fn single(server: &Server) -> RedisConfig {
    RedisConfig::new(Topology::Single(server.endpoint()))
}

#[tokio::test]
async fn nobody_is_there() {
    let nobody = Endpoint { host: "127.0.0.1".to_owned(), port: 1 };
    let error = refused(RedisConfig::new(Topology::Single(nobody.clone()))).await;
    assert!(matches!(error, StartError::Unreachable(_)), "{error}");
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
    let name = "poker".to_owned();
    let sentinel = Topology::Sentinel { name, sentinels: vec![nobody.clone()] };
    assert!(matches!(refused(RedisConfig::new(sentinel)).await, StartError::Unreachable(_)));
    let cluster = Topology::Cluster(vec![nobody]);
    assert!(matches!(refused(RedisConfig::new(cluster)).await, StartError::Unreachable(_)));
}

#[tokio::test]
async fn what_is_stored_could_be_lost() {
    let server = Server::with(&["--appendonly", "no"]);
    let error = refused(single(&server)).await;
    assert!(matches!(error, StartError::NotPersistent(_)), "{error}");
    let trial = RedisConfig { accept_loss: true, ..single(&server) };
    let (_, warnings) = RedisStore::open_quietly(trial, codec()).await.unwrap();
    assert!(warnings.iter().any(|warning| warning.contains("append-only")), "{warnings:?}");
    for policy in ["allkeys-lru", "volatile-ttl"] {
        let _: Value = server.ask(&["CONFIG", "SET", "maxmemory-policy", policy]);
        let error = refused(RedisConfig { accept_loss: true, ..single(&server) }).await;
        assert!(matches!(error, StartError::Evicts { .. }), "{error}");
        assert!(error.to_string().contains(policy), "{error}");
    }
}

#[tokio::test]
async fn a_promised_durability_that_is_not_there() {
    let server = Server::start();
    let fsync = RedisConfig { durability: Durability::Fsync, ..single(&server) };
    let error = refused(fsync.clone()).await;
    assert!(error.to_string().contains("appendfsync is everysec"), "{error}");
    let error = refused(RedisConfig { durability: Durability::Replicated(1), ..single(&server) }).await;
    assert!(error.to_string().contains("0 replicas"), "{error}");
    let _: Value = server.ask(&["CONFIG", "SET", "appendfsync", "always"]);
    let store = open(keeping(fsync)).await;
    let chain = played(&store, key(1), 1, 20).await;
    check_chain(&store, &chain).await;
}

#[tokio::test]
async fn another_kind_of_installation_than_was_said() {
    let (server, node) =
        (Server::start(), Server::with(&["--appendonly", "yes", "--cluster-enabled", "yes"]));
    let as_cluster = RedisConfig::new(Topology::Cluster(vec![server.endpoint()]));
    let error = refused(as_cluster).await;
    assert!(error.to_string().contains("cluster"), "{error}");
    let error = refused(single(&node)).await;
    assert!(error.to_string().contains("use redis-cluster://"), "{error}");
    let port = server.port.to_string();
    let replica = Server::with(&["--appendonly", "yes", "--replicaof", "127.0.0.1", &port]);
    let error = refused(single(&replica)).await;
    assert!(matches!(error, StartError::Replica(_)), "{error}");
}

#[tokio::test]
async fn another_number_of_shards_or_another_key() {
    let server = Server::start();
    open(single(&server)).await;
    let error = refused(RedisConfig { shards: 16, ..single(&server) }).await;
    assert!(matches!(error, StartError::Shards { stored: 256, configured: 16 }), "{error}");
    let digits = "ab".repeat(32);
    for keys in [format!("test {digits}"), format!("other {digits}")] {
        let codec = Codec::new(Arc::new(Keyring::parse(&keys).unwrap()));
        let error = RedisStore::open(single(&server), codec).await.err().expect("wrong keys are refused");
        assert!(matches!(error, StartError::Keys(_)), "{error}");
    }
    open(single(&server)).await;
}

fn keyed(keys: &[(&str, &str)]) -> Codec {
    let lines: Vec<String> =
        keys.iter().map(|(name, digits)| format!("{name} {}", digits.repeat(32))).collect();
    Codec::new(Arc::new(Keyring::parse(&lines.join("\n")).unwrap()))
}

#[tokio::test]
async fn keys_are_known_by_what_they_have_sealed() {
    let server = Server::start();
    let start = |keys: &[(&str, &str)]| RedisStore::open_quietly(single(&server), keyed(keys));
    let refuses = async |keys: &[(&str, &str)], name: &str| match start(keys).await {
        Err(StartError::Keys(why)) => assert!(why.contains(&format!("{name:?}")), "{why}"),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it starts with {keys:?}"),
    };
    let starts = async |keys: &[(&str, &str)]| match start(keys).await {
        Ok((_, warnings)) => warnings,
        Err(error) => panic!("{keys:?}: {error}"),
    };
    let (old, new, spare) = (("old", "0a"), ("new", "0b"), ("spare", "0c"));
    starts(&[old]).await;
    refuses(&[("old", "ff")], "old").await;
    refuses(&[new], "old").await;
    // A new key is given to all servers before the first one seals with it; the wrong one of its name is found at once.
    starts(&[old, new]).await;
    refuses(&[old, ("new", "ff")], "new").await;
    refuses(&[("new", "ff"), old], "new").await;
    let warnings = starts(&[old]).await;
    assert!(warnings.iter().any(|warning| warning.contains("\"new\"")), "{warnings:?}");
    // From now on it seals, and nobody can do without either.
    starts(&[new, old, spare]).await;
    refuses(&[old], "new").await;
    refuses(&[new], "old").await;
    let warnings = starts(&[new, old]).await;
    assert!(warnings.iter().any(|warning| warning.contains("\"spare\"")), "{warnings:?}");
}

#[tokio::test]
async fn an_installation_with_the_one_check_of_old_gets_one_a_key() {
    const AS_OF_OLD: &str = "local all = redis.call('HGETALL', KEYS[1]) redis.call('DEL', KEYS[1]) \
         redis.call('HSET', KEYS[1], 'shards', 256) \
         for i = 1, #all, 2 do if all[i] == 'check:old' then redis.call('HSET', KEYS[1], 'check', all[i + 1]) end end";
    let server = Server::start();
    let (old, new) = (("old", "0a"), ("new", "0b"));
    let start = |keys: &[(&str, &str)]| RedisStore::open_quietly(single(&server), keyed(keys));
    start(&[old]).await.unwrap();
    let _: Value = server.ask(&["EVAL", AS_OF_OLD, "1", "{fulcrum}:installation"]);
    assert!(server.ask::<bool>(&["HEXISTS", "{fulcrum}:installation", "check"]));
    for wrong in [vec![("old", "ff")], vec![new]] {
        assert!(matches!(start(&wrong).await, Err(StartError::Keys(_))), "{wrong:?}");
    }
    start(&[new, old]).await.unwrap();
    for field in ["check:old", "check:new", "sealing:old", "sealing:new"] {
        assert!(server.ask::<bool>(&["HEXISTS", "{fulcrum}:installation", field]), "{field}");
    }
    assert!(matches!(start(&[new]).await, Err(StartError::Keys(_))));
}

#[tokio::test]
async fn a_user_with_all_rights_but_one() {
    const ENOUGH: &str = "~* &* +@read +@write +@scripting +@pubsub +@connection +@transaction +info +time +role \
                          +cluster|slots +wait";
    const LOOKING: &str = "~* +@read +@connection +eval_ro +time +role +cluster|slots";
    let server = Server::start();
    let as_user = |rights: &str| {
        let mut command = vec!["ACL", "SETUSER", "poker", "reset", "on", ">secret"];
        command.extend(rights.split_ascii_whitespace());
        let _: Value = server.ask(&command);
        let mut config = single(&server);
        config.login.user = Some("poker".to_owned());
        config.login.password = Some(fulcrum::store::redis::Password("secret".to_owned()));
        keeping(config)
    };
    let store = open(as_user(ENOUGH)).await;
    let chain = played(&store, key(1), 1, 20).await;
    store.heartbeat(store.now().await.unwrap()).await.unwrap();
    check_chain(&store, &chain).await;
    // What `fulcrum store` needs is part of it; to look, less is enough.
    let admin = RedisInspector::open(as_user(ENOUGH)).await.unwrap();
    admin.raise_format(fulcrum::store::codec::FORMAT).await.unwrap();
    let looking = RedisInspector::open(as_user(LOOKING)).await.unwrap();
    assert_eq!(looking.operators().await.unwrap(), std::slice::from_ref(&chain.key.operator));
    assert_eq!(check_table(&looking, &codec(), &chain.key).await.unwrap(), []);
    assert!(looking.history(&chain.key).await.unwrap().bytes.is_some());
    assert_eq!(looking.processes(rules::Millis(10_000)).await.unwrap().len(), 1);
    assert!(looking.raise_format(fulcrum::store::codec::FORMAT).await.is_err(), "looking is all he may");
    for (taken, rights) in [
        ("channels", ENOUGH.replace("&* ", "")),
        ("scripts", ENOUGH.replace("+@scripting ", "")),
        ("keys", ENOUGH.replace("~* ", "~other:* ")),
        ("removals", format!("{ENOUGH} -hdel")),
        ("publish", format!("{ENOUGH} -spublish")),
        ("subscribe", format!("{ENOUGH} -ssubscribe")),
    ] {
        let error = refused(as_user(&rights)).await;
        assert!(matches!(error, StartError::Permission { .. }), "without {taken}: {error}");
    }
    let mut wrong = as_user(ENOUGH);
    wrong.login.password = Some(fulcrum::store::redis::Password("guess".to_owned()));
    let error = refused(wrong).await.to_string();
    assert!(!error.contains("guess") && error.contains("127.0.0.1"), "{error}");
    let left: Vec<String> = server.ask(&["KEYS", "*probe*"]);
    assert!(left.is_empty(), "the probe leaves nothing: {left:?}");
}

#[tokio::test]
async fn encrypted_and_only_for_those_who_know_the_authority() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.distinguished_name.push(rcgen::DnType::CommonName, "the casino's authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let server_key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let certificate = server.signed_by(&server_key, &authority).unwrap();
    std::fs::write(path("ca.pem"), authority.pem()).unwrap();
    std::fs::write(path("cert.pem"), certificate.pem()).unwrap();
    std::fs::write(path("key.pem"), server_key.serialize_pem()).unwrap();
    let file = |name: &str| path(name).display().to_string();
    let (ca, cert, key_file) = (file("ca.pem"), file("cert.pem"), file("key.pem"));
    let port = super::servers::free_port();
    let tls = ["--tls-port", &port.to_string(), "--tls-ca-cert-file", &ca, "--tls-cert-file", &cert];
    let more = ["--tls-key-file", &key_file, "--appendonly", "yes"];
    let _server = Server::with(&[&tls[..], &more[..]].concat());
    let endpoint = Endpoint { host: "localhost".to_owned(), port };
    let mut config = keeping(RedisConfig::new(Topology::Single(endpoint)));
    let pair = (path("cert.pem"), path("key.pem"));
    config.tls = Some(Tls { ca: Some(path("ca.pem")), client: Some(pair.clone()) });
    let store = open(config.clone()).await;
    let chain = played(&store, key(1), 1, 20).await;
    check_chain(&store, &chain).await;
    config.tls = Some(Tls { ca: None, client: Some(pair) });
    let error = refused(config.clone()).await;
    assert!(matches!(error, StartError::Unreachable(_)), "an unknown authority: {error}");
    config.tls = None;
    let error = refused(config).await;
    assert!(matches!(error, StartError::Unreachable(_)), "in the clear: {error}");
}

#[tokio::test]
async fn an_installation_is_found_by_its_url() {
    let installation = Installation::single();
    let port = installation.servers[0].port;
    let config = RedisConfig::parse(&format!("redis://127.0.0.1:{port}?history=100000&shards=16")).unwrap();
    let store = open(config).await;
    let chain = played(&store, key(1), 1, 10).await;
    check_chain(&store, &chain).await;
}
