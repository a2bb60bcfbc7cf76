//! A balancer before the servers: each new connection goes to the next server that takes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::copy;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// So long a server may take to take a connection.
const PATIENCE: Duration = Duration::from_millis(500);

pub struct Balancer {
    /// Where it is, as a URL.
    pub address: String,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

struct Shared {
    ports: Vec<u16>,
    next: AtomicUsize,
    /// How many connections each server was given.
    given: Vec<AtomicUsize>,
}

impl Balancer {
    pub fn before(runtime: &Runtime, ports: Vec<u16>) -> Balancer {
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("bound"));
        let given = ports.iter().map(|_| AtomicUsize::new(0)).collect();
        let shared = Arc::new(Shared { ports, next: AtomicUsize::new(0), given });
        let serving = Arc::clone(&shared);
        let accepting = runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, Arc::clone(&serving)));
            }
        });
        Balancer { address, shared, accepting }
    }

    /// How many connections each server was given so far.
    pub fn given(&self) -> Vec<usize> {
        self.shared.given.iter().map(|given| given.load(Ordering::Relaxed)).collect()
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Either side's end is the other's: a connection of a dead server breaks.
async fn serve(mut client: TcpStream, shared: Arc<Shared>) {
    let Some(mut server) = shared.connect().await else {
        return;
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    tokio::select! {
        _ = copy(&mut from_client, &mut to_server) => {}
        _ = copy(&mut from_server, &mut to_client) => {}
    }
}

impl Shared {
    async fn connect(&self) -> Option<TcpStream> {
        let servers = self.ports.len();
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        for server in (first..first + servers).map(|turn| turn % servers) {
            let connecting = TcpStream::connect(("127.0.0.1", self.ports[server]));
            if let Ok(Ok(stream)) = tokio::time::timeout(PATIENCE, connecting).await {
                self.given[server].fetch_add(1, Ordering::Relaxed);
                return Some(stream);
            }
        }
        None
    }
}
