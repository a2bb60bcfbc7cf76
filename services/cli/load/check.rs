//! The check of a table: its whole log, as a spectator reads it, held against what the bots were told and what was
//! acknowledged to them. It shares no code with the service: it knows the messages of the contract, and counts for
//! itself.

mod books;
mod chips;
mod clocks;
mod course;
mod decisions;
#[cfg(test)]
mod tests;
mod told;
mod view;

use crate::pb::v1::table_event::Event;
use crate::pb::v1::table_message::Content;
use crate::pb::v1::{Settlement, TableMessage};

use books::Books;
use chips::Chips;
use clocks::Clocks;
use course::Course;
use decisions::Decisions;
pub use decisions::{Ack, Deed, Denied, Record};
use told::Told;
pub use view::View;

/// So many faults of a table are told one by one.
const TOLD: usize = 20;

/// Something that must not be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What kind it is.
    pub kind: Kind,
    /// The table's sequence at which it was found.
    pub sequence: u64,
    /// What it is, in words.
    pub what: String,
}

/// The kinds of faults.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Something that was acknowledged is not in the log.
    Lost,
    /// The same, and the log does not say that history was lost there: once for each table.
    LostSilently,
    /// Something is in the log twice.
    Doubled,
    /// The log says something else than the answer to a call did.
    Contradicted,
    /// A part of the log is missing.
    Gap,
    /// Chips came from nowhere, or went there (rules 10.3).
    ChipsOff,
    /// A hand that began did not end, or a number came twice.
    Hand,
    /// A hand was voided, and no lost history says why (rules 10.2).
    Voided,
    /// A clock was applied before its time (rules 8.2).
    Early,
    /// A settlement record is missing, is there twice, or has other amounts than the log.
    Books,
    /// Two viewers were told different things, or one of them what is not for his eyes.
    View,
}

/// What the check of a table found.
#[derive(Default, Debug)]
pub struct Findings {
    /// Hands that were paid.
    pub hands: u64,
    /// Hands that were voided, for whatever reason.
    pub hands_voided: u64,
    /// How often the table's history was lost.
    pub histories_lost: u64,
    /// How late each time-out was applied, in ms after the first moment at which it could have been.
    pub late_ms: Vec<u64>,
    /// How long after that moment its watcher heard of it, in ms by his own clock.
    pub told_late_ms: Vec<u64>,
    /// How late each hand began, in ms after its time.
    pub start_late_ms: Vec<u64>,
    /// What could not be checked: what lies in a gap of the log, or has no time.
    pub unverified: u64,
    /// How many faults of each kind.
    counts: std::collections::BTreeMap<Kind, u64>,
    /// The first of them.
    pub faults: Vec<Fault>,
}

impl Findings {
    /// How many faults there are of a kind.
    #[must_use]
    pub fn count(&self, kind: Kind) -> u64 {
        self.counts.get(&kind).copied().unwrap_or_default()
    }

    /// Whether there is no fault.
    #[must_use]
    pub fn clean(&self) -> bool {
        self.counts.is_empty()
    }

    /// Nobody answered for so long that the last hand could not be waited for.
    pub fn stuck(&mut self, sequence: u64, why: &str) {
        self.add(Kind::Hand, sequence, format!("the table could not be brought to its end: {why}"));
    }

    /// The settlement records cannot be read.
    pub fn without_books(&mut self, why: &str) {
        self.add(Kind::Books, 0, format!("the settlement records cannot be read: {why}"));
    }

    fn add(&mut self, kind: Kind, sequence: u64, what: String) {
        *self.counts.entry(kind).or_default() += 1;
        if self.faults.len() < TOLD {
            self.faults.push(Fault { kind, sequence, what });
        }
    }

    fn take(&mut self, faults: &[Fault]) {
        for fault in faults {
            self.add(fault.kind, fault.sequence, fault.what.clone());
        }
    }
}

