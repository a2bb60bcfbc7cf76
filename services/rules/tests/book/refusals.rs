//! Every refusal: its reason, its rule, what it tells, and which of two comes first.

use std::collections::BTreeSet;

use rules::{Ask, Chips, ConfigFault, Game, Limit, Refusal, SeatNo, SeatSet, Table};

use crate::play::{Play, play};

/// Reason, rule, and a hand whose last statement is refused so.
const REFUSALS: &[(&str, &str, &str)] = &[
    ("TABLE_CLOSED", "9.4", "texas nl 1/2\n close · p1 buys 1 for 90"),
    ("TABLE_STOPPED", "9.4", "texas nl 1/2\n seats 1:90 2:90\n stop table · deal"),
    ("NOT_STOPPED", "9.4", "texas nl 1/2\n stop table · resume game"),
    ("HAND_RUNNING", "9.2", "texas nl 1/2\n seats 1:90 2:90\n deal\n deal"),
    ("NO_HAND_RUNNING", "10.1", "texas nl 1/2\n void"),
    ("NO_SUCH_SEAT", "1.2", "texas nl 1/2 max-seats 6\n p7 buys 7 for 90"),
    ("SEAT_TAKEN", "1.5", "texas nl 1/2\n seats 1:90\n p2 buys 1 for 90"),
    ("TABLE_FULL", "1.2", "texas nl 1/2 max-seats 2\n seats 1:90 2:90\n p3 buys any for 90"),
    ("ALREADY_SEATED", "1.5", "texas nl 1/2\n seats 1:90\n p1 buys any for 90"),
    ("NOT_SEATED", "1.5", "texas nl 1/2\n p1 leaves"),
    ("LEAVING", "9.1", "texas nl 1/2\n seats 1:90 2:90 3:90\n deal\n 3 leaves · 3 sits out"),
    ("BUY_IN_OUT_OF_RANGE", "9.2", "texas nl 1/2 buy-in 40..200\n p1 buys 1 for 39"),
    ("BUY_IN_BELOW_LEFT", "9.2", "texas nl 1/2 rathole 60m\n p1 buys 1 for 90 · 1 leaves · p1 buys 1 for 89"),
    ("CHIPS_PENDING", "9.2", "texas nl 1/2\n seats 1:90 2:90\n deal\n 1 adds 5 · 1 adds 5"),
    ("ALREADY_SITTING_OUT", "9.3", "texas nl 1/2\n seats 1:90\n 1 sits out · 1 sits out next big blind"),
    ("NOT_SITTING_OUT", "9.3", "texas nl 1/2\n seats 1:90\n 1 sits in"),
    (
        "NO_CHIPS",
        "9.2",
        "texas nl 1/2\n seats 1:90 2:90\n cards 1:AcAd 2:KcKd board:Qs9h8h3d2s\n deal\n 1 all-in · 2 all-in · 2 sits in",
    ),
    ("NOT_DUE", "8.2", "texas nl 1/2\n seats 1:90 2:90\n deal\n expire"),
    ("HAND_OVER", "3.3", "texas nl 1/2\n seats 1:90 2:90\n deal\n 1 folds · 2 checks"),
    ("HAND_UNKNOWN", "3.3", "texas nl 1/2\n seats 1:90 2:90\n deal\n 1 folds @2/1"),
    ("NOT_IN_HAND", "3.1", "texas nl 1/2\n seats 1:90 2:90\n deal\n stranger folds"),
    ("TURN_PASSED", "5.8", "texas nl 1/2\n seats 1:90 2:90\n deal\n 1 calls · 1 folds @1"),
    ("TURN_NOT_REACHED", "5.8", "texas nl 1/2\n seats 1:90 2:90\n deal\n 1 folds @2"),
    ("NOT_YOUR_TURN", "3.2", "texas nl 1/2\n seats 1:90 2:90\n deal\n 2 folds"),
    ("PIVOT_DUE", "4.1", "double nl 1/2\n seats 1:90 2:90\n deal\n 1 calls · 2 checks · 2 checks"),
    (
        "PIVOT_PICKED",
        "4.2",
        "double nl 1/2\n seats 1:90 2:90\n deal\n 1 calls · 2 checks · 2 picks first · 2 picks second",
    ),
    ("NO_PIVOT_DUE", "4.1", "double nl 1/2\n seats 1:90 2:90\n deal\n 1 picks first"),
    ("CLOCK_RAN_OUT", "8.2", "texas nl 1/2\n seats 1:90 2:90\n deal\n wait 46s · 1 folds"),
    ("ILLEGAL_ACTION", "5.8", "texas nl 1/2\n seats 1:90 2:90\n deal\n 1 checks"),
    ("ILLEGAL_AMOUNT", "5.8", "texas nl 1/2\n seats 1:90 2:90\n deal\n 1 raises 3"),
    ("NOTHING_TO_SHOW", "6.6", "texas nl 1/2\n seats 1:90 2:90\n deal\n 1 shows"),
    ("ALREADY_CREDITED", "8.4", "texas nl 1/2\n seats 1:90\n outage 0s..0s"),
    ("NOTHING_LOST", "10.2", "texas nl 1/2\n seats 1:90\n lose 9 0 0 · lose 9 0 0"),
    ("OTHER_FUNDS", "9.2", "texas nl 1/2\n seats 1:90\n 1 draws 5"),
    ("PAYMENT_UNKNOWN", "10.3", "texas nl 1/2\n p1 reserves 1 for 90 · payment 1 done to crediting"),
    ("PAYMENT_NOT_PARKED", "10.3", "texas nl 1/2\n p1 reserves 1 for 90 · payment 1 retried by ann"),
    (
        "NOTHING_PROPOSED",
        "10.3",
        "texas nl 1/2\n p1 reserves 1 for 90 · payment 1 unknown · payment 1 given-up · payment 1 confirmed settled by ann",
    ),
    (
        "SAME_PERSON",
        "10.3",
        "texas nl 1/2\n p1 reserves 1 for 90 · payment 1 unknown · payment 1 given-up
         payment 1 proposed settled by ann · payment 1 confirmed settled by ann",
    ),
];

