//! What only the embedded store promises: it outlives its process, notices how long that was away, and says plainly why
//! it cannot be opened.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulcrum::store::codec::FORMAT;
use fulcrum::store::embedded::FileInspector;
use fulcrum::store::inspect::Inspect;
use fulcrum::store::{EmbeddedSettings, EmbeddedStore, Keyring, OpenError};
use redb::{Database, ReadableTable, TableDefinition};
use rules::Millis;
use tables::time::{Clock, ManualClock};
use tables::{
    AccountStep, Books, Outage, Outcome, SettlementFilter, SettlementPosition, Store, StoreError, TableKey,
    Tally,
};
use tempfile::TempDir;

use crate::chain::{Chain, check_whole};
use crate::fixtures::{self, TEST_KEY, key, keys, operator};
use crate::play::Dice;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fulcrum.redb");
    (folder, path)
}

fn open(path: &Path) -> EmbeddedStore {
    EmbeddedStore::open(EmbeddedSettings::new(path, keys())).unwrap()
}

fn open_with(path: &Path, lines: &str) -> Result<EmbeddedStore, OpenError> {
    EmbeddedStore::open(EmbeddedSettings::new(path, Arc::new(Keyring::parse(lines).unwrap())))
}

fn refusal(result: Result<EmbeddedStore, OpenError>) -> OpenError {
    match result {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

async fn play(store: &EmbeddedStore, chain: &mut Chain, commits: usize) {
    for _ in 0..commits {
        let outcome = store.commit(chain.next()).await.unwrap();
        assert!(matches!(outcome, Outcome::Committed { .. }), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_list_of_settlements_looks_at_so_many() {
    let (_folder, path) = folder();
    crate::outbox::a_page_has_a_bound(&open(&path)).await;
}

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let (_folder, path) = folder();
    let mut chain = Chain::new(key(1), 5);
    let request = fixtures::request();
    {
        let store = open(&path);
        let mut opening = chain.next();
        opening.request = Some(request.clone());
        store.commit(opening).await.unwrap();
        play(&store, &mut chain, 300).await;
    }
    let store = open(&path);
    let tokens = check_whole(&store, &key(1)).await;
    assert_eq!(tokens.len(), 301);
    assert!(*store.load(&key(1)).await.unwrap().unwrap().table == *chain.stored.as_ref().unwrap().table);
    assert!(store.request(&key(1), &request.id).await.unwrap() == Some(request));
    play(&store, &mut chain, 20).await;
    check_whole(&store, &key(1)).await;
}

/// A version before this one noted hands without their ages: they are found, and count.
#[tokio::test]
async fn hands_that_were_noted_before_they_were_counted_are_told() {
    const AGES: TableDefinition<(&str, u64, u128, u64), ()> = TableDefinition::new("untold_ages");
    const COUNTS: TableDefinition<&str, u64> = TableDefinition::new("untold_counts");
    let (_folder, path) = folder();
    let opened = || {
        EmbeddedStore::open(EmbeddedSettings { notes: 3, ..EmbeddedSettings::new(&path, keys()) }).unwrap()
    };
    let note = async |store: &EmbeddedStore, number: u128| {
        let mut commit = Chain::new(key(number), 5).next();
        commit.untold = true;
        assert!(matches!(store.commit(commit).await, Ok(Outcome::Committed { .. })));
    };
    let noted = async |store: &EmbeddedStore| {
        let hands = store.untold().take(&key(1).operator, Millis::ZERO, 10).await.unwrap();
        hands.into_iter().map(|hand| hand.table).collect::<Vec<_>>()
    };
    {
        let store = opened();
        note(&store, 1).await;
        note(&store, 2).await;
    }
    let before = Database::create(&path).unwrap();
    let transaction = before.begin_write().unwrap();
    transaction.delete_table(AGES).unwrap();
    transaction.delete_table(COUNTS).unwrap();
    transaction.commit().unwrap();
    drop(before);
    let store = opened();
    assert_eq!(noted(&store).await, [key(1).table, key(2).table]);
    for number in 3..=4 {
        note(&store, number).await;
    }
    let left = noted(&store).await;
    assert_eq!((left.len(), left.contains(&key(4).table)), (3, true), "{left:?}");
    drop(store);
    assert_eq!(noted(&opened()).await.len(), 3);
}

/// Cursors, what was retired, backlog and accounts.
async fn books(store: &EmbeddedStore) -> String {
    let operator = &key(1).operator;
    let cursors = store.cursors(operator).await.unwrap();
    let retired = store.retired_until(operator).await.unwrap();
    let backlog = store.backlog(operator, cursors[0].1.position).await.unwrap();
    format!("{:?}", (cursors, retired, backlog, store.accounts(operator, None, 10).await.unwrap()))
}

#[tokio::test]
async fn what_is_kept_beside_the_tables_is_there_after_a_restart() {
    let (_folder, path) = folder();
    let (mut chain, operator) = (Chain::new(key(1), 5), key(1).operator);
    let before = {
        let store = open(&path);
        play(&store, &mut chain, 300).await;
        let mut commit = chain.next();
        let tally = Tally { wagered: u64::from(u32::MAX) + 1, hands: 3, ..Tally::default() };
        commit.accounts.push(AccountStep {
            player: rules::PlayerId::new("ann").unwrap(),
            currency: *b"EUR",
            tally,
        });
        store.commit(commit).await.unwrap();
        store.take_cursor(&operator, "ledger").await.unwrap();
        store.acknowledge(&operator, "ledger", SettlementPosition(3)).await.unwrap();
        assert_eq!(store.retire(&operator, Millis(u64::MAX), 3).await.unwrap(), 3);
        let all = store.settlements(&operator, &SettlementFilter::default(), None, 1000).await.unwrap();
        assert_eq!(all.records[0].0, SettlementPosition(3), "the first three are gone");
        books(&store).await
    };
    let store = open(&path);
    assert_eq!(books(&store).await, before);
    assert_eq!(store.take_cursor(&operator, "ledger").await.unwrap().unwrap().generation, 2);
    play(&store, &mut chain, 20).await;
}

#[tokio::test]
async fn silence_of_more_than_two_seconds_was_an_outage() {
    let (_folder, path) = folder();
    let clock = Arc::new(ManualClock::at(Millis(1_000_000)));
    let open = || {
        let clock = Arc::clone(&clock) as Arc<dyn Clock>;
        EmbeddedStore::open(EmbeddedSettings { clock, ..EmbeddedSettings::new(&path, keys()) }).unwrap()
    };
    let store = open();
    assert_eq!(store.outages().await.unwrap(), []);
    clock.advance(Millis(60_000));
    store.heartbeat(clock.now()).await.unwrap();
    let still = Outage { from: Millis(1_000_000), to: Millis(1_060_000) };
    assert_eq!(store.outages().await.unwrap(), [still], "the machine stood still, and woke up");
    drop(store);
    clock.advance(Millis(2000));
    let store = open();
    assert_eq!(store.outages().await.unwrap(), [still], "a quick restart");
    drop(store);
    clock.advance(Millis(2001));
    let first = Outage { from: Millis(1_062_000), to: Millis(1_064_001) };
    let store = open();
    assert_eq!(store.outages().await.unwrap(), [still, first], "since the heartbeat of the start before");
    drop(store);
    clock.advance(Millis(86_400_000));
    let second = Outage { from: first.to, to: Millis(first.to.0 + 86_400_000) };
    assert_eq!(open().outages().await.unwrap(), [still, first, second]);
    assert_eq!(open().outages().await.unwrap(), [still, first, second], "each once");
}

#[tokio::test]
async fn a_wrong_or_missing_key_is_refused_at_the_start() {
    let (_folder, path) = folder();
    let mut chain = Chain::new(key(1), 5);
    play(&open(&path), &mut chain, 50).await;
    let other = "other ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
    let missing = refusal(open_with(&path, other));
    assert!(matches!(&missing, OpenError::KeyMissing { key, .. } if key == "test"), "{missing}");
    assert!(missing.to_string().contains("add it"), "{missing}");
    let wrong = refusal(open_with(&path, &other.replace("other", "test")));
    assert!(matches!(&wrong, OpenError::WrongKey { key, .. } if key == "test"), "{wrong}");
    check_whole(&open(&path), &key(1)).await;
}

#[tokio::test]
async fn a_new_key_seals_and_the_old_one_goes_on_opening() {
    let (_folder, path) = folder();
    let mut chain = Chain::new(key(1), 5);
    play(&open(&path), &mut chain, 50).await;
    let new_key = "next ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
    let store = open_with(&path, &format!("{new_key}\n{TEST_KEY}")).unwrap();
    check_whole(&store, &key(1)).await;
    play(&store, &mut chain, 50).await;
    check_whole(&store, &key(1)).await;
    drop(store);
    let missing = refusal(open_with(&path, TEST_KEY));
    assert!(matches!(&missing, OpenError::KeyMissing { key, .. } if key == "next"), "{missing}");
}

#[test]
fn what_is_no_store_is_refused_and_left_alone() {
    let (folder, path) = folder();
    let text = "dear diary\n".repeat(1000);
    fs::write(&path, &text).unwrap();
    let error = refusal(open_with(&path, TEST_KEY));
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("restore it from a copy"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let error = refusal(open_with(&folder.path().join("nowhere").join("store"), TEST_KEY));
    assert!(error.to_string().contains("make the folder"), "{error}");
    let error = refusal(open_with(folder.path(), TEST_KEY));
    assert!(matches!(error, OpenError::File { .. }), "{error}");
}

#[test]
fn a_store_of_a_later_layout_is_refused() {
    let (_folder, path) = folder();
    drop(open(&path));
    for number in ["format", "layout"] {
        edit_meta(&path, |meta| {
            meta.insert(number, 9).unwrap();
        });
        let error = refusal(open_with(&path, TEST_KEY));
        assert!(matches!(error, OpenError::OtherVersion { .. }), "{error}");
        assert!(error.to_string().contains(&format!("{number} 9")), "{error}");
    }
}

fn edit_meta(path: &Path, edit: impl FnOnce(&mut redb::Table<'_, &'static str, u64>)) {
    let database = Database::open(path).unwrap();
    let transaction = database.begin_write().unwrap();
    let meta: TableDefinition<'static, &'static str, u64> = TableDefinition::new("meta");
    edit(&mut transaction.open_table(meta).unwrap());
    transaction.commit().unwrap();
}

/// A file goes on in the format that it has until somebody raises it: so that the version before can have it back.
#[tokio::test]
async fn a_file_keeps_its_format_until_it_is_raised() {
    let (_folder, path) = folder();
    let mut chain = Chain::new(key(1), 6);
    let inspect = |path: &Path| FileInspector::open(path, false).unwrap();
    drop(open(&path));
    assert_eq!(inspect(&path).format().await.unwrap(), FORMAT, "a new file has the newest");
    edit_meta(&path, |meta| {
        meta.remove("format").unwrap();
    });
    play(&open(&path), &mut chain, 10).await;
    {
        let file = inspect(&path);
        assert_eq!(file.format().await.unwrap(), 1, "serving does not raise it");
        assert_eq!(file.raise_format(FORMAT).await.unwrap(), 1);
        assert_eq!(file.raise_format(FORMAT).await.unwrap(), FORMAT);
        assert!(file.raise_format(1).await.is_err() && file.raise_format(FORMAT + 1).await.is_err());
    }
    let store = open(&path);
    play(&store, &mut chain, 20).await;
    check_whole(&store, &key(1)).await;
    let times = store.history(&key(1), 0, 100).await.unwrap().entries;
    let times: Vec<bool> = times.iter().map(|entry| entry.at.is_some()).collect();
    assert_eq!(times, [[false; 10].as_slice(), &[true; 20]].concat());
}

/// Whether the file opens and everything in it can be read.
async fn is_whole(path: &Path, last: &Chain) -> bool {
    let Ok(store) = EmbeddedStore::open(EmbeddedSettings::new(path, keys())) else {
        return false;
    };
    // What can be read is right: a changed byte is an error, never another state.
    if let Ok(Some(stored)) = store.load(&key(1)).await {
        assert!(*stored.table == *last.stored.as_ref().unwrap().table, "a damaged state was read");
    }
    store.history(&key(1), 0, usize::MAX).await.is_ok()
}

#[tokio::test]
async fn damage_is_found_and_never_read() {
    let (folder, path) = folder();
    let mut chain = Chain::new(key(1), 9);
    play(&open(&path), &mut chain, 120).await;
    let whole = fs::read(&path).unwrap();
    let copy = folder.path().join("copy.redb");
    let mut dice = Dice::new(3);
    let mut found = 0;
    for _ in 0..40 {
        let mut damaged = whole.clone();
        for _ in 0..200 {
            let at = dice.below(damaged.len() as u64) as usize;
            damaged[at] ^= 1 << dice.below(8);
        }
        fs::write(&copy, &damaged).unwrap();
        found += u32::from(!is_whole(&copy, &chain).await);
    }
    assert!(found >= 30, "of 40 damaged files only {found} were noticed");
    for part in [1, 2, 3, 5, 8] {
        fs::write(&copy, &whole[..whole.len() * part / 10]).unwrap();
        assert!(!is_whole(&copy, &chain).await, "cut to {part} tenths");
    }
    fs::write(&copy, &whole).unwrap();
    assert!(is_whole(&copy, &chain).await, "the whole file is whole");
}

#[tokio::test]
async fn operators_whose_names_begin_alike_do_not_meet() {
    let (_folder, path) = folder();
    let store = open(&path);
    for name in ["a", "a-b", "a0", "aa", "b"] {
        let mine = TableKey { operator: operator(name), ..key(1) };
        play(&store, &mut Chain::new(mine, 1), 30).await;
    }
    for name in ["a", "a-b", "a0", "aa", "b"] {
        let mine = TableKey { operator: operator(name), ..key(1) };
        let tables = store.tables(&operator(name), None, 10).await.unwrap();
        assert_eq!(tables.iter().map(|(key, _)| key).collect::<Vec<_>>(), [&mine]);
        check_whole(&store, &mine).await;
        let all = store.settlements(&operator(name), &Default::default(), None, 1000).await.unwrap().records;
        assert!(!all.is_empty() && all.iter().all(|(_, settlement)| settlement.key == mine));
    }
    assert!(store.tables(&operator("a-"), None, 10).await.unwrap().is_empty());
}

/// The others are listed, and so is it.
#[tokio::test]
async fn a_damaged_table_is_listed_as_what_cannot_be_read() {
    const TABLES: TableDefinition<(&str, u128), &[u8]> = TableDefinition::new("tables");
    let (_folder, path) = folder();
    {
        let store = open(&path);
        for number in 1..=3 {
            play(&store, &mut Chain::new(key(number), 5), 10).await;
        }
    }
    let file = Database::create(&path).unwrap();
    let transaction = file.begin_write().unwrap();
    {
        let mut tables = transaction.open_table(TABLES).unwrap();
        let at = (key(2).operator.as_str().to_owned(), key(2).table.0.as_u128());
        let mut row = tables.get((at.0.as_str(), at.1)).unwrap().unwrap().value().to_vec();
        row[40] ^= 0xff;
        tables.insert((at.0.as_str(), at.1), row.as_slice()).unwrap();
    }
    transaction.commit().unwrap();
    drop(file);
    let store = open(&path);
    let listed = store.tables(&key(1).operator, None, 10).await.unwrap();
    assert_eq!(listed.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>(), [key(1), key(2), key(3)]);
    let read: Vec<bool> = listed.iter().map(|(_, stored)| stored.is_ok()).collect();
    assert_eq!(read, [true, false, true]);
    assert!(matches!(&listed[1].1, Err(StoreError::Corrupt(_))), "{:?}", listed[1].1);
}

/// The disk holds no card that was dealt: neither in the clear nor after it was overwritten.
#[tokio::test]
async fn no_deck_lies_in_the_file() {
    let (_folder, path) = folder();
    let mut chain = Chain::new(key(1), 5);
    let store = open(&path);
    let mut decks = Vec::new();
    for _ in 0..200 {
        store.commit(chain.next()).await.unwrap();
        let hand = chain.game.table.hand.as_ref();
        decks.extend(hand.map(|hand| hand.deck.cards().map(|card| card.index())));
    }
    drop(store);
    let file = fs::read(&path).unwrap();
    decks.dedup();
    assert!(decks.len() > 3, "hands were played");
    for deck in decks {
        for cards in deck.chunks(6) {
            assert!(!file.windows(cards.len()).any(|window| window == cards), "cards of a deck in a row");
        }
    }
}
