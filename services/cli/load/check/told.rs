//! What a stream told, as a number a message: sequences without gaps, and whether two viewers were told the same.

use std::hash::{DefaultHasher, Hasher};

use prost::Message;

use super::{Fault, Findings, Kind};
use crate::pb::v1::table_event::Event;
use crate::pb::v1::table_message::Content;
use crate::pb::v1::{TableMessage, Update};

/// What a stream told.
#[derive(Default)]
pub struct Told {
    /// Sequence and digest of each update, in order.
    entries: Vec<(u64, u64)>,
    last: Option<u64>,
    /// So many updates were followed by a snapshot, since the stream could not go on after them.
    recalled: usize,
    /// A part is missing, or it began with a snapshot.
    broken: bool,
    /// What came after the first of the two, up to the second, was left out by the stream.
    holes: Vec<(u64, u64)>,
    /// The same, where the stream said so: the server does not keep it any more.
    trimmed: Vec<(u64, u64)>,
    /// What came after the first of the two, up to the second, was lost by the store.
    lost: Vec<(u64, u64)>,
    spoiled: bool,
    faults: Vec<Fault>,
}

impl Told {
    /// Hears a message; `public` is its update without what only this viewer may see.
    pub fn hear(&mut self, message: &TableMessage, public: Option<&Update>) {
        match &message.content {
            Some(Content::Compacted(compacted)) if self.last.is_none() => {
                self.last = Some(compacted.after_sequence);
            }
            Some(Content::Snapshot(_)) => self.restart(message.sequence),
            Some(Content::Update(update)) => {
                self.follow(message.sequence, loss(update));
                self.entries.push((message.sequence, digest(public.unwrap_or(update))));
                self.last = Some(message.sequence);
            }
            _ => {}
        }
    }

    fn restart(&mut self, sequence: u64) {
        self.broken = true;
        self.recalled = self.entries.len();
        if let Some(last) = self.last
            && sequence > last
        {
            self.trimmed.push((last, sequence));
        }
        self.last = Some(sequence);
    }

    /// The next sequence is one more, but where the history was lost.
    fn follow(&mut self, sequence: u64, lost: Option<(u64, u64)>) {
        let last = self.last.unwrap_or_default();
        let expected = last + 1;
        if let Some((after, until)) = lost {
            self.lost.push((after, until));
            if last < after || sequence <= until {
                let what = format!("sequence {sequence} tells of a loss of {after} to {until}, after {last}");
                self.fault(sequence, what);
            }
            // What was told of it before counts for nothing, and all that was counted with it.
            self.spoiled |= last > after;
        } else if sequence < expected {
            self.fault(
                sequence,
                format!("the stream tells sequence {sequence} again, after {}", expected - 1),
            );
        } else if sequence > expected {
            self.broken = true;
            self.holes.push((expected - 1, sequence - 1));
            self.fault(
                sequence,
                format!("sequences {expected} to {} are missing from the stream", sequence - 1),
            );
        }
    }

    fn fault(&mut self, sequence: u64, what: String) {
        self.faults.push(Fault { kind: Kind::Gap, sequence, what });
    }

    /// The last sequence.
    #[must_use]
    pub fn last(&self) -> Option<u64> {
        self.last
    }

    /// Whether it has all from sequence 1 on.
    #[must_use]
    pub fn whole(&self) -> bool {
        !self.broken
    }

    /// What is wrong with its sequences.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// How often the history was lost.
    #[must_use]
    pub fn histories_lost(&self) -> u64 {
        self.lost.len() as u64
    }

    /// Whether the log itself tells of a loss in which something of this sequence can have been. Those up to the last that
    /// counts can, too: the table may have been played on elsewhere before the loss was noticed.
    #[must_use]
    pub fn tells_lost(&self, sequence: u64) -> bool {
        self.lost.iter().any(|(_, until)| sequence <= *until)
    }

    /// Whether something was told that was lost afterwards.
    #[must_use]
    pub fn spoiled(&self) -> bool {
        self.spoiled
    }

    /// Whether this sequence is missing, so that nothing can be said about it.
    #[must_use]
    pub fn hides(&self, sequence: u64) -> bool {
        within(&self.holes, sequence) || within(&self.trimmed, sequence)
    }

    /// What the server does not keep any more: what came after the first of the two, up to the second.
    #[must_use]
    pub fn trimmed(&self) -> &[(u64, u64)] {
        &self.trimmed
    }

    fn digest_at(&self, sequence: u64) -> Option<u64> {
        let at = self.entries.binary_search_by_key(&sequence, |(sequence, _)| *sequence).ok()?;
        self.entries.get(at).map(|(_, digest)| *digest)
    }
}

/// What an update says that was lost: what came after the first of the two sequences, up to the second.
pub fn loss(update: &Update) -> Option<(u64, u64)> {
    update.events.iter().find_map(|told| match &told.event {
        Some(Event::HistoryLost(lost)) => Some((lost.last_sequence, lost.until_sequence)),
        _ => None,
    })
}

fn within(ranges: &[(u64, u64)], sequence: u64) -> bool {
    ranges.iter().any(|(after, to)| sequence > *after && sequence <= *to)
}

/// Holds what a viewer was told against the log. The first difference is told in words, all are counted.
pub fn compare(who: &str, view: &Told, log: &Told, found: &mut Findings) {
    for (place, (sequence, digest)) in view.entries.iter().enumerate() {
        match log.digest_at(*sequence) {
            Some(same) if same == *digest => {}
            // The table went on elsewhere before its loss was noticed; then the viewer was told to begin anew.
            _ if place < view.recalled && log.tells_lost(*sequence) => {}
            Some(_) => {
                found.add(Kind::View, *sequence, format!("{who} was told something else than the log says"));
            }
            None if within(&log.lost, *sequence) => {}
            None if log.hides(*sequence) => found.unverified += 1,
            None => found.add(Kind::View, *sequence, format!("{who} was told what is not in the log")),
        }
    }
    let (heard, last) = (view.last.unwrap_or_default(), log.last.unwrap_or_default());
    if heard < last {
        found.add(
            Kind::View,
            heard,
            format!("{who} heard nothing after sequence {heard}; the log goes on to {last}"),
        );
    }
    for fault in &view.faults {
        found.add(Kind::View, fault.sequence, format!("{who}: {}", fault.what));
    }
}

/// A number for an update: another one for another update.
fn digest(update: &Update) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&update.encode_to_vec());
    hasher.finish()
}
