//! `fulcrum conformance`: checks an operator's own wallet against the contract.

mod cancels;
mod case;
mod checks;
mod debits;
mod others;
mod report;
mod wallet;

use std::path::{Path, PathBuf};

use clap::Args;
use tonic::{Code, Status};

use self::case::{Case, FLOAT, booked};
use self::checks::CHECKS;
use self::report::{Report, Row};
use self::wallet::{Wallet, words};
use super::failure::Failure;
use super::operator::tokens;
use super::output::Output;
use super::paint::Paint;

/// Checks an operator's wallet against the contract, and says what to fix.
///
/// The checks move the money of one player, who should be nobody's: they debit, credit and cancel, repeat and reorder, many
/// at once over several connections. At the end he has what he had.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct ConformanceArgs {
    /// Where the wallet is: http://host:port, or https://host:port.
    #[arg(long, value_name = "URL")]
    wallet: String,
    /// The first line of this file is the token that the wallet asks for.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The certificates of the authority that has signed the wallet's, PEM. Without it, for https://…: those that the world
    /// trusts.
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// A player whom the wallet knows, and who plays nowhere. He need not have money.
    #[arg(long, value_name = "NAME")]
    player: String,
    /// A currency in which he has an account, ISO 4217.
    #[arg(long, default_value = "EUR", value_name = "CODE")]
    currency: String,
    /// As JSON, for programs.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fulcrum operator --memory --player test=100000
  fulcrum conformance --wallet http://127.0.0.1:50061 --player test
      The operator that comes with this program passes.
  fulcrum conformance --wallet https://wallet.example:443 --player fulcrum-test --token-file wallet.token
      Your own one, with a player made for it.
  fulcrum conformance --wallet http://127.0.0.1:50061 --player test --json | jq '.checks[] | select(.passed | not)'
      What failed, for programs: name, sentence of the contract, what was seen, what to do.

The contract is proto/fulcrum/wallet/v1/operator_wallet_service.proto; `grpcurl … describe` shows it, comments and
all, at a running `fulcrum operator`. A call without a definite answer is repeated a few times before a check fails.
The wallet keeps what the checks have booked; all ids are new ones each time.

Exit codes: 0 all checks passed, 1 a check failed or could not be made, 2 bad usage.";

/// Runs the command.
///
/// # Errors
/// [`Failure`]; also if a check fails.
pub async fn run(args: ConformanceArgs) -> Result<(), Failure> {
    let tokens = args.token_file.as_deref().map(tokens::read).transpose()?;
    let token = tokens.as_ref().and_then(|tokens| tokens.first()).map(|token| token.as_str());
    let authority = args.ca_file.as_deref().map(read).transpose()?;
    let wallet = Wallet::new(&args.wallet, token, authority.as_deref())?;
    let case = Case { wallet: &wallet, player: &args.player, currency: &args.currency };
    let told = wallet.balance(&args.player, &args.currency).await;
    let (before, _) = told.map_err(|status| cannot_begin(&args, &status))?;
    let output = Output::with_bar(CHECKS.len() as u64, "checks");
    let mut checks = Vec::with_capacity(CHECKS.len());
    for check in CHECKS {
        let seen = match make_even(&case, before.max(FLOAT)).await {
            Ok(()) => (check.run)(&case).await,
            Err(why) => Err(format!("the check could not be made: {why}")),
        };
        checks.push(Row::new(check, seen));
        output.count();
    }
    // If that fails, the report shows the balance.
    let _ = make_even(&case, before).await;
    output.finish();
    let passed = checks.iter().filter(|check| check.passed()).count();
    let report = Report {
        wallet: wallet.address().to_owned(),
        player: args.player.clone(),
        currency: args.currency.clone(),
        passed,
        failed: checks.len() - passed,
        balance_before: before,
        balance_after: case.balance().await.ok(),
        checks,
    };
    tell(&report, args.json)
}

fn read(path: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path);
    text.map_err(|error| Failure::Usage(format!("{} cannot be read: {error}", path.display())))
}

fn tell(report: &Report, json: bool) -> Result<(), Failure> {
    let text = if json {
        let json = serde_json::to_string_pretty(report);
        json.map_err(|error| Failure::Failed(format!("cannot write JSON: {error}")))? + "\n"
    } else {
        report.page(Paint::for_stdout())
    };
    Output::plain().print(&text)?;
    if report.failed > 0 {
        return Err(Failure::Failed(format!("{} of {} checks failed", report.failed, report.checks.len())));
    }
    if report.balance_after != Some(report.balance_before) {
        return Err(Failure::Failed("all checks passed, but the player has not what he had".to_owned()));
    }
    Ok(())
}

/// Gives the player this balance, with a credit or a debit.
async fn make_even(case: &Case<'_>, wanted: i64) -> Result<(), String> {
    let found = case.balance().await?;
    let (more, less) = (wanted.saturating_sub(found), found.saturating_sub(wanted));
    if more > 0 {
        booked("a credit", &case.credit(&case.order(more)).await)
    } else if less > 0 {
        booked("a debit", &case.debit(&case.order(less)).await)
    } else {
        Ok(())
    }
}

/// The first call tells whether there is anything to check.
fn cannot_begin(args: &ConformanceArgs, status: &Status) -> Failure {
    let advice = match status.code() {
        Code::Unauthenticated => "Give the token that it asks for with --token-file.".to_owned(),
        Code::NotFound => format!(
            "Give a player whom it knows with --player, and a currency in which he has an account with --currency: it was \
             asked for {} in {}.",
            args.player, args.currency
        ),
        _ => "Is a wallet running there? --wallet says where to look.".to_owned(),
    };
    let words = words(&Err(status.clone()));
    Failure::Failed(format!("{} answered GetBalance with {words}\n\n{advice}", args.wallet))
}
