//! Whether what is stored of a table fits together: state, calendar, history, settlements.

use rules::table::Table;
use rules::{Millis, invariant};
use tables::deriving::settlements;
use tables::settlement::DRIFT;
use tables::{Entry, Settlement, StoreError, TableKey, Token};

use super::{Inspect, RawEntry, RawState};
use crate::store::codec::tallies;
use crate::store::{Codec, LATEST};

/// So many entries are read at a time.
const PAGE: usize = 128;
/// A table that is being played is looked at so often before what was found counts.
const LOOKS: u32 = 5;
/// So many findings of one table are told.
const MOST: usize = 16;

/// What kind of thing is wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum What {
    /// The state is not there, cannot be read, or is not of its token.
    State,
    /// The state breaks an invariant of the rules.
    Invariant,
    /// The calendar has another time than the state's.
    Calendar,
    /// An entry cannot be read, or does not follow the one before it.
    History,
    /// The events do not make the state.
    Fold,
    /// A settlement that the events imply is not in the outbox, or is another one.
    Settlement,
}

/// Something that does not fit. Tells versions, tokens, amounts and names, never a card.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What kind.
    pub what: What,
    /// What exactly.
    pub detail: String,
}

impl What {
    /// Its name in lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            What::State => "state",
            What::Invariant => "invariant",
            What::Calendar => "calendar",
            What::History => "history",
            What::Fold => "events",
            What::Settlement => "settlement",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            What::State => {
                "calls at this table fail, and no chip of it moves. Restore its keys from a copy of the store; if there is \
                 none, pay the players out of the last settlements and open another table"
            }
            What::Invariant => {
                "the table stops itself and voids its hand at the next commit (rules 10.2). Stop the operator's play there, \
                 compare stacks with the settlements, and pay by those"
            }
            What::Calendar => {
                "its clocks may not ring, or ring for nothing. Any commit puts that right: PauseTable, then ResumeTable"
            }
            What::History => {
                "the state is not concerned and play goes on; a watcher who comes back may get a snapshot instead of what he \
                 missed. Keep a copy of the store if the history is needed as evidence"
            }
            What::Fold => {
                "the state counts, and one of the two was changed by something else than the service. Keep a copy of the \
                 store, look who may write to it, and compare stacks with the settlements"
            }
            What::Settlement => {
                "the operator cannot find this money in ListSettlements. Tell him the settlement's id and amounts, so that he \
                 books it by hand, and restore the outbox from a copy of the store"
            }
        }
    }
}

/// Everything about a table that does not fit. A table may be played meanwhile.
///
/// # Errors
/// [`StoreError`] if the store does not answer; what cannot be read is a finding.
pub async fn check_table(
    store: &dyn Inspect,
    codec: &Codec,
    key: &TableKey,
) -> Result<Vec<Finding>, StoreError> {
    let mut found = Vec::new();
    for _ in 0..LOOKS {
        let state = match store.state(key).await {
            Err(StoreError::Corrupt(why)) => return Ok(vec![Finding { what: What::State, detail: why }]),
            state => state?,
        };
        let Some(state) = state else {
            let detail = "the index names the table, and there is no state of it".to_owned();
            return Ok(vec![Finding { what: What::State, detail }]);
        };
        let mut look = Look { store, codec, key, found: Vec::new() };
        look.at(&state).await?;
        found = look.found;
        // What was found while somebody committed may be half of before and half of after.
        if found.is_empty() || store.state(key).await.is_ok_and(|now| now.as_ref() == Some(&state)) {
            break;
        }
    }
    found.truncate(MOST);
    Ok(found)
}

struct Look<'a> {
    store: &'a dyn Inspect,
    codec: &'a Codec,
    key: &'a TableKey,
    found: Vec<Finding>,
}

/// How far a history has been read.
#[derive(Default)]
struct Walk {
    /// The last entry that could be read.
    last: Option<Token>,
    /// The state there, if it could be made.
    table: Option<Table>,
    /// A format was written that keeps no tallies of sessions: how they came about is not known any more.
    without_tallies: bool,
}

impl Walk {
    fn makes(&self, made: &Table, stored: &Table) -> bool {
        if self.without_tallies { tallies::alike(made, stored) } else { made == stored }
    }
}

