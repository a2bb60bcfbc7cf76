//! When a stream has to go: the server is being shut down, the stream's connection has become old, or the token with which
//! it began has run out.

use http::Extensions;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::peer::Peer;
use crate::grpc::identity::Caller;
use crate::pb::v1::GoAwayReason;

/// Waits for the first of them.
#[derive(Clone)]
pub struct Leaving {
    server: watch::Receiver<bool>,
    connection: Option<watch::Receiver<bool>>,
    token: Option<Instant>,
}

impl Leaving {
    /// With the server, which is left when this becomes true.
    pub fn with_server(server: watch::Receiver<bool>) -> Leaving {
        Leaving { server, connection: None, token: None }
    }

    /// With the server, with the connection on which a request with these extensions came, or with its caller's token.
    #[must_use]
    pub fn of(&self, request: &Extensions) -> Leaving {
        let connection = request.get::<Peer>().map(|peer| peer.ageing.clone());
        let token = request.get::<Caller>().and_then(|caller| caller.until);
        Leaving { server: self.server.clone(), connection, token }
    }

    /// Waits until it is time, and says why.
    pub async fn why(&mut self) -> GoAwayReason {
        let old = async {
            match &mut self.connection {
                Some(connection) => is_true(connection).await,
                None => std::future::pending().await,
            }
        };
        let ended = async {
            match self.token {
                Some(end) => sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = is_true(&mut self.server) => GoAwayReason::Draining,
            () = old => GoAwayReason::ConnectionAged,
            () = ended => GoAwayReason::TokenEnded,
        }
    }
}

/// Waits until somebody says so, or nobody can any more: then server or connection are gone, which is as good a reason.
pub async fn is_true(said: &mut watch::Receiver<bool>) {
    let _ = said.wait_for(|said| *said).await;
}
