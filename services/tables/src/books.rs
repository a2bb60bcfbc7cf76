//! What a store keeps beside the tables: how far the readers of settlements have come, how long records stay, and what
//! each player's money came to. [`crate::laws`] tests these promises too.

use async_trait::async_trait;
use rules::Millis;
use rules::player::PlayerId;

use crate::ids::OperatorId;
use crate::settlement::{SettlementPosition, Statement};
use crate::store::StoreError;

/// So many readers of its settlements an operator can name.
pub const CONSUMERS: usize = 64;

/// No sum of an account is greater. Every store can count so far.
pub const ACCOUNT_LIMIT: u64 = 9_000_000_000_000_000_000;

/// How far a reader of settlements has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cursor {
    /// The last record that it has acknowledged; `None` before the first.
    pub position: Option<SettlementPosition>,
    /// How often it was taken, from 1: who holds an earlier one has been replaced. A cursor that was forgotten begins
    /// anew.
    pub generation: u64,
}

/// What a reader has still before it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Backlog {
    /// How many records.
    pub depth: u64,
    /// When what the oldest of them tells happened, ms since the epoch; `None` if there is none.
    pub oldest: Option<Millis>,
}

/// Sums of one player in one currency, in minor units. They only grow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Chips brought to tables.
    pub bought_in: u64,
    /// Chips taken from tables.
    pub paid_out: u64,
    /// Put into pots (rules 7).
    pub wagered: u64,
    /// Got out of pots.
    pub won: u64,
    /// His share of the rake.
    pub raked: u64,
    /// Hands that he was dealt into.
    pub hands: u64,
    /// Credits to his wallet that have begun.
    pub owed: u64,
    /// Of these, those that have ended: paid, settled by people or written off.
    pub delivered: u64,
}

impl Tally {
    /// How many sums there are.
    pub const SUMS: usize = 8;

    /// The sums in a fixed order, for stores that keep them as a row.
    #[must_use]
    pub const fn row(&self) -> [u64; Tally::SUMS] {
        let Tally { bought_in, paid_out, wagered, won, raked, hands, owed, delivered } = *self;
        [bought_in, paid_out, wagered, won, raked, hands, owed, delivered]
    }

    /// The sums of a [`Tally::row`].
    #[must_use]
    pub const fn of_row(row: [u64; Tally::SUMS]) -> Tally {
        let [bought_in, paid_out, wagered, won, raked, hands, owed, delivered] = row;
        Tally { bought_in, paid_out, wagered, won, raked, hands, owed, delivered }
    }

    /// What a session came to, without what was paid out.
    #[must_use]
    pub fn of(session: &Statement) -> Tally {
        let Statement { bought_in, wagered, won, raked, hands } = *session;
        Tally {
            bought_in: bought_in.0,
            wagered: wagered.0,
            won: won.0,
            raked: raked.0,
            hands: hands.into(),
            ..Tally::default()
        }
    }

    /// Both together; `None` if a sum were greater than [`ACCOUNT_LIMIT`].
    #[must_use]
    pub fn plus(&self, more: &Tally) -> Option<Tally> {
        let mut sums = self.row();
        for (sum, more) in sums.iter_mut().zip(more.row()) {
            *sum = sum.checked_add(more).filter(|sum| *sum <= ACCOUNT_LIMIT)?;
        }
        Some(Tally::of_row(sums))
    }
}

/// What a commit adds to an account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccountStep {
    /// Whose.
    pub player: PlayerId,
    /// In which currency, ISO 4217.
    pub currency: [u8; 3],
    /// How much.
    pub tally: Tally,
}

/// What a player's money in one currency came to, at all tables of his operator and for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    /// Whose.
    pub player: PlayerId,
    /// In which currency, ISO 4217.
    pub currency: [u8; 3],
    /// How much.
    pub tally: Tally,
}

/// Names an account of an operator; they are listed in the order of their names.
pub type AccountName = (PlayerId, [u8; 3]);

/// The part of a store that is not about single tables. All methods may be called from many tasks at once.
#[async_trait]
pub trait Books: Send + Sync {
    /// The cursors of the operator's readers with their names, in the order of those.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn cursors(&self, operator: &OperatorId) -> Result<Vec<(String, Cursor)>, StoreError>;

    /// Makes a reader's cursor, or takes it over from whoever had it: its generation grows by one. `None` if there is
    /// none of that name and the operator has [`CONSUMERS`] already.
    ///
    /// # Errors
    /// [`StoreError`]: it may have been taken all the same.
    async fn take_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<Option<Cursor>, StoreError>;

    /// Moves a cursor to this position, unless it is farther already: it is durable when this returns. Whether there
    /// is such a record is for the caller to know. `None` if there is no such cursor.
    ///
    /// # Errors
    /// [`StoreError`]: it may have been moved all the same; to move it again does no harm.
    async fn acknowledge(
        &self,
        operator: &OperatorId,
        consumer: &str,
        position: SettlementPosition,
    ) -> Result<Option<Cursor>, StoreError>;

    /// Drops a cursor; false if there was none.
    ///
    /// # Errors
    /// [`StoreError`]: it may have been dropped all the same.
    async fn forget_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<bool, StoreError>;

    /// What lies behind this position. Cheap, however much it is.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn backlog(
        &self,
        operator: &OperatorId,
        after: Option<SettlementPosition>,
    ) -> Result<Backlog, StoreError>;

    /// Removes up to `limit` settlement records of what happened before then, the oldest first, and says how many. A store
    /// may go by the moments of their commits instead, which are not far from it ([`crate::settlement::DRIFT`]).
    ///
    /// # Errors
    /// [`StoreError`]: some may have been removed all the same.
    async fn retire(&self, operator: &OperatorId, before: Millis, limit: usize) -> Result<usize, StoreError>;

    /// Up to where records may have been removed: who has not read so far may have missed some.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn retired_until(&self, operator: &OperatorId) -> Result<Option<SettlementPosition>, StoreError>;

    /// Up to `limit` accounts of the operator's players after this one, in the order of their names: what all commits
    /// added to them, each once.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn accounts(
        &self,
        operator: &OperatorId,
        after: Option<&AccountName>,
        limit: usize,
    ) -> Result<Vec<Account>, StoreError>;

    /// A player's accounts, one a currency, in the order of those.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn account(&self, operator: &OperatorId, player: &PlayerId) -> Result<Vec<Account>, StoreError>;
}

/// Why a commit cannot be done that would take an account beyond [`ACCOUNT_LIMIT`].
#[must_use]
pub fn overflows(operator: &OperatorId) -> StoreError {
    StoreError::Corrupt(format!("an account of {operator} would grow beyond what is counted"))
}
