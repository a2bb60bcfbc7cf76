//! When a stream has to go: the server is being shut down, or the stream's connection has become old.

use http::Extensions;
use tokio::sync::watch;

use super::peer::Peer;
use crate::pb::v1::GoAwayReason;

/// Waits for the one or the other.
#[derive(Clone)]
pub struct Leaving {
    server: watch::Receiver<bool>,
    connection: Option<watch::Receiver<bool>>,
}

impl Leaving {
    /// With the server, which is left when this becomes true.
    pub fn with_server(server: watch::Receiver<bool>) -> Leaving {
        Leaving { server, connection: None }
    }

    /// With the server or with the connection on which a request with these extensions came.
    #[must_use]
    pub fn of(&self, request: &Extensions) -> Leaving {
        let connection = request.get::<Peer>().map(|peer| peer.ageing.clone());
        Leaving { server: self.server.clone(), connection }
    }

    /// Waits until it is time, and says why.
    pub async fn why(&mut self) -> GoAwayReason {
        let old = async {
            match &mut self.connection {
                Some(connection) => is_true(connection).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = is_true(&mut self.server) => GoAwayReason::Draining,
            () = old => GoAwayReason::ConnectionAged,
        }
    }
}

/// Waits until somebody says so, or nobody can any more: then server or connection are gone, which is as good a reason.
pub async fn is_true(said: &mut watch::Receiver<bool>) {
    let _ = said.wait_for(|said| *said).await;
}
