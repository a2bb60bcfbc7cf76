//! The command line: `serve`, `health`, `demo`, `bot`, `load`, `capacity`, `operator`, `conformance`, `store` and
//! `trace`.
//!
//! What is absent, on purpose: no command fixes a deck or shows a card to anybody who may not see it. Bots and tellers
//! are clients like all others; they know what their stream tells them.

mod access;
mod asks;
mod bot;
mod capacity;
mod cards;
mod client;
mod conformance;
mod demo;
mod failure;
mod follow;
mod health;
mod load;
mod money;
mod node;
mod operator;
mod output;
mod pace;
mod page;
mod paint;
mod player;
mod room;
mod serve;
mod share;
mod sight;
mod signals;
mod store;
mod story;
mod strategy;
mod strength;
mod teller;
mod trace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use uuid::Uuid;

use crate::telemetry::{self, LogFormat};
use failure::Failure;

/// How many characters of help fit in a line.
const HELP_WIDTH: usize = 110;

/// Poker tables for casino operators, over gRPC.
///
/// Fulcrum hosts tables of Double Hold'em and Texas Hold'em. An operator's backend opens tables, seats players, sends
/// their actions, and reads what each hand paid.
#[derive(Parser, Debug)]
#[command(name = "fulcrum", version, max_term_width = HELP_WIDTH, after_long_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Serves tables over gRPC.
    Serve(Box<serve::ServeArgs>),
    /// Asks a running server for its health.
    Health(health::HealthArgs),
    /// Plays two tables with bots and tells each hand.
    Demo(demo::DemoArgs),
    /// Joins a table of a running server with a bot.
    Bot(bot::BotArgs),
    /// Plays many tables at an installation, measures it, and checks that nothing was lost.
    Load(Box<load::LoadArgs>),
    /// Measures what play costs on this machine, and says what so many tables need.
    Capacity(Box<capacity::CapacityArgs>),
    /// Runs an operator's backend: a wallet with accounts in a file.
    Operator(Box<operator::OperatorArgs>),
    /// Checks an operator's wallet against the contract, and says what to fix.
    Conformance(conformance::ConformanceArgs),
    /// Looks into a store: shows a table, checks everything, raises the format of records.
    Store(store::StoreArgs),
    /// Tells the course of a hand, out of a store and without a card.
    Trace(trace::TraceArgs),
}

const EXAMPLES: &str = "\
Examples:
  fulcrum demo --hands 20
      The quickest look: a server, two tables, six bots at each, twenty hands told.
  fulcrum serve
      A server on this machine, for development.
  fulcrum bot
      A bot that joins the only table of that server.
  fulcrum load --duration 20s
      Twenty tables of bots at that server, measured and checked.
  fulcrum capacity --tables 20000
      What that many tables need, reckoned from what is measured here.
  fulcrum operator --player ada=100000
      A wallet for that server to call, with an account in it.
  fulcrum conformance --wallet http://127.0.0.1:50061 --player ada
      Whether a wallet does what the contract says: that one, or your own.
  fulcrum store check --store fulcrum.redb
      Whether everything fits that a server left in its file.
  fulcrum trace --redis redis://127.0.0.1:6379 casino-1/0f6c2c1e-3f7c-5a53-9c57-0d7d0a6f7b11/42
      The course of a hand that somebody disputes: who did what when, and how it ended.

`fulcrum help serve` tells more, with examples; so does each command's --help. Exit codes: 0 all went well, 2 bad usage
or settings, 1 everything else.";

/// Runs the program: reads the command line, does what it says, and returns the exit code.
#[must_use]
pub fn main() -> ExitCode {
    // clap itself ends the program for --help and --version (0) and for bad usage (2).
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&Failure::Failed(format!("cannot start: {error}"))),
    };
    let done = runtime.block_on(run(cli.command));
    // What still runs belongs to nobody any more: bots of a demo that has ended.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure),
    }
}

async fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Serve(args) => serve::run(*args).await,
        Command::Health(args) => health::run(args).await,
        Command::Demo(args) => {
            quiet_log()?;
            demo::run(args).await
        }
        Command::Bot(args) => {
            quiet_log()?;
            bot::run(args).await
        }
        Command::Load(args) => {
            quiet_log()?;
            load::run(*args).await
        }
        Command::Capacity(args) => {
            quiet_log()?;
            capacity::run(*args).await
        }
        Command::Operator(args) => {
            quiet_log()?;
            operator::run(*args).await
        }
        Command::Conformance(args) => {
            quiet_log()?;
            conformance::run(args).await
        }
        Command::Store(args) => {
            quiet_log()?;
            store::run(args).await
        }
        Command::Trace(args) => {
            quiet_log()?;
            trace::run(args).await
        }
    }
}

/// What goes wrong. That a server asks nobody who he is goes without saying in a demonstration on this machine.
const QUIET: &str = "warn,fulcrum::grpc::identity::insecure=error";

/// The log of commands that are not the server: [`QUIET`], unless FULCRUM_LOG says otherwise.
fn quiet_log() -> Result<(), Failure> {
    let filter = std::env::var("FULCRUM_LOG").unwrap_or_else(|_| QUIET.to_owned());
    telemetry::start(LogFormat::Text, &filter, None)
        .map(drop)
        .map_err(|error| Failure::Usage(format!("FULCRUM_LOG={filter:?} cannot be read: {error}")))
}

fn report(failure: &Failure) -> ExitCode {
    if !matches!(failure, Failure::Unheard) {
        eprintln!("fulcrum: {failure}");
    }
    ExitCode::from(failure.code())
}

/// A seed for a bot's decisions where none is given. It has nothing to do with cards.
fn any_seed() -> u64 {
    Uuid::new_v4().as_u64_pair().0
}
