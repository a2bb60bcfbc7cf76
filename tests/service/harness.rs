//! A house with tables: starts a server in this process and speaks to it over TCP.
//!
//! `House::open()` has a store in memory, running clocks, and decks that a test lays out itself; `house.caller()` is
//! an operator's backend; `caller.watch()` is a pair of eyes at a table.

// A module of one test binary: what one test does not use another one does.
#![allow(dead_code)]

pub mod caller;
pub mod collector;
pub mod decks;
pub mod eyes;
pub mod gated;
pub mod operators;
pub mod payments;
pub mod post;
pub mod raw;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use fulcrum::grpc::{self, ServeConfig, ServeError, serve};
use fulcrum::pb::v1;
use rules::Millis;
use tables::wallet::Wallet;
use tables::{Courier, CourierSettings, MemoryStore, OperatorId, Store, Tables};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

pub use caller::Caller;
pub use decks::Decks;
pub use eyes::Eyes;
pub use post::Post;

/// Longer than anything here takes; a test that waits so long fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How a house is to be.
pub struct Setup {
    /// How the server meets callers.
    pub config: ServeConfig,
    /// Where tables live.
    pub store: Arc<dyn Store>,
    /// Sizes of the parts that hold tables.
    pub settings: tables::Settings,
    /// Whether hands start and clocks run out by themselves.
    pub clocks: bool,
    /// The wallets of operators that have one.
    pub wallets: Vec<(OperatorId, Arc<dyn Wallet>)>,
    /// How wallets are asked.
    pub courier: CourierSettings,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            config: ServeConfig::default(),
            store: Arc::new(MemoryStore::default()),
            settings: tables::Settings::default(),
            clocks: true,
            wallets: Vec::new(),
            courier: CourierSettings {
                deadline: Duration::from_secs(3),
                calls: 32,
                waiting: 256,
                park_after: Millis::minutes(24 * 60),
                seated: grpc::seated,
                added: grpc::added,
            },
        }
    }
}

/// A running server.
pub struct House {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its tables, for what no call can do.
    pub tables: Tables,
    /// The decks that will be dealt.
    pub decks: Arc<Decks>,
    stop: Option<oneshot::Sender<()>>,
    server: JoinHandle<Result<(), ServeError>>,
    clocks: watch::Sender<bool>,
}

impl House {
    /// One as most tests want it.
    pub async fn open() -> House {
        House::with(Setup::default()).await
    }

    /// One as this test wants it.
    pub async fn with(setup: Setup) -> House {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let decks = Arc::new(Decks::default());
        let dealer: Arc<dyn tables::Dealer> = Arc::<Decks>::clone(&decks);
        let mut tables = Tables::new(setup.store, dealer, setup.settings);
        // Without wallets nobody answers for them but the test itself.
        if !setup.wallets.is_empty() {
            tables = tables.with_courier(Courier::new(setup.wallets, setup.courier));
        }
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async move {
            // A house that is dropped is shut, too.
            let _ = stopped.await;
        };
        let operators = setup.config.operators();
        let server = tokio::spawn(serve(setup.config, tables.clone(), listener, shutdown));
        let (clocks, stop_clocks) = watch::channel(false);
        if setup.clocks {
            tokio::spawn(tables::clocks::run(tables.clone(), stop_clocks.clone()));
            tokio::spawn(tables::stops::sweep::run(tables.clone(), operators, stop_clocks));
        }
        House { address, tables, decks, stop: Some(stop), server, clocks }
    }

    /// An operator's backend on a connection of its own, without a token: the operator `dev`.
    pub async fn caller(&self) -> Caller {
        Caller::connect(self.address, None).await
    }

    /// An operator's backend with this token.
    pub async fn caller_with(&self, token: &str) -> Caller {
        Caller::connect(self.address, Some(token)).await
    }

    /// Begins the shutdown.
    pub fn drain(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    /// Shuts down and waits until the server has ended.
    pub async fn close(mut self) {
        self.drain();
        self.ended().await;
    }

    /// Waits until the server has ended.
    pub async fn ended(self) {
        self.clocks.send_replace(true);
        let served = in_time(self.server).await.expect("the server does not panic");
        served.expect("the server ends in good order");
    }
}

/// The result, or a failed test if it does not come.
pub async fn in_time<F: Future>(work: F) -> F::Output {
    tokio::time::timeout(PATIENCE, work).await.expect("this takes too long")
}

/// A fresh request id.
pub fn request_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Two to six seats, blinds 50 and 100, buy-ins 4,000 to 10,000, no pause between hands.
pub fn config(game: v1::Game) -> v1::TableConfig {
    v1::TableConfig {
        display_name: "Test".into(),
        currency: "EUR".into(),
        game: game.into(),
        limit: v1::Limit::NoLimit.into(),
        seats: 6,
        stakes: Some(v1::Stakes { small_blind: 50, big_blind: 100, ..Default::default() }),
        clocks: Some(v1::Clocks {
            between_hands: Some(prost_types::Duration::default()),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// No-limit Texas Hold'em.
pub fn texas() -> v1::TableConfig {
    config(v1::Game::TexasHoldem)
}

/// No-limit Double Hold'em.
pub fn double() -> v1::TableConfig {
    config(v1::Game::DoubleHoldem)
}

/// The reason of a refusal.
pub fn reason(status: &tonic::Status) -> String {
    use tonic_types::StatusExt;
    let details = status.get_error_details();
    let info = details.error_info().unwrap_or_else(|| panic!("no ErrorInfo: {status:?}"));
    assert_eq!(info.domain, "fulcrum");
    info.reason.clone()
}

/// A fact that a refusal tells.
pub fn fact(status: &tonic::Status, name: &str) -> String {
    use tonic_types::StatusExt;
    let details = status.get_error_details();
    let facts = details.error_info().map(|info| info.metadata.clone()).unwrap_or_default();
    facts.get(name).cloned().unwrap_or_else(|| panic!("no {name}: {facts:?}"))
}
