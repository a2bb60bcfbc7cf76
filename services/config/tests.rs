//! The settings: what is read, what is refused, and what holds by default.

use super::*;
use std::io::Write;

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

pub(super) fn load(text: &str, overrides: Vec<Override>) -> Result<Settings, ConfigError> {
    Settings::load(Some(file(text).path()), overrides)
}

#[test]
fn the_defaults_alone_are_enough() {
    let settings = Settings::load(None, Vec::new()).unwrap();
    assert_eq!(settings.listen, "127.0.0.1:50051".parse().unwrap());
    assert_eq!(settings.place(), Place::File("fulcrum.redb".into()));
    assert_eq!((settings.token_file(), settings.key_file()), (None, None));
}

#[test]
fn a_file_is_stronger_than_the_defaults_and_an_override_than_the_file() {
    let text = "store = \"memory\"\n[log]\nfilter = \"debug\"\n";
    let settings = load(text, vec![("log.filter", "warn".into())]).unwrap();
    assert_eq!(settings.place(), Place::Memory);
    assert_eq!((settings.log.filter.as_str(), settings.log.format), ("warn", LogFormat::Text));
    let settings = load(text, vec![("store", "a.redb".into())]).unwrap();
    assert_eq!(settings.place(), Place::File("a.redb".into()));
}

#[test]
fn redis_is_stronger_than_a_file() {
    let url = "redis://127.0.0.1:6379";
    let settings = load("store = \"a.redb\"\n", vec![("redis", url.into())]).unwrap();
    assert_eq!(settings.place(), Place::Redis(url.to_owned()));
}

#[test]
fn what_is_no_setting_is_named() {
    for (text, word) in [
        ("lisen = \"127.0.0.1:1\"", "lisen"),
        ("listen = \"here\"", "listen"),
        ("metrics = \"there\"", "metrics"),
        ("health = \"well\"", "health"),
        ("[limits]\nhistory = \"many\"", "history"),
        ("[limits]\nwatchers = 0", "limits.watchers"),
        ("[tls]\ncert_file = \"a\"", "key_file"),
        ("[tls]\nclient_ca_file = \"a\"", "cert_file"),
        ("[tls]\ncert_file = \"a\"\nkey_file = \"b\"\nclient_certificates = \"required\"", "client_ca_file"),
        ("[tls]\ncert_file = \"a\"\nkey_file = \"b\"\nclient_ca_file = \"c\"", "client_certificates"),
        ("[tls]\nclient_certificates = \"perhaps\"", "client_certificates"),
        ("[connections]\nidle_seconds = 0", "connections.idle_seconds"),
        ("drain_seconds = 5\nlinger_seconds = 3", "linger_seconds"),
        ("[limits]\noperator_share = 0", "limits.operator_share"),
        ("[limits]\noperator_share = 101", "limits.operator_share"),
        ("[log]\nformat = \"xml\"", "format"),
        ("admin_token_file = \"a\"", "token_file"),
        ("[traces]\nratio = 1.5", "traces.ratio"),
        ("[traces]\nplayer_ids = \"names\"", "player_ids"),
        ("store = \"\"", "store"),
        ("store = ", "TOML"),
    ] {
        let error = load(text, Vec::new()).unwrap_err().to_string();
        assert!(error.contains(word), "{text:?}: {error}");
    }
    let error = Settings::load(Some(Path::new("not/there.toml")), Vec::new()).unwrap_err();
    assert!(error.to_string().contains("not/there.toml"), "{error}");
}

#[test]
fn other_machines_are_let_in_with_tokens_only() {
    for open in ["0.0.0.0:1", "[::]:1", "192.168.0.7:1", "[::ffff:10.0.0.1]:1"] {
        let error = Settings::load(None, vec![("listen", open.into())]).unwrap_err();
        assert!(matches!(error, ConfigError::Unguarded(_)), "{open}");
        assert!(error.to_string().contains("--token-file"));
        let guarded = vec![("listen", open.into()), ("token_file", "tokens".into())];
        assert!(Settings::load(None, guarded).is_ok());
    }
    let health = vec![("health", "0.0.0.0:1".into())];
    assert!(Settings::load(None, health).is_ok(), "there is nothing to do there");
    for closed in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1"] {
        assert!(Settings::load(None, vec![("listen", closed.into())]).is_ok(), "{closed}");
    }
}
