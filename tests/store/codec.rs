//! Records: what is written is read back exactly, nothing secret lies in them, and whatever is not a record is an error.

use fulcrum::store::codec::FORMAT;
use fulcrum::store::{Codec, CodecError, SealError};
use rules::event::Event;
use rules::{Card, Table};
use tables::{StoreError, TableKey, Token};

use crate::events::events;
use crate::fixtures::{self, AT, codec, head, key, keys, token};
use crate::play::{Dice, RandomGame};

fn there_and_back(codec: &Codec, table: &Table) -> Table {
    let bytes = codec.write_table(&key(1), table).unwrap();
    codec.read_table(&key(1), &bytes).unwrap()
}

fn write_events(codec: &Codec, events: &[Event]) -> Vec<u8> {
    codec.write_entry(&key(1), &head(Some(token(73)), token(74), 42), events).unwrap()
}

fn read_events(codec: &Codec, key: &TableKey, bytes: &[u8]) -> Result<Vec<Event>, CodecError> {
    Ok(codec.read_entry(key, bytes)?.events.to_vec())
}

/// `assert_eq!` would print two redacted tables.
fn same(expected: &Table, found: &Table, what: &str) {
    assert!(expected == found, "{what}: the state is not the same\n{expected:#?}\n{found:#?}");
}

#[test]
fn a_rich_state_is_read_back_exactly() {
    let codec = codec();
    same(&fixtures::table(), &there_and_back(&codec, &fixtures::table()), "rich");
}

#[test]
fn every_event_is_read_back_exactly() {
    let codec = codec();
    for (name, event) in events() {
        let bytes = write_events(&codec, std::slice::from_ref(&event));
        let entry = codec.read_entry(&key(1), &bytes).unwrap();
        assert!(*entry.events == [event], "{name}");
        assert_eq!((entry.version, entry.token, entry.previous), (74, token(74), Some(token(73))), "{name}");
    }
}

#[test]
fn the_fixtures_have_every_kind_of_event() {
    let mut names: Vec<&str> = events().iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    let proto = include_str!("../../proto/fulcrum/store/v1/event.proto");
    let kinds = proto.split("oneof kind {").nth(1).and_then(|rest| rest.split("\n  }").next()).unwrap();
    let mut fields: Vec<&str> = kinds
        .lines()
        .filter_map(|line| line.trim().split_once(" = "))
        .filter_map(|(field, _)| field.split(' ').nth(1))
        .collect();
    fields.sort_unstable();
    assert_eq!(names, fields);
}

#[test]
fn random_play_is_read_back_exactly() {
    let codec = codec();
    for seed in 0..40 {
        let mut game = RandomGame::open(seed);
        let mut replayed: Option<Table> = None;
        for _ in 0..250 {
            let events = game.step();
            let version = game.table.version;
            same(
                &game.table,
                &there_and_back(&codec, &game.table),
                &format!("seed {seed}, version {version}"),
            );
            let bytes =
                codec.write_entry(&key(1), &head(None, token(version), game.table.hands), &events).unwrap();
            let read = read_events(&codec, &key(1), &bytes).unwrap();
            assert!(read == events, "seed {seed}, version {version}: {events:?}\n{read:?}");
            // The events that were stored make the state that was stored.
            let mut folded = replayed.take().unwrap_or_else(|| Table::from_opening(&game.opened).unwrap());
            if folded.version + 1 == version {
                folded.apply(&read);
            }
            same(&game.table, &folded, &format!("seed {seed}, folded to version {version}"));
            replayed = Some(folded);
        }
    }
}

#[test]
fn settlements_and_requests_are_read_back_exactly() {
    let codec = codec();
    for (name, settlement) in fixtures::settlements() {
        let bytes = codec.write_settlement(&settlement).unwrap();
        assert_eq!(codec.read_settlement(&key(1).operator, &bytes).unwrap(), settlement, "{name}");
    }
    let request = fixtures::request();
    let bytes = codec.write_request(&key(1).operator, &request).unwrap();
    assert!(codec.read_request(&key(1).operator, &request.id, &bytes).unwrap() == request);
}

/// Whether the cards lie side by side in the bytes, as they would in the clear.
fn shows(bytes: &[u8], cards: &[Card]) -> bool {
    let clear: Vec<u8> = cards.iter().map(|card| card.index()).collect();
    bytes.windows(clear.len()).any(|window| window == clear)
}

