//! A server in this process: store, tables, clocks and gRPC put together, and taken apart again in the right order.

mod access;
mod keys;
mod observing;
mod opening;
mod telling;
mod transport;
mod wallets;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rules::Millis;
use tables::dealer::OsDealer;
use tables::janitor::{self, Retention};
use tables::stops::sweep;
use tables::{Courier, CourierSettings, FeedLimits, OperatorId, Tables, clocks};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

pub use self::keys::given_keys;
use self::keys::keys_of;
use self::observing::Observing;
pub use self::opening::cannot_open;
use self::opening::{Kept, open};
use self::telling::Telling;
use self::wallets::Wallets;
use super::failure::Failure;
use crate::config::{ConfigError, Limits, Place, Settings};
use crate::grpc::{self, LimitSettings, Listeners, Rate, ServeConfig, ServeError};
use crate::store::{Keyring, RedisConfig};
use crate::telemetry::binary;
use crate::telemetry::listener::Listener;
use crate::telemetry::metrics::Metrics;
use crate::telemetry::traces::counts::TraceCounts;
use crate::telemetry::traces::{CallTraces, TraceSettings};

/// What a server is made of.
pub struct Setup {
    listen: SocketAddr,
    metrics: Option<SocketAddr>,
    health: Option<SocketAddr>,
    place: Place,
    kept: Kept,
    keys: Option<Keyring>,
    serving: ServeConfig,
    tables: tables::Settings,
    wallets: Wallets,
    courier: CourierSettings,
    traces: Option<TraceSettings>,
}

/// A running server.
pub struct Node {
    address: SocketAddr,
    scheme: &'static str,
    store: String,
    callers: String,
    stop_serving: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), ServeError>>,
    stop_clocks: watch::Sender<bool>,
    clocks: JoinHandle<()>,
    janitor: JoinHandle<()>,
    stop_observing: watch::Sender<bool>,
    telling: Option<Telling>,
    metrics: Option<Arc<Metrics>>,
}

impl Setup {
    /// As the settings say.
    ///
    /// # Errors
    /// [`Failure::Usage`] if a file that they name cannot be used.
    pub fn from_settings(settings: &Settings) -> Result<Setup, Failure> {
        Setup::with_keys(settings, keys_of)
    }

    fn with_keys(
        settings: &Settings,
        keys: impl FnOnce(&Place, Option<&Path>) -> Result<Option<Keyring>, Failure>,
    ) -> Result<Setup, Failure> {
        let limits = &settings.limits;
        let feed = FeedLimits {
            watchers: limits.watchers,
            watchers_of_an_operator: limits.operator_watchers,
            watchers_of_a_table: limits.watchers_of_a_table,
            behind: limits.watcher_behind,
        };
        let serving = ServeConfig {
            largest_message: limits.message_bytes,
            calls_at_once: limits.calls,
            limits: admission(limits),
            longest_call: Duration::from_secs(limits.call_seconds),
            drain: transport::for_calls(settings),
            linger: Duration::from_secs(settings.linger_seconds),
            tls: transport::tls(settings)?,
            connections: transport::connections(settings),
            requests_kept: days(limits.request_days),
            settlements_kept: days(limits.settlement_days),
            traces: CallTraces::of(&settings.traces),
            ..access::as_set(settings)?
        };
        let unusable = |error: ConfigError| Failure::Usage(error.to_string());
        let (metrics, health) = (settings.metrics().map_err(unusable)?, settings.health().map_err(unusable)?);
        let wallets = wallets::named(settings)?;
        let player_key = telling::key(settings)?;
        // Last, since it may make a file.
        let place = settings.place();
        let keys = keys(&place, settings.key_file())?;
        let traces = telling::wanted(settings, player_key, keys.as_ref())?;
        Ok(Setup {
            listen: settings.listen,
            metrics,
            health,
            place,
            kept: Kept {
                history: limits.history,
                requests: days(limits.request_days),
                settlements: days(limits.settlement_days),
            },
            keys,
            serving,
            tables: tables::Settings {
                recent_tables: limits.recent_tables,
                feed,
                ..tables::Settings::default()
            },
            wallets,
            courier: wallets::courier(settings),
            traces,
        })
    }

