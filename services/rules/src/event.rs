//! What has happened at a table. Events are facts: folding them needs no clock, no dealer and no judgement.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::blinds::{Debt, Positions};
use crate::config::TableConfig;
use crate::deck::Deck;
use crate::hand::{Holes, Street};
use crate::payment::{Ending, Note, Payment, Phase, Resolution};
use crate::pivot::Pick;
use crate::player::PlayerId;
use crate::result::HandResult;
use crate::terms::{Action, Wish};
pub use crate::terms::{By, LeaveReason, Play, PromptKind, SatOutReason, StopScope};
use crate::{Card, Chips, Millis, PostKind, SeatNo, SeatSet};

/// A hand as it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandStart {
    /// Counted from 1 at each table.
    pub number: u64,
    /// When, ms since the epoch.
    pub at: Millis,
    /// The whole deck in dealing order. Secret.
    pub deck: Deck,
    /// Where button and blinds lie, empty seats included.
    pub positions: Positions,
    /// Who gets cards.
    pub dealt: SeatSet,
    /// The blind debts of all occupied seats from now on.
    pub debts: Vec<(SeatNo, Debt)>,
    /// What has to be called before the flop: big blind or straddle.
    pub bring_in: Chips,
    /// The first to act before the flop sits left of this seat.
    pub first_after: SeatNo,
}

/// One event. The order of variants is not a contract; stored records have their own numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Event {
    /// The table was opened with these settings.
    Opened { config: Box<TableConfig>, at: Millis },
    /// The settings changed between hands.
    ConfigChanged { config: Box<TableConfig> },
    /// No new hand begins (rules 9.4).
    Stopped { scope: StopScope, reason: String, at: Millis },
    /// A stop was lifted.
    Resumed { scope: StopScope, at: Millis },
    /// The table will close when the running hand is over.
    ClosingAsked { reason: String },
    /// The table is closed for good; everybody has been paid out.
    Closed { reason: String, at: Millis },
    /// A player bought in.
    PlayerSeated {
        seat: SeatNo,
        player: PlayerId,
        session: u64,
        buy_in: Chips,
        post: bool,
        transaction: String,
        at: Millis,
    },
    /// He will be paid out after the running hand (rules 9.1).
    PlayerLeaving { seat: SeatNo, transaction: String },
    /// He has left with his chips; `transaction` is empty unless he asked to.
    PlayerStoodUp {
        seat: SeatNo,
        player: PlayerId,
        session: u64,
        paid: Chips,
        reason: LeaveReason,
        transaction: String,
        at: Millis,
    },
    /// A wish to sit out later (rules 9.3); `None` takes it back.
    WishSet { seat: SeatNo, wish: Option<Wish> },
    /// He sits out from now on.
    SatOut { seat: SeatNo, reason: SatOutReason, at: Millis },
    /// He plays again; `post`: pays what he owes at once, else waits for the big blind.
    SatIn { seat: SeatNo, post: bool },
    /// He is not dealt into new hands until that is lifted (rules 9.4).
    PlayerStopped { seat: SeatNo, reason: String, at: Millis },
    /// He may be dealt in again.
    PlayerResumed { seat: SeatNo, at: Millis },
    /// What he wishes at blinds and showdowns.
    PreferencesSet { seat: SeatNo, straddle: bool, always_show: bool },
    /// Chips asked for in a hand, waiting for its end (rules 9.2).
    ChipsRequested { seat: SeatNo, amount: Chips, transaction: String },
    /// Chips were added; `returned` did not fit under the maximum or came with a player who leaves.
    ChipsAdded {
        seat: SeatNo,
        player: PlayerId,
        session: u64,
        added: Chips,
        returned: Chips,
        transaction: String,
        at: Millis,
    },
    /// Money is on its way between the operator's wallet and the table. A debit of a buy-in reserves the seat.
    PaymentBegun { payment: Box<Payment> },
    /// Something else is to be had from the wallet now, or nothing more; `error`: why.
    PaymentMoved { number: u64, phase: Phase, error: String, next_at: Millis, at: Millis },
    /// The wallet was asked in vain.
    PaymentTried { number: u64, error: String, next_at: Millis },
    /// Whoever committed this makes the calls for these, until then.
    PaymentsTaken { numbers: Vec<u64>, until: Millis },
    /// Somebody wants to end a parked payment so.
    PaymentProposed { number: u64, resolution: Resolution, by: String, reason: String, at: Millis },
    /// Something was done about it.
    PaymentNoted { number: u64, note: Note },
    /// It is over.
    PaymentEnded { number: u64, ending: Ending, at: Millis },
    /// A reserved seat is free again, without its player. It adds nothing to the payment's own events, which do not say
    /// whose seat that is: it is for those who look at the table.
    SeatReleased { seat: SeatNo, player: PlayerId, session: u64 },
    /// The next hand is due.
    HandScheduled { at: Millis },
    /// Fewer than two can play (rules 2.9).
    PlayHalted,
    /// Running clocks got back the time of an outage (rules 8.4).
    ClocksShifted { from: Millis, to: Millis },
    /// Versions up to this one were seen and are gone; they count for nothing (rules 10.2).
    HistoryLost { last: u64, until: u64, hands: u64, sessions: u64, at: Millis },
    /// A hand began.
    HandStarted(Box<HandStart>),
    /// A time bank was refilled to this (rules 8.1).
    TimeBankRefilled { seat: SeatNo, bank: Millis },
    /// A blind or an ante.
    Posted { seat: SeatNo, kind: PostKind, amount: Chips },
    /// Hole cards of one seat. Secret.
    HoleDealt { seat: SeatNo, player: PlayerId, cards: Holes },
    /// Somebody has to decide: one seat, or all of these at once (rules 4.8).
    Prompted { turn: u32, seats: SeatSet, kind: PromptKind, at: Millis, act_by: Millis, bank_until: Millis },
    /// A pivot was picked. Which one is secret.
    PivotPicked { turn: u32, seat: SeatNo, player: PlayerId, pick: Pick, by: By },
    /// A betting decision. `to` is what lies before the player on this street, `added` what he put in for it;
    /// `asked` is the request that an own decision answers.
    Acted {
        turn: u32,
        seat: SeatNo,
        play: Play,
        to: Chips,
        added: Chips,
        all_in: bool,
        by: By,
        asked: Option<Action>,
        bank_used: Millis,
    },
    /// Community cards.
    StreetDealt { street: Street, cards: Vec<Card> },
    /// A bet that nobody called went back (rules 3.4), or an ante that nobody matched (rules 2.5).
    UncalledReturned { seat: SeatNo, amount: Chips },
    /// A hand lies open: cards as dealt, and the pivot in Double Hold'em.
    HandShown { seat: SeatNo, cards: Holes, pick: Option<Pick> },
    /// A hand was thrown away unseen at the showdown.
    HandMucked { seat: SeatNo },
    /// The hand is over and paid.
    HandSettled(Box<HandResult>),
    /// The hand is void; everybody has his chips back (rules 10.1).
    HandVoided { reason: String, requester: String, refunds: Vec<(SeatNo, Chips)>, at: Millis },
}

impl Event {
    /// Whether a hand is over with it.
    #[must_use]
    pub const fn ends_hand(&self) -> bool {
        matches!(self, Event::HandSettled(_) | Event::HandVoided { .. })
    }
}
