//! `fulcrum health`, and settings that are looked at before they are used.

use std::fs;

use crate::child::{Server, run};

#[test]
fn a_server_is_asked_for_its_health() {
    let server = Server::start(["--memory", "--listen", "127.0.0.1:0"]);
    for service in ["", "fulcrum.liveness", "fulcrum.v1.TableService"] {
        let (code, output, errors) = run(["health", "--address", &server.address, "--service", service]);
        assert_eq!((code, output.as_str(), errors.as_str()), (0, "SERVING\n", ""), "{service:?}");
    }
    let (code, output, errors) =
        run(["health", "--address", &server.address, "--service", "fulcrum.v1.Roulette"]);
    assert_eq!((code, output.as_str()), (1, ""));
    assert!(errors.contains("knows no service \"fulcrum.v1.Roulette\""), "{errors}");
}

#[test]
fn nobody_at_an_address_is_not_healthy() {
    let address = format!("http://127.0.0.1:{}", crate::servers::free_port());
    let (code, output, errors) = run(["health", "--address", &address]);
    assert_eq!((code, output.as_str()), (1, ""));
    assert!(errors.contains(&address) && errors.contains("fulcrum serve"), "{errors}");
    let (code, _, errors) = run(["health", "--address", "not an address"]);
    assert_eq!(code, 2, "{errors}");
}

#[test]
fn settings_are_checked_without_making_or_opening_anything() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let check = |more: &[&str]| run([&["serve", "--check-config"], more].concat());
    let (store, keys, tokens) = (path("tables.redb"), path("keys"), path("tokens"));
    assert_eq!(check(&["--store", &store]), (0, "the settings can be used\n".to_owned(), String::new()));
    // Nobody is there, and nobody is asked.
    let redis = ["--redis", "redis://192.0.2.1:6379", "--key-file", &keys];
    assert_eq!(check(&redis).0, 2, "there is no key file yet");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");

    fs::write(&keys, format!("k1 {}\n", "5a".repeat(32))).unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&tokens, "acme short\n").unwrap();
    assert_eq!(check(&redis).0, 0);
    for (wrong, word) in [
        (vec!["--redis", "rediss-cluster:6379", "--key-file", &keys], "redis"),
        (vec!["--memory", "--token-file", &tokens], "16 characters"),
        (vec!["--memory", "--trace-ratio", "2"], "traces.ratio"),
    ] {
        let (code, output, errors) = check(&wrong);
        assert_eq!((code, output.as_str()), (2, ""), "{wrong:?}");
        assert!(errors.contains(word), "{wrong:?}: {errors}");
    }
}
