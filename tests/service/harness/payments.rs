//! Payments between an operator's wallet and a table, without a wallet: a test says itself what the wallet answers.

use fulcrum::pb::v1;
use prost::Message;
use rules::command::Ask;
use rules::paying::{Again, Answer, Said};
use rules::payment::{Phase, Requested, Resolution};
use rules::{Chips, PlayerId};
use tables::{OperatorId, TableId, TableKey};

use super::{Caller, House, in_time, request_id};

/// A table of an operator, as its payments go.
pub struct Payments<'a> {
    house: &'a House,
    key: TableKey,
}

impl<'a> Payments<'a> {
    /// Those of this table.
    pub fn of(house: &'a House, operator: &str, table: &str) -> Payments<'a> {
        let table = TableId(table.parse().expect("an id"));
        Payments { house, key: TableKey { operator: OperatorId::new(operator).expect("a name"), table } }
    }

    /// Asks something of the table.
    pub async fn ask(&self, ask: Ask) {
        self.house.tables.ask(&self.key, None, None, ask, &|_, _| Vec::new()).await.expect("a step");
    }

    /// A seat waits for the player's debit.
    pub async fn reserve(&self, player: &str, amount: u64) {
        let request = Requested { id: *uuid::Uuid::new_v4().as_bytes(), payload: [7; 32] };
        let player = PlayerId::new(player).expect("a name");
        let (seat, buy_in, post, name) = (None, Chips(amount), false, String::new());
        self.ask(Ask::Reserve { player, seat, buy_in, post, name, request }).await;
    }

    /// The wallet has done what was asked of it.
    pub async fn done(&self, number: u64, phase: Phase) {
        self.ask(Ask::Answered { number, phase, answer: Answer::Done, again: Again::Never }).await;
    }

    /// The wallet does not answer, and is not asked again.
    pub async fn unknown(&self, number: u64, phase: Phase) {
        let answer = Answer::Unknown("no answer".into());
        self.ask(Ask::Answered { number, phase, answer, again: Again::Never }).await;
    }
}

/// Parks the debit of zed's seat: the wallet answered neither it nor its cancel. `proposed`: ada wants it to be settled.
pub async fn park(house: &House, operator: &str, table: &str, proposed: bool) {
    let payments = Payments::of(house, operator, table);
    payments.reserve("zed", 5_000).await;
    payments.unknown(1, Phase::Debiting).await;
    payments.unknown(1, Phase::Cancelling).await;
    if proposed {
        let said = Said { by: "ada".into(), reason: "seen to".into() };
        payments.ask(Ask::ProposeEnd { number: 1, resolution: Resolution::Settled, said }).await;
    }
}

/// The transactions that are parked.
pub async fn parked(caller: &mut Caller) -> Vec<v1::Transaction> {
    let states = vec![v1::TransactionState::Parked.into()];
    let request = v1::ListTransactionsRequest { states, ..Default::default() };
    in_time(caller.settlements.list_transactions(request)).await.expect("a list").into_inner().transactions
}

/// A fine request of this call about the one that is parked at the table.
pub async fn request(call: &str, caller: &mut Caller, table: &str) -> Vec<u8> {
    let mut found = parked(caller).await;
    found.retain(|transaction| transaction.table_id == table);
    let (request_id, table_id, transaction_id) =
        (request_id(), table.to_owned(), found.remove(0).transaction_id);
    let (reason, requester) = ("why".to_owned(), "bea".to_owned());
    let resolution = v1::Resolution::Settled.into();
    match call {
        "RetryTransaction" => {
            v1::RetryTransactionRequest { request_id, table_id, transaction_id, reason, requester }
                .encode_to_vec()
        }
        "ProposeResolution" => v1::ProposeResolutionRequest {
            request_id,
            table_id,
            transaction_id,
            reason,
            requester,
            resolution,
        }
        .encode_to_vec(),
        _ => v1::ConfirmResolutionRequest {
            request_id,
            table_id,
            transaction_id,
            reason,
            requester,
            resolution,
        }
        .encode_to_vec(),
    }
}
