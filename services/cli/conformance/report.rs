//! The report of a conformance run: what passed, what did not, and what to do about it.

use serde::Serialize;

use super::checks::Check;
use crate::cli::paint::{Paint, Tone};

/// Names of checks are written so wide.
const NAME_WIDTH: usize = 24;
/// Where the text of a failed check begins.
const INDENT: usize = 18;

/// The report. Amounts in minor units.
#[derive(Serialize)]
pub struct Report {
    /// Where the wallet is.
    pub wallet: String,
    /// Whom it was tested with.
    pub player: String,
    /// ISO 4217.
    pub currency: String,
    /// How many checks passed.
    pub passed: usize,
    /// How many did not.
    pub failed: usize,
    /// What the player had before.
    pub balance_before: i64,
    /// What he has now; nothing if the wallet does not say.
    pub balance_after: Option<i64>,
    /// In the order in which they were made.
    pub checks: Vec<Row>,
}

/// A check that was made.
#[derive(Serialize)]
pub struct Row {
    name: &'static str,
    passed: bool,
    /// The sentence of the contract that it rests on.
    contract: &'static str,
    /// What was seen.
    seen: String,
    /// What to do; nothing if it passed.
    advice: Option<&'static str>,
}

impl Row {
    /// A check and what came of it.
    #[must_use]
    pub fn new(check: &Check, seen: Result<String, String>) -> Row {
        let Check { name, contract, advice, .. } = *check;
        let passed = seen.is_ok();
        let seen = seen.unwrap_or_else(|seen| seen);
        Row { name, passed, contract, seen, advice: (!passed).then_some(advice) }
    }

    /// Whether it passed.
    #[must_use]
    pub const fn passed(&self) -> bool {
        self.passed
    }
}

impl Report {
    /// The report for people.
    #[must_use]
    pub fn page(&self, paint: Paint) -> String {
        let (player, currency) = (&self.player, &self.currency);
        let title = format!("{} with {player} in {currency}", paint.tone(Tone::Title, &self.wallet));
        let mut text = format!("{}\n\n", paint.heading(&title));
        for row in &self.checks {
            let (tone, verdict) = if row.passed { (Tone::Good, "ok    ") } else { (Tone::Bad, "FAILED") };
            let verdict = paint.tone(tone, verdict);
            let name = format!("{:<NAME_WIDTH$}", row.name);
            if let Some(advice) = row.advice {
                text.push_str(&format!("  {verdict}  {}\n", paint.tone(Tone::Bold, row.name)));
                for (label, words) in [("contract", row.contract), ("seen", &row.seen), ("to do", advice)] {
                    let pieces: Vec<String> = words.split(' ').map(str::to_owned).collect();
                    let entry = paint.entry(label, &pieces, " ");
                    entry
                        .lines()
                        .for_each(|line| text.push_str(&format!("{}{line}\n", &" ".repeat(INDENT - 14))));
                }
            } else {
                text.push_str(&format!("  {verdict}  {name}  {}\n", paint.tone(Tone::Faint, &row.seen)));
            }
        }
        text.push_str(&format!("\n{}\n", self.sum(paint)));
        text
    }

    fn sum(&self, paint: Paint) -> String {
        let (before, all) = (self.balance_before, self.checks.len());
        let money = match self.balance_after {
            Some(after) if after == before => format!("The player has what he had: {before}."),
            Some(after) => format!("The player had {before} and has {after}: see to it."),
            None => format!("The player had {before}; the wallet does not say what he has now."),
        };
        if self.failed == 0 {
            let good = paint.tone(Tone::Good, &format!("All {all} checks passed."));
            return format!("{good} {money}");
        }
        let bad = paint.tone(Tone::Bad, &format!("{} of {all} checks failed.", self.failed));
        format!("{bad} {money}")
    }
}
