//! Requests of players in a hand.

use rules::Pick;
use rules::command::{Action, Ask};
use rules::view::Viewer;
use tables::{OperatorId, TableKey};
use tonic::Status;

use super::{Change, Fields, change};
use crate::pb::v1;

/// An answer to a turn.
#[derive(Debug)]
pub struct Decision {
    /// At which table.
    pub key: TableKey,
    /// What was decided.
    pub ask: Ask,
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn act(operator: &OperatorId, m: &v1::ActRequest) -> Result<Decision, Status> {
    let mut f = Fields::default();
    f.request_id(&m.request_id);
    let key = f.table(operator, &m.table_id);
    let player = f.player("player_id", &m.player_id);
    let hand = f.number("hand_number", m.hand_number);
    let turn = f.number("turn", m.turn);
    let action = action(&mut f, m.action, m.to);
    let decision = || {
        let ask = Ask::Act { player: player?, hand: hand?, turn: turn?, action: action? };
        Some(Decision { key: key?, ask })
    };
    let value = decision();
    f.done(value)
}

fn action(f: &mut Fields, value: i32, to: i64) -> Option<Action> {
    let action = f.choice::<v1::Action>("action", value);
    let sized = matches!(action, Some(v1::Action::Bet | v1::Action::Raise));
    if action.is_some() && !sized && to != 0 {
        f.fault("to", "0 for every action but a bet and a raise");
    }
    Some(match action? {
        v1::Action::Unspecified => return None,
        v1::Action::Fold => Action::Fold,
        v1::Action::Check => Action::Check,
        v1::Action::Call => Action::Call,
        v1::Action::Bet => Action::Bet(f.chips("to", to, 1)?),
        v1::Action::Raise => Action::Raise(f.chips("to", to, 1)?),
        v1::Action::AllIn => Action::AllIn,
    })
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn select_pivot(operator: &OperatorId, m: &v1::SelectPivotRequest) -> Result<Decision, Status> {
    let mut f = Fields::default();
    f.request_id(&m.request_id);
    let key = f.table(operator, &m.table_id);
    let player = f.player("player_id", &m.player_id);
    let hand = f.number("hand_number", m.hand_number);
    let turn = f.number("turn", m.turn);
    let pick = m.card_index.and_then(|index| u8::try_from(index).ok()).and_then(Pick::new);
    if pick.is_none() {
        f.fault("card_index", "0, 1 or 2: the card in the order dealt");
    }
    let decision = || {
        let ask = Ask::Pick { player: player?, hand: hand?, turn: turn?, pick: pick? };
        Some(Decision { key: key?, ask })
    };
    let value = decision();
    f.done(value)
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn show_cards(operator: &OperatorId, m: &v1::ShowCardsRequest) -> Result<Change, Status> {
    change(operator, m, (&m.table_id, ""), |f| {
        let player = f.player("player_id", &m.player_id);
        let hand = f.number("hand_number", m.hand_number);
        Some(Ask::Show { player: player?, hand: hand? })
    })
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn get_turn(operator: &OperatorId, m: &v1::GetTurnRequest) -> Result<(TableKey, Viewer), Status> {
    let mut f = Fields::default();
    let key = f.table(operator, &m.table_id);
    let viewer = f.viewer(m.viewer.as_ref());
    f.done(key.zip(viewer))
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn void_hand(operator: &OperatorId, m: &v1::VoidHandRequest) -> Result<Change, Status> {
    change(operator, m, (&m.table_id, ""), |f| {
        let hand = f.number("hand_number", m.hand_number);
        let reason = f.text("reason", &m.reason, 1..=200);
        let requester = f.text("requester", &m.requester, 1..=100);
        Some(Ask::Void { hand: hand?, reason: reason?, requester: requester? })
    })
}
