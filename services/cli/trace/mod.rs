//! `fulcrum trace`: the course of one hand, as a tracing backend shows it, for those who have none at hand.
//!
//! What is absent, on purpose: cards. The command does not take the key that opens them.

mod find;
mod json;
mod picture;

use std::fmt::Write;

use clap::Args;
use tables::{OperatorId, TableId, TableKey};
use uuid::Uuid;

use super::failure::Failure;
use super::output::Output;
use super::paint::Paint;
use super::store::Where;
use crate::telemetry::hands::{HandTrace, Span};

/// Tells the course of a hand: its streets, who was asked when and did what, the time that it took, how it ended and what
/// was paid.
///
/// It is the trace that servers send to a collector, made from the same commits: same ids, same times. It can be told of
/// running hands too, and of hands that were not sampled, as long as their commits are kept (limits.history, or ?history= in
/// the URL of a store in Redis). No card is shown.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct TraceArgs {
    #[command(flatten)]
    at: Where,
    /// The operator's name, the table's id and the hand's number, with slashes between them. The number can also be given
    /// with --hand.
    #[arg(value_name = "OPERATOR/TABLE/HAND", value_parser = place)]
    hand: Place,
    /// The hand's number at its table, as watchers and settlement records have it.
    #[arg(long = "hand", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    number: Option<u64>,
    /// As JSON, for programs.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fulcrum trace --redis redis://127.0.0.1:6379 casino-1/0f6c2c1e-3f7c-5a53-9c57-0d7d0a6f7b11/42
      A hand of a running installation.
  fulcrum trace --store fulcrum.redb dev/0f6c2c1e-3f7c-5a53-9c57-0d7d0a6f7b11 --hand 42
      The same out of the file of a server that is stopped.
  fulcrum trace --store fulcrum.redb --json dev/0f6c2c1e-3f7c-5a53-9c57-0d7d0a6f7b11/42 | jq -r .trace_id
      The id by which a tracing backend finds it.

A line for each span: when it began after the hand, how long it took, a bar for both, and what it was. A turn that was
answered by a call ends with the trace of that call.";

/// A table, and perhaps a hand of it.
#[derive(Clone, Debug)]
struct Place {
    key: TableKey,
    number: Option<u64>,
}

/// A hand, and what is told of it.
struct Hand {
    key: TableKey,
    number: u64,
    trace: HandTrace,
    root: Span,
    /// It goes on.
    runs: bool,
    /// The currency of its amounts.
    currency: String,
    /// Where it was found.
    store: String,
}

fn place(text: &str) -> Result<Place, String> {
    let read = || {
        let mut parts = text.split('/');
        let operator = OperatorId::new(parts.next()?)?;
        let table = TableId(Uuid::try_parse(parts.next()?).ok()?);
        let number = match parts.next() {
            Some(number) => Some(number.parse().ok().filter(|number| *number > 0)?),
            None => None,
        };
        parts.next().is_none().then_some(Place { key: TableKey { operator, table }, number })
    };
    read().ok_or_else(|| {
        "write it as operator/table/hand, as casino-1/0f6c2c1e-3f7c-5a53-9c57-0d7d0a6f7b11/42".to_owned()
    })
}

/// Runs the command.
///
/// # Errors
/// [`Failure`]
pub async fn run(args: TraceArgs) -> Result<(), Failure> {
    let number = match (args.hand.number, args.number) {
        (Some(one), Some(other)) if one != other => {
            return Err(Failure::Usage(format!("hand {one} or hand {other}? Say the number once.")));
        }
        (Some(number), _) | (None, Some(number)) => number,
        (None, None) => {
            let table = &args.hand.key;
            return Err(Failure::Usage(format!("which hand? Say {table}/N, or --hand N.")));
        }
    };
    let opened = args.at.open(false).await?;
    let hand = find::hand(&opened, args.hand.key, number).await?;
    let text = if args.json { json::text(&hand)? } else { picture::text(&hand, Paint::for_stdout()) };
    Ok(Output::plain().print(&text)?)
}

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // A String takes everything.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