    /// Whether the settings can be used: reads all files that they name, and makes none.
    ///
    /// # Errors
    /// As [`Setup::from_settings`].
    pub fn check(settings: &Settings) -> Result<(), Failure> {
        Setup::with_keys(settings, |place, file| match place {
            Place::File(store) if file.is_none() && !Keyring::path_beside(store).exists() => Ok(None),
            Place::Redis(url) => {
                RedisConfig::parse(url).map_err(|error| Failure::Usage(error.to_string()))?;
                keys_of(place, file)
            }
            _ => keys_of(place, file),
        })
        .map(drop)
    }

    /// Everything by default, with a store in this file.
    ///
    /// # Errors
    /// [`Failure`] if the defaults do not hold, or no key can be made beside the store.
    pub fn for_development(listen: SocketAddr, store: &Path) -> Result<Setup, Failure> {
        let settings = Settings::load(None, vec![("store", "memory".into())])
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let keys = Some(Keyring::beside(store).map_err(|error| Failure::Failed(error.to_string()))?);
        let place = Place::File(store.to_owned());
        Ok(Setup { listen, place, keys, ..Setup::from_settings(&settings)? })
    }
}

impl Node {
    /// Opens the store, gives running clocks the time back that nobody served them (rules 8.4), and serves.
    ///
    /// # Errors
    /// [`Failure`], which says what to do.
    pub async fn start(setup: Setup) -> Result<Node, Failure> {
        let Setup { listen, metrics, health, place, kept, keys, mut serving, .. } = setup;
        let Setup { tables, wallets, courier, traces, .. } = setup;
        let opened = open(place, kept, keys).await?;
        let observing = Observing::new(metrics, &serving.operators());
        serving.counting = observing.counting();
        let store = observing.store(opened.store);
        let callers = access::callers(&serving, listen);
        let scheme = if serving.tls.is_some() { "https" } else { "http" };
        let retention = Retention { operators: serving.operators(), kept: kept.settlements };
        let tables =
            Tables::new(store, Arc::new(OsDealer), tables).with_courier(Courier::new(wallets, courier));
        clocks::credit_outages(&tables)
            .await
            .map_err(|error| Failure::Failed(format!("the store cannot be read: {error}")))?;

        let listener = TcpListener::bind(listen).await.map_err(|error| cannot_listen(listen, &error))?;
        let address = listener.local_addr().map_err(|error| cannot_listen(listen, &error))?;
        let (stop_clocks, clocks_stop) = watch::channel(false);
        let (stop_observing, observing_stop) = watch::channel(false);
        let health = transport::health(health, observing_stop.clone()).await?;
        let listeners = Listeners { calls: listener, health };
        let (hands, teller) = match &traces {
            Some(settings) => Some(telling::prepare(settings, observing.trace_counts(settings))?),
            None => None,
        }
        .unzip();
        let heard = Listener { metrics: observing.metrics(), hands };
        if !heard.is_nobody() {
            // Nobody else has set any: these are the only ones of this process.
            let _ = tables.clone().with_signals(Arc::new(heard));
        }
        let metrics = observing.metrics();
        let own = Arc::clone(&serving.binary);
        tokio::spawn(binary::run(own, metrics.clone(), binary::EVERY, observing_stop.clone()));
        observing.begin(&tables, opened.redis, serving.operators(), observing_stop).await?;
        let store = Arc::clone(tables.store());
        let telling = teller.map(|teller| Telling::begin(teller, store, serving.operators()));
        let (stop_serving, serving_stop) = oneshot::channel();
        let stopped = async move {
            // An error says that the node is gone, and then nobody serves either.
            let _ = serving_stop.await;
        };
        Ok(Node {
            address,
            scheme,
            store: opened.place,
            callers,
            stop_serving,
            clocks: tokio::spawn(work(tables.clone(), serving.operators(), clocks_stop.clone())),
            janitor: tokio::spawn(janitor::run(tables.clone(), retention, clocks_stop)),
            serving: tokio::spawn(grpc::serve(serving, tables, listeners, stopped)),
            stop_clocks,
            stop_observing,
            telling,
            metrics,
        })
    }

