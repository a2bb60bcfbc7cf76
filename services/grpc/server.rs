//! Puts the services together and serves them until the shutdown, and then to a clean end.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rules::Millis;
use tables::store::REQUEST_RETENTION;
use tables::{Deliveries, OperatorId, Tables};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tonic::service::Routes;
use tonic_health::ServingStatus;
use tower::Layer;

use super::actions::Actions;
use super::control::Control;
use super::delivering::Delivering;
use super::health::{self, Health, alone::HealthListener};
use super::identity::certificates::Identities;
use super::identity::credentials::Known;
use super::identity::jwt::{JwtSettings, Verifier};
use super::identity::tokens::Tokens;
use super::identity::{Credentials, developer, insecure};
use super::info::Info;
use super::layers::counting::Counting;
use super::layers::limits::{self, Admission, LimitSettings};
use super::layers::methods::Methods;
use super::layers::{Front, FrontLayer};
use super::parse::page;
use super::pivot::Pivots;
use super::render::server::Limits;
use super::serving::leaving::Leaving;
use super::serving::tls::Tls;
use super::serving::{Connections, Doors};
use super::settlements::Settlements;
use super::tables::TablesOfOperators;
use super::watching::Watching;
use super::watching::players::Players;
use crate::pb;
use crate::pb::v1::action_service_server::ActionServiceServer;
use crate::pb::v1::control_service_server::ControlServiceServer;
use crate::pb::v1::pivot_service_server::PivotServiceServer;
use crate::pb::v1::server_service_server::ServerServiceServer;
use crate::pb::v1::settlement_service_server::SettlementServiceServer;
use crate::pb::v1::table_service_server::TableServiceServer;
use crate::telemetry::binary::Binary;
use crate::telemetry::traces::CallTraces;
use crate::telemetry::traces::sampling::Sampling;

/// How the server meets its callers.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// The tokens of the operators. Without any, without an issuer's and without certificates everybody is the operator
    /// `dev`.
    pub tokens: Option<Tokens>,
    /// The tokens of the administrators. Without any, nobody is one, unless nobody needs a token.
    pub administrators: Option<Tokens>,
    /// The tokens of an issuer that are taken, if any are.
    pub jwt: Option<JwtSettings>,
    /// Whose certificates are taken.
    pub identities: Identities,
    /// Operators that are served besides those who are named by tokens and certificates. An issuer's tokens are taken for
    /// these only: whoever has a token of his own has not asked for an issuer who speaks for him.
    pub operators: Vec<OperatorId>,
    /// Whether everybody may be the operator `dev` at an address that other machines can reach.
    pub insecure: bool,
    /// Whether reflection is answered; where everybody is the operator `dev` it is.
    pub reflection: bool,
    /// The longest that a unary call may take, whatever deadline its caller asks for.
    pub longest_call: Duration,
    /// The largest message that is read, in bytes.
    pub largest_message: usize,
    /// So many calls are at work at once, streams that begin with them; more are refused, to be repeated soon.
    pub calls_at_once: usize,
    /// TLS; without it everything can be read on the way.
    pub tls: Option<Arc<Tls>>,
    /// What a connection may do.
    pub connections: Connections,
    /// What operators and players may do, and when the server is busy.
    pub limits: LimitSettings,
    /// How long a watched table is quiet before a heartbeat.
    pub heartbeat: Duration,
    /// How long a shutdown may take in all.
    pub drain: Duration,
    /// How long of that new connections and calls are taken still, because whoever sends them cannot know yet.
    pub linger: Duration,
    /// The program's file, of which the server tells.
    pub binary: Arc<Binary>,
    /// How long request ids are remembered, to be told.
    pub requests_kept: Millis,
    /// How long settlement records are kept, to be told.
    pub settlements_kept: Millis,
    /// Which calls are told to a collector; without it that is decided with each call's span.
    pub traces: Option<CallTraces>,
    /// Who counts the calls.
    pub counting: Option<Arc<dyn Counting>>,
}

impl ServeConfig {
    /// The operators that are served.
    #[must_use]
    pub fn operators(&self) -> Vec<OperatorId> {
        let mut all = self.tokens.as_ref().map(Tokens::operators).unwrap_or_default();
        all.extend(self.identities.operators().chain(&self.operators).cloned());
        all.extend(developer().filter(|_| self.everybody()));
        all.into_iter().collect()
    }

    /// By what callers are told apart; the keys of an issuer are read, and go on being read until `drain`.
    async fn known(&self, drain: &watch::Receiver<bool>) -> Known {
        let verifier = self.jwt.clone().map(|settings| {
            let named = self.operators.iter().cloned().collect();
            Verifier::new(settings, named, self.counting.clone())
        });
        if let Some(verifier) = &verifier {
            verifier.begin(drain.clone()).await;
        }
        let (tokens, administrators) = (self.tokens.clone(), self.administrators.clone());
        Known { tokens, administrators, verifier, identities: self.identities.clone() }
    }

