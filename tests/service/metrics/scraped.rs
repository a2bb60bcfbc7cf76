//! A house that is watched over, and its metrics as they are read over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulcrum::telemetry::listener::Listener;
use fulcrum::telemetry::metrics::{Metrics, house};
use fulcrum::telemetry::store::Watched;
use fulcrum::telemetry::{scrape, unread};
use tables::OperatorId;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::harness::{House, Setup, in_time};

/// How often slow gauges are looked up in tests.
const EVERY: Duration = Duration::from_millis(50);

/// A house, its metrics, and where they are read.
pub struct Scraped {
    pub house: House,
    pub metrics: Arc<Metrics>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
}

impl Scraped {
    /// A house that is put together as the program does it with `--metrics`.
    pub async fn open(mut setup: Setup) -> Scraped {
        let operators = setup.config.operators();
        let metrics = Arc::new(Metrics::new(&operators));
        setup.config.counting = Some(Arc::<Metrics>::clone(&metrics));
        setup.store = Arc::new(Watched::new(setup.store, Some(Arc::clone(&metrics))));
        let house = House::with(setup).await;
        let listener = Listener { metrics: Some(Arc::clone(&metrics)), ..Listener::default() };
        let _ = house.tables.clone().with_signals(Arc::new(listener));
        metrics.commits.watch(Arc::clone(house.tables.feed()));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = watch::channel(false);
        let scraped = Scraped { house, metrics, address, stop };
        scraped.look(operators, &stopped);
        tokio::spawn(scrape::serve(listener, Arc::clone(&scraped.metrics), stopped));
        scraped
    }

    fn look(&self, operators: Vec<OperatorId>, stopped: &watch::Receiver<bool>) {
        let store = || Arc::clone(self.house.tables.store());
        let metrics = || Arc::clone(&self.metrics);
        tokio::spawn(unread::run(metrics(), store(), operators.clone(), EVERY, stopped.clone()));
        tokio::spawn(house::run(metrics(), store(), operators, EVERY, stopped.clone()));
    }

    /// The whole answer to a request.
    pub async fn ask(&self, line: &str, headers: &str) -> String {
        let mut socket = TcpStream::connect(self.address).await.expect("a connection");
        let request = format!("{line} HTTP/1.1\r\nhost: x\r\n{headers}connection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        in_time(socket.read_to_string(&mut answer)).await.expect("an answer");
        answer
    }

    /// What is told now.
    pub async fn now(&self) -> String {
        self.ask("GET /metrics", "").await
    }

    /// The value of a series now; 0 if there is none.
    pub async fn value(&self, series: &str) -> f64 {
        value(&self.now().await, series)
    }

    /// Scrapes until this line is there; says everything that was told then.
    pub async fn line(&self, line: &str) -> String {
        self.until(line, |text| text.lines().any(|told| told == line)).await
    }

    /// Scrapes until what is told is so; says everything that was told then.
    pub async fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let started = Instant::now();
        loop {
            let text = self.now().await;
            if is_so(&text) {
                return text;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "never: {what}\n{text}");
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Ends both.
    pub async fn close(self) {
        self.stop.send_replace(true);
        self.house.close().await;
    }
}

/// The value of a series; 0 if there is none.
pub fn value(text: &str, series: &str) -> f64 {
    let told = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    let number = told.and_then(|told| told.split(' ').next());
    number.map_or(0.0, |number| number.parse().expect("a number"))
}

/// The series that are told, without their values.
pub fn series(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| line.starts_with("fulcrum_"));
    lines
        .map(|line| line.rsplit_once("} ").map_or(line.split(' ').next().unwrap_or(line), |(name, _)| name))
        .collect()
}
