//! A bot in a seat: it watches with its player's eyes, answers its turns, and buys in again when it is broke.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rules::Pick;
use tokio::time::sleep;
use tonic::Status;

use super::asks::Asks;
use super::client::{Client, as_player, reason, timed};
use super::follow::{Follow, News};
use super::pace::Pace;
use super::sight::Sight;
use super::strategy::{Question, Temper};
use super::strength::Spot;
use crate::pb::v1::{Action, ErrorReason, SitOutReason, Turn, TurnKind};

/// How many deals a bot tries in its head before it decides.
const DEALS: u32 = 200;

/// A bot in a seat.
pub struct Player {
    client: Client,
    table_id: String,
    name: String,
    pace: Pace,
    temper: Temper,
    rng: Xoshiro256PlusPlus,
    follow: Follow,
    sight: Sight,
    /// The turn answered last: hand and number.
    answered: (u64, u32),
    /// Sitting out was dealt with.
    came_back: bool,
    last_hand: Option<u64>,
}

impl Player {
    /// A bot that plays this seat's player; the seed drives its decisions and nothing else.
    #[must_use]
    pub fn new(client: Client, table_id: &str, name: &str, pace: Pace, seed: u64) -> Player {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Player {
            follow: Follow::new(client.clone(), table_id, as_player(name)),
            client,
            table_id: table_id.to_owned(),
            name: name.to_owned(),
            pace,
            temper: Temper::drawn(&mut rng),
            rng,
            sight: Sight::new(name),
            answered: (0, 0),
            came_back: false,
            last_hand: None,
        }
    }

    /// In this hand it waits with its decisions until it has heard that the table is closing, so that no further hand
    /// can begin.
    #[must_use]
    pub fn closing_with(mut self, hand: Option<u64>) -> Player {
        self.last_hand = hand;
        self
    }

    /// Where its server is.
    #[must_use]
    pub fn address(&self) -> &str {
        self.client.address()
    }

    /// What it sees.
    #[must_use]
    pub const fn sight(&self) -> &Sight {
        &self.sight
    }

    /// Takes a seat, the free one with the lowest number for 0, and posts to be in the game soon. A player who sits
    /// there already goes on.
    ///
    /// # Errors
    /// A refusal, or that nobody answers.
    pub async fn take_seat(&self, seat: u32, buy_in: i64) -> Result<(), Status> {
        let request = self.asks().seat(seat, buy_in);
        let asked = self.client.ask(|mut client| {
            let request = timed(request.clone());
            async move { client.tables.seat_player(request).await }
        });
        match asked.await {
            Err(status) if reason(&status) != Some(ErrorReason::AlreadySeated) => Err(status),
            _ => Ok(()),
        }
    }

    /// Answers what is asked of it, then waits for the next news; `None` when the table is closed. May be dropped and
    /// called again.
    ///
    /// # Errors
    /// A refusal that no bot can do anything about, or that nobody answers.
    pub async fn step(&mut self) -> Result<Option<News>, Status> {
        self.answer_turn().await?;
        self.come_back().await?;
        let news = self.follow.next().await?;
        match &news {
            Some(News::Snapshot(table)) => self.sight.reset(table),
            Some(News::Update(update)) => self.sight.apply(update),
            Some(News::Resumed) | None => {}
        }
        Ok(news)
    }

    /// Leaves the seat; if a hand runs, after it. [`Sight::paid`] then says what it was paid.
    ///
    /// # Errors
    /// A refusal, or that nobody answers.
    pub async fn stand_up(&self) -> Result<(), Status> {
        let request = self.asks().stand_up();
        let asked = self.client.ask(|mut client| {
            let request = timed(request.clone());
            async move { client.tables.stand_up(request).await }
        });
        passed_over(asked.await, &[ErrorReason::Leaving, ErrorReason::NotSeated, ErrorReason::TableClosed])
    }

