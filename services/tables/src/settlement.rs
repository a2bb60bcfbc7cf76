//! Settlement records: every movement of money at a table, derived from the events of one commit and written in it.

use rules::config::{Game, Limit};
use rules::event::LeaveReason;
use rules::payment::{Ending, Payment};
use rules::player::{PlayerId, Seat};
use rules::result::HandResult;
use rules::{Chips, Millis, SeatNo};
use uuid::Uuid;

use crate::ids::{TableId, TableKey};

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
    /// A payment between the operator's wallet and the table came to its end. It moves no chips: that is told by the others.
    Transaction,
}

impl SettlementKind {
    /// The kinds that are told as settlement records; the ends of transactions are told otherwise.
    pub const TOLD: [SettlementKind; 6] = [
        SettlementKind::Hand,
        SettlementKind::Void,
        SettlementKind::BuyIn,
        SettlementKind::AddChips,
        SettlementKind::CashOut,
        SettlementKind::Reversal,
    ];

    /// Its part in derived ids: never to be changed.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            SettlementKind::Hand => "hand",
            SettlementKind::Void => "void",
            SettlementKind::BuyIn => "buy-in",
            SettlementKind::AddChips => "add-chips",
            SettlementKind::CashOut => "cash-out",
            SettlementKind::Reversal => "reversal",
            SettlementKind::Transaction => "transaction",
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
        /// What his session came to; only of a cash-out, and not in records of the first formats.
        statement: Option<Statement>,
    },
    /// A payment that has come to its end.
    Transaction {
        /// The payment, as it was before.
        payment: Box<Payment>,
        /// How it ended.
        ending: Ending,
    },
}

/// What a session came to, in minor units: bought in - wagered + won = what was paid out.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statement {
    /// What was brought to the table.
    pub bought_in: Chips,
    /// What was put into pots of hands that were paid.
    pub wagered: Chips,
    /// What was won of them, after the rake.
    pub won: Chips,
    /// The player's part of their rake (rules 7.2).
    pub raked: Chips,
    /// Hands dealt to him.
    pub hands: u32,
}

impl Statement {
    /// What the session of a seat has come to until now.
    #[must_use]
    pub const fn of(seat: &Seat) -> Statement {
        let Seat { bought_in, wagered, won, raked, hands, .. } = *seat;
        Statement { bought_in, wagered, won, raked, hands }
    }
}

impl Settlement {
    /// The hand it is about, of a payment the table's last one when it began; `None` for movements and reversals.
    #[must_use]
    pub fn hand(&self) -> Option<u64> {
        match &self.body {
            SettlementBody::Hand(result) => Some(result.number),
            SettlementBody::Void { hand, .. } => Some(*hand),
            SettlementBody::Transaction { payment, .. } => Some(payment.hand).filter(|hand| *hand > 0),
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
            SettlementBody::Transaction { payment, .. } => payment.player == *who,
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