    /// Who counts what becomes of traces, if anybody does.
    #[must_use]
    pub fn trace_counts(&self) -> Option<Arc<dyn TraceCounts>> {
        let metrics = self.metrics.as_ref()?;
        Some(Arc::<Metrics>::clone(metrics))
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same as a URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Where the tables live, in words.
    #[must_use]
    pub fn store(&self) -> &str {
        &self.store
    }

    /// Who may call, in words.
    #[must_use]
    pub fn callers(&self) -> &str {
        &self.callers
    }

    /// Waits for a server, or clocks, that end by themselves, which none should: without clocks no hand goes on.
    pub async fn fault(&mut self) -> Failure {
        let ended = tokio::select! {
            ended = &mut self.serving => ended,
            _ = &mut self.clocks => return Failure::Failed("the clocks broke down".to_owned()),
            _ = &mut self.janitor => {
                return Failure::Failed("the removal of old settlements broke down".to_owned());
            }
        };
        match served(ended) {
            Err(failure) => failure,
            Ok(()) => Failure::Failed("the server ended by itself".to_owned()),
        }
    }

    /// Ends it softly, until this moment at the latest. What goes on without calls takes up nothing new from now on: other
    /// servers do, or this one when it is there again. Calls that are at work are answered, and last what has happened is
    /// told: hands, and together with them `last`.
    ///
    /// # Errors
    /// [`Failure`] if the server had failed.
    pub async fn stop(self, until: Instant, last: impl Future<Output = ()>) -> Result<(), Failure> {
        // Errors say that the other side has ended already.
        let _ = self.stop_clocks.send(true);
        let _ = self.stop_serving.send(());
        let background = async {
            let _ = tokio::join!(self.clocks, self.janitor);
        };
        let background = async {
            if timeout_at(until, background).await.is_err() {
                tracing::warn!(event = "drain_cut_short", "what goes on without calls did not end in time");
            }
        };
        let (serving, ()) = tokio::join!(self.serving, background);
        let telling = async {
            if let Some(telling) = self.telling {
                telling.end(until).await;
            }
        };
        tokio::join!(telling, last);
        let _ = self.stop_observing.send(true);
        served(serving)
    }
}

/// What goes on without calls: the clocks, and the sweep that makes tables show what is stopped.
async fn work(tables: Tables, operators: Vec<OperatorId>, stop: watch::Receiver<bool>) {
    tokio::join!(clocks::run(tables.clone(), stop.clone()), sweep::run(tables, operators, stop));
}

/// What operators and players may do.
fn admission(limits: &Limits) -> LimitSettings {
    let rate = |calls| Rate::new(calls, limits.burst_seconds);
    LimitSettings {
        operator_share: limits.operator_share,
        operator: rate(limits.operator_calls_per_second),
        player: rate(limits.player_calls_per_second),
        player_watchers: limits.player_watchers,
        late: (limits.shed_late_ms > 0).then(|| Duration::from_millis(limits.shed_late_ms)),
    }
}

const fn days(days: u64) -> Millis {
    Millis(days.saturating_mul(24 * 60 * 60 * 1000))
}

fn cannot_listen(listen: SocketAddr, error: &std::io::Error) -> Failure {
    let advice = match error.kind() {
        ErrorKind::AddrInUse => {
            "\n\nAnother program has this port, perhaps another server: stop it, or choose another \
                                 port with --listen (port 0 takes a free one)."
        }
        ErrorKind::PermissionDenied => {
            "\n\nPorts below 1024 are for the administrator: choose another one with --listen."
        }
        _ => "\n\n--listen takes an address of this machine and a port, as 127.0.0.1:50051.",
    };
    Failure::Failed(format!("cannot listen on {listen}: {error}{advice}"))
}

fn served(ended: Result<Result<(), ServeError>, tokio::task::JoinError>) -> Result<(), Failure> {
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Failure::Failed(format!("the server failed: {error}"))),
        Err(error) => Err(Failure::Failed(format!("the server broke down: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[tokio::test]
    async fn settings_that_cannot_be_used_leave_no_key_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (store, file) = (folder.path().join("fulcrum.redb"), folder.path().join("fulcrum.toml"));
        let setup = |wallet: &str| {
            fs::write(&file, format!("store = {store:?}\n[wallets.acme]\naddress = {wallet:?}\n")).unwrap();
            Setup::from_settings(&Settings::load(Some(&file), Vec::new()).unwrap())
        };
        let left = || fs::read_dir(folder.path()).unwrap().count();
        assert!(matches!(setup("acme.example:443"), Err(Failure::Usage(_))));
        assert_eq!(left(), 1, "the settings only");
        assert!(setup("https://acme.example:443").is_ok());
        assert_eq!(left(), 2, "and a key for the store");
    }
}
