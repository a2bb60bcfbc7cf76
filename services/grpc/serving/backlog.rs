//! Requests that wait: they were received and not looked at yet, or their answers are not taken. On the wire one is a few
//! bytes, in memory it is thousands, so whoever sends many at once is read from no faster than they are looked at, and
//! whoever takes no answers is not read from for long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use tokio::time::sleep;

/// So many of one connection may wait when more is read from it.
const OF_A_CONNECTION: usize = 1_024;
/// So many in all; beyond it a connection is read from when none of its own waits, and a little only.
const OF_ALL: usize = 4_096;

/// All that wait at a server.
#[derive(Default)]
pub struct Backlog(AtomicUsize);

/// Those of one connection.
pub struct Queue {
    all: Arc<Backlog>,
    waiting: AtomicUsize,
    /// Those among them that were looked at while nobody took answers.
    untaken: AtomicUsize,
    /// Whether the other side takes nothing at the moment.
    stuck: AtomicBool,
    /// What it has taken, in bytes.
    taken: AtomicU64,
    reader: AtomicWaker,
}

/// A request that waits, until it is dropped.
pub struct Waiting(Arc<Queue>);

/// How much may be read at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// As always.
    Usual,
    /// A little: there is a crowd.
    Little,
}

impl Queue {
    /// Of a connection at this server.
    pub fn new(all: Arc<Backlog>) -> Arc<Queue> {
        Arc::new(Queue {
            all,
            waiting: AtomicUsize::new(0),
            untaken: AtomicUsize::new(0),
            stuck: AtomicBool::new(false),
            taken: AtomicU64::new(0),
            reader: AtomicWaker::new(),
        })
    }

    /// A request was received.
    pub fn enter(queue: &Arc<Queue>) -> Waiting {
        queue.all.0.fetch_add(1, Ordering::Relaxed);
        queue.waiting.fetch_add(1, Ordering::SeqCst);
        Waiting(Arc::clone(queue))
    }

    fn leave(&self, count: usize) {
        self.all.0.fetch_sub(count, Ordering::Relaxed);
        if self.waiting.fetch_sub(count, Ordering::SeqCst) == count {
            self.reader.wake();
        }
    }

    /// Waits until the connection may be read from.
    pub fn poll_turn(&self, cx: &Context<'_>) -> Poll<Turn> {
        if !self.stuck.load(Ordering::SeqCst) {
            let untaken = self.untaken.swap(0, Ordering::SeqCst);
            if untaken > 0 {
                self.leave(untaken);
            }
        }
        let turn = self.turn();
        if turn.is_ready() {
            return turn;
        }
        self.reader.register(cx.waker());
        self.turn()
    }

    fn turn(&self) -> Poll<Turn> {
        let crowded = self.all.0.load(Ordering::Relaxed) > OF_ALL;
        let (most, turn) = if crowded { (0, Turn::Little) } else { (OF_A_CONNECTION, Turn::Usual) };
        if self.waiting.load(Ordering::SeqCst) > most { Poll::Pending } else { Poll::Ready(turn) }
    }

    /// So many bytes were taken; nothing if the other side takes no more for now.
    pub fn wrote(&self, bytes: Option<usize>, waker: &Waker) {
        match bytes {
            None => self.stuck.store(true, Ordering::SeqCst),
            Some(bytes) => {
                self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
                // Reading comes before writing, and has to be tried once more.
                if self.stuck.swap(false, Ordering::SeqCst) {
                    waker.wake_by_ref();
                }
            }
        }
    }

    /// Waits until the other side has taken nothing for so long, or up to twice that, although there is something for it.
    pub async fn deaf(&self, patience: Duration) {
        let mut seen = None;
        loop {
            sleep(patience).await;
            let stuck = self.stuck.load(Ordering::SeqCst);
            let now = stuck.then(|| self.taken.load(Ordering::Relaxed));
            if now.is_some() && now == seen {
                return;
            }
            seen = now;
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.0.stuck.load(Ordering::SeqCst) {
            self.0.untaken.fetch_add(1, Ordering::SeqCst);
        } else {
            self.0.leave(1);
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.all.0.fetch_sub(*self.waiting.get_mut(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::task::noop_waker;

    fn turn(queue: &Queue) -> Option<Turn> {
        match queue.poll_turn(&Context::from_waker(&noop_waker())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    fn enter(queue: &Arc<Queue>, count: usize) -> Vec<Waiting> {
        (0..count).map(|_| Queue::enter(queue)).collect()
    }

    #[test]
    fn who_has_many_waiting_is_not_read_from_until_they_are_looked_at() {
        let queue = Queue::new(Arc::default());
        let mut waiting = enter(&queue, OF_A_CONNECTION);
        assert_eq!(turn(&queue), Some(Turn::Usual));
        waiting.extend(enter(&queue, 1));
        assert_eq!(turn(&queue), None);
        drop(waiting);
        assert_eq!(turn(&queue), Some(Turn::Usual));
    }

    #[test]
    fn in_a_crowd_who_has_none_waiting_is_still_read_from() {
        let all = Arc::<Backlog>::default();
        let (crowd, one) = (Queue::new(Arc::clone(&all)), Queue::new(Arc::clone(&all)));
        let many = enter(&crowd, OF_ALL + 1);
        assert_eq!((turn(&crowd), turn(&one)), (None, Some(Turn::Little)));
        let own = Queue::enter(&one);
        assert_eq!(turn(&one), None);
        drop(own);
        assert_eq!(turn(&one), Some(Turn::Little));
        drop(many);
        assert_eq!((turn(&crowd), turn(&one)), (Some(Turn::Usual), Some(Turn::Usual)));
        drop((crowd, one));
        assert_eq!(all.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn answers_that_are_not_taken_wait_until_they_are() {
        let all = Arc::<Backlog>::default();
        let (queue, waker) = (Queue::new(Arc::clone(&all)), noop_waker());
        queue.wrote(None, &waker);
        drop(enter(&queue, OF_A_CONNECTION + 1));
        assert_eq!(turn(&queue), None, "all were looked at");
        // Some of it goes, and then no more: those who read a byte a second are no better.
        queue.wrote(Some(1), &waker);
        queue.wrote(None, &waker);
        assert_eq!(turn(&queue), None);
        queue.wrote(Some(1), &waker);
        assert_eq!(turn(&queue), Some(Turn::Usual));
        queue.wrote(None, &waker);
        drop(enter(&queue, 5));
        drop(queue);
        assert_eq!(all.0.load(Ordering::Relaxed), 0, "they go with their connection");
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_a_little_now_and_then_is_not_deaf() {
        const MINUTE: Duration = Duration::from_secs(60);
        let (queue, waker) = (Queue::new(Arc::default()), noop_waker());
        let within = |patience| tokio::time::timeout(10 * MINUTE, queue.deaf(patience));
        assert!(within(MINUTE).await.is_err(), "there is nothing for it");
        queue.wrote(None, &waker);
        let little = async {
            for _ in 0..100 {
                sleep(MINUTE / 2).await;
                queue.wrote(Some(1), &waker);
                queue.wrote(None, &waker);
            }
        };
        tokio::select! {
            () = queue.deaf(MINUTE) => panic!("it takes something"),
            () = little => {}
        }
        assert!(within(MINUTE).await.is_ok());
    }
}
