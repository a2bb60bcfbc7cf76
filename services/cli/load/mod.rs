//! `fulcrum load`: plays many tables at an installation, measures it, and checks that nothing was lost.

pub(super) mod bot;
pub(super) mod calls;
mod cashier;
mod check;
mod choice;
pub(super) mod connections;
pub(super) mod games;
mod logbook;
pub(super) mod meter;
mod picture;
mod progress;
pub(super) mod report;
pub(super) mod room;
mod run;
mod stream;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use self::games::Games;
use super::access::Access;
use super::failure::Failure;
use super::output::Output;
use super::paint::Paint;
use super::share::Share;
use super::signals::Stop;

/// Plays many tables at an installation, measures it, and checks that nothing was lost.
///
/// Opens tables of its own, seats bots at them and plays. At the end the last hands are played, everybody is paid out,
/// and each table's whole log is held against what was acknowledged to the bots and what their own streams told them.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct LoadArgs {
    /// Where the servers are; several times for several servers. A balancer in front of many is one address.
    #[arg(
        long,
        env = "FULCRUM_ADDRESS",
        default_value = "http://127.0.0.1:50051",
        value_name = "URL",
        value_delimiter = ','
    )]
    address: Vec<String>,
    #[command(flatten)]
    access: Access,
    /// How many tables.
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = at_least_one)]
    tables: usize,
    /// How many bots at each table.
    #[arg(long, default_value_t = 6, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10))]
    seats: u32,
    /// How long to play.
    #[arg(long, default_value = "60s", value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Duration,
    /// Ends the playing also after so many hands, over all tables.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    hands: Option<u64>,
    /// How long a bot thinks before each decision, on average: from half of it to half as much again.
    #[arg(long, default_value = "200ms", value_name = "TIME", value_parser = humantime::parse_duration)]
    think: Duration,
    /// How many connections, over all addresses. Calls go round robin over them.
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = at_least_one)]
    connections: usize,
    /// Which games are played.
    #[arg(long, value_enum, default_value_t = Games::Mix)]
    games: Games,
    /// The share of decisions that bots leave to the clock.
    #[arg(long, default_value = "0.5%", value_name = "SHARE")]
    absent: Share,
    /// The share of bets that bots fold to without further ado, so that hands are short.
    #[arg(long, default_value = "0%", value_name = "SHARE")]
    fold: Share,
    /// The pause between two hands of a table.
    #[arg(long, default_value = "500ms", value_name = "TIME", value_parser = humantime::parse_duration)]
    between_hands: Duration,
    /// The action clock and the pivot clock of the tables; the time bank is half as long.
    #[arg(long, default_value = "2s", value_name = "TIME", value_parser = humantime::parse_duration)]
    action_clock: Duration,
    /// How long the last hands may take, when no new ones begin.
    #[arg(long, default_value = "120s", value_name = "TIME", value_parser = humantime::parse_duration)]
    last_hands: Duration,
    /// The operator's wallet pays, and is paid: no transaction is named.
    #[arg(long, help_heading = "Money")]
    wallet: bool,
    /// The share of hands after which a bot stands up, to sit down again with a new buy-in; after as many he adds chips.
    #[arg(long, default_value = "0%", value_name = "SHARE", help_heading = "Money")]
    churn: Share,
    /// Drives the bots' decisions, and nothing else. Default: another one each time.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Writes the report to this file as one JSON object.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<PathBuf>,
    /// Writes a JSON line to this file each 100 ms: the time, decisions acknowledged, calls and streams that failed, hands
    /// that ended, and how long each decision and each buy-in took, in µs.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    timeline: Option<PathBuf>,
    /// Measures only.
    #[arg(long, help_heading = "Output")]
    no_check: bool,
}

const EXAMPLES: &str = "\
Examples:
  fulcrum load --duration 20s
      Twenty tables on the server of this machine, six bots at each.
  fulcrum load --address http://10.0.0.7:50051 --token \"$TOKEN\" --tables 200 --duration 5m --json load.json
      1,200 bots through a balancer, with a report for programs.
  fulcrum load --address http://10.0.0.7:50051 --address http://10.0.0.8:50051 --connections 16 --absent 5%
      Two servers that share their tables: consecutive calls of a bot go to different ones. Every twentieth
      decision is left to the clock.
  fulcrum load --think 0ms --absent 0% --no-check
      As fast as the servers answer.
  fulcrum load --token \"$TOKEN\" --wallet --churn 5% --hands 10000 --duration 1h
      Ten thousand hands of an operator with a wallet, while players come and go.

What is checked, with nothing but the contract's messages:
  - The sequences of each table's log have no gaps, and the log read at the end is the one that was told
    meanwhile.
  - Each decision, pick, buy-in and payout that was acknowledged is in the log once, where the answer said
    and as it said; what was refused is not there. What is lost counts, and once more where the log itself
    does not tell that history was lost there. A call without an answer is asked again, and counts as
    nothing if nobody knows.
  - Chips: what was brought is on the table, paid out or raked, after every hand, and each hand pays what
    was put in.
  - Each hand and movement has one settlement record, with the amounts of the log.
  - Each hand that began ended. No clock was applied before its time; how late they were is measured.
  - Each bot's own stream told it what everybody was told, and nobody else's cards.

The log of each table is followed while it is played. Give the servers a --history that outlasts their
outages (in Redis: ?history= in the URL), else what is trimmed counts as a gap; a history longer than the
run lets it be read again from its beginning.

Calls that fail with UNAVAILABLE, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED or a broken connection are repeated
at the next connection until they are answered, for two minutes at most. What a wallet declines or does not
confirm is asked anew a moment later. Only --duration, --hands or Ctrl-C end the playing; a second Ctrl-C ends
all at once.

Exit codes: 0 all is right, 1 the check failed or could not be made (the tables then stay open, for a look),
2 bad usage.";

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("{text:?} is no number")),
    }
}

/// Runs the command.
///
/// # Errors
/// [`Failure`]
pub async fn run(args: LoadArgs) -> Result<(), Failure> {
    let mut stop = Stop::listen()?;
    let report = run::run(&args, &mut stop).await?;
    if let Some(path) = &args.json {
        let written = serde_json::to_vec(&report).map_err(|error| error.to_string()).and_then(|mut bytes| {
            bytes.push(b'\n');
            std::fs::write(path, bytes).map_err(|error| error.to_string())
        });
        written.map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))?;
    }
    Output::plain().print(&report.page(Paint::for_stdout()))?;
    if report.clean() { Ok(()) } else { Err(Failure::Failed(report.complaint())) }
}
