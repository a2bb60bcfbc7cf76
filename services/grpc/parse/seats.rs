//! Requests about seats and the players in them.

use rules::command::{Ask, Wish};
use tables::{OperatorId, Tables};
use tonic::Status;

use super::{Change, Fields, change};
use crate::pb::v1;

/// Where players' money comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Funds {
    /// The operator moves it and names his transaction.
    Named,
    /// The service calls the operator's wallet, with names of its own.
    Wallet,
}

impl Funds {
    /// How the operator's tables do it.
    pub fn of(tables: &Tables, operator: &OperatorId) -> Funds {
        if tables.draws(operator) { Funds::Wallet } else { Funds::Named }
    }

    /// The operator's name for the movement, where he gives one.
    fn transaction(self, f: &mut Fields, given: &str) -> Option<String> {
        match self {
            Funds::Named => f.transaction(given),
            Funds::Wallet if given.is_empty() => Some(String::new()),
            Funds::Wallet => {
                f.fault(
                    "transaction_id",
                    "empty: the service calls the operator's wallet, with an id of its own",
                );
                None
            }
        }
    }
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn seat_player(operator: &OperatorId, funds: Funds, m: &v1::SeatPlayerRequest) -> Result<Change, Status> {
    change(operator, m, (&m.table_id, &m.etag), |f| {
        let player = f.player("player_id", &m.player_id);
        let seat = f.seat("seat", m.seat);
        let buy_in = f.chips("buy_in", m.buy_in, 1);
        let transaction = funds.transaction(f, &m.transaction_id);
        let post = entry(f, m.entry);
        Some(Ask::Seat {
            player: player?,
            seat: seat?,
            buy_in: buy_in?,
            post: post?,
            transaction: transaction?,
        })
    })
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn stand_up(operator: &OperatorId, funds: Funds, m: &v1::StandUpRequest) -> Result<Change, Status> {
    change(operator, m, (&m.table_id, &m.etag), |f| {
        let player = f.player("player_id", &m.player_id);
        let transaction = funds.transaction(f, &m.transaction_id);
        Some(Ask::StandUp { player: player?, transaction: transaction? })
    })
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn sit_out(operator: &OperatorId, m: &v1::SitOutRequest) -> Result<Change, Status> {
    change(operator, m, (&m.table_id, &m.etag), |f| {
        let player = f.player("player_id", &m.player_id);
        let wish = match f.option::<v1::SitOutFrom>("from", m.from)? {
            v1::SitOutFrom::Unspecified | v1::SitOutFrom::NextHand => Wish::NextHand,
            v1::SitOutFrom::NextBigBlind => Wish::NextBigBlind,
        };
        Some(Ask::SitOut { player: player?, wish })
    })
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn sit_in(operator: &OperatorId, m: &v1::SitInRequest) -> Result<Change, Status> {
    change(operator, m, (&m.table_id, &m.etag), |f| {
        let player = f.player("player_id", &m.player_id);
        let post = entry(f, m.entry);
        Some(Ask::SitIn { player: player?, post: post? })
    })
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn add_chips(operator: &OperatorId, funds: Funds, m: &v1::AddChipsRequest) -> Result<Change, Status> {
    change(operator, m, (&m.table_id, &m.etag), |f| {
        let player = f.player("player_id", &m.player_id);
        let amount = f.chips("amount", m.amount, 1);
        let transaction = funds.transaction(f, &m.transaction_id);
        Some(Ask::AddChips { player: player?, amount: amount?, transaction: transaction? })
    })
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn set_preferences(operator: &OperatorId, m: &v1::SetPreferencesRequest) -> Result<Change, Status> {
    change(operator, m, (&m.table_id, &m.etag), |f| {
        let player = f.player("player_id", &m.player_id);
        if m.preferences.is_none() {
            f.fault("preferences", "all of the player's wishes, not only the changed ones");
        }
        let v1::Preferences { straddle, always_show } = m.preferences?;
        Some(Ask::Prefer { player: player?, straddle, always_show })
    })
}

/// Whether the player posts to enter at once (rules 2.4).
fn entry(f: &mut Fields, value: i32) -> Option<bool> {
    Some(match f.option::<v1::Entry>("entry", value)? {
        v1::Entry::Unspecified | v1::Entry::WaitForBigBlind => false,
        v1::Entry::Post => true,
    })
}
