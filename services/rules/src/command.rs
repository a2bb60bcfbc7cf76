//! What can be asked of a table.

use alloc::boxed::Box;
use alloc::string::String;

use crate::config::TableConfig;
use crate::deck::Deck;
use crate::lost::Seen;
use crate::paying::{Again, Answer, Said};
use crate::payment::{Phase, Requested, Resolution};
use crate::pivot::Pick;
use crate::player::PlayerId;
use crate::terms::StopScope;
pub use crate::terms::{Action, Wish};
use crate::{Chips, Millis, SeatNo};

/// A request, stamped by the caller with the time at which it was received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// When it was received, ms since the epoch.
    pub at: Millis,
    /// What is asked.
    pub ask: Ask,
}

/// What is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Ask {
    /// Change the settings, between hands.
    Configure { config: Box<TableConfig> },
    /// Stop the beginning of hands (rules 9.4).
    Stop { scope: StopScope, reason: String },
    /// Lift a stop.
    Resume { scope: StopScope },
    /// Deal a seated player into no new hand (rules 9.4). The reason is not empty.
    StopPlayer { player: PlayerId, reason: String },
    /// Lift that stop.
    ResumePlayer { player: PlayerId },
    /// Close the table when the running hand is over.
    Close { reason: String },
    /// Seat a player with chips; without a number at the lowest free seat. `post`: enter at once by posting
    /// (rules 2.4). `transaction` is the operator's name for the movement of money.
    Seat { player: PlayerId, seat: Option<SeatNo>, buy_in: Chips, post: bool, transaction: String },
    /// Leave and be paid out, after the running hand if one is dealt in (rules 9.1).
    StandUp { player: PlayerId, transaction: String },
    /// Sit out at that time.
    SitOut { player: PlayerId, wish: Wish },
    /// Play again, or take back the wish to sit out.
    SitIn { player: PlayerId, post: bool },
    /// Set wishes for blinds and showdowns.
    Prefer { player: PlayerId, straddle: bool, always_show: bool },
    /// Add chips (rules 9.2).
    AddChips { player: PlayerId, amount: Chips, transaction: String },
    /// As `Seat`, with money that the operator's wallet is asked for first. `name`: the debit's name there.
    Reserve {
        player: PlayerId,
        seat: Option<SeatNo>,
        buy_in: Chips,
        post: bool,
        name: String,
        request: Requested,
    },
    /// As `AddChips`, with money that the operator's wallet is asked for first.
    DrawChips { player: PlayerId, amount: Chips, name: String, request: Requested },
    /// What the wallet said to what was asked of it in this phase; `again` counts where that is nothing.
    Answered { number: u64, phase: Phase, answer: Answer, again: Again },
    /// See to the payments that are due, until then.
    TakePayments { until: Millis },
    /// Ask the wallet again for a parked payment.
    RetryPayment { number: u64, said: Said },
    /// Propose to end a parked payment so.
    ProposeEnd { number: u64, resolution: Resolution, said: Said },
    /// End it as somebody else has proposed.
    ConfirmEnd { number: u64, resolution: Resolution, said: Said },
    /// Begin the hand that is due; `draw` places the first button (rules 2.3).
    StartHand { deck: Box<Deck>, draw: u64 },
    /// A betting decision.
    Act { player: PlayerId, hand: u64, turn: u32, action: Action },
    /// A pivot (rules 4.1).
    Pick { player: PlayerId, hand: u64, turn: u32, pick: Pick },
    /// Apply the time-outs that are due.
    Expire,
    /// Show the hand that won without a showdown (rules 6.6).
    Show { player: PlayerId, hand: u64 },
    /// Void the running hand (rules 10.1).
    Void { hand: u64, reason: String, requester: String },
    /// Give running clocks back the time of an outage (rules 8.4).
    CreditOutage { from: Millis, to: Millis },
    /// What somebody has seen of this table is not in the store any more (rules 10.2).
    LoseHistory { seen: Seen },
}

impl Ask {
    /// Whether it is about money that is already on its way.
    pub(crate) fn is_of_payment(&self) -> bool {
        matches!(
            self,
            Ask::Answered { .. }
                | Ask::TakePayments { .. }
                | Ask::RetryPayment { .. }
                | Ask::ProposeEnd { .. }
                | Ask::ConfirmEnd { .. }
        )
    }
}
