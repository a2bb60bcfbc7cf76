//! The report of a run: for people, and as one JSON object for programs.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::check::{Deed, Fault, Findings, Kind, Record};
use super::meter::{Counts, Meter, Rest};
use super::picture::picture;
use crate::cli::paint::{Paint, Tone};

/// So many faults are told in words on the page, and so many in the object for programs.
const ON_PAGE: usize = 12;
const IN_OBJECT: usize = 200;

/// What the check of all tables found.
#[derive(Default)]
pub struct Checked {
    done: bool,
    reread: usize,
    sums: Sums,
    late_ms: Vec<u64>,
    told_late_ms: Vec<u64>,
    start_late_ms: Vec<u64>,
    faults: Vec<ToldFault>,
    bad_tables: u64,
}

/// The counts of the check.
#[derive(Clone, Copy, Default, Serialize)]
struct Sums {
    /// Hands that were paid.
    hands: u64,
    /// Decisions that were acknowledged.
    actions_acked: u64,
    /// Decisions of which it is not known whether they counted.
    unknown: u64,
    lost: u64,
    /// Tables that lost something of it and tell of no lost history there.
    lost_silently: u64,
    doubled: u64,
    contradicted: u64,
    gaps: u64,
    chips_off: u64,
    settlements_off: u64,
    hands_open: u64,
    hands_voided: u64,
    /// Hands that were voided without a history that was lost.
    hands_voided_without_reason: u64,
    histories_lost: u64,
    clock_early: u64,
    view_mismatches: u64,
    /// What lies in a gap, and so could not be checked.
    unverified: u64,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Late {
    p50: u64,
    p99: u64,
    max: u64,
}

#[derive(Clone, Copy, Serialize)]
struct Took {
    p50: u64,
    p99: u64,
    p999: u64,
    max: u64,
}

impl Checked {
    /// Nothing yet. `done`: it will be checked; `reread`: so many tables' logs were read again from their beginning.
    #[must_use]
    pub fn new(done: bool, reread: usize) -> Checked {
        Checked { done, reread, ..Checked::default() }
    }

