//! Settlement records, held against the log.

use super::*;

fn record_of(kind: SettlementKind, sequence: u64, body: Body) -> Settlement {
    Settlement { kind: kind.into(), sequence, body: Some(body), ..Settlement::default() }
}

fn movement(kind: SettlementKind, sequence: u64, seat: u32, session: u64, amount: i64) -> Settlement {
    let moved = Movement { seat, session, amount, ..Movement::default() };
    record_of(kind, sequence, Body::Movement(moved))
}

/// The records of the hand and of who came and went.
fn books() -> Vec<Settlement> {
    vec![
        movement(SettlementKind::BuyIn, 2, 1, 1, 1_000),
        movement(SettlementKind::BuyIn, 3, 2, 2, 1_000),
        record_of(SettlementKind::Hand, 6, Body::Hand(settled())),
        movement(SettlementKind::CashOut, 7, 1, 0, 1_090),
        movement(SettlementKind::CashOut, 8, 2, 0, 900),
    ]
}

fn booked(records: &[Settlement]) -> Findings {
    let mut found = Findings::default();
    log(&told(commits())).check_books(records, &mut found);
    found
}

#[test]
fn there_is_one_settlement_record_for_each_hand_and_movement() {
    assert!(booked(&books()).clean());
    let mut missing = books();
    missing.remove(2);
    finds(&booked(&missing), Kind::Books, "there is not one settlement record for: hand 1 with a rake of 10");
    let mut twice = books();
    twice.push(twice[3].clone());
    finds(&booked(&twice), Kind::Books, "cash-out of seat 1 in session 0, 1090 and 0 back");
    let mut more = books();
    more.push(movement(SettlementKind::AddChips, 4, 2, 2, 50));
    finds(
        &booked(&more),
        Kind::Books,
        "the log has nothing for the settlement record: added chips of seat 2, 50",
    );
}

#[test]
fn a_settlement_record_has_the_amounts_of_the_log() {
    let mut other = books();
    let mut hand = settled();
    hand.players[1].rake_share = 1;
    other[2] = record_of(SettlementKind::Hand, 6, Body::Hand(hand));
    assert_eq!(booked(&other).count(Kind::Books), 2, "one is missing, one is there for nothing");
    let mut other = books();
    other[0].sequence = 3;
    assert_eq!(booked(&other).count(Kind::Books), 2);
}
