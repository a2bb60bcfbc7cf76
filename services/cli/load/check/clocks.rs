//! The clocks of a table, from its log: what a clock did came after the clock's end, and how long after (rules 8).

use super::{Fault, Kind};
use crate::pb::v1::table_event::Event;
use crate::pb::v1::{ActedBy, Table, TableConfig, Turn, Update};

/// The clocks. Times are ms since the epoch.
#[derive(Default)]
pub struct Clocks {
    grace: i64,
    open: Option<Open>,
    next_hand: Option<i64>,
    /// Clocks got time back since the next hand had its time: it begins later by an amount that is not told.
    shifted: bool,
    /// How late the time-outs were, in ms.
    pub late_ms: Vec<u64>,
    /// How long after the first moment at which a time-out could come the reader heard of it, in ms by his own clock.
    pub told_late_ms: Vec<u64>,
    /// How late the hands began, in ms.
    pub start_late_ms: Vec<u64>,
    /// Time-outs without a time.
    pub untimed: u64,
    /// What came too early.
    pub faults: Vec<Fault>,
}

/// The turn that is open.
#[derive(Clone, Copy)]
struct Open {
    number: u32,
    ends: i64,
}

impl Clocks {
    /// Goes on from a snapshot.
    pub fn restart(&mut self, table: &Table) {
        self.configure(table.config.as_ref());
        self.open = table.hand.as_ref().and_then(|hand| hand.turn.as_ref()).and_then(open);
        self.next_hand = table.next_hand_at.as_ref().and_then(ms);
        self.shifted = false;
    }

    /// One commit: what a clock did in it is held against the turn that was open before it.
    /// `heard`: when the reader heard of it, ms since the epoch; `None` if he reads what is past.
    pub fn hear(&mut self, sequence: u64, update: &Update, events: &[&Event], heard: Option<u64>) {
        let at = update.time.as_ref().and_then(ms);
        let heard = heard.and_then(|heard| i64::try_from(heard).ok());
        for event in events {
            match event {
                Event::TableOpened(opened) => self.configure(opened.config.as_ref()),
                Event::ConfigChanged(changed) => self.configure(changed.config.as_ref()),
                Event::PlayerActed(acted) if acted.by() == ActedBy::TimeOut => {
                    self.timed_out(sequence, acted.turn, at, heard);
                }
                Event::PivotPicked(picked) if picked.by() == ActedBy::TimeOut => {
                    self.timed_out(sequence, picked.turn, at, heard);
                }
                Event::HandScheduled(scheduled) => {
                    self.next_hand = scheduled.at.as_ref().and_then(ms);
                    self.shifted = false;
                }
                Event::ClocksShifted(_) => self.shifted = true,
                Event::HandStarted(started) => self.begin(sequence, started.started.as_ref().and_then(ms)),
                _ => {}
            }
        }
        self.open = update.turn.as_ref().and_then(open);
    }

    fn configure(&mut self, config: Option<&TableConfig>) {
        let grace = config.and_then(|config| config.clocks).and_then(|clocks| clocks.grace);
        self.grace = grace.map_or(0, |grace| grace.seconds * 1000 + i64::from(grace.nanos) / 1_000_000);
    }

    /// An answer that arrives at the end of the grace still counts, so a time-out has to come later than that.
    fn timed_out(&mut self, sequence: u64, turn: u32, at: Option<i64>, heard: Option<i64>) {
        let open = self.open.filter(|open| open.number == turn);
        match (open, at) {
            (Some(open), Some(at)) => {
                let first = open.ends + self.grace;
                self.told_late_ms.extend(heard.and_then(|heard| u64::try_from(heard - first).ok()));
                let late = at - first;
                match u64::try_from(late) {
                    Ok(late) if late > 0 => self.late_ms.push(late),
                    _ => self.early(sequence, format!("turn {turn} timed out {} ms before its end", -late)),
                }
            }
            (None, Some(_)) => self.early(sequence, format!("turn {turn} timed out, but it was not open")),
            (_, None) => self.untimed += 1,
        }
    }

    fn begin(&mut self, sequence: u64, at: Option<i64>) {
        if let (Some(due), Some(at)) = (self.next_hand.take(), at) {
            match u64::try_from(at - due) {
                Ok(late) if !self.shifted => self.start_late_ms.push(late),
                Ok(_) => {}
                Err(_) => self.early(sequence, format!("a hand began {} ms before its time", due - at)),
            }
        }
    }

    fn early(&mut self, sequence: u64, what: String) {
        self.faults.push(Fault { kind: Kind::Early, sequence, what });
    }
}

fn open(turn: &Turn) -> Option<Open> {
    Some(Open { number: turn.number, ends: turn.bank_until.as_ref().and_then(ms)? })
}

/// A time in ms since the epoch.
fn ms(time: &prost_types::Timestamp) -> Option<i64> {
    time.seconds.checked_mul(1000)?.checked_add(i64::from(time.nanos) / 1_000_000)
}
