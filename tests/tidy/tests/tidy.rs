//! The house rules: sizes, openings, arrows between the parts, refusals, and what the README says.

use std::collections::BTreeSet;

use tidy::{functions, read, root, sources, texts};

/// The longest a file may be.
const FILE_LINES: usize = 600;
/// The longest a function may be.
const FUNCTION_LINES: usize = 70;
/// The longest a gRPC handler may be.
const HANDLER_LINES: usize = 12;

fn report(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    let opens = |text: &str| text.starts_with("//! ");
    let faults: Vec<String> = sources()
        .iter()
        .filter(|source| !opens(&source.text))
        .map(|source| format!("{}: the first line is not a `//!` sentence", source.path))
        .collect();
    report(&faults);
}

#[test]
fn files_and_functions_stay_small() {
    let mut faults = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        if lines > FILE_LINES {
            faults.push(format!("{}: {lines} lines, at most {FILE_LINES}", source.path));
        }
        for function in functions(&source.text) {
            if function.lines > FUNCTION_LINES {
                let (name, line, lines) = (function.name, function.line, function.lines);
                faults.push(format!("{}:{line}: fn {name} has {lines} lines", source.path));
            }
        }
    }
    report(&faults);
}

#[test]
fn handlers_are_thin() {
    let mut faults = Vec::new();
    let mut handlers = 0;
    for source in sources().iter().filter(|s| s.path.starts_with("services/grpc/")) {
        let Some(service) = source.text.find("#[tonic::async_trait]") else {
            continue;
        };
        for function in functions(&source.text[service..]) {
            handlers += 1;
            if function.lines > HANDLER_LINES {
                faults.push(format!("{}: {} has {} lines", source.path, function.name, function.lines));
            }
        }
    }
    assert!(handlers >= 20, "only {handlers} handlers found: this test has gone blind");
    report(&faults);
}

#[test]
fn the_rules_crate_depends_on_nothing() {
    let manifest = read(&root().join("services/rules/Cargo.toml"));
    let after = manifest.split("[dependencies]").nth(1).expect("a [dependencies] section");
    let section = after.split("\n[").next().unwrap_or_default();
    assert_eq!(section.trim(), "", "services/rules has dependencies");
    let lib = read(&root().join("services/rules/src/lib.rs"));
    assert!(lib.contains("#![no_std]"), "services/rules is not no_std");
}

/// Words that the sources below a folder may not use, because of the arrows between the parts.
const ARROWS: &[(&str, &[&str])] = &[
    ("services/rules/src/", &["std::", "async ", "tokio", "serde", "prost", "tonic", "tracing"]),
    ("services/tables/src/", &["tonic", "prost", "redis", "redb", "crate::pb"]),
    ("services/grpc/", &["crate::store", "crate::wallet", "redb", "chacha20"]),
    ("services/store/", &["crate::grpc", "crate::wallet", "tonic::"]),
    ("services/wallet/", &["crate::grpc", "crate::store", "redb", "redis"]),
    // The wallet that tests are made with shares nothing with the service that calls it.
    ("services/cli/operator/", &["rules::", "crate::grpc", "crate::store", "crate::wallet"]),
    // A check that used the code which it checks would share its faults.
    (
        "services/cli/load/check",
        &["rules::", "tables::", "tonic", "crate::cli", "crate::grpc", "crate::store"],
    ),
];

#[test]
fn arrows_point_one_way() {
    let mut faults = Vec::new();
    for source in sources() {
        for (folder, words) in ARROWS {
            if !source.path.starts_with(folder) {
                continue;
            }
            for (number, line) in (1..).zip(source.text.lines()) {
                let code = line.split("//").next().unwrap_or_default();
                for word in words.iter().filter(|word| code.contains(**word)) {
                    faults.push(format!("{}:{number}: `{word}` has no place here", source.path));
                }
            }
        }
    }
    report(&faults);
}

/// The only places that name generated code.
const GENERATED: &[&str] = &[
    "services/pb.rs",
    "services/grpc/",
    "services/store/codec",
    "services/store/",
    "services/cli/",
    "services/wallet/",
    "tests/",
];

