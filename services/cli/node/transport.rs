//! Listeners and connections, and their end, as the settings want them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::cli::failure::Failure;
use crate::config::Settings;
use crate::grpc::{ClientCertificates, Connections, HealthListener, Tls, TlsFiles};

/// Calls that are at work when their connection is sent away end before it is cut off.
const MARGIN: Duration = Duration::from_secs(5);

/// So much of it is for what is done when calls have ended, as telling what has happened, and a quarter at the most.
const AFTERWARDS: Duration = Duration::from_secs(3);

/// How much of the end is for calls.
pub fn for_calls(settings: &Settings) -> Duration {
    let all = Duration::from_secs(settings.drain_seconds);
    all - AFTERWARDS.min(all / 4)
}

/// What a connection may do.
pub fn connections(settings: &Settings) -> Connections {
    let wanted = &settings.connections;
    let longest_call = Duration::from_secs(settings.limits.call_seconds);
    Connections {
        most: wanted.most,
        of_an_address: wanted.of_an_address,
        age: (wanted.age_minutes > 0).then(|| Duration::from_secs(wanted.age_minutes.saturating_mul(60))),
        idle: Duration::from_secs(wanted.idle_seconds),
        grace: longest_call.saturating_add(MARGIN),
        ..Connections::default()
    }
}

/// A listener for health alone, if there is to be one, until `end`.
///
/// # Errors
/// [`Failure::Failed`] if the address cannot be had.
pub async fn health(
    at: Option<SocketAddr>,
    end: watch::Receiver<bool>,
) -> Result<Option<HealthListener>, Failure> {
    let Some(at) = at else {
        return Ok(None);
    };
    let failed = |error| Failure::Failed(format!("health: cannot listen on {at}: {error}"));
    let listener = HealthListener { listener: TcpListener::bind(at).await.map_err(failed)?, end };
    let address = listener.address().map_err(failed)?;
    tracing::info!(event = "health_served", %address, "health is told alone");
    Ok(Some(listener))
}

/// TLS, if there is any.
///
/// # Errors
/// [`Failure::Usage`] if a file cannot be used.
pub fn tls(settings: &Settings) -> Result<Option<Arc<Tls>>, Failure> {
    let paths = settings.tls.paths().map_err(|error| Failure::Usage(error.to_string()))?;
    let Some(paths) = paths else {
        return Ok(None);
    };
    let clients = match paths.clients {
        None => ClientCertificates::None,
        Some((authorities, false)) => ClientCertificates::Wanted(authorities),
        Some((authorities, true)) => ClientCertificates::Required(authorities),
    };
    let tls = Tls::load(TlsFiles { certificate: paths.certificate, key: paths.key, clients });
    tls.map(|tls| Some(Arc::new(tls))).map_err(|error| Failure::Usage(format!("tls: {error}")))
}
