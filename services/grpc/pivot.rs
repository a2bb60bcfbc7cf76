//! Picks of pivots in Double Hold'em.

use tables::Tables;
use tonic::{Request, Response, Status};

use super::parse::play as parse;
use super::render::hand as render;
use super::request::{expect, now, open};
use crate::pb::v1;
use crate::pb::v1::pivot_service_server::PivotService;

/// The service.
pub struct Pivots {
    /// What it acts on.
    pub tables: Tables,
}

#[tonic::async_trait]
impl PivotService for Pivots {
    async fn select_pivot(
        &self,
        request: Request<v1::SelectPivotRequest>,
    ) -> Result<Response<v1::SelectPivotResponse>, Status> {
        let received = now(&self.tables).await?;
        let (operator, message) = open(request)?;
        let accepted = parse::select_pivot(&operator, &message)?.make(&self.tables, received).await?;
        expect(render::picked(message.hand_number, &accepted))
    }
}
