//! A connection, from its first words to its end. It ends when its caller ends it; when it is silent, deaf, idle or old; or with
//! the server. But for a silent or a deaf one it is told so (GOAWAY), after which calls that are on their way are still answered.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rand::TryRng;
use rand::rngs::SysRng;
use tables::time::{Clock, SystemClock};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_rustls::server::TlsStream;

use super::Connections;
use super::activity::Activity;
use super::backlog::{Backlog, Queue};
use super::entrance::{Entrance, Served};
use super::farewell::Farewell;
use super::hello::{Heard, Hello};
use super::leaving::is_true;
use super::paced::{Paced, Turns};
use super::peer::{Peer, PeerIdentity};
use super::places::Place;
use super::tls::Tls;
use crate::grpc::layers::counting::Counting;

/// How often a connection is asked whether it is alive, and how long it may take to say so.
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_PATIENCE: Duration = Duration::from_secs(20);
/// The headers of a request, decoded, in bytes.
const HEADERS: u32 = 16 * 1024;
/// A frame, in bytes: the least that the protocol allows.
const FRAME: u32 = 16 * 1024;
/// What is made for a stream before it is sent, in bytes: a frame. A caller may have thousands of streams, and read none.
const SEND_BUFFER: usize = 16 * 1024;
/// Requests that their callers take back before they are looked at, and streams that break the protocol, those among them whose
/// messages come when they have been refused: with more the connection is ended.
const TAKEN_BACK: usize = 64;
const BROKEN: usize = 16_384;
/// A connection that was sent away and on which nothing goes on is closed after so long, whether it has understood or not.
const DEAF: Duration = Duration::from_secs(2);

/// How HTTP/2 is spoken.
pub struct Protocol(http2::Builder<TokioExecutor>);

impl Protocol {
    /// With bounds on everything that a caller can make large.
    pub fn of(settings: &Connections) -> Protocol {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .keep_alive_interval(KEEPALIVE)
            .keep_alive_timeout(KEEPALIVE_PATIENCE)
            .max_concurrent_streams(settings.streams)
            .max_header_list_size(HEADERS)
            .max_frame_size(FRAME)
            .initial_stream_window_size(settings.stream_window)
            .initial_connection_window_size(settings.window)
            .max_send_buf_size(SEND_BUFFER)
            .max_pending_accept_reset_streams(TAKEN_BACK)
            .max_local_error_reset_streams(BROKEN);
        Protocol(builder)
    }
}

/// Makes a conversation of a socket.
pub struct Connector<S> {
    /// What is served.
    pub service: S,
    /// How it is kept from others' eyes, if it is.
    pub tls: Option<Arc<Tls>>,
    /// What waits to be looked at.
    pub backlog: Arc<Backlog>,
    /// How it is spoken.
    pub protocol: Protocol,
    /// What a connection may do.
    pub settings: Connections,
    /// True when the server is left.
    pub leaving: watch::Receiver<bool>,
    /// Who counts connections.
    pub counting: Option<Arc<dyn Counting>>,
}

/// Why a connection ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// The other side ended it, or broke the protocol.
    Caller,
    /// TLS was not agreed on.
    Unsafe,
    /// It never said that it speaks HTTP/2.
    Silent,
    /// It took nothing of what there was for it.
    Deaf,
    /// Nothing went on.
    Idle,
    /// It was old, or the certificate that was shown has ended.
    Aged,
    /// The server is left.
    Left,
}

impl End {
    const fn word(self) -> &'static str {
        match self {
            End::Caller => "caller",
            End::Unsafe => "unsafe",
            End::Silent => "silent",
            End::Deaf => "deaf",
            End::Idle => "idle",
            End::Aged => "aged",
            End::Left => "left",
        }
    }
}

impl<S: Served> Connector<S> {
    /// Serves a connection to its end.
    pub async fn serve(&self, socket: TcpStream, address: SocketAddr, place: Place) {
        // Without it answers wait for each other; a socket that cannot do it has gone.
        if socket.set_nodelay(true).is_err() {
            return;
        }
        if let Some(counting) = &self.counting {
            counting.connection_begun();
        }
        let end = match &self.tls {
            None => self.converse(socket, address, None).await,
            Some(tls) => match self.shake_hands(tls, socket, address).await {
                Ok((stream, certificate)) => self.converse(stream, address, certificate).await,
                Err(end) => end,
            },
        };
        if let Some(counting) = &self.counting {
            counting.connection_ended(end.word());
        }
        tracing::debug!(%address, end = end.word(), "a connection has ended");
        drop(place);
    }

