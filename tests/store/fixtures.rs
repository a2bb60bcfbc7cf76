//! Values that the tests store: a state in which nothing is empty, settlements, a request, keys and names.
//!
//! The golden files hold exactly these values. Who changes one here has to write golden files of a new version; see
//! `tests/golden/README.md`.

use std::sync::Arc;

use fulcrum::store::codec::EntryHead;
use fulcrum::store::{Codec, Keyring};
use rules::blinds::{Debt, Positions};
use rules::command::{Action, Wish};
use rules::config::{Clocks, Game, Limit, PivotOrder, Rake, Refill, TableConfig};
use rules::event::{LeaveReason, Play, PromptKind, SatOutReason, StopScope};
use rules::hand::{
    Accepted, Before, Betting, Decision, End, Hand, HandPlayer, Holes, PastHand, Prompt, Street,
};
use rules::lost::Lost;
use rules::payment::Ending;
use rules::player::{Pending, PlayerId, Presence, Seat};
use rules::result::{HandResult, PlayerResult, PotResult, ShownValue};
use rules::table::{Departed, Ledger, Life, Stop, Table};
use rules::{Ante, Card, Chips, Deck, Holding, Millis, Pick, SeatNo, SeatSet, Stakes};
use tables::{
    OperatorId, RequestId, RequestRecord, Settlement, SettlementBody, SettlementKind, Statement, TableId,
    TableKey, Token,
};
use uuid::Uuid;

use crate::payments::payments;

/// A key that seals nothing but tests.
pub const TEST_KEY: &str = "test 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// The test key alone.
pub fn keys() -> Arc<Keyring> {
    Arc::new(Keyring::parse(TEST_KEY).expect("the test key is a key"))
}

/// A codec with the test key.
pub fn codec() -> Codec {
    Codec::new(keys())
}

pub fn operator(name: &str) -> OperatorId {
    OperatorId::new(name).expect("an operator's name")
}

/// A table of the operator `casino-1`.
pub fn key(number: u128) -> TableKey {
    TableKey { operator: operator("casino-1"), table: TableId(Uuid::from_u128(number)) }
}

pub fn token(version: u64) -> Token {
    Token { version, nonce: 0xfeed_0000_0000_0000 + version }
}

pub fn seat(number: u8) -> SeatNo {
    SeatNo::new(number).expect("1 to 10")
}

pub fn player(name: &str) -> PlayerId {
    PlayerId::new(name).expect("a player's name")
}

pub fn seats(numbers: &[u8]) -> SeatSet {
    numbers.iter().map(|number| seat(*number)).collect()
}

/// A deck that is not in order: 23 is coprime to 52.
pub fn deck() -> Deck {
    let card = |place: u32| Card::from_index((place * 23 % 52) as u8).expect("below 52");
    let cards: Vec<Card> = (0..52).map(card).collect();
    Deck::new(cards.try_into().expect("52 cards")).expect("each once")
}

pub fn card(text: &str) -> Card {
    Card::parse(text).expect("a card")
}

pub fn three(texts: [&str; 3]) -> Holes {
    Holes::Three(texts.map(card))
}

pub fn pick(index: u8) -> Pick {
    Pick::new(index).expect("0 to 2")
}

/// The time of everything that happens here.
pub const AT: Millis = Millis(1_790_000_000_123);

/// The head of an entry that nobody in particular asked for.
pub fn head(previous: Option<Token>, token: Token, hand: u64) -> EntryHead {
    EntryHead { previous, token, at: AT, hand, origin: None }
}

pub fn config() -> TableConfig {
    TableConfig {
        display_name: "Zürich 4".to_owned(),
        currency: *b"CHF",
        game: Game::DoubleHoldem,
        limit: Limit::PotLimit,
        seats: 9,
        stakes: Stakes {
            small_blind: Chips(50),
            big_blind: Chips(100),
            ante: Ante::BigBlind(Chips(100)),
            straddles: 2,
            small_bet: Chips(100),
            big_bet: Chips(200),
            min_buy_in: Chips(4000),
            max_buy_in: Chips(20_000),
        },
        rake: Rake {
            basis_points: 450,
            cap_two: Some(Chips(100)),
            cap_three_or_four: None,
            cap_five_or_more: Some(Chips(0)),
            unit: Chips(5),
        },
        clocks: Clocks {
            refill: Some(Refill { amount: Millis::seconds(5), every_hands: 10 }),
            timeouts_to_sit_out: 3,
            ..Clocks::default()
        },
        pivot_order: PivotOrder::Simultaneous,
        limit_cap_heads_up: true,
        show_all: true,
        rathole: Millis::minutes(60),
    }
}

