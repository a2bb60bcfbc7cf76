//! Deadlines of unary calls. The transport's own ends a call with CANCELLED, which tells a caller that he himself gave
//! up; a deadline that passed is DEADLINE_EXCEEDED.

use std::future::Future;
use std::time::Duration;

use http::HeaderMap;
use tokio::time::{Instant, timeout_at};

/// When a call has to be answered: what its caller asks for, but no longer than the server allows.
#[must_use]
pub fn of(headers: &HeaderMap, longest: Duration) -> Instant {
    let asked = headers.get("grpc-timeout").and_then(|value| timeout(value.to_str().ok()?));
    Instant::now() + asked.unwrap_or(longest).min(longest)
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
pub async fn within<F: Future>(deadline: Option<Instant>, work: F) -> Option<F::Output> {
    match deadline {
        Some(deadline) => timeout_at(deadline, work).await.ok(),
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
    async fn the_shorter_of_the_callers_and_the_servers_holds() {
        let longest = Duration::from_secs(10);
        let left = |value: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert("grpc-timeout", HeaderValue::from_str(value).unwrap());
            }
            of(&headers, longest) - Instant::now()
        };
        assert_eq!(left(None), longest);
        assert_eq!(left(Some("1H")), longest);
        assert_eq!(left(Some("nonsense")), longest);
        assert_eq!(left(Some("250m")), Duration::from_millis(250));
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_is_late_is_nothing() {
        let work = |millis| tokio::time::sleep(Duration::from_millis(millis));
        let deadline = Some(Instant::now() + Duration::from_millis(100));
        assert_eq!(within(deadline, work(99)).await, Some(()));
        assert_eq!(within(deadline, work(100)).await, None);
        assert_eq!(within(None, work(1_000_000)).await, Some(()));
    }
}
