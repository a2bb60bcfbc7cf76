//! A connection that is read from in turns, so that what was received is looked at and answered in between, and that notices
//! when the other side takes nothing.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::backlog::{Queue, Turn};

/// So much is read in a turn, in bytes: two thousand requests at the most. Of callers with more to say, the headers of some
/// requests are looked at before their messages have come.
const USUAL: usize = 32 * 1024;
/// And so much when there is a crowd.
const LITTLE: usize = 512;

/// The connection.
pub struct Paced<T> {
    io: T,
    queue: Arc<Queue>,
    /// Whether too many have waited.
    held: bool,
    /// What is left of the turn.
    left: Turns,
}

/// The turns of a connection. Whoever polls it says when one begins: within one poll HTTP/2 reads as long as there is
/// something, and takes up requests only then.
#[derive(Clone, Default)]
pub struct Turns(Arc<AtomicUsize>);

impl Turns {
    /// One begins.
    pub fn begin(&self) {
        self.0.store(USUAL, Ordering::Relaxed);
    }

    fn left(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn leave(&self, left: usize) {
        self.0.store(left, Ordering::Relaxed);
    }
}

impl<T> Paced<T> {
    /// This one, whose requests wait here.
    pub fn new(io: T, queue: Arc<Queue>, turns: Turns) -> Paced<T> {
        Paced { io, queue, held: false, left: turns }
    }

    fn wrote(&self, cx: &Context<'_>, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &wrote {
            Poll::Pending => self.queue.wrote(None, cx.waker()),
            Poll::Ready(Ok(bytes)) => self.queue.wrote(Some(*bytes), cx.waker()),
            Poll::Ready(Err(_)) => {}
        }
        wrote
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Paced<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.queue.poll_turn(cx) {
            // First what has been looked at is answered.
            Poll::Ready(_) if std::mem::take(&mut self.held) => self.left.leave(0),
            Poll::Ready(Turn::Usual) => {}
            Poll::Ready(Turn::Little) => self.left.leave(self.left.left().min(LITTLE)),
            Poll::Pending => {
                self.held = true;
                return Poll::Pending;
            }
        }
        let left = self.left.left();
        if left == 0 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let most = left.min(into.remaining());
        let mut turn = ReadBuf::new(into.initialize_unfilled_to(most));
        let read = Pin::new(&mut self.io).poll_read(cx, &mut turn);
        let bytes = turn.filled().len();
        into.advance(bytes);
        self.left.leave(left - bytes);
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Paced<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.wrote(cx, wrote)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // TLS takes what it is given, and only here it shows whether it gets rid of it.
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        self.wrote(cx, flushed.map_ok(|()| 0)).map_ok(|_| ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.io).poll_write_vectored(cx, slices);
        self.wrote(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::timeout;

    /// More than goes into the pipe that the tests write to.
    const MUCH: usize = 100_000;

    /// What is read at the first attempt.
    async fn read<T: AsyncRead + Unpin>(paced: &mut Paced<T>) -> Option<usize> {
        let mut into = vec![0; MUCH];
        let mut into = ReadBuf::new(&mut into);
        let read = poll_fn(|cx| Poll::Ready(Pin::new(&mut *paced).poll_read(cx, &mut into).is_ready())).await;
        read.then(|| into.filled().len())
    }

    #[tokio::test]
    async fn it_is_read_in_turns_and_not_while_too_many_wait() {
        let (mut near, far) = tokio::io::duplex(2 * MUCH);
        let (queue, turns) = (Queue::new(Arc::default()), Turns::default());
        let mut paced = Paced::new(far, Arc::clone(&queue), turns.clone());
        near.write_all(&vec![7; MUCH]).await.unwrap();
        turns.begin();
        assert_eq!(read(&mut paced).await, Some(USUAL), "one turn");
        assert_eq!(read(&mut paced).await, None, "and no more in it");
        let waiting: Vec<_> = (0..2_000).map(|_| Queue::enter(&queue)).collect();
        turns.begin();
        assert_eq!(read(&mut paced).await, None, "too many wait");
        drop(waiting);
        turns.begin();
        assert_eq!(read(&mut paced).await, None, "first comes writing");
        turns.begin();
        assert_eq!(read(&mut paced).await, Some(USUAL));
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_is_noticed() {
        let (mut near, far) = tokio::io::duplex(1_000);
        let queue = Queue::new(Arc::default());
        let mut paced = Paced::new(far, Arc::clone(&queue), Turns::default());
        let (minute, bytes) = (Duration::from_secs(60), [7; MUCH]);
        let mut deaf = std::pin::pin!(queue.deaf(minute));
        assert!(timeout(10 * minute, deaf.as_mut()).await.is_err(), "there is nothing to be taken");
        let writing = tokio::spawn(async move { paced.write_all(&bytes).await });
        timeout(10 * minute, deaf).await.expect("it takes nothing");
        near.read_exact(&mut [0; MUCH]).await.unwrap();
        writing.await.unwrap().unwrap();
    }
}
