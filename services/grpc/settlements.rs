//! Settlement records and their delivery, voiding hands, books and transactions.

use tables::{OperatorId, Settlement, SettlementKind, SettlementPage, SettlementPosition, Tables};
use tonic::{Request, Response, Status};
use uuid::Uuid;

use super::delivering::Delivering;
use super::parse::play::void_hand;
use super::parse::{
    balance as parse_balance, delivery as parse_delivery, settlements as parse,
    transactions as parse_transactions,
};
use super::render::{answer, settlement as render};
use super::request::open;
use super::watching::Messages;
use super::{reports, status};
use crate::pb::v1;
use crate::pb::v1::settlement_service_server::SettlementService;

/// The service.
pub struct Settlements {
    /// What it reads.
    pub tables: Tables,
    /// What brings records to consumers.
    pub delivering: Delivering,
}

impl Settlements {
    async fn read(&self, operator: &OperatorId, id: &Uuid) -> Result<Settlement, Status> {
        let read = self.tables.store().settlement(operator, id).await;
        // A transaction is none, though its end lies among them.
        let told = |record: &Settlement| SettlementKind::TOLD.contains(&record.kind);
        read.map_err(|error| status::store(&error))?.filter(told).ok_or_else(status::settlement_not_found)
    }

    async fn page(
        &self,
        operator: &OperatorId,
        page: parse::Page,
    ) -> Result<v1::ListSettlementsResponse, Status> {
        let (after, until) = self.bounds(operator, &page).await?;
        if until == Some(None) {
            return Ok(v1::ListSettlementsResponse::default());
        }
        // One more than the page holds tells whether there is another page.
        let read = self.tables.store().settlements(operator, &page.filter, after, page.size + 1).await;
        let SettlementPage { mut records, next } = read.map_err(|error| status::store(&error))?;
        let more = records.len() > page.size;
        records.truncate(page.size);
        // A page may be short, or empty, where the store has looked through many records in vain.
        let last = if more { records.last().map(|(position, _)| *position) } else { next };
        let within = |position: &SettlementPosition| until.is_none_or(|until| Some(*position) <= until);
        records.retain(|(position, _)| within(position));
        let last = last.filter(within).map(|position| page.token(position));
        Ok(v1::ListSettlementsResponse {
            settlements: records.iter().map(|(_, record)| render::settlement(record)).collect(),
            next_page_token: last.unwrap_or_default(),
        })
    }

    /// After which record the page begins, and which is the last that is wanted, if not all are: `None` of that is none.
    async fn bounds(
        &self,
        operator: &OperatorId,
        page: &parse::Page,
    ) -> Result<(Option<SettlementPosition>, Option<Option<SettlementPosition>>), Status> {
        let Some((consumer, wanted)) = &page.delivery else {
            return Ok((page.after, None));
        };
        let cursor = self.delivering.deliveries.cursor(operator, consumer).await;
        let cursor = cursor.map_err(|error| status::store(&error))?.ok_or_else(status::consumer_not_found)?;
        Ok(match wanted {
            parse::Delivered::Acknowledged => (page.after, Some(cursor.position)),
            parse::Delivered::Unacknowledged => (page.after.max(cursor.position), None),
        })
    }
}

#[tonic::async_trait]
impl SettlementService for Settlements {
    async fn get_settlement(
        &self,
        request: Request<v1::GetSettlementRequest>,
    ) -> Result<Response<v1::GetSettlementResponse>, Status> {
        let (operator, message) = open(request)?;
        let id = parse::get_settlement(&message)?;
        let record = self.read(&operator, &id).await?;
        Ok(Response::new(v1::GetSettlementResponse { settlement: Some(render::settlement(&record)) }))
    }

    async fn list_settlements(
        &self,
        request: Request<v1::ListSettlementsRequest>,
    ) -> Result<Response<v1::ListSettlementsResponse>, Status> {
        let (operator, message) = open(request)?;
        let page = parse::list_settlements(&operator, &message)?;
        self.page(&operator, page).await.map(Response::new)
    }

    async fn void_hand(
        &self,
        request: Request<v1::VoidHandRequest>,
    ) -> Result<Response<v1::VoidHandResponse>, Status> {
        let (operator, message) = open(request)?;
        void_hand(&operator, &message)?.make(&self.tables, answer::void_hand).await
    }

