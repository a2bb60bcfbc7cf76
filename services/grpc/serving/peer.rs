//! Who is at the other end of a connection. Every request of the connection carries it among its extensions.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::watch;

/// The other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its address; a proxy's, if there is one in between.
    pub address: SocketAddr,
    /// Whose certificate it has shown, verified; nothing without TLS or without a certificate.
    pub certificate: Option<Arc<PeerIdentity>>,
    /// Becomes true when the connection has become old and its streams are to move to another one.
    pub ageing: watch::Receiver<bool>,
}

/// Who a verified certificate says that its holder is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerIdentity {
    /// The URIs and DNS names among its subject alternative names.
    pub names: Vec<String>,
}
