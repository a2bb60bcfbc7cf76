//! What the log tells of commits: what somebody may have to look at, once, by whoever made the commit. No player is named.

use rules::event::Event;
use rules::payment::Phase;
use rules::terms::StopScope;

use crate::store::Commit;

/// Tells the log of what is in a commit that is done.
pub(crate) fn announce(commit: &Commit) {
    for event in &commit.events {
        let (table, version) = (&commit.key, commit.token.version);
        match event {
            Event::HandVoided { reason, requester, .. } => {
                // Who asks for it says why in words of his own: they are kept with the hand.
                let why = if requester.is_empty() { reason } else { "requested" };
                let hand = commit.table.hand.as_ref().map(|hand| hand.number);
                tracing::warn!(event = "hand_voided", %table, version, hand, why, "a hand is void");
            }
            Event::Stopped { scope: StopScope::Malfunction, reason, .. } => {
                tracing::error!(event = "table_stopped", %table, version, why = reason, "a table has stopped itself");
            }
            Event::PaymentMoved { number, phase: Phase::Parked, .. } => {
                tracing::error!(event = "payment_parked", %table, version, payment = number, "a payment waits for people");
            }
            _ => {}
        }
    }
}