pub fn positions() -> Positions {
    Positions { button: seat(1), small: seat(2), big: seat(7) }
}

fn seated(name: &str, session: u64) -> Seat {
    Seat {
        player: player(name),
        session,
        stack: Chips(9_900),
        bought_in: Chips(10_000),
        presence: Presence::In,
        established: true,
        newcomer: false,
        post: true,
        debt: Debt { big: false, small: true },
        wish: Some(Wish::NextBigBlind),
        pending: Some(Pending { amount: Chips(500), transaction: "tx-9".to_owned() }),
        leaving_transaction: "tx-10".to_owned(),
        time_bank: Millis(29_500),
        hands: 41,
        timeouts: 1,
        straddle: true,
        always_show: true,
        stopped: String::new(),
        // Records of formats without tallies tell what was lost on balance.
        wagered: Chips(100),
        won: Chips(0),
        raked: Chips(0),
        wallet: false,
    }
}

fn hand_player(name: &str) -> HandPlayer {
    HandPlayer {
        player: player(name),
        stack_before: Chips(10_000),
        bet: Chips(40),
        live: Chips(100),
        dead: Chips(10),
        returned: Chips(1),
        folded: false,
        acted: true,
        holes: Some(three(["Ah", "Kd", "2c"])),
        pick: Some(pick(2)),
        pick_timed_out: true,
        shown: true,
    }
}

fn accepted() -> Vec<Accepted> {
    let acted =
        |asked, play| Decision::Acted { asked, play, to: Chips(300), added: Chips(200), all_in: true };
    vec![
        Accepted {
            turn: 1,
            seat: seat(1),
            decision: acted(Action::Raise(Chips(300)), Play::Raise),
            version: 70,
        },
        Accepted { turn: 2, seat: seat(2), decision: acted(Action::AllIn, Play::Call), version: 71 },
        Accepted { turn: 3, seat: seat(7), decision: Decision::Picked(pick(2)), version: 72 },
        Accepted { turn: 4, seat: seat(1), decision: Decision::Picked(pick(0)), version: 73 },
    ]
}

/// A hand on the flop: one seat has picked, one has cards only, one has been dealt nothing yet.
pub fn hand() -> Hand {
    let mut players: [Option<HandPlayer>; 10] = Default::default();
    players[0] = Some(hand_player("alice"));
    players[1] = Some(HandPlayer { pick: None, shown: false, ..hand_player("bob") });
    players[6] = Some(HandPlayer { holes: None, pick: None, folded: true, ..hand_player("carol") });
    Hand {
        number: 42,
        started_at: AT,
        positions: positions(),
        dealt: seats(&[1, 2, 7]),
        deck: Box::new(deck()),
        used: 13,
        street: Street::Flop,
        board: ["7s", "8s", "9h"].map(card).to_vec(),
        players,
        bring_in: Chips(200),
        next_from: seat(7),
        betting: Betting {
            level: Chips(300),
            full_raise: Chips(200),
            base: Chips(100),
            raises: 2,
            live_at_start: 3,
        },
        aggressor: Some(seat(1)),
        prompt: Some(Prompt {
            turn: 5,
            seats: seats(&[2]),
            kind: PromptKind::Pick,
            at: AT,
            act_by: AT + Millis(15_000),
            bank_until: AT + Millis(45_000),
        }),
        turns: 5,
        accepted: accepted(),
        end: Some(End::Settled { uncontested: Some(seat(2)) }),
        before: Before {
            positions: Some(positions()),
            interrupted: true,
            seats: vec![(seat(1), Debt::BOTH, true, false), (seat(9), Debt::NONE, false, true)],
        },
    }
}

/// A state in which every field has something.
pub fn table() -> Table {
    let mut places: [Option<Seat>; 10] = Default::default();
    places[0] = Some(seated("alice", 1));
    let out = Presence::Out { since: AT, reason: SatOutReason::TimedOut };
    places[1] = Some(Seat { presence: out, wish: None, pending: None, ..seated("bob", 2) });
    places[6] = Some(Seat { presence: Presence::Leaving, ..seated("carol", 3) });
    Table {
        config: config(),
        version: 74,
        config_version: 3,
        opened_at: AT,
        life: Life::Closing { reason: "the end of the day".to_owned() },
        stops: vec![
            Stop { scope: StopScope::Operator, reason: "a pause".to_owned(), at: AT },
            Stop { scope: StopScope::Malfunction, reason: "books".to_owned(), at: AT },
        ],
        seats: places,
        sessions: 3,
        positions: Some(positions()),
        interrupted: true,
        hands: 42,
        next_hand_at: Some(AT + Millis(3000)),
        hand: Some(hand()),
        past: PastHand {
            number: 41,
            players: vec![(seat(1), player("alice")), (seat(7), player("carol"))],
            accepted: accepted(),
        },
        ledger: Ledger {
            bought_in: Chips(30_000),
            paid_out: Chips(200),
            raked: Chips(100),
            ..Ledger::default()
        },
        departed: vec![Departed { player: player("dave.2"), stack: Chips(7_777), at: AT }],
        credited_until: AT,
        // Records of format 1 know no loss, and those of formats 1 and 2 no wallets.
        lost: None,
        payments: Vec::new(),
        payments_begun: 0,
    }
}

