//! Every record that was ever written still loads. The files are told about in `tests/golden/README.md`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use fulcrum::store::codec::FORMAT;

use crate::fixtures::{self, codec, key, token};

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
    let request = codec.write_request(&key(1).operator, &fixtures::request()).unwrap();
    records.insert("request.bin".to_owned(), request);
    for (name, event) in fixtures::events() {
        let entry = codec.write_entry(&key(1), Some(token(73)), token(74), 42, &[event]).unwrap();
        records.insert(format!("event-{name}.bin"), entry);
    }
    for (name, settlement) in fixtures::settlements() {
        records.insert(format!("settlement-{name}.bin"), codec.write_settlement(&settlement));
    }
    records
}

/// Whether a record is what the fixture of its name says.
fn check(name: &str, bytes: &[u8]) {
    let codec = codec();
    let stem = name.strip_suffix(".bin").unwrap_or(name);
    if let Some(event) = stem.strip_prefix("event-") {
        let expected = fixtures::events().into_iter().find(|(other, _)| *other == event).expect(name).1;
        let (entry, previous) = codec.read_entry(&key(1), bytes).expect(name);
        assert!(*entry.events == [expected], "{name}: {:?}", entry.events);
        assert_eq!((entry.token, previous), (token(74), Some(token(73))), "{name}");
    } else if let Some(body) = stem.strip_prefix("settlement-") {
        let expected = fixtures::settlements().into_iter().find(|(other, _)| *other == body).expect(name).1;
        assert_eq!(codec.read_settlement(&key(1).operator, bytes).expect(name), expected, "{name}");
    } else if stem == "table" {
        assert!(codec.read_table(&key(1), bytes).expect(name) == fixtures::table(), "{name}");
    } else if stem == "request" {
        let expected = fixtures::request();
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
            check(name, &fs::read(folder.join(name)).unwrap());
        }
        if format == FORMAT {
            for name in records().keys() {
                assert!(names.contains(name), "{name} is missing: write it as the README there says");
            }
        }
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
