//! `fulcrum operator books`: the accounts, for people and programs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::booking::Account;
use super::books::{Books, Fault};
use crate::cli::failure::Failure;
use crate::cli::money::Currency;
use crate::cli::output::Output;

/// Prints the accounts of an operator that is stopped: what each player had, was debited and credited, and has.
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
    /// Every balance is the opening less debits plus credits plus what was cancelled.
    balanced: bool,
}

#[derive(Serialize)]
struct Row {
    player: String,
    currency: String,
    #[serde(flatten)]
    account: Account,
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
        let mut rows = BTreeMap::new();
        for (player, currency, account) in books.accounts()? {
            rows.insert((player, currency), account);
        }
        let balanced = rows.values().all(Account::adds_up);
        let row = |((player, currency), account)| Row { player, currency, account };
        let transactions = books.transactions()?;
        Ok(Report { accounts: rows.into_iter().map(row).collect(), transactions, balanced })
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let width =
            self.accounts.iter().map(|row| row.player.chars().count()).max().unwrap_or_default().max(6);
        // A String takes everything.
        let _ = writeln!(
            text,
            "{:<width$}  cur  {:>14} {:>14} {:>14} {:>14} {:>14} {:>8}",
            "player", "opening", "debited", "credited", "cancelled", "balance", "moves"
        );
        for Row { player, currency, account } in &self.accounts {
            let money = Currency::new(currency);
            let sum = |sum: u64| {
                i64::try_from(sum).map_or_else(|_| format!("{sum} minor"), |sum| money.amount(sum))
            };
            let _ = writeln!(
                text,
                "{player:<width$}  {currency:<3}  {:>14} {:>14} {:>14} {:>14} {:>14} {:>8}",
                money.amount(account.opening),
                sum(account.debited),
                sum(account.credited),
                sum(account.cancelled),
                money.amount(account.balance),
                account.transactions
            );
        }
        let _ = writeln!(text, "{} accounts, {} transactions", self.accounts.len(), self.transactions);
        text
    }
}
