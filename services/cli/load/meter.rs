//! What a run measures while it goes: calls, how long they take, what goes wrong, and how long nothing goes on.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::time::Instant;
use tonic::Status;
use tonic_types::StatusExt;

/// The longest time that is told apart from longer ones, in µs.
const LONGEST: u64 = 600_000_000;
/// How often the hands are counted where a run ends after so many.
const LOOK: Duration = Duration::from_millis(50);

/// What is measured.
pub struct Meter(Mutex<All>);

struct All {
    counts: Counts,
    rest: Rest,
}

/// What is not only counted.
#[derive(Clone)]
pub struct Rest {
    errors: BTreeMap<String, u64>,
    /// How long calls took that were answered, in µs.
    pub tries: Histogram<u64>,
    /// How long decisions took from the first try to the answer, in µs.
    pub decisions: Histogram<u64>,
    /// How long buy-ins took from the first try to the seat or its refusal, in µs.
    pub buy_ins: Histogram<u64>,
    /// What came since the last line of the timeline; nothing if there is none.
    fresh: Option<Fresh>,
    /// The longest time without an acknowledged decision, while there should have been some.
    pub longest_pause: Duration,
    last_ack: Option<Instant>,
}

/// How long it took what came since the last line of the timeline, in µs.
#[derive(Clone, Default)]
pub struct Fresh {
    /// Each decision.
    pub decisions: Vec<u64>,
    /// Each buy-in.
    pub buy_ins: Vec<u64>,
}

/// The counters at a moment.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    /// Calls that were sent.
    pub calls: u64,
    /// Calls that did what they were to do.
    pub answered: u64,
    /// Decisions that were acknowledged.
    pub acked: u64,
    /// Calls that were refused or got no answer, and streams that broke or did not open.
    pub errors: u64,
    /// Hands that ended.
    pub hands: u64,
    /// Streams that had to be opened again.
    pub streams: u64,
}

