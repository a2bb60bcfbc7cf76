//! Amounts for people: minor units as `12.50`, and back.

/// Currencies whose minor unit is the unit itself.
const WHOLE: &[&str] = &[
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF",
    "XOF", "XPF",
];
/// Currencies of a thousand minor units.
const THOUSANDTHS: &[&str] = &["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];
/// Currencies of ten thousand minor units.
const TEN_THOUSANDTHS: &[&str] = &["CLF", "UYW"];

/// A currency, as far as writing amounts goes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Currency {
    code: String,
    digits: u32,
}

impl Currency {
    /// The currency of an ISO 4217 code; an unknown code has hundredths, as most have.
    #[must_use]
    pub fn new(code: &str) -> Currency {
        let digits = match code {
            _ if WHOLE.contains(&code) => 0,
            _ if THOUSANDTHS.contains(&code) => 3,
            _ if TEN_THOUSANDTHS.contains(&code) => 4,
            _ => 2,
        };
        Currency { code: code.to_owned(), digits }
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// An amount of minor units in units, as `12.50`.
    #[must_use]
    pub fn amount(&self, minor: i64) -> String {
        let sign = if minor < 0 { "-" } else { "" };
        let unit = 10_u64.pow(self.digits);
        let (whole, part) = (minor.unsigned_abs() / unit, minor.unsigned_abs() % unit);
        match self.digits {
            0 => format!("{sign}{whole}"),
            digits => format!("{sign}{whole}.{part:0width$}", width = digits as usize),
        }
    }

    /// A difference of minor units, as `+12.50`, `-0.50` or `0.00`.
    #[must_use]
    pub fn change(&self, minor: i64) -> String {
        let plus = if minor > 0 { "+" } else { "" };
        format!("{plus}{}", self.amount(minor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_digits_of_their_currency() {
        let text = |code: &str, minor| Currency::new(code).amount(minor);
        assert_eq!(text("EUR", 1250), "12.50");
        assert_eq!(text("EUR", 5), "0.05");
        assert_eq!(text("EUR", -105), "-1.05");
        assert_eq!(text("JPY", 1250), "1250");
        assert_eq!(text("KWD", 1250), "1.250");
        assert_eq!(text("USD", i64::MIN), "-92233720368547758.08");
    }

    #[test]
    fn a_change_shows_its_sign() {
        let euro = Currency::new("EUR");
        assert_eq!([150, -150, 0].map(|minor| euro.change(minor)), ["+1.50", "-1.50", "0.00"]);
    }
}
