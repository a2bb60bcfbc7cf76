//! Who is at the other end of a connection. Every request of the connection carries it among its extensions.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

/// So many calls of health and reflection at once on one connection, open streams included: more than all that is behind a
/// proxy asks for.
const OPEN_CALLS: usize = 64;

/// The other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its address; a proxy's, if there is one in between.
    pub address: SocketAddr,
    /// Whose certificate it has shown, verified; nothing without TLS or without a certificate.
    pub certificate: Option<Arc<PeerIdentity>>,
    /// Becomes true when the connection has become old and its streams are to move to another one.
    pub ageing: watch::Receiver<bool>,
    /// Room for its calls that need no credentials. Anybody can make them, so each connection has its own: whoever fills his
    /// takes nobody else's, least of all that of a probe, at whose lack of an answer the server would be killed.
    pub open: Arc<Semaphore>,
}

impl Peer {
    /// Who has just connected.
    pub fn new(
        address: SocketAddr,
        certificate: Option<Arc<PeerIdentity>>,
        ageing: watch::Receiver<bool>,
    ) -> Peer {
        Peer { address, certificate, ageing, open: Arc::new(Semaphore::new(OPEN_CALLS)) }
    }
}

/// Who a verified certificate says that its holder is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerIdentity {
    /// The URIs and DNS names among its subject alternative names.
    pub names: Vec<String>,
    /// When the certificate ends, in seconds since the epoch.
    pub ends: u64,
}
