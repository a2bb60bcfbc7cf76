//! Requests for the books.

use prost::Message;
use rules::PlayerId;
use tables::trial::{Place, Wanted};
use tables::{OperatorId, TableId};
use tonic::Status;
use uuid::Uuid;

use super::page::{ListMark, size};
use super::{Fields, settlements::wanted};
use crate::pb::v1;

/// The first byte of a place: what comes behind it.
const TABLE: u8 = 1;
const ACCOUNT: u8 = 2;

/// A page of the books.
#[derive(Debug)]
pub struct Page {
    /// Which rows.
    pub wanted: Wanted,
    /// After which.
    pub after: Option<Place>,
    /// How many at most.
    pub size: usize,
    mark: ListMark,
}

impl Page {
    /// The token of the page after this place.
    #[must_use]
    pub fn token(&self, place: &Place) -> String {
        let bytes = match place {
            Place::Table(table) => [&[TABLE], &table.0.as_bytes()[..]].concat(),
            Place::Account(None) => vec![ACCOUNT],
            Place::Account(Some((player, currency))) => {
                [&[ACCOUNT], &currency[..], player.as_str().as_bytes()].concat()
            }
        };
        self.mark.token(&bytes)
    }
}

/// # Errors
/// INVALID_ARGUMENT with every fault, or for the page token.
pub fn get_trial_balance(operator: &OperatorId, m: &v1::GetTrialBalanceRequest) -> Result<Page, Status> {
    let mut f = Fields::default();
    let size = size(&mut f, m.page_size);
    let table = wanted(&m.table_id).and_then(|id| f.table(operator, id)).map(|key| key.table);
    let player = wanted(&m.player_id).and_then(|id| f.player("player_id", id));
    let size = f.done(size)?;

    let bare = v1::GetTrialBalanceRequest { page_size: 0, page_token: String::new(), ..m.clone() };
    let mark = ListMark::new(operator, "GetTrialBalance", &bare.encode_to_vec());
    let after = mark.place_by(&m.page_token, place)?;
    let wanted = Wanted { operator: operator.clone(), table, player };
    Ok(Page { wanted, after, size, mark })
}

fn place(bytes: &[u8]) -> Option<Place> {
    match bytes.split_first()? {
        (&TABLE, table) => Some(Place::Table(TableId(Uuid::from_slice(table).ok()?))),
        (&ACCOUNT, []) => Some(Place::Account(None)),
        (&ACCOUNT, rest) => {
            let (currency, player) = rest.split_first_chunk()?;
            let player = PlayerId::new(std::str::from_utf8(player).ok()?)?;
            Some(Place::Account(Some((player, *currency))))
        }
        _ => None,
    }
}
