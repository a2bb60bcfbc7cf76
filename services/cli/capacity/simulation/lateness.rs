//! How late things were.

use serde::Serialize;

use super::STEP_MS;

/// Quantiles, ms.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Lateness {
    /// Of so many.
    pub count: u64,
    pub p50: u32,
    pub p99: u32,
    pub max: u32,
}

/// Counts by steps.
#[derive(Default)]
pub struct Late(Vec<u64>);

impl Late {
    /// Something came so many steps late.
    pub fn note(&mut self, steps: u32) {
        let steps = steps as usize;
        if self.0.len() <= steps {
            self.0.resize(steps + 1, 0);
        }
        if let Some(count) = self.0.get_mut(steps) {
            *count += 1;
        }
    }

    /// In short.
    #[must_use]
    pub fn told(&self) -> Lateness {
        let count: u64 = self.0.iter().sum();
        let at = |hundredths: u64| {
            let rank = (count * hundredths).div_ceil(100);
            let mut seen = 0;
            let steps = self.0.iter().position(|some| {
                seen += some;
                seen >= rank
            });
            steps.map_or(0, |steps| steps as u32 * STEP_MS)
        };
        Lateness { count, p50: at(50), p99: at(99), max: self.0.len().saturating_sub(1) as u32 * STEP_MS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_what_was_noted() {
        let mut late = Late::default();
        assert_eq!(late.told(), Lateness::default());
        (1..=200).for_each(|steps| late.note(steps));
        assert_eq!(late.told(), Lateness { count: 200, p50: 1000, p99: 1980, max: 2000 });
    }
}
