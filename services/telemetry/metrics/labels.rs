//! What metrics are told apart by. There are as many values as this program and its token file have: none is a caller's.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::Arc;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use rules::config::{Game, Limit};
use tables::OperatorId;

/// No labels, of a metric that may not be there at all.
pub type Bare = [(&'static str, &'static str); 0];

/// An operator as metrics name him.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Operator(Arc<str>);

impl EncodeLabelValue for Operator {
    fn encode(&self, encoder: &mut LabelValueEncoder) -> Result<(), fmt::Error> {
        encoder.write_str(&self.0)
    }
}

/// The operators that this process knows. Others, of whom there may still be tables, are told together.
pub struct Operators {
    known: HashMap<OperatorId, Operator>,
    other: Operator,
}

impl Operators {
    /// These, and all others.
    #[must_use]
    pub fn new(operators: &[OperatorId]) -> Operators {
        let named = |operator: &OperatorId| (operator.clone(), Operator(operator.as_str().into()));
        Operators { known: operators.iter().map(named).collect(), other: Operator("other".into()) }
    }

    /// The label of this one.
    #[must_use]
    pub fn of(&self, operator: &OperatorId) -> Operator {
        self.known.get(operator).unwrap_or(&self.other).clone()
    }

    /// The labels of those that are known.
    pub fn known(&self) -> impl Iterator<Item = &Operator> {
        self.known.values()
    }
}

/// The label of a metric that is told by operator.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub struct OfOperator {
    /// Whose.
    pub operator: Operator,
}

/// Points from a value to the trace of what it was measured at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub struct Trace {
    trace_id: TraceId,
}

impl Trace {
    /// Of this id.
    #[must_use]
    pub const fn new(id: [u8; 16]) -> Trace {
        Trace { trace_id: TraceId(id) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct TraceId([u8; 16]);

impl EncodeLabelValue for TraceId {
    fn encode(&self, encoder: &mut LabelValueEncoder) -> Result<(), fmt::Error> {
        self.0.iter().try_for_each(|byte| write!(encoder, "{byte:02x}"))
    }
}

/// The game's name.
#[must_use]
pub const fn game(game: Game) -> &'static str {
    match game {
        Game::DoubleHoldem => "double",
        Game::TexasHoldem => "texas",
    }
}

/// The limit's name.
#[must_use]
pub const fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::NoLimit => "no_limit",
        Limit::PotLimit => "pot_limit",
        Limit::FixedLimit => "fixed_limit",
    }
}
