//! Every recorded hand, evaluation, showdown and pivot, replayed through the rules without a difference.
//!
//! `cargo test --release --workspace conformance` runs this and nothing else: no other test may have the word in its name.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use conformance::files::{self, Files};
use conformance::record::Record;

/// How many differences of a file are shown.
const SHOWN: usize = 5;

#[test]
fn conformance_of_every_recorded_file() -> io::Result<()> {
    let found = Files::find()?;
    if found.only_sample {
        say("no recorded hands in CONFORMANCE_DIR: only the sample in tests/data");
    }
    assert!(!found.paths.is_empty(), "not even the sample is there");
    let mut failed = Vec::new();
    for path in &found.paths {
        let replay = Replay::of(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        say(&format!("{name}: {replay}"));
        if replay.wrong > 0 || replay.compared.is_empty() {
            failed.push(name.into_owned());
        }
    }
    assert!(failed.is_empty(), "not as recorded: {}", failed.join(", "));
    Ok(())
}

/// Straight to the handle: what `println!` writes is swallowed when a test succeeds, and these lines are the evidence.
fn say(line: &str) {
    // A closed stderr takes nothing away from the test.
    let _ = writeln!(io::stderr(), "{line}");
}

/// The replay of one file.
#[derive(Default)]
struct Replay {
    /// How many records of each kind were compared.
    compared: BTreeMap<&'static str, usize>,
    /// How many of them are compared in part only, by reason.
    exempted: BTreeMap<&'static str, usize>,
    /// How many differ or could not be read.
    wrong: usize,
    /// The first of those.
    shown: Vec<String>,
}

impl Replay {
    fn of(path: &Path) -> io::Result<Replay> {
        let mut replay = Replay::default();
        for (number, line) in files::lines(path)? {
            replay.line(number, &line?);
        }
        Ok(replay)
    }

    fn line(&mut self, number: usize, line: &str) {
        let record = match Record::parse(line) {
            Ok(record) => record,
            Err(reason) => return self.wrong(number, line, &[reason]),
        };
        let differences = record.check();
        *self.compared.entry(record.kind()).or_default() += 1;
        for exemption in record.exemptions() {
            *self.exempted.entry(exemption).or_default() += 1;
        }
        if !differences.0.is_empty() {
            let texts: Vec<String> = differences.0.iter().map(ToString::to_string).collect();
            self.wrong(number, line, &texts);
        }
    }

    fn wrong(&mut self, number: usize, line: &str, reasons: &[String]) {
        self.wrong += 1;
        if self.shown.len() < SHOWN {
            let id = id_of(line).unwrap_or_default();
            self.shown.push(format!("line {number} {id}: {}", reasons.join("; ")));
        }
    }
}

/// The `id` of a record that has one.
fn id_of(line: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    Some(value.get("id")?.as_str()?.to_owned())
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> =
            self.compared.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        match counts.is_empty() {
            true => write!(f, "nothing compared")?,
            false => write!(f, "{} compared", counts.join(", "))?,
        }
        for (reason, count) in &self.exempted {
            write!(f, "; {count}: {reason}")?;
        }
        if self.wrong > 0 {
            write!(f, ", {} not as recorded:", self.wrong)?;
        }
        for text in &self.shown {
            write!(f, "\n  {text}")?;
        }
        Ok(())
    }
}
