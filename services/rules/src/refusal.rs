//! Why a table says no. Every refusal names its rule and what would be legal; nothing has changed.

use alloc::vec::Vec;

use crate::config::ConfigFault;
use crate::legal::Legal;
use crate::{Chips, Millis, SeatNo, SeatSet};

/// A refusal, in order of precedence: of several reasons the first one here is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The settings cannot be (rules 1, 2, 7, 8).
    BadConfig(Vec<ConfigFault>),
    /// The table is closed or closing (rules 9.4).
    TableClosed,
    /// A soft stop is in force (rules 9.4).
    TableStopped,
    /// No such stop is in force (rules 9.4).
    NotStopped,
    /// That cannot be done while a hand runs (rules 9.2, 10.1).
    HandRunning,
    /// The table has no seat of this number (rules 1.2).
    NoSuchSeat {
        /// How many seats it has.
        seats: u8,
    },
    /// Somebody sits there (rules 1.5).
    SeatTaken {
        /// The free seats.
        free: SeatSet,
    },
    /// The player already sits at this table (rules 1.5).
    AlreadySeated {
        /// Where.
        seat: SeatNo,
    },
    /// No seat is free (rules 1.2).
    TableFull,
    /// The player does not sit at this table (rules 1.5).
    NotSeated,
    /// The player is leaving (rules 9.1).
    Leaving,
    /// Chips of an earlier request still wait for the end of the hand (rules 9.2).
    ChipsPending {
        /// How many.
        pending: Chips,
    },
    /// He left with more a short while ago and has to bring it back (rules 9.2).
    BuyInBelowLeft {
        /// What he left with.
        least: Chips,
        /// Until when this holds, ms since the epoch.
        until: Millis,
    },
    /// Outside the table's buy-in (rules 9.2).
    BuyInOutOfRange {
        /// The least that would be accepted now.
        min: Chips,
        /// The most.
        max: Chips,
    },
    /// The player already sits out (rules 9.3).
    AlreadySittingOut,
    /// The player neither sits out nor wishes to (rules 9.3).
    NotSittingOut,
    /// He has no chips to play with (rules 9.2).
    NoChips,
    /// Too early: due only then (rules 8.2).
    NotDue {
        /// When, ms since the epoch; `None`: nothing is due.
        at: Option<Millis>,
    },
    /// That hand is over (rules 3.3).
    HandOver {
        /// The table's last hand.
        last: u64,
    },
    /// There has been no such hand (rules 3.3).
    HandUnknown {
        /// The table's last hand.
        last: u64,
    },
    /// No hand runs (rules 10.1).
    NoHandRunning,
    /// The player is not dealt into the hand (rules 3.1).
    NotInHand,
    /// The turn has been decided otherwise (rules 5.8).
    TurnPassed {
        /// The turn that is waited for; 0 for none.
        current: u32,
    },
    /// The turn has not come yet (rules 5.8).
    TurnNotReached {
        /// The turn that is waited for; 0 for none.
        current: u32,
    },
    /// The pivot is picked; a pick is final (rules 4.2).
    PivotPicked,
    /// Somebody else has to decide (rules 3.2).
    NotYourTurn {
        /// Who.
        seats: SeatSet,
    },
    /// The pivot is to be picked first (rules 4.1).
    PivotDue,
    /// No pivot is to be picked now (rules 4.1).
    NoPivotDue,
    /// The clock had run out when the decision arrived (rules 8.2).
    ClockRanOut {
        /// When, grace included, ms since the epoch.
        at: Millis,
    },
    /// That action is not legal here (rules 5.8).
    IllegalAction {
        /// What is.
        legal: Legal,
    },
    /// The amount is not legal here (rules 5.8).
    IllegalAmount {
        /// What is.
        legal: Legal,
    },
    /// There is nothing to show (rules 6.6).
    NothingToShow,
    /// That outage has been given back (rules 8.4).
    AlreadyCredited,
    /// It is known that those commits are lost (rules 10.2).
    NothingLost,
    /// Too much money is on its way between this table and the operator's wallet (rules 10.3).
    PaymentsPending {
        /// How many payments are open.
        open: usize,
    },
    /// His money came another way than from the operator's wallet, or by it and these chips do not (rules 9.2).
    OtherFunds,
    /// There is no such open payment, or not any more (rules 10.3).
    PaymentUnknown,
    /// The payment is not parked (rules 10.3).
    PaymentNotParked,
    /// Nobody has proposed to end the payment so (rules 10.3).
    NothingProposed,
    /// Who has proposed it cannot confirm it (rules 10.3).
    SamePerson,
    /// The setting cannot change any more (rules 1.3).
    FixedSetting {
        /// Which, as in the contract.
        field: &'static str,
    },
}

