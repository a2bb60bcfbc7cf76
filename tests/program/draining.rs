//! The end of the real program: asked to stop in the middle of calls and streams, it cuts nobody off, and it is over in time,
//! whatever does not answer, does not read or does not speak.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_message::Content;
use fulcrum::pb::v1::table_service_client::TableServiceClient;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::child::Server;
use crate::redis::{key_file, start_with};
use crate::servers;

type Tables = TableServiceClient<Channel>;

fn tables(server: &Server) -> Tables {
    let endpoint = Endpoint::from_shared(format!("http://{}", server.address)).unwrap();
    TableServiceClient::new(endpoint.connect_lazy())
}

fn request_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

async fn open_table(tables: &mut Tables) -> String {
    let config = v1::TableConfig {
        display_name: "End".into(),
        currency: "EUR".into(),
        game: v1::Game::TexasHoldem.into(),
        limit: v1::Limit::NoLimit.into(),
        seats: 6,
        stakes: Some(v1::Stakes { small_blind: 50, big_blind: 100, ..Default::default() }),
        ..Default::default()
    };
    let request = v1::CreateTableRequest { request_id: request_id(), config: Some(config) };
    tables.create_table(request).await.unwrap().into_inner().table_id
}

/// The table is looked at again and again until nobody answers any more; how many answers there were, and with what it ended.
async fn calls(mut tables: Tables, table_id: String) -> (u32, Status) {
    for answered in 0.. {
        let request = v1::GetTableRequest { table_id: table_id.clone(), viewer: spectator() };
        if let Err(status) = tables.get_table(request).await {
            return (answered, status);
        }
    }
    unreachable!("the server ends");
}

fn spectator() -> Option<v1::Viewer> {
    Some(v1::Viewer { kind: Some(v1::viewer::Kind::Spectator(v1::Spectator {})) })
}

