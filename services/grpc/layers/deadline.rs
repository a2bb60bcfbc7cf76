//! Deadlines of unary calls. The transport's own ends a call with CANCELLED, which tells a caller that he himself gave
//! up. A caller who has set one is answered before he gives up; the server's own is DEADLINE_EXCEEDED.

use std::future::Future;
use std::time::Duration;

use http::HeaderMap;
use tokio::time::{Instant, timeout_at};

/// So much of its time is left for the way back when a caller is told that there will be no answer.
const WAY_BACK: u32 = 8;
/// But no more than this.
const LONGEST_WAY_BACK: Duration = Duration::from_millis(250);

/// When a call is answered, come what may.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// The moment.
    pub at: Instant,
    /// Whether it is a little before the end of what the caller asked for: he still hears what he is told.
    pub callers: bool,
}

/// When a call has to be answered: before its caller gives up, but no later than the server allows.
#[must_use]
pub fn of(headers: &HeaderMap, longest: Duration) -> Deadline {
    let asked = headers.get("grpc-timeout").and_then(|value| timeout(value.to_str().ok()?));
    let now = Instant::now();
    match asked.map(|asked| asked - (asked / WAY_BACK).min(LONGEST_WAY_BACK)) {
        Some(early) if early < longest => Deadline { at: now + early, callers: true },
        _ => Deadline { at: now + longest, callers: false },
    }
}

/// `grpc-timeout`: up to eight digits and a unit.
fn timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let plain = (1..=8).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit());
    let number: u64 = digits.parse().ok().filter(|_| plain)?;
    Some(match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

/// The result, or nothing if it was not there in time. The work is dropped then; a commit that has begun goes on by
/// itself, so that nothing is half done.
pub async fn within<F: Future>(deadline: Option<Deadline>, work: F) -> Option<F::Output> {
    match deadline {
        Some(deadline) => timeout_at(deadline.at, work).await.ok(),
        None => Some(work.await),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn the_header_is_read_as_grpc_spells_it() {
        let good = [
            ("1H", Duration::from_secs(3600)),
            ("2M", Duration::from_secs(120)),
            ("99999999S", Duration::from_secs(99_999_999)),
            ("250m", Duration::from_millis(250)),
            ("7u", Duration::from_micros(7)),
            ("0n", Duration::ZERO),
        ];
        for (text, length) in good {
            assert_eq!(timeout(text), Some(length), "{text}");
        }
        for text in ["", "S", "1", "1s", "-1S", "+1S", "1.5S", "123456789S", " 1S", "ä", "1ä"] {
            assert_eq!(timeout(text), None, "{text}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_shorter_of_the_servers_and_what_leaves_the_caller_his_way_back_holds() {
        let longest = Duration::from_secs(10);
        let left = |value: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert("grpc-timeout", HeaderValue::from_str(value).unwrap());
            }
            let deadline = of(&headers, longest);
            (deadline.at - Instant::now(), deadline.callers)
        };
        assert_eq!(left(None), (longest, false));
        assert_eq!(left(Some("1H")), (longest, false));
        assert_eq!(left(Some("nonsense")), (longest, false));
        assert_eq!(left(Some("10S")), (Duration::from_millis(9750), true));
        assert_eq!(left(Some("240m")), (Duration::from_millis(210), true));
        assert_eq!(left(Some("0n")), (Duration::ZERO, true));
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_is_late_is_nothing() {
        let work = |millis| tokio::time::sleep(Duration::from_millis(millis));
        let deadline = Some(Deadline { at: Instant::now() + Duration::from_millis(100), callers: true });
        assert_eq!(within(deadline, work(99)).await, Some(()));
        assert_eq!(within(deadline, work(100)).await, None);
        assert_eq!(within(None, work(1_000_000)).await, Some(()));
    }
}