impl Look<'_> {
    fn find(&mut self, what: What, detail: impl Into<String>) {
        self.found.push(Finding { what, detail: detail.into() });
    }

    async fn at(&mut self, state: &RawState) -> Result<(), StoreError> {
        let table = match self.codec.read_table(self.key, &state.record) {
            Ok(table) => Some(table),
            Err(error) => {
                self.find(What::State, error.to_string());
                None
            }
        };
        if let Some(table) = &table {
            self.check_state(state, table);
        }
        self.walk(state, table).await
    }

    fn check_state(&mut self, state: &RawState, table: &Table) {
        let version = state.token.version;
        if table.version != version {
            let found = table.version;
            self.find(
                What::State,
                format!("its token is of version {version}, and it is of version {found}"),
            );
        }
        if let Err(broken) = invariant::check(table) {
            self.find(What::Invariant, format!("number {}: {broken:?}", broken.number()));
        }
        let due = table.due().map(|(at, _)| at.min(LATEST));
        if due != state.due.map(|at| at.min(LATEST)) {
            let word = |at: Option<Millis>| at.map_or("not at all".to_owned(), |at| at.0.to_string());
            let (due, found) = (word(due), word(state.due));
            self.find(
                What::Calendar,
                format!("the table is due {due}, and the calendar has it {found} (ms)"),
            );
        }
    }

    /// Reads the history up to the state.
    async fn walk(&mut self, state: &RawState, table: Option<Table>) -> Result<(), StoreError> {
        let until = state.token.version;
        let (mut walk, mut after) = (Walk::default(), 0);
        loop {
            let page = self.store.entries(self.key, after, PAGE).await?;
            let mut implied = Vec::new();
            for raw in page.iter().filter(|raw| raw.version <= until) {
                self.step(&mut walk, raw, &mut implied);
            }
            self.check_settlements(walk.without_tallies, &implied).await?;
            match page.last() {
                Some(last) if last.version < until && self.found.len() < MOST => after = last.version,
                _ => break,
            }
        }
        if walk.last != Some(state.token) {
            let last = walk.last.map_or("nothing".to_owned(), |token| format!("version {}", token.version));
            let detail =
                format!("it ends with {last}, and the state is another commit's, of version {until}");
            self.find(What::History, detail);
        } else if let (Some(made), Some(table)) = (&walk.table, &table)
            && !walk.makes(made, table)
        {
            self.find(
                What::Fold,
                format!("the events up to version {until} make another state than the stored one"),
            );
        }
        Ok(())
    }

    fn step(&mut self, walk: &mut Walk, raw: &RawEntry, implied: &mut Vec<Settlement>) {
        let version = raw.version;
        let entry = match self.codec.read_entry(self.key, &raw.record) {
            Ok(entry) => entry,
            Err(error) => {
                self.find(What::History, format!("the entry of version {version}: {error}"));
                *walk = Walk::default();
                return;
            }
        };
        let follows = self.check_place(walk, raw, &entry);
        walk.last = Some(entry.token);
        walk.without_tallies |= !tallies::are_kept(&raw.record);
        let before = walk.table.take().filter(|_| follows);
        walk.table = self.fold(before, &entry, implied);
        let kept = raw.state.as_ref().map(|record| self.codec.read_table(self.key, record));
        match kept {
            Some(Ok(kept)) => {
                if walk.table.as_ref().is_some_and(|made| !walk.makes(made, &kept)) {
                    let detail = format!(
                        "the events up to version {version} make another state than the one kept there"
                    );
                    self.find(What::Fold, detail);
                }
                walk.table = Some(kept);
            }
            Some(Err(error)) => {
                self.find(What::History, format!("the state that is kept with version {version}: {error}"));
            }
            None => {}
        }
    }

    /// Whether the entry is the one that belongs there, and follows the one before it.
    fn check_place(&mut self, walk: &Walk, raw: &RawEntry, entry: &Entry) -> bool {
        let version = raw.version;
        if entry.version != version || raw.token.is_some_and(|token| token != entry.token) {
            self.find(What::History, format!("the entry kept as version {version} is another commit's"));
        }
        let Some(last) = walk.last else {
            return true;
        };
        if entry.previous == Some(last) {
            return true;
        }
        let before = entry.previous.map_or(0, |token| token.version);
        self.find(
            What::History,
            match before > last.version {
                true => format!("versions {} to {before} are missing", last.version + 1),
                false => format!(
                    "version {version} follows another commit than version {}, which is before it",
                    last.version
                ),
            },
        );
        false
    }

    /// The state after the entry, if the one before it is known.
    fn fold(&mut self, before: Option<Table>, entry: &Entry, implied: &mut Vec<Settlement>) -> Option<Table> {
        let (before, after) = match before {
            None if entry.version == 1 => {
                let opened = entry.events.first().and_then(Table::from_opening)?;
                (opened.clone(), opened)
            }
            None => return None,
            Some(before) => {
                let mut after = before.clone();
                after.apply(&entry.events);
                (before, after)
            }
        };
        if after.version != entry.version {
            let version = entry.version;
            self.find(
                What::Fold,
                format!("the events of version {version} lead to version {}", after.version),
            );
            return None;
        }
        implied.extend(settlements(self.key, &before, &after, &entry.events));
        Some(after)
    }

    async fn check_settlements(
        &mut self,
        without_tallies: bool,
        implied: &[Settlement],
    ) -> Result<(), StoreError> {
        if implied.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = implied.iter().map(|settlement| settlement.id).collect();
        let records = self.store.settlements(self.key, &ids).await?;
        // Looked at after the records: they may go meanwhile.
        let retired = self.store.retired(self.key).await?.map(|until| until + DRIFT);
        for (implied, record) in implied.iter().zip(records) {
            let (id, kind, version) = (implied.id, implied.kind, implied.version);
            let of = format!("{kind:?} {id} of version {version}");
            match record.map(|record| self.codec.read_settlement(&self.key.operator, &record)) {
                None if retired.is_some_and(|until| implied.at <= until) => {}
                None => self.find(What::Settlement, format!("{of} is not in the outbox")),
                Some(Err(error)) => self.find(What::Settlement, format!("{of}: {error}")),
                Some(Ok(stored)) if without_tallies && tallies::told_alike(&stored, implied) => {}
                Some(Ok(stored)) if stored != *implied => {
                    self.find(What::Settlement, format!("{of} is another one in the outbox"));
                }
                Some(Ok(_)) => {}
            }
        }
        Ok(())
    }
}