    /// Adds a table.
    pub fn add(&mut self, id: &str, name: &str, records: &[Record], found: Findings) {
        let decision = |deed: &Deed| matches!(deed, Deed::Acted { .. } | Deed::Picked { .. });
        let acks = records.iter().flat_map(|record| &record.acks).filter(|ack| decision(&ack.deed)).count();
        let sums = &mut self.sums;
        sums.actions_acked += acks as u64;
        sums.unknown += records.iter().map(|record| record.unknown).sum::<u64>();
        sums.hands += found.hands;
        sums.lost += found.count(Kind::Lost);
        sums.lost_silently += found.count(Kind::LostSilently);
        sums.doubled += found.count(Kind::Doubled);
        sums.contradicted += found.count(Kind::Contradicted);
        sums.gaps += found.count(Kind::Gap);
        sums.chips_off += found.count(Kind::ChipsOff);
        sums.settlements_off += found.count(Kind::Books);
        sums.hands_open += found.count(Kind::Hand);
        sums.hands_voided += found.hands_voided;
        sums.hands_voided_without_reason += found.count(Kind::Voided);
        sums.histories_lost += found.histories_lost;
        sums.clock_early += found.count(Kind::Early);
        sums.view_mismatches += found.count(Kind::View);
        sums.unverified += found.unverified;
        self.bad_tables += u64::from(!found.clean());
        self.late_ms.extend(found.late_ms);
        self.told_late_ms.extend(found.told_late_ms);
        self.start_late_ms.extend(found.start_late_ms);
        let told = |Fault { sequence, what, .. }: Fault| ToldFault {
            table: id.to_owned(),
            name: name.to_owned(),
            sequence,
            what,
        };
        self.faults.extend(found.faults.into_iter().map(told));
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn clean(&self) -> bool {
        self.bad_tables == 0
    }
}

/// What was measured while the bots played: without the opening of the tables and their end.
pub struct Played {
    /// How long they played.
    pub time: Duration,
    /// What was counted.
    pub counts: Counts,
    /// What else was measured.
    pub rest: Rest,
}

/// The report.
#[derive(Serialize)]
pub struct Report {
    tables: usize,
    bots: usize,
    seconds: u64,
    seed: u64,
    checked: bool,
    logs_reread: usize,
    #[serde(flatten)]
    sums: Sums,
    clock_late_ms: Late,
    clock_count: usize,
    /// Until the watcher knew, by the clock of this machine.
    clock_told_late_ms: Late,
    hand_late_ms: Late,
    calls: u64,
    throughput: u64,
    actions_per_second: u64,
    latency_us: Took,
    decision_us: Took,
    buy_in_us: Took,
    errors: BTreeMap<String, u64>,
    longest_pause_ms: u128,
    streams_reopened: u64,
    faults: Vec<ToldFault>,
    #[serde(skip)]
    tries: Histogram<u64>,
    #[serde(skip)]
    bad_tables: u64,
}

#[derive(Serialize)]
struct ToldFault {
    table: String,
    name: String,
    sequence: u64,
    what: String,
}

impl Report {
    /// The report of a run of `(tables, seats)`.
    #[must_use]
    pub fn new(
        meter: &Meter,
        (tables, seats): (usize, u32),
        Played { time, counts: played, rest }: Played,
        seed: u64,
        mut checked: Checked,
    ) -> Report {
        let counts = meter.counts();
        if !checked.done {
            (checked.sums.hands, checked.sums.actions_acked) = (counts.hands, counts.acked);
        }
        checked.faults.truncate(IN_OBJECT);
        Report {
            tables,
            bots: tables * seats as usize,
            seconds: rounded(time.as_millis()),
            seed,
            checked: checked.done,
            logs_reread: checked.reread,
            sums: checked.sums,
            clock_late_ms: late(&mut checked.late_ms),
            clock_count: checked.late_ms.len(),
            clock_told_late_ms: late(&mut checked.told_late_ms),
            hand_late_ms: late(&mut checked.start_late_ms),
            calls: counts.calls,
            throughput: rate(played.answered, time),
            actions_per_second: rate(played.acked, time),
            latency_us: took(&rest.tries),
            decision_us: took(&rest.decisions),
            buy_in_us: took(&rest.buy_ins),
            errors: meter.errors(),
            longest_pause_ms: rest.longest_pause.as_millis(),
            streams_reopened: counts.streams,
            faults: checked.faults,
            tries: rest.tries,
            bad_tables: checked.bad_tables,
        }
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn clean(&self) -> bool {
        self.bad_tables == 0
    }

    /// For people.
    #[must_use]
    pub fn page(&self, paint: Paint) -> String {
        let mut page = format!("{}\n", paint.heading(&paint.tone(Tone::Title, "Fulcrum load")));
        page.push_str(&self.what_was_played(paint));
        page.push_str(&self.how_long_it_took(paint));
        page.push_str(&self.what_went_wrong(paint));
        page.push_str(&self.verdict(paint));
        page
    }

    fn what_was_played(&self, paint: Paint) -> String {
        let sums = &self.sums;
        let played = [
            format!("{} tables", self.tables),
            format!("{} bots", self.bots),
            format!("{} s", self.seconds),
            format!("{} hands", sums.hands),
            format!("{} decisions", sums.actions_acked),
            format!("seed {}", self.seed),
        ];
        let rates = [
            format!("{} calls/s", self.throughput),
            format!("{} decisions/s", self.actions_per_second),
            format!("longest pause {} ms", self.longest_pause_ms),
        ];
        paint.entry("played", &played, ", ") + &paint.entry("throughput", &rates, ", ")
    }

    fn how_long_it_took(&self, paint: Paint) -> String {
        let times = |took: &Took| {
            [("p50", took.p50), ("p99", took.p99), ("p99.9", took.p999), ("max", took.max)]
                .map(|(name, us)| format!("{name} {}", span(us)))
        };
        let mut text = paint.entry("a call", &times(&self.latency_us), ", ");
        text.push_str(&paint.entry("a decision", &times(&self.decision_us), ", "));
        if self.buy_in_us.max > 0 {
            text.push_str(&paint.entry("a buy-in", &times(&self.buy_in_us), ", "));
        }
        for (label, bar) in picture(&self.tries) {
            text.push_str(&paint.entry(&label, &[bar], ""));
        }
        if self.checked {
            let late = &self.clock_late_ms;
            let clocks = [
                format!("{} time-outs, {} early", self.clock_count, self.sums.clock_early),
                format!("late p50 {} ms", late.p50),
                format!("p99 {} ms", late.p99),
                format!("max {} ms", late.max),
            ];
            text.push_str(&paint.entry("clocks", &clocks, ", "));
        }
        text
    }

    fn what_went_wrong(&self, paint: Paint) -> String {
        let mut text = String::new();
        let errors: Vec<String> = self.errors.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let none = [String::from("none")];
        text.push_str(&paint.entry("errors", if errors.is_empty() { &none } else { &errors }, ", "));
        if self.streams_reopened > 0 {
            text.push_str(&paint.entry("streams", &[format!("{} opened again", self.streams_reopened)], ""));
        }
        text
    }

    fn verdict(&self, paint: Paint) -> String {
        if !self.checked {
            return paint.entry("check", &["none was asked for".to_owned()], "");
        }
        let sums = &self.sums;
        let counts = [
            ("lost", sums.lost),
            ("tables that lost without a word", sums.lost_silently),
            ("doubled", sums.doubled),
            ("contradicted", sums.contradicted),
            ("gaps", sums.gaps),
            ("chips off", sums.chips_off),
            ("settlements off", sums.settlements_off),
            ("hands open", sums.hands_open),
            ("hands voided", sums.hands_voided),
            ("histories lost", sums.histories_lost),
            ("early clocks", sums.clock_early),
            ("views that differ", sums.view_mismatches),
            ("not to be checked", sums.unverified),
        ];
        let bad: Vec<String> = counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        let mut text = String::new();
        if self.clean() {
            let right = [
                "every acknowledged decision is in the log once",
                "chips are conserved",
                "the settlement records are those of the log",
                "every hand ended",
                "no clock was early",
                "all views agree",
            ];
            let right = right.map(|words| paint.tone(Tone::Good, words));
            text.push_str(&paint.entry("check", &right, ", "));
        }
        if !bad.is_empty() {
            text.push_str(&paint.entry("found", &bad, ", "));
        }
        for fault in self.faults.iter().take(ON_PAGE) {
            let line =
                format!("{} ({}), sequence {}: {}", fault.table, fault.name, fault.sequence, fault.what);
            text.push_str(&paint.entry("wrong", &[paint.tone(Tone::Bad, &line)], ""));
        }
        if let Some(more) = self.faults.len().checked_sub(ON_PAGE).filter(|more| *more > 0) {
            text.push_str(&paint.entry("", &[format!("{more} more, which --json writes")], ""));
        }
        text
    }

    /// What to say when something is wrong.
    #[must_use]
    pub fn complaint(&self) -> String {
        format!(
            "the check failed at {} of {} tables; all stay open for a look, with nobody seated",
            self.bad_tables, self.tables
        )
    }
}

fn took(histogram: &Histogram<u64>) -> Took {
    let at = |quantile| if histogram.is_empty() { 0 } else { histogram.value_at_quantile(quantile) };
    Took { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: histogram.max() }
}

/// Quantiles of what was noted one by one.
fn late(times: &mut [u64]) -> Late {
    times.sort_unstable();
    let at = |hundredths: usize| {
        let rank = (times.len() * hundredths).div_ceil(100).saturating_sub(1);
        times.get(rank).copied().unwrap_or_default()
    };
    Late { p50: at(50), p99: at(99), max: times.last().copied().unwrap_or_default() }
}

fn rate(count: u64, time: Duration) -> u64 {
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
    count.saturating_mul(1000) / ms
}

fn rounded(ms: u128) -> u64 {
    u64::try_from((ms + 500) / 1000).unwrap_or(u64::MAX)
}

/// A time of µs in the unit that reads best.
#[must_use]
pub fn span(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..100_000 => format!("{}.{} ms", us / 1000, us % 1000 / 100),
        100_000..10_000_000 => format!("{} ms", us / 1000),
        _ => format!("{} s", us / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_times_that_were_noted() {
        let mut times: Vec<u64> = (1..=200).rev().collect();
        let Late { p50, p99, max } = late(&mut times);
        assert_eq!((p50, p99, max), (100, 198, 200));
        let Late { p50, p99, max } = late(&mut [7]);
        assert_eq!((p50, p99, max), (7, 7, 7));
        assert_eq!(late(&mut []).max, 0);
    }

    #[test]
    fn spans_are_told_in_the_unit_that_reads_best() {
        let told = [950, 1_250, 99_900, 250_000, 12_000_000].map(span);
        assert_eq!(told, ["950 µs", "1.2 ms", "99.9 ms", "250 ms", "12 s"]);
    }
}
