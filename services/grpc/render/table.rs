//! A table as one viewer sees it.

use rules::Table;
use rules::blinds::Positions;
use rules::command::Wish;
use rules::event::{LeaveReason, SatOutReason, StopScope};
use rules::payment::Payment;
use rules::player::Presence;
use rules::table::{Life, Stop};
use rules::view::{self, SeatView, TableView, Viewer};
use tables::TableId;

use super::{amount, config, duration, hand, number, timestamp};
use crate::pb::v1;

/// The table for these eyes.
pub fn table(id: TableId, table: &Table, viewer: &Viewer) -> v1::Table {
    let v = view::table(table, viewer);
    let [button_seat, small_blind_seat, big_blind_seat] = positions(v.positions.as_ref());
    v1::Table {
        table_id: id.to_string(),
        version: v.version,
        etag: v.version.to_string(),
        config: Some(config::config(&v.config)),
        config_version: v.config_version,
        state: state(&v.life, &v.stops).into(),
        stops: v.stops.iter().map(stop).collect(),
        seats: v.seats.iter().map(|s| seat(s, &v)).collect(),
        button_seat,
        small_blind_seat,
        big_blind_seat,
        hand: v.hand.as_ref().map(|h| hand::hand(v.config.game, h)),
        next_hand_at: v.next_hand_at.map(timestamp),
        create_time: Some(timestamp(v.opened_at)),
        reserved_seats: reserved(table),
    }
}

/// The table in a list.
pub fn summary(id: TableId, table: &Table) -> v1::TableSummary {
    v1::TableSummary {
        table_id: id.to_string(),
        version: table.version,
        config: Some(config::config(&table.config)),
        state: state(&table.life, &table.stops).into(),
        seats_taken: u32::try_from(table.occupied().count()).unwrap_or_default(),
        hand_number: table.hands,
        create_time: Some(timestamp(table.opened_at)),
    }
}

fn reserved(table: &Table) -> Vec<v1::ReservedSeat> {
    let seat = |payment: &Payment| v1::ReservedSeat {
        seat: number(payment.seat),
        player_id: payment.player.as_str().to_owned(),
        session: payment.session,
    };
    let mut seats: Vec<_> = table.reserved().map(seat).collect();
    seats.sort_by_key(|reserved| reserved.seat);
    seats
}

/// Button, small and big blind; 0 before the first hand.
fn positions(positions: Option<&Positions>) -> [u32; 3] {
    positions.map_or([0; 3], |p| [p.button, p.small, p.big].map(number))
}

/// Whether it plays.
pub fn state(life: &Life, stops: &[Stop]) -> v1::TableState {
    match life {
        Life::Open if stops.is_empty() => v1::TableState::Open,
        Life::Open => v1::TableState::Paused,
        Life::Closing { .. } => v1::TableState::Closing,
        Life::Closed { .. } => v1::TableState::Closed,
    }
}

/// A stop.
pub fn stop(stop: &Stop) -> v1::Stop {
    v1::Stop { scope: scope(stop.scope).into(), reason: stop.reason.clone(), since: Some(timestamp(stop.at)) }
}

/// What a stop covers.
pub fn scope(scope: StopScope) -> v1::StopScope {
    match scope {
        StopScope::Service => v1::StopScope::Service,
        StopScope::Operator => v1::StopScope::Operator,
        StopScope::Game => v1::StopScope::Game,
        StopScope::Table => v1::StopScope::Table,
        StopScope::Malfunction => v1::StopScope::Malfunction,
    }
}

fn seat(s: &SeatView, table: &TableView) -> v1::SeatView {
    let (since, reason) = match s.presence {
        Presence::Out { since, reason } => (Some(since), sit_out_reason(reason)),
        Presence::In | Presence::Leaving => (None, v1::SitOutReason::Unspecified),
    };
    v1::SeatView {
        seat: number(s.seat),
        player_id: s.player.as_str().to_owned(),
        session: s.session,
        stack: amount(s.stack),
        status: status(s, table).into(),
        owes_big_blind: s.debt.big,
        owes_small_blind: s.debt.small,
        pending_chips: amount(s.pending),
        time_bank_left: Some(duration(s.time_bank)),
        sit_out_from: wish(s.wish).into(),
        preferences: Some(v1::Preferences { straddle: s.straddle, always_show: s.always_show }),
        sitting_out_since: since.map(timestamp),
        sit_out_reason: reason.into(),
    }
}

fn status(s: &SeatView, table: &TableView) -> v1::SeatStatus {
    match s.presence {
        Presence::Out { .. } => v1::SeatStatus::SittingOut,
        Presence::Leaving => v1::SeatStatus::Leaving,
        // Into the first hand of a table everybody is dealt (rules 2.3).
        Presence::In if s.established || table.positions.is_none() => v1::SeatStatus::Playing,
        Presence::In if s.post => v1::SeatStatus::Posting,
        Presence::In => v1::SeatStatus::WaitingForBigBlind,
    }
}

/// When a player wishes to sit out.
pub fn wish(wish: Option<Wish>) -> v1::SitOutFrom {
    match wish {
        None => v1::SitOutFrom::Unspecified,
        Some(Wish::NextHand) => v1::SitOutFrom::NextHand,
        Some(Wish::NextBigBlind) => v1::SitOutFrom::NextBigBlind,
    }
}

/// Why a player sits out.
pub fn sit_out_reason(reason: SatOutReason) -> v1::SitOutReason {
    match reason {
        SatOutReason::Asked => v1::SitOutReason::Requested,
        SatOutReason::TimedOut => v1::SitOutReason::TimeOuts,
        SatOutReason::NoChips => v1::SitOutReason::NoChips,
    }
}

/// Why a player left.
pub fn leave_reason(reason: LeaveReason) -> v1::StandUpReason {
    match reason {
        LeaveReason::Asked => v1::StandUpReason::Requested,
        LeaveReason::SatOutTooLong => v1::StandUpReason::SitOutLimit,
        LeaveReason::TableClosed => v1::StandUpReason::TableClosed,
    }
}

/// How a player enters the game.
pub fn entry(post: bool) -> v1::Entry {
    if post { v1::Entry::Post } else { v1::Entry::WaitForBigBlind }
}
