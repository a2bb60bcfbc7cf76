//! A proxy between the store and a server that loses answers, loses requests, falls silent, or falsifies what is said.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fulcrum::store::redis::Endpoint;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What the proxy does with what comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mood {
    /// Passes everything on.
    Honest,
    /// Cuts the connection instead of passing on the next request.
    CutsRequest,
    /// Keeps the next commit back until whoever sent it has given up, then passes it on.
    LateCommit,
    /// Passes the next commit on, and instead of its answer cuts the connection a while later.
    UnansweredCommit,
    /// Lets the next connection on which a request comes fall silent for ever, and nobody notices by its end.
    DeadLine,
    /// The same of the next connection on which a commit is told to a listener.
    DeadEar,
    /// Passes the next request on and cuts the connection instead of passing on its answer.
    CutsAnswer,
    /// Passes requests on, and no answers.
    Silent,
    /// Takes no connections, and cuts those that there are.
    Closed,
}

/// Bytes that are replaced by as many others.
type Lie = (Vec<u8>, Vec<u8>);

pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    to: u16,
    mood: AtomicU8,
    /// Answers come so many ms late.
    late: AtomicU64,
    cuts: AtomicUsize,
    /// How many requests that contain the marked bytes were passed on.
    marked: AtomicUsize,
    mark: Mutex<Vec<u8>>,
    lies: Vec<Lie>,
    changed: Notify,
}

impl Proxy {
    pub async fn before(server: &Endpoint) -> Proxy {
        Proxy::lying(server, Vec::new()).await
    }

    /// A proxy that replaces bytes on their way to the server.
    pub async fn lying(server: &Endpoint, lies: Vec<Lie>) -> Proxy {
        assert!(
            lies.iter().all(|(true_bytes, lie)| true_bytes.len() == lie.len()),
            "lengths are told beforehand"
        );
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let shared = Arc::new(Shared {
            to: server.port,
            mood: AtomicU8::new(Mood::Honest as u8),
            late: AtomicU64::new(0),
            cuts: AtomicUsize::new(0),
            marked: AtomicUsize::new(0),
            mark: Mutex::default(),
            lies,
            changed: Notify::new(),
        });
        let proxy = Proxy { port, shared: Arc::clone(&shared) };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, Arc::clone(&shared)));
            }
        });
        proxy
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint { host: "127.0.0.1".to_owned(), port: self.port }
    }

    pub fn be(&self, mood: Mood) {
        self.shared.mood.store(mood as u8, Ordering::SeqCst);
        self.shared.changed.notify_waiters();
    }

    /// Has all answers come late from now on.
    #[allow(dead_code, reason = "the program's tests need it, the store's do not")]
    pub fn delay(&self, by: Duration) {
        self.shared.late.store(by.as_millis().try_into().expect("a short time"), Ordering::SeqCst);
    }

    /// How many connections it has cut.
    pub fn cuts(&self) -> usize {
        self.shared.cuts.load(Ordering::SeqCst)
    }

    /// Counts requests with these bytes from now on.
    pub fn count(&self, mark: &[u8]) {
        *self.shared.mark.lock().expect("no panic") = mark.to_vec();
        self.shared.marked.store(0, Ordering::SeqCst);
    }

    pub fn counted(&self) -> usize {
        self.shared.marked.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn is(&self, mood: Mood) -> bool {
        self.mood.load(Ordering::SeqCst) == mood as u8
    }

    /// True once: the mood is over with it.
    fn spend(&self, mood: Mood) -> bool {
        let spent =
            self.mood.compare_exchange(mood as u8, Mood::Honest as u8, Ordering::SeqCst, Ordering::SeqCst);
        spent.is_ok()
    }
}

/// What is known of one connection.
#[derive(Default)]
struct Line {
    /// Nothing is passed on any more.
    deaf: AtomicBool,
    /// It has subscribed something.
    listens: AtomicBool,
}

