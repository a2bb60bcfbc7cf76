//! How late tasks run that wanted to run at a moment: what everything in the process is late by, clocks too. The lines at the
//! workers, in which ready tasks wait, are not told by the runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// So often a task wants to run.
const EVERY: Duration = Duration::from_millis(100);
/// The worst is told of so many times: of the last ten seconds at least.
const TOLD: u64 = 100;

/// The worst of late, µs.
#[derive(Default)]
pub struct Lateness {
    /// Since the last hundred were over.
    now: AtomicU64,
    /// Of that hundred.
    before: AtomicU64,
}

impl Lateness {
    /// How late the latest one was, of the last ten to twenty seconds.
    #[must_use]
    pub fn worst(&self) -> Duration {
        let [now, before] = [&self.now, &self.before].map(|late| late.load(Ordering::Relaxed));
        Duration::from_micros(now.max(before))
    }

    fn note(&self, number: u64, late: Duration) {
        if number.is_multiple_of(TOLD) {
            self.before.store(self.now.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        }
        self.now.fetch_max(u64::try_from(late.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// Measures until `stop` becomes true or its sender goes.
pub async fn run(lateness: Arc<Lateness>, mut stop: watch::Receiver<bool>) {
    let work = async {
        for number in 1.. {
            let due = Instant::now() + EVERY;
            sleep_until(due).await;
            lateness.note(number, due.elapsed());
        }
    };
    tokio::select! {
        // An error says that the sender is gone.
        _ = stop.wait_for(|stop| *stop) => {}
        () = work => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_is_told_for_a_while_and_then_forgotten() {
        let lateness = Lateness::default();
        lateness.note(1, Duration::from_millis(300));
        lateness.note(2, Duration::from_millis(1));
        assert_eq!(lateness.worst(), Duration::from_millis(300));
        lateness.note(TOLD, Duration::from_millis(2));
        assert_eq!(lateness.worst(), Duration::from_millis(300));
        lateness.note(2 * TOLD, Duration::from_millis(1));
        assert_eq!(lateness.worst(), Duration::from_millis(2));
    }

    #[tokio::test]
    async fn a_thread_that_is_held_up_makes_tasks_late() {
        let (stop, stopped) = watch::channel(false);
        let lateness = Arc::new(Lateness::default());
        let measuring = tokio::spawn(run(Arc::clone(&lateness), stopped));
        tokio::task::yield_now().await;
        std::thread::sleep(Duration::from_millis(400));
        while lateness.worst() < Duration::from_millis(250) {
            tokio::task::yield_now().await;
        }
        stop.send_replace(true);
        measuring.await.expect("it ends");
    }
}
