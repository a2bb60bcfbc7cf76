//! What the tests of this crate share: a small table, its players, and a clock that goes by the runtime's time.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod faulty;
pub mod lossy;
pub mod purse;

use std::sync::Arc;

use rules::{
    Action, Ante, Ask, Chips, Clocks, Deck, Game, Limit, Millis, PivotOrder, PlayerId, Rake, Stakes, Table,
    TableConfig,
};
use tables::{
    Answered, Clock, Dealer, ManualClock, MemoryStore, OperatorId, PlayError, Request, RequestId, Settings,
    Store, TableId, TableKey, Tables,
};
use uuid::Uuid;

/// When the tests begin.
pub const START: Millis = Millis(1_000_000);

/// A heads-up table of 1/2 with the default clocks: 15 s to act, 30 s time bank, 500 ms grace, 3 s between hands.
pub fn config() -> TableConfig {
    TableConfig {
        display_name: "test".to_owned(),
        currency: *b"EUR",
        game: Game::TexasHoldem,
        limit: Limit::NoLimit,
        seats: 6,
        stakes: Stakes {
            small_blind: Chips(1),
            big_blind: Chips(2),
            ante: Ante::None,
            straddles: 0,
            small_bet: Chips(2),
            big_bet: Chips(4),
            min_buy_in: Chips(40),
            max_buy_in: Chips(200),
        },
        rake: Rake::NONE,
        clocks: Clocks::default(),
        pivot_order: PivotOrder::InTurn,
        limit_cap_heads_up: false,
        show_all: false,
        rathole: Millis::ZERO,
    }
}

/// Deals every hand from an ordered deck.
pub struct FixedDealer;

impl Dealer for FixedDealer {
    fn deck(&self, _: &TableKey, _: u64) -> Deck {
        Deck::ordered()
    }

    fn draw(&self, _: &TableKey, _: u64) -> u64 {
        0
    }
}

/// The runtime's clock, so that it stands and jumps with the paused time of a test.
pub struct RuntimeClock(tokio::time::Instant);

impl RuntimeClock {
    pub fn start() -> Arc<RuntimeClock> {
        Arc::new(RuntimeClock(tokio::time::Instant::now()))
    }
}

impl Clock for RuntimeClock {
    fn now(&self) -> Millis {
        START + Millis(u64::try_from(self.0.elapsed().as_millis()).unwrap())
    }
}

pub fn operator() -> OperatorId {
    OperatorId::new("casino").unwrap()
}

pub fn player(name: &str) -> PlayerId {
    PlayerId::new(name).unwrap()
}

pub fn request(number: u128) -> Request {
    Request { id: RequestId(Uuid::from_u128(number)), payload: [1; 32] }
}

pub fn manual() -> (Arc<ManualClock>, Arc<MemoryStore>) {
    let clock = Arc::new(ManualClock::at(START));
    let store = Arc::new(MemoryStore::new(Arc::clone(&clock) as Arc<dyn Clock>));
    (clock, store)
}

pub fn tables(store: Arc<dyn Store>) -> Tables {
    Tables::new(store, Arc::new(FixedDealer), Settings::default())
}

/// An answer that tells what it was made of.
pub fn answer(events: &[rules::Event], table: &Table) -> Vec<u8> {
    format!("{} events at {}", events.len(), table.version).into_bytes()
}

/// Opens the table of that number.
pub async fn open(tables: &Tables, number: u128) -> TableKey {
    open_with(tables, number, config()).await
}

pub async fn open_with(tables: &Tables, number: u128, config: TableConfig) -> TableKey {
    let request = request(number);
    tables.open(&operator(), request, config, &answer).await.unwrap();
    TableKey { operator: operator(), table: TableId::derived(&operator(), &request.id) }
}

pub fn sit(name: &str) -> Ask {
    let transaction = format!("in-{name}");
    Ask::Seat { player: player(name), seat: None, buy_in: Chips(100), post: true, transaction }
}

pub fn stand_up(name: &str) -> Ask {
    Ask::StandUp { player: player(name), transaction: format!("out-{name}") }
}

/// A change that is always possible and never ends: the player's wishes.
pub fn wish(name: &str, always_show: bool) -> Ask {
    Ask::Prefer { player: player(name), straddle: false, always_show }
}

pub async fn ask(tables: &Tables, key: &TableKey, ask: Ask) -> Result<Answered, PlayError> {
    tables.ask(key, None, None, ask, &answer).await
}

/// Opens a table with two players and deals the first hand at its time; ann acts first.
pub async fn dealt(tables: &Tables, clock: &ManualClock, number: u128) -> TableKey {
    let key = open(tables, number).await;
    for name in ["ann", "bob"] {
        ask(tables, &key, sit(name)).await.unwrap();
    }
    clock.advance(Millis::seconds(3));
    deal(tables, &key).await;
    key
}

pub async fn deal(tables: &Tables, key: &TableKey) {
    ask(tables, key, Ask::StartHand { deck: Box::new(Deck::ordered()), draw: 0 }).await.unwrap();
}

/// Who is asked now, in which hand and turn.
pub fn to_act(table: &Table) -> (PlayerId, u64, u32) {
    let hand = table.running_hand().expect("a hand runs");
    let prompt = hand.prompt.expect("somebody is asked");
    let seat = prompt.seats.iter().next().unwrap();
    (table.seat(seat).unwrap().player.clone(), hand.number, prompt.turn)
}

/// The player's turn to act now, with that action.
pub fn act(table: &Table, action: Action) -> Ask {
    let (player, hand, turn) = to_act(table);
    Ask::Act { player, hand, turn, action }
}

/// Until when an action of the running turn counts, grace included (rules 8.2).
pub fn deadline(table: &Table) -> Millis {
    let prompt = table.running_hand().and_then(|hand| hand.prompt).expect("somebody is asked");
    prompt.bank_until + table.config.clocks.grace
}
