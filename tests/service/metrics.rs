//! The metrics as Prometheus reads them: over HTTP, from a server with wallets, consumers and a table whose books are wrong.

use std::sync::Arc;
use std::time::Duration;

use fulcrum::pb::v1;
use fulcrum::telemetry::metrics::Metrics;
use fulcrum::telemetry::{scrape, unread};
use rules::{Chips, Millis};
use tables::{Commit, MemoryStore, OperatorId, Store, TableId, TableKey, Token};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::harness::{House, Setup, in_time, request_id, texas};
use super::wallet::bank::{Act, Bank, Method, TOKEN};
use super::wallet::room::{DEADLINE, buy_in, callers, seat, setup};

/// Metrics of a house, and where they are read.
struct Scraped {
    address: std::net::SocketAddr,
    stop: watch::Sender<bool>,
}

impl Scraped {
    async fn of(house: &House) -> Scraped {
        let operators: Vec<OperatorId> =
            ["alpha", "beta"].iter().filter_map(|name| OperatorId::new(name)).collect();
        let metrics = Arc::new(Metrics::new(&operators));
        let _ = house.tables.clone().with_signals(Arc::<Metrics>::clone(&metrics));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = watch::channel(false);
        let (store, every) = (Arc::clone(house.tables.store()), Duration::from_millis(50));
        tokio::spawn(unread::run(Arc::clone(&metrics), store, operators, every, stopped.clone()));
        tokio::spawn(scrape::serve(listener, metrics, stopped));
        Scraped { address, stop }
    }

    /// The whole answer to a request.
    async fn ask(&self, line: &str) -> String {
        let mut socket = TcpStream::connect(self.address).await.expect("a connection");
        let request = format!("{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        in_time(socket.read_to_string(&mut answer)).await.expect("an answer");
        answer
    }

    /// Scrapes until this line is there; says everything that was told then.
    async fn line(&self, line: &str) -> String {
        let wait = async {
            loop {
                let text = self.ask("GET /metrics").await;
                if text.lines().any(|told| told == line) {
                    break text;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap_or_else(|_| panic!("never: {line}"))
    }
}

#[tokio::test]
async fn wallets_and_consumers_are_counted_by_operator_and_nothing_secret_is_told() {
    let banks = [Bank::open().await, Bank::open().await];
    let house = House::with(setup(banks[0].client(DEADLINE), banks[1].client(DEADLINE))).await;
    let scraped = Scraped::of(&house).await;
    let (mut alpha, mut beta) = callers(&house).await;
    let table = alpha.table_of(texas(), &[]).await;
    let of_beta = beta.table_of(texas(), &[]).await;
    banks[0].set_balance("poor-player", 0);
    seat(&mut alpha, &buy_in(&table, "rich-player", 1, 5_000)).await.expect("a seat");
    seat(&mut alpha, &buy_in(&table, "poor-player", 2, 5_000)).await.unwrap_err();
    seat(&mut beta, &buy_in(&of_beta, "ann", 1, 5_000)).await.expect("a seat");
    banks[1].play_in(Method::Debit, |_| Act::Fail(tonic::Status::internal("no")));
    seat(&mut beta, &buy_in(&of_beta, "bob", 2, 5_000)).await.unwrap_err();

    scraped.line("fulcrum_wallet_calls_total{operator=\"alpha\",call=\"debit\",outcome=\"booked\"} 1").await;
    scraped
        .line("fulcrum_wallet_calls_total{operator=\"alpha\",call=\"debit\",outcome=\"declined\"} 1")
        .await;
    scraped.line("fulcrum_wallet_calls_total{operator=\"beta\",call=\"debit\",outcome=\"unknown\"} 1").await;
    scraped.line("fulcrum_wallet_calls_total{operator=\"beta\",call=\"find\",outcome=\"missing\"} 1").await;
    scraped.line("fulcrum_wallet_call_seconds_count{operator=\"alpha\"} 2").await;

    let first = alpha.first_delivery("books", &table).await;
    scraped.line("fulcrum_settlements_unacknowledged{operator=\"alpha\",consumer=\"books\"} 1").await;
    alpha.acknowledge("books", &first.position).await.expect("acknowledged");
    let text =
        scraped.line("fulcrum_settlements_unacknowledged{operator=\"alpha\",consumer=\"books\"} 0").await;
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("# EOF\n"), "{text}");
    let age = "fulcrum_settlements_oldest_unacknowledged_seconds{operator=\"alpha\",consumer=\"books\"} 0";
    assert!(text.contains(age) && !text.contains("consumer=\"books\",operator=\"beta\""), "{text}");
    for secret in [TOKEN, "rich-player", "poor-player", table.as_str(), "0123456789abcdef"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert!(scraped.ask("GET /").await.starts_with("HTTP/1.1 404 "));
    assert!(scraped.ask("POST /metrics").await.starts_with("HTTP/1.1 405 "));
    scraped.stop.send_replace(true);
    house.close().await;
}

/// The state of a table with a chip that nobody brought.
async fn falsify(store: &MemoryStore, key: &TableKey) {
    let stored = store.load(key).await.expect("a store").expect("a table");
    let mut table = (*stored.table).clone();
    table.version += 1;
    table.ledger.bought_in += Chips(1);
    let commit = Commit {
        key: key.clone(),
        expected: Some(stored.token),
        token: Token { version: table.version, ..stored.token },
        due: None,
        table: Arc::new(table),
        events: vec![rules::Event::PlayHalted],
        request: None,
        settlements: Vec::new(),
        accounts: Vec::new(),
        not_before: None,
        stamped: Millis::ZERO,
        origin: None,
        untold: false,
    };
    store.commit(commit).await.expect("a commit");
}

#[tokio::test]
async fn a_table_whose_books_are_wrong_stops_and_is_counted() {
    let store = Arc::new(MemoryStore::default());
    let bank = Bank::open().await;
    let with = || {
        let store: Arc<dyn Store> = Arc::<MemoryStore>::clone(&store);
        Setup { store, ..setup(bank.client(DEADLINE), bank.client(DEADLINE)) }
    };
    let before = House::with(with()).await;
    let (mut alpha, _) = callers(&before).await;
    let table = alpha.table_of(texas(), &[]).await;
    seat(&mut alpha, &buy_in(&table, "ann", 1, 5_000)).await.expect("a seat");
    drop(alpha);
    before.close().await;
    let key = TableKey {
        operator: OperatorId::new("alpha").expect("a name"),
        table: TableId(table.parse().expect("a UUID")),
    };
    falsify(&store, &key).await;

    let house = House::with(with()).await;
    let scraped = Scraped::of(&house).await;
    scraped.line("fulcrum_tables_stopped_total{operator=\"alpha\"} 0").await;
    let (mut alpha, _) = callers(&house).await;
    let prefer = v1::SetPreferencesRequest {
        request_id: request_id(),
        table_id: table.clone(),
        player_id: "ann".into(),
        preferences: Some(v1::Preferences { straddle: false, always_show: true }),
        etag: String::new(),
    };
    in_time(alpha.tables.set_preferences(prefer)).await.expect_err("the books are wrong");
    scraped.line("fulcrum_tables_stopped_total{operator=\"alpha\"} 1").await;
    scraped.line("fulcrum_tables_stopped_total{operator=\"beta\"} 0").await;
    let stops = alpha.table(&table, "").await.stops;
    assert!(stops.iter().any(|stop| stop.scope() == v1::StopScope::Malfunction), "{stops:?}");
    scraped.stop.send_replace(true);
    house.close().await;
}
