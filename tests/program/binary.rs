//! What a server says about itself, and that it notices when its file is swapped.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulcrum::grpc::{ServeConfig, serve};
use fulcrum::pb::v1;
use fulcrum::pb::v1::server_service_client::ServerServiceClient;
use fulcrum::telemetry::binary::{self, Binary};
use fulcrum::telemetry::metrics::Metrics;
use fulcrum::telemetry::{self, LogFormat, scrape};
use sha2::{Digest, Sha256};
use tables::{Clock, MemoryStore, OsDealer, SystemClock, Tables};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::child::{LONG, Running, Server};
use crate::metrics::{scrape as scraped, value};
use crate::servers::free_port;

/// Set in the process that runs from a copy.
const ROLE: &str = "RUNS_FROM_A_COPY";

fn sha256(file: &Path) -> String {
    Sha256::digest(fs::read(file).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn info(address: &str) -> v1::GetServerInfoResponse {
    let mut client = ServerServiceClient::connect(format!("http://{address}")).await.unwrap();
    client.get_server_info(v1::GetServerInfoRequest {}).await.unwrap().into_inner()
}

/// What the server at this address says as soon as its file is found like this.
async fn when(address: &str, state: v1::BinaryState) -> v1::GetServerInfoResponse {
    let begun = Instant::now();
    loop {
        let info = info(address).await;
        if info.binary.as_ref().unwrap().state() == state {
            return info;
        }
        assert!(begun.elapsed() < LONG, "{info:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_server_says_which_program_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("fulcrum.redb");
    let port = free_port();
    let (store, metrics) = (store.to_str().unwrap(), format!("127.0.0.1:{port}"));
    let before = SystemClock::default().now().0 / 1000;
    let settings = ["--message-bytes", "100000", "--call-seconds", "7", "--request-days", "3"];
    let places = ["--listen", "127.0.0.1:0", "--store", store, "--metrics", &metrics];
    let server = Server::start(places.iter().chain(&settings));
    let info = when(&server.address, v1::BinaryState::Unchanged).await;
    assert_eq!(info.version, env!("CARGO_PKG_VERSION"));

    let found = info.binary.unwrap();
    assert_eq!(found.sha256, sha256(Path::new(env!("CARGO_BIN_EXE_fulcrum"))));
    let started = u64::try_from(info.start_time.unwrap().seconds).unwrap();
    let checked = u64::try_from(found.check_time.unwrap().seconds).unwrap();
    assert!(
        before <= started && started <= checked && checked <= before + LONG.as_secs(),
        "{started} {checked}"
    );

    let build = info.build.unwrap();
    assert!(build.compiler.starts_with("rustc 1."), "{build:?}");
    assert!(build.target.starts_with(std::env::consts::ARCH), "{build:?}");
    let profile = Path::new(env!("CARGO_BIN_EXE_fulcrum")).parent().unwrap().file_name().unwrap();
    assert_eq!(build.profile.as_str(), profile, "the folder that it was built in");

    assert_eq!(info.record_format, Some(v1::RecordFormat { installed: 3, newest: 3 }));
    let limits = info.limits.unwrap();
    assert_eq!((limits.largest_message_bytes, limits.largest_page), (100_000, 500));
    let seconds = |length: Option<prost_types::Duration>| length.unwrap().seconds;
    assert_eq!((seconds(limits.longest_call), seconds(limits.request_retention)), (7, 3 * 24 * 3600));
    assert_eq!(value(&scraped(port, ""), "fulcrum_binary_unchanged"), 1.0);
    server.process.signal("TERM");
    assert_eq!(server.process.wait().0, 0);
}

/// The library as a server that looks often: the program looks once a day.
async fn serve_looking_often() {
    telemetry::start(LogFormat::Json, "info", None).unwrap();
    let (_running, stop) = watch::channel(false);
    let (binary, metrics) = (Arc::new(Binary::default()), Arc::new(Metrics::new(&[])));
    let [calls, scrapes] =
        [TcpListener::bind("127.0.0.1:0").await.unwrap(), TcpListener::bind("127.0.0.1:0").await.unwrap()];
    println!("http://{} {}", calls.local_addr().unwrap(), scrapes.local_addr().unwrap().port());
    let often = Duration::from_millis(50);
    tokio::spawn(binary::run(Arc::clone(&binary), Some(Arc::clone(&metrics)), often, stop.clone()));
    tokio::spawn(scrape::serve(scrapes, metrics, stop));
    let tables =
        Tables::new(Arc::new(MemoryStore::default()), Arc::new(OsDealer), tables::Settings::default());
    let config = ServeConfig { binary, ..ServeConfig::default() };
    serve(config, tables, calls, std::future::pending()).await.unwrap();
}

/// This test's own program is copied, started, and swapped: as a whole, by a rename, the way packages and intruders do it.
#[tokio::test]
async fn a_file_that_is_swapped_under_a_running_server_is_told() {
    if std::env::var_os(ROLE).is_some() {
        return serve_looking_often().await;
    }
    let folder = tempfile::tempdir().unwrap();
    let [file, other] = ["fulcrum", "other"].map(|name| folder.path().join(name));
    fs::copy(std::env::current_exe().unwrap(), &file).unwrap();
    let started = sha256(&file);
    let mut command = Command::new(&file);
    let own = "binary::a_file_that_is_swapped_under_a_running_server_is_told";
    command.args(["--exact", own, "--nocapture"]).env(ROLE, "yes");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = Running::start(command);
    let line = loop {
        let line = process.line();
        assert!(!line.is_empty(), "{:?}", process.wait());
        if let Some((_, line)) = line.split_once("http://") {
            break line.trim().to_owned();
        }
    };
    let (address, port) = line.split_once(' ').unwrap();
    let unchanged = || value(&scraped(port.parse().unwrap(), ""), "fulcrum_binary_unchanged");

    let found = when(address, v1::BinaryState::Unchanged).await.binary.unwrap();
    assert_eq!((found.sha256.as_str(), unchanged()), (started.as_str(), 1.0));
    assert_eq!(info(address).await.record_format, None, "it keeps no records");
    fs::write(&other, "#!/bin/sh\n").unwrap();
    fs::rename(&other, &file).unwrap();
    let found = when(address, v1::BinaryState::Changed).await.binary.unwrap();
    assert_eq!(found.sha256, started, "that of what was started");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(unchanged(), 0.0);
    process.signal("KILL");
    let (_, _, log) = process.wait();
    let line = log.lines().find(|line| line.contains("\"event\":\"binary_changed\"")).expect("an event");
    assert!(line.contains("\"level\":\"ERROR\""), "{line}");
    for told in [&started, &sha256(&file), &file.display().to_string()] {
        assert!(line.contains(told), "{told}: {line}");
    }
}
