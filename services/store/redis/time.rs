//! Redis' time without asking for it: every answer of a script tells it, and in between the process' own clock runs on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rules::Millis;
use tokio::time::Instant;

use super::config::Endpoint;

/// What was heard counts for at least so long, and for twice as long at most: clocks drift.
const WINDOW: Duration = Duration::from_secs(10);
/// If nothing was heard for so long, somebody has to ask.
const FRESH: Duration = Duration::from_secs(5);
/// What a server told has passed, also where the others are taken to be behind it; but where their clocks differ by more
/// than this, ms, its clock does not carry the others' tables along.
const SLACK: u64 = 50;

/// The time of the servers of one installation.
pub(super) struct StoreTime {
    origin: Instant,
    servers: Mutex<HashMap<Endpoint, Server>>,
    /// The greatest time that was told, and the greatest that was given out; ms.
    told: AtomicU64,
    latest: AtomicU64,
}

/// How far a server's clock is ahead of ours, in µs since `origin`. A time that was told has passed by the moment at
/// which it is heard, so that each telling is a lower bound, and the greatest of them the best.
struct Server {
    ahead: u64,
    ahead_before: u64,
    window: Instant,
    heard: Instant,
}

impl StoreTime {
    pub(super) fn new() -> StoreTime {
        StoreTime {
            origin: Instant::now(),
            servers: Mutex::default(),
            told: AtomicU64::new(0),
            latest: AtomicU64::new(0),
        }
    }

    /// A server has told its time, µs since the epoch.
    pub(super) fn heard(&self, server: &Endpoint, told: u64) {
        let now = Instant::now();
        self.told.fetch_max(told / 1000, Ordering::AcqRel);
        let ahead = told.saturating_sub(self.since_origin(now));
        let mut servers = self.lock();
        let Some(known) = servers.get_mut(server) else {
            let fresh = Server { ahead, ahead_before: ahead, window: now, heard: now };
            servers.insert(server.clone(), fresh);
            return;
        };
        if now - known.heard > WINDOW {
            (known.ahead, known.ahead_before, known.window) = (ahead, ahead, now);
        } else if now - known.window > WINDOW {
            (known.ahead_before, known.ahead, known.window) = (known.ahead, ahead, now);
        } else {
            known.ahead = known.ahead.max(ahead);
        }
        known.heard = now;
    }

    /// A server has told that its time, µs since the epoch, is well before what it was taken to be: its clock was set
    /// back, or it is another server in that place. From now on that counts, also where it is less than what was given
    /// out before.
    pub(super) fn set_back(&self, server: &Endpoint, told: u64) {
        let now = Instant::now();
        let ahead = told.saturating_sub(self.since_origin(now));
        let fresh = Server { ahead, ahead_before: ahead, window: now, heard: now };
        self.lock().insert(server.clone(), fresh);
        self.told.store(told / 1000, Ordering::Release);
        self.latest.store(told / 1000, Ordering::Release);
    }

    /// The time by the server that is behind all others, never less than it was before, and not before what was told;
    /// `None` if nobody has told it lately.
    pub(super) fn now(&self) -> Option<Millis> {
        let now = Instant::now();
        let servers = self.lock();
        let fresh = servers.values().filter(|server| now - server.heard < FRESH);
        let ahead = fresh.map(|server| server.ahead.max(server.ahead_before)).min()?;
        drop(servers);
        let least = (self.since_origin(now) + ahead) / 1000;
        let millis = self.told.load(Ordering::Acquire).clamp(least, least + SLACK);
        Some(Millis(self.latest.fetch_max(millis, Ordering::AcqRel).max(millis)))
    }

    fn since_origin(&self, now: Instant) -> u64 {
        u64::try_from((now - self.origin).as_micros()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Endpoint, Server>> {
        // Single numbers, each right by itself.
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1_790_000_000_000_000;

    fn server(port: u16) -> Endpoint {
        Endpoint { host: "a".to_owned(), port }
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_runs_on_between_answers_and_never_back() {
        let time = StoreTime::new();
        assert_eq!(time.now(), None);
        time.heard(&server(1), START);
        tokio::time::advance(Duration::from_millis(20)).await;
        assert_eq!(time.now(), Some(Millis(START / 1000 + 20)));
        // An answer that took 15 ms to come tells a time that is 15 ms old.
        time.heard(&server(1), START + 5_000);
        assert_eq!(time.now(), Some(Millis(START / 1000 + 20)));
        tokio::time::advance(FRESH).await;
        assert_eq!(time.now(), None, "nobody has told it for too long");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_told_that_he_is_ahead_believes_it() {
        let time = StoreTime::new();
        time.heard(&server(1), START + 2_000_000);
        assert_eq!(time.now(), Some(Millis(START / 1000 + 2_000)));
        time.set_back(&server(1), START);
        tokio::time::advance(Duration::from_millis(5)).await;
        assert_eq!(time.now(), Some(Millis(START / 1000 + 5)));
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_clock_of_several_counts() {
        let time = StoreTime::new();
        time.heard(&server(1), START + 300_000);
        time.heard(&server(2), START);
        assert_eq!(time.now(), Some(Millis(START / 1000 + SLACK)));
        time.heard(&server(2), START + 10_000);
        assert_eq!(time.now(), Some(Millis(START / 1000 + 10 + SLACK)));
        // A server that is gone is forgotten.
        tokio::time::advance(FRESH).await;
        time.heard(&server(1), START + 300_000 + 5_000_000);
        assert_eq!(time.now(), Some(Millis(START / 1000 + 5_300)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_was_set_back_is_believed_after_a_while() {
        let time = StoreTime::new();
        for second in 0..60 {
            let told = if second < 20 { START + 2_000_000 } else { START };
            time.heard(&server(1), told + second * 1_000_000);
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        time.heard(&server(1), START + 60_000_000);
        assert_eq!(time.now(), Some(Millis(START / 1000 + 60_000)));
    }
}