/// Watches until the stream ends; the last message.
async fn watch(mut tables: Tables, table_id: String) -> v1::TableMessage {
    let request = v1::WatchTableRequest { table_id, viewer: spectator(), ..Default::default() };
    let mut stream = tables.watch_table(request).await.unwrap().into_inner();
    let mut last = None;
    while let Some(response) = stream.message().await.expect("the stream ends with OK") {
        last = response.message;
    }
    last.expect("a message")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_and_watchers_are_sent_away_and_the_program_ends_well() {
    let server = Server::start(["--memory", "--listen", "127.0.0.1:0"]);
    let mut first = tables(&server);
    let table = open_table(&mut first).await;
    let callers: Vec<_> = (0..4).map(|_| tokio::spawn(calls(tables(&server), table.clone()))).collect();
    let watchers: Vec<_> = (0..4).map(|_| tokio::spawn(watch(tables(&server), table.clone()))).collect();
    sleep(Duration::from_secs(1)).await;

    let asked = Instant::now();
    server.process.signal("TERM");
    for watcher in watchers {
        let last = watcher.await.unwrap();
        let away = v1::GoAway { reason: v1::GoAwayReason::Draining.into() };
        assert_eq!(last.content, Some(Content::GoAway(away)));
        assert!(!last.resume_token.is_empty(), "the place where to go on");
    }
    for caller in callers {
        let (answered, status) = caller.await.unwrap();
        assert!(answered > 0);
        // Either the service says to come again, or nobody is there: then it is the caller's own transport that says so.
        let refused = status.get_details_error_info().is_some();
        assert!(!refused || status.code() == Code::Unavailable, "after {answered} answers: {status:?}");
    }
    let (code, log) = ended(server).await;
    assert_eq!(code, 0, "{log}");
    assert!(asked.elapsed() < Duration::from_secs(10), "nothing held it up: {:?}", asked.elapsed());
    assert!(log.contains("stopped") && !log.contains("drain_cut_short"), "{log}");
}

/// Waits for its end: exit code and log.
async fn ended(server: Server) -> (i32, String) {
    let (code, _, log) = tokio::task::spawn_blocking(|| server.process.wait()).await.unwrap();
    (code, log)
}

/// A server whose operator's wallet takes calls and never answers, with a call that waits for it.
struct Stuck {
    server: Server,
    call: JoinHandle<Result<tonic::Response<v1::SeatPlayerResponse>, Status>>,
    _wallet: (TcpListener, std::net::TcpStream),
    _folder: tempfile::TempDir,
}

impl Stuck {
    async fn start(drain_seconds: u32) -> Stuck {
        let wallet = TcpListener::bind("127.0.0.1:0").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("settings.toml");
        let text = format!(
            "listen = \"127.0.0.1:0\"\nstore = \"memory\"\ndrain_seconds = {drain_seconds}\n[wallet]\ndeadline_ms = 5000\n[wallets.dev]\naddress = \"http://{}\"\n",
            wallet.local_addr().unwrap()
        );
        std::fs::write(&settings, text).unwrap();
        let server = Server::start(["--config", settings.to_str().unwrap()]);
        let mut tables = tables(&server);
        let request = v1::SeatPlayerRequest {
            request_id: request_id(),
            table_id: open_table(&mut tables).await,
            player_id: "ann".into(),
            seat: 1,
            buy_in: 4_000,
            ..Default::default()
        };
        let call = tokio::spawn(async move { tables.seat_player(request).await });
        let accept = move || {
            let line = wallet.accept().unwrap().0;
            (wallet, line)
        };
        let wallet = tokio::task::spawn_blocking(accept).await.unwrap();
        Stuck { server, call, _wallet: wallet, _folder: folder }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_does_not_end_does_not_keep_the_program() {
    let stuck = Stuck::start(2).await;
    let asked = Instant::now();
    stuck.server.process.signal("TERM");
    let (code, log) = ended(stuck.server).await;
    let took = asked.elapsed();
    assert_eq!(code, 0, "{log}");
    assert!(took < Duration::from_secs(4), "two seconds in all, not {took:?}: {log}");
    assert!(log.contains("drain_cut_short"), "the wallet would have had five: {log}");
    let status = stuck.call.await.unwrap().expect_err("nobody has answered");
    assert!(status.get_details_error_info().is_none() || status.code() == Code::Unavailable, "{status:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_it_at_once() {
    let stuck = Stuck::start(600).await;
    stuck.server.process.signal("TERM");
    // Two signals at the same time would be one.
    sleep(Duration::from_secs(1)).await;
    stuck.server.process.signal("TERM");
    let asked = Instant::now();
    let (code, log) = ended(stuck.server).await;
    // By itself it would end when the call has its answer: after five seconds for the debit and as many for asking.
    assert!(asked.elapsed() < Duration::from_secs(3), "{log}");
    assert_eq!(code, 1, "{log}");
    assert!(log.contains("by a second signal"), "{log}");
}

/// Its store does not answer: calls hang, and so does whatever goes on without them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_does_not_answer_does_not_keep_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let keys = key_file(folder.path());
    let redis = servers::Server::start();
    let server = start_with(&redis, &keys, &["--drain-seconds", "2", "--call-seconds", "60"]);
    let mut first = tables(&server);
    let table = open_table(&mut first).await;
    let watcher = tokio::spawn(watch(tables(&server), table.clone()));
    sleep(Duration::from_secs(1)).await;
    redis.signal("-STOP");
    let callers: Vec<_> = (0..4).map(|_| tokio::spawn(calls(tables(&server), table.clone()))).collect();
    let mut lists = tables(&server);
    let list = tokio::spawn(async move { lists.list_tables(v1::ListTablesRequest::default()).await });
    sleep(Duration::from_millis(500)).await;

    let asked = Instant::now();
    server.process.signal("TERM");
    let last = watcher.await.unwrap();
    let away = v1::GoAway { reason: v1::GoAwayReason::Draining.into() };
    assert_eq!(last.content, Some(Content::GoAway(away)), "who watches is told, store or not");
    let (code, log) = ended(server).await;
    let took = asked.elapsed();
    redis.signal("-CONT");
    assert_eq!(code, 0, "{log}");
    assert!(took < Duration::from_secs(6), "two seconds in all, not {took:?}: {log}");
    for caller in callers {
        caller.await.unwrap();
    }
    assert!(list.await.unwrap().is_err(), "the store has not answered");
}

/// One that has said nothing, one in the middle of its greeting, and one that reads none of its answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_shake_hands_and_who_does_not_read_do_not_keep_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(file("cert.pem"), own.cert.pem()).unwrap();
    std::fs::write(file("key.pem"), own.signing_key.serialize_pem()).unwrap();
    let (cert, key) = (file("cert.pem"), file("key.pem"));
    let safe = ["--tls-cert-file", &cert, "--tls-key-file", &key];
    for tls in [&safe[..], &[]] {
        let server = Server::start(["--memory", "--listen", "127.0.0.1:0"].iter().chain(tls));
        let connect = || TcpStream::connect(&server.address).unwrap();
        let (silent, mut half, mut deaf) = (connect(), connect(), connect());
        // The first bytes of a TLS handshake, which are none of HTTP/2.
        half.write_all(if tls.is_empty() { b"PRI * HT" } else { &[22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3] })
            .unwrap();
        deaf.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
        let ping = [&[0, 0, 8, 6, 0, 0, 0, 0, 0][..], &[7; 8]].concat().repeat(1_000);
        deaf.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
        // Until it is not read from any more, since it does not read.
        while deaf.write_all(&ping).is_ok() {}

        let asked = Instant::now();
        server.process.signal("TERM");
        let (code, log) = ended(server).await;
        assert_eq!(code, 0, "{log}");
        assert!(asked.elapsed() < Duration::from_secs(10), "twenty seconds are for calls: {log}");
        assert!(!log.contains("drain_cut_short"), "{log}");
        drop((silent, half, deaf));
    }
}
