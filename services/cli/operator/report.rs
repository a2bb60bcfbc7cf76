//! `fulcrum operator books`: the accounts, for people and programs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::booking::Account;
use super::books::{Books, Fault};
use super::settled::{Settled, Sums};
use crate::cli::failure::Failure;
use crate::cli::money::Currency;
use crate::cli::output::Output;

/// Prints the accounts of an operator that is stopped: what each player had, was debited and credited, and has; and what
/// the settlement records say that he brought to tables, took from them, won or lost, and paid as rake.
///
/// Exit code 0: every balance is what its movements add up to; 1: one is not, or the file cannot be read.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct BooksArgs {
    /// The file of the books.
    #[arg(long, default_value = "operator.redb", value_name = "FILE")]
    file: PathBuf,
    /// As JSON, for programs: amounts in minor units.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fulcrum operator books --file operator.redb
      A line for each player and currency.
  fulcrum operator books --json | jq '.accounts[] | {player, balance}'
      For programs: amounts in minor units.";

/// The whole report. Amounts in minor units.
#[derive(Serialize)]
struct Report {
    /// By player, then currency.
    accounts: Vec<Row>,
    transactions: u64,
    /// How many settlement records there are.
    settlements: u64,
    /// How many of them count for nothing, since the service lost them (rules 10.2).
    reversed: u64,
    /// How often the service said that records were missing.
    gaps: u64,
    /// Every balance is the opening less debits plus credits plus what was cancelled.
    balanced: bool,
}

#[derive(Serialize)]
struct Row {
    player: String,
    currency: String,
    /// All nothing of a player whom only settlement records name.
    #[serde(flatten)]
    account: Account,
    settled: Settled,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`]; also if a balance does not add up.
pub async fn run(args: BooksArgs) -> Result<(), Failure> {
    let file = args.file;
    let read = tokio::task::spawn_blocking(move || {
        let report = Report::of(&Books::look(&file)?);
        report.map_err(|fault| Failure::Failed(fault.to_string()))
    });
    let read =
        read.await.map_err(|error| Failure::Failed(format!("reading the books broke down: {error}")))?;
    let report = read?;
    let text = if args.json {
        let json = serde_json::to_string_pretty(&report);
        json.map_err(|error| Failure::Failed(format!("cannot write JSON: {error}")))? + "\n"
    } else {
        report.text()
    };
    Output::plain().print(&text)?;
    if report.balanced {
        Ok(())
    } else {
        Err(Failure::Failed("a balance is not what its movements add up to".to_owned()))
    }
}

impl Report {
    fn of(books: &Books) -> Result<Report, Fault> {
        let sums = Sums::of(books)?;
        let mut rows = BTreeMap::new();
        for (key, settled) in sums.players {
            rows.insert(key, (Account::default(), settled));
        }
        for (player, currency, account) in books.accounts()? {
            rows.entry((player, currency)).or_default().0 = account;
        }
        let balanced = rows.values().all(|(account, _)| account.adds_up());
        let row = |((player, currency), (account, settled))| Row { player, currency, account, settled };
        Ok(Report {
            accounts: rows.into_iter().map(row).collect(),
            transactions: books.transactions()?,
            settlements: sums.records,
            reversed: sums.reversed,
            gaps: books.gaps()?,
            balanced,
        })
    }

    fn text(&self) -> String {
        let names = self.accounts.iter().map(|row| row.player.chars().count());
        let width = names.max().unwrap_or_default().max("player".len());
        let mut text = String::new();
        let heads = ["opening", "debited", "credited", "cancelled", "balance", "moves"];
        head(&mut text, width, &heads);
        for Row { player, currency, account, .. } in &self.accounts {
            let Account { balance, opening, debited, credited, cancelled, transactions } = *account;
            let sums = [opening.into(), debited.into(), credited.into(), cancelled.into(), balance.into()];
            line(&mut text, width, player, currency, &sums, transactions);
        }
        if self.settlements > 0 {
            text.push('\n');
            head(&mut text, width, &["bought in", "paid out", "net", "rake", "hands"]);
            for Row { player, currency, settled, .. } in &self.accounts {
                let sums = [settled.bought_in, settled.paid_out, settled.net, settled.rake];
                line(&mut text, width, player, currency, &sums, settled.hands);
            }
        }
        let (accounts, transactions) = (self.accounts.len(), self.transactions);
        let (settlements, reversed) = (self.settlements, self.reversed);
        text.push_str(&format!(
            "\n{accounts} accounts, {transactions} transactions, {settlements} settlement records ({reversed} reversed)\n"
        ));
        if self.gaps > 0 {
            text.push_str(&format!(
                "records were missing {} times: the sums of settlements are too small\n",
                self.gaps
            ));
        }
        text
    }
}

/// The names of columns.
fn head(text: &mut String, width: usize, columns: &[&str]) {
    text.push_str(&format!("{:<width$}  cur", "player"));
    columns.iter().for_each(|column| text.push_str(&format!(" {column:>14}")));
    text.push('\n');
}

/// Amounts of minor units, and a count.
fn line(text: &mut String, width: usize, player: &str, currency: &str, sums: &[i128], count: u64) {
    let money = Currency::new(currency);
    text.push_str(&format!("{player:<width$}  {currency:<3}"));
    for sum in sums {
        let sum = i64::try_from(*sum).map_or_else(|_| format!("{sum} minor"), |sum| money.amount(sum));
        text.push_str(&format!(" {sum:>14}"));
    }
    text.push_str(&format!(" {count:>14}\n"));
}
