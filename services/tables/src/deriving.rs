//! What follows from the events of a commit: its settlement records, and what it adds to players' accounts.

use rules::event::Event;
use rules::hand::Hand;
use rules::lost::{Lost, REASON};
use rules::payment::Purpose;
use rules::player::{PlayerId, Seat};
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
        let record = record(before, after, event).or_else(|| money(key, now.table(), events, event));
        now.fold(event);
        let Some(record) = record else {
            continue;
        };
        let ordinal = after.version * 256 + made.len() as u64;
        made.push(Settlement {
            id: match &record.body {
                SettlementBody::Transaction { payment, .. } => payment_id(key, payment),
                _ => names.next(record.kind, record.number),
            },
            ordinal,
            kind: record.kind,
            key: key.clone(),
            at: record.at,
            version: after.version,
            currency: before.config.currency,
            game: before.config.game,
            limit: before.config.limit,
            config_version: before.config_version,
            body: record.body,
        });
    }
    made
}

/// The ids of the records of chips that a commit makes, in their order: known without the state before it.
#[must_use]
pub fn settlement_ids(key: &TableKey, after: &Table, events: &[Event]) -> Vec<(SettlementKind, Uuid)> {
    let mut names = Names::of(key, after);
    let subject = |event: &Event| match event {
        Event::HandSettled(result) => Some((SettlementKind::Hand, Some(result.number))),
        Event::HandVoided { .. } => {
            Some((SettlementKind::Void, Some(after.hand.as_ref().map_or(after.hands, |hand| hand.number))))
        }
        Event::HistoryLost { until, .. } => Some((SettlementKind::Reversal, Some(*until))),
        Event::PlayerSeated { session, .. } => Some((SettlementKind::BuyIn, Some(*session))),
        Event::ChipsAdded { .. } => Some((SettlementKind::AddChips, None)),
        Event::PlayerStoodUp { session, .. } => Some((SettlementKind::CashOut, Some(*session))),
        _ => None,
    };
    let subjects = events.iter().filter_map(subject);
    subjects.map(|(kind, number)| (kind, names.next(kind, number))).collect()
}

/// Gives the ids of one commit's records. Payments are named elsewhere, and not counted here.
struct Names<'a> {
    key: &'a TableKey,
    after: &'a Table,
    given: u64,
}

impl<'a> Names<'a> {
    fn of(key: &'a TableKey, after: &'a Table) -> Names<'a> {
        Names { key, after, given: 0 }
    }

    fn next(&mut self, kind: SettlementKind, number: Option<u64>) -> Uuid {
        let place = self.after.version * 256 + self.given;
        self.given += 1;
        id(self.key, self.after.lost, kind, number.unwrap_or(place))
    }
}

/// The id of the one record of its kind that a hand or a session has, if it was made after this loss of history and before the
/// next.
pub(crate) fn numbered_record(
    key: &TableKey,
    lost: Option<Lost>,
    kind: SettlementKind,
    session: u64,
) -> Uuid {
    id(key, lost, kind, session)
}

/// One obligation has one id, also when its commit is made again. Only after a loss of history the same hand or session
/// comes to an end a second time; that is another obligation, since the first one was reversed.
fn id(key: &TableKey, lost: Option<Lost>, kind: SettlementKind, number: u64) -> Uuid {
    let mut name = format!("{key}/{}/{number}", kind.name());
    if let Some(lost) = lost {
        name += &format!("/{}", lost.until);
    }
    Uuid::new_v5(&NAMESPACE, name.as_bytes())
}

/// What an event adds to a record. `number` is that of the hand or of the session, where there is only one such record
/// for it; chips can be added many times in a session.
struct Record {
    kind: SettlementKind,
    number: Option<u64>,
    at: Millis,
    body: SettlementBody,
}

