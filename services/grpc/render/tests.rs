//! What gets into messages, and what does not.

use rules::command::{Ask, Command};
use rules::event::Event;
use rules::view::Viewer;
use rules::{Card, Deck, PlayerId, Table, TableConfig};
use tables::{OperatorId, TableId, TableKey};

use super::*;
use crate::grpc::parse;
use crate::pb::v1;
use crate::pb::v1::table_event::Event as Kind;

fn config(game: v1::Game) -> TableConfig {
    let message = v1::CreateTableRequest {
        request_id: "123e4567-e89b-42d3-a456-426614174000".into(),
        config: Some(v1::TableConfig {
            currency: "EUR".into(),
            game: game.into(),
            limit: v1::Limit::NoLimit.into(),
            seats: 4,
            stakes: Some(v1::Stakes { small_blind: 50, big_blind: 100, ..Default::default() }),
            ..Default::default()
        }),
    };
    parse::tables::create_table(&message).unwrap().config
}

fn player(name: &str) -> PlayerId {
    PlayerId::new(name).unwrap()
}

fn ask(table: &mut Table, at: u64, ask: Ask) -> Vec<Event> {
    let (events, after) = table.step(&Command { at: Millis(at), ask }).unwrap();
    *table = after;
    events
}

/// Ann and Bob, and the hand just dealt.
fn dealt(game: v1::Game) -> (Table, Vec<Event>) {
    let (mut table, _) = Table::open(config(game), Millis(1)).unwrap();
    for name in ["ann", "bob"] {
        let (player, transaction) = (player(name), "tx".to_owned());
        let sit = Ask::Seat { player, seat: None, buy_in: Chips(10_000), post: false, transaction };
        ask(&mut table, 2, sit);
    }
    let at = table.next_hand_at.unwrap().0;
    let deck = Box::new(Deck::ordered());
    let events = ask(&mut table, at, Ask::StartHand { deck, draw: 0 });
    (table, events)
}

fn id() -> TableId {
    let operator = OperatorId::new("alpha").unwrap();
    TableId::derived(&operator, &tables::RequestId(uuid::Uuid::from_u128(1)))
}

#[test]
fn times_and_lengths_are_whole() {
    let time = timestamp(Millis(1_700_000_000_123));
    assert_eq!((time.seconds, time.nanos), (1_700_000_000, 123_000_000));
    assert_eq!(duration(Millis(1500)), Duration { seconds: 1, nanos: 500_000_000 });
    assert_eq!(timestamp(Millis(u64::MAX)).seconds, 18_446_744_073_709_551);
}

#[test]
fn cards_have_the_numbers_of_the_contract() {
    for (text, number) in
        [("2c", v1::Card::TwoOfClubs), ("Td", v1::Card::TenOfDiamonds), ("As", v1::Card::AceOfSpades)]
    {
        assert_eq!(cards::card(Card::parse(text).unwrap()), i32::from(number));
    }
}

#[test]
fn r4_4_a_player_sees_his_own_cards_and_a_spectator_none() {
    for game in [v1::Game::DoubleHoldem, v1::Game::TexasHoldem] {
        let (table, events) = dealt(game);
        let count = if game == v1::Game::DoubleHoldem { 3 } else { 2 };
        let seen = |viewer: &Viewer| {
            let hand = table::table(id(), &table, viewer).hand.unwrap();
            let in_view: Vec<usize> = hand.seats.iter().map(|s| s.cards.len()).collect();
            let update = event::update(&events, None, &table, viewer);
            let told: Vec<usize> = update
                .events
                .iter()
                .filter_map(|e| match e.event.as_ref()? {
                    Kind::HoleCardsDealt(dealt) => {
                        assert_eq!(dealt.count as usize, count);
                        Some(dealt.cards.len())
                    }
                    _ => None,
                })
                .collect();
            assert!(hand.seats.iter().all(|s| s.card_count as usize == count));
            assert!(hand.board.is_empty());
            (in_view.iter().sum::<usize>(), told.iter().sum::<usize>())
        };
        assert_eq!(seen(&Viewer::Spectator), (0, 0));
        assert_eq!(seen(&Viewer::Player(player("ann"))), (count, count));
        assert_eq!(seen(&Viewer::Player(player("zoe"))), (0, 0));
    }
}

