//! The tables: what happens next at each, and when.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use super::{SECOND, Setting};
use crate::cli::capacity::spread::shards_of;

/// No event is further ahead, in steps.
const HORIZON: usize = 8192;
/// The pause between two hands, and the action clock with its grace; in steps.
const PAUSE: u32 = 5 * SECOND;
const CLOCK: u32 = 20 * SECOND;
/// Of a thousand decisions so many are left to the clock.
const ABSENT: u32 = 5;

/// What happens at a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A player decides.
    Decision,
    /// His clock has run out.
    TimeOut,
    /// The next hand.
    Start,
    /// An outage is given back to the clocks.
    Credit,
}

/// Something that happens at a table in a step.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub table: u32,
    pub kind: Kind,
}

/// All tables.
pub struct Tables {
    /// By table.
    pub shards: Vec<u16>,
    left: Vec<u16>,
    /// By step, as a ring.
    calendar: Vec<Vec<Event>>,
    think: f64,
    decisions: u16,
    random: Xoshiro256PlusPlus,
}

impl Tables {
    pub fn new(setting: &Setting) -> Tables {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(setting.seed);
        let count = setting.tables as usize;
        let shards = shards_of(count, setting.shards, || random.random());
        let mut tables = Tables {
            shards,
            left: vec![0; count],
            calendar: vec![Vec::new(); HORIZON],
            think: setting.think * f64::from(SECOND),
            decisions: (setting.decisions.round() as u16).max(1),
            random,
        };
        // Each is somewhere in a hand already.
        for table in 0..setting.tables {
            let left = tables.random.random_range(0..=tables.decisions);
            tables.set_left(table, left);
            let at = tables.random.random_range(0..PAUSE.max(tables.think as u32));
            let kind = if left == 0 { Kind::Start } else { Kind::Decision };
            tables.at(at, Event { table, kind });
        }
        tables
    }

    /// A random number below this one.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.random.random_range(0..bound.max(1))
    }

    /// Adds an event at a step.
    pub fn at(&mut self, step: u32, event: Event) {
        if let Some(events) = self.calendar.get_mut(step as usize % HORIZON) {
            events.push(event);
        }
    }

    /// What happens in this step.
    pub fn take(&mut self, step: u32) -> Vec<Event> {
        self.calendar.get_mut(step as usize % HORIZON).map(std::mem::take).unwrap_or_default()
    }

    /// Something was done at a table: what comes next there.
    pub fn done(&mut self, now: u32, event: Event) {
        let left = match event.kind {
            Kind::Credit => return,
            Kind::Start => {
                // Half of the mean to half as much again: it stays the mean.
                let half = self.decisions / 2;
                self.decisions - half + self.random.random_range(0..=2 * half)
            }
            Kind::Decision | Kind::TimeOut => self.left(event.table).saturating_sub(1),
        };
        self.set_left(event.table, left);
        let (after, kind) = match left {
            0 => (PAUSE, Kind::Start),
            _ if self.below(1000) < ABSENT => (CLOCK, Kind::TimeOut),
            _ => (self.thought(), Kind::Decision),
        };
        self.at(now + after.max(1), Event { table: event.table, kind });
    }

    /// How long a player thinks: half of the mean at least, and the rest as chance has it.
    fn thought(&mut self) -> u32 {
        let half = self.think / 2.0;
        let chance: f64 = self.random.random_range(f64::MIN_POSITIVE..1.0);
        ((half - half * chance.ln()) as u32).min(CLOCK)
    }

    fn left(&self, table: u32) -> u16 {
        self.left.get(table as usize).copied().unwrap_or_default()
    }

    fn set_left(&mut self, table: u32, left: u16) {
        if let Some(of) = self.left.get_mut(table as usize) {
            *of = left;
        }
    }
}
