//! What is told of a table's open payments between the operator's wallet and the table.

use rules::payment::{Payment, Phase};
use serde::Serialize;

use super::words;

/// An open payment. Amounts in minor units, times as RFC 3339.
#[derive(Serialize)]
pub struct Open {
    pub number: u64,
    pub purpose: &'static str,
    pub phase: &'static str,
    pub player: String,
    pub seat: u8,
    pub session: u64,
    pub amount: u64,
    /// The name at the wallet; that of a credit follows from table and number.
    pub transaction: Option<String>,
    pub since: String,
    pub attempts: u32,
    /// When the wallet is asked next; a parked payment is not asked for.
    pub next_at: Option<String>,
    /// Why the last call came to nothing.
    pub error: Option<String>,
    /// How somebody wants to end it, and who.
    pub proposal: Option<String>,
}

impl Open {
    /// What is told of this one.
    pub fn new(payment: &Payment) -> Open {
        let some = |text: &String| (!text.is_empty()).then(|| text.clone());
        let proposal =
            |p: &rules::payment::Proposal| format!("{} by {}", words::resolution(p.resolution), p.by);
        Open {
            number: payment.number,
            purpose: words::purpose(payment.purpose),
            phase: words::phase(payment.phase),
            player: payment.player.to_string(),
            seat: payment.seat.number(),
            session: payment.session,
            amount: payment.amount.0,
            transaction: some(&payment.name),
            since: words::time(payment.since),
            attempts: payment.attempts,
            next_at: (payment.phase != Phase::Parked).then(|| words::time(payment.next_at)),
            error: some(&payment.error),
            proposal: payment.proposal.as_ref().map(proposal),
        }
    }

    /// The same as a line of text, without the number.
    pub fn text(&self) -> String {
        let Open { purpose, phase, player, amount, since, .. } = self;
        let mut text = format!("{purpose} of {amount}, {player}, {phase} since {since}");
        if self.attempts > 0 {
            text += &format!(", {} times in vain", self.attempts);
        }
        if let Some(error) = &self.error {
            text += &format!(" ({error})");
        }
        match (&self.next_at, &self.proposal) {
            (Some(at), _) => text + &format!(", next call {at}"),
            (None, Some(proposal)) => text + &format!(", to be {proposal}"),
            (None, None) => text,
        }
    }
}
