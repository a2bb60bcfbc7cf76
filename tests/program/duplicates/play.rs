//! A table that is played by calls sent twice: hands, and everything that may be asked beside them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use conformance::deals::Deals;
use fulcrum::pb::v1;
use fulcrum::pb::v1::table_service_client::TableServiceClient;
use tonic::transport::Channel;

use super::twins::Twins;
use crate::spectator::connect;

const SEATS: u32 = 4;
const BUY_IN: i64 = 8_000;
const MOST: i64 = 20_000;

/// The table and what is needed to play there.
pub struct Play {
    twins: Twins,
    reader: TableServiceClient<Channel>,
    id: String,
    config: v1::TableConfig,
    dice: Deals,
    /// The last hand.
    hand: u64,
    /// Players who have sat down so far.
    guests: u32,
}

fn fresh() -> String {
    uuid::Uuid::new_v4().to_string()
}

fn config(game: v1::Game) -> v1::TableConfig {
    let seconds = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
    let stakes = v1::Stakes {
        small_blind: 50,
        big_blind: 100,
        min_buy_in: 1_000,
        max_buy_in: MOST,
        ..Default::default()
    };
    v1::TableConfig {
        currency: "EUR".into(),
        game: game.into(),
        limit: v1::Limit::NoLimit.into(),
        seats: SEATS,
        stakes: Some(stakes),
        rake: Some(v1::Rake { basis_points: 500, ..Default::default() }),
        clocks: Some(v1::Clocks {
            action: seconds(120),
            pivot: seconds(120),
            between_hands: seconds(0),
            ..Default::default()
        }),
        rathole_window: seconds(0),
        ..Default::default()
    }
}

impl Play {
    /// Opens a table. It is paused between hands, so that nothing but these calls happens there.
    pub async fn open(mut twins: Twins, address: &str, game: v1::Game, number: u64) -> Play {
        let config = config(game);
        let bad = v1::TableConfig { seats: 1, ..config.clone() };
        let request = v1::CreateTableRequest { request_id: fresh(), config: Some(bad) };
        let refused = twins.send(&request).await.expect_err("one seat is no table");
        assert_eq!(refused.reason, "BAD_CONFIG");
        let request = v1::CreateTableRequest { request_id: fresh(), config: Some(config.clone()) };
        let opened = twins.send(&request).await.expect("a table");
        let dice = Deals::from_seed(number);
        let reader = connect(address);
        let mut play = Play { twins, reader, id: opened.table_id, config, dice, hand: 0, guests: 0 };
        play.resume().await.expect_err("it is not stopped");
        play.pause().await;
        play
    }

    /// Plays a hand, with what is asked before, meanwhile and afterwards.
    pub async fn hand(&mut self) {
        self.prepare().await;
        self.resume().await.expect("it was stopped");
        self.begun().await;
        self.pause().await;
        let voided = self.chance(6);
        loop {
            let table = self.read().await;
            let Some(hand) = table.hand.clone().filter(|hand| hand.running) else {
                break;
            };
            if voided && self.chance(5) {
                let request = self.void(hand.number);
                self.twins.send(&request).await.expect("a running hand can be voided");
            } else if self.chance(4) {
                self.aside(&table, &hand).await;
            } else {
                self.decide(&table, &hand).await;
            }
        }
        self.afterwards().await;
    }

    /// Closes the table; gives its id and which call made which commit.
    pub async fn close(mut self) -> (String, BTreeMap<u64, &'static str>) {
        let close = |id: &str| v1::CloseTableRequest {
            request_id: fresh(),
            table_id: id.to_owned(),
            ..Default::default()
        };
        self.twins.send(&close(&self.id)).await.expect("a table can be closed");
        let refused = self.twins.send(&close(&self.id)).await.expect_err("once");
        assert_eq!(refused.reason, "TABLE_CLOSED");
        (self.id, self.twins.commits)
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.dice.below(one_in) == 0
    }

