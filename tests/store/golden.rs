//! Every record that was ever written still loads. The files are told about in `tests/golden/README.md`.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use fulcrum::store::codec::FORMAT;
use fulcrum::store::{EmbeddedSettings, EmbeddedStore};
use rules::{Millis, PlayerId};
use tables::stops::Author;
use tables::{ManualClock, Outage, Settlement, SettlementBody, SettlementFilter, Store};

use crate::chain::Chain;
use crate::events::events;
use crate::fixtures::{self, AT, codec, head, key, keys, token};
use crate::payments::table_with_payments;
use crate::stop_records::{a_stop, audit, scopes, stop};

/// Set to write the files of this format that are not there yet. Files that are there are never changed.
const WRITE: &str = "FULCRUM_WRITE_GOLDEN";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/store")
}

/// The records of this format by file name.
fn records() -> BTreeMap<String, Vec<u8>> {
    let codec = codec();
    let mut records = BTreeMap::new();
    records.insert("table.bin".to_owned(), codec.write_table(&key(1), &fixtures::table()).unwrap());
    let lost = codec.write_table(&key(1), &fixtures::table_that_lost_history()).unwrap();
    records.insert("table-lost.bin".to_owned(), lost);
    let payments = codec.write_table(&key(1), &table_with_payments()).unwrap();
    records.insert("table-payments.bin".to_owned(), payments);
    let request = codec.write_request(&key(1).operator, &fixtures::request()).unwrap();
    records.insert("request.bin".to_owned(), request);
    let declined = codec.write_request(&key(1).operator, &fixtures::declined_request()).unwrap();
    records.insert("request-declined.bin".to_owned(), declined);
    for (name, scope) in scopes() {
        let stop = stop(scope, Author::Operator(key(1).operator));
        records.insert(format!("stop-{name}.bin"), codec.write_stop(&stop).unwrap());
    }
    let entry = codec.write_stop_audit(&audit(&a_stop().put[0])).unwrap();
    records.insert("audit.bin".to_owned(), entry);
    for (name, event) in events() {
        let entry = codec.write_entry(&key(1), &head(Some(token(73)), token(74), 42), &[event]).unwrap();
        records.insert(format!("event-{name}.bin"), entry);
    }
    for (name, settlement) in fixtures::settlements() {
        records.insert(format!("settlement-{name}.bin"), codec.write_settlement(&settlement).unwrap());
    }
    records
}

/// Whether a record of this format is what the fixture of its name says.
fn check(format: u32, name: &str, bytes: &[u8]) {
    let codec = codec();
    let stem = name.strip_suffix(".bin").unwrap_or(name);
    if let Some(event) = stem.strip_prefix("event-") {
        let expected = events().into_iter().find(|(other, _)| *other == event).expect(name).1;
        let entry = codec.read_entry(&key(1), bytes).expect(name);
        assert!(*entry.events == [expected], "{name}: {:?}", entry.events);
        assert_eq!((entry.token, entry.previous), (token(74), Some(token(73))), "{name}");
        assert_eq!(entry.at, (format > 1).then_some(AT), "{name}");
    } else if let Some(body) = stem.strip_prefix("settlement-") {
        let expected = fixtures::settlements().into_iter().find(|(other, _)| *other == body).expect(name).1;
        assert_eq!(codec.read_settlement(&key(1).operator, bytes).expect(name), expected, "{name}");
    } else if let Some(scope) = stem.strip_prefix("stop-") {
        let scope = scopes().into_iter().find(|(other, _)| *other == scope).expect(name).1;
        let expected = stop(scope, Author::Operator(key(1).operator));
        assert_eq!(codec.read_stop(bytes).expect(name), expected, "{name}");
    } else if stem == "audit" {
        assert_eq!(codec.read_stop_audit(bytes).expect(name), audit(&a_stop().put[0]), "{name}");
    } else if stem == "table" {
        assert!(codec.read_table(&key(1), bytes).expect(name) == fixtures::table(), "{name}");
    } else if stem == "table-lost" {
        assert!(
            codec.read_table(&key(1), bytes).expect(name) == fixtures::table_that_lost_history(),
            "{name}"
        );
    } else if stem == "table-payments" {
        assert!(codec.read_table(&key(1), bytes).expect(name) == table_with_payments(), "{name}");
    } else if let "request" | "request-declined" = stem {
        let declined = stem == "request-declined";
        let expected = if declined { fixtures::declined_request() } else { fixtures::request() };
        let found = codec.read_request(&key(1).operator, &expected.id, bytes).expect(name);
        assert!(found == expected, "{name}");
    } else {
        panic!("{name} is no record that this test knows");
    }
}

#[test]
fn records_of_every_format_still_load() {
    for format in 1..=FORMAT {
        let folder = folder().join(format!("v{format}"));
        if format == FORMAT && env::var_os(WRITE).is_some() {
            write_missing(&folder);
        }
        let files = fs::read_dir(&folder).unwrap_or_else(|_| panic!("no golden files of format {format}"));
        let names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        for name in &names {
            check(format, name, &fs::read(folder.join(name)).unwrap());
        }
        if format == FORMAT {
            for name in records().keys() {
                assert!(names.contains(name), "{name} is missing: write it as the README there says");
            }
        }
    }
}