    fn reflects(&self) -> bool {
        self.reflection || self.everybody()
    }

    /// Whether callers are not asked who they are.
    #[must_use]
    pub fn everybody(&self) -> bool {
        self.tokens.is_none() && self.jwt.is_none() && self.identities.is_empty()
    }
}

impl Default for ServeConfig {
    fn default() -> ServeConfig {
        ServeConfig {
            tokens: None,
            administrators: None,
            jwt: None,
            identities: Identities::default(),
            operators: Vec::new(),
            insecure: false,
            reflection: false,
            longest_call: Duration::from_secs(10),
            largest_message: 256 * 1024,
            calls_at_once: 4096,
            tls: None,
            connections: Connections::default(),
            limits: LimitSettings::default(),
            heartbeat: Duration::from_secs(15),
            drain: Duration::from_secs(20),
            linger: Duration::ZERO,
            binary: Arc::default(),
            requests_kept: REQUEST_RETENTION,
            settlements_kept: REQUEST_RETENTION,
            traces: None,
            counting: None,
        }
    }
}

/// The largest message that reflection reads, in bytes.
const OPEN_MESSAGE: usize = 16 * 1024;

/// Where a server is met.
pub struct Listeners {
    /// By callers.
    pub calls: TcpListener,
    /// By whoever wants to know its health, and nothing else.
    pub health: Option<HealthListener>,
}

impl From<TcpListener> for Listeners {
    fn from(calls: TcpListener) -> Listeners {
        Listeners { calls, health: None }
    }
}

/// Why a server does not serve.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Anybody who reaches the address could play with everybody's money.
    #[error(
        "{0} can be reached from elsewhere, and callers are not asked who they are: only loopback is served so"
    )]
    NoTokens(SocketAddr),
    /// The listener.
    #[error("the listener fails: {0}")]
    Listener(#[from] std::io::Error),
    /// The contract that was built in is broken.
    #[error("the built-in contract cannot be read: {0}")]
    Contract(Box<dyn std::error::Error + Send + Sync>),
}

/// Serves the tables on these listeners until `shutdown` is there; then says NOT_SERVING, lingers, ends all streams with a
/// go-away, lets running calls finish, and returns within the configured time.
///
/// # Errors
/// [`ServeError`]
pub async fn serve<F>(
    config: ServeConfig,
    tables: Tables,
    listeners: impl Into<Listeners>,
    shutdown: F,
) -> Result<(), ServeError>
where
    F: Future<Output = ()> + Send + 'static,
{
    let Listeners { calls: listener, health: alone } = listeners.into();
    let address = listener.local_addr()?;
    let (stages, stage) = Stages::begin();
    insecure::admit(&config, address, stage.draining.clone())?;
    let front = FrontLayer(Arc::new(front(&config, stage.draining.clone()).await?));
    tokio::spawn(limits::keep(Arc::downgrade(&front.0.limits)));
    let health = Health::begin().await;
    tokio::spawn(health::follow_store(health.clone(), tables.clone(), stage.draining.clone()));
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(pb::DESCRIPTOR)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
        .include_reflection_service(false)
        .build_v1()
        .map_err(|error| ServeError::Contract(error.into()))?
        .max_decoding_message_size(OPEN_MESSAGE);
    let services = Services {
        config: &config,
        tables,
        leaving: Leaving::with_server(stage.left.clone()),
        players: Players::new(config.limits.player_watchers),
    };
    let mut routes = Routes::new(health.with_calls());
    if config.reflects() {
        routes = routes.add_service(reflection);
    }
    let routes = routes
        .add_service(services.tables())
        .add_service(services.actions())
        .add_service(services.pivots())
        .add_service(services.settlements())
        .add_service(services.control())
        .add_service(services.server())
        .prepare();
    let (tls, counting) = (config.tls.clone(), config.counting.clone());
    let renewing = renewing(tls.clone(), counting.clone());
    let doors = Doors::new(&config.connections, tls, front.layer(routes), stage.left.clone(), counting);
    tracing::info!(%address, "serving");
    if let Some(alone) = alone {
        alone.open(&health);
    }
    let ending = async {
        shutdown.await;
        stages.pass(health, config.linger).await;
    };
    tokio::select! {
        _ = async { tokio::join!(doors.open(listener), ending) } => Ok(()),
        never = renewing => match never {},
        () = overdue(stage.draining, config.drain) => {
            tracing::warn!(event = "drain_cut_short", "some calls did not end in time");
            Ok(())
        }
    }
}

