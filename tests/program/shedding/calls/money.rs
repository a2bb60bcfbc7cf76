//! Calls about money that are not about one table's course.

use fulcrum::pb::v1;
use fulcrum::pb::v1::settlement_service_client::SettlementServiceClient;
use fulcrum::pb::v1::stream_settlements_response::Content;

use super::{Call, call, fresh, table_for_reading};

/// The calls, of a consumer who has been told of a record.
pub async fn of(address: &str) -> Vec<Call> {
    let table_id = table_for_reading(address).await;
    let consumer = "trial".to_owned();
    let position = position(address, &consumer).await;
    let player_id = "mia".to_owned();
    let statement = v1::GetSessionStatementRequest { table_id: table_id.clone(), player_id, session: 1 };
    let (reason, requester) = ("a trial".to_owned(), "the test".to_owned());
    let retry = v1::RetryTransactionRequest {
        request_id: fresh(),
        table_id: table_id.clone(),
        transaction_id: fresh(),
        reason: reason.clone(),
        requester: requester.clone(),
    };
    let propose = v1::ProposeResolutionRequest {
        request_id: fresh(),
        table_id: table_id.clone(),
        transaction_id: fresh(),
        reason: reason.clone(),
        requester: requester.clone(),
        resolution: v1::Resolution::Settled.into(),
    };
    let confirm = v1::ConfirmResolutionRequest {
        request_id: fresh(),
        table_id,
        transaction_id: fresh(),
        reason,
        requester,
        resolution: v1::Resolution::Settled.into(),
    };
    let forget = v1::DeleteConsumerRequest { consumer: "nobody".to_owned() };
    vec![
        call(
            "/fulcrum.v1.SettlementService/AckSettlements",
            &v1::AckSettlementsRequest { consumer, position },
        ),
        call("/fulcrum.v1.SettlementService/ListConsumers", &v1::ListConsumersRequest::default()),
        call("/fulcrum.v1.SettlementService/DeleteConsumer", &forget),
        call("/fulcrum.v1.SettlementService/GetSessionStatement", &statement),
        call("/fulcrum.v1.SettlementService/GetTrialBalance", &v1::GetTrialBalanceRequest::default()),
        call("/fulcrum.v1.SettlementService/ListTransactions", &v1::ListTransactionsRequest::default()),
        call("/fulcrum.v1.SettlementService/RetryTransaction", &retry),
        call("/fulcrum.v1.SettlementService/ProposeResolution", &propose),
        call("/fulcrum.v1.SettlementService/ConfirmResolution", &confirm),
    ]
}

/// That of the first record that a new consumer is told of.
async fn position(address: &str, consumer: &str) -> String {
    let mut client = SettlementServiceClient::connect(format!("http://{address}")).await.expect("a server");
    let request = v1::StreamSettlementsRequest { consumer: consumer.to_owned(), ..Default::default() };
    let mut records = client.stream_settlements(request).await.expect("a stream").into_inner();
    loop {
        let message = records.message().await.expect("a record").expect("more records");
        if let Some(Content::Settlement(delivered)) = message.content {
            return delivered.position;
        }
    }
}
