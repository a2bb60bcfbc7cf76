//! Every order in which a debit, its time-out, its cancel, late and double messages, asking again, and the death of
//! whoever is at work before and after each of his steps can come: all states are gone through, with the real rules of
//! the table and of the courier, a wallet as its contract has it, and nothing left to chance.

mod search;
mod table;
mod wallet;
mod world;

use std::time::Instant;

use rules::paying::Answer;
use rules::payment::{Decline, Phase};
use tables::courier::errand::{self, Next};
use tables::wallet::{Call, Reply};

use crate::search::{Explored, explore};
use crate::table::Doing;
use crate::wallet::Wallet;
use crate::world::{Machine, Rules};

/// What each debit is about.
pub const AMOUNT: u8 = 10;

/// A player buys in, and leaves when he can.
const SEAT: &[Doing] = &[Doing::Reserve(1), Doing::StandUp];
/// He buys in again where the first time comes to nothing, or he does not know what.
const TWICE: &[Doing] = &[Doing::Reserve(1), Doing::Reserve(2)];
/// He adds chips, and may leave before they are there.
const ADD: &[Doing] = &[Doing::Reserve(1), Doing::Draw(2), Doing::StandUp];

fn rules(script: &'static [Doing]) -> Rules {
    Rules { machine: Machine::REAL, wallet: Wallet::Right, script, closes: false, people: false }
}

/// Everything is gone through, and all of it is right.
fn sound(name: &str, start: u8, rules: &Rules) -> Explored {
    let began = Instant::now();
    let explored = explore(start, rules).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    println!("{name}: {explored:?} in {:?}", began.elapsed());
    let Explored { states, steps, tables, ended, late, in_two, .. } = explored;
    let enough =
        states > 3000 && steps > 5 * states && tables > 10 && ended > 10 && late > 100 && in_two > 500;
    assert!(enough, "{name}: too little was gone through: {explored:?}");
    explored
}

/// Something is wrong there, and it is found.
fn unsound(name: &str, start: u8, rules: &Rules, what: &str) {
    match explore(start, rules) {
        Ok(explored) => panic!("{name}: nothing was found in {explored:?}"),
        Err(wrong) => assert!(wrong.contains(what), "{name}: {wrong}"),
    }
}

#[test]
fn a_seat_and_its_pay_out() {
    sound("a seat at a table that may close", AMOUNT, &Rules { closes: true, ..rules(SEAT) });
}

#[test]
fn a_player_who_tries_again() {
    sound("twice, with money for one", AMOUNT, &rules(TWICE));
    sound("twice, with money for both", 2 * AMOUNT, &rules(TWICE));
}

#[test]
fn chips_for_a_player_who_may_leave() {
    sound("more chips", 2 * AMOUNT, &rules(ADD));
}

#[test]
fn people_see_to_what_is_parked() {
    let explored = sound("people", AMOUNT, &Rules { people: true, closes: true, ..rules(SEAT) });
    assert!(explored.parked > 10, "{explored:?}");
}

/// An exploration that finds nothing wrong is worth what it would find.
#[test]
fn a_wallet_that_breaks_its_contract_is_found_out() {
    let of = |wallet| Rules { wallet, ..rules(SEAT) };
    unsound("debits twice", 2 * AMOUNT, &of(Wallet::DebitsTwice), "of 20 there are 10");
    unsound("credits twice", AMOUNT, &of(Wallet::CreditsTwice), "of 10 there are 20");
    unsound("forgets cancels", AMOUNT, &of(Wallet::ForgetsCancels), "of 10 there are 0");
}

#[test]
fn a_courier_who_jumps_to_conclusions_is_found_out() {
    /// Where this one concludes otherwise.
    type Wrong = fn(Phase, Call, &Reply) -> Option<Answer>;
    fn after(phase: Phase, call: Call, reply: Reply, wrong: Wrong) -> Next {
        wrong(phase, call, &reply).map_or_else(|| errand::after(phase, call, reply), Next::Say)
    }
    fn declined() -> Answer {
        Answer::Declined(Decline::Unspecified)
    }
    macro_rules! wrong {
        ($name:literal, $pattern:pat => $answer:expr) => {
            let machine = Machine {
                after: |phase, call, reply| {
                    after(phase, call, reply, |phase, call, reply| match (phase, call, reply) {
                        $pattern => Some($answer),
                        _ => None,
                    })
                },
                ..Machine::REAL
            };
            unsound($name, AMOUNT, &Rules { machine, ..rules(SEAT) }, "of 10 there are");
        };
    }
    wrong!("what the wallet has not heard of will not come", (Phase::Debiting, _, Reply::Missing) => declined());
    wrong!("no answer is a no", (Phase::Debiting, Call::Find, Reply::Unknown(_)) => declined());
    wrong!("no answer is a yes", (Phase::Debiting, Call::Debit, Reply::Unknown(_)) => Answer::Done);
    wrong!("no answer to a cancel is a yes", (Phase::Cancelling, _, Reply::Unknown(_)) => Answer::Done);
    wrong!("no answer to a credit is a yes", (Phase::Crediting, _, Reply::Unknown(_)) => Answer::Done);
    wrong!("a declined debit is booked", (Phase::Debiting, _, Reply::Declined(_)) => Answer::Done);
}

#[test]
fn a_payment_that_nobody_sees_to_is_found_out() {
    let first = |phase, again| errand::first(phase, again).filter(|call| *call != Call::Cancel);
    let machine = Machine { first, ..Machine::REAL };
    unsound("no cancels", AMOUNT, &Rules { machine, ..rules(SEAT) }, "no end is reached");
}
