//! Settings, stops, closing, voids and outages: what is asked of the table as a whole.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::config::TableConfig;
use crate::draft::{Draft, Step};
use crate::event::Event;
use crate::refusal::Refusal;
use crate::table::Life;
use crate::terms::{LeaveReason, StopScope};
use crate::{Millis, SeatNo};

impl Draft {
    pub(crate) fn configure(&mut self, config: &TableConfig) -> Step {
        let faults = config.faults();
        if !faults.is_empty() {
            return Err(Refusal::BadConfig(faults));
        }
        if self.table.running_hand().is_some() {
            return Err(Refusal::HandRunning);
        }
        let now = &self.table.config;
        let fixed = [
            ("currency", config.currency != now.currency),
            ("game", config.game != now.game),
            ("limit", config.limit != now.limit),
            ("seats", config.seats != now.seats),
        ];
        if let Some((field, _)) = fixed.into_iter().find(|(_, changed)| *changed) {
            return Err(Refusal::FixedSetting { field });
        }
        let config = Box::new(config.clone());
        self.emit(Event::ConfigChanged { config });
        Ok(())
    }

    pub(crate) fn stop(&mut self, scope: StopScope, reason: &str) -> Step {
        let (reason, at) = (reason.to_string(), self.at);
        self.emit(Event::Stopped { scope, reason, at });
        Ok(())
    }

    pub(crate) fn resume(&mut self, scope: StopScope) -> Step {
        if !self.table.stops.iter().any(|stop| stop.scope == scope) {
            return Err(Refusal::NotStopped);
        }
        let at = self.at;
        self.emit(Event::Resumed { scope, at });
        self.schedule();
        Ok(())
    }

    pub(crate) fn close(&mut self, reason: &str) -> Step {
        if self.table.life != Life::Open {
            return Err(Refusal::TableClosed);
        }
        let reason = reason.to_string();
        self.emit(Event::ClosingAsked { reason });
        if self.table.running_hand().is_none() {
            self.close_now();
        }
        Ok(())
    }

    /// Pays everybody out and closes, where closing was asked for.
    pub(crate) fn close_now(&mut self) {
        let Life::Closing { reason } = self.table.life.clone() else {
            return;
        };
        let seats: Vec<SeatNo> = self.table.occupied().map(|(no, _)| no).collect();
        for seat in seats {
            self.pay_out(seat, LeaveReason::TableClosed);
        }
        let at = self.at;
        self.emit(Event::Closed { reason, at });
    }

    pub(crate) fn void(&mut self, number: u64, reason: &str, requester: &str) -> Step {
        let last = self.table.hands;
        if number > last {
            return Err(Refusal::HandUnknown { last });
        }
        if number < last {
            return Err(Refusal::HandOver { last });
        }
        let Some(hand) = self.table.running_hand() else {
            return Err(Refusal::NoHandRunning);
        };
        let refunds = hand
            .dealt
            .iter()
            .filter_map(|seat| {
                let player = hand.player(seat)?;
                Some((seat, player.live + player.dead))
            })
            .collect();
        let at = self.at;
        let (reason, requester) = (reason.to_string(), requester.to_string());
        self.emit(Event::HandVoided { reason, requester, refunds, at });
        self.after_hand();
        Ok(())
    }

    pub(crate) fn credit_outage(&mut self, from: Millis, to: Millis) -> Step {
        let from = from.max(self.table.credited_until);
        // Time that has not come cannot be lost yet.
        let to = to.min(self.at);
        if from >= to {
            return Err(Refusal::AlreadyCredited);
        }
        self.emit(Event::ClocksShifted { from, to });
        Ok(())
    }
}
