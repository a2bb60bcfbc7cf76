//! What a spectator sees of a table that child processes play at, and what he never accepts: a commit that is missing, a
//! hand that is lost, a chip too many.

use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_event::Event;
use fulcrum::pb::v1::table_message::Content;
use fulcrum::pb::v1::table_service_client::TableServiceClient;
use tonic::transport::{Channel, Endpoint};

use crate::child::{LONG, Running, fulcrum};

type Tables = TableServiceClient<Channel>;

/// A client of this server.
pub fn connect(address: &str) -> Tables {
    TableServiceClient::new(Endpoint::from_shared(format!("http://{address}")).unwrap().connect_lazy())
}

/// No-limit Double Hold'em for two, without a pause between hands, with one buy-in: this.
pub fn duel(buy_in: i64) -> v1::TableConfig {
    let seconds = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
    let stakes = v1::Stakes {
        small_blind: 100,
        big_blind: 200,
        min_buy_in: buy_in,
        max_buy_in: buy_in,
        ..Default::default()
    };
    v1::TableConfig {
        display_name: "Duel".into(),
        currency: "EUR".into(),
        game: v1::Game::DoubleHoldem.into(),
        limit: v1::Limit::NoLimit.into(),
        seats: 2,
        stakes: Some(stakes),
        rake: Some(v1::Rake { basis_points: 500, unit: 5, ..Default::default() }),
        clocks: Some(v1::Clocks { between_hands: seconds(0), action: seconds(60), ..Default::default() }),
        ..Default::default()
    }
}

/// Opens a table: its id.
pub async fn open_table(address: &str, config: v1::TableConfig) -> String {
    let request =
        v1::CreateTableRequest { request_id: uuid::Uuid::new_v4().to_string(), config: Some(config) };
    connect(address).create_table(request).await.unwrap().into_inner().table_id
}

/// What a spectator has seen of the table: every event in order, over all streams.
#[derive(Default)]
pub struct Seen {
    /// The last commit.
    pub sequence: u64,
    /// The last hand that began.
    pub hand: u64,
    /// The last hand that was settled.
    pub settled: u64,
    pub raked: i64,
    pub brought: i64,
    pub paid: i64,
    /// How often somebody sat down.
    pub seated: u32,
    /// How often somebody added chips.
    pub added: u32,
    /// Actions by seat.
    pub actions: [u32; 3],
    /// Cards on the board.
    pub on_board: usize,
    pub turn: Option<v1::Turn>,
    /// Stops that stand: no hand begins.
    pub stopped: u32,
    /// Bots are being sent home: they may be away.
    pub ending: bool,
}

impl Seen {
    fn update(&mut self, sequence: u64, update: v1::Update) {
        assert_eq!(sequence, self.sequence + 1, "a commit is missing, or comes twice");
        self.sequence = sequence;
        for event in update.events.into_iter().filter_map(|event| event.event) {
            self.event(event);
        }
        self.turn = update.turn;
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::HandStarted(started) => {
                assert_eq!(started.hand_number, self.hand + 1);
                assert_eq!(self.settled, self.hand, "a hand was never settled");
                assert_eq!(self.stopped, 0, "a hand of a table that is stopped");
                (self.hand, self.on_board) = (started.hand_number, 0);
            }
            Event::TableStopped(_) => self.stopped += 1,
            Event::TableResumed(_) => self.stopped -= 1,
            Event::StreetDealt(dealt) => self.on_board += dealt.cards.len(),
            Event::PlayerActed(acted) => {
                let own = acted.by() == v1::ActedBy::Player;
                assert!(own || self.ending, "a clock ran out, or somebody was away");
                self.actions[acted.seat as usize] += 1;
            }
            Event::HandSettled(settled) => {
                let hand = settled.hand.unwrap();
                assert_eq!(hand.hand_number, self.hand);
                self.settled = hand.hand_number;
                self.raked += hand.rake;
                let won: i64 = hand.players.iter().map(|p| p.stack_after - p.stack_before).sum();
                assert_eq!(won + hand.rake, 0, "hand {}", hand.hand_number);
            }
            Event::HandVoided(_) => panic!("a hand was voided"),
            Event::PlayerSeated(seated) => {
                self.seated += 1;
                self.brought += seated.buy_in;
            }
            Event::ChipsAdded(added) => {
                self.added += 1;
                self.brought += added.added;
            }
            Event::PlayerStoodUp(left) => self.paid += left.paid,
            _ => {}
        }
    }

    /// Somebody is to act after the flop.
    pub fn in_the_middle(&self) -> bool {
        self.on_board >= 3 && self.turn.is_some() && self.settled < self.hand
    }
}

/// Watches from where the last stream ended until the condition holds.
pub async fn watch_until(address: &str, table_id: &str, seen: &mut Seen, done: impl Fn(&Seen) -> bool) {
    let begun = Instant::now();
    let after_sequence = (seen.sequence > 0).then_some(seen.sequence);
    let request =
        v1::WatchTableRequest { table_id: table_id.to_owned(), after_sequence, ..Default::default() };
    let mut stream = connect(address).watch_table(request).await.unwrap().into_inner();
    while !done(seen) {
        let waited = tokio::time::timeout(Duration::from_secs(30), stream.message()).await;
        let message = waited.expect("nothing happens").unwrap().expect("the stream ended").message.unwrap();
        match message.content.unwrap() {
            Content::Snapshot(_) => {
                assert_eq!(seen.sequence, 0, "a stream that was to be resumed began anew");
                seen.sequence = message.sequence;
            }
            Content::Update(update) => seen.update(message.sequence, update),
            Content::Heartbeat(_) => {}
            Content::Compacted(_) | Content::GoAway(_) => panic!("the history is not there any more"),
        }
        assert!(begun.elapsed() < LONG, "it takes too long");
    }
}

/// A bot that plays for this player.
pub fn bot(address: &str, table_id: &str, player: &str, pace: &str) -> Running {
    let arguments = ["--address", address, "--table", table_id, "--player", player, "--pace", pace];
    Running::start(fulcrum(["bot"].iter().chain(&arguments)))
}

/// The table as a spectator sees it.
pub async fn read(address: &str, table_id: &str) -> v1::Table {
    let request = v1::GetTableRequest { table_id: table_id.to_owned(), viewer: None };
    connect(address).get_table(request).await.unwrap().into_inner().table.unwrap()
}

/// Sends bots home; each is paid.
pub fn send_home(bots: Vec<Running>) {
    for bot in &bots {
        bot.signal("INT");
    }
    for bot in bots {
        let (code, output, errors) = bot.wait();
        assert_eq!(code, 0, "{output}{errors}");
        assert!(output.contains(" was paid "), "{output}");
    }
}
