//! Connections that the wallet can cut from inside a call, as a fault of the network would.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::stream::{Stream, unfold};
use futures_util::task::AtomicWaker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tonic::transport::server::Connected;

/// The pause after a connection could not be taken: the system may be out of file descriptors.
const BREATH: Duration = Duration::from_millis(100);

/// Cuts a connection. Every request has the one of its connection among its extensions.
#[derive(Debug, Default)]
pub struct Scissors {
    cut: AtomicBool,
    waker: AtomicWaker,
}

impl Scissors {
    /// Cuts it: all calls on it are lost.
    pub fn cut(&self) {
        self.cut.store(true, Ordering::Release);
        self.waker.wake();
    }
}

/// A connection.
pub struct Line {
    stream: TcpStream,
    scissors: Arc<Scissors>,
}

impl Line {
    /// Whether it still holds. Whoever asks is woken when it is cut.
    fn holds(&self, context: &Context<'_>) -> io::Result<()> {
        self.scissors.waker.register(context.waker());
        if self.scissors.cut.load(Ordering::Acquire) {
            return Err(ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}

/// The connections that come to this listener, for ever.
pub fn lines(listener: TcpListener) -> impl Stream<Item = io::Result<Line>> {
    unfold(listener, async |listener| {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    // Without it calls are only slower.
                    let _ = stream.set_nodelay(true);
                    return Some((Ok(Line { stream, scissors: Arc::default() }), listener));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
    })
}

impl Connected for Line {
    type ConnectInfo = Arc<Scissors>;

    fn connect_info(&self) -> Arc<Scissors> {
        Arc::clone(&self.scissors)
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.holds(context)?;
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.holds(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