fn record(before: &Table, after: &Table, event: &Event) -> Option<Record> {
    match event {
        Event::HandSettled(result) => Some(Record {
            kind: SettlementKind::Hand,
            number: Some(result.number),
            at: result.settled_at,
            body: SettlementBody::Hand(result.clone()),
        }),
        Event::HandVoided { reason, requester, refunds, at } => {
            // Only a running hand can be voided (rules 10.1), and that is the last one that began.
            let hand = after.hand.as_ref().or(before.hand.as_ref())?;
            Some(void(hand, reason, requester, refunds, *at))
        }
        Event::HistoryLost { last, until, at, .. } => Some(Record {
            kind: SettlementKind::Reversal,
            number: Some(*until),
            at: *at,
            body: SettlementBody::Reversal { last: *last, until: *until, reason: REASON.to_owned() },
        }),
        _ => None,
    }
}

fn void(hand: &Hand, reason: &str, requester: &str, refunds: &[(SeatNo, Chips)], at: Millis) -> Record {
    let named = |(seat, amount): &(SeatNo, Chips)| Some((*seat, hand.player(*seat)?.player.clone(), *amount));
    Record {
        kind: SettlementKind::Void,
        number: Some(hand.number),
        at,
        body: SettlementBody::Void {
            hand: hand.number,
            reason: reason.to_owned(),
            requester: requester.to_owned(),
            refunds: refunds.iter().filter_map(named).collect(),
        },
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

/// Movements of chips and ends of payments. `now` is the table just before the event.
fn money(key: &TableKey, now: &Table, events: &[Event], event: &Event) -> Option<Record> {
    let (kind, number, at, body) = match event {
        Event::PlayerSeated { seat, player, session, buy_in, transaction, at, .. } => {
            let body = moved((player, *seat, *session), (*buy_in, Chips::ZERO), transaction.clone());
            (SettlementKind::BuyIn, Some(*session), *at, body)
        }
        Event::ChipsAdded { seat, player, session, added, returned, transaction, at } => {
            let body = moved((player, *seat, *session), (*added, *returned), transaction.clone());
            (SettlementKind::AddChips, None, *at, body)
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
                statement: now.seat(*seat).map(statement),
            };
            (SettlementKind::CashOut, Some(*session), *at, body)
        }
        Event::PaymentEnded { number, ending, at } => {
            let payment = Box::new(now.payment(*number)?.clone());
            (SettlementKind::Transaction, None, *at, SettlementBody::Transaction { payment, ending: *ending })
        }
        _ => return None,
    };
    Some(Record { kind, number, at, body })
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

/// What his session has come to until now.
#[must_use]
pub fn statement(seat: &Seat) -> Statement {
    let Seat { bought_in, wagered, won, raked, hands, .. } = *seat;
    Statement { bought_in, wagered, won, raked, hands }
}

fn moved(
    (player, seat, session): (&PlayerId, SeatNo, u64),
    (amount, returned): (Chips, Chips),
    transaction: String,
) -> SettlementBody {
    let player = player.clone();
    SettlementBody::Movement {
        player,
        seat,
        session,
        amount,
        returned,
        transaction,
        reason: None,
        statement: None,
    }
}

/// What one commit adds to the accounts of players: the whole of a session when it ends, and what wallets are owed.
#[must_use]
pub fn accounts(before: &Table, events: &[Event]) -> Vec<AccountStep> {
    let mut now = Folding::of(before, events);
    let currency = before.config.currency;
    let mut steps = Vec::new();
    for event in events {
        let step = match event {
            Event::PlayerStoodUp { seat, player, paid, .. } => now.table().seat(*seat).map(|who| {
                let Statement { bought_in, wagered, won, raked, hands } = statement(who);
                let tally = Tally {
                    bought_in: bought_in.0,
                    paid_out: paid.0,
                    wagered: wagered.0,
                    won: won.0,
                    raked: raked.0,
                    hands: hands.into(),
                    ..Tally::default()
                };
                (player.clone(), tally)
            }),
            Event::PaymentBegun { payment } if payment.is_owed() => {
                Some((payment.player.clone(), Tally { owed: payment.amount.0, ..Tally::default() }))
            }
            Event::PaymentEnded { number, .. } => now
                .table()
                .payment(*number)
                .filter(|p| p.is_owed())
                .map(|p| (p.player.clone(), Tally { delivered: p.amount.0, ..Tally::default() })),
            _ => None,
        };
        now.fold(event);
        steps.extend(step.map(|(player, tally)| AccountStep { player, currency, tally }));
    }
    steps
}
