//! The server and the operator's backend together: settlement records are booked once, whoever is killed, and in the
//! seamless model the wallet's books and the records agree.

use std::path::Path;
use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use fulcrum::pb::v1::settlement_service_client::SettlementServiceClient;
use fulcrum::pb::wallet_v1::GetBalanceRequest;
use fulcrum::pb::wallet_v1::operator_wallet_service_client::OperatorWalletServiceClient;
use serde_json::Value;
use tonic::Code;
use tonic::transport::Endpoint;

use crate::child::{LONG, Running, Server, fulcrum, run};
use crate::spectator::{Seen, bot, connect, duel, open_table, send_home, watch_until};

const BUY_IN: i64 = 20_000;

fn operator(file: &Path, fulcrum_at: &str, more: &[&str]) -> Server {
    let arguments = ["--file", file.to_str().unwrap(), "--fulcrum", fulcrum_at];
    Server::of(fulcrum(["operator"]), arguments.iter().chain(more))
}

fn stop(process: Running) {
    process.signal("TERM");
    let (code, _, errors) = process.wait();
    assert_eq!(code, 0, "{errors}");
}

fn books(file: &Path) -> Value {
    let (code, output, errors) = run(["operator", "books", "--json", "--file", file.to_str().unwrap()]);
    assert_eq!(code, 0, "{errors}");
    serde_json::from_str(&output).unwrap()
}

/// A sum over all players.
fn sum(books: &Value, path: &str) -> i64 {
    let rows = books["accounts"].as_array().unwrap().iter();
    rows.map(|row| row.pointer(path).unwrap().as_i64().unwrap()).sum()
}

/// Waits until the consumer has acknowledged everything.
async fn all_acknowledged(address: &str) {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let mut client = SettlementServiceClient::new(endpoint.connect_lazy());
    let begun = Instant::now();
    loop {
        let told = client.list_consumers(v1::ListConsumersRequest::default()).await.unwrap().into_inner();
        let depths: Vec<u64> = told.consumers.iter().map(|c| c.backlog.as_ref().unwrap().depth).collect();
        if depths == [0] {
            return;
        }
        assert!(begun.elapsed() < LONG, "not acknowledged: {depths:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn settlements_are_booked_once_although_the_operator_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("operator.redb");
    let server = Server::start(["--memory", "--listen", "127.0.0.1:0"]);
    let address = server.address.clone();
    let table_id = open_table(&address, duel(BUY_IN)).await;
    let mut seen = Seen::default();
    watch_until(&address, &table_id, &mut seen, |seen| seen.sequence == 1).await;
    let listen = ["--listen", "127.0.0.1:0"];
    let mut backend = operator(&file, &address, &listen);
    let bots = ["mia", "leo"].map(|player| bot(&address, &table_id, player, "fast"));
    for _ in 0..3 {
        let hand = seen.settled;
        watch_until(&address, &table_id, &mut seen, |seen| seen.settled > hand + 4).await;
        backend.process.kill();
        backend = operator(&file, &address, &listen);
    }
    seen.ending = true;
    send_home(bots.into());
    watch_until(&address, &table_id, &mut seen, |seen| seen.paid + seen.raked == seen.brought).await;
    all_acknowledged(&address).await;
    stop(backend.process);

    let books = books(&file);
    let sums = ["bought_in", "paid_out", "rake"].map(|name| sum(&books, &format!("/settled/{name}")));
    assert_eq!(sums, [seen.brought, seen.paid, seen.raked], "{books:#}");
    for row in books["accounts"].as_array().unwrap() {
        let settled = |name: &str| row["settled"][name].as_i64().unwrap();
        assert_eq!(settled("bought_in") + settled("net"), settled("paid_out"), "{row}");
        assert_eq!(settled("hands"), i64::try_from(seen.settled).unwrap());
    }
    let movements = i64::from(seen.seated + seen.added) + 2;
    assert_eq!(books["settlements"], i64::try_from(seen.settled).unwrap() + movements);
    assert_eq!((&books["gaps"], &books["reversed"]), (&0.into(), &0.into()));
    let (_, text, _) = run(["operator", "books", "--file", file.to_str().unwrap()]);
    assert!(text.contains("bought in") && text.contains("(0 reversed)"), "{text}");
}

/// A port that is free now.
fn free_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[tokio::test]
async fn seats_are_paid_from_the_wallet_and_the_books_agree() {
    let folder = tempfile::tempdir().unwrap();
    let (file, settings) = (folder.path().join("operator.redb"), folder.path().join("fulcrum.toml"));
    let wallet = free_port();
    std::fs::write(&settings, format!("[wallets.dev]\naddress = \"http://{wallet}\"\n")).unwrap();
    let config = ["--memory", "--listen", "127.0.0.1:0", "--config", settings.to_str().unwrap()];
    let server = Server::start(config);
    let more = ["--listen", &wallet, "--player", "ada=50000", "--player", "bob=100"];
    let backend = operator(&file, &server.address, &more);

    let table_id = open_table(&server.address, duel(BUY_IN)).await;
    let mut tables = connect(&server.address);
    let seat = |player: &str| v1::SeatPlayerRequest {
        request_id: uuid::Uuid::new_v4().to_string(),
        table_id: table_id.clone(),
        player_id: player.to_owned(),
        buy_in: BUY_IN,
        ..Default::default()
    };
    tables.seat_player(seat("ada")).await.unwrap();
    let declined = tables.seat_player(seat("bob")).await.unwrap_err();
    assert_eq!(declined.code(), Code::FailedPrecondition, "{declined}");
    let request_id = uuid::Uuid::new_v4().to_string();
    let leave = v1::StandUpRequest { request_id, table_id, player_id: "ada".into(), ..Default::default() };
    tables.stand_up(leave).await.unwrap();
    all_acknowledged(&server.address).await;
    // The pay-out goes to the wallet behind the stand-up.
    let endpoint = Endpoint::from_shared(format!("http://{wallet}")).unwrap();
    let mut wallet = OperatorWalletServiceClient::new(endpoint.connect_lazy());
    let request = GetBalanceRequest { player_id: "ada".to_owned(), currency: "EUR".to_owned() };
    let begun = Instant::now();
    while wallet.get_balance(request.clone()).await.unwrap().into_inner().balance != 50_000 {
        assert!(begun.elapsed() < LONG, "she is not paid");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    stop(backend.process);
    let books = books(&file);
    let row = &books["accounts"][0];
    assert_eq!(row["player"], "ada");
    let sums = ["/debited", "/credited", "/settled/bought_in", "/settled/paid_out"];
    assert_eq!(sums.map(|path| row.pointer(path).unwrap().as_i64().unwrap()), [BUY_IN; 4], "{row}");
    assert_eq!(row["balance"], 50_000);
    assert_eq!(books["accounts"][1]["balance"], 100);
}
