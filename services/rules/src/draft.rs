//! A decision in the making: a copy of the table that each event of the decision is folded into at once, so that
//! the next step sees it.

use alloc::vec::Vec;

use crate::Millis;
use crate::event::Event;
use crate::refusal::Refusal;
use crate::table::Table;

pub(crate) type Step = Result<(), Refusal>;

pub(crate) struct Draft {
    pub(crate) table: Table,
    pub(crate) events: Vec<Event>,
    /// When the command was received, but not before the question that waits.
    pub(crate) at: Millis,
}

impl Draft {
    pub(crate) fn new(table: &Table, at: Millis) -> Draft {
        let prompt = table.running_hand().and_then(|hand| hand.prompt);
        // A stamp from before the prompt (another machine's clock) must not start later clocks early.
        let at = at.max(prompt.map_or(Millis::ZERO, |prompt| prompt.at));
        Draft { table: table.clone(), events: Vec::new(), at }
    }

    pub(crate) fn emit(&mut self, event: Event) {
        self.table.evolve(&event);
        self.events.push(event);
    }

    pub(crate) fn finish(mut self) -> (Vec<Event>, Table) {
        self.table.version += 1;
        (self.events, self.table)
    }
}