#[test]
fn no_card_that_is_not_open_lies_in_a_record() {
    let codec = codec();
    let table = fixtures::table();
    let bytes = codec.write_table(&key(1), &table).unwrap();
    let hand = table.hand.as_ref().unwrap();
    assert!(shows(&bytes, &hand.board), "the board is open: else this test would see nothing");
    for cards in hand.deck.cards().chunks(4) {
        assert!(!shows(&bytes, cards), "the deck");
    }
    for player in hand.players.iter().flatten() {
        if let Some(holes) = player.holes {
            assert!(!shows(&bytes, holes.cards()), "hole cards of {}", player.player);
        }
    }
    for (name, event) in events() {
        let bytes = write_events(&codec, std::slice::from_ref(&event));
        match event {
            Event::HandStarted(start) => {
                assert!(!start.deck.cards().chunks(4).any(|cards| shows(&bytes, cards)), "{name}");
            }
            Event::HoleDealt { cards, .. } => assert!(!shows(&bytes, cards.cards()), "{name}"),
            Event::HandShown { cards, .. } => assert!(shows(&bytes, cards.cards()), "{name} is open"),
            _ => {}
        }
    }
    let request = fixtures::request();
    let bytes = codec.write_request(&key(1).operator, &request).unwrap();
    assert!(!bytes.windows(request.answer.len()).any(|window| window == request.answer));
}

/// Nothing about hole cards and picks can be told from the length of a record.
#[test]
fn the_length_of_a_record_does_not_tell_a_pick() {
    let codec = codec();
    let mut table = fixtures::table();
    let full = codec.write_table(&key(1), &table).unwrap().len();
    for player in table.hand.as_mut().unwrap().players.iter_mut().flatten() {
        player.pick = None;
        player.holes = None;
    }
    assert_eq!(codec.write_table(&key(1), &table).unwrap().len(), full);
}

#[test]
fn a_record_of_another_table_hand_or_seat_does_not_open() {
    let codec = codec();
    let closed = |result: Result<_, CodecError>, what: &str| {
        let error = result.err().unwrap_or_else(|| panic!("it opened at another {what}"));
        assert_eq!(error, CodecError::Seal(SealError::DoesNotOpen("test".to_owned())), "{what}");
    };
    let table = codec.write_table(&key(1), &fixtures::table()).unwrap();
    closed(codec.read_table(&key(2), &table).map(drop), "table");
    let other = TableKey { operator: fixtures::operator("casino-2"), ..key(1) };
    closed(codec.read_table(&other, &table).map(drop), "operator");
    for (name, event) in events() {
        if matches!(name, "hand_started" | "hole_dealt" | "pivot_picked") {
            let bytes = write_events(&codec, &[event]);
            closed(read_events(&codec, &key(2), &bytes).map(drop), "table");
        }
    }
    let request = fixtures::request();
    let bytes = codec.write_request(&key(1).operator, &request).unwrap();
    closed(codec.read_request(&other.operator, &request.id, &bytes).map(drop), "operator");
}

#[test]
fn sealed_cards_of_an_event_cannot_be_given_to_another_seat_or_hand() {
    use fulcrum::pb::store_v1 as wire;
    use prost::Message;

    let codec = codec();
    let dealt = events().into_iter().find(|(name, _)| *name == "hole_dealt").unwrap().1;
    let bytes = write_events(&codec, &[dealt]);
    let change = |edit: &dyn Fn(&mut wire::EntryRecord)| {
        let mut record = wire::EntryRecord::decode(without_check(&bytes)).unwrap();
        edit(&mut record);
        read_events(&codec, &key(1), &framed(&record.encode_to_vec()))
    };
    assert!(change(&|_| ()).is_ok());
    let moved = change(&|record| {
        let Some(wire::event::Kind::HoleDealt(dealt)) = &mut record.events[0].kind else {
            panic!("another event");
        };
        dealt.seat += 1;
    });
    assert!(matches!(moved, Err(CodecError::Seal(_))), "another seat");
    assert!(matches!(change(&|record| record.hand += 1), Err(CodecError::Seal(_))), "another hand");
}

/// Every reader on these bytes: an error or a value, never a panic.
fn read_all(codec: &Codec, bytes: &[u8]) -> [bool; 4] {
    let request = fixtures::request();
    [
        codec.read_table(&key(1), bytes).is_ok(),
        codec.read_entry(&key(1), bytes).is_ok(),
        codec.read_settlement(&key(1).operator, bytes).is_ok(),
        codec.read_request(&key(1).operator, &request.id, bytes).is_ok(),
    ]
}