/// Takes new certificates for as long as it is let.
async fn renewing(tls: Option<Arc<Tls>>, counting: Option<Arc<dyn Counting>>) -> Infallible {
    match tls {
        Some(tls) => tls.follow(counting).await,
        None => std::future::pending().await,
    }
}

/// The two steps of a shutdown: the server serves, then it drains, then it is left.
///
/// Whoever spreads calls over servers learns with a delay that one of them goes. While the server drains, its health says
/// so and no stream begins, but whoever still comes gets his calls answered, on new connections too: a proxy that has not
/// looked yet loses nothing. When it is left, nobody can connect any more, streams are sent away with the place where to go
/// on, connections are told to go (GOAWAY), and calls that are at work are answered. A client that spreads its calls itself,
/// over all addresses of a name, needs no delay: it is refused here and goes on elsewhere.
struct Stages {
    drain: watch::Sender<bool>,
    leave: watch::Sender<bool>,
}

/// Where a shutdown is.
struct Stage {
    draining: watch::Receiver<bool>,
    left: watch::Receiver<bool>,
}

impl Stages {
    fn begin() -> (Stages, Stage) {
        let ((drain, draining), (leave, left)) = (watch::channel(false), watch::channel(false));
        (Stages { drain, leave }, Stage { draining, left })
    }

    async fn pass(self, health: Health, linger: Duration) {
        tracing::info!(event = "draining", "draining");
        self.drain.send_replace(true);
        health.set(ServingStatus::NotServing).await;
        tokio::time::sleep(linger).await;
        self.leave.send_replace(true);
        health.end().await;
    }
}

async fn front(config: &ServeConfig, drain: watch::Receiver<bool>) -> Result<Front, ServeError> {
    let contract = |error: &str| ServeError::Contract(error.into());
    let credentials = Credentials::new(config.known(&drain).await);
    Ok(Front {
        credentials: credentials.ok_or_else(|| contract("no developer"))?,
        methods: Methods::of_contract().map_err(|error| ServeError::Contract(error.into()))?,
        longest: config.longest_call,
        message: config.largest_message,
        limits: Arc::new(Admission::new(config.calls_at_once, config.limits)),
        sampling: config.traces.as_ref().map(Sampling::of),
        drain,
        counting: config.counting.clone(),
    })
}

/// The services of the contract.
struct Services<'a> {
    config: &'a ServeConfig,
    tables: Tables,
    leaving: Leaving,
    players: Arc<Players>,
}

impl Services<'_> {
    fn tables(&self) -> TableServiceServer<TablesOfOperators> {
        let (tables, watching) = (self.tables.clone(), self.watching());
        TableServiceServer::new(TablesOfOperators { tables, watching })
            .max_decoding_message_size(self.config.largest_message)
    }

    fn actions(&self) -> ActionServiceServer<Actions> {
        ActionServiceServer::new(Actions { tables: self.tables.clone() })
            .max_decoding_message_size(self.config.largest_message)
    }

    fn pivots(&self) -> PivotServiceServer<Pivots> {
        PivotServiceServer::new(Pivots { tables: self.tables.clone() })
            .max_decoding_message_size(self.config.largest_message)
    }

    fn control(&self) -> ControlServiceServer<Control> {
        ControlServiceServer::new(Control { tables: self.tables.clone() })
            .max_decoding_message_size(self.config.largest_message)
    }

    fn server(&self) -> ServerServiceServer<Info> {
        let ServeConfig { longest_call, heartbeat, .. } = *self.config;
        let millis = |of: Duration| Millis(u64::try_from(of.as_millis()).unwrap_or(u64::MAX));
        let limits = Limits {
            message: self.config.largest_message,
            page: page::MOST,
            call: millis(longest_call),
            streams: self.config.connections.streams,
            heartbeat: millis(heartbeat),
            requests: self.config.requests_kept,
            settlements: self.config.settlements_kept,
        };
        let (tables, binary) = (self.tables.clone(), Arc::clone(&self.config.binary));
        ServerServiceServer::new(Info { tables, binary, limits })
            .max_decoding_message_size(self.config.largest_message)
    }

    fn settlements(&self) -> SettlementServiceServer<Settlements> {
        let (tables, watching) = (self.tables.clone(), self.watching());
        let deliveries = Deliveries::new(Arc::clone(tables.store()));
        let delivering = Delivering { tables: tables.clone(), deliveries, watching };
        SettlementServiceServer::new(Settlements { tables, delivering })
            .max_decoding_message_size(self.config.largest_message)
    }

    fn watching(&self) -> Watching {
        let players = Arc::clone(&self.players);
        Watching { leaving: self.leaving.clone(), heartbeat: self.config.heartbeat, players }
    }
}

/// When what is left is not waited for any longer.
async fn overdue(mut draining: watch::Receiver<bool>, longest: Duration) {
    if draining.wait_for(|drain| *drain).await.is_err() {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(longest).await;
}
