//! `fulcrum serve` and its callers: who may call, as the settings say, and how loud it is when nobody is asked.

use std::fs;

use crate::child::{Server, run};
use crate::tls::certificates_required;

/// A key that somebody publishes.
const KEYS: &str = r#"{"keys": [{"kty": "EC", "crv": "P-256", "kid": "k1",
    "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#;

#[test]
fn a_server_that_asks_nobody_says_so_aloud() {
    let server = Server::start(["--memory", "--listen", "0.0.0.0:0", "--insecure"]);
    assert!(server.greeting.contains("INSECURE: anybody who reaches it"), "{}", server.greeting);
    server.process.signal("TERM");
    let (code, _, errors) = server.process.wait();
    assert_eq!(code, 0, "{errors}");
    let warned = errors.lines().any(|line| line.contains("WARN") && line.contains("\"insecure\""));
    assert!(warned && errors.contains("whoever reaches this address may do everything"), "{errors}");
}

#[test]
fn a_server_on_this_machine_says_it_once() {
    let server = Server::start(["--memory", "--listen", "127.0.0.1:0"]);
    assert!(server.greeting.contains("anybody on this machine, as the operator dev"), "{}", server.greeting);
    server.process.signal("TERM");
    let (code, _, errors) = server.process.wait();
    let warned: Vec<&str> = errors.lines().filter(|line| line.contains("WARN")).collect();
    assert_eq!((code, warned.len()), (0, 1), "{errors}");
    assert!(warned[0].contains("\"insecure\"") && warned[0].contains("on this machine"), "{errors}");
}

#[test]
fn the_first_line_says_what_callers_show() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("tokens"), "acme 0123456789abcdef0123\n").unwrap();
    fs::write(path("keys.json"), KEYS).unwrap();
    let jwt = format!("[jwt]\nissuer = \"i\"\naudience = \"a\"\njwks = {:?}\n", path("keys.json"));
    let identities = "[identities]\n\"spiffe://casino.example/acme\" = \"acme\"\n";
    let settings = format!("operators = [\"acme\"]\ntoken_file = {:?}\n{jwt}{identities}", path("tokens"));
    fs::write(path("fulcrum.toml"), settings).unwrap();
    let mut arguments = certificates_required(folder.path());
    arguments.extend(["--config".to_owned(), path("fulcrum.toml")]);
    let server = Server::start(arguments.iter().map(String::as_str));
    let said = "callers: with a token or with a JWT or with a certificate";
    assert!(server.greeting.contains(said), "{}", server.greeting);
}

#[test]
fn what_cannot_be_used_is_said_before_anything_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("no-keys.json"), "{\"keys\": []}").unwrap();
    let jwt = |jwks: &str| {
        format!("operators = [\"acme\"]\n[jwt]\nissuer = \"i\"\naudience = \"a\"\njwks = {jwks:?}\n")
    };
    for (settings, said) in [
        (jwt(&path("not-there.json")), "jwt.jwks"),
        (jwt(&path("no-keys.json")), "no key in it that can be used"),
        (jwt("http://id.acme.example/jwks"), "https"),
        (jwt("https://id.acme.example/jwks") + "ca_file = \"not/there.pem\"\n", "jwt.ca_file"),
        ("[identities]\nx = \"acme:owner\"\n".to_owned(), "identities"),
    ] {
        fs::write(path("fulcrum.toml"), &settings).unwrap();
        let (code, output, errors) = run(["serve", "--memory", "--config", &path("fulcrum.toml")]);
        assert_eq!((code, output.as_str()), (2, ""), "{settings}: {errors}");
        assert!(errors.contains(said), "{settings}: {errors}");
    }
}
