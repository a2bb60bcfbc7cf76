//! Settlement records: every movement of money at a table, derived from the events of one commit and written in it.

use rules::config::{Game, Limit};
use rules::event::{Event, LeaveReason};
use rules::hand::Hand;
use rules::lost::REASON;
use rules::player::PlayerId;
use rules::result::HandResult;
use rules::table::Table;
use rules::{Chips, Millis, SeatNo};
use uuid::Uuid;

use crate::ids::{NAMESPACE, TableId, TableKey};

/// What a record is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SettlementKind {
    /// A hand was paid.
    Hand,
    /// A hand was voided (rules 10.2).
    Void,
    /// A player bought in.
    BuyIn,
    /// A player added chips, or got back what did not fit (rules 9.2).
    AddChips,
    /// A player left and was paid out.
    CashOut,
    /// Records that may have been given out count for nothing (rules 10.2).
    Reversal,
}

impl SettlementKind {
    /// Its part in derived ids: never to be changed.
    const fn name(self) -> &'static str {
        match self {
            SettlementKind::Hand => "hand",
            SettlementKind::Void => "void",
            SettlementKind::BuyIn => "buy-in",
            SettlementKind::AddChips => "add-chips",
            SettlementKind::CashOut => "cash-out",
            SettlementKind::Reversal => "reversal",
        }
    }
}

/// One record. It is never changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settlement {
    /// Derived from what it is about and not from its amount: one obligation has one id for ever.
    pub id: Uuid,
    /// Its place among the table's records: version * 256 + index within the commit.
    pub ordinal: u64,
    /// What it is about.
    pub kind: SettlementKind,
    /// The table.
    pub key: TableKey,
    /// When it happened, ms since the epoch.
    pub at: Millis,
    /// The table's version with it.
    pub version: u64,
    /// The currency of all amounts, ISO 4217.
    pub currency: [u8; 3],
    /// The game.
    pub game: Game,
    /// The betting limit.
    pub limit: Limit,
    /// The number of the settings in force, from 1.
    pub config_version: u64,
    /// The amounts.
    pub body: SettlementBody,
}

/// The amounts of a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SettlementBody {
    /// A hand as it was paid.
    Hand(Box<HandResult>),
    /// A hand that was voided; everybody has back what he put in (rules 10.1).
    Void {
        /// The hand's number.
        hand: u64,
        /// Why.
        reason: String,
        /// Who asked for it; empty if the service did.
        requester: String,
        /// Who got back how much, in minor units.
        refunds: Vec<(SeatNo, PlayerId, Chips)>,
    },
    /// The store lost commits that somebody has seen: all records of this table with versions after `last` up to `until`
    /// count for nothing. No other record will ever have one of those versions, nor one of the ids.
    Reversal {
        /// The last version whose records count.
        last: u64,
        /// The last version whose records do not.
        until: u64,
        /// Why.
        reason: String,
    },
    /// Chips that came to the table or left it.
    Movement {
        /// Whose.
        player: PlayerId,
        /// His seat.
        seat: SeatNo,
        /// His session at the table.
        session: u64,
        /// How much came (buy-in, added chips) or was paid out (cash-out), in minor units.
        amount: Chips,
        /// Of the chips that he wanted to add, what went back to him at once (rules 9.2).
        returned: Chips,
        /// The operator's name for the movement; empty where no request named one.
        transaction: String,
        /// Why he left; only of a cash-out.
        reason: Option<LeaveReason>,
    },
}

impl Settlement {
    /// The hand it is about; `None` for movements and reversals.
    #[must_use]
    pub fn hand(&self) -> Option<u64> {
        match &self.body {
            SettlementBody::Hand(result) => Some(result.number),
            SettlementBody::Void { hand, .. } => Some(*hand),
            SettlementBody::Movement { .. } | SettlementBody::Reversal { .. } => None,
        }
    }

    /// Whether the player is part of it.
    #[must_use]
    pub fn concerns(&self, who: &PlayerId) -> bool {
        match &self.body {
            SettlementBody::Hand(result) => result.players.iter().any(|p| p.player == *who),
            SettlementBody::Void { refunds, .. } => refunds.iter().any(|(_, player, _)| player == who),
            SettlementBody::Movement { player, .. } => player == who,
            // Whose records they were is lost with them.
            SettlementBody::Reversal { .. } => false,
        }
    }
}

/// The place of a record among all of its operator's, given by the store. Opaque, and growing with each commit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SettlementPosition(pub u64);

