//! Connections: our own loop that accepts them, since the transport's cannot end one softly, nor take a new certificate.
//!
//! HTTP/2 only, with prior knowledge. Whoever connects has to say so soon, a connection on which nothing happens is closed,
//! and one that has become old is sent away, so that new servers get their share of the callers.

mod activity;
mod backlog;
mod connection;
mod entrance;
mod farewell;
mod hello;
pub mod leaving;
mod paced;
pub mod peer;
mod places;
pub mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::layers::counting::Counting;
use connection::{Connector, Protocol};
use entrance::Served;
use leaving::is_true;
use places::Places;
use tls::Tls;

/// What a connection may do.
#[derive(Clone, Debug)]
pub struct Connections {
    /// So many at once; more are closed at once.
    pub most: usize,
    /// So many of one address; 0 for no such bound: behind a proxy all have its address.
    pub of_an_address: usize,
    /// One that is older is sent away, a tenth more or less, so that not all go at once; none is without it.
    pub age: Option<Duration>,
    /// So long an old one may go on while a moment without calls is waited for.
    pub moment: Duration,
    /// One without calls and streams is sent away after so long, at the latest after twice that.
    pub idle: Duration,
    /// So long it may take until TLS is agreed on, and so long until it has said that it speaks HTTP/2.
    pub hello: Duration,
    /// One that takes nothing for so long of what there is for it is cut off, at the latest after twice that.
    pub deaf: Duration,
    /// So many calls and streams at once.
    pub streams: u32,
    /// What is received of a stream before it is read, in bytes.
    pub stream_window: u32,
    /// What is received of all its streams together before it is read, in bytes.
    pub window: u32,
    /// Running calls of one that is sent away get so long to end.
    pub grace: Duration,
}

impl Default for Connections {
    fn default() -> Connections {
        Connections {
            most: 20_000,
            of_an_address: 0,
            age: Some(Duration::from_secs(30 * 60)),
            moment: Duration::from_secs(5),
            idle: Duration::from_secs(5 * 60),
            hello: Duration::from_secs(10),
            deaf: Duration::from_secs(20),
            streams: 16_384,
            stream_window: 256 * 1024,
            window: 1024 * 1024,
            grace: Duration::from_secs(15),
        }
    }
}

/// The pause after the system had no room for another connection.
const REST: Duration = Duration::from_millis(100);
/// What goes wrong again and again is logged so often.
const SELDOM: Duration = Duration::from_secs(10);

/// What accepts connections and serves them.
pub struct Doors<S> {
    connector: Arc<Connector<S>>,
    places: Arc<Places>,
    leaving: watch::Receiver<bool>,
    told: Option<Instant>,
    listener: &'static str,
}

impl<S: Served> Doors<S> {
    /// Doors to this service. It is left, and its connections are sent away, when `leaving` becomes true.
    pub fn new(
        settings: &Connections,
        tls: Option<Arc<Tls>>,
        service: S,
        leaving: watch::Receiver<bool>,
        counting: Option<Arc<dyn Counting>>,
    ) -> Doors<S> {
        let connector = Connector {
            service,
            tls,
            backlog: Arc::default(),
            protocol: Protocol::of(settings),
            settings: settings.clone(),
            leaving: leaving.clone(),
            counting,
        };
        let places = Places::new(settings.most, settings.of_an_address);
        let (connector, places) = (Arc::new(connector), Arc::new(places));
        Doors { connector, places, leaving, told: None, listener: "calls" }
    }

    /// Named in the log as this, rather than as those for calls.
    #[must_use]
    pub fn named(self, listener: &'static str) -> Doors<S> {
        Doors { listener, ..self }
    }

    /// Accepts connections until the server is left, and returns when all of them have ended. Whoever does not wait for
    /// that cuts off the rest.
    pub async fn open(mut self, listener: TcpListener) {
        let mut leaving = self.leaving.clone();
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = is_true(&mut leaving) => break,
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((socket, address)) => self.welcome(socket, address, &mut connections),
                    Err(error) => self.not_accepted(&error).await,
                },
            }
        }
        // From here on the system refuses whoever comes.
        drop(listener);
        while connections.join_next().await.is_some() {}
    }

    fn welcome(&mut self, socket: TcpStream, address: SocketAddr, connections: &mut JoinSet<()>) {
        let listener = self.listener;
        match Places::take(&self.places, address.ip()) {
            Some(place) => {
                let connector = Arc::clone(&self.connector);
                connections.spawn(async move { connector.serve(socket, address, place).await });
            }
            // The socket is closed: the caller finds another server at once, rather than wait here.
            None => self.tell(|| {
                tracing::warn!(
                    event = "connections_full",
                    listener,
                    %address,
                    "there are as many connections as may be; more are closed"
                );
            }),
        }
    }

    /// What fails for one connection fails for that one only; what fails for lack of room is not asked for all the time.
    async fn not_accepted(&mut self, error: &io::Error) {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
        if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted) {
            return;
        }
        let listener = self.listener;
        self.tell(|| {
            tracing::warn!(event = "accept_failed", listener, %error, "no connections can be accepted just now");
        });
        sleep(REST).await;
    }

    fn tell(&mut self, log: impl FnOnce()) {
        let now = Instant::now();
        if self.told.is_none_or(|told| now.duration_since(told) >= SELDOM) {
            self.told = Some(now);
            log();
        }
    }
}
