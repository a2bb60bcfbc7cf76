//! What the program says about itself while it runs: a log whose levels change over HTTP, and a collector that is not there.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::child::fulcrum;

/// A server with a log in JSON, and where its metrics are.
struct Telling {
    process: Child,
    log: BufReader<ChildStderr>,
    address: String,
    metrics: String,
}

impl Telling {
    fn start(more: &[&str]) -> Telling {
        let mut arguments = vec!["serve", "--memory", "--listen", "127.0.0.1:0", "--log-format", "json"];
        if !more.contains(&"--metrics") {
            arguments.extend(["--metrics", "127.0.0.1:0"]);
        }
        arguments.extend(more);
        let mut process = fulcrum(arguments).spawn().unwrap();
        let log = BufReader::new(process.stderr.take().unwrap());
        let mut telling = Telling { process, log, address: String::new(), metrics: String::new() };
        telling.metrics = telling.event("metrics_served")["address"].as_str().unwrap().to_owned();
        telling.address = telling.event("ready")["address"].as_str().unwrap().to_owned();
        telling
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.log.read_line(&mut line).unwrap() > 0, "the log has ended");
        serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line}"))
    }

    /// The next line with this event.
    fn event(&mut self, name: &str) -> Value {
        let begun = Instant::now();
        loop {
            let line = self.line();
            if line["event"] == name {
                return line;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "never: {name}");
        }
    }

    /// A request: the status and the body of its answer.
    fn ask(&self, request: &str, body: &str) -> (u16, String) {
        let mut socket = TcpStream::connect(&self.metrics).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let length = body.len();
        let head =
            format!("{request} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n");
        socket.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        // Whoever sends too much may be cut off in the middle of it.
        let _ = socket.read_to_string(&mut answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_else(|| panic!("{answer:?}")), body.trim_end().to_owned())
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_level_of_the_log_changes_while_the_server_runs() {
    let mut server = Telling::start(&["--log", "error,fulcrum::cli=info"]);
    assert_eq!(server.ask("GET /log", ""), (200, "fulcrum::cli=info,error".into()));

    assert_eq!(server.ask("PUT /log", "warn\n"), (200, "warn".into()));
    // Who changes it is told of at a level that was not written before.
    let told = server.event("log_changed");
    assert_eq!((told["level"].as_str(), told["now"].as_str()), (Some("WARN"), Some("warn")));
    assert_eq!(told["before"], "fulcrum::cli=info,error");
    assert_eq!(server.ask("PUT /log", "error"), (200, "error".into()));
    assert_eq!(server.ask("PUT /log", "warn").0, 200);
    let told = server.event("log_changed");
    assert_eq!(told["before"], "error", "the change before is not written");
    let (_, metrics) = server.ask("GET /metrics", "");
    let lines =
        metrics.lines().find_map(|line| line.strip_prefix("fulcrum_log_lines_total{level=\"warn\"} "));
    assert!(lines.and_then(|lines| lines.parse::<f64>().ok()).is_some_and(|lines| lines >= 2.0), "{lines:?}");
}

/// Through an address by which other machines come: also who calls from this one is a stranger then. Where the machine has
/// no such address, nobody can come by it.
#[test]
fn strangers_may_look_at_the_log_and_not_change_it() {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    // Nothing is sent: it only chooses the address.
    let own = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr()).map(|address| address.ip());
    let Some(own) = own.ok().filter(|own| !own.is_loopback()) else {
        return;
    };
    let mut server = Telling::start(&["--metrics", &format!("{own}:0"), "--log", "info"]);
    assert_eq!(server.ask("PUT /log", "trace"), (403, "only this machine may change the log".into()));
    assert_eq!(server.ask("GET /log", ""), (200, "info".into()));
    server.metrics = server.metrics.replace(&own.to_string(), "127.0.0.1");
    assert!(TcpStream::connect(&server.metrics).is_err(), "it listens there only");
}

#[test]
fn what_is_no_filter_changes_nothing() {
    let server = Telling::start(&["--log", "info"]);
    for bad in ["fulcrum=loud", "a=b=c=d", "[", "", "   \n"] {
        let (status, why) = server.ask("PUT /log", bad);
        assert_eq!(status, 400, "{bad:?}: {why}");
        assert!(why.contains("filter"), "{why}");
    }
    assert_eq!(server.ask("PUT /log", &"info,".repeat(2000)).0, 413);
    for request in ["POST /log", "DELETE /log", "PATCH /log"] {
        assert_eq!(server.ask(request, "off").0, 405, "{request}");
    }
    assert_eq!(server.ask("PUT /logs", "off").0, 404);
    assert_eq!(server.ask("GET /log", ""), (200, "info".into()));
}

#[test]
fn a_collector_that_is_not_there_is_told_of_and_the_end_does_not_wait_for_it() {
    let mut server =
        Telling::start(&["--traces", "http://127.0.0.1:1", "--trace-ratio", "1", "--log", "info"]);
    let (code, _, errors) =
        super::child::run(["load", "--address", &server.address, "--tables", "1", "--duration", "1s"]);
    assert_eq!(code, 0, "{errors}");
    let told = server.event("spans_dropped");
    assert_eq!(told["level"], "WARN");
    assert!(told["lost"].as_u64().is_some_and(|lost| lost > 0), "{told}");
    let (_, metrics) = server.ask("GET /metrics", "");
    let dropped = "fulcrum_spans_dropped_total{why=\"export_failed\"} ";
    let dropped = metrics.lines().find_map(|line| line.strip_prefix(dropped)).expect("it is counted");
    assert!(dropped.parse::<f64>().unwrap() > 0.0, "{dropped}");

    let pid = server.process.id().to_string();
    let begun = Instant::now();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    server.event("stopped");
    assert!(server.process.wait().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Hands and calls are told together at the end: each has three seconds.
#[test]
fn a_collector_that_says_nothing_is_waited_for_once() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let collector = format!("http://{}", silent.local_addr().unwrap());
    let mut server = Telling::start(&["--traces", &collector, "--trace-ratio", "1", "--log", "info"]);
    let (code, _, errors) =
        super::child::run(["load", "--address", &server.address, "--tables", "1", "--duration", "1s"]);
    assert_eq!(code, 0, "{errors}");
    let pid = server.process.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    server.event("draining");
    let begun = Instant::now();
    server.event("stopped");
    assert!(server.process.wait().unwrap().success());
    let took = begun.elapsed();
    assert!((Duration::from_secs(2)..Duration::from_millis(5_500)).contains(&took), "{took:?}");
}

#[test]
fn an_address_that_is_none_ends_the_start() {
    let (code, _, errors) = super::child::run(["serve", "--memory", "--traces", "no address"]);
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("traces.endpoint"), "{errors}");
}
