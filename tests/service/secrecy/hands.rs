//! Plays hands with bots that do everything: folds, all-ins, time-outs, shows, voids, people who come and go; while
//! everybody's messages are read and looked at.

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_event::Event;
use fulcrum::pb::v1::table_message::Content;
use prost::Message;
use tonic::Status;

use super::super::harness::caller::{eyes_of, seat_request};
use super::super::harness::decks::shuffled;
use super::super::harness::{Caller, Eyes, House, request_id};
use super::book::Book;
use super::check::Checker;
use super::faces;
use super::report::{Course, Dice, Report};

/// Those who play, one who comes later, and one who never plays. The empty name is a spectator's.
const VIEWERS: [&str; 7] = ["", "ann", "bob", "cid", "dan", "fay", "zoe"];

struct Game<'a> {
    course: Course,
    caller: Caller,
    checker: &'a Checker,
    dice: Dice,
    table: String,
    book: Book,
    report: Report,
    /// Each viewer's eyes, the spectator's first.
    eyes: Vec<(&'static str, Eyes)>,
    /// Messages that ended a hand and have not been dealt with.
    ended: Vec<v1::TableMessage>,
}

/// Plays a table to its last hand.
pub async fn play(house: &House, checker: &Checker, course: Course) -> (Report, Book) {
    let mut caller = house.caller().await;
    let table = caller.table_of(course.config.clone(), &["ann", "bob", "cid", "dan"]).await;
    let hole_cards = if course.config.game() == v1::Game::DoubleHoldem { 3 } else { 2 };
    let mut book = Book::new(hole_cards);
    // Where nobody answers, the clocks play on while the answers to others are looked at.
    for hand in 1..=course.hands as u64 * 3 + 20 {
        let deck = shuffled(course.seed.wrapping_mul(1000) + hand);
        book.deck(hand, deck.clone());
        house.decks.lay_out(&table, hand, deck);
    }
    let mut eyes = Vec::new();
    for viewer in VIEWERS {
        // Each on a connection of its own: none waits for the others to read.
        eyes.push((viewer, house.caller().await.watch(&table, viewer).await));
    }
    let (dice, report) = (Dice(course.seed), Report::default());
    let mut game = Game { course, caller, checker, dice, table, book, report, eyes, ended: Vec::new() };
    game.run().await;
    game.records().await;
    let Game { mut report, mut book, .. } = game;
    report.leaks.append(&mut book.faults);
    report.seen = book.seen.clone();
    (report, book)
}

