//! A line between the service and a wallet that can go dead without a word.

use std::net::SocketAddr;
use std::sync::Mutex;

use tokio::io::copy;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Connections through here to a wallet.
pub struct Pipe {
    pub address: SocketAddr,
    /// Counts how often all connections of the time went dead.
    muted: watch::Sender<u64>,
    task: Mutex<JoinHandle<()>>,
}

impl Pipe {
    /// A line to this address.
    pub async fn open(wallet: SocketAddr) -> Pipe {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (muted, mutes) = watch::channel(0);
        let task = tokio::spawn(async move {
            while let Ok((here, _)) = listener.accept().await {
                tokio::spawn(carry(here, wallet, mutes.clone()));
            }
        });
        Pipe { address, muted, task: Mutex::new(task) }
    }

    /// Carries nothing on any connection that is open now, and closes none.
    pub fn mute(&self) {
        self.muted.send_modify(|times| *times += 1);
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.task.get_mut().expect("no panic").abort();
    }
}

async fn carry(mut here: TcpStream, wallet: SocketAddr, mut mutes: watch::Receiver<u64>) {
    mutes.mark_unchanged();
    let Ok(mut there) = TcpStream::connect(wallet).await else {
        return;
    };
    let (mut from_here, mut to_here) = here.split();
    let (mut from_there, mut to_there) = there.split();
    tokio::select! {
        _ = copy(&mut from_here, &mut to_there) => {}
        _ = copy(&mut from_there, &mut to_here) => {}
        // Both sockets stay open, and nobody reads them.
        _ = mutes.changed() => std::future::pending().await,
    }
}