    async fn read(&mut self) -> v1::Table {
        let begun = Instant::now();
        loop {
            let request = v1::GetTableRequest { table_id: self.id.clone(), viewer: None };
            match self.reader.get_table(request).await {
                Ok(answer) => return answer.into_inner().table.expect("a table"),
                Err(status) => assert!(begun.elapsed() < Duration::from_secs(30), "{status:?}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until the next hand is dealt.
    async fn begun(&mut self) {
        let begun = Instant::now();
        loop {
            let table = self.read().await;
            if let Some(hand) = table.hand.as_ref().filter(|hand| hand.number > self.hand) {
                self.hand = hand.number;
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "no hand begins: {table:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn pause(&mut self) {
        let mut request = v1::PauseTableRequest {
            request_id: fresh(),
            table_id: self.id.clone(),
            reason: "between hands".into(),
            etag: String::new(),
        };
        self.twins.send(&request).await.expect("a table can be paused");
        if self.chance(8) {
            (request.request_id, request.reason) = (fresh(), String::new());
            self.twins.send(&request).await.expect_err("a reason is required");
        }
    }

    async fn resume(&mut self) -> Result<v1::ResumeTableResponse, super::twins::Refused> {
        let request =
            v1::ResumeTableRequest { request_id: fresh(), table_id: self.id.clone(), ..Default::default() };
        self.twins.send(&request).await
    }

    /// Fills the seats; everybody has chips and plays.
    async fn prepare(&mut self) {
        let table = self.read().await;
        let taken: Vec<u32> = table.seats.iter().map(|seat| seat.seat).collect();
        for seat in (1..=SEATS).filter(|seat| !taken.contains(seat)) {
            self.guests += 1;
            let player = format!("guest-{}", self.guests);
            let request = self.seat(&player, seat);
            self.twins.send(&request).await.expect("a free seat");
        }
        for seat in &table.seats {
            if seat.stack < 500 {
                let request = self.chips(&seat.player_id, BUY_IN);
                self.twins.send(&request).await.expect("there is room for chips");
            }
            let away = seat.status() == v1::SeatStatus::SittingOut;
            if away || seat.sit_out_from() != v1::SitOutFrom::Unspecified {
                let request = self.sit_in(&seat.player_id);
                self.twins.send(&request).await.expect("he can come back");
            }
        }
    }

    /// The answer to the open turn; now and then one that is refused comes first.
    async fn decide(&mut self, table: &v1::Table, hand: &v1::HandView) {
        let turn = hand.turn.clone().expect("a running hand waits for somebody");
        let seat = turn.seats[0];
        let player = name_of(table, seat);
        if turn.kind() == v1::TurnKind::Pick {
            let card = self.dice.below(3) as u32;
            let mut request = self.pick(&turn, &player, card);
            if self.chance(6) {
                request.card_index = Some(3);
                self.twins.send(&request).await.expect_err("there are three cards");
                request.card_index = Some(card);
            }
            self.twins.send(&request).await.expect("a pick");
            return;
        }
        if self.chance(8) {
            let request = self.act(&turn, &player, v1::Action::Raise, 1);
            self.twins.send(&request).await.expect_err("one is no raise");
        }
        let (action, to) = self.action(&turn.legal.expect("one is asked"));
        let request = self.act(&turn, &player, action, to);
        self.twins.send(&request).await.expect("a legal action");
    }

    fn action(&mut self, legal: &v1::LegalActions) -> (v1::Action, i64) {
        let raise = self.chance(5);
        match () {
            () if raise && legal.can_bet => (v1::Action::Bet, legal.min_to),
            () if raise && legal.can_raise => (v1::Action::Raise, legal.min_to),
            () if legal.can_check => (v1::Action::Check, 0),
            () if self.chance(3) => (v1::Action::Fold, 0),
            () => (v1::Action::Call, 0),
        }
    }

    /// Something that is asked while a hand runs.
    async fn aside(&mut self, table: &v1::Table, hand: &v1::HandView) {
        let place = self.dice.below(table.seats.len());
        let player = table.seats[place].player_id.clone();
        let kind = self.dice.below(16);
        // Whether it is granted depends on what was asked before; that both say the same is what counts.
        match kind {
            0..=2 => drop(self.twins.send(&self.chips(&player, 700)).await),
            3..=5 => drop(self.twins.send(&self.sit_out(&player)).await),
            6..=8 => drop(self.twins.send(&self.sit_in(&player)).await),
            9..=10 => drop(self.twins.send(&self.prefer(&player)).await),
            11 => drop(self.twins.send(&self.stand_up(&player)).await),
            12 => drop(self.twins.send(&self.update()).await.expect_err("a hand is running")),
            13 => drop(self.twins.send(&self.seat(&player, 0)).await.expect_err("he has a seat")),
            14 => drop(self.twins.send(&self.void(hand.number + 1)).await.expect_err("no such hand")),
            _ => drop(self.twins.send(&self.prefer("nobody")).await.expect_err("he has no seat")),
        }
    }

    /// What is asked between two hands.
    async fn afterwards(&mut self) {
        let table = self.read().await;
        let hand = table.hand.clone().expect("it was played");
        let mut live = hand.seats.iter().filter(|seat| !seat.folded);
        let alone = live.next().filter(|seat| live.next().is_none() && !seat.shown);
        let shower = alone.unwrap_or(&hand.seats[0]).player_id.clone();
        // Refused where there was a showdown, or a void.
        drop(self.twins.send(&self.show(hand.number, &shower)).await);
        if self.chance(2) {
            self.twins.send(&self.update()).await.expect("no hand is running");
        }
        for seat in &table.seats {
            let player = &seat.player_id;
            match self.dice.below(8) {
                0 => drop(self.twins.send(&self.chips(player, 900)).await),
                1 => drop(self.twins.send(&self.sit_out(player)).await),
                2 => drop(self.twins.send(&self.stand_up(player)).await),
                3 => drop(self.twins.send(&self.prefer(player)).await),
                4 => drop(self.twins.send(&self.stand_up("nobody")).await.expect_err("he has no seat")),
                _ => {}
            }
        }
    }

    fn seat(&self, player: &str, seat: u32) -> v1::SeatPlayerRequest {
        v1::SeatPlayerRequest {
            request_id: fresh(),
            table_id: self.id.clone(),
            player_id: player.to_owned(),
            seat,
            buy_in: BUY_IN,
            transaction_id: fresh(),
            entry: v1::Entry::Post.into(),
            etag: String::new(),
        }
    }

    fn chips(&self, player: &str, amount: i64) -> v1::AddChipsRequest {
        v1::AddChipsRequest {
            request_id: fresh(),
            table_id: self.id.clone(),
            player_id: player.to_owned(),
            amount,
            transaction_id: fresh(),
            etag: String::new(),
        }
    }

    fn sit_out(&self, player: &str) -> v1::SitOutRequest {
        v1::SitOutRequest {
            request_id: fresh(),
            table_id: self.id.clone(),
            player_id: player.to_owned(),
            from: v1::SitOutFrom::NextHand.into(),
            etag: String::new(),
        }
    }

    fn sit_in(&self, player: &str) -> v1::SitInRequest {
        v1::SitInRequest {
            request_id: fresh(),
            table_id: self.id.clone(),
            player_id: player.to_owned(),
            entry: v1::Entry::Post.into(),
            etag: String::new(),
        }
    }

    fn stand_up(&self, player: &str) -> v1::StandUpRequest {
        v1::StandUpRequest {
            request_id: fresh(),
            table_id: self.id.clone(),
            player_id: player.to_owned(),
            transaction_id: fresh(),
            etag: String::new(),
        }
    }

    fn prefer(&self, player: &str) -> v1::SetPreferencesRequest {
        v1::SetPreferencesRequest {
            request_id: fresh(),
            table_id: self.id.clone(),
            player_id: player.to_owned(),
            preferences: Some(v1::Preferences { straddle: false, always_show: true }),
            etag: String::new(),
        }
    }

    fn update(&self) -> v1::UpdateTableRequest {
        let config = v1::TableConfig { display_name: fresh(), ..self.config.clone() };
        v1::UpdateTableRequest {
            request_id: fresh(),
            table_id: self.id.clone(),
            config: Some(config),
            etag: String::new(),
        }
    }

    fn void(&self, hand_number: u64) -> v1::VoidHandRequest {
        v1::VoidHandRequest {
            request_id: fresh(),
            table_id: self.id.clone(),
            hand_number,
            reason: "a trial".into(),
            requester: "the test".into(),
        }
    }

    fn show(&self, hand_number: u64, player: &str) -> v1::ShowCardsRequest {
        v1::ShowCardsRequest {
            request_id: fresh(),
            table_id: self.id.clone(),
            hand_number,
            player_id: player.to_owned(),
        }
    }

    fn act(&self, turn: &v1::Turn, player: &str, action: v1::Action, to: i64) -> v1::ActRequest {
        v1::ActRequest {
            request_id: fresh(),
            table_id: self.id.clone(),
            hand_number: turn.hand_number,
            turn: turn.number,
            player_id: player.to_owned(),
            action: action.into(),
            to,
        }
    }

    fn pick(&self, turn: &v1::Turn, player: &str, card: u32) -> v1::SelectPivotRequest {
        v1::SelectPivotRequest {
            request_id: fresh(),
            table_id: self.id.clone(),
            hand_number: turn.hand_number,
            turn: turn.number,
            player_id: player.to_owned(),
            card_index: Some(card),
        }
    }
}

fn name_of(table: &v1::Table, seat: u32) -> String {
    let found = table.seats.iter().find(|taken| taken.seat == seat);
    found.expect("whoever is asked has a seat").player_id.clone()
}
