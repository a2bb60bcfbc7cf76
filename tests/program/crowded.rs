//! More connections than the operating system lets the program have: it waits for better times, and does not end.

use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_service_client::TableServiceClient;
use tonic::transport::Endpoint;

use crate::child::{Server, fulcrum};

/// So many files and sockets the program may have open.
const FILES: usize = 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_files_left_connections_wait_and_then_are_served() {
    let limited = format!("ulimit -n {FILES} && exec \"$0\" serve \"$@\"");
    let mut command = Command::new("sh");
    command.arg("-c").arg(limited).arg(fulcrum([""; 0]).get_program());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let server = Server::of(command, ["--memory", "--listen", "127.0.0.1:0"]);
    // The system takes them for the program, which cannot have all of them.
    let crowd: Vec<TcpStream> =
        (0..FILES * 2).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    let endpoint = Endpoint::from_shared(format!("http://{}", server.address)).unwrap();
    let ask = || async {
        let mut tables =
            TableServiceClient::new(endpoint.clone().timeout(Duration::from_secs(2)).connect_lazy());
        tables.list_tables(v1::ListTablesRequest::default()).await
    };
    assert!(ask().await.is_err(), "there is no room");
    drop(crowd);
    let begun = Instant::now();
    while ask().await.is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60), "nobody is served any more");
    }
    server.process.signal("TERM");
    let (code, _, log) = tokio::task::spawn_blocking(|| server.process.wait()).await.unwrap();
    assert_eq!(code, 0, "{log}");
    assert_eq!(log.matches("accept_failed").count(), 1, "it is said once, not all the time: {log}");
}
