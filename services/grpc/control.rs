//! Soft stops: made, lifted and listed (rules 9.4).

use prost::Message;
use tables::Tables;
use tables::stops::{Shelf, StopEntry};
use tonic::{Request, Response, Status};

use super::identity::Administrator;
use super::identity::scope::Scoped;
use super::parse::control as parse;
use super::parse::control::Caller;
use super::render::control as render;
use super::request::{called, reply};
use super::status;
use crate::pb::v1;
use crate::pb::v1::control_service_server::ControlService;

/// The service.
pub struct Control {
    /// What it acts on.
    pub tables: Tables,
}

/// The caller and his message: here administrators may call too.
fn open<T: Scoped>(request: Request<T>) -> Result<(Caller, T), Status> {
    let (caller, message) = called(request)?;
    let administrator = caller.administrator.map(|Administrator(name)| name);
    Ok((Caller { operator: caller.operator, administrator }, message))
}

fn shelf(operator: Option<&tables::OperatorId>) -> Shelf {
    operator.cloned().map_or(Shelf::Service, Shelf::Operator)
}

impl Control {
    async fn disabled(&self, page: &parse::Page<16>) -> Result<v1::ListDisabledResponse, Status> {
        let mut all = Vec::new();
        let own = page.operator.as_ref().map(|operator| shelf(Some(operator)));
        for shelf in [Shelf::Service].into_iter().chain(own) {
            let read = self.tables.stops(&shelf).await.map_err(|error| status::store(&error))?;
            all.extend(read.entries);
        }
        all.sort_by_cached_key(parse::place);
        let rest = all.iter().filter(|entry| page.after.is_none_or(|after| parse::place(entry) > after));
        let mut shown: Vec<&StopEntry> = rest.take(page.size + 1).collect();
        let more = shown.len() > page.size;
        shown.truncate(page.size);
        let last = shown.last().filter(|_| more).map(|last| page.token(&parse::place(last)));
        let disabled = shown.into_iter().map(render::disabled).collect();
        Ok(v1::ListDisabledResponse { disabled, next_page_token: last.unwrap_or_default() })
    }

    async fn audit(&self, page: &parse::Page<8>) -> Result<v1::ListStopAuditResponse, Status> {
        let before = page.after.map(u64::from_be_bytes);
        let shelf = shelf(page.operator.as_ref());
        let read = self.tables.store().stops().audit(&shelf, before, page.size + 1).await;
        let mut entries = read.map_err(|error| status::store(&error))?;
        let more = entries.len() > page.size;
        entries.truncate(page.size);
        let last = entries.last().filter(|_| more).map(|last| page.token(&last.number.to_be_bytes()));
        let entries = entries.iter().map(render::audit).collect();
        Ok(v1::ListStopAuditResponse { entries, next_page_token: last.unwrap_or_default() })
    }
}

#[tonic::async_trait]
impl ControlService for Control {
    async fn disable_scope(
        &self,
        request: Request<v1::DisableScopeRequest>,
    ) -> Result<Response<v1::DisableScopeResponse>, Status> {
        let (caller, message) = open(request)?;
        let order = parse::disable_scope(&caller, &message)?;
        let answer = |entry: &StopEntry| {
            v1::DisableScopeResponse { disabled: Some(render::disabled(entry)) }.encode_to_vec()
        };
        let answered = self.tables.disable(&order, &answer).await;
        reply(&answered.map_err(status::not_stopped)?.bytes)
    }

    async fn enable_scope(
        &self,
        request: Request<v1::EnableScopeRequest>,
    ) -> Result<Response<v1::EnableScopeResponse>, Status> {
        let (caller, message) = open(request)?;
        let order = parse::enable_scope(&caller, &message)?;
        let answer = |entry: &StopEntry| {
            v1::EnableScopeResponse { disabled: Some(render::disabled(entry)) }.encode_to_vec()
        };
        let answered = self.tables.enable(&order, &answer).await;
        reply(&answered.map_err(status::not_stopped)?.bytes)
    }

    async fn list_disabled(
        &self,
        request: Request<v1::ListDisabledRequest>,
    ) -> Result<Response<v1::ListDisabledResponse>, Status> {
        let (caller, message) = open(request)?;
        self.disabled(&parse::list_disabled(&caller, &message)?).await.map(Response::new)
    }

    async fn list_stop_audit(
        &self,
        request: Request<v1::ListStopAuditRequest>,
    ) -> Result<Response<v1::ListStopAuditResponse>, Status> {
        let (caller, message) = open(request)?;
        self.audit(&parse::list_stop_audit(&caller, &message)?).await.map(Response::new)
    }
}
