//! Which recorded hands are played, and why others are not.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use conformance::files::{self, Files};
use conformance::hand::{HandRecord, Variant};
use conformance::record::Record;
use conformance::setup::Setup;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A recorded hand and the table that it wants.
pub struct Hand {
    /// What happened.
    pub record: HandRecord,
    /// Table, players, deck.
    pub setup: Setup,
}

/// Hands that are played together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// For people.
    pub name: &'static str,
    source: &'static str,
    variant: Variant,
    /// So many of them.
    most: usize,
}

impl Kind {
    /// All hands of the paper's supplement.
    pub const PLURIBUS: Kind =
        Kind { name: "Pluribus", source: "pluribus", variant: Variant::NoLimit, most: 10_000 };
    /// Hands of the oracle, a kind for each limit.
    pub const ORACLE: [Kind; 3] = [
        Kind::oracle("oracle, no-limit", Variant::NoLimit),
        Kind::oracle("oracle, pot-limit", Variant::PotLimit),
        Kind::oracle("oracle, fixed limit", Variant::FixedLimit),
    ];

    const fn oracle(name: &'static str, variant: Variant) -> Kind {
        Kind { name, source: "oracle", variant, most: 5_000 }
    }
}

/// The hands of one kind.
#[derive(Default)]
pub struct Batch {
    /// Those that are played.
    pub hands: Vec<Arc<Hand>>,
    /// How many were passed over, by reason.
    pub skipped: BTreeMap<&'static str, usize>,
}

/// What has to be read of a line to know whether it is wanted.
#[derive(Deserialize)]
struct Head {
    source: Option<String>,
    variant: Option<Variant>,
    /// Another engine has it otherwise.
    pk: Option<IgnoredAny>,
}

/// The files with records.
pub struct Source {
    paths: Vec<PathBuf>,
    /// They are the sample of this repository.
    pub only_sample: bool,
}

impl Source {
    /// The folder of recorded hands, else the sample.
    ///
    /// # Errors
    /// If the folder has none and `CI=true`.
    pub fn find() -> io::Result<Source> {
        let Files { paths, only_sample } = Files::find()?;
        Ok(Source { paths, only_sample })
    }

    /// The hands of this kind. First those that engines are known to see differently.
    ///
    /// # Errors
    /// If a file cannot be read, or a line of this kind makes no sense.
    pub fn batch(&self, kind: Kind) -> io::Result<Batch> {
        let mut lines = Vec::new();
        for path in &self.paths {
            for (_, line) in files::lines(path)? {
                let line = line?;
                let head: Head = serde_json::from_str(&line)?;
                if head.source.as_deref() == Some(kind.source) && head.variant == Some(kind.variant) {
                    lines.push((head.pk.is_none(), line));
                }
            }
        }
        lines.sort_by_key(|(agreed, _)| *agreed);
        let mut batch = Batch::default();
        for (_, line) in lines {
            if batch.hands.len() == kind.most {
                break;
            }
            batch.add(&line)?;
        }
        Ok(batch)
    }
}

impl Batch {
    fn add(&mut self, line: &str) -> io::Result<()> {
        match Hand::read(line).map_err(io::Error::other)? {
            Ok(hand) => self.hands.push(Arc::new(hand)),
            Err(why) => *self.skipped.entry(why).or_default() += 1,
        }
        Ok(())
    }
}

impl Hand {
    /// Reads a line; inside, why no table can be brought to this hand by calls alone.
    ///
    /// # Errors
    /// If the line is no hand.
    pub fn read(line: &str) -> Result<Result<Hand, &'static str>, String> {
        let Record::Hand(record) = Record::parse(line)? else {
            return Err("a hand was expected".to_owned());
        };
        Ok(Hand::new(*record))
    }

    /// The hand, or why no table can be brought to it by calls alone.
    pub fn new(record: HandRecord) -> Result<Hand, &'static str> {
        let reasons = [
            (record.finishing_stacks.is_none(), "the record ends in the middle of the hand"),
            (record.straddles_without_chips(), "a straddle without chips (rules 2.6)"),
            (record.big_blind_is_first(), "heads-up the big blind acts first (rules 2.2)"),
            (record.small_blind_absent(), "the small blind's place is empty, which takes a hand before"),
            (record.holes.iter().any(Option::is_none), "cards that nobody has seen"),
        ];
        if let Some((_, why)) = reasons.into_iter().find(|(holds, _)| *holds) {
            return Err(why);
        }
        let mut setup = Setup::of(&record).map_err(|_| "stakes that no table has")?;
        // All hands that reach the showdown are to be compared, also those that could be mucked (rules 6.4).
        setup.config.show_all = true;
        Ok(Hand { record, setup })
    }
}
