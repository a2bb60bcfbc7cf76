//! What the rules' refusals are on the wire, and what would be legal instead.

use rules::{ConfigFault, Legal, Refusal, SeatSet};
use tonic::{Code, Status};
use tonic_types::FieldViolation;

use super::Told;

/// What the refusal of a table at this version is on the wire: the rule, and what would be legal instead. Version 0:
/// there is no table yet.
#[must_use]
pub fn refused(refusal: &Refusal, version: u64) -> Status {
    let told = told(refusal).with("rule", refusal.rule());
    let told = if version > 0 { told.with("sequence", version) } else { told };
    told.status(refusal.reason())
}

/// The map. A new refusal does not compile before it is here.
fn told(refusal: &Refusal) -> Told {
    use Code::{FailedPrecondition as Not, InvalidArgument as Bad, NotFound as Missing};
    match refusal {
        Refusal::BadConfig(faults) => Told::new(Bad, list(faults)).fields(violations(faults)),
        Refusal::TableClosed => Told::new(Not, "the table is closed or closing"),
        Refusal::TableStopped => Told::new(Not, "the table is stopped; GetTable says why"),
        Refusal::NotStopped => Told::new(Not, "no such stop is in force"),
        Refusal::HandRunning => Told::new(Not, "a hand is running; this is for between hands"),
        Refusal::NoHandRunning => Told::new(Not, "no hand is running"),
        Refusal::NoSuchSeat { seats } => no_such_seat(*seats),
        Refusal::SeatTaken { free } => {
            Told::new(Not, format!("the seat is taken; free: {}", seats(*free))).with("free", seats(*free))
        }
        Refusal::TableFull => Told::new(Not, "all seats are taken"),
        Refusal::AlreadySeated { seat } => {
            Told::new(Not, format!("the player sits at this table already, in seat {seat}"))
                .with("seat", seat)
        }
        Refusal::NotSeated => Told::new(Not, "the player has no seat at this table"),
        Refusal::Leaving => Told::new(Not, "the player is leaving his seat"),
        Refusal::BuyInOutOfRange { min, max } => {
            Told::new(Not, format!("from {min} to {max} would be accepted")).with("min", min).with("max", max)
        }
        Refusal::BuyInBelowLeft { least, until } => {
            Told::new(Not, format!("the player left a short time ago and has to bring back at least {least}"))
                .with("least", least)
                .with("until", until.0)
        }
        Refusal::ChipsPending { pending } => {
            Told::new(Not, format!("{pending} chips still wait for the end of the hand"))
                .with("pending", pending)
        }
        Refusal::AlreadySittingOut => Told::new(Not, "the player sits out already"),
        Refusal::NotSittingOut => Told::new(Not, "the player neither sits out nor wishes to"),
        Refusal::NoChips => Told::new(Not, "the player has no chips to play with"),
        Refusal::NotDue { at } => due(at.map(|at| at.0)),
        Refusal::HandOver { last } => {
            Told::new(Not, format!("the hand is over; the last one is {last}")).with("last", last)
        }
        Refusal::HandUnknown { last } => {
            Told::new(Missing, format!("there has been no such hand; the last one is {last}"))
                .with("last", last)
        }
        Refusal::NotInHand => Told::new(Not, "the player was not dealt into this hand"),
        Refusal::TurnPassed { current } => turn("the turn was answered otherwise", *current),
        Refusal::TurnNotReached { current } => turn("the hand has not come to this turn", *current),
        Refusal::NotYourTurn { seats: asked } => {
            Told::new(Not, format!("the turn is that of seat {}", seats(*asked))).with("seats", seats(*asked))
        }
        Refusal::PivotDue => Told::new(Not, "the pivot has to be picked first, with SelectPivot"),
        Refusal::PivotPicked => Told::new(Not, "the pivot is picked, and a pick is final"),
        Refusal::NoPivotDue => Told::new(Not, "no pivot is asked for"),
        Refusal::ClockRanOut { at } => {
            Told::new(Not, "the call arrived after the end of the clock and its grace").with("at", at.0)
        }
        Refusal::IllegalAction { legal: now } => legal("the action is not legal now", now),
        Refusal::IllegalAmount { legal: now } => illegal_amount(now),
        Refusal::NothingToShow => Told::new(Not, "the player has no hand that he may show"),
        Refusal::AlreadyCredited => Told::new(Not, "the time of this outage has been given back before"),
        Refusal::NothingLost => Told::new(Not, "it is known that this part of the history is lost"),
        Refusal::PaymentsPending { open } => pending(*open),
        Refusal::OtherFunds => Told::new(Not, OTHER_FUNDS),
        Refusal::PaymentUnknown => Told::new(Missing, "there is no such open transaction, or not any more"),
        Refusal::PaymentNotParked => Told::new(Not, "the transaction is not parked"),
        Refusal::NothingProposed => Told::new(Not, "nobody has proposed to end the transaction so"),
        Refusal::SamePerson => Told::new(Not, "somebody else than who proposed it has to confirm it"),
        Refusal::FixedSetting { field } => fixed(field),
    }
}

