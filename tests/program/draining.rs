//! The end of the real program: asked to stop in the middle of calls and streams, it cuts nobody off, and it is over in time.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_message::Content;
use fulcrum::pb::v1::table_service_client::TableServiceClient;
use tokio::time::sleep;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::child::Server;

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
    let (code, _, log) = tokio::task::spawn_blocking(|| server.process.wait()).await.unwrap();
    assert_eq!(code, 0, "{log}");
    assert!(asked.elapsed() < Duration::from_secs(10), "nothing held it up: {:?}", asked.elapsed());
    assert!(log.contains("stopped") && !log.contains("drain_cut_short"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_does_not_end_does_not_keep_the_program() {
    // A wallet that takes calls and never answers.
    let wallet = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("fulcrum.toml");
    let text = format!(
        "listen = \"127.0.0.1:0\"\nstore = \"memory\"\ndrain_seconds = 2\n[wallet]\ndeadline_ms = 5000\n[wallets.dev]\naddress = \"http://{}\"\n",
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
    let _line = tokio::task::spawn_blocking(move || wallet.accept()).await.unwrap().unwrap();

    let asked = Instant::now();
    server.process.signal("TERM");
    let (code, _, log) = tokio::task::spawn_blocking(|| server.process.wait()).await.unwrap();
    let took = asked.elapsed();
    assert_eq!(code, 0, "{log}");
    assert!(took < Duration::from_secs(4), "two seconds in all, not {took:?}: {log}");
    assert!(log.contains("drain_cut_short"), "the wallet would have had five: {log}");
    let status = call.await.unwrap().expect_err("nobody has answered");
    assert!(status.get_details_error_info().is_none() || status.code() == Code::Unavailable, "{status:?}");
}