/// So many records are looked at for one page at most, where a filter lets few through.
pub const LOOKED_AT: usize = 10_000;

/// Some of the records that were asked for.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SettlementPage {
    /// In the order in which they were committed.
    pub records: Vec<(SettlementPosition, Settlement)>,
    /// Where to go on if the store stopped looking before it had the wanted number and before the end; there may be
    /// none up to there.
    pub next: Option<SettlementPosition>,
}

/// So far may the time of a record be from the moment of its commit at most, ms: a commit that is not done at once is
/// given up long before. Stores that keep records by that moment look so much farther on both sides.
pub const DRIFT: Millis = Millis::minutes(10);

/// Which records are wanted; an empty filter lets all through.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SettlementFilter {
    /// Of this table.
    pub table: Option<TableId>,
    /// Of the hand with this number.
    pub hand: Option<u64>,
    /// That concern this player.
    pub player: Option<PlayerId>,
    /// Of one of these kinds; of all kinds if there is none.
    pub kinds: Vec<SettlementKind>,
    /// Of what happened then or later, ms since the epoch.
    pub from: Option<Millis>,
    /// Of what happened earlier, ms since the epoch.
    pub to: Option<Millis>,
}

impl SettlementFilter {
    /// Whether the record is wanted.
    #[must_use]
    pub fn matches(&self, settlement: &Settlement) -> bool {
        self.table.is_none_or(|table| settlement.key.table == table)
            && self.hand.is_none_or(|hand| settlement.hand() == Some(hand))
            && self.player.as_ref().is_none_or(|player| settlement.concerns(player))
            && (self.kinds.is_empty() || self.kinds.contains(&settlement.kind))
            && self.from.is_none_or(|from| from <= settlement.at)
            && self.to.is_none_or(|to| settlement.at < to)
    }

    /// Before this no wanted record was committed, ms since the epoch.
    #[must_use]
    pub fn earliest(&self) -> Option<Millis> {
        self.from.map(|from| from - DRIFT)
    }

    /// After this no wanted record was committed, ms since the epoch.
    #[must_use]
    pub fn latest(&self) -> Option<Millis> {
        self.to.map(|to| to + DRIFT)
    }
}

/// The records of one commit, from nothing but its events: whoever has the events has the records.
#[must_use]
pub fn settlements(key: &TableKey, before: &Table, after: &Table, events: &[Event]) -> Vec<Settlement> {
    let mut made = Vec::new();
    for event in events {
        let Some(record) = record(before, after, event) else {
            continue;
        };
        let ordinal = after.version * 256 + made.len() as u64;
        made.push(Settlement {
            id: id(key, after, record.kind, record.number.unwrap_or(ordinal)),
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

/// One obligation has one id, also when its commit is made again. Only after a loss of history the same hand or session
/// comes to an end a second time; that is another obligation, since the first one was reversed.
fn id(key: &TableKey, after: &Table, kind: SettlementKind, number: u64) -> Uuid {
    let mut name = format!("{key}/{}/{number}", kind.name());
    if let Some(lost) = after.lost {
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
        Event::PlayerSeated { .. } | Event::ChipsAdded { .. } | Event::PlayerStoodUp { .. } => {
            movement(event)
        }
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

fn movement(event: &Event) -> Option<Record> {
    let (kind, number, at, body) = match event {
        Event::PlayerSeated { seat, player, session, buy_in, transaction, at, .. } => {
            let body = moved(player, *seat, *session, (*buy_in, Chips::ZERO), transaction, None);
            (SettlementKind::BuyIn, Some(*session), *at, body)
        }
        Event::ChipsAdded { seat, player, session, added, returned, transaction, at } => {
            let body = moved(player, *seat, *session, (*added, *returned), transaction, None);
            (SettlementKind::AddChips, None, *at, body)
        }
        Event::PlayerStoodUp { seat, player, session, paid, reason, transaction, at } => {
            let body = moved(player, *seat, *session, (*paid, Chips::ZERO), transaction, Some(*reason));
            (SettlementKind::CashOut, Some(*session), *at, body)
        }
        _ => return None,
    };
    Some(Record { kind, number, at, body })
}

fn moved(
    player: &PlayerId,
    seat: SeatNo,
    session: u64,
    (amount, returned): (Chips, Chips),
    transaction: &str,
    reason: Option<LeaveReason>,
) -> SettlementBody {
    SettlementBody::Movement {
        player: player.clone(),
        seat,
        session,
        amount,
        returned,
        transaction: transaction.to_owned(),
        reason,
    }
}
