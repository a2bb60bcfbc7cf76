//! `fulcrum load` against a real server: it plays, checks and reports.

use std::path::Path;
use std::time::{Duration, Instant};

use fulcrum::pb::v1::ListTablesRequest;
use serde_json::Value;

use crate::child::{LONG, Running, Server, fulcrum, run};
use crate::spectator::{connect, read};

/// What must be zero where all is right.
const FAULTS: [&str; 13] = [
    "lost",
    "lost_silently",
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

fn server(history: &str) -> Server {
    Server::start(["--memory", "--listen", "127.0.0.1:0", "--history", history])
}

/// A run that goes.
struct Load {
    process: Running,
    folder: tempfile::TempDir,
}

impl Load {
    fn start(server: &Server, more: &[&str]) -> Load {
        let folder = tempfile::tempdir().unwrap();
        let mut command = fulcrum(["load", "--seats", "3", "--action-clock", "300ms", "--think", "20ms"]);
        command.args(["--duration", "10m", "--address", &server.address]).args(more);
        command
            .arg("--json")
            .arg(folder.path().join("json"))
            .arg("--timeline")
            .arg(folder.path().join("lines"));
        Load { process: Running::start(command), folder }
    }

    fn timeline(&self) -> Vec<Value> {
        let lines = std::fs::read_to_string(self.folder.path().join("lines")).unwrap_or_default();
        // The last line may be half written.
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn counted(&self, what: &str) -> u64 {
        self.timeline().iter().map(|line| line[what].as_u64().unwrap()).sum()
    }

    /// Waits until the timeline has counted so many of these.
    fn until(&self, what: &str, count: u64) {
        let begun = Instant::now();
        while self.counted(what) < count {
            assert!(begun.elapsed() < LONG, "{} {what}", self.counted(what));
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Plays until so many decisions were acknowledged, and is asked to end: output, report, timeline.
fn played(server: &Server, more: &[&str], decisions: u64) -> (String, Value, Vec<Value>) {
    let load = Load::start(server, more);
    load.until("acked", decisions);
    load.process.signal("INT");
    let Load { process, folder } = load;
    let (code, output, errors) = process.wait();
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    let lines = std::fs::read_to_string(folder.path().join("lines")).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output, json(&folder.path().join("json")), lines)
}

#[test]
fn a_run_is_right_and_its_report_says_so() {
    let server = server("100000");
    let more = ["--tables", "4", "--absent", "20%", "--seed", "7"];
    let (output, report, lines) = played(&server, &more, 200);
    assert!(output.contains("every acknowledged decision is in the log once"), "{output}");
    assert!(output.contains("p99.9") && output.contains('#'), "{output}");
    assert!(!output.contains('\u{1b}'), "no escape code where there is no terminal");

    let number = |name: &str| report[name].as_u64().unwrap_or_else(|| panic!("no {name} in {report}"));
    assert_eq!((number("tables"), number("bots"), number("seed"), number("logs_reread")), (4, 12, 7, 4));
    for name in ["hands", "clock_count", "throughput", "calls"] {
        assert!(number(name) > 0, "{name} in {report}");
    }
    for name in FAULTS {
        assert_eq!(number(name), 0, "{name} in {report}");
    }
    let took = |name: &str| report["latency_us"][name].as_u64().unwrap();
    assert!(took("p50") <= took("p99") && took("p999") <= took("max") && took("p50") > 0, "{report}");

    let acked: u64 = lines.iter().map(|line| line["acked"].as_u64().unwrap()).sum();
    assert_eq!(acked, number("actions_acked"), "each decision is in one line");
    let times: Vec<u64> = lines.iter().map(|line| line["t_ms"].as_u64().unwrap()).collect();
    assert!(times.is_sorted() && times[0] > 1_700_000_000_000, "{times:?}");
}

#[test]
fn a_log_that_cannot_be_read_again_is_checked_as_it_was_followed() {
    // So short a history is trimmed before the end.
    let server = server("16");
    let (_, report, _) = played(&server, &["--tables", "2"], 150);
    for name in FAULTS.iter().chain(&["logs_reread"]) {
        assert_eq!(report[name].as_u64(), Some(0), "{name} in {report}");
    }
    assert!(report["hands"].as_u64() > Some(0), "{report}");
}

#[test]
fn a_run_ends_by_itself_and_checks_only_if_asked_to() {
    let server = server("100000");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("json");
    let fixed = ["load", "--tables", "1", "--duration", "1s", "--no-check", "--address", &server.address];
    let (code, output, errors) = run(fixed.into_iter().chain(["--json", path.to_str().unwrap()]));
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    assert!(output.contains("none was asked for"), "{output}");
    let report = json(&path);
    assert_eq!((report["checked"].as_bool(), report["seconds"].as_u64()), (Some(false), Some(1)), "{report}");
}

#[test]
fn players_come_and_go_until_so_many_hands_are_played() {
    let server = server("100000");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("json");
    let fixed =
        ["load", "--tables", "2", "--seats", "3", "--think", "5ms", "--duration", "10m", "--hands", "60"];
    let quick = ["--between-hands", "20ms", "--fold", "60%", "--churn", "15%", "--absent", "0%"];
    let here = ["--address", &server.address, "--json", path.to_str().unwrap()];
    let (code, output, errors) = run(fixed.iter().chain(&quick).chain(&here));
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    let report = json(&path);
    for name in FAULTS {
        assert_eq!(report[name].as_u64(), Some(0), "{name} in {report}");
    }
    assert!(report["hands"].as_u64() >= Some(60), "{report}");
    assert!(report["buy_in_us"]["max"].as_u64() > Some(0), "nobody came back: {report}");
}

#[test]
fn a_second_signal_ends_at_once_and_says_that_nothing_was_checked() {
    let server = server("100000");
    let mut load = Load::start(&server, &["--tables", "1"]);
    load.until("acked", 1);
    server.process.kill();
    load.until("errors", 1);
    // Two that come too close together may be heard as one. One alone would leave it two minutes for its last hands.
    let begun = Instant::now();
    while !load.process.has_ended() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it does not end");
        load.process.signal("INT");
        std::thread::sleep(Duration::from_millis(300));
    }
    let (code, _, errors) = load.process.wait();
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains("nothing was checked"), "{errors}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_ends_it_while_tables_are_opened_is_told_which_stay_open() {
    let server = server("100000");
    let load = Load::start(&server, &["--tables", "100000"]);
    let mut client = connect(&server.address);
    let begun = Instant::now();
    // Of so many some have been answered: no more than 32 are opened at a time.
    let request = ListTablesRequest { page_size: 50, ..ListTablesRequest::default() };
    while client.list_tables(request.clone()).await.unwrap().into_inner().tables.len() < 40 {
        assert!(begun.elapsed() < LONG, "no table is opened");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    load.process.signal("INT");
    let (code, _, errors) = load.process.wait();
    assert_eq!(code, 1, "{errors}");
    let (why, named) = errors.split_once("These tables stay open:\n").expect("tables are named");
    assert!(why.contains("ended while tables were being opened"), "{why}");
    let ids: Vec<&str> = named.lines().map(str::trim).filter(|line| !line.ends_with(" more")).collect();
    assert!((8..=100).contains(&ids.len()), "{errors}");
    for table_id in ids {
        read(&server.address, table_id).await;
    }
}

#[test]
fn bad_usage_is_said_before_anything_is_opened() {
    for (more, words) in [
        (vec!["--tables", "0"], "at least 1"),
        (vec!["--absent", "5"], "0.5%"),
        (vec!["--churn", "5"], "0.5%"),
        (vec!["--hands", "0"], "--hands"),
        (vec!["--seats", "11"], "2..=10"),
        (vec!["--duration", "soon"], "--duration"),
        (vec!["--address", "ftp://a:1"], "no address of a server"),
    ] {
        let (code, _, errors) = run(["load"].iter().chain(&more));
        assert_eq!(code, 2, "{more:?}: {errors}");
        assert!(errors.contains(words), "{more:?}: {errors}");
    }
}