/// A table's log, folded as it is read: it holds nothing but what is needed to check the rest.
#[derive(Default)]
pub struct Log {
    told: Told,
    course: Course,
    chips: Chips,
    clocks: Clocks,
    decisions: Decisions,
    books: Books,
    secrets: Vec<Fault>,
}

impl Log {
    /// Reads the next message of a spectator's stream that began after sequence 0. `heard`: when it came, ms since the
    /// epoch; `None` where what is past is read.
    pub fn hear(&mut self, message: &TableMessage, heard: Option<u64>) {
        match &message.content {
            Some(Content::Snapshot(table)) => {
                // The stream goes on from here after a gap: what came before cannot be told from what is missing.
                self.chips.restart(table);
                self.course.restart(table);
                self.clocks.restart(table);
            }
            Some(Content::Update(update)) => {
                self.secrets.extend(view::not_for(None, message.sequence, update));
                let events: Vec<&Event> =
                    update.events.iter().filter_map(|told| told.event.as_ref()).collect();
                let hand = self.course.hand();
                let lost = told::loss(update).is_some();
                for event in &events {
                    self.course.hear(message.sequence, event, lost);
                    self.chips.hear(message.sequence, event);
                    self.books.hear(message.sequence, event);
                    self.decisions.hear(message.sequence, self.course.hand().or(hand), event);
                }
                self.clocks.hear(message.sequence, update, &events, heard);
            }
            _ => {}
        }
        self.told.hear(message, None);
    }

    /// The last sequence that was read.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.told.last().unwrap_or_default()
    }

    /// Whether nothing is missing from the log's beginning on.
    #[must_use]
    pub fn whole(&self) -> bool {
        self.told.whole()
    }

    /// Holds the log against what was acknowledged, and against what others were told: the bots' own streams, and
    /// the same log read at another time.
    #[must_use]
    pub fn check(&self, records: &[Record], views: &[View], again: Option<&Log>) -> Findings {
        let mut found = Findings {
            hands: self.course.settled,
            hands_voided: self.course.voided,
            histories_lost: self.told.histories_lost(),
            late_ms: self.clocks.late_ms.clone(),
            told_late_ms: again.unwrap_or(self).clocks.told_late_ms.clone(),
            start_late_ms: self.clocks.start_late_ms.clone(),
            unverified: self.clocks.untimed,
            ..Findings::default()
        };
        if self.told.spoiled() {
            return self.spoiled(records, found);
        }
        found.take(self.told.faults());
        for (after, to) in self.told.trimmed() {
            let what = format!(
                "the server does not keep sequences {} to {to} any more: give it a longer --history",
                after + 1
            );
            found.add(Kind::Gap, *to, what);
        }
        found.take(&self.secrets);
        self.course.finish(self.last(), &mut found);
        self.chips.finish(self.last(), &mut found);
        found.take(&self.clocks.faults);
        self.decisions.finish(&self.told, records, &mut found);
        for view in views {
            view.compare(&self.told, &mut found);
        }
        if let Some(again) = again {
            told::compare("the spectator's stream", &again.told, &self.told, &mut found);
        }
        found.faults.sort_by_key(|fault| fault.sequence);
        found
    }

    /// Holds the log against the table's settlement records.
    pub fn check_books(&self, records: &[Settlement], found: &mut Findings) {
        if !self.told.spoiled() {
            self.books.finish(&self.told, records, found);
        }
    }

    /// A log that was followed while a part of it was lost cannot be counted: it would have to be read again.
    fn spoiled(&self, records: &[Record], mut found: Findings) -> Findings {
        let acks = records.iter().map(|record| record.acks.len() as u64).sum::<u64>();
        found.unverified += acks;
        let what = "the history was lost, and what is left of it cannot be read from its beginning: give the server a longer --history";
        found.add(Kind::Gap, self.last(), what.to_owned());
        found
    }
}