impl Meter {
    /// A meter at zero.
    ///
    /// # Errors
    /// Never with these bounds.
    pub fn new() -> Result<Meter, hdrhistogram::CreationError> {
        let histogram = Histogram::new_with_bounds(1, LONGEST, 3)?;
        let rest = Rest {
            errors: BTreeMap::new(),
            tries: histogram.clone(),
            decisions: histogram.clone(),
            buy_ins: histogram,
            fresh: None,
            longest_pause: Duration::ZERO,
            last_ack: None,
        };
        Ok(Meter(Mutex::new(All { counts: Counts::default(), rest })))
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        // Numbers: nothing to be left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call that was answered after this time, or was not.
    pub fn call(&self, took: Duration, refused: Option<&Status>) {
        let mut all = self.lock();
        all.counts.calls += 1;
        match refused {
            None => {
                all.counts.answered += 1;
                all.rest.tries.saturating_record(micros(took));
            }
            Some(status) => all.error(status),
        }
    }

    /// Something that was refused or broke.
    pub fn error(&self, status: &Status) {
        self.lock().error(status);
    }

    /// A decision that was acknowledged, so long after it was first sent.
    pub fn acked(&self, took: Duration) {
        let mut all = self.lock();
        all.counts.acked += 1;
        all.rest.decisions.saturating_record(micros(took));
        if let Some(fresh) = &mut all.rest.fresh {
            fresh.decisions.push(micros(took));
        }
        all.rest.note_pause(Instant::now());
    }

    /// From now on decisions are expected all the time. How long calls took before does not matter.
    pub fn start(&self) -> Counts {
        let mut all = self.lock();
        all.rest.last_ack = Some(Instant::now());
        all.rest.tries.reset();
        all.rest.decisions.reset();
        all.rest.buy_ins.reset();
        all.counts
    }

    /// From now on none are: what was measured since the start.
    pub fn stop(&self) -> Rest {
        let rest = &mut self.lock().rest;
        rest.note_pause(Instant::now());
        rest.last_ack = None;
        rest.clone()
    }

    /// A buy-in that was answered, so long after it was first sent.
    pub fn bought_in(&self, took: Duration) {
        let mut all = self.lock();
        all.rest.buy_ins.saturating_record(micros(took));
        if let Some(fresh) = &mut all.rest.fresh {
            fresh.buy_ins.push(micros(took));
        }
    }

    /// How long it took what came since the last call of this; the first one begins to note it.
    pub fn fresh(&self) -> Fresh {
        self.lock().rest.fresh.replace(Fresh::default()).unwrap_or_default()
    }

    /// Waits until so many hands have ended; for ever without a number.
    pub async fn until_hands(&self, hands: Option<u64>) {
        while hands.is_none_or(|hands| self.counts().hands < hands) {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// A hand that ended.
    pub fn hand(&self) {
        self.lock().counts.hands += 1;
    }

    /// A stream that has to be opened again.
    pub fn stream(&self) {
        self.lock().counts.streams += 1;
    }

    /// The counters now.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.lock().counts
    }

    /// How often each reason was given until now.
    #[must_use]
    pub fn errors(&self) -> BTreeMap<String, u64> {
        self.lock().rest.errors.clone()
    }
}

impl All {
    fn error(&mut self, status: &Status) {
        self.counts.errors += 1;
        *self.rest.errors.entry(name(status)).or_default() += 1;
    }
}

impl Counts {
    /// What has come since then.
    #[must_use]
    pub const fn since(self, then: Counts) -> Counts {
        Counts {
            calls: self.calls - then.calls,
            answered: self.answered - then.answered,
            acked: self.acked - then.acked,
            errors: self.errors - then.errors,
            hands: self.hands - then.hands,
            streams: self.streams - then.streams,
        }
    }
}

impl Rest {
    fn note_pause(&mut self, now: Instant) {
        if let Some(last) = self.last_ack {
            self.longest_pause = self.longest_pause.max(now - last);
            self.last_ack = Some(now);
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The code and the service's reason, as `UNAVAILABLE/STORE_UNAVAILABLE`. Where it was not the service that spoke the code
/// is the client's own: `UNKNOWN/NO_ANSWER` of a connection that broke, `CANCELLED/NO_ANSWER` of a call that took too long.
fn name(status: &Status) -> String {
    let code = snake(&format!("{:?}", status.code()));
    match status.get_details_error_info() {
        Some(info) => format!("{code}/{}", info.reason),
        None => format!("{code}/NO_ANSWER"),
    }
}

/// `DeadlineExceeded` as `DEADLINE_EXCEEDED`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_uppercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;
    use tonic_types::ErrorDetails;

    #[test]
    fn errors_are_named_by_code_and_reason() {
        assert_eq!(name(&Status::deadline_exceeded("late")), "DEADLINE_EXCEEDED/NO_ANSWER");
        let details = ErrorDetails::with_error_info("STORE_UNAVAILABLE", "fulcrum", []);
        let away = Status::with_error_details(Code::Unavailable, "away", details);
        assert_eq!(name(&away), "UNAVAILABLE/STORE_UNAVAILABLE");
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_pause_is_one_in_which_decisions_were_expected() {
        let meter = Meter::new().unwrap();
        tokio::time::advance(Duration::from_secs(9)).await;
        meter.start();
        tokio::time::advance(Duration::from_secs(2)).await;
        meter.acked(Duration::from_millis(5));
        tokio::time::advance(Duration::from_secs(3)).await;
        let played = meter.stop();
        tokio::time::advance(Duration::from_secs(60)).await;
        meter.acked(Duration::from_millis(500));
        assert_eq!(played.longest_pause, Duration::from_secs(3));
        assert_eq!((meter.counts().acked, played.decisions.max()), (2, 5_003));
        assert_eq!(meter.stop().longest_pause, Duration::from_secs(3));
    }
}
