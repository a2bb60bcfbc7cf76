//! `fulcrum load` against a real server: it plays, checks and reports.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::child::{LONG, Running, Server, fulcrum, run};

fn server() -> Server {
    Server::start(["--memory", "--listen", "127.0.0.1:0", "--history", "100000"])
}

fn load(address: &str, more: &[&str]) -> (i32, String, String) {
    let fixed = ["load", "--address", address, "--seats", "3", "--action-clock", "300ms"];
    run(fixed.iter().chain(more))
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Waits until the timeline has counted one of these.
fn until(timeline: &Path, what: &str) {
    let begun = Instant::now();
    let counted = |line: &str| serde_json::from_str(line).is_ok_and(|line: Value| line[what] != 0);
    while !std::fs::read_to_string(timeline).unwrap_or_default().lines().any(counted) {
        assert!(begun.elapsed() < LONG, "no {what} in {}", timeline.display());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_short_run_is_right_and_its_report_says_so() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let (report, timeline) = (folder.path().join("load.json"), folder.path().join("load.jsonl"));
    let more = [
        "--tables",
        "4",
        "--duration",
        "4s",
        "--think",
        "20ms",
        "--absent",
        "5%",
        "--seed",
        "7",
        "--json",
        report.to_str().unwrap(),
        "--timeline",
        timeline.to_str().unwrap(),
    ];
    let (code, output, errors) = load(&server.address, &more);
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    assert!(output.contains("every acknowledged decision is in the log once"), "{output}");
    assert!(output.contains("p99.9") && output.contains('#'), "{output}");
    assert!(!output.contains('\u{1b}'), "no escape code where there is no terminal");

    let report = json(&report);
    let number = |name: &str| report[name].as_u64().unwrap_or_else(|| panic!("no {name} in {report}"));
    assert_eq!((number("tables"), number("bots"), number("seed"), number("logs_reread")), (4, 12, 7, 4));
    for name in ["hands", "actions_acked", "clock_count", "throughput", "calls"] {
        assert!(number(name) > 0, "{name} in {report}");
    }
    let wrong = [
        "lost",
        "doubled",
        "contradicted",
        "gaps",
        "chips_off",
        "settlements_off",
        "hands_open",
        "hands_voided",
        "clock_early",
        "histories_lost",
        "view_mismatches",
        "unverified",
    ];
    for name in wrong {
        assert_eq!(number(name), 0, "{name} in {report}");
    }
    let took = |name: &str| report["latency_us"][name].as_u64().unwrap();
    assert!(took("p50") <= took("p99") && took("p999") <= took("max") && took("p50") > 0, "{report}");

    let lines = std::fs::read_to_string(timeline).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() >= 20, "{}", lines.len());
    let acked: u64 = lines.iter().map(|line| line["acked"].as_u64().unwrap()).sum();
    assert_eq!(acked, number("actions_acked"), "each decision is in one line");
}

#[test]
fn a_log_that_cannot_be_read_again_is_checked_as_it_was_followed() {
    // So short a history is trimmed before the end.
    let server = Server::start(["--memory", "--listen", "127.0.0.1:0", "--history", "16"]);
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("load.json");
    let more = ["--tables", "2", "--duration", "3s", "--think", "20ms", "--json", report.to_str().unwrap()];
    let (code, output, errors) = load(&server.address, &more);
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    let report = json(&report);
    assert_eq!((report["logs_reread"].as_u64(), report["gaps"].as_u64()), (Some(0), Some(0)), "{report}");
    assert!(report["hands"].as_u64() > Some(0), "{report}");
}

#[test]
fn a_second_signal_ends_at_once_and_says_that_nothing_was_checked() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let timeline = folder.path().join("load.jsonl");
    let mut command = fulcrum(["load", "--tables", "1", "--seats", "2", "--duration", "10m", "--address"]);
    command.arg(&server.address).arg("--timeline").arg(&timeline);
    let load = Running::start(command);
    until(&timeline, "acked");
    server.process.kill();
    until(&timeline, "errors");
    load.signal("INT");
    std::thread::sleep(Duration::from_secs(1));
    load.signal("INT");
    let (code, _, errors) = load.wait();
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("nothing was checked"), "{errors}");
}

#[test]
fn a_signal_ends_the_playing_and_the_check_is_made() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let timeline = folder.path().join("load.jsonl");
    let mut command =
        fulcrum(["load", "--tables", "2", "--seats", "2", "--duration", "10m", "--think", "20ms"]);
    command.args(["--absent", "0%", "--address", &server.address, "--timeline"]).arg(&timeline);
    let load = Running::start(command);
    until(&timeline, "acked");
    load.signal("INT");
    let (code, output, errors) = load.wait();
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    assert!(output.contains("every acknowledged decision is in the log once"), "{output}");
}

#[test]
fn bad_usage_is_said_before_anything_is_opened() {
    for (more, words) in [
        (vec!["--tables", "0"], "at least 1"),
        (vec!["--absent", "5"], "0.5%"),
        (vec!["--seats", "11"], "2..=10"),
        (vec!["--duration", "soon"], "--duration"),
        (vec!["--address", "https://a:1"], "no address of a server"),
    ] {
        let (code, _, errors) = run(["load"].iter().chain(&more));
        assert_eq!(code, 2, "{more:?}: {errors}");
        assert!(errors.contains(words), "{more:?}: {errors}");
    }
}
