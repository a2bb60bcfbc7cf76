//! What traces cost: actions a second, and the server's processor time for each, with traces off, with one of a hundred calls
//! and hands told, and with all of them. The three are measured in turns in the same run, and their ratios are printed.
//!
//! `cargo build --release && cargo bench -p fulcrum-bench --bench tracing` starts the built program as a server of its own for
//! each turn, has `fulcrum load` play at it, and takes the spans with a collector that throws them away in this process: what
//! the server pays is in the server's time, and nothing else is.

#![allow(clippy::float_arithmetic, reason = "rates and ratios; no chips here")]

#[allow(dead_code, reason = "the other benches need more of it")]
mod shared;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

use shared::{Fault, median};

/// How much is told: the ratio, none for nothing at all.
const KINDS: [(&str, Option<&str>); 3] = [("off", None), ("1 %", Some("0.01")), ("100 %", Some("1"))];
const ROUNDS: usize = 5;
const SECONDS: u64 = 5;
const TABLES: u64 = 24;

fn main() -> Result<(), Fault> {
    // `cargo test --benches` only asks whether the benchmarks run.
    if std::env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    let spans = Arc::new(AtomicU64::new(0));
    let collector = collect(Arc::clone(&spans))?;
    let mut taken: [Vec<Turn>; 3] = Default::default();
    for round in 0..ROUNDS {
        // Whoever comes first in a round comes last in the next: the machine gets warmer, and fuller.
        for place in 0..KINDS.len() {
            let kind = (place + round) % KINDS.len();
            taken[kind].push(turn(KINDS[kind].1.map(|ratio| (collector.as_str(), ratio)), &spans)?);
        }
    }
    println!("{:>7} {:>11} {:>13} {:>14}", "told", "actions/s", "CPU µs/action", "spans/action");
    for ((name, _), turns) in KINDS.iter().zip(&taken) {
        let of = |value: fn(&Turn) -> f64| median(&turns.iter().map(value).collect::<Vec<_>>());
        println!(
            "{name:>7} {:>11.0} {:>13.1} {:>14.2}",
            of(|t| t.rate),
            of(|t| t.micros),
            of(|t| t.spans_each)
        );
    }
    for ((name, _), turns) in KINDS.iter().zip(&taken).skip(1) {
        // The median over the rounds, as all turns of a round saw the same machine.
        let ratio = |value: fn(&Turn) -> f64| {
            let ratios: Vec<f64> =
                turns.iter().zip(&taken[0]).map(|(t, off)| value(t) / value(off)).collect();
            median(&ratios)
        };
        println!(
            "{name:>7} to off: actions/s {:.3}, CPU/action {:.3}",
            ratio(|t| t.rate),
            ratio(|t| t.micros)
        );
    }
    Ok(())
}

/// What was measured of one server.
struct Turn {
    rate: f64,
    micros: f64,
    spans_each: f64,
}

/// A server that is gone when this is.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn turn(told: Option<(&str, &str)>, spans: &AtomicU64) -> Result<Turn, Fault> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(program()?);
    command.args(["serve", "--memory", "--listen", "127.0.0.1:0", "--log", "warn"]);
    if let Some((collector, ratio)) = told {
        command.args(["--traces", collector, "--trace-ratio", ratio]);
    }
    let mut server = Serving(command.stdout(Stdio::piped()).spawn()?);
    let mut greeting = String::new();
    let output = server.0.stdout.take().ok_or("no output")?;
    BufReader::new(output).read_line(&mut greeting)?;
    let address = greeting.split("http://").nth(1).and_then(|rest| rest.split(' ').next());
    let address = address.ok_or_else(|| format!("no address in {greeting:?}"))?;
    let (cpu, before) = (cpu_micros(server.0.id())?, spans.load(Ordering::Relaxed));
    let report = folder.path().join("report.json");
    let actions_and_rate = load(address, &report)?;
    let (actions, rate) = actions_and_rate;
    let micros = (cpu_micros(server.0.id())? - cpu) / actions;
    drop(server);
    let spans_each = (spans.load(Ordering::Relaxed) - before) as f64 / actions;
    Ok(Turn { rate, micros, spans_each })
}

/// Plays; the number of actions, and how many a second.
fn load(address: &str, report: &Path) -> Result<(f64, f64), Fault> {
    let (tables, duration) = (TABLES.to_string(), format!("{SECONDS}s"));
    let mut command = Command::new(program()?);
    command.args(["load", "--address", address, "--tables", &tables, "--duration", &duration]);
    command.args(["--think", "0s", "--absent", "0%", "--between-hands", "0s", "--no-check", "--seed", "7"]);
    let status = command.arg("--json").arg(report).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if !status.success() {
        return Err(format!("the load ended with {status}").into());
    }
    let mut text = String::new();
    fs::File::open(report)?.read_to_string(&mut text)?;
    let number = |name: &str| -> Result<f64, Fault> {
        let rest =
            text.split(&format!("\"{name}\":")).nth(1).ok_or_else(|| format!("no {name} in {text}"))?;
        let digits: String =
            rest.trim_start().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        Ok(digits.parse()?)
    };
    Ok((number("actions_acked")?, number("actions_per_second")?))
}

/// The processor time of a process so far, in µs.
fn cpu_micros(process: u32) -> Result<f64, Fault> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let rest = stat.rsplit_once(')').ok_or("no such line")?.1;
    let ticks: Vec<u64> =
        rest.split_whitespace().skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
    // A tick is a hundredth of a second on every Linux that this runs on.
    Ok(ticks.iter().sum::<u64>() as f64 * 10_000.0)
}

/// The program beside this one: `cargo build --release` puts it there.
fn program() -> Result<PathBuf, Fault> {
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(Path::parent).ok_or("no folder")?;
    let program = folder.join("fulcrum");
    if program.exists() { Ok(program) } else { Err("build the program first: cargo build --release".into()) }
}

/// Takes spans and throws them away; says where.
fn collect(spans: Arc<AtomicU64>) -> Result<String, Fault> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async move {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
                return;
            };
            let service = TraceServiceServer::new(Bin(spans)).max_decoding_message_size(64 * 1024 * 1024);
            let router = Server::builder().add_service(service);
            // Without it nothing is taken, which the figures show.
            let _ = router.serve_with_incoming(TcpIncoming::from(listener)).await;
        });
    });
    Ok(format!("http://{address}"))
}

struct Bin(Arc<AtomicU64>);

#[tonic::async_trait]
impl TraceService for Bin {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let request = request.into_inner();
        let scopes = request.resource_spans.iter().flat_map(|of| &of.scope_spans);
        self.0.fetch_add(scopes.map(|scope| scope.spans.len() as u64).sum(), Ordering::Relaxed);
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}