/// The layout of the file of the embedded store; see `services/store/embedded/schema.rs`.
const LAYOUT: u32 = 1;
/// So many commits are in a golden file.
const COMMITS: u64 = 150;

/// When the files were written, by the clock of the store.
const WRITTEN: Millis = Millis(1_790_000_000_000);
/// When they are read: a day later, so that no request record is over.
const READ: Millis = Millis(WRITTEN.0 + 86_400_000);

fn open_at(file: &Path, now: Millis) -> EmbeddedStore {
    let clock = Arc::new(ManualClock::at(now));
    EmbeddedStore::open(EmbeddedSettings { clock, ..EmbeddedSettings::new(file, keys()) }).unwrap()
}

async fn write_file(path: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fulcrum.redb");
    let store = open_at(&file, WRITTEN);
    let mut chain = Chain::new(key(1), 1);
    let mut opening = chain.next();
    opening.request = Some(fixtures::request());
    store.commit(opening).await.unwrap();
    for _ in 1..COMMITS {
        store.commit(chain.next()).await.unwrap();
    }
    drop(store);
    let mut packed = GzEncoder::new(fs::File::create(path).unwrap(), Compression::best());
    packed.write_all(&fs::read(file).unwrap()).unwrap();
    packed.finish().unwrap();
}

#[tokio::test]
async fn files_of_every_layout_still_open() {
    for layout in 1..=LAYOUT {
        let packed = folder().join(format!("layout{layout}.redb.gz"));
        if layout == LAYOUT && env::var_os(WRITE).is_some() && !packed.exists() {
            write_file(&packed).await;
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fulcrum.redb");
        let mut bytes = Vec::new();
        let packed = fs::File::open(&packed).unwrap_or_else(|_| panic!("no golden file of layout {layout}"));
        GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
        fs::write(&file, bytes).unwrap();
        check_file(&open_at(&file, READ)).await;
    }
}

/// Everything in a golden file is found by every way there is to it.
async fn check_file(store: &EmbeddedStore) {
    let (key, operator) = (key(1), key(1).operator);
    let stored = store.load(&key).await.unwrap().expect("the table");
    assert_eq!((stored.token.version, stored.table.version), (COMMITS, COMMITS));
    let listed = store.tables(&operator, None, 10).await.unwrap();
    assert!(listed.len() == 1 && listed[0].0 == key && listed[0].1.as_ref().unwrap().token == stored.token);
    let history = store.history(&key, 0, usize::MAX).await.unwrap();
    assert_eq!((history.oldest, history.entries.len() as u64), (1, COMMITS));
    assert_eq!(history.entries.last().map(|entry| entry.token), Some(stored.token));
    assert_eq!(store.checkpoint(&key, COMMITS).await.unwrap().expect("a checkpoint").version, 128);
    let due = store.due(Millis(u64::MAX), 10).await.unwrap();
    assert_eq!(due.first().map(|(_, at)| *at), store.next_due().await.unwrap());
    let request = fixtures::request();
    assert!(store.request(&key, &request.id).await.unwrap() == Some(request));
    let all =
        store.settlements(&operator, &SettlementFilter::default(), None, usize::MAX).await.unwrap().records;
    assert!(all.len() > 5, "{} settlements", all.len());
    for (position, settlement) in &all {
        let by_id = store.settlement(&operator, &settlement.id).await.unwrap();
        assert_eq!(by_id.as_ref(), Some(settlement));
        let player = player_of(settlement);
        for filter in [
            SettlementFilter { table: Some(key.table), ..SettlementFilter::default() },
            SettlementFilter {
                table: Some(key.table),
                hand: settlement.hand(),
                ..SettlementFilter::default()
            },
            SettlementFilter { player: Some(player), ..SettlementFilter::default() },
        ] {
            let found = store.settlements(&operator, &filter, None, usize::MAX).await.unwrap().records;
            assert!(found.iter().any(|(at, one)| at == position && one == settlement), "{filter:?}");
        }
    }
    assert_eq!(store.outages().await.unwrap(), [Outage { from: WRITTEN, to: READ }]);
}

fn player_of(settlement: &Settlement) -> PlayerId {
    match &settlement.body {
        SettlementBody::Hand(result) => result.players[0].player.clone(),
        SettlementBody::Void { refunds, .. } => refunds[0].1.clone(),
        SettlementBody::Movement { player, .. } => player.clone(),
        SettlementBody::Transaction { payment, .. } => payment.player.clone(),
        SettlementBody::Reversal { .. } => unreachable!("nothing is lost here"),
    }
}

fn write_missing(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for (name, bytes) in records() {
        let path = folder.join(name);
        if !path.exists() {
            fs::write(path, bytes).unwrap();
        }
    }
}
