//! What goes on at a connection: calls that are at work, and answers and streams that are being read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::sleep;

/// How often a connection is looked at that is about to be sent away.
const LOOK: Duration = Duration::from_millis(2);

/// Counts what goes on. Nobody is woken by it: it is looked at now and then.
#[derive(Default)]
pub struct Activity {
    /// All requests so far.
    begun: AtomicU64,
    /// Those without an answer.
    at_work: AtomicUsize,
    /// Those whose answer is not read to its end, and those without one.
    open: AtomicUsize,
}

/// A request, until it is dropped.
pub struct Request {
    activity: Arc<Activity>,
    answered: bool,
}

impl Activity {
    /// A request begins.
    pub fn begin(activity: &Arc<Activity>) -> Request {
        activity.begun.fetch_add(1, Ordering::Relaxed);
        activity.at_work.fetch_add(1, Ordering::Relaxed);
        activity.open.fetch_add(1, Ordering::Relaxed);
        Request { activity: Arc::clone(activity), answered: false }
    }

    /// Waits for a moment in which no call is at work; streams do not count.
    pub async fn pause(&self) {
        while self.at_work.load(Ordering::Relaxed) > 0 {
            sleep(LOOK).await;
        }
    }

    /// Waits until nothing has gone on for so long, or up to twice that.
    pub async fn idle(&self, patience: Duration) {
        let mut seen = None;
        loop {
            let begun = self.begun.load(Ordering::Relaxed);
            if self.open.load(Ordering::Relaxed) > 0 {
                seen = None;
            } else if seen == Some(begun) {
                return;
            } else {
                seen = Some(begun);
            }
            sleep(patience).await;
        }
    }
}

impl Request {
    /// It has its answer, which may be a stream.
    pub fn answered(&mut self) {
        if !std::mem::replace(&mut self.answered, true) {
            self.activity.at_work.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.answered();
        self.activity.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{Instant, timeout};

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_stream_is_no_call_at_work_and_no_idleness() {
        let activity = Arc::new(Activity::default());
        let mut stream = Activity::begin(&activity);
        assert!(timeout(MINUTE, activity.pause()).await.is_err(), "not answered yet");
        stream.answered();
        timeout(MINUTE, activity.pause()).await.expect("the stream runs");
        assert!(timeout(10 * MINUTE, activity.idle(MINUTE)).await.is_err());
        drop(stream);
        timeout(2 * MINUTE, activity.idle(MINUTE)).await.expect("nothing goes on");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_between_two_looks_is_seen() {
        let activity = Arc::new(Activity::default());
        let begun = Instant::now();
        let calls = async {
            sleep(MINUTE / 2).await;
            drop(Activity::begin(&activity));
        };
        tokio::join!(calls, activity.idle(MINUTE));
        assert_eq!(begun.elapsed(), 2 * MINUTE);
    }
}
