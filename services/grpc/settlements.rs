//! Settlement records, and voiding hands.

use tables::{OperatorId, SettlementPage, Tables};
use tonic::{Request, Response, Status};

use super::parse::play::void_hand;
use super::parse::settlements as parse;
use super::render::{answer, settlement as render};
use super::request::open;
use super::status;
use crate::pb::v1;
use crate::pb::v1::settlement_service_server::SettlementService;

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
}