    async fn shake_hands(
        &self,
        tls: &Tls,
        socket: TcpStream,
        address: SocketAddr,
    ) -> Result<(TlsStream<TcpStream>, Option<Arc<PeerIdentity>>), End> {
        let mut leaving = self.leaving.clone();
        let agreed = tokio::select! {
            agreed = timeout(self.settings.hello, tls.accept(socket)) => agreed,
            () = is_true(&mut leaving) => return Err(End::Left),
        };
        match agreed {
            Ok(Ok(agreed)) => Ok(agreed),
            Ok(Err(error)) => {
                tracing::debug!(%address, %error, "TLS was not agreed on");
                Err(End::Unsafe)
            }
            Err(_) => Err(End::Silent),
        }
    }

    async fn converse<T>(&self, io: T, address: SocketAddr, certificate: Option<Arc<PeerIdentity>>) -> End
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (old, ageing) = watch::channel(false);
        let (heard, activity) = (Heard::default(), Arc::new(Activity::default()));
        let good = certificate.as_ref().map(|certificate| left(certificate.ends));
        let peer = Peer::new(address, certificate, ageing);
        let (queue, turns) = (Queue::new(Arc::clone(&self.backlog)), Turns::default());
        let entrance = Entrance {
            service: self.service.clone(),
            peer,
            activity: Arc::clone(&activity),
            queue: Arc::clone(&queue),
        };
        let io = Hello::new(Farewell::new(io), heard.clone());
        let io = TokioIo::new(Paced::new(io, Arc::clone(&queue), turns.clone()));
        let mut conversation = pin!(self.protocol.0.serve_connection(io, entrance));
        let end = tokio::select! {
            ended = in_turns(conversation.as_mut(), &turns) => {
                if let Err(error) = ended {
                    tracing::debug!(%address, %error, "a connection broke");
                }
                return End::Caller;
            }
            end = self.end(&heard, &activity, good) => end,
            () = queue.deaf(self.settings.deaf) => End::Deaf,
        };
        // Who has not spoken understands no GOAWAY either, and who takes nothing never hears it.
        if !heard.is_true() || end == End::Deaf {
            return end;
        }
        // First the connection and then its streams: whoever is sent away from a stream must not come back on it.
        conversation.as_mut().graceful_shutdown();
        old.send_replace(true);
        tokio::select! {
            // Whatever it says: it is over.
            _ = in_turns(conversation, &turns) => {}
            () = sleep(self.settings.grace) => {}
            () = activity.idle(DEAF) => {}
        }
        end
    }

    /// Waits until the server has to end the connection, and says why. No connection gets older than the certificate that
    /// was shown at its beginning is `good`: whoever is sent away then comes back with a new one.
    async fn end(&self, heard: &Heard, activity: &Activity, good: Option<Duration>) -> End {
        let mut leaving = self.leaving.clone();
        let silent = async {
            sleep(self.settings.hello).await;
            if heard.is_true() {
                std::future::pending::<()>().await;
            }
        };
        let aged = async {
            match self.settings.age.map(about).into_iter().chain(good).min() {
                Some(age) => sleep(age).await,
                None => std::future::pending().await,
            }
            // A call that begins now may meet the GOAWAY on its way, which not all clients take well: the less goes on the
            // better.
            let _ = timeout(self.settings.moment, activity.pause()).await;
        };
        tokio::select! {
            () = is_true(&mut leaving) => End::Left,
            () = silent => End::Silent,
            () = aged => End::Aged,
            () = activity.idle(self.settings.idle) => End::Idle,
        }
    }
}

/// How long it is until this second since the epoch.
fn left(second: u64) -> Duration {
    let now = SystemClock::default().now();
    Duration::from_secs(second).saturating_sub(Duration::from_millis(now.0))
}

/// A connection, polled in turns.
async fn in_turns<F: Future>(mut conversation: Pin<&mut F>, turns: &Turns) -> F::Output {
    poll_fn(|cx| {
        turns.begin();
        conversation.as_mut().poll(cx)
    })
    .await
}

/// A tenth more or less, so that connections that began together do not end together.
fn about(age: Duration) -> Duration {
    // Without random numbers all are as old as they look.
    let random = SysRng.try_next_u32().unwrap_or(u32::MAX / 2);
    let fifth = age / 5;
    age - age / 10 + Duration::from_millis(span(fifth, random))
}

/// A part of a duration in milliseconds: as large a part as the number is of all numbers.
fn span(duration: Duration, random: u32) -> u64 {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).min(u64::from(u32::MAX));
    (millis * u64::from(random)) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_age_is_more_than_a_tenth_off() {
        let hour = Duration::from_secs(3600);
        for _ in 0..1000 {
            let age = about(hour);
            assert!((hour * 9 / 10..=hour * 11 / 10).contains(&age), "{age:?}");
        }
        assert_eq!((span(hour, 0), span(hour, u32::MAX)), (0, 3_599_999));
        assert!(about(Duration::from_millis(3)) <= Duration::from_millis(4));
    }
}
