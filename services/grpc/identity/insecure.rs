//! A server that does not ask its callers who they are: for development, and never by accident.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::sync::watch;

use crate::grpc::server::{ServeConfig, ServeError};

/// How often it is said again.
const AGAIN: Duration = Duration::from_secs(3600);

/// Whether the server may listen at this address. If anybody who reaches it may do everything, that is said aloud; where other
/// machines reach it, again and again until `drain`.
///
/// # Errors
/// [`ServeError::NoTokens`] if nobody has asked for that.
pub fn admit(
    config: &ServeConfig,
    address: SocketAddr,
    mut drain: watch::Receiver<bool>,
) -> Result<(), ServeError> {
    if !config.everybody() {
        return Ok(());
    }
    if let Some(counting) = &config.counting {
        counting.insecure();
    }
    if address.ip().is_loopback() {
        // Once: but for a proxy on this machine, or a forwarded port, nobody else gets here.
        tracing::warn!(
            event = "insecure", %address,
            "callers are not asked who they are: whoever is on this machine may do everything"
        );
        return Ok(());
    }
    if !config.insecure {
        return Err(ServeError::NoTokens(address));
    }
    tokio::spawn(async move {
        loop {
            tracing::warn!(
                event = "insecure", %address,
                "callers are not asked who they are: whoever reaches this address may do everything"
            );
            tokio::select! {
                _ = drain.wait_for(|drain| *drain) => return,
                () = tokio::time::sleep(AGAIN) => {}
            }
        }
    });
    Ok(())
}
