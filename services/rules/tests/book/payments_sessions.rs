//! Money between wallets and tables over long random sessions: players come, add chips, play and leave, by the wallet or
//! otherwise, and the wallet answers whatever it likes, when it likes. [`crate::play`] checks the invariants after each step.

use std::collections::{BTreeMap, BTreeSet};

use rules::event::PromptKind;
use rules::paying::{Again, Answer, Decline, Said};
use rules::payment::{Ending, Payment, Phase, Purpose, Requested, Resolution};
use rules::{Ask, Chips, Due, Event, Millis, Pick, PlayerId, SeatNo};

use crate::blinds_sessions::Dice;
use crate::play::{Play, play};

const TABLES: [&str; 4] = [
    "texas nl 1/2 buy-in 40..200 rake 500",
    "double nl 1/2 buy-in 40..200 rathole 60m max-seats 4 timeouts 1",
    "texas fl 5/10 buy-in 50..300 ante 1 straddles 0 max-seats 3",
    "texas nl 10/25 buy-in 100..900 rake 1000 max-seats 6",
];
const STEPS: u32 = 5_000;

/// The payments of a table that are open, and what its players of the wallet are due.
#[derive(Default)]
struct Accounts {
    open: BTreeMap<u64, Payment>,
    /// The sessions that began with a debit.
    sessions: BTreeSet<u64>,
    /// What such players have left with, and what did not fit.
    due: Chips,
}

/// What the wallets and people did, by the payments' endings.
#[derive(Default)]
struct Books {
    endings: BTreeMap<&'static str, u64>,
    begun: u64,
    credits: u64,
    refused: u64,
}

fn player(dice: &mut Dice) -> PlayerId {
    PlayerId::new(&format!("p{}", dice.below(8) + 1)).expect("a name")
}

fn amount(dice: &mut Dice, play: &Play) -> Chips {
    let stakes = &play.table.config.stakes;
    Chips(stakes.min_buy_in.0 / 2 + dice.below(stakes.max_buy_in.0))
}

fn of_payment(dice: &mut Dice, play: &Play) -> Option<Ask> {
    let open = &play.table.payments;
    let payment = open.get(dice.below(open.len().max(1) as u64) as usize)?;
    let (number, said) = (payment.number, Said { by: format!("{}", dice.below(2)), reason: "r".to_owned() });
    let resolution = [Resolution::Settled, Resolution::WrittenOff][dice.below(2) as usize];
    let proposed = payment.proposal.as_ref().map(|proposal| proposal.resolution);
    let resolution = proposed.filter(|_| dice.below(4) > 0).unwrap_or(resolution);
    if payment.phase == Phase::Parked && dice.below(8) > 0 {
        return Some(match dice.below(5) {
            0 => Ask::RetryPayment { number, said },
            1 | 2 => Ask::ProposeEnd { number, resolution, said },
            _ => Ask::ConfirmEnd { number, resolution, said },
        });
    }
    let phases = [Phase::Debiting, Phase::Cancelling, Phase::Crediting, Phase::Parked];
    let late = dice.below(6) == 0;
    let phase = if late { phases[dice.below(4) as usize] } else { payment.phase };
    let answer = match dice.below(7) {
        0..=2 => Answer::Done,
        3 => Answer::Declined(Decline::Funds),
        _ => Answer::Unknown("no answer".to_owned()),
    };
    let again =
        if dice.below(3) == 0 { Again::Never } else { Again::At(play.now + Millis(dice.below(9000))) };
    Some(Ask::Answered { number, phase, answer, again })
}

fn of_seat(dice: &mut Dice, play: &Play) -> Ask {
    let (player, amount, transaction) = (player(dice), amount(dice, play), "t".to_owned());
    let (seat, post) = (SeatNo::new(dice.below(7) as u8), dice.below(2) == 0);
    let (name, request) = ("a debit".to_owned(), Requested { id: [1; 16], payload: [2; 32] });
    let (hand, reason, requester) = (play.table.hands, "r".to_owned(), "q".to_owned());
    match dice.below(20) {
        0..=5 => Ask::Reserve { player, seat, buy_in: amount, post, name, request },
        6 | 7 => Ask::Seat { player, seat, buy_in: amount, post, transaction },
        8..=11 => Ask::DrawChips { player, amount, name, request },
        12 => Ask::AddChips { player, amount, transaction },
        13..=16 => Ask::StandUp { player, transaction },
        17 => Ask::Void { hand, reason, requester },
        _ => Ask::SitIn { player, post },
    }
}