fn shown() -> ShownValue {
    let value = |cards: &[&str]| {
        let mut holding = Holding::EMPTY;
        for text in cards {
            holding.add(card(text));
        }
        holding.value()
    };
    ShownValue {
        pick: Some(pick(1)),
        first: value(&["7s", "8s", "9h", "2c", "2d", "Ah", "Kd"]),
        second: Some(value(&["7s", "8s", "9h", "2c", "2d", "Kd", "2h"])),
    }
}

pub fn result() -> HandResult {
    HandResult {
        number: 42,
        started_at: AT,
        settled_at: AT + Millis(60_000),
        pots: vec![PotResult {
            amount: Chips(900),
            rake: Chips(40),
            eligible: seats(&[1, 2]),
            winners: vec![(seat(1), Chips(430)), (seat(2), Chips(430))],
        }],
        rake: Chips(40),
        players: vec![PlayerResult {
            seat: seat(1),
            player: player("alice"),
            session: 1,
            stack_before: Chips(10_000),
            contributed: Chips(300),
            returned: Chips(100),
            won: Chips(430),
            rake_share: Chips(13),
            stack_after: Chips(10_130),
            shown: Some(shown()),
        }],
    }
}

/// The same after a loss of history.
pub fn table_that_lost_history() -> Table {
    Table { lost: Some(Lost { last: 70, until: (1 << 20) - 1 }), ..table() }
}

fn settlement(kind: SettlementKind, body: SettlementBody) -> Settlement {
    Settlement {
        id: Uuid::from_u128(0xabc0 + kind as u128),
        ordinal: 74 * 256,
        kind,
        key: key(1),
        at: AT,
        version: 74,
        currency: *b"CHF",
        game: Game::TexasHoldem,
        limit: Limit::FixedLimit,
        config_version: 3,
        body,
    }
}

fn statement() -> Statement {
    let (bought_in, wagered, won) = (Chips(10_000), Chips(340), Chips(240));
    Statement { bought_in, wagered, won, raked: Chips(12), hands: 41 }
}

/// One settlement of each body.
pub fn settlements() -> Vec<(&'static str, Settlement)> {
    let voided = SettlementBody::Void {
        hand: 42,
        reason: "a mistake".to_owned(),
        requester: "floor".to_owned(),
        refunds: vec![(seat(1), player("alice"), Chips(300))],
    };
    let moved = SettlementBody::Movement {
        player: player("alice"),
        seat: seat(1),
        session: 1,
        amount: Chips(10_000),
        returned: Chips(5),
        transaction: "tx-1".to_owned(),
        reason: Some(LeaveReason::TableClosed),
        statement: None,
    };
    let stated = SettlementBody::Movement {
        player: player("alice"),
        seat: seat(1),
        session: 1,
        amount: Chips(9_900),
        returned: Chips(0),
        transaction: "tx-2".to_owned(),
        reason: Some(LeaveReason::Asked),
        statement: Some(statement()),
    };
    let payment = Box::new(payments().remove(0));
    let ended = SettlementBody::Transaction { payment, ending: Ending::Used };
    let reversed =
        SettlementBody::Reversal { last: 70, until: (1 << 20) - 1, reason: "history lost".to_owned() };
    vec![
        ("hand", settlement(SettlementKind::Hand, SettlementBody::Hand(Box::new(result())))),
        ("void", settlement(SettlementKind::Void, voided)),
        ("movement", settlement(SettlementKind::CashOut, moved)),
        ("reversal", settlement(SettlementKind::Reversal, reversed)),
        ("statement", settlement(SettlementKind::CashOut, stated)),
        ("transaction", settlement(SettlementKind::Transaction, ended)),
    ]
}

pub fn request() -> RequestRecord {
    RequestRecord {
        id: RequestId(Uuid::from_u128(0x77)),
        payload: [7; 32],
        answer: b"an answer".to_vec(),
        at: AT,
        declined: false,
    }
}

/// The same as one that was declined, which is remembered from format 3 on.
pub fn declined_request() -> RequestRecord {
    RequestRecord { declined: true, ..request() }
}
