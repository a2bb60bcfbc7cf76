//! Answers to changes, made from the events of the commit that the change became. They are stored with it, so that a
//! repetition gets the same bytes.

use rules::Table;
use rules::event::Event;
use tables::deriving::settlement_ids;
use tables::{SettlementKind, TableKey};

use super::{amount, config, number, settlement, table};
use crate::pb::v1;

/// A commit: what happened, and the table after it.
#[derive(Clone, Copy)]
pub struct Made<'a> {
    /// The table.
    pub key: &'a TableKey,
    /// The events.
    pub events: &'a [Event],
    /// The state after them.
    pub table: &'a Table,
}

impl Made<'_> {
    fn sequence(&self) -> u64 {
        self.table.version
    }

    fn etag(&self) -> String {
        self.table.version.to_string()
    }

    /// The id of the record that this commit makes; ids are derived, so that it is known before it is stored.
    fn settlement(&self, kind: SettlementKind) -> String {
        let ids = settlement_ids(self.key, self.table, self.events);
        ids.iter().find(|(of, _)| *of == kind).map(|(_, id)| id.to_string()).unwrap_or_default()
    }

    fn find<T>(&self, wanted: impl FnMut(&Event) -> Option<T>) -> Option<T> {
        self.events.iter().find_map(wanted)
    }
}

/// The table is open.
pub fn create_table(made: Made<'_>) -> v1::CreateTableResponse {
    v1::CreateTableResponse {
        table_id: made.key.table.to_string(),
        config: Some(config::config(&made.table.config)),
        sequence: made.sequence(),
        etag: made.etag(),
    }
}

/// The settings are changed.
pub fn update_table(made: Made<'_>) -> v1::UpdateTableResponse {
    v1::UpdateTableResponse {
        config: Some(config::config(&made.table.config)),
        config_version: made.table.config_version,
        sequence: made.sequence(),
        etag: made.etag(),
    }
}

/// The table is stopped.
pub fn pause_table(made: Made<'_>) -> v1::PauseTableResponse {
    v1::PauseTableResponse { sequence: made.sequence(), etag: made.etag() }
}

/// The stop is lifted.
pub fn resume_table(made: Made<'_>) -> v1::ResumeTableResponse {
    v1::ResumeTableResponse { sequence: made.sequence(), etag: made.etag() }
}

/// The table is closed, or will be.
pub fn close_table(made: Made<'_>) -> v1::CloseTableResponse {
    v1::CloseTableResponse {
        state: table::state(&made.table.life, &made.table.stops).into(),
        sequence: made.sequence(),
        etag: made.etag(),
    }
}

/// The player is seated.
pub fn seat_player(made: Made<'_>) -> v1::SeatPlayerResponse {
    let seated = made.find(|event| match event {
        Event::PlayerSeated { seat, session, .. } => Some((number(*seat), *session)),
        _ => None,
    });
    let (seat, session) = seated.unwrap_or_default();
    v1::SeatPlayerResponse {
        seat,
        session,
        settlement_id: made.settlement(SettlementKind::BuyIn),
        sequence: made.sequence(),
        etag: made.etag(),
    }
}

/// The player has left, or will.
pub fn stand_up(made: Made<'_>) -> v1::StandUpResponse {
    let leaver = made.find(|event| match event {
        Event::PlayerLeaving { seat, .. } => Some(*seat),
        _ => None,
    });
    // His fold may end the hand and pay others out who wanted to leave, too.
    let paid = made.events.iter().enumerate().find_map(|(at, event)| match event {
        Event::PlayerStoodUp { seat, paid, .. } if Some(*seat) == leaver => Some((at, *paid)),
        _ => None,
    });
    let settlement_id = paid.map(|(at, _)| made.cash_out(at)).unwrap_or_default();
    v1::StandUpResponse {
        pending: paid.is_none(),
        paid: paid.map(|(_, chips)| amount(chips)).unwrap_or_default(),
        settlement_id,
        sequence: made.sequence(),
        etag: made.etag(),
    }
}

impl Made<'_> {
    /// The id of the cash-out that the event at this place makes.
    fn cash_out(&self, at: usize) -> String {
        let before = self.events.iter().take(at);
        let nth = before.filter(|event| matches!(event, Event::PlayerStoodUp { .. })).count();
        let ids = settlement_ids(self.key, self.table, self.events);
        let mut outs = ids.iter().filter(|(kind, _)| *kind == SettlementKind::CashOut);
        outs.nth(nth).map(|(_, id)| id.to_string()).unwrap_or_default()
    }
}

/// The player sits out, or will.
pub fn sit_out(made: Made<'_>) -> v1::SitOutResponse {
    let sitting_out = made.find(|event| matches!(event, Event::SatOut { .. }).then_some(())).is_some();
    v1::SitOutResponse { sitting_out, sequence: made.sequence(), etag: made.etag() }
}

/// The player is back.
pub fn sit_in(made: Made<'_>) -> v1::SitInResponse {
    v1::SitInResponse { sequence: made.sequence(), etag: made.etag() }
}

/// The chips are added, or will be.
pub fn add_chips(made: Made<'_>) -> v1::AddChipsResponse {
    let moved = made.find(|event| match event {
        Event::ChipsAdded { added, returned, .. } => Some((amount(*added), amount(*returned))),
        _ => None,
    });
    let (added, returned) = moved.unwrap_or_default();
    v1::AddChipsResponse {
        pending: moved.is_none(),
        added,
        returned,
        settlement_id: made.settlement(SettlementKind::AddChips),
        sequence: made.sequence(),
        etag: made.etag(),
    }
}

/// The wishes are set.
pub fn set_preferences(made: Made<'_>) -> v1::SetPreferencesResponse {
    v1::SetPreferencesResponse { sequence: made.sequence(), etag: made.etag() }
}

/// The cards are shown.
pub fn show_cards(made: Made<'_>) -> v1::ShowCardsResponse {
    v1::ShowCardsResponse { sequence: made.sequence() }
}

/// The hand is void.
pub fn void_hand(made: Made<'_>) -> v1::VoidHandResponse {
    let refunds = made.find(|event| match event {
        Event::HandVoided { refunds, .. } => Some(settlement::seat_amounts(refunds)),
        _ => None,
    });
    v1::VoidHandResponse {
        settlement_id: made.settlement(SettlementKind::Void),
        refunds: refunds.unwrap_or_default(),
        sequence: made.sequence(),
    }
}
