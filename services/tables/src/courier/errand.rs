//! One errand to a wallet: which call comes first, and what follows from a reply. Pure, so that every order of calls, replies
//! and crashes can be tried out.

use rules::event::Event;
use rules::paying::Answer;
use rules::payment::{Decline, Phase};

use crate::wallet::{Call, Reply};

/// What follows from a reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// Another call.
    Ask(Call),
    /// That is the answer.
    Say(Answer),
}

/// What a commit asks of the courier: payments by their numbers, and whether they may have been called for before.
#[must_use]
pub fn errands(events: &[Event]) -> Vec<(u64, bool)> {
    let mut errands = Vec::new();
    for event in events {
        match event {
            Event::PaymentBegun { payment } => errands.push((payment.number, false)),
            Event::PaymentMoved { number, .. } => errands.push((*number, true)),
            Event::PaymentsTaken { numbers, .. } => errands.extend(numbers.iter().map(|n| (*n, true))),
            _ => {}
        }
    }
    errands
}

/// The first call of an errand; none for a payment that is parked. `again`: somebody may have made it before, and nobody
/// knows what came of it.
#[must_use]
pub fn first(phase: Phase, again: bool) -> Option<Call> {
    match phase {
        Phase::Debiting | Phase::Crediting if again => Some(Call::Find),
        Phase::Debiting => Some(Call::Debit),
        Phase::Crediting => Some(Call::Credit),
        // It may be sent as often as one likes.
        Phase::Cancelling => Some(Call::Cancel),
        Phase::Parked => None,
    }
}

/// What to do after a reply to a call of an errand in this phase.
#[must_use]
pub fn after(phase: Phase, call: Call, reply: Reply) -> Next {
    match phase {
        Phase::Debiting => debiting(call, reply),
        Phase::Cancelling => cancelling(reply),
        Phase::Crediting | Phase::Parked => crediting(call, reply),
    }
}

fn debiting(call: Call, reply: Reply) -> Next {
    match reply {
        Reply::Booked => Next::Say(Answer::Done),
        Reply::Declined(why) => Next::Say(Answer::Declined(why)),
        Reply::Cancelled => Next::Say(Answer::Declined(Decline::Cancelled)),
        Reply::Missing | Reply::Unknown(_) if call == Call::Debit => Next::Ask(Call::Find),
        // A debit may still be on its way, also one that the wallet has not heard of: it is cancelled.
        Reply::Missing => unknown("the wallet has not heard of the debit"),
        Reply::Unknown(error) => Next::Say(Answer::Unknown(error)),
    }
}

fn cancelling(reply: Reply) -> Next {
    match reply {
        Reply::Cancelled | Reply::Declined(_) => Next::Say(Answer::Done),
        Reply::Booked => unknown("the wallet says that the debit is still booked"),
        Reply::Missing => unknown("the wallet does not take a cancel before its debit"),
        Reply::Unknown(error) => Next::Say(Answer::Unknown(error)),
    }
}

fn crediting(call: Call, reply: Reply) -> Next {
    match reply {
        Reply::Booked => Next::Say(Answer::Done),
        Reply::Missing if call == Call::Find => Next::Ask(Call::Credit),
        Reply::Missing => unknown("the wallet has not heard of the credit"),
        Reply::Declined(_) => unknown("the wallet declines the credit"),
        Reply::Cancelled => unknown("the wallet says that the credit is cancelled"),
        Reply::Unknown(error) => Next::Say(Answer::Unknown(error)),
    }
}

fn unknown(error: &str) -> Next {
    Next::Say(Answer::Unknown(error.to_owned()))
}