/// What format 1 does not have.
const SINCE_FORMAT_2: [&str; 2] = ["history_lost", "reversal"];

/// Nor this, which format 2 does not have either.
fn since_format_3(name: &str) -> bool {
    name.starts_with("payment") || ["statement", "transaction", "seat_released"].contains(&name)
}

fn records(codec: &Codec) -> Vec<Vec<u8>> {
    let mut records = vec![
        codec.write_table(&key(1), &fixtures::table()).unwrap(),
        codec.write_request(&key(1).operator, &fixtures::request()).unwrap(),
    ];
    let old = codec.written_format().unwrap() == 1;
    let known = |name: &str| !(old && (SINCE_FORMAT_2.contains(&name) || since_format_3(name)));
    let events = events().into_iter().filter(|(name, _)| known(name));
    records.extend(events.map(|(_, event)| write_events(codec, &[event])));
    let settlements = fixtures::settlements().into_iter().filter(|(name, _)| known(name));
    records.extend(settlements.map(|(_, settlement)| codec.write_settlement(&settlement).unwrap()));
    records
}

#[test]
fn cut_and_changed_records_are_damaged() {
    let codec = codec();
    let mut dice = Dice::new(1);
    for whole in records(&codec) {
        assert!(read_all(&codec, &whole).contains(&true), "the whole record can be read");
        for len in 0..whole.len() {
            assert_eq!(codec.read_table(&key(1), &whole[..len]).unwrap_err(), CodecError::Damaged);
        }
        for _ in 0..200 {
            let mut changed = whole.clone();
            let at = dice.below(changed.len() as u64) as usize;
            changed[at] ^= 1 << dice.below(8);
            assert_eq!(codec.read_table(&key(1), &changed).unwrap_err(), CodecError::Damaged);
            assert_eq!(read_all(&codec, &changed), [false; 4]);
        }
    }
}

/// A record around any bytes: what a faulty writer might store.
fn framed(record: &[u8]) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    [record, &Sha256::digest(record)[..8]].concat()
}

fn without_check(record: &[u8]) -> &[u8] {
    &record[..record.len() - 8]
}

#[test]
fn well_framed_nonsense_never_panics() {
    let codec = codec();
    let mut dice = Dice::new(2);
    for whole in records(&codec) {
        let whole = without_check(&whole);
        assert!(read_all(&codec, &framed(whole)).contains(&true), "the frame is the right one");
        for len in 0..whole.len() {
            read_all(&codec, &framed(&whole[..len]));
        }
        for _ in 0..400 {
            let mut changed = whole.to_vec();
            for _ in 0..=dice.below(3) {
                let at = dice.below(changed.len() as u64) as usize;
                changed[at] = dice.next() as u8;
            }
            read_all(&codec, &framed(&changed));
        }
    }
    for _ in 0..5000 {
        let bytes: Vec<u8> = (0..dice.below(200)).map(|_| dice.next() as u8).collect();
        assert_eq!(read_all(&codec, &framed(&bytes)), [false; 4], "{bytes:?}");
        assert_eq!(read_all(&codec, &bytes), [false; 4], "{bytes:?}");
    }
}

#[test]
fn a_record_of_a_later_format_is_not_called_corrupt() {
    let codec = codec();
    let (newest, later) = (FORMAT as u8, FORMAT as u8 + 1);
    for record in records(&codec) {
        let mut record = without_check(&record).to_vec();
        assert_eq!(record[..2], [8, newest], "the format is the first field");
        record[1] = later;
        let error = codec.read_table(&key(1), &framed(&record)).unwrap_err();
        assert_eq!(error, CodecError::UnknownFormat(later.into()));
        assert!(matches!(error.into(), StoreError::Unavailable(_)));
    }
}