    fn asks(&self) -> Asks<'_> {
        Asks { table_id: &self.table_id, player: &self.name }
    }

    async fn answer_turn(&mut self) -> Result<(), Status> {
        let Some(turn) = self.sight.my_turn().cloned() else {
            return Ok(());
        };
        let this = (turn.hand_number, turn.number);
        let waits = self.last_hand == Some(turn.hand_number) && !self.sight.closing;
        if this == self.answered || waits {
            return Ok(());
        }
        sleep(self.pace.thought(&mut self.rng)).await;
        if turn.kind() == TurnKind::Pick {
            self.pick(&turn).await?;
        } else {
            self.act(&turn).await?;
        }
        self.answered = this;
        Ok(())
    }

    async fn pick(&mut self, turn: &Turn) -> Result<(), Status> {
        let spot = spot(&self.sight, self.sight.hand.pick);
        let pick = spot.best_pick(DEALS, &mut self.rng);
        let request = self.asks().pick(turn, pick.index().into());
        let asked = self.client.ask(|mut client| {
            let request = timed(request.clone());
            async move { client.pivots.select_pivot(request).await }
        });
        passed_over(asked.await, TOO_LATE)
    }

    async fn act(&mut self, turn: &Turn) -> Result<(), Status> {
        let legal = turn.legal.unwrap_or_default();
        let (hand, opponents) = (&self.sight.hand, self.sight.opponents());
        let asked = Question {
            legal,
            wins: spot(&self.sight, hand.pick).wins(DEALS, &mut self.rng),
            opponents,
            pot: hand.pot,
            high: hand.high,
            raises: hand.raises,
            unit: self.sight.config.stakes.unwrap_or_default().big_blind / 2,
        };
        let (action, to) = self.temper.decide(&asked, &mut self.rng);
        let answer = self.send(turn, action, to).await;
        let illegal = [ErrorReason::IllegalAction, ErrorReason::IllegalAmount];
        let Err(status) = &answer else {
            return Ok(());
        };
        if reason(status).is_some_and(|reason| illegal.contains(&reason)) {
            // Not what was meant, but it is somebody's turn: give the hand up rather than hold up the table.
            tracing::warn!(table = self.table_id, player = self.name, "refused: {}", status.message());
            return passed_over(self.send(turn, Action::Fold, 0).await, TOO_LATE);
        }
        passed_over(answer, TOO_LATE)
    }

    async fn send(&self, turn: &Turn, action: Action, to: i64) -> Result<(), Status> {
        let request = self.asks().act(turn, action, to);
        let asked = self.client.ask(|mut client| {
            let request = timed(request.clone());
            async move { client.actions.act(request).await }
        });
        asked.await.map(|_| ())
    }

    /// Buys in again when broke, and sits in again after time-outs; not at a table that closes.
    async fn come_back(&mut self) -> Result<(), Status> {
        let Some(out) = self.sight.out.filter(|_| self.sight.seat.is_some() && !self.sight.closing) else {
            self.came_back = false;
            return Ok(());
        };
        if self.came_back {
            return Ok(());
        }
        match out {
            SitOutReason::NoChips => {
                self.add_chips().await?;
                self.sit_in().await?;
            }
            SitOutReason::TimeOuts => self.sit_in().await?,
            _ => {}
        }
        self.came_back = true;
        Ok(())
    }

    async fn add_chips(&self) -> Result<(), Status> {
        let request = self.asks().add_chips(self.sight.config.stakes.unwrap_or_default().max_buy_in);
        let asked = self.client.ask(|mut client| {
            let request = timed(request.clone());
            async move { client.tables.add_chips(request).await }
        });
        passed_over(asked.await, NO_NEED)
    }

    async fn sit_in(&self) -> Result<(), Status> {
        let request = self.asks().sit_in();
        let asked = self.client.ask(|mut client| {
            let request = timed(request.clone());
            async move { client.tables.sit_in(request).await }
        });
        passed_over(asked.await, NO_NEED)
    }
}

/// Refusals that say that the table went on without us.
const TOO_LATE: &[ErrorReason] = &[
    ErrorReason::TurnPassed,
    ErrorReason::HandOver,
    ErrorReason::NoHandRunning,
    ErrorReason::NotYourTurn,
    ErrorReason::ClockRanOut,
    ErrorReason::PivotPicked,
    ErrorReason::NoPivotDue,
    ErrorReason::NotInHand,
    ErrorReason::NotSeated,
    ErrorReason::TableClosed,
];

/// Refusals that say that there is nothing to come back from, or to.
const NO_NEED: &[ErrorReason] = &[
    ErrorReason::ChipsPending,
    ErrorReason::BuyInOutOfRange,
    ErrorReason::NotSittingOut,
    ErrorReason::NoChips,
    ErrorReason::Leaving,
    ErrorReason::NotSeated,
    ErrorReason::TableClosed,
];

fn passed_over<T>(answer: Result<T, Status>, reasons: &[ErrorReason]) -> Result<(), Status> {
    match answer {
        Err(status) if reason(&status).is_none_or(|reason| !reasons.contains(&reason)) => Err(status),
        _ => Ok(()),
    }
}

fn spot(sight: &Sight, pick: Option<Pick>) -> Spot<'_> {
    Spot { own: &sight.hand.cards, pick, board: &sight.hand.board, opponents: sight.opponents() }
}
