//! Payments between an operator's wallet and a table that the tests store. The golden files of format 3 hold exactly these
//! values, as they hold those of `fixtures.rs`.

use rules::event::Event;
use rules::payment::{Decline, Deed, Ending, Note, Payment, Phase, Proposal, Purpose, Requested, Resolution};
use rules::player::Seat;
use rules::table::{Ledger, Table};
use rules::{Chips, Millis};

use crate::fixtures::{AT, player, seat, table};

/// A debit whose seat is reserved.
fn buy_in() -> Payment {
    Payment {
        number: 7,
        epoch: (1 << 20) - 1,
        purpose: Purpose::BuyIn { post: true },
        phase: Phase::Debiting,
        player: player("erin"),
        seat: seat(3),
        session: 4,
        amount: Chips(5_000),
        hand: 42,
        name: "0b7c2f62-6d55-4f0a-9c1d-6d0a4c8e1f11".to_owned(),
        request: Some(Requested { id: [5; 16], payload: [6; 32] }),
        begun: AT,
        since: AT,
        attempts: 0,
        next_at: AT + Millis(15_000),
        error: String::new(),
        proposal: None,
        notes: Vec::new(),
    }
}

fn note(deed: Deed, by: &str) -> Note {
    Note { deed, by: by.to_owned(), reason: "a reason".to_owned(), at: AT + Millis(3) }
}

/// A credit that somebody wants to end, with a note of each kind.
fn parked() -> Payment {
    let (resolution, by, reason) = (Resolution::WrittenOff, "ann".to_owned(), "no account".to_owned());
    Payment {
        number: 11,
        purpose: Purpose::CashOut,
        phase: Phase::Parked,
        name: String::new(),
        request: None,
        attempts: 9,
        error: "no answer within 5 s".to_owned(),
        proposal: Some(Proposal { resolution, by, reason, at: AT + Millis(2) }),
        notes: vec![
            note(Deed::Parked, ""),
            note(Deed::Retried, "ann"),
            note(Deed::Proposed, "ann"),
            note(Deed::Confirmed, "bob"),
        ],
        amount: Chips(30),
        ..buy_in()
    }
}

/// One payment of each purpose, and one in each phase.
pub fn payments() -> Vec<Payment> {
    let credit = |number, purpose, amount| Payment {
        number,
        purpose,
        phase: Phase::Crediting,
        amount: Chips(amount),
        name: String::new(),
        request: None,
        ..buy_in()
    };
    vec![
        buy_in(),
        Payment { number: 8, purpose: Purpose::BuyIn { post: false }, phase: Phase::Cancelling, ..buy_in() },
        Payment { number: 9, purpose: Purpose::AddChips, player: player("alice"), seat: seat(1), ..buy_in() },
        Payment { attempts: 2, error: "UNAVAILABLE".to_owned(), ..credit(10, Purpose::Returned, 20) },
        parked(),
        credit(12, Purpose::CashOut, 40),
    ]
}

/// The table of the fixtures with wallets: two of its players came by them, and money is on its way.
pub fn table_with_payments() -> Table {
    let mut table = table();
    let tallies = |seat: &mut Seat| {
        (seat.wagered, seat.won, seat.raked, seat.wallet) = (Chips(340), Chips(240), Chips(12), true);
    };
    table.seats.iter_mut().flatten().take(2).for_each(tallies);
    let ledger = Ledger { owed: Chips(190), delivered: Chips(80), written_off: Chips(20), ..table.ledger };
    Table { payments: payments(), payments_begun: 12, sessions: 4, ledger, ..table }
}

/// One event of each kind, by the name of its field in `event.proto`.
pub fn payment_events() -> Vec<(&'static str, Event)> {
    let (number, at, next_at) = (7, AT, AT + Millis(15_000));
    let error = || "no answer within 5 s".to_owned();
    vec![
        ("payment_begun", Event::PaymentBegun { payment: Box::new(buy_in()) }),
        (
            "payment_moved",
            Event::PaymentMoved { number, phase: Phase::Cancelling, error: error(), next_at, at },
        ),
        ("payment_tried", Event::PaymentTried { number, error: error(), next_at }),
        ("payments_taken", Event::PaymentsTaken { numbers: vec![7, 9], until: next_at }),
        ("payment_proposed", {
            let (resolution, by, reason) = (Resolution::Settled, "ann".to_owned(), "by hand".to_owned());
            Event::PaymentProposed { number, resolution, by, reason, at }
        }),
        ("payment_noted", Event::PaymentNoted { number, note: note(Deed::Retried, "bob") }),
        ("payment_ended", Event::PaymentEnded { number, ending: Ending::Declined(Decline::Limit), at }),
        ("seat_released", Event::SeatReleased { seat: seat(3), player: player("carol"), session: 4 }),
    ]
}

/// Every way a payment can end.
pub const ENDINGS: [Ending; 12] = [
    Ending::Used,
    Ending::Declined(Decline::Unspecified),
    Ending::Declined(Decline::Funds),
    Ending::Declined(Decline::Player),
    Ending::Declined(Decline::Blocked),
    Ending::Declined(Decline::Limit),
    Ending::Declined(Decline::Currency),
    Ending::Declined(Decline::Cancelled),
    Ending::Cancelled,
    Ending::Paid,
    Ending::Resolved(Resolution::Settled),
    Ending::Resolved(Resolution::WrittenOff),
];
