//! What was acknowledged when: pauses, and when play was as before.

use std::fs;
use std::path::Path;

use serde::Deserialize;

/// A stretch of time, ms since the epoch.
pub type Span = (u64, u64);

/// One line of `fulcrum load --timeline`: what came since the line before.
#[derive(Clone, Copy, Deserialize, Debug)]
pub struct Tick {
    pub t_ms: u64,
    pub acked: u64,
    pub errors: u64,
}

/// The lines, oldest first.
pub struct Timeline(Vec<Tick>);

impl Timeline {
    /// Reads what there is; the last line may be half written.
    pub fn read(path: &Path) -> Timeline {
        let text = fs::read_to_string(path).unwrap_or_default();
        Timeline(text.lines().map_while(|line| serde_json::from_str(line).ok()).collect())
    }

    /// These lines.
    pub const fn of(ticks: Vec<Tick>) -> Timeline {
        Timeline(ticks)
    }

    /// Actions acknowledged so far.
    pub fn acked(&self) -> u64 {
        self.0.iter().map(|tick| tick.acked).sum()
    }

    /// Calls that failed so far.
    pub fn errors(&self) -> u64 {
        self.0.iter().map(|tick| tick.errors).sum()
    }

    /// Actions acknowledged in a stretch of time.
    pub fn acked_in(&self, (from, to): Span) -> u64 {
        let within = |tick: &&Tick| from < tick.t_ms && tick.t_ms <= to;
        self.0.iter().filter(within).map(|tick| tick.acked).sum()
    }

    /// The longest stretch within another in which nothing was acknowledged.
    pub fn longest_pause(&self, (from, to): Span) -> Span {
        let played = |tick: &&Tick| tick.acked > 0 && from < tick.t_ms && tick.t_ms <= to;
        let moments = self.0.iter().filter(played).map(|tick| tick.t_ms);
        let mut longest = (from, from);
        let mut last = from;
        for moment in moments.chain([to]) {
            if moment - last > longest.1 - longest.0 {
                longest = (last, moment);
            }
            last = moment;
        }
        longest
    }

    /// When play was as fast again as this share (per cent) of what it was in the stretch before: the beginning of the
    /// first second for which that holds, at `from` or later.
    pub fn as_before(&self, before: Span, share: u64, (from, to): Span) -> Option<u64> {
        let usual = self.acked_in(before) * 1000 / (before.1 - before.0).max(1);
        (from..to.saturating_sub(1000))
            .step_by(100)
            .find(|start| self.acked_in((*start, start + 1000)) * 100 >= usual * share)
    }
}
