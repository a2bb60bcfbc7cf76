//! Tables, their seats, and watching them.

use rules::Table;
use tables::{OperatorId, Tables, unreadable};
use tonic::{Request, Response, Status};

use super::parse::seats::Funds;
use super::parse::{seats, tables as parse};
use super::render::{answer, table as render};
use super::request::{about, called, open};
use super::status;
use super::watching::{Messages, Watching};
use crate::pb::v1;
use crate::pb::v1::table_service_server::TableService;

/// A filtered list looks at so many tables for one page, and may then return fewer than asked for.
const LOOKED_AT: usize = 5_000;

/// The service.
pub struct TablesOfOperators {
    /// What it acts on.
    pub tables: Tables,
    /// What it watches with.
    pub watching: Watching,
}

impl TablesOfOperators {
    async fn page(&self, operator: &OperatorId, page: parse::Page) -> Result<v1::ListTablesResponse, Status> {
        let (mut tables, mut unread, mut after, mut looked_at) = (Vec::new(), Vec::new(), page.after, 0);
        loop {
            let read = self.tables.store().tables(operator, after, page.size + 1).await;
            let rows = read.map_err(|error| status::store(&error))?;
            for (key, stored) in rows.iter().take(page.size) {
                match stored {
                    Ok(stored) if takes(&page, &stored.table) => {
                        tables.push(render::summary(key.table, &stored.table));
                    }
                    Ok(_) => {}
                    Err(error) => {
                        unreadable(key, error);
                        unread.push(key.table.to_string());
                    }
                }
                (after, looked_at) = (Some(key.table), looked_at + 1);
                if tables.len() + unread.len() == page.size {
                    break;
                }
            }
            let last_row = rows.last().map(|(key, _)| key.table);
            let more = after.is_some() && last_row != after;
            if !more || tables.len() + unread.len() == page.size || looked_at >= LOOKED_AT {
                let token = after.filter(|_| more).map(|last| page.token(last));
                let next_page_token = token.unwrap_or_default();
                return Ok(v1::ListTablesResponse { tables, next_page_token, unreadable_table_ids: unread });
            }
        }
    }
}

/// Whether a table is one of those that were asked for.
fn takes(page: &parse::Page, table: &Table) -> bool {
    let state = render::state(&table.life, &table.stops);
    page.states.contains(&state) && page.game.is_none_or(|game| game == table.config.game)
}

#[tonic::async_trait]
impl TableService for TablesOfOperators {
    async fn create_table(
        &self,
        request: Request<v1::CreateTableRequest>,
    ) -> Result<Response<v1::CreateTableResponse>, Status> {
        let (operator, message) = open(request)?;
        parse::create_table(&message)?.make(&self.tables, &operator).await
    }

    async fn get_table(
        &self,
        request: Request<v1::GetTableRequest>,
    ) -> Result<Response<v1::GetTableResponse>, Status> {
        let (operator, message) = open(request)?;
        let (key, viewer) = parse::get_table(&operator, &message)?;
        let table = self.tables.read(&key).await.map_err(status::failed)?;
        about(&key, table.running_hand().map(|hand| hand.number));
        Ok(Response::new(v1::GetTableResponse { table: Some(render::table(key.table, &table, &viewer)) }))
    }

    async fn list_tables(
        &self,
        request: Request<v1::ListTablesRequest>,
    ) -> Result<Response<v1::ListTablesResponse>, Status> {
        let (operator, message) = open(request)?;
        let page = parse::list_tables(&operator, &message)?;
        self.page(&operator, page).await.map(Response::new)
    }

    async fn update_table(
        &self,
        request: Request<v1::UpdateTableRequest>,
    ) -> Result<Response<v1::UpdateTableResponse>, Status> {
        let (operator, message) = open(request)?;
        parse::update_table(&operator, &message)?.make(&self.tables, answer::update_table).await
    }