async fn serve(client: TcpStream, shared: Arc<Shared>) {
    if shared.is(Mood::Closed) {
        return;
    }
    let Ok(server) = TcpStream::connect(("127.0.0.1", shared.to)).await else {
        return;
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let line = Line::default();
    let closed = async {
        loop {
            let changed = shared.changed.notified();
            if shared.is(Mood::Closed) {
                return;
            }
            changed.await;
        }
    };
    tokio::select! {
        () = requests(from_client, to_server, &shared, &line) => {}
        () = answers(from_server, to_client, &shared, &line) => {}
        () = closed => {}
    }
}

async fn requests(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, shared: &Shared, line: &Line) {
    let mut buffer = vec![0; 1 << 20];
    let mut held: Vec<u8> = Vec::new();
    while let Ok(read) = from.read(&mut buffer).await {
        if read == 0 {
            return;
        }
        if buffer[..read].windows(7).any(|bytes| bytes == b"EVALSHA") && shared.spend(Mood::CutsRequest) {
            shared.cuts.fetch_add(1, Ordering::SeqCst);
            return;
        }
        // Signs of life are scripts too, but know of no events.
        let commit = buffer[..read].windows(3).any(|bytes| bytes == b":e\r");
        if commit && shared.spend(Mood::LateCommit) {
            tokio::time::sleep(Duration::from_millis(800)).await;
        }
        if buffer[..read].windows(10).any(|bytes| bytes == b"SSUBSCRIBE") {
            line.listens.store(true, Ordering::SeqCst);
        }
        if shared.spend(Mood::DeadLine) {
            line.deaf.store(true, Ordering::SeqCst);
        }
        let cut = commit && shared.spend(Mood::UnansweredCommit);
        if cut {
            line.deaf.store(true, Ordering::SeqCst);
        } else if line.deaf.load(Ordering::SeqCst) {
            continue;
        }
        held.extend_from_slice(&buffer[..read]);
        {
            let mark = shared.mark.lock().expect("no panic");
            if !mark.is_empty() {
                let found = held.windows(mark.len()).filter(|bytes| *bytes == &mark[..]).count();
                shared.marked.fetch_add(found, Ordering::SeqCst);
            }
        }
        for (truth, lie) in &shared.lies {
            replace(&mut held, truth, lie);
        }
        // What may be the beginning of something to be replaced waits for the rest.
        let kept = shared.lies.iter().map(|(truth, _)| overlap(&held, truth)).max().unwrap_or(0);
        let rest = held.split_off(held.len() - kept);
        if to.write_all(&held).await.is_err() {
            return;
        }
        held = rest;
        if cut {
            tokio::time::sleep(Duration::from_millis(200)).await;
            return;
        }
    }
}

async fn answers(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, shared: &Shared, line: &Line) {
    let mut buffer = vec![0; 1 << 20];
    while let Ok(read) = from.read(&mut buffer).await {
        if read == 0 {
            return;
        }
        if line.listens.load(Ordering::SeqCst) && shared.spend(Mood::DeadEar) {
            line.deaf.store(true, Ordering::SeqCst);
        }
        if line.deaf.load(Ordering::SeqCst) {
            continue;
        }
        if shared.spend(Mood::CutsAnswer) {
            shared.cuts.fetch_add(1, Ordering::SeqCst);
            return;
        }
        tokio::time::sleep(Duration::from_millis(shared.late.load(Ordering::SeqCst))).await;
        loop {
            let changed = shared.changed.notified();
            if !shared.is(Mood::Silent) {
                break;
            }
            changed.await;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

fn replace(bytes: &mut [u8], truth: &[u8], lie: &[u8]) {
    let mut at = 0;
    while at + truth.len() <= bytes.len() {
        if bytes[at..].starts_with(truth) {
            bytes[at..at + lie.len()].copy_from_slice(lie);
            at += truth.len();
        } else {
            at += 1;
        }
    }
}

/// How many of the last bytes begin the pattern without completing it.
fn overlap(bytes: &[u8], pattern: &[u8]) -> usize {
    let longest = pattern.len().saturating_sub(1).min(bytes.len());
    (1..=longest).rev().find(|length| pattern.starts_with(&bytes[bytes.len() - length..])).unwrap_or(0)
}
