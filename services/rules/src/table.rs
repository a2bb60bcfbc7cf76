//! The whole state of a table between two events.

use alloc::string::String;
use alloc::vec::Vec;

use crate::blinds::Positions;
use crate::config::TableConfig;
use crate::hand::{Hand, PastHand};
use crate::lost::Lost;
use crate::payment::Payment;
use crate::player::{PlayerId, Seat};
use crate::terms::StopScope;
use crate::{Chips, Millis, SeatNo, SeatSet};

/// A soft stop and why (rules 9.4).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    /// What it covers.
    pub scope: StopScope,
    /// The reason given.
    pub reason: String,
    /// Since when, ms since the epoch.
    pub at: Millis,
}

/// The table's life.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Life {
    /// Hands are played.
    Open,
    /// It closes when the running hand is over.
    Closing {
        /// The reason given.
        reason: String,
    },
    /// Closed for good.
    Closed {
        /// The reason given.
        reason: String,
    },
}

/// Chips that crossed the table's edge (rules 10.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ledger {
    /// Brought to the table.
    pub bought_in: Chips,
    /// Taken away by players who left.
    pub paid_out: Chips,
    /// Taken as rake.
    pub raked: Chips,
    /// Of what was paid out or did not fit, what goes to the operator's wallet.
    pub owed: Chips,
    /// Of that, what the wallet has booked, or people have settled by other means.
    pub delivered: Chips,
    /// Of that, what people have written off.
    pub written_off: Chips,
}

/// What somebody left with, for rules 9.2.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Departed {
    /// Who.
    pub player: PlayerId,
    /// With how much.
    pub stack: Chips,
    /// When, ms since the epoch.
    pub at: Millis,
}

/// A table. It changes only by [`Table::evolve`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// The settings.
    pub config: TableConfig,
    /// 1 after the opening, one more with each commit; a loss of history skips some (rules 10.2).
    pub version: u64,
    /// How many settings it has had; 1 after the opening.
    pub config_version: u64,
    /// When it was opened, ms since the epoch.
    pub opened_at: Millis,
    /// Open, closing or closed.
    pub life: Life,
    /// The soft stops in force, one a scope.
    pub stops: Vec<Stop>,
    /// The seats by index.
    pub seats: [Option<Seat>; SeatNo::MAX as usize],
    /// The number of the last session that began at this table, or was skipped.
    pub sessions: u64,
    /// Button and blinds of the last hand.
    pub positions: Option<Positions>,
    /// Fewer than two could play since (rules 2.9).
    pub interrupted: bool,
    /// The number of the last hand that began, or was skipped.
    pub hands: u64,
    /// When the next hand is due.
    pub next_hand_at: Option<Millis>,
    /// The running hand, or the last one until the next is dealt.
    pub hand: Option<Hand>,
    /// The hand before that.
    pub past: PastHand,
    /// Money that came and went.
    pub ledger: Ledger,
    /// Who left with how much, the last 64 within the rathole window.
    pub departed: Vec<Departed>,
    /// Outages before this are already given back (rules 8.4).
    pub credited_until: Millis,
    /// The last loss of history (rules 10.2).
    pub lost: Option<Lost>,
    /// The open payments between the operator's wallet and this table, oldest first.
    pub payments: Vec<Payment>,
    /// How many payments have begun.
    pub payments_begun: u64,
}

impl Table {
    /// Who sits there.
    #[must_use]
    pub fn seat(&self, seat: SeatNo) -> Option<&Seat> {
        self.seats[seat.index()].as_ref()
    }

    pub(crate) fn seat_mut(&mut self, seat: SeatNo) -> Option<&mut Seat> {
        self.seats[seat.index()].as_mut()
    }

    /// The occupied seats in order of their numbers.
    pub fn occupied(&self) -> impl Iterator<Item = (SeatNo, &Seat)> {
        SeatNo::all().filter_map(|no| Some((no, self.seat(no)?)))
    }

    /// Where the player sits.
    #[must_use]
    pub fn seat_of(&self, player: &PlayerId) -> Option<SeatNo> {
        self.occupied().find(|(_, seat)| seat.player == *player).map(|(no, _)| no)
    }

    /// Who could be dealt into a hand now.
    #[must_use]
    pub fn able_to_play(&self) -> SeatSet {
        self.occupied().filter(|(_, seat)| seat.can_play()).map(|(no, _)| no).collect()
    }

    /// The hand, if it still runs.
    #[must_use]
    pub fn running_hand(&self) -> Option<&Hand> {
        self.hand.as_ref().filter(|hand| hand.is_running())
    }

    /// Whether the seat is dealt into the running hand.
    #[must_use]
    pub fn in_running_hand(&self, seat: SeatNo) -> bool {
        self.running_hand().is_some_and(|h| h.dealt.contains(seat))
    }
}
