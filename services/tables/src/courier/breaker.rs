//! Whether a wallet is worth asking: one that fails many times in a row is left alone for a while.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// So many failures in a row open it.
const FAILURES: u32 = 5;
/// How long it stays open at first, and at most.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(15);

/// Open while the wallet is left alone. After that one call goes through: if it fails too, the pause is twice as long.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    pause: Duration,
    open_until: Option<Instant>,
    /// Since it opened a call went through.
    tried: bool,
}

impl Breaker {
    fn state(&self) -> MutexGuard<'_, State> {
        // Numbers: nothing to be left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a call would go through. Nothing changes.
    pub(super) fn is_open(&self) -> bool {
        self.state().open_until.is_some_and(|until| Instant::now() < until)
    }

    /// Whether this call may go through. The first one after the pause closes the door behind it until its reply is there.
    pub(super) fn admits(&self) -> bool {
        let mut state = self.state();
        match state.open_until {
            Some(until) if Instant::now() < until => false,
            Some(_) => {
                state.open_until = Some(Instant::now() + state.pause);
                state.tried = true;
                true
            }
            None => true,
        }
    }

    /// A reply was there, whatever it said. Says whether it was open until now.
    pub(super) fn answered(&self) -> bool {
        std::mem::take(&mut *self.state()).open_until.is_some()
    }

    /// There was none. Says whether it has opened with that; one that was tried in vain was never shut.
    pub(super) fn failed(&self) -> bool {
        let mut state = self.state();
        let was_shut = state.open_until.is_none();
        state.failures = state.failures.saturating_add(1);
        // Calls that were at work when it opened say nothing of the time since.
        if state.failures >= FAILURES && (state.open_until.is_none() || state.tried) {
            state.tried = false;
            state.pause = if state.pause.is_zero() { FIRST } else { (state.pause * 2).min(LONGEST) };
            state.open_until = Some(Instant::now() + state.pause);
        }
        was_shut && state.open_until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn a_wallet_that_fails_in_a_row_is_left_alone_and_tried_with_one_call() {
        let breaker = Breaker::default();
        for _ in 1..FAILURES {
            breaker.failed();
            assert!(breaker.admits());
        }
        breaker.failed();
        assert!(breaker.is_open() && !breaker.admits());
        advance(FIRST).await;
        assert!(!breaker.is_open());
        assert!(breaker.admits(), "one call");
        assert!(!breaker.admits(), "and no other before its reply");
        breaker.failed();
        advance(FIRST).await;
        assert!(!breaker.admits(), "the pause is longer now");
        advance(FIRST).await;
        assert!(breaker.admits());
        breaker.answered();
        assert!(breaker.admits() && breaker.admits());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_failed_together_count_once() {
        let breaker = Breaker::default();
        for _ in 0..FAILURES + 30 {
            breaker.failed();
        }
        advance(FIRST).await;
        assert!(breaker.admits(), "it has not been tried since");
    }

    #[tokio::test(start_paused = true)]
    async fn the_pause_has_a_bound() {
        let breaker = Breaker::default();
        for _ in 0..100 {
            while !breaker.admits() {
                advance(FIRST).await;
            }
            breaker.failed();
        }
        assert!(breaker.is_open());
        advance(LONGEST - Duration::from_millis(1)).await;
        assert!(!breaker.admits(), "it has grown so far");
        advance(Duration::from_millis(1)).await;
        assert!(breaker.admits());
    }
}