/// Those that need settings: they are tested below.
const OF_SETTINGS: [(&str, &str); 2] = [("BAD_CONFIG", "1.1"), ("FIXED_SETTING", "1.3")];

/// This one needs many payments: see `payments.rs`.
const OF_PAYMENTS: &str = "PAYMENTS_PENDING";

#[test]
fn every_refusal_has_its_reason_and_its_rule() {
    for (reason, rule, text) in REFUSALS {
        let refused = play(&format!("table {text} -> {reason}"));
        let refusal = refused.refusal.expect("refused");
        assert_eq!((refusal.reason(), refusal.rule()), (*reason, *rule));
    }
}

// The list above is whole: a refusal without a row here fails this test.
#[test]
fn every_refusal_is_in_the_table() {
    let source = include_str!("../../src/refusal.rs");
    let entries = source.lines().filter_map(|line| line.split_once("=> (\"")?.1.split_once('"'));
    let named: BTreeSet<&str> = entries.map(|(reason, _)| reason).collect();
    let tested = REFUSALS.iter().map(|(reason, ..)| *reason).chain(OF_SETTINGS.map(|(reason, _)| reason));
    let tested = tested.chain([OF_PAYMENTS]);
    assert_eq!(named, tested.collect::<BTreeSet<&str>>());
}

fn configure(play: &mut Play, change: impl FnOnce(&mut rules::TableConfig)) -> Result<(), Refusal> {
    let mut config = Box::new(play.table.config.clone());
    change(&mut config);
    play.step(Ask::Configure { config })
}

#[test]
fn r1_settings_that_cannot_be_are_refused_with_each_fault() {
    let mut table = play("table texas nl 1/2\n seats 1:90 5:90");
    let refused = configure(&mut table, |config| {
        config.seats = 11;
        config.stakes.small_blind = Chips(3);
        config.rake.basis_points = 10_001;
        config.clocks.time_bank = rules::Millis::seconds(31);
    });
    let Err(refusal @ Refusal::BadConfig(_)) = refused else { panic!("{refused:?}") };
    assert_eq!((refusal.reason(), refusal.rule()), OF_SETTINGS[0]);
    let Refusal::BadConfig(faults) = refusal else { unreachable!() };
    let fields: Vec<(&str, &str)> =
        faults.iter().map(|ConfigFault { field, rule, .. }| (*field, *rule)).collect();
    let due = [
        ("seats", "1.2"),
        ("stakes.small_blind", "2.1"),
        ("rake.basis_points", "7.1"),
        ("clocks.time_bank", "8.1"),
    ];
    assert_eq!(fields, due);
    let mut bad = table.table.config.clone();
    bad.seats = 1;
    assert_eq!(Table::open(bad, table.now).map_err(|r| r.reason()).map(|_| ()), Err("BAD_CONFIG"));
}