#[test]
fn an_update_has_the_open_turn_and_what_is_legal_in_it() {
    let (table, events) = dealt(v1::Game::TexasHoldem);
    let update = event::update(&events, None, &table, &Viewer::Spectator);
    let turn = update.turn.unwrap();
    assert_eq!((turn.hand_number, turn.number), (1, 1));
    assert_eq!(turn.seats.len(), 1);
    let legal = turn.legal.unwrap();
    assert!(legal.can_fold && !legal.can_check && legal.can_raise && !legal.can_bet && legal.can_all_in);
    assert_eq!((legal.call_amount, legal.min_to, legal.max_to), (50, 200, 10_000));
    assert_eq!(update.time, turn.started, "the commit's own time");
}

#[test]
fn whose_turn_it_is_depends_on_who_asks() {
    let (table, _) = dealt(v1::Game::TexasHoldem);
    let asked = |viewer| hand::whose_turn(&table, &viewer, Millis(5)).viewer_to_act;
    let [ann, bob] = ["ann", "bob"].map(|name| asked(Viewer::Player(player(name))));
    assert!(ann != bob, "one of the two");
    assert!(!asked(Viewer::Spectator));
}

#[test]
fn an_answer_names_the_record_that_its_commit_makes() {
    let (mut table, _) = Table::open(config(v1::Game::TexasHoldem), Millis(1)).unwrap();
    let operator = OperatorId::new("alpha").unwrap();
    let key = TableKey { operator, table: id() };
    let before = table.clone();
    let (player, transaction) = (player("ann"), "tx".to_owned());
    let sit = Ask::Seat { player, seat: None, buy_in: Chips(5_000), post: true, transaction };
    let events = ask(&mut table, 2, sit);
    let answer = answer::seat_player(answer::Made { key: &key, events: &events, table: &table });
    let records = ::tables::deriving::settlements(&key, &before, &table, &events);
    assert_eq!(answer.settlement_id, records[0].id.to_string());
    assert_eq!((answer.seat, answer.session, answer.sequence), (1, 1, 2));
}

#[test]
fn a_hand_that_is_void_because_history_was_lost_keeps_its_number() {
    let (mut table, _) = dealt(v1::Game::TexasHoldem);
    let at = table.running_hand().unwrap().prompt.unwrap().at.0;
    let seen = rules::lost::Seen { version: table.version + 3, hands: 2, sessions: 4 };
    let last = table.version;
    let events = ask(&mut table, at, Ask::LoseHistory { seen });
    let told = event::update(&events, None, &table, &Viewer::Spectator);
    let kinds: Vec<Kind> = told.events.into_iter().filter_map(|event| event.event).collect();
    let voided = kinds.iter().find_map(|kind| match kind {
        Kind::HandVoided(voided) => Some(voided.hand_number),
        _ => None,
    });
    assert_eq!(voided, Some(1));
    let lost = v1::HistoryLost { last_sequence: last, until_sequence: (1 << 20) - 1 };
    assert!(kinds.contains(&Kind::HistoryLost(lost)), "{kinds:?}");
}

#[test]
fn a_heartbeat_tells_no_time_that_the_store_has_not_told() {
    let before = ::tables::books::Backlog { depth: 3, oldest: Some(Millis(5_000)) };
    let told = delivery::heartbeat(Some(Millis(7_000)), Some(&before), "p".into());
    assert_eq!(told.time, Some(timestamp(Millis(7_000))));
    let backlog = told.backlog.unwrap();
    assert_eq!((backlog.depth, backlog.oldest_age), (3, Some(duration(Millis(2_000)))));
    let away = delivery::heartbeat(None, Some(&before), "p".into());
    assert_eq!((away.time, away.backlog, away.position), (None, None, "p".to_owned()));
}
