//! Lost history (rules 10.2): the store came back without commits that somebody has seen.
//!
//! The table cannot go on as if they had not been: cards were shown, chips were paid. So the running hand is void, the
//! table stops, and numbers are skipped: what the lost commits were called by is never the name of anything else.

use crate::draft::{Draft, Step};
use crate::event::Event;
use crate::refusal::Refusal;
use crate::table::Table;
use crate::terms::StopScope;

/// The version after a loss is a multiple of this. Nobody can have seen so many commits of what was lost.
const VERSIONS: u64 = 1 << 20;
/// So many numbers of hands and sessions are skipped beyond those that were seen.
const NUMBERS: u64 = 1000;

/// The reason of the stop and of the void.
pub const REASON: &str = "history lost";

/// How far a table had come that somebody has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Its version.
    pub version: u64,
    /// Its last hand.
    pub hands: u64,
    /// Its last session.
    pub sessions: u64,
}

/// The versions that count for nothing: those after `last` up to `until`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    /// The last version before the loss that counts.
    pub last: u64,
    /// The last one that is skipped.
    pub until: u64,
}

impl Table {
    /// How far it has come.
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen { version: self.version, hands: self.hands, sessions: self.sessions }
    }

    /// Whether it is known already that a commit of this version which is not in the table's past was lost. Commits that
    /// come after a loss have greater versions than all that were lost in it.
    #[must_use]
    pub fn knows_loss_of(&self, version: u64) -> bool {
        self.lost.is_some_and(|lost| version <= lost.until)
    }

    pub(crate) fn lose(&mut self, lost: Lost, hands: u64, sessions: u64) {
        self.version = lost.until;
        (self.hands, self.sessions) = (hands, sessions);
        self.lost = Some(lost);
    }
}

impl Draft {
    pub(crate) fn lose_history(&mut self, seen: Seen) -> Step {
        if self.table.knows_loss_of(seen.version) {
            return Err(Refusal::NothingLost);
        }
        // The stop first, so that the end of the hand does not put the next one on the calendar.
        self.stop(StopScope::Malfunction, REASON)?;
        if let Some(number) = self.table.running_hand().map(|hand| hand.number) {
            self.void(number, REASON, "")?;
        }
        let last = self.table.version;
        let until = (last.max(seen.version) / VERSIONS + 1) * VERSIONS - 1;
        let hands = self.table.hands.max(seen.hands) + NUMBERS;
        let sessions = self.table.sessions.max(seen.sessions) + NUMBERS;
        let at = self.at;
        self.emit(Event::HistoryLost { last, until, hands, sessions, at });
        Ok(())
    }
}
