//! `fulcrum capacity` with real servers and a real Redis: it measures, reckons, and leaves nothing behind.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::child::{LONG, Running, fulcrum, run};
use crate::redis::key_file;
use crate::servers;

/// What is short enough for a test.
const SHORT: [&str; 10] =
    ["--played", "3", "--seats", "3", "--idle", "40", "--watchers", "40", "--time", "1s"];

fn measuring(redis: &servers::Server, keys: &Path) -> Vec<String> {
    let url = format!("redis://127.0.0.1:{}?shards=8", redis.port);
    let own = ["capacity", "--redis", &url, "--key-file", keys.to_str().unwrap()];
    own.iter().chain(&SHORT).map(|text| (*text).to_owned()).collect()
}

/// Neither a process nor a key of the measurement is left.
fn nothing_is_left(redis: &servers::Server, keys: &Path) {
    let left: Vec<String> = redis.ask(&["KEYS", "*capacity-*"]);
    assert!(left.is_empty(), "{left:?}");
    for shard in 0..8 {
        let due: Vec<String> = redis.ask(&["ZRANGE", &format!("{{s{shard:03}}}:tm"), "0", "-1"]);
        assert!(due.iter().all(|name| !name.contains("capacity")), "{due:?}");
    }
    let keys = keys.to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let commands =
        processes.filter_map(|process| std::fs::read_to_string(process.path().join("cmdline")).ok());
    let ours: Vec<String> = commands.filter(|command| command.contains(keys)).collect();
    assert!(ours.is_empty(), "{ours:?}");
}

#[test]
fn a_short_measurement_is_plausible_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (keys, json) = (key_file(folder.path()), folder.path().join("json"));
    let redis = servers::Server::start();
    let more = ["--simulate", "1000", "--json", json.to_str().unwrap()];
    let arguments = measuring(&redis, &keys);
    let (code, output, errors) = run(arguments.iter().map(String::as_str).chain(more));
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    nothing_is_left(&redis, &keys);
    assert!(!output.contains('\u{1b}'), "no escape code where there is no terminal");
    for words in ["What was measured", "What 10,000 tables need", "1,000,000", "Simulated", "one Redis"] {
        assert!(output.contains(words), "no {words:?} in {output}");
    }

    let report = read(&json);
    let number = |path: &str| {
        report.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {report}"))
    };
    for path in [
        "/measured/server/us_per_action",
        "/measured/server/bytes_per_message",
        "/measured/redis/us_per_action",
        "/measured/redis/us_per_look",
        "/measured/redis/us_per_second",
        "/measured/redis/bytes_per_action",
        "/measured/redis/bytes_per_table",
        "/measured/redis/bytes_per_commit_kept",
        "/measured/redis/bytes_per_hand_kept",
    ] {
        assert!(number(path) > 0.0, "{path} in {report}");
    }
    assert!(number("/measured/server/us_per_second") > 0.0, "{report}");
    assert!((2.0..60.0).contains(&number("/measured/actions_of_a_hand")), "{report}");
    assert!((1.0..4.0).contains(&number("/measured/commits_of_an_action")), "{report}");
    let phases = report["measured"]["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 5);
    assert!(phases.iter().all(|phase| phase["actions"].as_f64() > Some(0.0)), "{report}");
    assert_eq!(report["simulated"][0]["course"].as_array().map(Vec::len), Some(90));

    asked_again(&json, &report);
}

/// What was measured is measured once.
fn asked_again(json: &Path, report: &Value) {
    let again = json.with_extension("again");
    let (from, to) = (json.to_str().unwrap(), again.to_str().unwrap());
    let more = ["--tables", "20000", "--no-simulation", "--json", to];
    let begun = Instant::now();
    let (code, output, errors) = run(["capacity", "--measured", from].iter().chain(&more));
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    assert!(begun.elapsed() < Duration::from_secs(20), "nothing is measured");
    let second = read(&again);
    assert_eq!(second["measured"], report["measured"]);
    assert_eq!(second["simulated"], Value::Array(Vec::new()));
    let actions = |report: &Value| report["plan"]["actions"].as_f64().unwrap();
    assert!((actions(&second) / actions(report) - 2.0).abs() < 1e-9);
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn who_breaks_it_off_finds_nothing_left_either() {
    let folder = tempfile::tempdir().unwrap();
    let keys = key_file(folder.path());
    let redis = servers::Server::start();
    let measuring = Running::start(fulcrum(measuring(&redis, &keys)));
    let begun = Instant::now();
    while redis.ask::<Vec<String>>(&["KEYS", "*:t:capacity-*"]).len() < 40 {
        assert!(begun.elapsed() < LONG, "no table is opened");
        std::thread::sleep(Duration::from_millis(50));
    }
    measuring.signal("INT");
    let (code, _, errors) = measuring.wait();
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("ended before everything was measured"), "{errors}");
    nothing_is_left(&redis, &keys);
}

#[test]
fn what_cannot_be_is_said_at_once() {
    for (more, words) in [
        (vec!["--tables", "0"], "--tables"),
        (vec!["--headroom", "1"], "0.95"),
        (vec!["--played", "0"], "at least 1"),
        (vec!["--redis", "redis://127.0.0.1:1"], "--key-file"),
        (vec!["--redis", "redis-cluster://127.0.0.1:1", "--key-file", "any"], "one server"),
        (vec!["--measured", "/nowhere/at/all"], "no file"),
        (vec!["--hands-per-hour", "70", "--seconds-per-decision", "5"], "cannot be used with"),
    ] {
        let (code, _, errors) = run(["capacity"].iter().chain(&more));
        assert_eq!(code, 2, "{more:?}: {errors}");
        assert!(errors.contains(words), "{more:?}: {errors}");
    }
    let mut lonely = fulcrum(["capacity"]);
    lonely.env("PATH", "/nowhere");
    let (code, _, errors) = crate::child::ended(lonely.output().unwrap());
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("apt-get install redis-server"), "{errors}");
}
