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
    /// When the command was received.
    pub(crate) at: Millis,
}

impl Draft {
    pub(crate) fn new(table: &Table, at: Millis) -> Draft {
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
