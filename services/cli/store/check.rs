//! `fulcrum store check`: everything that is stored, looked at.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use futures_util::{StreamExt, TryStreamExt, stream};
use tables::{OperatorId, StoreError, TableId, TableKey};

use super::{Where, cannot_read};
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::store::Codec;
use crate::store::inspect::{Finding, Inspect, What, check_keys, check_table};

/// So many tables are named at a time.
const PAGE: usize = 256;
/// So many findings are listed; the others are counted.
const LISTED: usize = 1000;

/// Reads every table of every operator and checks that what is stored fits together: the state's invariants and its
/// token, the calendar, the chain of commits, the events folded into states, the settlements.
///
/// Nothing is changed. Exit code 0: everything fits; 1: something does not.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct CheckArgs {
    #[command(flatten)]
    at: Where,
    /// The keys that seal the cards, as the servers have them; or the variable FULCRUM_CARD_KEY. Beside a file they are
    /// found.
    #[arg(long, env = "FULCRUM_KEY_FILE", value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Only this operator's tables.
    #[arg(long, value_name = "NAME", value_parser = operator)]
    operator: Option<OperatorId>,
    /// How many tables are checked at once. More is faster, and more load beside running servers.
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    at_once: u16,
}

const EXAMPLES: &str = "\
Examples:
  fulcrum store check --redis redis://127.0.0.1:6379 --key-file fulcrum.keys
      Everything in a running installation.
  fulcrum store check --store fulcrum.redb
      The file of a server that is stopped, every byte of it.";

fn operator(text: &str) -> Result<OperatorId, String> {
    OperatorId::new(text).ok_or_else(|| "no operator can have this name".to_owned())
}

/// What was found so far.
#[derive(Default)]
struct Findings {
    tables: u64,
    listed: Vec<(TableKey, Finding)>,
    /// All of them, listed or not.
    count: usize,
    kinds: BTreeSet<What>,
    concerned: u64,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Failed`] also if something does not fit.
pub async fn run(args: CheckArgs) -> Result<(), Failure> {
    // A key that is not there is to be told before the whole file is read.
    let keys = Arc::new(args.at.keys(args.key_file.as_deref())?);
    let opened = args.at.open(true).await?;
    let store = &*opened.store;
    let failed = |error| cannot_read("the store cannot be read", &error);
    check_keys(store, &keys).await.map_err(failed)?;
    let codec = Codec::new(keys);
    let operators = match args.operator {
        Some(operator) => vec![operator],
        None => store.operators().await.map_err(failed)?,
    };
    let mut total = 0;
    for operator in &operators {
        total += store.count(operator).await.map_err(failed)?;
    }
    let output = Output::with_bar(total, "tables");
    let mut findings = Findings::default();
    for operator in &operators {
        let checked =
            check_operator(store, &codec, operator, args.at_once.into(), &output, &mut findings).await;
        checked.map_err(failed)?;
    }
    output.finish();
    findings.listed.sort_by(|(a, one), (b, other)| (a, one.what).cmp(&(b, other.what)));
    let format = store.format().await.map_err(failed)?;
    output.print(&findings.text(operators.len(), format, &opened.name))?;
    match findings.count {
        0 => Ok(()),
        1 => Err(Failure::Failed("1 thing does not fit".to_owned())),
        count => {
            let tables = many(findings.concerned, "table");
            Err(Failure::Failed(format!("{count} things do not fit, at {tables}")))
        }
    }
}

fn many(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The operator's tables, a page of names at a time and a few tables at once.
async fn check_operator(
    store: &dyn Inspect,
    codec: &Codec,
    operator: &OperatorId,
    at_once: usize,
    output: &Output,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let mut after: Option<TableId> = None;
    loop {
        let page = store.tables(operator, after, PAGE).await?;
        let Some(last) = page.last().copied() else {
            return Ok(());
        };
        let checks = page.into_iter().map(|table| {
            let key = TableKey { operator: operator.clone(), table };
            async move {
                let found = check_table(store, codec, &key).await?;
                Ok::<_, StoreError>((key, found))
            }
        });
        let mut checked = stream::iter(checks).buffer_unordered(at_once);
        while let Some((key, found)) = checked.try_next().await? {
            output.count();
            findings.add(&key, found);
        }
        after = Some(last);
    }
}

impl Findings {
    fn add(&mut self, key: &TableKey, found: Vec<Finding>) {
        self.tables += 1;
        self.concerned += u64::from(!found.is_empty());
        self.count += found.len();
        for finding in found {
            self.kinds.insert(finding.what);
            if self.listed.len() < LISTED {
                self.listed.push((key.clone(), finding));
            }
        }
    }

    fn text(&self, operators: usize, format: u32, store: &str) -> String {
        let (tables, operators) = (many(self.tables, "table"), many(operators as u64, "operator"));
        let mut text =
            format!("{store}: {tables} of {operators} checked; records are written in format {format}.\n");
        if self.count == 0 {
            return text + "Everything fits.\n";
        }
        let width = self.listed.iter().map(|(key, _)| key.to_string().len()).max().unwrap_or_default();
        // A String takes everything.
        let _ = writeln!(text, "\n{:<width$}  {:<10}  finding", "table", "what");
        for (key, Finding { what, detail }) in &self.listed {
            let _ = writeln!(text, "{:<width$}  {:<10}  {detail}", key.to_string(), what.name());
        }
        if self.count > self.listed.len() {
            let _ = writeln!(text, "and {} more", self.count - self.listed.len());
        }
        text.push_str("\nWhat to do:\n");
        for what in &self.kinds {
            let _ = writeln!(text, "  {:<10}  {}.", what.name(), what.advice());
        }
        text
    }
}
