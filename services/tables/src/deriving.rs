//! What follows from the events of a commit: its settlement records, and what it adds to players' accounts.

use rules::event::Event;
use rules::hand::Hand;
use rules::lost::{Lost, REASON};
use rules::payment::Purpose;
use rules::player::PlayerId;
use rules::table::Table;
use rules::{Chips, Millis, SeatNo};
use uuid::Uuid;

use crate::books::{AccountStep, Tally};
use crate::ids::{NAMESPACE, TableKey};
use crate::settlement::{Settlement, SettlementBody, SettlementKind, Statement};
use crate::wallet::payment_id;

/// The records of one commit, from nothing but its events: whoever has the events has the records.
#[must_use]
pub fn settlements(key: &TableKey, before: &Table, after: &Table, events: &[Event]) -> Vec<Settlement> {
    let mut made = Vec::new();
    let mut names = Names::of(key, after);
    let mut now = Folding::of(before, events);
    for event in events {
        let named = names.next(event).or_else(|| transaction_id(key, now.table(), event));
        let told = told(key, now.table(), after, events, event);
        now.fold(event);
        let (Some((kind, id)), Some((at, body))) = (named, told) else {
            continue;
        };
        made.push(Settlement {
            id,
            ordinal: after.version * 256 + made.len() as u64,
            kind,
            key: key.clone(),
            at,
            version: after.version,
            currency: before.config.currency,
            game: before.config.game,
            limit: before.config.limit,
            config_version: before.config_version,
            body,
        });
    }
    made
}

/// The ids of the records of chips that a commit makes, in their order: known without the state before it.
#[must_use]
pub fn settlement_ids(key: &TableKey, after: &Table, events: &[Event]) -> Vec<(SettlementKind, Uuid)> {
    let mut names = Names::of(key, after);
    events.iter().filter_map(|event| names.next(event)).collect()
}

/// Gives the ids of one commit's records of chips, in their order.
struct Names<'a> {
    key: &'a TableKey,
    after: &'a Table,
    given: u64,
}

impl<'a> Names<'a> {
    fn of(key: &'a TableKey, after: &'a Table) -> Names<'a> {
        Names { key, after, given: 0 }
    }

    /// That of the record which the event makes, if it makes one.
    fn next(&mut self, event: &Event) -> Option<(SettlementKind, Uuid)> {
        let (kind, number) = match event {
            Event::HandSettled(result) => (SettlementKind::Hand, result.number),
            Event::HandVoided { .. } => (SettlementKind::Void, self.after.hand.as_ref()?.number),
            Event::HistoryLost { until, .. } => (SettlementKind::Reversal, *until),
            Event::PlayerSeated { session, .. } => (SettlementKind::BuyIn, *session),
            // Chips can be added many times in a session.
            Event::ChipsAdded { .. } => (SettlementKind::AddChips, self.after.version * 256 + self.given),
            Event::PlayerStoodUp { session, .. } => (SettlementKind::CashOut, *session),
            _ => return None,
        };
        self.given += 1;
        Some((kind, record_id(self.key, self.after.lost, kind, number)))
    }
}

/// The id of the record of this kind that the hand or the session of this number has, made after this loss of history and
/// before the next. One obligation has one id, also when its commit is made again. Only after a loss of history the same
/// hand or session comes to an end a second time; that is another obligation, since the first one was reversed.
#[must_use]
pub fn record_id(key: &TableKey, lost: Option<Lost>, kind: SettlementKind, number: u64) -> Uuid {
    let mut name = format!("{key}/{}/{number}", kind.name());
    if let Some(lost) = lost {
        name += &format!("/{}", lost.until);
    }
    Uuid::new_v5(&NAMESPACE, name.as_bytes())
}

/// The record of a payment has the payment's id. `now` is the table just before the event.
fn transaction_id(key: &TableKey, now: &Table, event: &Event) -> Option<(SettlementKind, Uuid)> {
    match event {
        Event::PaymentEnded { number, .. } => {
            now.payment(*number).map(|payment| (SettlementKind::Transaction, payment_id(key, payment)))
        }
        _ => None,
    }
}

/// The table between two events of a commit; folded only if somebody asks what it was like then.
struct Folding<'a> {
    before: &'a Table,
    now: Option<Table>,
}

