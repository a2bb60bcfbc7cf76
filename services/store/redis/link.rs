//! How connections are made: login, encryption, time limits.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::io::tcp::TcpSettings;
use ::redis::io::tcp::socket2::TcpKeepalive;
use ::redis::{
    AsyncConnectionConfig, Client, ClientTlsConfig, ConnectionAddr, ConnectionInfo, IntoConnectionInfo,
    ProtocolVersion, PushInfo, PushKind, RedisConnectionInfo, RedisError, TlsCertificates,
};
use tables::StoreError;
use tokio::time::Instant;

use super::config::{Endpoint, Login, RedisConfig};
use super::fault::{Fault, Remedy};
use super::traffic::{Connected, Counts};

/// A connection may take so long to be made.
const CONNECT: Duration = Duration::from_millis(1000);
/// So many commands may wait to be written on one connection.
const BUFFER: usize = 512;

/// Makes connections to the servers of one installation.
pub(super) struct Link {
    login: Login,
    sentinel_login: Login,
    certificates: Option<TlsCertificates>,
    pub(super) response_time: Duration,
    pub(super) in_flight: usize,
    made: AtomicU64,
    pub(super) counts: Arc<Counts>,
}

/// Takes in what a server sends unasked; never blocks.
pub(super) type Pushed = Box<dyn Fn(PushInfo) + Send + Sync>;

/// How soon the operating system notices that the other side has gone without a word: a connection on which nothing is
/// sent by keepalive, one on which what was sent is not confirmed by the time-out.
const QUIET: Duration = Duration::from_secs(5);
const PROBES: Duration = Duration::from_secs(2);
#[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
const UNCONFIRMED: Duration = Duration::from_secs(3);

/// A connection, whether it has been closed from the other side, and when it answered.
#[derive(Clone)]
pub(super) struct Live {
    pub(super) connection: MultiplexedConnection,
    closed: Arc<AtomicBool>,
    answered: Arc<Mutex<Instant>>,
    response_time: Duration,
    _connected: Arc<Connected>,
}

impl Live {
    /// Something came.
    pub(super) fn answers(&self) {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether a call that has just timed out was the last of which something could have come: its connection has not
    /// answered since, whatever others to the same server do.
    pub(super) fn is_silent(&self) -> bool {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).elapsed() >= self.response_time
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Nobody is to use it any more.
    pub(super) fn give_up(&self) {
        self.closed.store(true, Ordering::Release);
    }
}

impl Link {
    /// Reads the certificates.
    pub(super) fn new(config: &RedisConfig) -> Result<Link, StoreError> {
        let certificates = match &config.tls {
            None => None,
            Some(tls) => {
                install_crypto();
                let client_tls = match &tls.client {
                    None => None,
                    Some((cert, key)) => {
                        Some(ClientTlsConfig { client_cert: pem(cert)?, client_key: pem(key)? })
                    }
                };
                Some(TlsCertificates { client_tls, root_cert: tls.ca.as_deref().map(pem).transpose()? })
            }
        };
        Ok(Link {
            login: config.login.clone(),
            sentinel_login: config.sentinel_login.clone(),
            certificates,
            response_time: config.response_time,
            in_flight: config.in_flight,
            made: AtomicU64::new(0),
            counts: Arc::default(),
        })
    }

    /// How many connections for tables were made.
    pub(super) fn made(&self) -> u64 {
        self.made.load(Ordering::Acquire)
    }

    /// A connection to a server that has tables.
    pub(super) async fn connect(&self, to: &Endpoint) -> Result<Live, Fault> {
        self.count();
        self.open(to, &self.login, self.response_time, None).await
    }

    /// A connection on which answers may take longer.
    pub(super) async fn connect_patient(
        &self,
        to: &Endpoint,
        response_time: Duration,
    ) -> Result<Live, Fault> {
        self.count();
        self.open(to, &self.login, response_time, None).await
    }

    /// A connection to see what a server says of itself and the others.
    pub(super) async fn connect_to_look(&self, to: &Endpoint) -> Result<Live, Fault> {
        self.open(to, &self.login, self.response_time, None).await
    }

    /// Before the first answer comes over it.
    fn count(&self) {
        self.made.fetch_add(1, Ordering::AcqRel);
    }

    /// A connection whose pushed messages go there; the last one tells of its end.
    pub(super) async fn connect_listening(&self, to: &Endpoint, pushed: Pushed) -> Result<Live, Fault> {
        self.open(to, &self.login, self.response_time, Some(pushed)).await
    }

    /// A connection to a sentinel.
    pub(super) async fn connect_sentinel(&self, to: &Endpoint) -> Result<Live, Fault> {
        self.open(to, &self.sentinel_login, self.response_time, None).await
    }

    async fn open(
        &self,
        to: &Endpoint,
        login: &Login,
        response_time: Duration,
        pushed: Option<Pushed>,
    ) -> Result<Live, Fault> {
        let failed = |error: RedisError| {
            Fault::Again(Remedy::Reach, format!("Redis at {to} cannot be reached: {error}"))
        };
        let client = self.client(to, login).map_err(failed)?;
        let closed = Arc::new(AtomicBool::new(false));
        let mark = Arc::clone(&closed);
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT))
            .set_response_timeout(Some(response_time))
            .set_pipeline_buffer_size(BUFFER)
            .set_push_sender(move |info: PushInfo| {
                if info.kind == PushKind::Disconnection {
                    mark.store(true, Ordering::Release);
                }
                if let Some(pushed) = &pushed {
                    pushed(info);
                }
                Ok::<(), ::redis::aio::SendError>(())
            });
        let connection =
            client.get_multiplexed_async_connection_with_config(&config).await.map_err(failed)?;
        let answered = Arc::new(Mutex::new(Instant::now()));
        let _connected = Arc::new(self.counts.connected());
        Ok(Live { connection, closed, answered, response_time, _connected })
    }

    fn client(&self, to: &Endpoint, login: &Login) -> Result<Client, RedisError> {
        let mut settings =
            RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP3).set_skip_set_lib_name();
        if let Some(user) = &login.user {
            settings = settings.set_username(user);
        }
        if let Some(password) = &login.password {
            settings = settings.set_password(&password.0);
        }
        let info = |address: ConnectionAddr| -> Result<ConnectionInfo, RedisError> {
            let info = address.into_connection_info()?;
            Ok(info.set_tcp_settings(tcp_settings()).set_redis_settings(settings))
        };
        let (host, port) = (to.host.clone(), to.port);
        match &self.certificates {
            None => Client::open(info(ConnectionAddr::Tcp(host, port))?),
            Some(certificates) => {
                let address = ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None };
                Client::build_with_tls(info(address)?, certificates.clone())
            }
        }
    }
}

fn tcp_settings() -> TcpSettings {
    let keepalive = TcpKeepalive::new().with_time(QUIET).with_interval(PROBES);
    // Without `nodelay` a small command waits for the acknowledgement of the one before.
    let settings = TcpSettings::default().set_nodelay(true).set_keepalive(keepalive);
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    let settings = settings.set_user_timeout(UNCONFIRMED);
    settings
}

fn pem(path: &Path) -> Result<Vec<u8>, StoreError> {
    fs::read(path)
        .map_err(|error| StoreError::Unavailable(format!("{} cannot be read: {error}", path.display())))
}

/// rustls has to be told once a process which cryptography to use.
fn install_crypto() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error says that somebody has chosen already.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    });
}
