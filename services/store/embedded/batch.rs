//! Commits in one transaction of the file. Nobody sees anything of it before the whole batch is durable.

use redb::{ReadableTable, WriteTransaction};
use rules::Millis;
use tables::store::{AHEAD, severed};
use tables::{AccountStep, Outcome, RequestId, StoreError, Stored, TableHand, TableKey, Token};
use uuid::Uuid;

use super::books::add;
use super::fault::Fault;
use super::opening::note_outage;
use super::read::Reader;
use super::requests::{Drawer, Wanted};
use super::schema::{
    BLOCK, CHECKPOINTS, DUE, EVENTS, HAND_SETTLEMENTS, PLAYER_SETTLEMENTS, RETIRED, Row, SETTLEMENT_IDS,
    SETTLEMENTS, TABLE_SETTLEMENTS, TABLES, table_key,
};
use super::untold::note;

/// A commit with its records encoded: that is done by its own task, so that the one writer need not.
pub(super) struct Prepared {
    pub key: TableKey,
    pub expected: Option<Token>,
    pub stored: Stored,
    pub record: Vec<u8>,
    pub entry: Vec<u8>,
    pub request: Option<PreparedRequest>,
    pub settlements: Vec<PreparedSettlement>,
    pub accounts: Vec<AccountStep>,
    pub due: Option<Millis>,
    pub not_before: Option<Millis>,
    pub stamped: Millis,
    pub untold: Option<TableHand>,
}

pub(super) struct PreparedRequest {
    pub id: RequestId,
    pub payload: [u8; 32],
    pub record: Vec<u8>,
}

pub(super) struct PreparedSettlement {
    pub id: Uuid,
    pub hand: Option<u64>,
    pub players: Vec<String>,
    pub record: Vec<u8>,
}

/// One transaction.
pub(super) struct Batch<'a> {
    pub transaction: &'a WriteTransaction,
    pub reader: &'a Reader,
    pub now: Millis,
    /// How many commits of a table are kept at least.
    history: u64,
    /// Whether anything was written.
    pub dirty: bool,
}