#[test]
fn r1_3_some_settings_are_fixed() {
    let mut table = play("table texas nl 1/2\n seats 1:90 5:90");
    let fixed = |field| Err(Refusal::FixedSetting { field });
    assert_eq!(configure(&mut table, |c| c.game = Game::DoubleHoldem), fixed("game"));
    assert_eq!(configure(&mut table, |c| c.currency = *b"USD"), fixed("currency"));
    assert_eq!(configure(&mut table, |c| c.limit = Limit::PotLimit), fixed("limit"));
    for seats in [5, 10] {
        let refused = configure(&mut table, |c| c.seats = if c.seats == seats { 9 } else { seats });
        assert_eq!(refused, fixed("seats"), "also where all who sit would still have a seat");
    }
    let refusal = Refusal::FixedSetting { field: "seats" };
    assert_eq!((refusal.reason(), refusal.rule()), OF_SETTINGS[1]);
    configure(&mut table, |c| c.show_all = true).expect("others change");
}

#[test]
fn r9_2_settings_change_between_hands_only() {
    let mut table = play("table texas nl 1/2\n seats 1:90 2:90\n deal");
    assert_eq!(configure(&mut table, |c| c.stakes.big_blind = Chips(4)), Err(Refusal::HandRunning));
    table.more("at +20s · 1 folds · bank 1:25s");
    configure(&mut table, |c| {
        c.stakes.big_blind = Chips(4);
        c.clocks.time_bank = rules::Millis::seconds(10);
    })
    .expect("between hands");
    table.more("bank 1:10s 2:10s · deal\n bets 1:4 2:1");
}

fn seats(numbers: &[u8]) -> SeatSet {
    numbers.iter().filter_map(|n| SeatNo::new(*n)).collect()
}

#[test]
fn refusals_say_what_would_be_right() {
    let told = |text: &str| play(&format!("table {text}")).refusal.expect("refused");
    let refusal = told("texas nl 1/2 max-seats 4\n seats 1:90 3:90\n p5 buys 3 for 90 -> SEAT_TAKEN");
    assert_eq!(refusal, Refusal::SeatTaken { free: seats(&[2, 4]) });
    let refusal = told("texas nl 1/2\n seats 3:90\n p3 buys 1 for 90 -> ALREADY_SEATED");
    assert_eq!(refusal, Refusal::AlreadySeated { seat: SeatNo::new(3).expect("a seat") });
    let refusal = told("texas nl 1/2 buy-in 40..200\n seats 1:150\n 1 adds 51 -> BUY_IN_OUT_OF_RANGE");
    assert_eq!(refusal, Refusal::BuyInOutOfRange { min: Chips(1), max: Chips(50) });
    let refusal = told("texas nl 1/2\n seats 1:90 2:90\n deal\n 2 folds -> NOT_YOUR_TURN");
    assert_eq!(refusal, Refusal::NotYourTurn { seats: seats(&[1]) });
    let refusal = told("texas nl 1/2\n seats 1:90 2:90\n deal\n 1 calls · 1 folds @1 -> TURN_PASSED");
    assert_eq!(refusal, Refusal::TurnPassed { current: 2 });
    let refusal = told("texas nl 1/2\n seats 1:90 2:90\n deal\n 1 folds @7 -> TURN_NOT_REACHED");
    assert_eq!(refusal, Refusal::TurnNotReached { current: 1 });
    let refusal = told("texas nl 1/2\n seats 1:90 2:90\n deal\n 1 folds\n 1 folds @9/1 -> HAND_UNKNOWN");
    assert_eq!(refusal, Refusal::HandUnknown { last: 1 });
    let refusal = told("texas nl 1/2\n seats 1:90 2:90\n deal\n 1 raises 3 -> ILLEGAL_AMOUNT");
    let Refusal::IllegalAmount { legal } = refusal else { panic!("{refusal:?}") };
    let raise = legal.raise.expect("a raise");
    assert_eq!((legal.call, raise.min_to, raise.max_to), (Chips(1), Chips(4), Chips(90)));
}

// A refusal answers for the first reason that there is.
#[test]
fn the_first_of_several_reasons_is_given() {
    let late =
        "double nl 1/2\n seats 1:90 2:90\n deal\n 1 calls · 2 checks · wait 1m · 2 checks -> PIVOT_DUE";
    play(&format!("table {late}"));
    play(
        "table texas nl 1/2\n seats 1:90 2:90\n deal\n wait 1m · 1 checks -> CLOCK_RAN_OUT · 2 checks -> NOT_YOUR_TURN",
    );
    play(
        "table texas nl 1/2\n seats 1:90 2:90\n deal\n 1 folds · stranger folds -> HAND_OVER · 1 folds @0/1 -> HAND_OVER",
    );
    play("table texas nl 1/2 max-seats 2\n seats 1:90 2:90\n p1 buys any for 90 -> ALREADY_SEATED");
    play("table texas nl 1/2\n seats 1:90 2:90\n close\n deal -> TABLE_CLOSED");
}
