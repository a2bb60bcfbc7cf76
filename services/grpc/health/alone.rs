//! A listener for health alone, always in clear. Who asks there needs no credentials and no TLS, as the probes of the kubelet,
//! which has neither; and he learns nothing else.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tonic::service::Routes;
use tower::util::BoxCloneSyncService;

use super::Health;
use crate::grpc::serving::{Connections, Doors};

/// The listener, and when it ends.
pub struct HealthListener {
    /// Where it listens.
    pub listener: TcpListener,
    /// Becomes true, or loses its sender, when the process ends: later than the server, so that it can be asked while that drains.
    pub end: watch::Receiver<bool>,
}

impl HealthListener {
    /// Its address.
    ///
    /// # Errors
    /// The system's.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Tells the health, until the end.
    pub(in crate::grpc) fn open(self, health: &Health) {
        // Whatever else is called is UNIMPLEMENTED.
        let service = BoxCloneSyncService::new(Routes::new(health.alone()).prepare());
        let doors = Doors::new(&connections(), None, service, self.end, None).named("health");
        tokio::spawn(doors.open(self.listener));
    }
}

/// Probes come one by one, each on a connection of its own, and are over at once. Whoever wants more gets little of it, and
/// takes nothing away from callers.
fn connections() -> Connections {
    Connections {
        most: 128,
        of_an_address: 32,
        age: Some(Duration::from_secs(5 * 60)),
        moment: Duration::from_secs(1),
        idle: Duration::from_secs(30),
        hello: Duration::from_secs(5),
        deaf: Duration::from_secs(5),
        streams: 8,
        // What HTTP/2 begins with.
        stream_window: 65_535,
        window: 65_535,
        grace: Duration::from_secs(1),
    }
}
