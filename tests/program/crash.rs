//! A server that is killed in the middle of a hand and started again: the hand goes on where it was.

use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_event::Event;
use fulcrum::pb::v1::table_message::Content;
use fulcrum::pb::v1::table_service_client::TableServiceClient;
use tonic::transport::{Channel, Endpoint};

use crate::child::{LONG, Running, Server, fulcrum};

const BUY_IN: i64 = 20_000;
const KILLS: u32 = 2;

type Tables = TableServiceClient<Channel>;

fn connect(address: &str) -> Tables {
    TableServiceClient::new(Endpoint::from_shared(format!("http://{address}")).unwrap().connect_lazy())
}

async fn open_table(address: &str) -> String {
    let seconds = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
    let config = v1::TableConfig {
        display_name: "Crash".into(),
        currency: "EUR".into(),
        game: v1::Game::DoubleHoldem.into(),
        limit: v1::Limit::NoLimit.into(),
        seats: 2,
        stakes: Some(v1::Stakes {
            small_blind: 100,
            big_blind: 200,
            max_buy_in: BUY_IN,
            ..Default::default()
        }),
        rake: Some(v1::Rake { basis_points: 500, unit: 5, ..Default::default() }),
        clocks: Some(v1::Clocks { between_hands: seconds(0), action: seconds(60), ..Default::default() }),
        ..Default::default()
    };
    let request_id = uuid::Uuid::new_v4().to_string();
    let answer =
        connect(address).create_table(v1::CreateTableRequest { request_id, config: Some(config) }).await;
    answer.unwrap().into_inner().table_id
}

/// What a spectator has seen of the table: every event in order, over all streams.
#[derive(Default)]
struct Seen {
    sequence: u64,
    hand: u64,
    settled: u64,
    raked: i64,
    brought: i64,
    paid: i64,
    actions: [u32; 3],
    on_board: usize,
    turn: Option<v1::Turn>,
    ending: bool,
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
                (self.hand, self.on_board) = (started.hand_number, 0);
            }
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
            Event::PlayerSeated(seated) => self.brought += seated.buy_in,
            Event::ChipsAdded(added) => self.brought += added.added,
            Event::PlayerStoodUp(left) => self.paid += left.paid,
            _ => {}
        }
    }

    /// Somebody is to act after the flop.
    fn in_the_middle(&self) -> bool {
        self.on_board >= 3 && self.turn.is_some() && self.settled < self.hand
    }
}

/// Watches from where the last stream ended until the condition holds.
async fn watch_until(address: &str, table_id: &str, seen: &mut Seen, done: impl Fn(&Seen) -> bool) {
    let begun = Instant::now();
    let after_sequence = (seen.sequence > 0).then_some(seen.sequence);
    let request = v1::WatchTableRequest { table_id: table_id.to_owned(), after_sequence, viewer: None };
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

fn bot(address: &str, table_id: &str, player: &str) -> Running {
    let arguments = ["--address", address, "--table", table_id, "--player", player, "--pace", "normal"];
    Running::start(fulcrum(["bot"].iter().chain(&arguments)))
}

async fn read(address: &str, table_id: &str) -> v1::Table {
    let request = v1::GetTableRequest { table_id: table_id.to_owned(), viewer: None };
    connect(address).get_table(request).await.unwrap().into_inner().table.unwrap()
}

#[tokio::test]
async fn a_killed_server_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("fulcrum.redb").to_str().unwrap().to_owned();
    let mut server = Server::start(["--listen", "127.0.0.1:0", "--store", &store]);
    let address = server.address.clone();
    let table_id = open_table(&address).await;
    let mut seen = Seen::default();
    watch_until(&address, &table_id, &mut seen, |seen| seen.sequence == 1).await;
    let bots = [bot(&address, &table_id, "mia"), bot(&address, &table_id, "leo")];

    for _ in 0..KILLS {
        let played = seen.settled;
        watch_until(&address, &table_id, &mut seen, |seen| seen.settled > played && seen.in_the_middle())
            .await;
        server.process.kill();
        server = Server::start(["--listen", &address, "--store", &store]);

        // Bots think for longer than this takes: at most the turn that was open has been answered since.
        let table = read(&address, &table_id).await;
        assert!(table.version >= seen.sequence, "what a watcher had seen is gone");
        if table.version == seen.sequence {
            let hand = table.hand.unwrap();
            assert_eq!((hand.number, hand.board.len(), hand.running), (seen.hand, seen.on_board, true));
            assert_eq!(hand.turn.unwrap().number, seen.turn.clone().unwrap().number);
        }
        let (hand, before) = (seen.hand, seen.actions);
        let both = move |seen: &Seen| seen.actions[1] > before[1] && seen.actions[2] > before[2];
        watch_until(&address, &table_id, &mut seen, |seen| seen.settled > hand && both(seen)).await;
    }

    seen.ending = true;
    for bot in &bots {
        bot.signal("INT");
    }
    for bot in bots {
        let (code, output, errors) = bot.wait();
        assert_eq!(code, 0, "{output}{errors}");
        assert!(output.contains(" was paid "), "{output}");
    }
    let gone = |seen: &Seen| seen.paid + seen.raked == seen.brought;
    watch_until(&address, &table_id, &mut seen, gone).await;
    assert!(seen.brought >= 2 * BUY_IN);
}
