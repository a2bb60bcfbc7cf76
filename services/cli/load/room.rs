//! A table of a run, from its opening to its end.

use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep};
use tonic::Status;

use super::bot::{Bot, Manner, Stage};
use super::calls::Calls;
use super::check::{Ack, Deed, Record, View};
use crate::cli::asks::Asks;
use crate::cli::client::{Client, is_transient, request_id};
use crate::pb::v1::{
    CloseTableRequest, CreateTableRequest, GetTableRequest, ListSettlementsRequest, PauseTableRequest,
    ResumeTableRequest, Settlement, StopScope, Table, TableConfig,
};

/// How often a table is looked at while its last hand is played.
const LOOK: Duration = Duration::from_secs(1);
/// So many settlement records are read with a call.
const PAGE: i32 = 500;
/// Why tables are stopped and closed.
const REASON: &str = "the load run has ended";

/// A table.
pub struct Room {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    calls: Calls,
    stage: watch::Sender<Stage>,
    bots: JoinSet<(View, Record)>,
    /// What was acknowledged to the operator, for each player.
    records: Vec<Record>,
}

/// What is known of a table when its bots have ended.
pub struct Ended {
    /// What each bot was told.
    pub views: Vec<View>,
    /// What was acknowledged to each player.
    pub records: Vec<Record>,
    /// The first bot that broke down.
    pub broken: Option<JoinError>,
}

impl Room {
    /// Opens a table.
    ///
    /// # Errors
    /// A refusal, or that nobody answers.
    pub async fn open(calls: &Calls, config: TableConfig) -> Result<Room, Status> {
        let name = config.display_name.clone();
        let request = CreateTableRequest { request_id: request_id(), config: Some(config) };
        let called =
            calls.ask(&request, |mut c, request| async move { c.tables.create_table(request).await }).await;
        let id = called.answer?.table_id;
        let (stage, _) = watch::channel(Stage::Playing);
        Ok(Room { id, name, calls: calls.clone(), stage, bots: JoinSet::new(), records: Vec::new() })
    }

    /// Seats players and lets a bot play for each.
    ///
    /// # Errors
    /// A refusal, or that nobody answers.
    pub async fn seat(&mut self, players: Vec<String>, manner: Manner, seed: u64) -> Result<(), Status> {
        for (place, player) in (0..).zip(players) {
            let request = Asks { table_id: &self.id, player: &player }.seat(0, manner.buy_in);
            let call = |mut c: Client, request| async move { c.tables.seat_player(request).await };
            let seated = self.calls.ask(&request, call).await.answer?;
            let deed = Deed::Seated { session: seated.session, buy_in: manner.buy_in };
            let ack = Ack { sequence: seated.sequence, seat: seated.seat, deed };
            let seed = seed.wrapping_add(place);
            let bot = Bot::new(&self.calls, (&self.id, &player), manner, seed, self.stage.subscribe());
            self.bots.spawn(bot.play());
            self.records.push(Record { player, acks: vec![ack], ..Record::default() });
        }
        Ok(())
    }

    /// Lifts the stop that follows a loss of history.
    pub async fn resume(calls: &Calls, table_id: &str) {
        let request = ResumeTableRequest {
            request_id: request_id(),
            table_id: table_id.to_owned(),
            scope: StopScope::Malfunction.into(),
            etag: String::new(),
        };
        calls.ask(&request, |mut c, request| async move { c.tables.resume_table(request).await }).await;
    }

    /// Lets no new hand begin, waits so long for the running one, and pays everybody out. Returns the last sequence of
    /// all.
    ///
    /// # Errors
    /// That nobody answers.
    pub async fn end(&mut self, patience: Duration) -> Result<u64, Status> {
        let end = self.play_out(patience).await;
        // Nothing is waited for where nobody answers.
        self.stage.send_replace(Stage::Over(*end.as_ref().unwrap_or(&0)));
        end
    }

