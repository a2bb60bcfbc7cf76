//! Formats of records: which ones this version knows, which one it writes, and what needs which.
//!
//! Every version of the service reads all formats up to the newest that it knows. It writes the installation's, which
//! an operator raises once no older server is left, so that during a roll-out old and new servers share their tables.

use std::sync::atomic::{AtomicU32, Ordering};

use rules::event::Event;
use tables::{Settlement, SettlementKind};

use super::CodecError;

/// The first format that there was.
pub const FIRST_FORMAT: u32 = 1;
/// The newest format that is known here, and that of a new installation.
pub const FORMAT: u32 = 3;

/// In this format an entry keeps the time of its commit.
pub(super) const ENTRY_TIME: u32 = 2;
/// In this format it can be told that history was lost (rules 10.2).
pub(super) const LOSS: u32 = 2;
/// In this format a request that was declined is remembered.
pub(super) const DECLINED: u32 = 3;

/// In this format money comes from operators' wallets and goes back to them, and a seat has the tallies of its session.
pub(super) const PAYMENTS: u32 = 3;

/// From this format on every server minds the registry of stops (rules 9.4): before that nothing is put there.
pub(super) const STOPS: u32 = 3;

/// The formats of one store; its codecs share them, so that a raise is followed while they are in use.
#[derive(Debug)]
pub(super) struct Formats {
    newest: u32,
    /// The installation's. Greater than `newest` if others have moved on.
    installed: AtomicU32,
}

impl Formats {
    pub fn up_to(newest: u32) -> Formats {
        Formats { newest, installed: AtomicU32::new(newest) }
    }

    pub fn newest(&self) -> u32 {
        self.newest
    }

    pub fn installed(&self) -> u32 {
        self.installed.load(Ordering::Acquire)
    }

    /// The format to write.
    pub fn written(&self) -> Result<u32, CodecError> {
        match self.installed() {
            installed if installed <= self.newest => Ok(installed),
            later => Err(CodecError::Outdated { installed: later, known: self.newest }),
        }
    }

    /// The installation's format, as it is found when the store is opened.
    pub fn begin(&self, installed: u32) {
        self.installed.store(installed, Ordering::Release);
    }

    /// The same later on: it only rises. Gives whether it has.
    pub fn follow(&self, installed: u32) -> bool {
        self.installed.fetch_max(installed, Ordering::AcqRel) < installed
    }

    pub fn check_known(&self, found: u32) -> Result<(), CodecError> {
        match found {
            0 => Err(CodecError::Missing("format")),
            known if known <= self.newest => Ok(()),
            later => Err(CodecError::UnknownFormat(later)),
        }
    }
}

/// What is written in `written` must not hold anything that came later: an older server would drop it silently.
pub(super) fn require(written: u32, needed: u32) -> Result<(), CodecError> {
    if needed <= written { Ok(()) } else { Err(CodecError::NeedsFormat { needed, written }) }
}

/// The format that has this event.
pub(super) fn of_event(event: &Event) -> u32 {
    match event {
        Event::Opened { .. }
        | Event::ConfigChanged { .. }
        | Event::Stopped { .. }
        | Event::Resumed { .. }
        | Event::ClosingAsked { .. }
        | Event::Closed { .. }
        | Event::PlayerSeated { .. }
        | Event::PlayerLeaving { .. }
        | Event::PlayerStoodUp { .. }
        | Event::WishSet { .. }
        | Event::SatOut { .. }
        | Event::SatIn { .. }
        | Event::PlayerStopped { .. }
        | Event::PlayerResumed { .. }
        | Event::PreferencesSet { .. }
        | Event::ChipsRequested { .. }
        | Event::ChipsAdded { .. }
        | Event::HandScheduled { .. }
        | Event::PlayHalted
        | Event::ClocksShifted { .. }
        | Event::TimeBankRefilled { .. }
        | Event::HandStarted(_)
        | Event::HoleDealt { .. }
        | Event::Posted { .. }
        | Event::Prompted { .. }
        | Event::Acted { .. }
        | Event::PivotPicked { .. }
        | Event::StreetDealt { .. }
        | Event::UncalledReturned { .. }
        | Event::HandShown { .. }
        | Event::HandMucked { .. }
        | Event::HandSettled(_)
        | Event::HandVoided { .. } => FIRST_FORMAT,
        Event::HistoryLost { .. } => LOSS,
        Event::PaymentBegun { .. }
        | Event::PaymentMoved { .. }
        | Event::PaymentTried { .. }
        | Event::PaymentsTaken { .. }
        | Event::PaymentProposed { .. }
        | Event::PaymentNoted { .. }
        | Event::PaymentEnded { .. }
        | Event::SeatReleased { .. } => PAYMENTS,
    }
}

/// The format that has this kind of settlement.
pub(super) fn of_settlement(settlement: &Settlement) -> u32 {
    match settlement.kind {
        SettlementKind::Hand
        | SettlementKind::Void
        | SettlementKind::BuyIn
        | SettlementKind::AddChips
        | SettlementKind::CashOut => FIRST_FORMAT,
        SettlementKind::Reversal => LOSS,
        SettlementKind::Transaction => PAYMENTS,
    }
}