    type StreamSettlementsStream = Messages<v1::StreamSettlementsResponse>;

    async fn stream_settlements(
        &self,
        request: Request<v1::StreamSettlementsRequest>,
    ) -> Result<Response<Self::StreamSettlementsStream>, Status> {
        let watching = self.delivering.watching.on(request.extensions());
        let (operator, message) = open(request)?;
        let order = parse_delivery::stream_settlements(&operator, &message)?;
        self.delivering.start(order, watching).await.map(Response::new)
    }

    async fn ack_settlements(
        &self,
        request: Request<v1::AckSettlementsRequest>,
    ) -> Result<Response<v1::AckSettlementsResponse>, Status> {
        let (operator, message) = open(request)?;
        let (consumer, position) = parse_delivery::ack_settlements(&operator, &message)?;
        self.delivering.acknowledge(&operator, &consumer, position).await.map(Response::new)
    }

    async fn list_consumers(
        &self,
        request: Request<v1::ListConsumersRequest>,
    ) -> Result<Response<v1::ListConsumersResponse>, Status> {
        let (operator, message) = open(request)?;
        let page = parse_delivery::list_consumers(&operator, &message)?;
        self.delivering.page(&operator, page).await.map(Response::new)
    }

    async fn delete_consumer(
        &self,
        request: Request<v1::DeleteConsumerRequest>,
    ) -> Result<Response<v1::DeleteConsumerResponse>, Status> {
        let (operator, message) = open(request)?;
        let consumer = parse_delivery::delete_consumer(&message)?;
        self.delivering.forget(&operator, &consumer).await.map(Response::new)
    }

    async fn get_session_statement(
        &self,
        request: Request<v1::GetSessionStatementRequest>,
    ) -> Result<Response<v1::GetSessionStatementResponse>, Status> {
        let (operator, message) = open(request)?;
        let session = parse_transactions::get_session_statement(&operator, &message)?;
        reports::statement(&self.tables, session).await.map(Response::new)
    }

    async fn get_trial_balance(
        &self,
        request: Request<v1::GetTrialBalanceRequest>,
    ) -> Result<Response<v1::GetTrialBalanceResponse>, Status> {
        let (operator, message) = open(request)?;
        let page = parse_balance::get_trial_balance(&operator, &message)?;
        reports::trial_balance(&self.tables, page).await.map(Response::new)
    }

    async fn list_transactions(
        &self,
        request: Request<v1::ListTransactionsRequest>,
    ) -> Result<Response<v1::ListTransactionsResponse>, Status> {
        let (operator, message) = open(request)?;
        let page = parse_transactions::list_transactions(&operator, &message)?;
        reports::list(&self.tables, &operator, page).await.map(Response::new)
    }

    async fn retry_transaction(
        &self,
        request: Request<v1::RetryTransactionRequest>,
    ) -> Result<Response<v1::RetryTransactionResponse>, Status> {
        let (operator, message) = open(request)?;
        let deed = parse_transactions::retry_transaction(&operator, &message)?;
        let answer = |transaction, sequence| v1::RetryTransactionResponse { transaction, sequence };
        reports::see_to(&self.tables, deed, answer).await
    }

    async fn propose_resolution(
        &self,
        request: Request<v1::ProposeResolutionRequest>,
    ) -> Result<Response<v1::ProposeResolutionResponse>, Status> {
        let (operator, message) = open(request)?;
        let deed = parse_transactions::propose_resolution(&operator, &message)?;
        let answer = |transaction, sequence| v1::ProposeResolutionResponse { transaction, sequence };
        reports::see_to(&self.tables, deed, answer).await
    }

    async fn confirm_resolution(
        &self,
        request: Request<v1::ConfirmResolutionRequest>,
    ) -> Result<Response<v1::ConfirmResolutionResponse>, Status> {
        let (operator, message) = open(request)?;
        let deed = parse_transactions::confirm_resolution(&operator, &message)?;
        let answer = |transaction, sequence| v1::ConfirmResolutionResponse { transaction, sequence };
        reports::see_to(&self.tables, deed, answer).await
    }
}