#[test]
fn generated_code_stays_at_the_edges() {
    let names = |text: &str| text.contains("pb::");
    let faults: Vec<String> = sources()
        .iter()
        .filter(|s| !GENERATED.iter().any(|place| s.path.starts_with(place)) && names(&s.text))
        .map(|s| format!("{}: names generated code", s.path))
        .collect();
    report(&faults);
}

#[test]
fn every_refusal_names_a_rule_and_has_a_test() {
    let refusals = read(&root().join("services/rules/src/refusal.rs"));
    let tests: String = sources()
        .iter()
        .filter(|s| s.path.starts_with("services/rules/tests/"))
        .map(|s| s.text.as_str())
        .collect();
    let mut faults = Vec::new();
    let mut found = 0;
    for line in refusals.lines().filter(|line| line.contains("=> (\"")) {
        let words: Vec<&str> = line.split('"').collect();
        let [_, reason, _, rule, ..] = words[..] else {
            faults.push(format!("cannot read: {line}"));
            continue;
        };
        found += 1;
        let numbers: Vec<&str> = rule.split('.').collect();
        if numbers.len() != 2 || numbers.iter().any(|n| n.parse::<u8>().is_err()) {
            faults.push(format!("{reason} names no rule: {rule}"));
        }
        if !tests.contains(reason) {
            faults.push(format!("{reason} has no test under services/rules/tests"));
        }
    }
    assert!(found >= 30, "only {found} refusals found: this test has gone blind");
    report(&faults);
}

#[test]
fn the_code_map_of_the_readme_is_true() {
    let readme = read(&root().join("README.md"));
    let mut named = 0;
    let mut faults = Vec::new();
    for word in readme.split('`').skip(1).step_by(2) {
        let is_path =
            ["services/", "proto/", "tests/", "deploy/", ".ci/"].iter().any(|p| word.starts_with(p));
        if !is_path || word.contains([' ', '*', '<', '…']) {
            continue;
        }
        named += 1;
        if !root().join(word).exists() {
            faults.push(format!("README.md names {word}, which is not there"));
        }
    }
    assert!(named >= 20, "only {named} paths found: this test has gone blind");
    report(&faults);
}

#[test]
fn nothing_unfinished_and_no_machine_of_ours_is_named() {
    // Put together here, so that this file does not find itself.
    let halves =
        [("FIX", "ME"), ("XX", "X"), ("/wo", "rk/"), ("/fa", "rm/"), ("#[ign", "ore"), ("to", "do!(")];
    let words = halves.map(|(first, second)| format!("{first}{second}"));
    let mut faults = Vec::new();
    for (path, text) in texts() {
        for (number, line) in (1..).zip(text.lines()) {
            for word in words.iter().filter(|word| line.contains(word.as_str())) {
                faults.push(format!("{path}:{number}: {word}"));
            }
        }
    }
    report(&faults);
}

/// The names after `event = "` in a text.
fn events(text: &str) -> BTreeSet<String> {
    let named = text.split("event = \"").skip(1).filter_map(|rest| rest.split('"').next());
    named.map(str::to_owned).collect()
}

#[test]
fn what_the_log_names_is_explained() {
    let log = sources().into_iter().filter(|source| source.path.starts_with("services/"));
    let written: BTreeSet<String> = log.flat_map(|source| events(&source.text)).collect();
    let text = read(&root().join("deploy/logs.md"));
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let explained: BTreeSet<String> = rows.map(|(name, _)| name.to_owned()).collect();
    assert!(written.len() > 30, "only {written:?} found: this test has gone blind");
    let silent = explained.difference(&written).map(|name| format!("nobody writes the event {name}"));
    let dark = written.difference(&explained).map(|name| format!("deploy/logs.md lacks the event {name}"));
    report(&silent.chain(dark).collect::<Vec<_>>());
}

#[test]
fn lines_that_somebody_may_have_to_look_at_have_names() {
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| source.path.starts_with("services/")) {
        // Bots and load generators are no service.
        if source.path.starts_with("services/cli/") && !source.path.starts_with("services/cli/node") {
            continue;
        }
        for level in ["error", "warn"] {
            for (place, call) in source.text.match_indices(&format!("tracing::{level}!(")) {
                let named = source.text[place + call.len()..].trim_start().starts_with("event = ");
                if !named {
                    let line = source.text[..place].lines().count();
                    faults.push(format!("{}:{line}: a line without an event", source.path));
                }
            }
        }
    }
    report(&faults);
}
