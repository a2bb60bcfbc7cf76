//! Settlement records, and voiding hands.

use tables::{OperatorId, SettlementPage, Tables};
use tonic::{Request, Response, Status};

use super::parse::play::void_hand;
use super::parse::settlements as parse;
use super::render::{answer, settlement as render};
use super::request::open;
use super::status;
use super::watching::Messages;
use crate::pb::v1;
use crate::pb::v1::settlement_service_server::SettlementService;

/// What is said of calls that the contract has and this version has not.
const SOON: &str = "this version does not serve the call yet";

/// The service.
pub struct Settlements {
    /// What it reads.
    pub tables: Tables,
}

impl Settlements {
    async fn page(
        &self,
        operator: &OperatorId,
        page: parse::Page,
    ) -> Result<v1::ListSettlementsResponse, Status> {
        // One more than the page holds tells whether there is another page.
        let read = self.tables.store().settlements(operator, &page.filter, page.after, page.size + 1).await;
        let SettlementPage { mut records, next } = read.map_err(|error| status::store(&error))?;
        let more = records.len() > page.size;
        records.truncate(page.size);
        // A page may be short, or empty, where the store has looked through many records in vain.
        let last = if more { records.last().map(|(position, _)| *position) } else { next };
        let last = last.map(|position| page.token(position));
        Ok(v1::ListSettlementsResponse {
            settlements: records.iter().map(|(_, record)| render::settlement(record)).collect(),
            next_page_token: last.unwrap_or_default(),
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
        let read = self.tables.store().settlement(&operator, &id).await;
        let record = read.map_err(|error| status::store(&error))?.ok_or_else(status::settlement_not_found)?;
        Ok(Response::new(v1::GetSettlementResponse { settlement: Some(render::settlement(&record)) }))
    }

    async fn list_settlements(
        &self,
        request: Request<v1::ListSettlementsRequest>,
    ) -> Result<Response<v1::ListSettlementsResponse>, Status> {
        let (operator, message) = open(request)?;
        if !message.kinds.is_empty()
            || message.from_time.or(message.to_time).is_some()
            || message.delivery != 0
        {
            return Err(status::not_implemented(SOON));
        }
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
        open(request)?;
        Err(status::not_implemented(SOON))
    }

    async fn ack_settlements(
        &self,
        request: Request<v1::AckSettlementsRequest>,
    ) -> Result<Response<v1::AckSettlementsResponse>, Status> {
        open(request)?;
        Err(status::not_implemented(SOON))
    }

    async fn list_consumers(
        &self,
        request: Request<v1::ListConsumersRequest>,
    ) -> Result<Response<v1::ListConsumersResponse>, Status> {
        open(request)?;
        Err(status::not_implemented(SOON))
    }

    async fn delete_consumer(
        &self,
        request: Request<v1::DeleteConsumerRequest>,
    ) -> Result<Response<v1::DeleteConsumerResponse>, Status> {
        open(request)?;
        Err(status::not_implemented(SOON))
    }

    async fn get_session_statement(
        &self,
        request: Request<v1::GetSessionStatementRequest>,
    ) -> Result<Response<v1::GetSessionStatementResponse>, Status> {
        open(request)?;
        Err(status::not_implemented(SOON))
    }

    async fn get_trial_balance(
        &self,
        request: Request<v1::GetTrialBalanceRequest>,
    ) -> Result<Response<v1::GetTrialBalanceResponse>, Status> {
        open(request)?;
        Err(status::not_implemented(SOON))
    }

    async fn list_transactions(
        &self,
        request: Request<v1::ListTransactionsRequest>,
    ) -> Result<Response<v1::ListTransactionsResponse>, Status> {
        open(request)?;
        Err(status::not_implemented(SOON))
    }

    async fn retry_transaction(
        &self,
        request: Request<v1::RetryTransactionRequest>,
    ) -> Result<Response<v1::RetryTransactionResponse>, Status> {
        open(request)?;
        Err(status::not_implemented(SOON))
    }

    async fn propose_resolution(
        &self,
        request: Request<v1::ProposeResolutionRequest>,
    ) -> Result<Response<v1::ProposeResolutionResponse>, Status> {
        open(request)?;
        Err(status::not_implemented(SOON))
    }

    async fn confirm_resolution(
        &self,
        request: Request<v1::ConfirmResolutionRequest>,
    ) -> Result<Response<v1::ConfirmResolutionResponse>, Status> {
        open(request)?;
        Err(status::not_implemented(SOON))
    }
}
