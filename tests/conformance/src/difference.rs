//! What a replay found to be otherwise than recorded.

use std::fmt;

/// One field that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The field of the record, with the player or the action where there are several.
    pub field: String,
    /// What the rules crate says.
    pub ours: String,
    /// What the record says.
    pub recorded: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { field, ours, recorded } = self;
        write!(f, "{field}: ours {ours}, recorded {recorded}")
    }
}

/// The differences of one record.
#[derive(Default, Debug)]
pub struct Differences(pub Vec<Difference>);

impl Differences {
    /// Notes a difference unless both are equal.
    pub fn compare<T: PartialEq + fmt::Debug>(&mut self, field: &str, ours: T, recorded: T) {
        if ours != recorded {
            self.0.push(Difference {
                field: field.to_owned(),
                ours: format!("{ours:?}"),
                recorded: format!("{recorded:?}"),
            });
        }
    }
}
