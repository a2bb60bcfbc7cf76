//! One line of a file of records, told apart by what is in it: the names of the files mean nothing.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::autopivot::AutoPivot;
use crate::difference::Differences;
use crate::evaluation::Evaluation;
use crate::hand::HandRecord;
use crate::showdown::Showdown;

/// What a line holds.
pub enum Record {
    /// A hold'em hand, from the blinds to the last pot.
    Hand(Box<HandRecord>),
    /// A player's two hands on a board.
    Evaluation(Evaluation),
    /// A Double Hold'em showdown.
    Showdown(Showdown),
    /// The pivot taken at a time-out.
    AutoPivot(AutoPivot),
}

impl Record {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with a line that is none of these.
    pub fn parse(line: &str) -> Result<Record, String> {
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let has = |field: &str| value.get(field).is_some();
        if has("variant") {
            read(value).map(Box::new).map(Record::Hand)
        } else if has("hand1") {
            read(value).map(Record::Evaluation)
        } else if has("committed") && has("pivots") {
            read(value).map(Record::Showdown)
        } else if has("pivot") && has("card") {
            read(value).map(Record::AutoPivot)
        } else {
            Err("neither a hand, an evaluation, a showdown nor a pivot".to_owned())
        }
    }

    /// What such records are called when they are counted.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Record::Hand(_) => "hands",
            Record::Evaluation(_) => "evaluations",
            Record::Showdown(_) => "showdowns",
            Record::AutoPivot(_) => "pivots at time-out",
        }
    }

    /// Replays it.
    #[must_use]
    pub fn check(&self) -> Differences {
        match self {
            Record::Hand(hand) => hand.check(),
            Record::Evaluation(evaluation) => evaluation.check(),
            Record::Showdown(showdown) => showdown.check(),
            Record::AutoPivot(pivot) => pivot.check(),
        }
    }

    /// Where the replay compares less than everything, and why. To be counted: nothing is left out in silence.
    #[must_use]
    pub fn exemptions(&self) -> Vec<&'static str> {
        match self {
            Record::Hand(hand) => hand.exemptions(),
            Record::Evaluation(_) | Record::Showdown(_) | Record::AutoPivot(_) => Vec::new(),
        }
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}
