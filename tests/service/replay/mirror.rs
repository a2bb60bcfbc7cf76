//! The same hand in the rules alone, beside the one in the service.

use conformance::setup::{NOW, Setup};
use fulcrum::pb::v1;
use rules::event::Event;
use rules::result::HandResult;
use rules::{Ask, Command, Refusal, Table};

use super::messages;

/// A table without a service.
pub struct Mirror {
    table: Table,
    result: Option<HandResult>,
}

impl Mirror {
    /// The hand has begun.
    ///
    /// # Errors
    /// If the rules do not let it begin.
    pub fn begin(setup: &Setup) -> Result<Mirror, Refusal> {
        let mut mirror = Mirror { table: setup.seated()?, result: None };
        mirror.ask(setup.start())?;
        Ok(mirror)
    }

    /// Asks something of the table.
    ///
    /// # Errors
    /// The refusal; nothing has changed then.
    pub fn ask(&mut self, ask: Ask) -> Result<(), Refusal> {
        let (events, table) = self.table.step(&Command { at: NOW, ask })?;
        self.table = table;
        for event in events {
            if let Event::HandSettled(result) = event {
                self.result = Some(*result);
            }
        }
        Ok(())
    }

    /// What the player to act may do.
    pub fn legal(&self) -> Option<v1::LegalActions> {
        self.table.legal_now().map(|legal| messages::legal(&legal))
    }

    /// How the hand was paid.
    pub fn settled(&self) -> Option<v1::SettledHand> {
        self.result.as_ref().map(messages::settled)
    }
}
