//! The last moment of a connection. What comes to a closed socket, or lies unread in it, makes TCP break off: the other side
//! is told of a broken connection, and may never look at what was sent to it last, the go-away of its streams. So it is
//! closed for writing first, and what still comes is read and thrown away until the other side has closed its end.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// So long the other side's end is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// And so much of what it still says is read, in bytes: whoever goes on for longer is cut off.
const MOST: usize = 64 * 1024;
/// So much of it at once.
const PART: usize = 8 * 1024;

/// A connection that is closed from both sides.
pub struct Farewell<T> {
    io: T,
    /// Since it was closed for writing.
    closed: Option<Closed>,
}

struct Closed {
    until: Pin<Box<Sleep>>,
    read: usize,
}

impl<T> Farewell<T> {
    /// This one.
    pub const fn new(io: T) -> Farewell<T> {
        Farewell { io, closed: None }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Farewell<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, into)
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Farewell<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Farewell { io, closed } = self.get_mut();
        let closed = match closed {
            Some(closed) => closed,
            None => {
                ready!(Pin::new(&mut *io).poll_shutdown(cx))?;
                closed.insert(Closed { until: Box::pin(sleep(PATIENCE)), read: 0 })
            }
        };
        while closed.read < MOST {
            let mut part = [0; PART];
            let mut part = ReadBuf::new(&mut part);
            match Pin::new(&mut *io).poll_read(cx, &mut part) {
                // The other side's end, or a broken connection: nothing is lost any more.
                Poll::Ready(Ok(())) if part.filled().is_empty() => return Poll::Ready(Ok(())),
                Poll::Ready(Err(_)) => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(())) => closed.read += part.filled().len(),
                Poll::Pending => return closed.until.as_mut().poll(cx).map(Ok),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn it_waits_for_the_other_side_for_a_while() {
        let (mut near, far) = tokio::io::duplex(1_000);
        let mut far = Farewell::new(far);
        far.write_all(b"the last words").await.unwrap();
        let closing = tokio::spawn(async move { far.shutdown().await });
        near.write_all(&[7; 5_000]).await.unwrap();
        assert!(!closing.is_finished(), "the other side may say more");
        let mut heard = Vec::new();
        near.read_to_end(&mut heard).await.unwrap();
        assert_eq!(heard, b"the last words");
        drop(near);
        closing.await.unwrap().unwrap();

        let (near, far) = tokio::io::duplex(1_000);
        let began = Instant::now();
        Farewell::new(far).shutdown().await.unwrap();
        assert_eq!(began.elapsed().as_secs(), PATIENCE.as_secs(), "it is silent and does not go");
        drop(near);
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_stop_is_cut_off() {
        let (mut near, far) = tokio::io::duplex(1_000);
        let talking = tokio::spawn(async move { near.write_all(&vec![7; 2 * MOST]).await });
        let mut far = Farewell::new(far);
        far.shutdown().await.unwrap();
        drop(far);
        talking.await.unwrap().unwrap_err();
    }
}