/// What an older version of the service wrote is read, and what this one wrote is not read by an older one.
#[test]
fn older_records_are_read_and_newer_ones_left_alone() {
    let (old, new) = (Codec::knowing(keys(), 1), codec());
    for record in records(&old) {
        assert_eq!(record[..2], [8, 1]);
        assert_eq!(read_all(&new, &record), read_all(&old, &record));
    }
    for record in records(&new) {
        assert_eq!(read_all(&old, &record), [false; 4]);
        assert_eq!(old.read_table(&key(1), &record).unwrap_err(), CodecError::UnknownFormat(FORMAT));
    }
    let entry = |codec: &Codec| {
        let bytes = write_events(codec, &[events().remove(0).1]);
        new.read_entry(&key(1), &bytes).unwrap()
    };
    assert_eq!((entry(&old).at, entry(&new).at), (None, Some(AT)));

    // What an older server would drop silently is not written before there is none any more.
    let needs = |result: Result<Vec<u8>, CodecError>| {
        let error = result.unwrap_err();
        assert_eq!(error, CodecError::NeedsFormat { needed: 2, written: 1 });
        assert!(matches!(error.into(), StoreError::Unavailable(_)));
    };
    let lost = events().into_iter().find(|(name, _)| *name == "history_lost").unwrap().1;
    needs(old.write_entry(&key(1), &head(None, token(74), 42), &[lost]));
    needs(old.write_table(&key(1), &fixtures::table_that_lost_history()));
    let reversal = fixtures::settlements().into_iter().find(|(name, _)| *name == "reversal").unwrap().1;
    needs(old.write_settlement(&reversal));
}

#[test]
fn a_missing_key_is_not_called_corrupt() {
    let bytes = codec().write_table(&key(1), &fixtures::table()).unwrap();
    let others = "other 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    let others = Codec::new(std::sync::Arc::new(fulcrum::store::Keyring::parse(others).unwrap()));
    let error = others.read_table(&key(1), &bytes).unwrap_err();
    assert!(matches!(StoreError::from(error), StoreError::KeyUnavailable(_)));
}

#[test]
fn what_cannot_be_is_refused_by_field() {
    use fulcrum::pb::store_v1 as wire;
    use prost::Message;

    let codec = codec();
    let bytes = codec.write_table(&key(1), &fixtures::table()).unwrap();
    let check = |at: &str, edit: &dyn Fn(&mut wire::Table)| {
        let mut record = wire::TableRecord::decode(without_check(&bytes)).unwrap();
        edit(record.table.as_mut().unwrap());
        match codec.read_table(&key(1), &framed(&record.encode_to_vec())) {
            Err(CodecError::Invalid(field) | CodecError::Missing(field)) => assert_eq!(field, at),
            Err(error) => panic!("{at}: {error}"),
            Ok(_) => panic!("{at}: it was read"),
        }
    };
    check("Table.config", &|t| t.config = None);
    check("Table.past", &|t| t.past = None);
    check("Life.kind", &|t| t.life.as_mut().unwrap().kind = 0);
    check("Life.kind", &|t| t.life.as_mut().unwrap().kind = 9);
    check("Table.seats", &|t| t.seats[0].seat = 11);
    check("Table.seats", &|t| t.seats[1].seat = t.seats[0].seat);
    check("Seat.player", &|t| t.seats[0].occupant.as_mut().unwrap().player = "no name".to_owned());
    check("Seat.timeouts", &|t| t.seats[0].occupant.as_mut().unwrap().timeouts = 256);
    check("TableConfig.currency", &|t| t.config.as_mut().unwrap().currency = "EURO".to_owned());
    check("TableConfig.game", &|t| t.config.as_mut().unwrap().game = 0);
    check("Hand.board", &|t| t.hand.as_mut().unwrap().board = vec![52]);
    check("Hand.board", &|t| t.hand.as_mut().unwrap().board = vec![0; 6]);
    check("Hand.dealt", &|t| t.hand.as_mut().unwrap().dealt = 1 << 10);
    check("Hand.secrets", &|t| t.hand.as_mut().unwrap().secrets = None);
    check("Hand.secrets", &|t| t.hand.as_mut().unwrap().players.truncate(1));
    check("HandPlayer.seat", &|t| t.hand.as_mut().unwrap().players[0].seat = 0);
    check("Accepted.decision", &|t| t.hand.as_mut().unwrap().accepted[0].decision = None);
    check("Accepted.picked", &|t| t.hand.as_mut().unwrap().accepted.truncate(3));
    check("Accepted.picked", &|t| t.past.as_mut().unwrap().picks = None);
}

#[test]
fn an_entry_without_events_is_no_entry() {
    let codec = codec();
    let none = codec.write_entry(&key(1), &head(None, Token { version: 1, nonce: 1 }, 0), &[]).unwrap();
    assert_eq!(codec.read_entry(&key(1), &none).unwrap_err(), CodecError::Missing("EntryRecord.events"));
}
