//! Folding events of payments between the operator's wallet and the table.

use crate::event::Event;
use crate::payment::{Ending, Payment, Proposal, Resolution};
use crate::table::Table;

impl Table {
    pub(crate) fn evolve_payment(&mut self, event: &Event) {
        match event {
            Event::PaymentBegun { payment } => self.begin_payment(payment),
            Event::PaymentMoved { number, phase, error, next_at, at } => self.with_payment(*number, |p| {
                (p.phase, p.next_at, p.since) = (*phase, *next_at, *at);
                (p.attempts, p.proposal) = (0, None);
                p.error.clone_from(error);
            }),
            Event::PaymentTried { number, error, next_at } => self.with_payment(*number, |p| {
                p.next_at = *next_at;
                p.attempts = p.attempts.saturating_add(1);
                p.error.clone_from(error);
            }),
            Event::PaymentsTaken { numbers, until } => {
                for number in numbers {
                    self.with_payment(*number, |p| p.next_at = *until);
                }
            }
            Event::PaymentProposed { number, resolution, by, reason, at } => {
                let (resolution, by, reason, at) = (*resolution, by.clone(), reason.clone(), *at);
                let proposal = Proposal { resolution, by, reason, at };
                self.with_payment(*number, |p| p.proposal = Some(proposal));
            }
            Event::PaymentNoted { number, note } => self.with_payment(*number, |p| p.note(note.clone())),
            Event::PaymentEnded { number, ending, .. } => self.end_payment(*number, *ending),
            _ => self.evolve_hand(event),
        }
    }

    fn begin_payment(&mut self, payment: &Payment) {
        self.payments_begun = payment.number;
        if payment.purpose.is_debit() {
            self.sessions = self.sessions.max(payment.session);
        } else {
            self.ledger.owed += payment.amount;
        }
        self.payments.push(payment.clone());
    }

    fn with_payment(&mut self, number: u64, change: impl FnOnce(&mut Payment)) {
        if let Some(payment) = self.payment_mut(number) {
            change(payment);
        }
    }

    fn end_payment(&mut self, number: u64, ending: Ending) {
        let Some(place) = self.payments.iter().position(|payment| payment.number == number) else {
            return;
        };
        let payment = self.payments.remove(place);
        match ending {
            Ending::Used => self.with_seat(payment.seat, |s| s.wallet |= s.session == payment.session),
            Ending::Paid | Ending::Resolved(Resolution::Settled) if payment.is_owed() => {
                self.ledger.delivered += payment.amount;
            }
            Ending::Resolved(Resolution::WrittenOff) if payment.is_owed() => {
                self.ledger.written_off += payment.amount;
            }
            Ending::Declined(_) | Ending::Cancelled | Ending::Paid | Ending::Resolved(_) => {}
        }
    }
}
