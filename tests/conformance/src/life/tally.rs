//! What happened in random lives, counted: a kind of event that never comes is a kind that is never tested.

use std::collections::BTreeMap;
use std::fmt;

use rules::Refusal;
use rules::event::{By, Event, Play};

/// Counts.
#[derive(Clone, Default, Debug)]
pub struct Tally {
    /// Hands begun.
    pub hands: u64,
    /// Commits made.
    pub commits: u64,
    /// How often each kind of event came.
    pub events: BTreeMap<&'static str, u64>,
    /// How often each reason was given for a refusal.
    pub refusals: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Counts the events of a commit.
    pub fn events(&mut self, events: &[Event]) {
        self.commits += 1;
        for event in events {
            *self.events.entry(kind(event)).or_default() += 1;
        }
    }

    /// Counts a refusal.
    pub fn refusal(&mut self, refusal: &Refusal) {
        *self.refusals.entry(refusal.reason()).or_default() += 1;
    }

    /// Adds another tally.
    pub fn add(&mut self, other: &Tally) {
        self.hands += other.hands;
        self.commits += other.commits;
        let sums = [(&mut self.events, &other.events), (&mut self.refusals, &other.refusals)];
        for (sum, more) in sums {
            more.iter().for_each(|(kind, count)| *sum.entry(kind).or_default() += count);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refused: u64 = self.refusals.values().sum();
        write!(f, "{} hands, {} commits, {refused} refusals", self.hands, self.commits)
    }
}

/// The name of an event's kind, finer where decisions and endings differ.
fn kind(event: &Event) -> &'static str {
    match event {
        Event::Acted { by, play, all_in, .. } => acted(*by, *play, *all_in),
        Event::PivotPicked { by, .. } => match by {
            By::Player => "picked",
            By::TimeOut => "picked at time-out",
            By::Absence => "picked in absence",
        },
        Event::HandSettled(result) => match result.pots.len() {
            0 => "settled without a pot",
            1 => "settled with one pot",
            2 => "settled with two pots",
            _ => "settled with more pots",
        },
        other => plain(other),
    }
}

fn acted(by: By, play: Play, all_in: bool) -> &'static str {
    match (by, play, all_in) {
        (By::TimeOut, Play::Fold, _) => "folded at time-out",
        (By::TimeOut, ..) => "checked at time-out",
        (By::Absence, Play::Fold, _) => "folded in absence",
        (By::Absence, ..) => "checked in absence",
        (By::Player, Play::Fold, _) => "folded",
        (By::Player, Play::Check, _) => "checked",
        (By::Player, Play::Call, false) => "called",
        (By::Player, Play::Bet, false) => "bet",
        (By::Player, Play::Raise, false) => "raised",
        (By::Player, Play::Call, true) => "called all-in",
        (By::Player, Play::Bet, true) => "bet all-in",
        (By::Player, Play::Raise, true) => "raised all-in",
    }
}

fn plain(event: &Event) -> &'static str {
    match event {
        Event::Opened { .. } => "opened",
        Event::ConfigChanged { .. } => "settings changed",
        Event::Stopped { .. } => "stopped",
        Event::Resumed { .. } => "resumed",
        Event::ClosingAsked { .. } => "closing asked",
        Event::Closed { .. } => "closed",
        Event::PlayerSeated { .. } => "seated",
        Event::PlayerLeaving { .. } => "leaving",
        Event::PlayerStoodUp { .. } => "stood up",
        Event::WishSet { .. } => "wish set",
        Event::SatOut { .. } => "sat out",
        Event::SatIn { .. } => "sat in",
        Event::PlayerStopped { .. } => "player stopped",
        Event::PlayerResumed { .. } => "player resumed",
        Event::PreferencesSet { .. } => "preferences set",
        Event::ChipsRequested { .. } => "chips requested",
        Event::ChipsAdded { .. } => "chips added",
        Event::HandScheduled { .. } => "hand scheduled",
        Event::PlayHalted => "play halted",
        Event::ClocksShifted { .. } => "clocks shifted",
        Event::HistoryLost { .. } => "history lost",
        Event::HandStarted(_) => "hand started",
        Event::TimeBankRefilled { .. } => "time bank refilled",
        Event::Posted { .. } => "posted",
        Event::HoleDealt { .. } => "hole cards dealt",
        Event::Prompted { .. } => "prompted",
        Event::StreetDealt { .. } => "street dealt",
        Event::UncalledReturned { .. } => "returned",
        Event::HandShown { .. } => "shown",
        Event::HandMucked { .. } => "mucked",
        Event::HandVoided { .. } => "voided",
        Event::Acted { .. } => "acted",
        Event::PivotPicked { .. } => "picked",
        Event::HandSettled(_) => "settled",
        // No wallet is part of these hands.
        Event::PaymentBegun { .. }
        | Event::PaymentMoved { .. }
        | Event::PaymentTried { .. }
        | Event::PaymentsTaken { .. }
        | Event::PaymentProposed { .. }
        | Event::PaymentNoted { .. }
        | Event::PaymentEnded { .. }
        | Event::SeatReleased { .. } => "paid by a wallet",
    }
}
