//! Wallets that are none: programs at the wallet's address that send whatever does most harm.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use h2::server::SendResponse;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use prost::bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Harm {
    /// Bytes that are no HTTP/2.
    Garbage,
    /// Nothing: the connection is closed at once.
    Close,
    /// Nothing: the connection stays open.
    Silence,
    /// A sound beginning, one byte at a time, for ever.
    Drip,
    /// One header block that never ends.
    EndlessHeaders,
    /// Every stream is reset.
    Reset,
    /// An answer without a body.
    NoBody,
    /// A message of 100 MB.
    Large,
    /// Small messages without end.
    Endless,
    /// A status with a text of 1 MB.
    LongStatus,
    /// Trailers with ten thousand names.
    ManyTrailers,
    /// A message that is no message, in a sound frame.
    Nonsense,
    /// A web page.
    Page,
}

pub const HARMS: [Harm; 13] = [
    Harm::Garbage,
    Harm::Close,
    Harm::Silence,
    Harm::Drip,
    Harm::EndlessHeaders,
    Harm::Reset,
    Harm::NoBody,
    Harm::Large,
    Harm::Endless,
    Harm::LongStatus,
    Harm::ManyTrailers,
    Harm::Nonsense,
    Harm::Page,
];

/// A program at a wallet's address.
pub struct Rogue {
    pub url: String,
    /// Bytes of bodies and headers that somebody took, as far as the rogue knows.
    taken: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Rogue {
    /// One that does this.
    pub async fn open(harm: Harm) -> Rogue {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address: SocketAddr = listener.local_addr().expect("an address");
        let taken = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&taken);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(meet(socket, harm, Arc::clone(&count)));
            }
        });
        Rogue { url: format!("http://{address}"), taken, task }
    }

    /// How many bytes were taken from it.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }
}

impl Drop for Rogue {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An empty SETTINGS frame.
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

async fn meet(mut socket: TcpStream, harm: Harm, taken: Arc<AtomicUsize>) {
    // Errors say that the other side has had enough, which is the point.
    match harm {
        Harm::Garbage => {
            let _ = socket.write_all(&[0xa5; 64 * 1024]).await;
            let _ = socket.read_to_end(&mut Vec::new()).await;
        }
        Harm::Page => {
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").await;
            let _ = socket.read_to_end(&mut Vec::new()).await;
        }
        Harm::Close => {}
        Harm::Silence => std::future::pending().await,
        Harm::Drip => {
            for byte in SETTINGS.iter().cycle() {
                if socket.write_all(&[*byte]).await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        Harm::EndlessHeaders => endless_headers(socket, &taken).await,
        _ => {
            let Ok(mut connection) = h2::server::handshake(socket).await else {
                return;
            };
            while let Some(Ok((_, respond))) = connection.accept().await {
                tokio::spawn(answer(respond, harm, Arc::clone(&taken)));
            }
        }
    }
}

/// HEADERS for the first stream, and then CONTINUATION without end.
async fn endless_headers(mut socket: TcpStream, taken: &AtomicUsize) {
    const LENGTH: usize = 16_384;
    let frame = |kind: u8| {
        // 0x00: a literal field without indexing; its name and value are a byte each.
        let mut frame = vec![0, 0x40, 0, kind, 0, 0, 0, 0, 1];
        frame.extend([0x00, 1, b'a', 1, b'b'].iter().cycle().take(LENGTH));
        frame
    };
    if socket.write_all(&SETTINGS).await.is_err() {
        return;
    }
    // The stream has to be there first.
    tokio::time::sleep(Duration::from_millis(100)).await;
    if socket.write_all(&frame(1)).await.is_err() {
        return;
    }
    while socket.write_all(&frame(9)).await.is_ok() {
        taken.fetch_add(LENGTH, Ordering::SeqCst);
    }
}

async fn answer(mut respond: SendResponse<Bytes>, harm: Harm, taken: Arc<AtomicUsize>) {
    let head = || Response::builder().header("content-type", "application/grpc").body(()).expect("a head");
    match harm {
        Harm::Reset => respond.send_reset(h2::Reason::INTERNAL_ERROR),
        Harm::LongStatus => {
            let mut head = head();
            head.headers_mut().insert("grpc-status", HeaderValue::from_static("14"));
            let text = HeaderValue::from_str(&"x".repeat(1 << 20)).expect("a value");
            head.headers_mut().insert("grpc-message", text);
            let _ = respond.send_response(head, true);
        }
        Harm::NoBody => {
            let Ok(_body) = respond.send_response(head(), false) else { return };
            std::future::pending().await
        }
        Harm::ManyTrailers => {
            let Ok(mut body) = respond.send_response(head(), false) else { return };
            let _ = body.send_trailers(many());
        }
        Harm::Nonsense => {
            let Ok(mut body) = respond.send_response(head(), false) else { return };
            let _ = body.send_data(vec![0, 0, 0, 0, 4, 0x0a, 0xff, 0xff, 0xff].into(), false);
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", HeaderValue::from_static("0"));
            let _ = body.send_trailers(trailers);
        }
        _ => {
            let Ok(body) = respond.send_response(head(), false) else { return };
            pour(body, harm, &taken).await;
        }
    }
}

/// A head for 100 MB and then as much of them as is taken, or empty messages without end.
async fn pour(mut body: h2::SendStream<Bytes>, harm: Harm, taken: &AtomicUsize) {
    const LARGE: u32 = 100 << 20;
    if harm == Harm::Large {
        let mut head = vec![0];
        head.extend(LARGE.to_be_bytes());
        let _ = body.send_data(head.into(), false);
    }
    let part = Bytes::from(vec![0_u8; 20_000]);
    loop {
        body.reserve_capacity(part.len());
        let granted = std::future::poll_fn(|context| body.poll_capacity(context)).await;
        let Some(Ok(room)) = granted else { return };
        let room = room.min(part.len()) / 5 * 5;
        if room == 0 {
            tokio::task::yield_now().await;
            continue;
        }
        if body.send_data(part.slice(..room), false).is_err() {
            return;
        }
        taken.fetch_add(room, Ordering::SeqCst);
    }
}

fn many() -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    for number in 0..10_000 {
        let name = HeaderName::try_from(format!("x-{number}")).expect("a name");
        trailers.insert(name, HeaderValue::from_static("a value of some length, to make it worse"));
    }
    trailers
}
