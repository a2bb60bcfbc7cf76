//! `fulcrum store migrate`: the last step of a roll-out.

use std::io::{IsTerminal, Write, stdin};

use clap::Args;
use rules::Millis;

use super::{Where, cannot_read};
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::store::codec::FORMAT;
use crate::store::inspect::Process;

/// Who has signed in so many ms may be alive; servers sign each second.
const LATELY: Millis = Millis(10_000);

/// Raises the format that the servers write their records in.
///
/// A new version of the service goes on writing what the old one reads, so that both serve the same tables during a
/// roll-out. What came with the new format can be stored only after it is raised. There is no way back: an older server
/// answers UNAVAILABLE from then on.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct MigrateArgs {
    #[command(flatten)]
    at: Where,
    /// The format. Default: the newest that this version knows.
    #[arg(long, value_name = "FORMAT")]
    to: Option<u32>,
    /// Does not ask.
    #[arg(long)]
    yes: bool,
    /// Also if a server is alive that does not know the format. It will answer UNAVAILABLE for every table that a newer
    /// one has touched.
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  fulcrum store migrate --redis redis://127.0.0.1:6379
      Shows the present format and who is alive, asks, and raises it. Run again it changes nothing.
  fulcrum store migrate --store fulcrum.redb --yes
      The same for the file of a server that is stopped.";

/// Runs the command.
///
/// # Errors
/// [`Failure`]
pub async fn run(args: MigrateArgs) -> Result<(), Failure> {
    let opened = args.at.open(false).await?;
    let store = &*opened.store;
    let failed = |error| cannot_read("the format cannot be raised", &error);
    let (present, to) = (store.format().await.map_err(failed)?, args.to.unwrap_or(FORMAT));
    let alive = store.processes(LATELY).await.map_err(failed)?;
    let output = Output::plain();
    let servers = if args.at.redis.is_some() { list(&alive) } else { String::new() };
    let name = &opened.name;
    output.print(&format!(
        "{name}: records are written in format {present}; this version knows formats up to {FORMAT}.\n{servers}"
    ))?;
    if to == present {
        return Ok(output.print(&format!("It is at format {to} already: nothing to do.\n"))?);
    }
    if to > FORMAT || to < present {
        // Refused in the store's own words, and nothing is asked before.
        store.raise_format(to).await.map_err(|error| Failure::Usage(error.to_string()))?;
    }
    stop_for_older(&alive, to, args.force)?;
    if !args.yes && !confirmed(present, to)? {
        return Err(Failure::Failed("nothing was changed".to_owned()));
    }
    let before = store.raise_format(to).await.map_err(failed)?;
    let follow = if alive.is_empty() { "" } else { " Servers that run follow within about a second." };
    Ok(output.print(&format!("Raised from format {before} to {to}.{follow}\n"))?)
}

fn list(alive: &[Process]) -> String {
    if alive.is_empty() {
        return "No server has signed in the last ten seconds.\n".to_owned();
    }
    let line = |process: &Process| format!("  {}  knows format {}\n", process.id, process.knows);
    format!("Servers alive: {}\n{}", alive.len(), alive.iter().map(line).collect::<String>())
}

/// An older server that lives would be shut out of its tables.
fn stop_for_older(alive: &[Process], to: u32, force: bool) -> Result<(), Failure> {
    let older = alive.iter().filter(|process| process.knows < to).count();
    if older == 0 || force {
        return Ok(());
    }
    Err(Failure::Failed(format!(
        "{older} of the servers that are alive do not know format {to}: they would answer UNAVAILABLE for every table that \
         a newer one touches. Replace them by the new version first; a server that was just stopped is listed for ten \
         seconds. --force raises it all the same."
    )))
}

fn confirmed(present: u32, to: u32) -> Result<bool, Failure> {
    if !stdin().is_terminal() {
        return Err(Failure::Usage("nobody is there to ask: say --yes to raise the format".to_owned()));
    }
    eprint!("Raise it from {present} to {to}? There is no way back. [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
