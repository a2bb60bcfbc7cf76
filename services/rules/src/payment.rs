//! Money on its way between a player's account with the operator and the table, where the service calls the operator's
//! wallet. It is part of the table, so that a seat is never taken without its debit, nor left without its credit.
//!
//! A debit reserves the seat. Its answer seats the player or frees the seat; if nobody knows whether the wallet has
//! booked it, the seat is free and the debit is cancelled, until the wallet says that it is. A credit is owed from the
//! moment when the player has left, until the wallet says that it has it. Neither is ever forgotten: what the wallet does
//! not answer is parked, for people to look into.

use alloc::string::String;
use alloc::vec::Vec;

use crate::player::PlayerId;
use crate::table::Table;
use crate::{Chips, Millis, SeatNo};

/// So many payments may be open at a table before it draws no more from the wallet.
pub const MOST_OPEN: usize = 64;
/// So long whoever committed a payment has to make the call; then anybody may.
pub const FIRST_TERM: Millis = Millis(15_000);
/// So many notes are kept of a payment, the latest ones.
const NOTES_KEPT: usize = 16;

/// What a payment is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// A debit: a seat is taken. `post`: he enters at once by posting (rules 2.4).
    BuyIn {
        /// He posts.
        post: bool,
    },
    /// A debit: chips are added (rules 9.2).
    AddChips,
    /// A credit: a player has left.
    CashOut,
    /// A credit: chips that did not fit (rules 9.2).
    Returned,
}

impl Purpose {
    /// Whether it takes money from the player's account.
    #[must_use]
    pub const fn is_debit(self) -> bool {
        matches!(self, Purpose::BuyIn { .. } | Purpose::AddChips)
    }
}

/// What is to be had from the wallet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Phase {
    /// That it books the debit.
    Debiting,
    /// That it takes the debit back, or keeps it from ever being booked.
    Cancelling,
    /// That it books the credit.
    Crediting,
    /// Nothing more: people have to see to it. Of a debit the cancel was not confirmed, of a credit the booking.
    Parked,
}

/// The request that asked for a debit. Its bytes mean nothing to the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Requested {
    /// The caller's name for it.
    pub id: [u8; 16],
    /// The hash of what he asked for.
    pub payload: [u8; 32],
}

/// How people end a payment that is parked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resolution {
    /// The money was moved by other means: the credit was paid, the debit given back.
    Settled,
    /// Nothing is moved: there is nothing to pay or to give back.
    WrittenOff,
}

/// A way to end a payment that somebody has proposed and somebody else has to confirm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// How.
    pub resolution: Resolution,
    /// Who proposes it.
    pub by: String,
    /// Why.
    pub reason: String,
    /// When, ms since the epoch.
    pub at: Millis,
}

/// What was done about a payment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// The wallet was not asked any more.
    Parked,
    /// Somebody let it be asked again.
    Retried,
    /// Somebody proposed how to end it.
    Proposed,
    /// Somebody else confirmed that.
    Confirmed,
}

/// An entry of a payment's own record, for auditors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// What was done.
    pub deed: Deed,
    /// Who did it; empty: the service.
    pub by: String,
    /// Why.
    pub reason: String,
    /// When, ms since the epoch.
    pub at: Millis,
}

/// Why a wallet declined a debit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Decline {
    /// It does not say.
    Unspecified,
    /// The player has less.
    Funds,
    /// It does not know him.
    Player,
    /// He may not play.
    Blocked,
    /// He has reached a limit.
    Limit,
    /// He has no account in this currency.
    Currency,
    /// The debit is cancelled.
    Cancelled,
}

/// How a payment ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The debit was booked, and its chips are at the table.
    Used,
    /// The wallet declined the debit.
    Declined(Decline),
    /// The debit is cancelled: nothing was taken, or it was given back.
    Cancelled,
    /// The credit was booked.
    Paid,
    /// Two people have ended it.
    Resolved(Resolution),
}

/// An open payment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payment {
    /// Counted from 1 at each table.
    pub number: u64,
    /// The last version that was skipped before it began, 0 for none: after a loss of history numbers may come again.
    pub epoch: u64,
    /// What it is for.
    pub purpose: Purpose,
    /// What is to be had from the wallet.
    pub phase: Phase,
    /// Whose money.
    pub player: PlayerId,
    /// His seat.
    pub seat: SeatNo,
    /// His session; that of a buy-in begins with it.
    pub session: u64,
    /// How much, in minor units.
    pub amount: Chips,
    /// The table's last hand when it began.
    pub hand: u64,
    /// Its name at the wallet, of a debit; that of a credit follows from its number. The events that bring its chips to
    /// the table tell it.
    pub name: String,
    /// Who asked for it; nobody asks for a credit.
    pub request: Option<Requested>,
    /// When it began, ms since the epoch.
    pub begun: Millis,
    /// Since when it is in this phase, ms since the epoch; of one that is parked, when it was.
    pub since: Millis,
    /// How often its phase was tried in vain.
    pub attempts: u32,
    /// When anybody may make the call, ms since the epoch.
    pub next_at: Millis,
    /// Why the last call came to nothing; empty: none has.
    pub error: String,
    /// How somebody wants to end it.
    pub proposal: Option<Proposal>,
    /// What people did about it.
    pub notes: Vec<Note>,
}

impl Payment {
    /// Whether it holds a seat.
    #[must_use]
    pub fn reserves(&self) -> bool {
        self.phase == Phase::Debiting && matches!(self.purpose, Purpose::BuyIn { .. })
    }

    /// Whether it is the same payment, whatever has become of it since: after a loss of history (rules 10.2) its number may
    /// be another one's.
    #[must_use]
    pub fn is_same(&self, other: &Payment) -> bool {
        let what = |p: &Payment| (p.number, p.epoch, p.begun, p.purpose, p.session, p.amount);
        what(self) == what(other) && self.player == other.player && self.request == other.request
    }

    /// Whether the player is still owed this: a credit that is not booked.
    #[must_use]
    pub fn is_owed(&self) -> bool {
        !self.purpose.is_debit()
    }

    pub(crate) fn note(&mut self, note: Note) {
        if self.notes.len() == NOTES_KEPT {
            self.notes.remove(0);
        }
        self.notes.push(note);
    }
}

impl Table {
    /// The open payment of this number.
    #[must_use]
    pub fn payment(&self, number: u64) -> Option<&Payment> {
        self.payments.iter().find(|payment| payment.number == number)
    }

    pub(crate) fn payment_mut(&mut self, number: u64) -> Option<&mut Payment> {
        self.payments.iter_mut().find(|payment| payment.number == number)
    }

    /// The open payment that this request asked for.
    #[must_use]
    pub fn payment_of(&self, request: &[u8; 16]) -> Option<&Payment> {
        self.payments.iter().find(|payment| payment.request.is_some_and(|r| r.id == *request))
    }

    /// The seats that wait for their player's debit.
    pub fn reserved(&self) -> impl Iterator<Item = &Payment> {
        self.payments.iter().filter(|payment| payment.reserves())
    }

    /// What players are owed that no wallet has booked yet.
    #[must_use]
    pub fn owed(&self) -> Chips {
        self.payments.iter().filter(|payment| payment.is_owed()).map(|payment| payment.amount).sum()
    }

    /// When the next call to the wallet is due.
    #[must_use]
    pub(crate) fn next_payment(&self) -> Option<Millis> {
        let waiting = self.payments.iter().filter(|payment| payment.phase != Phase::Parked);
        waiting.map(|payment| payment.next_at).min()
    }
}