    async fn play_out(&mut self, patience: Duration) -> Result<u64, Status> {
        let request = PauseTableRequest {
            request_id: request_id(),
            table_id: self.id.clone(),
            reason: REASON.to_owned(),
            etag: String::new(),
        };
        let call = |mut c: Client, request| async move { c.tables.pause_table(request).await };
        match self.calls.ask(&request, call).await.answer {
            Err(status) if is_transient(&status) => return Err(status),
            // Refused: it is stopped or closed already.
            _ => {}
        }
        self.stage.send_replace(Stage::Ending);
        self.until(patience, |table| table.hand.as_ref().is_none_or(|hand| !hand.running)).await?;
        for record in &mut self.records {
            stand_up(&self.calls, &self.id, record).await;
        }
        Ok(self.until(patience, |table| table.seats.is_empty()).await?.version)
    }

    /// Waits until the table is as wanted, or has been given long enough.
    async fn until(&self, patience: Duration, wanted: impl Fn(&Table) -> bool) -> Result<Table, Status> {
        let limit = Instant::now() + patience;
        let request = GetTableRequest { table_id: self.id.clone(), viewer: None };
        loop {
            let call = |mut c: Client, request| async move { c.tables.get_table(request).await };
            let answer = self.calls.ask(&request, call).await.answer?;
            let table =
                answer.table.ok_or_else(|| Status::internal("the server answered without a table"))?;
            if wanted(&table) || Instant::now() > limit {
                return Ok(table);
            }
            sleep(LOOK).await;
        }
    }

    /// Waits for the bots.
    pub async fn gather(&mut self) -> Ended {
        let mut ended = Ended { views: Vec::new(), records: Vec::new(), broken: None };
        while let Some(done) = self.bots.join_next().await {
            match done {
                Ok((view, record)) => {
                    ended.views.push(view);
                    ended.records.push(record);
                }
                Err(broken) => ended.broken = Some(broken),
            }
        }
        for seat in std::mem::take(&mut self.records) {
            match ended.records.iter_mut().find(|record| record.player == seat.player) {
                Some(record) => record.merge(seat),
                None => ended.records.push(seat),
            }
        }
        ended
    }

    /// All settlement records of the table.
    ///
    /// # Errors
    /// A refusal, or that nobody answers.
    pub async fn settlements(&self) -> Result<Vec<Settlement>, Status> {
        let mut records = Vec::new();
        let mut request = ListSettlementsRequest {
            page_size: PAGE,
            table_id: self.id.clone(),
            ..ListSettlementsRequest::default()
        };
        loop {
            let call = |mut c: Client, request| async move { c.settlements.list_settlements(request).await };
            let page = self.calls.ask(&request, call).await.answer?;
            records.extend(page.settlements);
            if page.next_page_token.is_empty() {
                return Ok(records);
            }
            request.page_token = page.next_page_token;
        }
    }

    /// Closes the table.
    pub async fn close(&self) {
        let request = CloseTableRequest {
            request_id: request_id(),
            table_id: self.id.clone(),
            reason: REASON.to_owned(),
            etag: String::new(),
        };
        let call = |mut c: Client, request| async move { c.tables.close_table(request).await };
        self.calls.ask(&request, call).await;
    }
}

/// Pays a player out, and notes what was acknowledged.
async fn stand_up(calls: &Calls, table_id: &str, record: &mut Record) {
    let request = Asks { table_id, player: &record.player }.stand_up();
    let call = |mut c: Client, request| async move { c.tables.stand_up(request).await };
    // Refused: he has been stood up already.
    let (Ok(left), Some(seat)) =
        (calls.ask(&request, call).await.answer, record.acks.first().map(|ack| ack.seat))
    else {
        return;
    };
    let deed = if left.pending { Deed::Leaving } else { Deed::Left { paid: left.paid } };
    record.acks.push(Ack { sequence: left.sequence, seat, deed });
}
