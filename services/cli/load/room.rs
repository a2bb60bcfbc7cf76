//! A table of a run, from its opening to its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep};
use tonic::Status;

use super::bot::{Bot, Manner, Stage};
use super::calls::Calls;
use super::cashier::{Cashier, seated};
use super::check::{Record, View};
use crate::cli::client::{Client, is_transient, request_id};
use crate::pb::v1::{
    CloseTableRequest, CreateTableRequest, GetTableRequest, ListSettlementsRequest, ListTransactionsRequest,
    PauseTableRequest, ResumeTableRequest, Settlement, StopScope, Table, TableConfig, TransactionState,
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
    /// The operator's own way to the cashier, for each player.
    cashiers: Vec<Cashier>,
    /// Every bot that is at the cashier holds it.
    queue: Arc<()>,
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
        Ok(Room {
            id,
            name,
            calls: calls.clone(),
            stage,
            bots: JoinSet::new(),
            records: Vec::new(),
            cashiers: Vec::new(),
            queue: Arc::default(),
        })
    }

    /// Seats players and lets a bot play for each. Where a wallet pays the bots see to their seats themselves.
    ///
    /// # Errors
    /// A refusal, or that nobody answers.
    pub async fn seat(&mut self, players: Vec<String>, manner: Manner, seed: u64) -> Result<(), Status> {
        for (place, player) in (0..).zip(players) {
            let cashier = Cashier {
                calls: self.calls.clone(),
                table_id: self.id.clone(),
                player: player.clone(),
                wallet: manner.wallet,
                stage: self.stage.subscribe(),
                queue: Arc::downgrade(&self.queue),
            };
            let mut record = Record { player, ..Record::default() };
            if !manner.wallet {
                let answer = cashier.ask_for_a_seat(manner.buy_in).await.answer?;
                record.acks.push(seated(&answer, manner.buy_in));
            }
            self.bots.spawn(Bot::new(cashier.clone(), manner, seed.wrapping_add(place)).play());
            self.cashiers.push(cashier);
            self.records.push(record);
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
        let limit = Instant::now() + patience;
        self.until(patience, |table| table.hand.as_ref().is_none_or(|hand| !hand.running)).await?;
        while Arc::strong_count(&self.queue) > 1 && Instant::now() < limit {
            sleep(LOOK / 10).await;
        }
        self.stand_up().await?;
        while self.money_is_on_its_way().await? && Instant::now() < limit {
            sleep(LOOK).await;
        }
        Ok(self.until(patience, |table| table.seats.is_empty()).await?.version)
    }

    /// Whether the operator's wallet is still asked for something, which goes on in the table's log.
    async fn money_is_on_its_way(&self) -> Result<bool, Status> {
        if !self.cashiers.iter().any(|cashier| cashier.wallet) {
            return Ok(false);
        }
        let under_way =
            [TransactionState::Debiting, TransactionState::Cancelling, TransactionState::Crediting];
        let request = ListTransactionsRequest {
            page_size: 1,
            table_id: self.id.clone(),
            states: under_way.map(i32::from).to_vec(),
            ..ListTransactionsRequest::default()
        };
        let call = |mut c: Client, request| async move { c.settlements.list_transactions(request).await };
        let page = self.calls.ask(&request, call).await.answer?;
        Ok(!page.transactions.is_empty() || !page.next_page_token.is_empty())
    }

    /// Pays everybody out who sits there.
    async fn stand_up(&mut self) -> Result<(), Status> {
        let table = self.until(Duration::ZERO, |_| true).await?;
        for (cashier, record) in self.cashiers.iter().zip(&mut self.records) {
            if let Some(seat) = table.seats.iter().find(|seat| seat.player_id == cashier.player) {
                record.merge(cashier.clone().stand_up(seat.seat).await);
            }
        }
        Ok(())
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
