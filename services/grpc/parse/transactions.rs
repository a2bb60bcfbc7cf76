//! Requests about transactions with operators' wallets, and for statements of sessions.

use prost::Message;
use rules::command::Ask;
use rules::paying::Said;
use rules::payment::Resolution;
use tables::statement::Session;
use tables::transactions::{Place, State, Wanted};
use tables::{OperatorId, RequestId, SettlementPosition, TableId, TableKey};
use tonic::Status;
use uuid::Uuid;

use super::page::{ListMark, size};
use super::{Fields, settlements::wanted};
use crate::grpc::request::Mutating;
use crate::pb::v1;

/// The first byte of a place: what comes behind it.
const OPEN: u8 = 1;
const ENDED: u8 = 2;

/// A page of transactions.
#[derive(Debug)]
pub struct Page {
    /// Which.
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
            Place::Open(table, number) => [&[OPEN], &table.0.as_bytes()[..], &number.to_be_bytes()].concat(),
            Place::Ended(None) => vec![ENDED],
            Place::Ended(Some(place)) => [&[ENDED], &place.0.to_be_bytes()[..]].concat(),
        };
        self.mark.token(&bytes)
    }
}

/// # Errors
/// INVALID_ARGUMENT with every fault, or for the page token.
pub fn list_transactions(operator: &OperatorId, m: &v1::ListTransactionsRequest) -> Result<Page, Status> {
    let mut f = Fields::default();
    let size = size(&mut f, m.page_size);
    let wanted = which(&mut f, operator, m);
    let (size, wanted) = f.done(size.zip(wanted))?;

    let bare = v1::ListTransactionsRequest { page_size: 0, page_token: String::new(), ..m.clone() };
    let mark = ListMark::new(operator, "ListTransactions", &bare.encode_to_vec());
    let after = mark.place_by(&m.page_token, place)?;
    Ok(Page { wanted, after, size, mark })
}

fn which(f: &mut Fields, operator: &OperatorId, m: &v1::ListTransactionsRequest) -> Option<Wanted> {
    let table = f.table_of(operator, &m.table_id, m.hand_number);
    let player = wanted(&m.player_id).and_then(|id| f.player("player_id", id));
    let states = states(f, &m.states);
    let (from, to) = (f.time("from_time", m.from_time), f.time("to_time", m.to_time));
    Some(Wanted {
        operator: operator.clone(),
        table,
        hand: Some(m.hand_number).filter(|hand| *hand > 0),
        player,
        states,
        from: from?,
        to: to?,
    })
}

fn states(f: &mut Fields, wanted: &[i32]) -> Vec<State> {
    use v1::TransactionState as Wire;
    let named: Vec<Wire> = f.choices("state", wanted);
    let state = |state| match state {
        Wire::Unspecified => None,
        Wire::Debiting => Some(State::Debiting),
        Wire::Booked => Some(State::Booked),
        Wire::Released => Some(State::Released),
        Wire::Cancelling => Some(State::Cancelling),
        Wire::Cancelled => Some(State::Cancelled),
        Wire::Crediting => Some(State::Crediting),
        Wire::Paid => Some(State::Paid),
        Wire::Parked => Some(State::Parked),
        Wire::Resolved => Some(State::Resolved),
    };
    named.into_iter().filter_map(state).collect()
}

fn place(bytes: &[u8]) -> Option<Place> {
    match bytes.split_first()? {
        (&OPEN, rest) => {
            let (table, number) = rest.split_first_chunk::<16>()?;
            let number = u64::from_be_bytes(number.try_into().ok()?);
            Some(Place::Open(TableId(Uuid::from_bytes(*table)), number))
        }
        (&ENDED, []) => Some(Place::Ended(None)),
        (&ENDED, rest) => {
            let place = SettlementPosition(u64::from_be_bytes(rest.try_into().ok()?));
            Some(Place::Ended(Some(place)))
        }
        _ => None,
    }
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn get_session_statement(
    operator: &OperatorId,
    m: &v1::GetSessionStatementRequest,
) -> Result<Session, Status> {
    let mut f = Fields::default();
    let key = f.table(operator, &m.table_id);
    let player = f.player("player_id", &m.player_id);
    let number = f.number("session", m.session);
    let session = || Some(Session { key: key?, player: player?, number: number? });
    let value = session();
    f.done(value)
}

/// Something that people do about a transaction.
#[derive(Debug)]
pub struct Deed {
    /// Of which table.
    pub key: TableKey,
    /// Which.
    pub transaction: Uuid,
    /// The caller's name for it.
    pub id: RequestId,
    /// Its fingerprint.
    pub payload: [u8; 32],
    /// Who does it, and why.
    pub said: Said,
    /// What.
    pub what: What,
}

/// What people do about a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Have it tried again.
    Retry,
    /// Propose to end it so.
    Propose(Resolution),
    /// Confirm that.
    Confirm(Resolution),
}

impl Deed {
    /// What it asks of the table about the payment of this number.
    #[must_use]
    pub fn ask(&self, number: u64) -> Ask {
        let said = self.said.clone();
        match self.what {
            What::Retry => Ask::RetryPayment { number, said },
            What::Propose(resolution) => Ask::ProposeEnd { number, resolution, said },
            What::Confirm(resolution) => Ask::ConfirmEnd { number, resolution, said },
        }
    }
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn retry_transaction(operator: &OperatorId, m: &v1::RetryTransactionRequest) -> Result<Deed, Status> {
    let names = [&*m.table_id, &m.transaction_id, &m.reason, &m.requester];
    deed(operator, m, names, |_| Some(What::Retry))
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn propose_resolution(operator: &OperatorId, m: &v1::ProposeResolutionRequest) -> Result<Deed, Status> {
    let names = [&*m.table_id, &m.transaction_id, &m.reason, &m.requester];
    deed(operator, m, names, |f| resolution(f, m.resolution).map(What::Propose))
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn confirm_resolution(operator: &OperatorId, m: &v1::ConfirmResolutionRequest) -> Result<Deed, Status> {
    let names = [&*m.table_id, &m.transaction_id, &m.reason, &m.requester];
    deed(operator, m, names, |f| resolution(f, m.resolution).map(What::Confirm))
}

fn deed<M: Mutating>(
    operator: &OperatorId,
    message: &M,
    [table, transaction, reason, requester]: [&str; 4],
    what: impl FnOnce(&mut Fields) -> Option<What>,
) -> Result<Deed, Status> {
    let mut f = Fields::default();
    let id = f.request_id(message.request_id());
    let key = f.table(operator, table);
    let transaction = f.uuid("transaction_id", transaction);
    let reason = f.text("reason", reason, 1..=200);
    let by = f.text("requester", requester, 1..=100);
    let what = what(&mut f);
    let payload = message.fingerprint();
    let deed = || {
        let said = Said { by: by?, reason: reason? };
        Some(Deed { key: key?, transaction: transaction?, id: id?, payload, said, what: what? })
    };
    let value = deed();
    f.done(value)
}

fn resolution(f: &mut Fields, value: i32) -> Option<Resolution> {
    match f.choice::<v1::Resolution>("resolution", value)? {
        v1::Resolution::Unspecified => None,
        v1::Resolution::Settled => Some(Resolution::Settled),
        v1::Resolution::WrittenOff => Some(Resolution::WrittenOff),
    }
}
