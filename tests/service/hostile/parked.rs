//! A transaction that is parked, and what people may ask about it.

use fulcrum::pb::v1;
use prost::Message;
use rules::command::Ask;
use rules::paying::{Again, Answer, Said};
use rules::payment::{Phase, Requested, Resolution};
use rules::{Chips, PlayerId};
use tables::{OperatorId, TableId, TableKey};

use super::super::harness::{Caller, House, in_time, request_id};

/// Parks the debit of zed's seat: the wallet answered neither it nor its cancel. `proposed`: ada wants it to be settled.
pub async fn park(house: &House, operator: &str, table: &str, proposed: bool) {
    let table = TableId(table.parse().expect("an id"));
    let key = TableKey { operator: OperatorId::new(operator).expect("a name"), table };
    let request = Requested { id: *uuid::Uuid::new_v4().as_bytes(), payload: [7; 32] };
    let player = PlayerId::new("zed").expect("a name");
    let name = String::new();
    let unknown = || Answer::Unknown("no answer".into());
    let said = Said { by: "ada".into(), reason: "seen to".into() };
    let answered = |phase, again| Ask::Answered { number: 1, phase, answer: unknown(), again };
    let mut asks = vec![
        Ask::Reserve { player, seat: None, buy_in: Chips(5_000), post: false, name, request },
        answered(Phase::Debiting, Again::Never),
        answered(Phase::Cancelling, Again::Never),
    ];
    if proposed {
        asks.push(Ask::ProposeEnd { number: 1, resolution: Resolution::Settled, said });
    }
    for ask in asks {
        house.tables.ask(&key, None, None, ask, &|_, _| Vec::new()).await.expect("a step");
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
