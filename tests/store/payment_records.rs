//! Records of payments between an operator's wallet and a table: read back exactly, never written in a format that an older
//! server would misread, and tables from before them get the tallies that they lack.

use fulcrum::store::{Codec, CodecError};
use rules::event::Event;
use rules::payment::{Deed, Note, Payment, Phase, Resolution};
use rules::{Chips, Table, invariant};

use crate::fixtures::{self, AT, codec, head, key, keys, token};
use crate::payments::{ENDINGS, payment_events, payments, table_with_payments};
use crate::play::RandomGame;

fn there_and_back(events: &[Event]) {
    let codec = codec();
    let bytes = codec.write_entry(&key(1), &head(Some(token(73)), token(74), 42), events).unwrap();
    assert_eq!(*codec.read_entry(&key(1), &bytes).unwrap().events, *events);
}

fn rewritten(codec: &Codec, table: &Table) -> Table {
    codec.read_table(&key(1), &codec.write_table(&key(1), table).unwrap()).unwrap()
}

#[test]
fn a_table_with_payments_is_read_back_exactly() {
    let table = table_with_payments();
    assert!(rewritten(&codec(), &table) == table);
    assert_eq!(table.owed(), Chips(90));
    for payment in payments() {
        let one = Table { payments: vec![payment.clone()], ..fixtures::table() };
        assert_eq!(rewritten(&codec(), &one).payments, [payment]);
    }
}

#[test]
fn that_a_request_was_declined_is_remembered() {
    let (codec, operator, declined) = (codec(), key(1).operator, fixtures::declined_request());
    let bytes = codec.write_request(&operator, &declined).unwrap();
    assert!(codec.read_request(&operator, &declined.id, &bytes).unwrap() == declined);
}

#[test]
fn every_word_of_a_payment_is_read_back_exactly() {
    let (number, at) = (7, AT);
    there_and_back(&ENDINGS.map(|ending| Event::PaymentEnded { number, ending, at }));
    let moved = |phase| Event::PaymentMoved { number, phase, error: String::new(), next_at: at, at };
    there_and_back(&[Phase::Debiting, Phase::Cancelling, Phase::Crediting, Phase::Parked].map(moved));
    let proposed = |resolution| {
        let (by, reason) = ("ann".to_owned(), "a reason".to_owned());
        Event::PaymentProposed { number, resolution, by, reason, at }
    };
    there_and_back(&[Resolution::Settled, Resolution::WrittenOff].map(proposed));
    let noted = |deed| {
        let note = Note { deed, by: "ann".to_owned(), reason: String::new(), at };
        Event::PaymentNoted { number, note }
    };
    there_and_back(&[Deed::Parked, Deed::Retried, Deed::Proposed, Deed::Confirmed].map(noted));
    let begun = |payment: Payment| Event::PaymentBegun { payment: Box::new(payment) };
    there_and_back(&payments().into_iter().map(begun).collect::<Vec<_>>());
}

#[test]
fn a_format_that_has_no_payments_is_given_none() {
    for written in 1..3 {
        let old = Codec::knowing(keys(), written);
        let needs = |result: Result<Vec<u8>, CodecError>, what: &str| {
            assert_eq!(result.unwrap_err(), CodecError::NeedsFormat { needed: 3, written }, "{what}");
        };
        for (name, event) in payment_events() {
            needs(old.write_entry(&key(1), &head(None, token(74), 42), &[event]), name);
        }
        needs(old.write_table(&key(1), &table_with_payments()), "open payments");
        // Those that are over have left their traces in seats and ledger.
        let over = Table { payments: Vec::new(), ..table_with_payments() };
        needs(old.write_table(&key(1), &over), "former payments");
        needs(old.write_request(&key(1).operator, &fixtures::declined_request()), "a declined request");
        old.write_table(&key(1), &fixtures::table()).expect("a table that never had any");
    }
}

/// In older formats seats have no tallies of the session: they begin where the table is read, so that the books balance.
#[test]
fn a_table_of_an_older_format_gets_tallies_that_balance() {
    let new = codec();
    let (mut differ, mut in_pots) = (0, 0);
    for seed in 0..20 {
        let old = Codec::knowing(keys(), 1 + (seed % 2) as u32);
        let mut game = RandomGame::open(seed);
        for _ in 0..120 {
            game.step();
            let mut read = new.read_table(&key(1), &old.write_table(&key(1), &game.table).unwrap()).unwrap();
            assert_eq!(invariant::check(&read), Ok(()), "seed {seed}, version {}", read.version);
            in_pots += u32::from(read.running_hand().is_some());
            differ += u32::from(read != game.table);
            for (place, seat) in read.seats.iter_mut().enumerate() {
                let (Some(seat), Some(played)) = (seat, &game.table.seats[place]) else { continue };
                assert!(seat.wagered == Chips(0) || seat.won == Chips(0), "won or lost on balance");
                (seat.wagered, seat.won, seat.raked) = (played.wagered, played.won, played.raked);
            }
            assert!(read == game.table, "seed {seed}: nothing but the tallies is new");
        }
    }
    assert!(differ > 500 && in_pots > 500, "{differ} {in_pots}: this test sees too little");
}

#[test]
fn what_cannot_be_a_payment_is_refused_by_field() {
    use fulcrum::pb::store_v1 as wire;
    use prost::Message;
    use sha2::{Digest, Sha256};

    let codec = codec();
    let bytes = codec.write_table(&key(1), &table_with_payments()).unwrap();
    let check = |at: &str, edit: &dyn Fn(&mut wire::Payment)| {
        let mut record = wire::TableRecord::decode(&bytes[..bytes.len() - 8]).unwrap();
        edit(&mut record.table.as_mut().unwrap().payments[0]);
        let record = record.encode_to_vec();
        let framed = [&record[..], &Sha256::digest(&record)[..8]].concat();
        match codec.read_table(&key(1), &framed) {
            Err(CodecError::Invalid(field) | CodecError::Missing(field)) => assert_eq!(field, at),
            Err(error) => panic!("{at}: {error}"),
            Ok(_) => panic!("{at}: it was read"),
        }
    };
    check("Payment.purpose", &|p| p.purpose = 0);
    check("Payment.phase", &|p| p.phase = 9);
    check("Payment.seat", &|p| p.seat = 11);
    check("Payment.player", &|p| p.player = String::new());
    check("Requested.id", &|p| p.request.as_mut().unwrap().id.truncate(15));
    check("Requested.payload", &|p| p.request.as_mut().unwrap().payload.push(0));
}
