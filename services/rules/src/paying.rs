//! Payments between the operator's wallet and the table: what may begin, what an answer leads to, how people end what is
//! parked. See [`crate::payment`].

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::draft::{Draft, Step};
use crate::event::Event;
use crate::payment::{
    Deed, Ending, FIRST_TERM, MOST_OPEN, Note, Payment, Phase, Purpose, Requested, Resolution,
};
use crate::player::{PlayerId, Presence};
use crate::refusal::Refusal;
use crate::table::Life;
use crate::{Chips, Millis, SeatNo};

pub use crate::payment::Decline;

/// What the wallet said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It has done what was asked: booked, or cancelled.
    Done,
    /// It declines the debit.
    Declined(Decline),
    /// Nobody knows what it has done, and why not: it did not answer, or not to the question.
    Unknown(String),
}

/// When to ask again after an answer that was none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Again {
    /// Then, ms since the epoch.
    At(Millis),
    /// Not any more: the payment is parked.
    Never,
}

/// What somebody does about a parked payment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    /// Who.
    pub by: String,
    /// Why.
    pub reason: String,
}

/// A debit that is asked for.
pub(crate) struct Draw<'a> {
    pub(crate) player: &'a PlayerId,
    pub(crate) amount: Chips,
    pub(crate) name: &'a str,
    pub(crate) request: Requested,
}

impl Draft {
    /// A seat and its debit: the player is seated when the wallet has booked it.
    pub(crate) fn reserve(&mut self, draw: &Draw<'_>, wanted: Option<SeatNo>, post: bool) -> Step {
        let seat = self.may_sit(draw.player, wanted, draw.amount)?;
        self.may_draw()?;
        let session = self.table.sessions + 1;
        self.begin_debit(draw, Purpose::BuyIn { post }, seat, session);
        Ok(())
    }

    /// The debit of chips that are to be added.
    pub(crate) fn draw_chips(&mut self, draw: &Draw<'_>) -> Step {
        let seat = self.may_add(draw.player, draw.amount)?;
        let of_his = |p: &Payment| p.player == *draw.player && p.phase == Phase::Debiting;
        if let Some(other) = self.table.payments.iter().find(|p| of_his(p)) {
            return Err(Refusal::ChipsPending { pending: other.amount });
        }
        self.may_draw()?;
        let who = self.table.seat(seat).ok_or(Refusal::NotSeated)?;
        if !who.wallet {
            return Err(Refusal::OtherFunds);
        }
        let session = who.session;
        self.begin_debit(draw, Purpose::AddChips, seat, session);
        Ok(())
    }

    fn may_draw(&self) -> Step {
        let open = self.table.payments.len();
        if open < MOST_OPEN { Ok(()) } else { Err(Refusal::PaymentsPending { open }) }
    }

    fn begin_debit(&mut self, draw: &Draw<'_>, purpose: Purpose, seat: SeatNo, session: u64) {
        let payment = Payment {
            name: draw.name.to_string(),
            request: Some(draw.request),
            ..self.payment(purpose, draw.player.clone(), seat, session, draw.amount)
        };
        let payment = Box::new(payment);
        self.emit(Event::PaymentBegun { payment });
    }

    /// What a player whose money came from the wallet gets back to it.
    pub(crate) fn owe(
        &mut self,
        purpose: Purpose,
        player: PlayerId,
        seat: SeatNo,
        session: u64,
        amount: Chips,
    ) {
        if !amount.is_zero() {
            let payment = self.payment(purpose, player, seat, session, amount);
            let payment = Box::new(payment);
            self.emit(Event::PaymentBegun { payment });
        }
    }

    fn payment(
        &self,
        purpose: Purpose,
        player: PlayerId,
        seat: SeatNo,
        session: u64,
        amount: Chips,
    ) -> Payment {
        Payment {
            number: self.table.payments_begun + 1,
            epoch: self.table.lost.map_or(0, |lost| lost.until),
            purpose,
            phase: if purpose.is_debit() { Phase::Debiting } else { Phase::Crediting },
            player,
            seat,
            session,
            amount,
            hand: self.table.hands,
            name: String::new(),
            request: None,
            begun: self.at,
            since: self.at,
            attempts: 0,
            next_at: self.at + FIRST_TERM,
            error: String::new(),
            proposal: None,
            notes: Vec::new(),
        }
    }

    /// An answer of the wallet to what was asked of it in this phase. One that comes after the payment has moved on
    /// changes nothing: whoever moved it on knew that it might come.
    pub(crate) fn answered(&mut self, number: u64, phase: Phase, answer: &Answer, again: Again) -> Step {
        let payment = self.table.payment(number).ok_or(Refusal::PaymentUnknown)?;
        if payment.phase != phase {
            return Err(Refusal::PaymentUnknown);
        }
        let payment = payment.clone();
        match (phase, answer) {
            (Phase::Debiting, Answer::Done) => self.use_debit(&payment),
            (Phase::Debiting, Answer::Declined(why)) => {
                self.end(number, Ending::Declined(*why));
                self.release(&payment);
            }
            (Phase::Debiting, Answer::Unknown(error)) => self.cancel(&payment, error),
            (Phase::Cancelling, Answer::Done | Answer::Declined(_)) => self.end(number, Ending::Cancelled),
            (Phase::Crediting, Answer::Done) => self.end(number, Ending::Paid),
            (Phase::Crediting, Answer::Declined(_)) => self.not_done(number, "declined", again),
            (Phase::Cancelling | Phase::Crediting, Answer::Unknown(error)) => {
                self.not_done(number, error, again);
            }
            // Nobody asks anything of the wallet for it.
            (Phase::Parked, _) => return Err(Refusal::PaymentUnknown),
        }
        Ok(())
    }

