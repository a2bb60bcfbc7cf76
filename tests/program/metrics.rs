//! The metrics of the program itself: what they tell, and that Prometheus' own tool finds nothing wrong with them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::child::{Server, run};
use crate::servers::free_port;

/// What is told at this port to somebody who sends these headers along.
pub fn scrape(port: u16, headers: &str) -> String {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).expect("the metrics' address");
    write!(socket, "GET /metrics HTTP/1.1\r\nhost: x\r\n{headers}connection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("headers and a body");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    body.to_owned()
}

/// The value of a series.
pub fn value(text: &str, series: &str) -> f64 {
    let told = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    told.and_then(|told| told.parse().ok()).unwrap_or_else(|| panic!("no {series}: {text}"))
}

#[test]
fn a_server_tells_what_is_played_and_how_it_is() {
    let port = free_port();
    let metrics = format!("127.0.0.1:{port}");
    let server = Server::start(["--memory", "--listen", "127.0.0.1:0", "--metrics", &metrics]);
    let address = format!("http://{}", server.address);
    let (before, started) = (scrape(port, ""), Instant::now());
    let load = ["load", "--address", &address, "--tables", "2", "--hands", "6", "--think", "5ms"];
    let (code, output, errors) = run(load);
    assert_eq!(code, 0, "{output} {errors}");
    let text = scrape(port, "");
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert_eq!(
        value(&text, &format!("fulcrum_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"))),
        1.0
    );
    let sum = |name: &str| -> f64 {
        let lines = text.lines().filter(|line| line.starts_with(&format!("{name}{{")));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    };
    assert!(sum("fulcrum_hands_ended_total") >= 6.0, "{text}");
    assert!(sum("fulcrum_actions_total") >= 12.0, "{text}");
    for name in ["runtime_workers", "runtime_tasks", "process_resident_bytes", "process_open_fds", "store_up"]
    {
        assert!(value(&text, &format!("fulcrum_{name}")) >= 1.0, "{name}");
    }
    assert!(value(&text, "fulcrum_runtime_busy_seconds_total") > 0.0);
    assert!(!text.contains("fulcrum_redis_"), "there is none: {text}");

    let cpu = |text: &str| value(text, "fulcrum_process_cpu_seconds_total");
    let used = cpu(&text) - cpu(&before);
    assert!(used > 0.0 && used < 64.0 * started.elapsed().as_secs_f64(), "{used}");
    promtool_agrees(&scrape(port, "accept: text/plain\r\n"));
    server.process.signal("TERM");
    let (code, ..) = server.process.wait();
    assert_eq!(code, 0);
}

/// Where promtool is at hand, which reads the older format only.
fn promtool_agrees(text: &str) {
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = promtool.spawn() else {
        println!("promtool is not here: what it would say is not known");
        return;
    };
    child.stdin.take().expect("its input").write_all(text.as_bytes()).expect("taken");
    let output = child.wait_with_output().expect("its end");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{said}");
}
