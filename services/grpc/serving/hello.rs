//! A connection that listens for its first words: HTTP/2 begins with 24 bytes, and whoever never sends them holds a place
//! for nothing.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The length of `PRI * HTTP/2.0`, two line ends, `SM`, two line ends.
const PREFACE: usize = 24;

/// Whether the first words have been heard.
#[derive(Clone, Default)]
pub struct Heard(Arc<AtomicBool>);

impl Heard {
    /// Whether they have.
    pub fn is_true(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The connection.
pub struct Hello<T> {
    io: T,
    missing: usize,
    heard: Heard,
}

impl<T> Hello<T> {
    /// Listens to this one.
    pub fn new(io: T, heard: Heard) -> Hello<T> {
        Hello { io, missing: PREFACE, heard }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Hello<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = ready!(Pin::new(&mut self.io).poll_read(cx, into));
        if self.missing > 0 {
            self.missing = self.missing.saturating_sub(into.filled().len() - before);
            if self.missing == 0 {
                self.heard.0.store(true, Ordering::Relaxed);
            }
        }
        Poll::Ready(read)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Hello<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
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

    #[tokio::test]
    async fn a_part_of_the_first_words_is_not_enough() {
        let (mut near, far) = tokio::io::duplex(64);
        let heard = Heard::default();
        let mut hello = Hello::new(far, heard.clone());
        let mut read = [0; 64];
        near.write_all(&[b'P'; PREFACE - 1]).await.unwrap();
        assert_eq!(hello.read(&mut read).await.unwrap(), PREFACE - 1);
        assert!(!heard.is_true());
        near.write_all(b"RI").await.unwrap();
        assert_eq!(hello.read(&mut read).await.unwrap(), 2);
        assert!(heard.is_true());
    }
}
