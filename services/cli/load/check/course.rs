//! The course of the hands: one after the other, each with a number of its own, and each that began has an end.

use super::{Fault, Findings, Kind};
use crate::pb::v1::Table;
use crate::pb::v1::table_event::Event;

/// The hands of a table.
#[derive(Default)]
pub struct Course {
    /// The hand that is played.
    running: Option<u64>,
    last: u64,
    /// The number of the next hand is not known: what came before is missing.
    adrift: bool,
    /// History was lost: numbers were skipped.
    jumped: bool,
    /// How many were paid.
    pub settled: u64,
    /// How many were voided.
    pub voided: u64,
    faults: Vec<Fault>,
}

impl Course {
    /// Goes on from a snapshot.
    pub fn restart(&mut self, table: &Table) {
        self.running = table.hand.as_ref().filter(|hand| hand.running).map(|hand| hand.number);
        self.last = table.hand.as_ref().map_or(0, |hand| hand.number);
        self.adrift = self.last == 0;
    }

    /// The hand that is played.
    #[must_use]
    pub fn hand(&self) -> Option<u64> {
        self.running
    }

    /// One event; `lost`: its commit says that history was lost.
    pub fn hear(&mut self, sequence: u64, event: &Event, lost: bool) {
        match event {
            Event::HandStarted(started) => self.begin(sequence, started.hand_number),
            Event::HistoryLost(_) => self.jumped = true,
            Event::HandSettled(settled) => {
                let number = settled.hand.as_ref().map_or(0, |hand| hand.hand_number);
                self.end(sequence, number, "paid");
                self.settled += 1;
            }
            Event::HandVoided(voided) => {
                // With a loss the numbers have gone on when the void is told.
                let number = if lost { self.running.unwrap_or_default() } else { voided.hand_number };
                self.end(sequence, number, "voided");
                self.voided += 1;
                if !lost {
                    let what = format!("hand {number} was voided: {}", voided.reason);
                    self.faults.push(Fault { kind: Kind::Voided, sequence, what });
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, sequence: u64, number: u64) {
        if let Some(running) = self.running {
            self.fault(sequence, format!("hand {number} begins while hand {running} is played"));
        }
        let follows = number == self.last + 1 || (self.jumped && number > self.last);
        if !follows && !self.adrift {
            self.fault(sequence, format!("hand {number} follows hand {}", self.last));
        }
        (self.adrift, self.jumped) = (false, false);
        self.running = Some(number);
        self.last = number;
    }

    fn end(&mut self, sequence: u64, number: u64, how: &str) {
        if self.running != Some(number) {
            self.fault(sequence, format!("hand {number} is {how}, but it is not the one that is played"));
        }
        self.running = None;
    }

    fn fault(&mut self, sequence: u64, what: String) {
        self.faults.push(Fault { kind: Kind::Hand, sequence, what });
    }

    /// What is wrong at the log's end.
    pub fn finish(&self, sequence: u64, found: &mut Findings) {
        found.take(&self.faults);
        if let Some(hand) = self.running {
            found.add(Kind::Hand, sequence, format!("hand {hand} has no end"));
        }
    }
}