impl<'a> Batch<'a> {
    pub fn new(
        transaction: &'a WriteTransaction,
        reader: &'a Reader,
        now: Millis,
        history: u64,
    ) -> Batch<'a> {
        Batch { transaction, reader, now, history, dirty: false }
    }

    pub fn heartbeat(&mut self, now: Millis) -> Result<(), Fault> {
        self.dirty = true;
        // A machine that stood still and woke up was away too.
        note_outage(self.transaction, now)
    }

    /// Does the commit, or says why not. Fails with [`Fault::Record`] only before anything is written.
    pub fn commit(&mut self, commit: &Prepared) -> Result<Outcome, Fault> {
        if let Some(outcome) = self.done_before(commit)? {
            return Ok(outcome);
        }
        let old_due = match self.current(commit)? {
            Ok(due) => due,
            Err(conflict) => return Ok(conflict),
        };
        let now = self.now;
        if commit.not_before.is_some_and(|not_before| now < not_before) {
            return Ok(Outcome::TooEarly { now });
        }
        if commit.stamped > now + AHEAD {
            return Ok(Outcome::Ahead { now });
        }
        add(self.transaction, &commit.key.operator, &commit.accounts)?;
        self.dirty = true;
        self.write_table(commit, old_due)?;
        self.write_history(commit)?;
        self.write_request(commit)?;
        self.write_settlements(commit)?;
        if let Some(hand) = commit.untold {
            note(self, &commit.key.operator, hand)?;
        }
        Ok(Outcome::Committed { now })
    }

    /// What the commit's request came to, if it was done before.
    fn done_before(&self, commit: &Prepared) -> Result<Option<Outcome>, Fault> {
        let Some(request) = &commit.request else {
            return Ok(None);
        };
        let operator = &commit.key.operator;
        let wanted = Wanted { owner: operator.as_str(), name: operator, id: &request.id };
        let Some(done) = Drawer::OF_TABLES.read(self.transaction, self.reader, &wanted, self.now)? else {
            return Ok(None);
        };
        Ok(Some(if done.payload == request.payload {
            Outcome::Repeated { answer: done.answer, declined: done.declined }
        } else {
            Outcome::RequestReused
        }))
    }

    /// When the table was due until now; or the conflict, if it is not as the commit expects.
    fn current(&self, commit: &Prepared) -> Result<Result<Option<Millis>, Outcome>, Fault> {
        let tables = self.transaction.open_table(TABLES)?;
        let Some(found) = tables.get(table_key(&commit.key))? else {
            return Ok(match commit.expected {
                None => Ok(None),
                Some(_) => Err(Outcome::Conflict(None)),
            });
        };
        let row = Row::read(found.value())
            .ok_or_else(|| Fault::corrupt(format!("the row of table {}", commit.key)))?;
        if commit.expected == Some(row.token) {
            return Ok(Ok(row.due));
        }
        let stored = self.reader.stored(&commit.key, found.value())?;
        let Some(expected) = commit.expected else {
            return Ok(Err(Outcome::Conflict(Some(stored))));
        };
        let kept = self.kept(&commit.key, expected.version)?;
        Ok(Err(match severed(expected, &stored, kept) {
            true => Outcome::Severed(stored),
            false => Outcome::Conflict(Some(stored)),
        }))
    }

    /// The commit of that version, if the history has it.
    fn kept(&self, key: &TableKey, version: u64) -> Result<Option<Token>, Fault> {
        let (operator, table) = table_key(key);
        let events = self.transaction.open_table(EVENTS)?;
        let found = events.get((operator, table, version))?;
        let entry = found.map(|bytes| self.reader.codec.read_entry(key, bytes.value())).transpose()?;
        Ok(entry.map(|entry| entry.token))
    }

    fn write_table(&self, commit: &Prepared, old_due: Option<Millis>) -> Result<(), Fault> {
        let (operator, table) = table_key(&commit.key);
        let row = Row { token: commit.stored.token, due: commit.due, record: &commit.record };
        self.transaction.open_table(TABLES)?.insert((operator, table), row.bytes().as_slice())?;
        if old_due == commit.due {
            return Ok(());
        }
        let mut due = self.transaction.open_table(DUE)?;
        if let Some(at) = old_due {
            due.remove((at.0, operator, table))?;
        }
        if let Some(at) = commit.due {
            due.insert((at.0, operator, table), ())?;
        }
        Ok(())
    }

    /// The events, and each [`BLOCK`] a state from which the later ones can be folded. What is older than that state
    /// goes, as soon as enough is younger.
    fn write_history(&self, commit: &Prepared) -> Result<(), Fault> {
        let (operator, table) = table_key(&commit.key);
        let version = commit.stored.token.version;
        let at = |version| (operator, table, version);
        let mut events = self.transaction.open_table(EVENTS)?;
        events.insert(at(version), commit.entry.as_slice())?;
        if version != 1 && !version.is_multiple_of(BLOCK) {
            return Ok(());
        }
        let mut checkpoints = self.transaction.open_table(CHECKPOINTS)?;
        checkpoints.insert(at(version), commit.record.as_slice())?;
        let gone = version.saturating_sub(self.history) / BLOCK * BLOCK;
        if gone > 0 {
            events.retain_in(at(0)..=at(gone), |_, _| false)?;
            checkpoints.retain_in(at(0)..at(gone), |_, _| false)?;
        }
        Ok(())
    }

    fn write_request(&self, commit: &Prepared) -> Result<(), Fault> {
        let Some(request) = &commit.request else {
            return Ok(());
        };
        let owner = commit.key.operator.as_str();
        Drawer::OF_TABLES.write(self.transaction, owner, &request.id, &request.record, self.now)
    }

    fn write_settlements(&self, commit: &Prepared) -> Result<(), Fault> {
        if commit.settlements.is_empty() {
            return Ok(());
        }
        let (operator, table) = table_key(&commit.key);
        let mut settlements = self.transaction.open_table(SETTLEMENTS)?;
        let last = settlements.range((operator, 0)..=(operator, u64::MAX))?.next_back();
        let mut last = last.transpose()?.map(|(at, _)| at.value().1);
        if last.is_none() {
            // Positions go on where they were, also when all records are gone.
            last = self.transaction.open_table(RETIRED)?.get(operator)?.map(|retired| retired.value().0);
        }
        let mut ids = self.transaction.open_table(SETTLEMENT_IDS)?;
        let mut by_table = self.transaction.open_table(TABLE_SETTLEMENTS)?;
        let mut by_hand = self.transaction.open_table(HAND_SETTLEMENTS)?;
        let mut by_player = self.transaction.open_table(PLAYER_SETTLEMENTS)?;
        for (position, settlement) in (last.map_or(0, |last| last + 1)..).zip(&commit.settlements) {
            settlements.insert((operator, position), settlement.record.as_slice())?;
            ids.insert((operator, settlement.id.as_u128()), position)?;
            by_table.insert((operator, table, position), ())?;
            if let Some(hand) = settlement.hand {
                by_hand.insert((operator, table, hand, position), ())?;
            }
            for player in &settlement.players {
                by_player.insert((operator, player.as_str(), position), ())?;
            }
        }
        Ok(())
    }

    /// Drops request records that are over, a bounded number of them.
    pub fn forget_requests(&self) -> Result<(), Fault> {
        Drawer::OF_TABLES.forget(self.transaction, self.reader, self.now)?;
        Drawer::OF_STOPS.forget(self.transaction, self.reader, self.now)
    }
}

/// The answer to a commit in a batch that failed: what is not known, and what is known not to have been done.
pub(super) fn failed(outcome: &Result<Outcome, StoreError>, why: &str, maybe_done: bool) -> StoreError {
    match outcome {
        Ok(Outcome::Committed { .. }) if maybe_done => StoreError::Unknown(why.to_owned()),
        _ => StoreError::Unavailable(why.to_owned()),
    }
}
