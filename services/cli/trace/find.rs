//! Finds a hand in a store: back from the table's last commit to the one with which the hand began.

use rules::lost::Lost;
use rules::{Event, Table, TableConfig};
use tables::{Entry, StoreError, TableKey};

use super::Hand;
use crate::cli::failure::Failure;
use crate::cli::store::{Opened, cannot_read, words};
use crate::store::codec::blind;
use crate::store::inspect::{Inspect, RawEntry};
use crate::telemetry::hands::{HandTrace, Names, Told, timeline};

/// So many commits are read at a time.
const PAGE: u64 = 128;
/// So many are looked at for the oldest hand that is kept.
const LOOKED_AT: usize = 512;

/// The hand.
///
/// # Errors
/// [`Failure::Failed`] if there is no such table or hand, or it is not kept any more, or the store cannot be read.
pub async fn hand(opened: &Opened, key: TableKey, number: u64) -> Result<Hand, Failure> {
    let store = &*opened.store;
    let failed = |error| cannot_read("the hand cannot be read", &error);
    let Some(state) = store.state(&key).await.map_err(failed)? else {
        return Err(Failure::Failed(format!(
            "there is no table {key} in {}. TableService/ListTables names the tables of an operator.",
            opened.name
        )));
    };
    let table = blind::read_table(&state.record)
        .map_err(|error| Failure::Failed(format!("the table's state cannot be read: {error}")))?;
    if number > table.hands {
        let dealt = table.hands;
        return Err(Failure::Failed(format!(
            "there is no hand {number} of table {key} yet: the last one that has begun there is {dealt}."
        )));
    }
    let runs = table.running_hand().is_some_and(|hand| hand.number == number);
    let walk =
        Walk::back(store, &key, (number, table.hands, runs), state.token.version).await.map_err(failed)?;
    let Some(last) = walk.entries.last().map(|entry| entry.version) else {
        return Err(not_kept(store, &key, number, &table).await.map_err(failed)?);
    };
    let config = walk.config.or_else(|| (!walk.changed).then(|| table.config.clone()));
    let lost: Option<Lost> = table.lost.filter(|lost| lost.until < last);
    let names = Names::Clear;
    let told = Told { key: &key, number, config: config.as_ref(), lost, names: &names };
    let Some(root) = timeline(&told, &walk.entries) else {
        return Err(not_kept(store, &key, number, &table).await.map_err(failed)?);
    };
    Ok(Hand {
        trace: HandTrace::of(&key.operator, &key.table, number),
        number,
        runs: !walk.entries.iter().any(ends),
        root,
        currency: String::from_utf8_lossy(&table.config.currency).into_owned(),
        store: opened.name.clone(),
        key,
    })
}

/// What is known while a history is read backwards.
#[derive(Default)]
struct Walk {
    /// Those of the hand, in the end.
    entries: Vec<Entry>,
    /// The settings in the middle of the hand, where a state of then is kept.
    config: Option<TableConfig>,
    /// The settings were changed later.
    changed: bool,
    /// The hand that began next.
    next: Option<u64>,
}

impl Walk {
    async fn back(
        store: &dyn Inspect,
        key: &TableKey,
        (number, dealt, runs): (u64, u64, bool),
        newest: u64,
    ) -> Result<Walk, StoreError> {
        let (mut walk, mut until) = (Walk::default(), newest);
        let mut states: Vec<(u64, Vec<u8>)> = Vec::new();
        while until > 0 {
            let mut page = Vec::new();
            for raw in store.entries(key, until.saturating_sub(PAGE), page_size()).await? {
                let entry = read(&raw)?;
                states.extend(raw.state.map(|state| (entry.version, state)));
                page.push(entry);
            }
            page.retain(|entry| entry.version <= until);
            let Some(first) = page.first() else {
                break;
            };
            // Versions are skipped where history was lost.
            until = first.previous.map_or(first.version - 1, |previous| previous.version);
            page.append(&mut walk.entries);
            walk.entries = page;
            if walk.cut(number) {
                walk.keep(&states);
                return Ok(walk);
            }
        }
        // Its beginning is not kept; perhaps its end is.
        match walk.entries.iter().position(ends) {
            Some(end) if walk.is_end_of(number, &walk.entries[end], dealt) => walk.entries.truncate(end + 1),
            None if runs => {}
            _ => walk.entries.clear(),
        }
        walk.keep(&states);
        Ok(walk)
    }

