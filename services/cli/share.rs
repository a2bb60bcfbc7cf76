//! A share, as `0.5%`.

use std::str::FromStr;

use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;

/// A share in millionths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share(u32);

const WHOLE: u32 = 1_000_000;
/// Digits behind the point of a per cent that a millionth is.
const DIGITS: usize = 4;

impl Share {
    /// Always.
    pub const ALL: Share = Share(WHOLE);
    /// Never.
    pub const NEVER: Share = Share(0);

    /// True in this share of the times.
    pub fn hits(self, rng: &mut Xoshiro256PlusPlus) -> bool {
        rng.random_range(0..WHOLE) < self.0
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        let bad = || format!("{text:?} is no share: give one as 0.5%");
        let (whole, part) = match text.strip_suffix('%').ok_or_else(bad)?.split_once('.') {
            Some((whole, part)) => (whole, part),
            None => (text.trim_end_matches('%'), "0"),
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
        if !digits(whole) || !digits(part) || part.len() > DIGITS {
            return Err(bad());
        }
        let all: u32 = format!("{whole}{part:0<DIGITS$}").parse().map_err(|_| bad())?;
        if all > WHOLE { Err(bad()) } else { Ok(Share(all)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read() {
        let parts = |text: &str| text.parse::<Share>().map(|share| share.0).ok();
        assert_eq!(parts("0.5%"), Some(5_000));
        assert_eq!(parts("100%"), Some(WHOLE));
        assert_eq!(parts("0.0001%"), Some(1));
        for bad in ["", "5", "%", ".5%", "-1%", "101%", "1.00001%", "a%", "1.%"] {
            assert_eq!(parts(bad), None, "{bad:?}");
        }
    }
}