    /// The chips of a debit that was booked come to the table, or go back if there is no place for them any more.
    fn use_debit(&mut self, payment: &Payment) {
        let Payment { number, purpose, player, seat, session, amount, name, .. } = payment.clone();
        match purpose {
            Purpose::BuyIn { post } if self.table.life == Life::Open => {
                let at = self.at;
                self.emit(Event::PlayerSeated {
                    seat,
                    player,
                    session,
                    buy_in: amount,
                    post,
                    transaction: name,
                    at,
                });
                self.end(number, Ending::Used);
                self.schedule();
            }
            Purpose::AddChips if self.takes_chips(seat, session) => {
                self.emit(Event::ChipsRequested { seat, amount, transaction: name });
                self.end(number, Ending::Used);
                if !self.table.in_running_hand(seat) {
                    self.settle_pending(seat, false);
                    self.schedule();
                }
            }
            _ => self.cancel(payment, "no place for the chips any more"),
        }
    }

    fn takes_chips(&self, seat: SeatNo, session: u64) -> bool {
        let open = self.table.life == Life::Open;
        let takes = |s: &crate::player::Seat| {
            s.session == session && s.presence != Presence::Leaving && s.pending.is_none()
        };
        open && self.table.seat(seat).is_some_and(takes)
    }

    /// A debit that was not booked, or for which there is no place.
    fn cancel(&mut self, payment: &Payment, error: &str) {
        self.move_on(payment.number, Phase::Cancelling, error);
        self.release(payment);
    }

    /// The seat that this debit held is free.
    fn release(&mut self, payment: &Payment) {
        if payment.reserves() {
            let Payment { seat, player, session, .. } = payment.clone();
            self.emit(Event::SeatReleased { seat, player, session });
        }
    }

    fn move_on(&mut self, number: u64, phase: Phase, error: &str) {
        let (at, error) = (self.at, error.to_string());
        let next_at = at + FIRST_TERM;
        self.emit(Event::PaymentMoved { number, phase, error, next_at, at });
    }

    fn end(&mut self, number: u64, ending: Ending) {
        let at = self.at;
        self.emit(Event::PaymentEnded { number, ending, at });
    }

    fn not_done(&mut self, number: u64, error: &str, again: Again) {
        match again {
            Again::At(next_at) => {
                let error = error.to_string();
                self.emit(Event::PaymentTried { number, error, next_at });
            }
            Again::Never => {
                self.move_on(number, Phase::Parked, error);
                let said = Said { by: String::new(), reason: error.to_string() };
                self.note(number, Deed::Parked, &said);
            }
        }
    }

    /// Whoever commits this makes the calls that are due, until then.
    pub(crate) fn take_payments(&mut self, until: Millis) -> Step {
        let due = self.table.payments.iter().filter(|p| p.phase != Phase::Parked && p.next_at <= self.at);
        let numbers: Vec<u64> = due.map(|payment| payment.number).collect();
        if numbers.is_empty() {
            return Err(Refusal::NotDue { at: self.table.next_payment() });
        }
        self.emit(Event::PaymentsTaken { numbers, until });
        Ok(())
    }

    fn parked(&self, number: u64) -> Result<&Payment, Refusal> {
        let payment = self.table.payment(number).ok_or(Refusal::PaymentUnknown)?;
        if payment.phase == Phase::Parked { Ok(payment) } else { Err(Refusal::PaymentNotParked) }
    }

    pub(crate) fn retry_payment(&mut self, number: u64, said: &Said) -> Step {
        let debit = self.parked(number)?.purpose.is_debit();
        self.move_on(number, if debit { Phase::Cancelling } else { Phase::Crediting }, "");
        self.note(number, Deed::Retried, said);
        Ok(())
    }

    pub(crate) fn propose_end(&mut self, number: u64, resolution: Resolution, said: &Said) -> Step {
        self.parked(number)?;
        let (by, reason, at) = (said.by.clone(), said.reason.clone(), self.at);
        self.emit(Event::PaymentProposed { number, resolution, by, reason, at });
        self.note(number, Deed::Proposed, said);
        Ok(())
    }

    /// Two people: nobody ends a payment by himself.
    pub(crate) fn confirm_end(&mut self, number: u64, resolution: Resolution, said: &Said) -> Step {
        let proposal = self.parked(number)?.proposal.as_ref();
        let proposal = proposal.filter(|p| p.resolution == resolution).ok_or(Refusal::NothingProposed)?;
        if proposal.by == said.by {
            return Err(Refusal::SamePerson);
        }
        self.note(number, Deed::Confirmed, said);
        self.end(number, Ending::Resolved(resolution));
        Ok(())
    }

    fn note(&mut self, number: u64, deed: Deed, said: &Said) {
        let note = Note { deed, by: said.by.clone(), reason: said.reason.clone(), at: self.at };
        self.emit(Event::PaymentNoted { number, note });
    }
}