    /// Cuts off what is not of the hand; whether its beginning is reached, or where it would have to be.
    fn cut(&mut self, number: u64) -> bool {
        let later = |entry: &Entry| start(entry).is_some_and(|begun| begun > number);
        if let Some(first) = self.entries.iter().position(later) {
            self.changed |= self.entries[first..].iter().any(changes);
            self.next = start(&self.entries[first]);
            self.entries.truncate(first);
        }
        let Some(begun) = self.entries.iter().rposition(|entry| start(entry).is_some()) else {
            return false;
        };
        let is = start(&self.entries[begun]) == Some(number);
        self.entries.drain(..begun);
        if !is {
            self.entries.clear();
        } else if let Some(end) = self.entries.iter().position(ends) {
            self.changed |= self.entries[end..].iter().any(changes);
            self.entries.truncate(end + 1);
        }
        true
    }

    /// Whether a hand that ends here, and of which the beginning is not kept, is this one.
    fn is_end_of(&self, number: u64, end: &Entry, dealt: u64) -> bool {
        let settled = end.events.iter().find_map(|event| match event {
            Event::HandSettled(result) => Some(result.number),
            _ => None,
        });
        // Numbers are only skipped where history was lost, and there the beginning is kept or nothing is.
        settled
            .map_or_else(|| self.next.map_or(dealt, |next| next - 1) == number, |settled| settled == number)
    }

    /// Keeps the settings of a state in the middle of the hand.
    fn keep(&mut self, states: &[(u64, Vec<u8>)]) {
        let versions = self.entries.first().zip(self.entries.last()).map(|(a, b)| a.version..=b.version);
        let then =
            states.iter().find(|(version, _)| versions.as_ref().is_some_and(|of| of.contains(version)));
        self.config = then.and_then(|(_, state)| blind::read_table(state).ok()).map(|table| table.config);
    }
}

fn page_size() -> usize {
    usize::try_from(PAGE).unwrap_or(usize::MAX)
}

fn read(raw: &RawEntry) -> Result<Entry, StoreError> {
    let version = raw.version;
    blind::read_events(&raw.record).map_err(|error| StoreError::Corrupt(format!("commit {version}: {error}")))
}

/// The hand that begins with a commit.
fn start(entry: &Entry) -> Option<u64> {
    entry.events.iter().find_map(|event| match event {
        Event::HandStarted(start) => Some(start.number),
        _ => None,
    })
}

fn ends(entry: &Entry) -> bool {
    entry.events.iter().any(Event::ends_hand)
}

fn changes(entry: &Entry) -> bool {
    entry.events.iter().any(|event| matches!(event, Event::ConfigChanged { .. }))
}

/// Says that a hand is gone, and what is kept.
async fn not_kept(
    store: &dyn Inspect,
    key: &TableKey,
    number: u64,
    table: &Table,
) -> Result<Failure, StoreError> {
    let mut oldest = None;
    let mut kept = String::new();
    for raw in store.entries(key, 0, LOOKED_AT).await? {
        let entry = read(&raw)?;
        let at = oldest.get_or_insert((entry.version, entry.at));
        if let Some(first) = start(&entry) {
            let since = at.1.map(|at| format!(", of {}", words::time(at))).unwrap_or_default();
            kept = format!(
                " The oldest commit that is kept is version {}{since}; hands {first} to {} are kept.",
                at.0, table.hands
            );
            break;
        }
    }
    Ok(Failure::Failed(format!(
        "hand {number} of table {key} is not kept any more, or was never dealt.{kept}\n\nA table's last commits are kept: as many \
         as the servers' limits.history says, or ?history= in the URL of Redis. What the hand paid is in its settlement record: \
         SettlementService/ListSettlements, with the hand's number."
    )))
}