fn of_play(dice: &mut Dice, play: &mut Play) -> Option<Ask> {
    if let Some(prompt) = play.table.running_hand().and_then(|hand| hand.prompt)
        && dice.below(12) > 0
    {
        let hand = play.table.running_hand()?;
        let player = hand.player(prompt.seats.iter().next()?)?.player.clone();
        let (hand, turn) = (hand.number, prompt.turn);
        if prompt.kind == PromptKind::Pick {
            return Some(Ask::Pick { player, hand, turn, pick: Pick::new(dice.below(3) as u8)? });
        }
        let action = crate::hostile::legal_action(dice, &play.table.legal_now()?);
        return Some(Ask::Act { player, hand, turn, action });
    }
    let (at, due) = play.table.due()?;
    play.now = play.now.max(at);
    Some(match due {
        Due::Expire => Ask::Expire,
        Due::Payments => Ask::TakePayments { until: play.now + Millis(5_000) },
        Due::StartHand => {
            Ask::StartHand { deck: Box::new(crate::hostile::shuffled(dice)), draw: dice.below(99) }
        }
    })
}

fn account(play: &Play, books: &mut Books, accounts: &mut Accounts) {
    for event in &play.commit {
        match event {
            Event::PaymentBegun { payment } => {
                books.begun += 1;
                books.credits += u64::from(payment.is_owed());
                let known = accounts.open.insert(payment.number, (**payment).clone());
                assert_eq!(known, None, "a number for each");
            }
            Event::PaymentEnded { number, ending, .. } => {
                let payment = accounts.open.remove(number).expect("it ends once");
                *books.endings.entry(ended(&payment, *ending, accounts)).or_default() += 1;
            }
            Event::PlayerStoodUp { session, paid: back, .. }
            | Event::ChipsAdded { session, returned: back, .. }
                if accounts.sessions.contains(session) =>
            {
                accounts.due += *back;
            }
            _ => {}
        }
    }
}

fn ended(payment: &Payment, ending: Ending, accounts: &mut Accounts) -> &'static str {
    let (name, debit) = match ending {
        Ending::Used => ("used", true),
        Ending::Declined(_) => ("declined", true),
        Ending::Cancelled => ("cancelled", true),
        Ending::Paid => ("paid", false),
        Ending::Resolved(_) => ("resolved", payment.purpose.is_debit()),
    };
    assert_eq!(debit, payment.purpose.is_debit(), "{payment:?} ended {name}");
    if ending == Ending::Used && payment.purpose != Purpose::AddChips {
        accounts.sessions.insert(payment.session);
    }
    name
}

fn step(play: &mut Play, ask: Ask, books: &mut Books, accounts: &mut Accounts) {
    play.label(&format!("{ask:?}"));
    match play.step(ask) {
        Ok(()) => account(play, books, accounts),
        Err(_) => books.refused += 1,
    }
}

/// Closes the table; then the wallet answers everything.
fn finish(dice: &mut Dice, play: &mut Play, books: &mut Books, accounts: &mut Accounts) {
    step(play, Ask::Close { reason: "the end".to_owned() }, books, accounts);
    while play.table.running_hand().is_some() {
        let ask = of_play(dice, play).expect("a hand waits for somebody");
        step(play, ask, books, accounts);
    }
    while let Some(payment) = play.table.payments.first().cloned() {
        let number = payment.number;
        let ask = match payment.phase {
            Phase::Parked => {
                let said = Said { by: "x".to_owned(), reason: "r".to_owned() };
                Ask::RetryPayment { number, said }
            }
            phase => Ask::Answered { number, phase, answer: Answer::Done, again: Again::Never },
        };
        step(play, ask, books, accounts);
    }
}

/// Rules 9.1, 9.2, 10.3: whatever the wallet answers, every chip is at the table, with a player, or owed to one.
#[test]
fn r10_3_no_answer_of_a_wallet_makes_or_loses_a_chip() {
    let mut books = Books::default();
    for (seed, settings) in (1..).zip(TABLES) {
        let (mut dice, mut accounts) = (Dice(0x51ed_270b_9f0d_c3a1 ^ (seed << 9 | 1)), Accounts::default());
        let mut play = play(&format!("table {settings}"));
        for _ in 0..STEPS {
            play.now = play.now + Millis(dice.below(700));
            let ask = match dice.below(10) {
                0..=3 => of_payment(&mut dice, &play),
                4 | 5 => Some(of_seat(&mut dice, &play)),
                _ => of_play(&mut dice, &mut play),
            };
            let ask = ask.unwrap_or_else(|| of_seat(&mut dice, &play));
            step(&mut play, ask, &mut books, &mut accounts);
        }
        finish(&mut dice, &mut play, &mut books, &mut accounts);
        let ledger = play.table.ledger;
        assert!(accounts.open.is_empty() && play.table.payments.is_empty());
        assert_eq!(ledger.owed, accounts.due, "what is owed is what they left with, and what did not fit");
        assert_eq!(ledger.owed, ledger.delivered + ledger.written_off);
        assert_eq!(ledger.bought_in, ledger.paid_out + ledger.raked, "nobody is at the table any more");
        assert!(play.table.due().is_none() && play.table.occupied().next().is_none());
    }
    let kinds = ["used", "declined", "cancelled", "paid", "resolved"];
    let enough = kinds.iter().all(|kind| books.endings.get(kind).is_some_and(|count| *count > 40));
    assert!(enough && books.credits > 200, "the sessions show too little: {:?}", books.endings);
    assert!(books.begun > books.credits && books.refused > 100);
}