    async fn pause_table(
        &self,
        request: Request<v1::PauseTableRequest>,
    ) -> Result<Response<v1::PauseTableResponse>, Status> {
        let (operator, message) = open(request)?;
        parse::pause_table(&operator, &message)?.make(&self.tables, answer::pause_table).await
    }

    async fn resume_table(
        &self,
        request: Request<v1::ResumeTableRequest>,
    ) -> Result<Response<v1::ResumeTableResponse>, Status> {
        let (operator, message) = open(request)?;
        parse::resume_table(&operator, &message)?.make(&self.tables, answer::resume_table).await
    }

    async fn close_table(
        &self,
        request: Request<v1::CloseTableRequest>,
    ) -> Result<Response<v1::CloseTableResponse>, Status> {
        let (operator, message) = open(request)?;
        parse::close_table(&operator, &message)?.make(&self.tables, answer::close_table).await
    }

    async fn seat_player(
        &self,
        request: Request<v1::SeatPlayerRequest>,
    ) -> Result<Response<v1::SeatPlayerResponse>, Status> {
        let (operator, message) = open(request)?;
        let funds = Funds::of(&self.tables, &operator);
        seats::seat_player(&operator, funds, &message)?.make(&self.tables, answer::seat_player).await
    }

    async fn stand_up(
        &self,
        request: Request<v1::StandUpRequest>,
    ) -> Result<Response<v1::StandUpResponse>, Status> {
        let (operator, message) = open(request)?;
        let funds = Funds::of(&self.tables, &operator);
        seats::stand_up(&operator, funds, &message)?.make(&self.tables, answer::stand_up).await
    }

    async fn sit_out(
        &self,
        request: Request<v1::SitOutRequest>,
    ) -> Result<Response<v1::SitOutResponse>, Status> {
        let (operator, message) = open(request)?;
        seats::sit_out(&operator, &message)?.make(&self.tables, answer::sit_out).await
    }

    async fn sit_in(
        &self,
        request: Request<v1::SitInRequest>,
    ) -> Result<Response<v1::SitInResponse>, Status> {
        let (operator, message) = open(request)?;
        seats::sit_in(&operator, &message)?.make(&self.tables, answer::sit_in).await
    }

    async fn add_chips(
        &self,
        request: Request<v1::AddChipsRequest>,
    ) -> Result<Response<v1::AddChipsResponse>, Status> {
        let (operator, message) = open(request)?;
        let funds = Funds::of(&self.tables, &operator);
        seats::add_chips(&operator, funds, &message)?.make(&self.tables, answer::add_chips).await
    }

    async fn set_preferences(
        &self,
        request: Request<v1::SetPreferencesRequest>,
    ) -> Result<Response<v1::SetPreferencesResponse>, Status> {
        let (operator, message) = open(request)?;
        seats::set_preferences(&operator, &message)?.make(&self.tables, answer::set_preferences).await
    }

    type WatchTableStream = Messages<v1::WatchTableResponse>;

    async fn watch_table(
        &self,
        request: Request<v1::WatchTableRequest>,
    ) -> Result<Response<Self::WatchTableStream>, Status> {
        let watching = self.watching.on(request.extensions());
        let (caller, message) = called(request)?;
        let operator = caller.operator.ok_or_else(status::unauthenticated)?;
        let watch = parse::watch_table(&operator, &message)?;
        let message = |message| v1::WatchTableResponse { message: Some(message) };
        watching.start(&self.tables, &caller.role, watch, message).await.map(Response::new)
    }

    type WatchTablesStream = Messages<v1::WatchTablesResponse>;

    async fn watch_tables(
        &self,
        request: Request<v1::WatchTablesRequest>,
    ) -> Result<Response<Self::WatchTablesStream>, Status> {
        let watching = self.watching.on(request.extensions());
        let (caller, message) = called(request)?;
        let operator = caller.operator.ok_or_else(status::unauthenticated)?;
        let watch = parse::watch_tables(&operator, &message)?;
        let message = |message| v1::WatchTablesResponse { message: Some(message) };
        watching.start(&self.tables, &caller.role, watch, message).await.map(Response::new)
    }
}