impl<'a> Folding<'a> {
    fn of(before: &'a Table, events: &[Event]) -> Folding<'a> {
        let asks = |event: &Event| matches!(event, Event::PlayerStoodUp { .. } | Event::PaymentEnded { .. });
        Folding { before, now: events.iter().any(asks).then(|| before.clone()) }
    }

    fn table(&self) -> &Table {
        self.now.as_ref().unwrap_or(self.before)
    }

    fn fold(&mut self, event: &Event) {
        if let Some(now) = &mut self.now {
            now.evolve(event);
        }
    }
}

/// What the record tells that the event makes, and when it happened. `now` is the table just before the event.
fn told(
    key: &TableKey,
    now: &Table,
    after: &Table,
    events: &[Event],
    event: &Event,
) -> Option<(Millis, SettlementBody)> {
    Some(match event {
        Event::HandSettled(result) => (result.settled_at, SettlementBody::Hand(result.clone())),
        Event::HandVoided { reason, requester, refunds, at } => {
            // Only a running hand can be voided (rules 10.1), and that is the last one that began.
            (*at, void(after.hand.as_ref()?, reason, requester, refunds))
        }
        Event::HistoryLost { last, until, at, .. } => {
            (*at, SettlementBody::Reversal { last: *last, until: *until, reason: REASON.to_owned() })
        }
        Event::PlayerSeated { seat, player, session, buy_in, transaction, at, .. } => {
            (*at, moved((player, *seat, *session), (*buy_in, Chips::ZERO), transaction))
        }
        Event::ChipsAdded { seat, player, session, added, returned, transaction, at } => {
            (*at, moved((player, *seat, *session), (*added, *returned), transaction))
        }
        Event::PlayerStoodUp { seat, player, session, paid, reason, transaction, at } => {
            let body = SettlementBody::Movement {
                player: player.clone(),
                seat: *seat,
                session: *session,
                amount: *paid,
                returned: Chips::ZERO,
                transaction: credit(key, events, *session).unwrap_or_else(|| transaction.clone()),
                reason: Some(*reason),
                statement: now.seat(*seat).map(Statement::of),
            };
            (*at, body)
        }
        Event::PaymentEnded { number, ending, at } => {
            let payment = Box::new(now.payment(*number)?.clone());
            (*at, SettlementBody::Transaction { payment, ending: *ending })
        }
        _ => return None,
    })
}

fn void(hand: &Hand, reason: &str, requester: &str, refunds: &[(SeatNo, Chips)]) -> SettlementBody {
    let named = |(seat, amount): &(SeatNo, Chips)| Some((*seat, hand.player(*seat)?.player.clone(), *amount));
    SettlementBody::Void {
        hand: hand.number,
        reason: reason.to_owned(),
        requester: requester.to_owned(),
        refunds: refunds.iter().filter_map(named).collect(),
    }
}

/// The name of the payment that takes his chips to the wallet.
fn credit(key: &TableKey, events: &[Event], session: u64) -> Option<String> {
    events.iter().find_map(|event| match event {
        Event::PaymentBegun { payment }
            if payment.purpose == Purpose::CashOut && payment.session == session =>
        {
            Some(payment_id(key, payment).to_string())
        }
        _ => None,
    })
}

fn moved(
    (player, seat, session): (&PlayerId, SeatNo, u64),
    (amount, returned): (Chips, Chips),
    transaction: &str,
) -> SettlementBody {
    SettlementBody::Movement {
        player: player.clone(),
        seat,
        session,
        amount,
        returned,
        transaction: transaction.to_owned(),
        reason: None,
        statement: None,
    }
}

/// What one commit, which makes these records, adds to the accounts of players: the whole of a session when it ends, and
/// what wallets are owed.
#[must_use]
pub(crate) fn accounts(currency: [u8; 3], made: &[Settlement], events: &[Event]) -> Vec<AccountStep> {
    let ended = made.iter().filter_map(|record| match &record.body {
        SettlementBody::Movement { player, amount, statement: Some(session), .. } => {
            Some((player, Tally { paid_out: amount.0, ..Tally::of(session) }))
        }
        SettlementBody::Transaction { payment, .. } if payment.is_owed() => {
            Some((&payment.player, Tally { delivered: payment.amount.0, ..Tally::default() }))
        }
        _ => None,
    });
    let begun = events.iter().filter_map(|event| match event {
        Event::PaymentBegun { payment } if payment.is_owed() => {
            Some((&payment.player, Tally { owed: payment.amount.0, ..Tally::default() }))
        }
        _ => None,
    });
    let step = |(player, tally): (&PlayerId, Tally)| AccountStep { player: player.clone(), currency, tally };
    ended.chain(begun).map(step).collect()
}
