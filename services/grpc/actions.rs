//! Betting actions, and whose turn it is.

use tables::Tables;
use tonic::{Request, Response, Status};

use super::parse::play as parse;
use super::render::{answer, hand as render};
use super::request::{about, expect, now, open};
use super::status::failed;
use crate::pb::v1;
use crate::pb::v1::action_service_server::ActionService;

/// The service.
pub struct Actions {
    /// What it acts on.
    pub tables: Tables,
}

#[tonic::async_trait]
impl ActionService for Actions {
    async fn act(&self, request: Request<v1::ActRequest>) -> Result<Response<v1::ActResponse>, Status> {
        let received = now(&self.tables).await?;
        let (operator, message) = open(request)?;
        let accepted = parse::act(&operator, &message)?.make(&self.tables, received).await?;
        expect(render::acted(message.hand_number, &accepted))
    }

    async fn show_cards(
        &self,
        request: Request<v1::ShowCardsRequest>,
    ) -> Result<Response<v1::ShowCardsResponse>, Status> {
        let (operator, message) = open(request)?;
        parse::show_cards(&operator, &message)?.make(&self.tables, answer::show_cards).await
    }

    async fn get_turn(
        &self,
        request: Request<v1::GetTurnRequest>,
    ) -> Result<Response<v1::GetTurnResponse>, Status> {
        let (operator, message) = open(request)?;
        let (key, viewer) = parse::get_turn(&operator, &message)?;
        let now = now(&self.tables).await?;
        let table = self.tables.read_turn(&key, now).await.map_err(failed)?;
        about(&key, table.running_hand().map(|hand| hand.number));
        Ok(Response::new(render::whose_turn(&table, &viewer, now)))
    }
}
