//! `fulcrum serve` and the command line: help, settings and their precedence, refusals, an end in peace.

use std::fs;
use std::path::Path;

use crate::child::{Server, fulcrum, run};

#[test]
fn every_command_teaches_with_examples() {
    for command in [
        &["--help"][..],
        &["serve", "--help"],
        &["health", "--help"],
        &["demo", "--help"],
        &["bot", "--help"],
        &["load", "--help"],
        &["operator", "--help"],
        &["operator", "books", "--help"],
        &["conformance", "--help"],
        &["store", "--help"],
        &["store", "show", "--help"],
        &["store", "check", "--help"],
        &["store", "migrate", "--help"],
    ] {
        let (code, output, errors) = run(command);
        assert_eq!((code, errors.as_str()), (0, ""), "{command:?}");
        assert!(output.contains("Examples:\n") && output.contains("  fulcrum "), "{command:?}: {output}");
    }
}

#[test]
fn bad_usage_is_two() {
    for command in [
        &[][..],
        &["shuffle"],
        &["demo", "--hands", "0"],
        &["demo", "--deck", "AsKs"],
        &["serve", "--history", "many"],
        &["serve", "--log", "fulcrum=loud"],
        &["serve", "--store", "not/there/fulcrum.redb"],
        &["serve", "--token-file", "not/there"],
        &["bot", "--table", "seven"],
        &["bot", "--address", "ftp://127.0.0.1"],
    ] {
        let (code, output, errors) = run(command);
        assert_eq!((code, output.as_str()), (2, ""), "{command:?}: {errors}");
        assert!(!errors.is_empty() && !errors.contains("panicked"), "{command:?}: {errors}");
    }
}

#[test]
fn other_machines_are_not_served_without_tokens() {
    for open in ["0.0.0.0:0", "[::]:0", "192.0.2.1:50051"] {
        let (code, _, errors) = run(["serve", "--memory", "--listen", open]);
        assert_eq!(code, 2, "{errors}");
        assert!(errors.contains("without a token file") && errors.contains("--token-file"), "{errors}");
    }
}

#[test]
fn the_default_settings_can_be_printed_and_used() {
    let (code, printed, _) = run(["serve", "--print-config"]);
    assert_eq!(code, 0);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fulcrum.toml");
    fs::write(&file, printed).unwrap();
    let file = file.to_str().unwrap();
    let server = Server::start(["--config", file, "--memory", "--listen", "127.0.0.1:0"]);
    server.process.signal("TERM");
    assert_eq!(server.process.wait().0, 0);
}

/// The store that a server says it uses.
fn store_of(server: &Server) -> &str {
    let rest = server.greeting.split("(store: ").nth(1).unwrap();
    rest.split(';').next().unwrap()
}

#[test]
fn flags_are_stronger_than_variables_and_variables_than_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let file = path("fulcrum.toml");
    let settings = format!("listen = \"127.0.0.1:0\"\nstore = {:?}\n", path("from-file.redb"));
    fs::write(&file, settings).unwrap();

    let by_file = Server::start(["--config", &file]);
    assert_eq!(store_of(&by_file), path("from-file.redb"));
    let with_variable = || {
        let mut command = fulcrum(["serve"]);
        command.env("FULCRUM_CONFIG", &file).env("FULCRUM_STORE", path("from-variable.redb"));
        command
    };
    let by_variable = Server::of(with_variable(), [""; 0]);
    assert_eq!(store_of(&by_variable), path("from-variable.redb"));
    let by_flag = Server::of(with_variable(), ["--store", &path("from-flag.redb")]);
    assert_eq!(store_of(&by_flag), path("from-flag.redb"));
    for server in [by_file, by_variable, by_flag] {
        server.process.signal("TERM");
        let (code, output, _) = server.process.wait();
        assert_eq!((code, output.as_str()), (0, ""));
    }
}

#[test]
fn a_store_is_one_process_and_the_second_one_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("fulcrum.redb");
    let store = store.to_str().unwrap();
    let first = Server::start(["--listen", "127.0.0.1:0", "--store", store]);
    let (code, _, errors) = run(["serve", "--listen", "127.0.0.1:0", "--store", store]);
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains(store) && errors.contains("in use by another process"), "{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    let (code, _, errors) = run(["serve", "--memory", "--listen", &first.address]);
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("Another program has this port"), "{errors}");
}

#[test]
fn the_development_key_lies_beside_the_store_for_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("fulcrum.redb");
    let server =
        Server::start([Path::new("--listen"), Path::new("127.0.0.1:0"), Path::new("--store"), &store]);
    let keys = folder.path().join("fulcrum.redb.keys");
    let text = fs::read_to_string(&keys).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&keys).unwrap().permissions().mode() & 0o777, 0o600);
    }
    server.process.kill();

    fs::remove_file(&keys).unwrap();
    let store = store.to_str().unwrap();
    let (code, _, errors) = run(["serve", "--listen", "127.0.0.1:0", "--store", store]);
    assert_eq!(code, 2, "a store without its key is no new store: {errors}");
    let key = text.lines().find(|line| !line.starts_with('#')).unwrap();
    let mut command = fulcrum(["serve"]);
    command.env("FULCRUM_CARD_KEY", key);
    let server = Server::of(command, ["--listen", "127.0.0.1:0", "--store", store]);
    server.process.signal("INT");
    let (code, output, errors) = server.process.wait();
    assert_eq!(code, 0, "{errors}");
    let hex = key.split_whitespace().nth(1).unwrap();
    assert!(!output.contains(hex) && !errors.contains(hex), "a key in the log");
}

#[test]
fn a_bot_says_what_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    fs::write(&tokens, "acme a-token-of-enough-letters\n").unwrap();
    let tokens = tokens.to_str().unwrap();
    let server = Server::start(["--memory", "--listen", "127.0.0.1:0", "--token-file", tokens]);
    assert!(server.greeting.contains("callers: with a token"), "{}", server.greeting);

    let (code, _, errors) = run(["bot", "--address", &server.address]);
    assert_eq!(code, 1);
    assert!(errors.contains("--token"), "{errors}");
    let (code, _, errors) =
        run(["bot", "--address", &server.address, "--token", "a-token-of-enough-letters"]);
    assert_eq!(code, 1);
    assert!(errors.contains("has no open table"), "{errors}");
    server.process.kill();

    let (code, _, errors) = run(["bot", "--address", "127.0.0.1:1"]);
    assert_eq!(code, 1);
    assert!(errors.contains("Is a server running at http://127.0.0.1:1?"), "{errors}");
}

#[test]
fn a_json_log_is_json_and_says_when_the_server_is_ready() {
    let mut command = fulcrum(["serve", "--memory", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    let mut process = command.spawn().unwrap();
    let mut log = std::io::BufReader::new(process.stderr.take().unwrap());
    let ready = loop {
        let mut line = String::new();
        assert!(std::io::BufRead::read_line(&mut log, &mut line).unwrap() > 0, "ended without being ready");
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        if line["message"] == "ready" {
            break line;
        }
    };
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(ready["address"].as_str().unwrap().starts_with("127.0.0.1:"), "{ready}");
    assert!(ready["store"].as_str().unwrap().contains("memory"), "{ready}");
}
