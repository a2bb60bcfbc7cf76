//! What the server says about itself.

use std::sync::Arc;

use tables::Tables;
use tonic::{Request, Response, Status};

use super::render::server::{self as render, Limits};
use super::request::called;
use crate::pb::v1;
use crate::pb::v1::server_service_server::ServerService;
use crate::telemetry::binary::Binary;

/// The service.
pub struct Info {
    /// Whose store tells the format of records.
    pub tables: Tables,
    /// The program's file.
    pub binary: Arc<Binary>,
    /// What a client has to keep to.
    pub limits: Limits,
}

#[tonic::async_trait]
impl ServerService for Info {
    async fn get_server_info(
        &self,
        request: Request<v1::GetServerInfoRequest>,
    ) -> Result<Response<v1::GetServerInfoResponse>, Status> {
        called(request)?;
        let formats = self.tables.store().record_formats();
        Ok(Response::new(render::info(&self.binary, formats, self.limits)))
    }
}
