//! What is asked for a player at a table. Each request has an id of its own, so that it may be repeated.

use super::client::request_id;
use crate::pb::v1::{
    ActRequest, Action, AddChipsRequest, Entry, SeatPlayerRequest, SelectPivotRequest, SitInRequest,
    StandUpRequest, Turn,
};

/// For whom something is asked. Amounts are minor units.
#[derive(Clone, Copy)]
pub struct Asks<'a> {
    /// The table's id.
    pub table_id: &'a str,
    /// The player's id.
    pub player: &'a str,
}

impl Asks<'_> {
    /// A betting action in this turn.
    #[must_use]
    pub fn act(self, turn: &Turn, action: Action, to: i64) -> ActRequest {
        ActRequest {
            request_id: request_id(),
            table_id: self.table_id.to_owned(),
            hand_number: turn.hand_number,
            turn: turn.number,
            player_id: self.player.to_owned(),
            action: action.into(),
            to,
        }
    }

    /// A pick in this turn.
    #[must_use]
    pub fn pick(self, turn: &Turn, card: u32) -> SelectPivotRequest {
        SelectPivotRequest {
            request_id: request_id(),
            table_id: self.table_id.to_owned(),
            hand_number: turn.hand_number,
            turn: turn.number,
            player_id: self.player.to_owned(),
            card_index: Some(card),
        }
    }

    /// A seat, the free one with the lowest number for 0, and to post so as to be in the game soon.
    #[must_use]
    pub fn seat(self, seat: u32, buy_in: i64) -> SeatPlayerRequest {
        SeatPlayerRequest {
            request_id: request_id(),
            table_id: self.table_id.to_owned(),
            player_id: self.player.to_owned(),
            seat,
            buy_in,
            transaction_id: request_id(),
            entry: Entry::Post.into(),
            etag: String::new(),
        }
    }

    /// More chips.
    #[must_use]
    pub fn add_chips(self, amount: i64) -> AddChipsRequest {
        AddChipsRequest {
            request_id: request_id(),
            table_id: self.table_id.to_owned(),
            player_id: self.player.to_owned(),
            amount,
            transaction_id: request_id(),
            etag: String::new(),
        }
    }

    /// To play again, and to post so as to be in the game soon.
    #[must_use]
    pub fn sit_in(self) -> SitInRequest {
        SitInRequest {
            request_id: request_id(),
            table_id: self.table_id.to_owned(),
            player_id: self.player.to_owned(),
            entry: Entry::Post.into(),
            etag: String::new(),
        }
    }

    /// To leave.
    #[must_use]
    pub fn stand_up(self) -> StandUpRequest {
        StandUpRequest {
            request_id: request_id(),
            table_id: self.table_id.to_owned(),
            player_id: self.player.to_owned(),
            transaction_id: request_id(),
            etag: String::new(),
        }
    }
}