impl Game<'_> {
    async fn run(&mut self) {
        let table = self.table.clone();
        self.caller.begin(&table).await;
        let mut answered = (0, 0, 0);
        loop {
            while let Some(message) = self.ended.pop() {
                self.report.hands += 1;
                // At once: the next hand begins soon.
                self.winner_shows(&message).await;
                self.all_look(message.sequence).await;
                if self.report.hands >= self.course.hands {
                    return;
                }
                self.after_a_hand().await;
            }
            let name = |turn: &v1::Turn| (turn.hand_number, turn.number, turn.seats.len());
            let open = self.eyes[0].1.turn.clone().filter(|turn| name(turn) != answered);
            if let Some(turn) = open {
                answered = name(&turn);
                self.answer(&turn).await;
            } else {
                self.spectate().await;
            }
        }
    }

    /// The spectator's next message, into the book.
    async fn spectate(&mut self) {
        let message = self.eyes[0].1.next().await.expect("the table goes on");
        self.book.read(&message);
        if ended(&message) {
            self.ended.push(message);
        }
    }

    async fn read_up_to(&mut self, sequence: u64) {
        while self.eyes[0].1.sequence() < sequence {
            self.spectate().await;
        }
    }

    /// Everybody reads up to here, and all that they got is looked at.
    async fn all_look(&mut self, sequence: u64) {
        for place in 0..self.eyes.len() {
            let (viewer, eyes) = &mut self.eyes[place];
            eyes.until(sequence).await;
            // The last one stays, as it says how far these eyes have come.
            let last = eyes.seen.last().cloned();
            let messages = std::mem::replace(&mut eyes.seen, last.into_iter().collect());
            let viewer = *viewer;
            for mut message in messages {
                if let Some(plant) = self.course.plant {
                    plant(&mut message, viewer, &self.book);
                }
                let sequence = message.sequence;
                let response = v1::WatchTableResponse { message: Some(message) };
                self.look("WatchTableResponse", &response, viewer, sequence);
            }
        }
    }

    fn look(&mut self, name: &str, message: &impl Message, viewer: &str, sequence: u64) {
        let moment = self.book.at(sequence);
        self.report.messages += 1;
        match self.checker.look(name, &message.encode_to_vec(), viewer, &moment) {
            Ok(cards) => self.report.cards += cards,
            Err(leak) => self.report.leaks.push(leak),
        }
    }

    /// A refusal names no card, neither in its message nor in its details.
    fn refused(&mut self, status: &Status) {
        self.report.refusals += 1;
        let details = String::from_utf8_lossy(status.details());
        for text in [status.message(), &details] {
            if let Some(card) = faces::find(text) {
                self.report.leaks.push(format!("the refusal {text:?} names {card}"));
            }
        }
    }

    async fn answer(&mut self, turn: &v1::Turn) {
        if self.course.timeouts && self.dice.percent(4) {
            return;
        }
        if self.dice.percent(8) {
            self.nonsense(turn).await;
        }
        if self.dice.percent(1) {
            return self.void(turn.hand_number).await;
        }
        if self.dice.percent(10) {
            self.read_the_table().await;
        }
        for seat in &turn.seats {
            // A clock may have ended the hand in the meantime.
            let Some((player, _)) = self.book.now().holes.get(seat).cloned() else { return };
            match turn.kind() {
                v1::TurnKind::Pick => self.pick(turn, &player).await,
                _ => self.act(turn, &player).await,
            }
        }
    }

    async fn pick(&mut self, turn: &v1::Turn, player: &str) {
        let (table, card) = (self.table.clone(), self.dice.below(3) as u32);
        match self.caller.pick(&table, player, turn, card).await {
            Ok(response) => {
                self.read_up_to(response.sequence).await;
                self.look("SelectPivotResponse", &response, player, response.sequence);
            }
            Err(status) => self.refused(&status),
        }
    }

    async fn act(&mut self, turn: &v1::Turn, player: &str) {
        let Some(legal) = turn.legal else { return };
        let raise = if legal.can_bet { v1::Action::Bet } else { v1::Action::Raise };
        let (action, to) = match self.dice.below(100) {
            0..14 => (v1::Action::Fold, 0),
            14..18 if legal.can_all_in => (v1::Action::AllIn, 0),
            18..34 if legal.can_bet || legal.can_raise => {
                let most = (legal.min_to + 500).min(legal.max_to);
                (raise, legal.min_to + self.dice.below((most - legal.min_to) as u64 + 1) as i64)
            }
            _ if legal.can_check => (v1::Action::Check, 0),
            _ => (v1::Action::Call, 0),
        };
        let table = self.table.clone();
        match self.caller.act(&table, player, turn, action, to).await {
            Ok(response) => {
                self.read_up_to(response.sequence).await;
                self.look("ActResponse", &response, player, response.sequence);
            }
            Err(status) => self.refused(&status),
        }
    }

    /// Calls that are refused.
    async fn nonsense(&mut self, turn: &v1::Turn) {
        let table = self.table.clone();
        let wrong = VIEWERS[1 + self.dice.below(6) as usize];
        let strange = v1::Turn { number: turn.number + 300, ..turn.clone() };
        let Some((asked, _)) = self.book.now().holes.get(&turn.seats[0]).cloned() else { return };
        let refusals = [
            self.caller.act(&table, wrong, &strange, v1::Action::Check, 0).await.err(),
            self.caller.pick(&table, wrong, &strange, 1).await.err(),
            self.caller.act(&table, &asked, turn, v1::Action::Raise, 1).await.err(),
            self.show_request(turn.hand_number + 300, wrong).await.err(),
        ];
        for status in refusals {
            self.refused(&status.expect("nonsense is refused"));
        }
    }

    async fn void(&mut self, hand_number: u64) {
        let request = v1::VoidHandRequest {
            request_id: request_id(),
            table_id: self.table.clone(),
            hand_number,
            reason: "a card fell".into(),
            requester: "floor".into(),
        };
        if let Err(status) = self.caller.settlements.void_hand(request).await {
            self.refused(&status);
        }
    }

    /// Somebody reads the table and the turn.
    async fn read_the_table(&mut self) {
        let viewer = VIEWERS[self.dice.below(VIEWERS.len() as u64) as usize];
        let request = v1::GetTableRequest { table_id: self.table.clone(), viewer: eyes_of(viewer) };
        let response = self.caller.tables.get_table(request).await.expect("the table").into_inner();
        let version = response.table.as_ref().expect("a table").version;
        let table = self.table.clone();
        let turn = self.caller.turn(&table, viewer).await;
        self.read_up_to(version.max(turn.sequence)).await;
        self.look("GetTableResponse", &response, viewer, version);
        self.look("GetTurnResponse", &turn, viewer, turn.sequence);
    }

    async fn winner_shows(&mut self, message: &v1::TableMessage) {
        let settled = events(message).find_map(|event| match event {
            Event::HandSettled(settled) => settled.hand.clone(),
            _ => None,
        });
        let now = self.book.now();
        let hidden = settled.filter(|hand| now.hand == hand.hand_number && now.shown.is_empty());
        if let Some(hand) = hidden
            && self.dice.percent(60)
        {
            self.show(&hand).await;
        }
    }

    async fn after_a_hand(&mut self) {
        if self.report.hands == self.course.hands / 2 {
            self.dan_leaves().await;
        }
        self.top_up().await;
    }

    /// Rules 6.6: the winner shows; somebody else would like to.
    async fn show(&mut self, hand: &v1::SettledHand) {
        for player in &hand.players {
            // He may have won nothing: all that was in the middle was his own.
            let winner = self.book.now().alone() == Some(player.seat);
            if winner {
                self.book.asks_to_show(hand.hand_number, player.seat);
            }
            match self.show_request(hand.hand_number, &player.player_id).await {
                Ok(_) if winner => {}
                Ok(_) => self.report.leaks.push("a loser showed".into()),
                Err(status) => self.refused(&status),
            }
        }
    }

    async fn show_request(&mut self, hand_number: u64, player: &str) -> Result<(), Status> {
        let (table_id, player_id) = (self.table.clone(), player.to_owned());
        let request = v1::ShowCardsRequest { request_id: request_id(), table_id, hand_number, player_id };
        self.caller.actions.show_cards(request).await.map(|_| ())
    }

    async fn dan_leaves(&mut self) {
        let leave = v1::StandUpRequest {
            request_id: request_id(),
            table_id: self.table.clone(),
            player_id: "dan".into(),
            transaction_id: "out".into(),
            etag: String::new(),
        };
        self.caller.tables.stand_up(leave).await.expect("dan may leave");
    }

    /// Whoever has few chips buys more, whoever sits out comes back, and fay takes dan's seat as soon as it is free.
    async fn top_up(&mut self) {
        let table = self.table.clone();
        let seats = self.caller.table(&table, "").await.seats;
        if !seats.iter().any(|seat| seat.seat == 4) {
            let entry = v1::Entry::Post.into();
            let fay = v1::SeatPlayerRequest { entry, ..seat_request(&table, "fay", 4, 8_000) };
            self.caller.tables.seat_player(fay).await.expect("the seat is free");
        }
        for seat in seats.iter().filter(|seat| seat.stack < 3_000) {
            let (table_id, player_id) = (table.clone(), seat.player_id.clone());
            let add = v1::AddChipsRequest {
                request_id: request_id(),
                table_id: table_id.clone(),
                player_id: player_id.clone(),
                amount: 6_000,
                transaction_id: "more".into(),
                etag: String::new(),
            };
            let entry = v1::Entry::Post.into();
            let id = request_id();
            let back = v1::SitInRequest { request_id: id, table_id, player_id, entry, etag: String::new() };
            let added = self.caller.tables.add_chips(add).await.err();
            let returned = self.caller.tables.sit_in(back).await.err();
            for status in [added, returned].into_iter().flatten() {
                self.refused(&status);
            }
        }
    }

    /// All settlement records: each by what was so when it was made.
    async fn records(&mut self) {
        let table = self.table.clone();
        let mut page_token = String::new();
        let last = self.eyes[0].1.sequence();
        loop {
            let table_id = table.clone();
            let request =
                v1::ListSettlementsRequest { table_id, page_size: 500, page_token, ..Default::default() };
            let page = self.caller.settlements.list_settlements(request).await.expect("records").into_inner();
            // Those before the book began are of buy-ins only.
            for record in page.settlements.iter().filter(|record| record.sequence <= last) {
                if record.kind() != v1::SettlementKind::BuyIn {
                    self.look("Settlement", record, "", record.sequence);
                }
            }
            page_token = page.next_page_token;
            if page_token.is_empty() {
                break;
            }
        }
        self.caller.close_table(&table).await;
    }
}

fn events(message: &v1::TableMessage) -> impl Iterator<Item = &Event> {
    let update = match &message.content {
        Some(Content::Update(update)) => Some(update),
        _ => None,
    };
    update.into_iter().flat_map(|update| update.events.iter().filter_map(|event| event.event.as_ref()))
}

fn ended(message: &v1::TableMessage) -> bool {
    events(message).any(|event| matches!(event, Event::HandSettled(_) | Event::HandVoided(_)))
}
