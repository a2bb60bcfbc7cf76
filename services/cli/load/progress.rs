//! What is seen and written while a run goes: a bar on the standard error, and the timeline.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tables::{Clock, SystemClock};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::meter::{Counts, Fresh, Meter};
use crate::cli::failure::Failure;

/// A line of the timeline is for so long.
const TICK: Duration = Duration::from_millis(100);
/// The bar is written anew after so many of them.
const TICKS_OF_BAR: u32 = 10;

/// The progress of a run.
pub struct Progress {
    bar: ProgressBar,
    timeline: Option<BufWriter<File>>,
    meter: Arc<Meter>,
    begun: Option<Instant>,
    last: Counts,
}

impl Progress {
    /// The progress of a run of this length; a bar only if the standard error is a terminal.
    ///
    /// # Errors
    /// If the timeline's file cannot be made.
    pub fn new(meter: &Arc<Meter>, whole: Duration, timeline: Option<&Path>) -> Result<Progress, Failure> {
        let bar = ProgressBar::new(whole.as_secs());
        if let Ok(style) =
            ProgressStyle::with_template("{bar:30.cyan/dim} {pos}/{len} s  {msg}  {prefix:.dim}")
        {
            bar.set_style(style);
        }
        let open = |path: &Path| {
            let file = File::create(path);
            file.map(BufWriter::new)
                .map_err(|error| Failure::Usage(format!("cannot write {}: {error}", path.display())))
        };
        if timeline.is_some() {
            meter.fresh();
        }
        Ok(Progress {
            bar,
            timeline: timeline.map(open).transpose()?,
            meter: Arc::clone(meter),
            begun: None,
            last: Counts::default(),
        })
    }

    /// Says what is done besides playing.
    pub fn say(&self, what: &'static str) {
        self.bar.set_prefix(what);
    }

    /// Writes until it is dropped. Called again, it goes on.
    ///
    /// # Errors
    /// If the timeline cannot be written any more.
    pub async fn run(&mut self) -> Result<std::convert::Infallible, Failure> {
        let clock = SystemClock::default();
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let (mut last_bar, mut since_bar) = (self.last, 0);
        loop {
            ticks.tick().await;
            let counts = self.meter.counts();
            self.write(clock.now().0, counts)?;
            since_bar += 1;
            if since_bar >= TICKS_OF_BAR {
                self.bar.set_position(begun.elapsed().as_secs().min(self.bar.length().unwrap_or_default()));
                self.bar.set_message(rates(last_bar, counts));
                (last_bar, since_bar) = (counts, 0);
            }
        }
    }

    fn write(&mut self, t_ms: u64, counts: Counts) -> Result<(), Failure> {
        let last = std::mem::replace(&mut self.last, counts);
        let Some(file) = &mut self.timeline else {
            return Ok(());
        };
        let Counts { acked, errors, hands, .. } = counts.since(last);
        let Fresh { decisions, buy_ins } = self.meter.fresh();
        let line = serde_json::json!({
            "t_ms": t_ms, "acked": acked, "errors": errors, "hands": hands,
            "decisions_us": decisions, "buy_ins_us": buy_ins,
        });
        // A line a time, so that whoever follows the file sees whole ones.
        let written = writeln!(file, "{line}").and_then(|()| file.flush());
        written.map_err(|error| Failure::Failed(format!("cannot write the timeline: {error}")))
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn rates(last: Counts, counts: Counts) -> String {
    let Counts { hands, acked, .. } = counts.since(last);
    format!("{hands} hands/s  {acked} actions/s  {} errors", counts.errors)
}