impl Refusal {
    /// The stable name, as in `google.rpc.ErrorInfo.reason`.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        self.entry().0
    }

    /// The number of the rule in the rule book.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        self.entry().1
    }

    const fn entry(&self) -> (&'static str, &'static str) {
        match self {
            Refusal::BadConfig(_) => ("BAD_CONFIG", "1.1"),
            Refusal::TableClosed => ("TABLE_CLOSED", "9.4"),
            Refusal::TableStopped => ("TABLE_STOPPED", "9.4"),
            Refusal::NotStopped => ("NOT_STOPPED", "9.4"),
            Refusal::HandRunning => ("HAND_RUNNING", "9.2"),
            Refusal::NoHandRunning => ("NO_HAND_RUNNING", "10.1"),
            Refusal::NoSuchSeat { .. } => ("NO_SUCH_SEAT", "1.2"),
            Refusal::SeatTaken { .. } => ("SEAT_TAKEN", "1.5"),
            Refusal::TableFull => ("TABLE_FULL", "1.2"),
            Refusal::AlreadySeated { .. } => ("ALREADY_SEATED", "1.5"),
            Refusal::NotSeated => ("NOT_SEATED", "1.5"),
            Refusal::Leaving => ("LEAVING", "9.1"),
            Refusal::BuyInOutOfRange { .. } => ("BUY_IN_OUT_OF_RANGE", "9.2"),
            Refusal::BuyInBelowLeft { .. } => ("BUY_IN_BELOW_LEFT", "9.2"),
            Refusal::ChipsPending { .. } => ("CHIPS_PENDING", "9.2"),
            Refusal::AlreadySittingOut => ("ALREADY_SITTING_OUT", "9.3"),
            Refusal::NotSittingOut => ("NOT_SITTING_OUT", "9.3"),
            Refusal::NoChips => ("NO_CHIPS", "9.2"),
            Refusal::NotDue { .. } => ("NOT_DUE", "8.2"),
            Refusal::HandOver { .. } => ("HAND_OVER", "3.3"),
            Refusal::HandUnknown { .. } => ("HAND_UNKNOWN", "3.3"),
            Refusal::NotInHand => ("NOT_IN_HAND", "3.1"),
            Refusal::TurnPassed { .. } => ("TURN_PASSED", "5.8"),
            Refusal::TurnNotReached { .. } => ("TURN_NOT_REACHED", "5.8"),
            Refusal::NotYourTurn { .. } => ("NOT_YOUR_TURN", "3.2"),
            Refusal::PivotDue => ("PIVOT_DUE", "4.1"),
            Refusal::PivotPicked => ("PIVOT_PICKED", "4.2"),
            Refusal::NoPivotDue => ("NO_PIVOT_DUE", "4.1"),
            Refusal::ClockRanOut { .. } => ("CLOCK_RAN_OUT", "8.2"),
            Refusal::IllegalAction { .. } => ("ILLEGAL_ACTION", "5.8"),
            Refusal::IllegalAmount { .. } => ("ILLEGAL_AMOUNT", "5.8"),
            Refusal::NothingToShow => ("NOTHING_TO_SHOW", "6.6"),
            Refusal::AlreadyCredited => ("ALREADY_CREDITED", "8.4"),
            Refusal::NothingLost => ("NOTHING_LOST", "10.2"),
            Refusal::PaymentsPending { .. } => ("PAYMENTS_PENDING", "10.3"),
            Refusal::OtherFunds => ("OTHER_FUNDS", "9.2"),
            Refusal::PaymentUnknown => ("PAYMENT_UNKNOWN", "10.3"),
            Refusal::PaymentNotParked => ("PAYMENT_NOT_PARKED", "10.3"),
            Refusal::NothingProposed => ("NOTHING_PROPOSED", "10.3"),
            Refusal::SamePerson => ("SAME_PERSON", "10.3"),
            Refusal::FixedSetting { .. } => ("FIXED_SETTING", "1.3"),
        }
    }
}