const OTHER_FUNDS: &str =
    "the player's chips came another way: from the operator's wallet, or with a transaction of the operator";

fn no_such_seat(seats: u8) -> Told {
    Told::new(Code::InvalidArgument, format!("the table has the seats 1 to {seats}"))
        .with("seats", seats)
        .fields(vec![FieldViolation::new("seat", format!("1 to {seats}, or 0 for any free one"))])
}

fn pending(open: usize) -> Told {
    let message = format!("{open} payments are on their way between this table and the wallet");
    Told::new(Code::FailedPrecondition, message).with("open", open)
}

fn fixed(field: &'static str) -> Told {
    let as_it_is = FieldViolation::new(format!("config.{field}"), "as it is: it cannot change any more");
    Told::new(Code::InvalidArgument, format!("{field} is fixed once the table exists"))
        .with("field", field)
        .fields(vec![as_it_is])
}

fn illegal_amount(now: &Legal) -> Told {
    let right = range(now).unwrap_or_else(|| "no amount is legal".into());
    legal("the amount is not legal now", now).fields(vec![FieldViolation::new("to", right)])
}

fn due(at: Option<u64>) -> Told {
    match at {
        Some(at) => Told::new(Code::FailedPrecondition, "it is too early").with("at", at),
        None => Told::new(Code::FailedPrecondition, "nothing is due"),
    }
}

fn turn(what: &str, current: u32) -> Told {
    let now = if current == 0 { "no turn is open".into() } else { format!("turn {current} is open") };
    Told::new(Code::FailedPrecondition, format!("{what}; {now}")).with("current", current)
}

/// The legal set in words and as metadata, so that a caller need not ask again (rules 5.8).
fn legal(what: &str, now: &Legal) -> Told {
    let mut names = vec!["fold"];
    names.push(if now.can_check() { "check" } else { "call" });
    if let Some(range) = &now.raise {
        names.push(if range.is_bet { "bet" } else { "raise" });
    }
    if now.all_in {
        names.push("all_in");
    }
    let amounts = range(now).map(|range| format!(", {range}")).unwrap_or_default();
    let call = if now.can_check() { String::new() } else { format!(", to call {}", now.call) };
    let message = format!("{what}; legal: {}{call}{amounts}", names.join(", "));
    let told =
        Told::new(Code::FailedPrecondition, message).with("legal", names.join(",")).with("call", now.call);
    match &now.raise {
        Some(range) => told.with("min_to", range.min_to).with("max_to", range.max_to),
        None => told,
    }
}

fn range(now: &Legal) -> Option<String> {
    let range = now.raise?;
    let what = if range.is_bet { "a bet" } else { "a raise" };
    Some(format!("{what} from {} to {}", range.min_to, range.max_to))
}

/// `1,4,5`.
fn seats(set: SeatSet) -> String {
    let numbers: Vec<String> = set.iter().map(|seat| seat.to_string()).collect();
    numbers.join(",")
}

fn list(faults: &[ConfigFault]) -> String {
    let each = faults.iter().map(|f| format!("{}: {} (rules {})", f.field, f.why, f.rule));
    format!("the settings do not go together; {}", each.collect::<Vec<_>>().join("; "))
}

/// Faults of settings as fields of a request, where the settings are `config`.
pub(in crate::grpc) fn violations(faults: &[ConfigFault]) -> Vec<FieldViolation> {
    let each = |f: &ConfigFault| {
        FieldViolation::new(format!("config.{}", f.field), format!("{} (rules {})", f.why, f.rule))
    };
    faults.iter().map(each).collect()
}
