//! `fulcrum store show`: one table, without a single card.

use std::fmt::Write;

use clap::Args;
use tables::{OperatorId, TableId, TableKey};
use uuid::Uuid;

use super::report::{Entry, HandReport, Report, Sitting, State};
use super::{Where, cannot_read, words};
use crate::cli::failure::Failure;
use crate::cli::output::Output;

/// Shows what is stored of a table: settings, seats and stacks, pots, the turn, stops, the ledger, the last commits.
///
/// Cards are never shown: not the deck, not hole cards, not the board, and there is no flag for it. The command does not
/// take the key that opens them.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct ShowArgs {
    #[command(flatten)]
    at: Where,
    /// The operator's name and the table's id, with a slash between them.
    #[arg(value_name = "OPERATOR/TABLE", value_parser = table_key)]
    table: TableKey,
    /// How many of the last commits are listed.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=1000))]
    entries: u16,
    /// As JSON, for programs.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  fulcrum store show --redis redis://127.0.0.1:6379 casino-1/0f6c2c1e-3f7c-5a53-9c57-0d7d0a6f7b11
      A table of a running installation.
  fulcrum store show --store fulcrum.redb --json dev/0f6c2c1e-3f7c-5a53-9c57-0d7d0a6f7b11 | jq .state.seats
      The seats of a table in the file of a server that is stopped.";

fn table_key(text: &str) -> Result<TableKey, String> {
    let read = || {
        let (operator, table) = text.split_once('/')?;
        Some(TableKey { operator: OperatorId::new(operator)?, table: TableId(Uuid::try_parse(table).ok()?) })
    };
    read().ok_or_else(|| {
        "write it as operator/table, as casino-1/0f6c2c1e-3f7c-5a53-9c57-0d7d0a6f7b11".to_owned()
    })
}

/// Runs the command.
///
/// # Errors
/// [`Failure`]
pub async fn run(args: ShowArgs) -> Result<(), Failure> {
    let opened = args.at.open(false).await?;
    let store = &*opened.store;
    let failed = |error| cannot_read("the table cannot be read", &error);
    let Some(state) = store.state(&args.table).await.map_err(failed)? else {
        return Err(Failure::Failed(format!(
            "there is no table {} in {}. TableService/ListTables names the tables of an operator.",
            args.table, opened.name
        )));
    };
    let entries = store.latest(&args.table, args.entries.into()).await.map_err(failed)?;
    let history = store.history(&args.table).await.map_err(failed)?;
    let report = Report::new(&args.table, &state, history, &entries);
    let text = if args.json {
        let json = serde_json::to_string_pretty(&report);
        json.map_err(|error| Failure::Failed(format!("cannot write JSON: {error}")))? + "\n"
    } else {
        text(&report, &opened.name)
    };
    Ok(Output::plain().print(&text)?)
}

/// A name and what it has, a line each.
struct Page(String);

impl Page {
    fn line(&mut self, name: &str, value: impl AsRef<str>) {
        // A String takes everything.
        let _ = writeln!(self.0, "{name:<12}{}", value.as_ref());
    }

    fn head(&mut self, text: &str) {
        let _ = writeln!(self.0, "\n{text}");
    }
}

fn text(report: &Report, store: &str) -> String {
    let mut page = Page(String::new());
    let record = &report.record;
    page.line("table", &report.table);
    page.line("store", store);
    let format = record.format.map_or("unknown".to_owned(), |format| format.to_string());
    page.line("record", format!("version {}, nonce {}, format {format}", record.version, record.nonce));
    let bytes = record.history_bytes.map_or(String::new(), |bytes| format!(", {bytes} bytes"));
    let (state, entries) = (record.state_bytes, record.history_entries);
    page.line("size", format!("state {state} bytes; history {entries} commits{bytes}"));
    match (&report.state, &report.unreadable) {
        (Some(state), _) => show_state(&mut page, state, report.calendar.as_deref()),
        (None, why) => page.line("unreadable", why.as_deref().unwrap_or_default()),
    }
    if !report.entries.is_empty() {
        page.head("last commits, newest first");
        report.entries.iter().for_each(|entry| show_entry(&mut page, entry));
    }
    page.0
}

fn show_state(page: &mut Page, state: &State, calendar: Option<&str>) {
    let (config, ledger) = (&state.config, &state.ledger);
    if let Some(lost) = &state.history_lost {
        let (after, until) = (lost.after, lost.until);
        page.line("lost", format!("versions after {after} up to {until} count for nothing (rules 10.2)"));
    }
    page.line("life", format!("{}, opened {}", state.life, state.opened));
    for stop in &state.stops {
        page.line("stopped", format!("{}: {} (since {})", stop.scope, stop.reason, stop.since));
    }
    let stakes = format!("{}/{}", config.small_blind, config.big_blind);
    page.line("name", &config.display_name);
    page.line("game", format!("{}, {}, {} seats", config.game, config.limit, config.seats));
    page.line(
        "stakes",
        format!(
            "{stakes} {}, ante {}, straddles {}, buy-in {} to {}, rake {} basis points; settings no. {}",
            config.currency,
            config.ante,
            config.straddles,
            config.min_buy_in,
            config.max_buy_in,
            config.rake_basis_points,
            config.version
        ),
    );
    let balance = if ledger.balanced { "balanced" } else { "DOES NOT BALANCE (rules 10.3)" };
    page.line(
        "ledger",
        format!(
            "bought in {}; paid out {}, raked {}, stacks {}, pots {}: {balance}",
            ledger.bought_in, ledger.paid_out, ledger.raked, ledger.stacks, ledger.pots
        ),
    );
    let or_never = |at: Option<&str>| at.unwrap_or("never").to_owned();
    let due = or_never(state.due.as_deref());
    let found = or_never(calendar);
    let differs = if due == found { String::new() } else { format!("; THE CALENDAR SAYS {found}") };
    page.line("due", due + &differs);
    page.head(&format!("{} seats taken (amounts in minor units)", state.seats.len()));
    state.seats.iter().for_each(|seat| show_seat(page, seat));
    if !state.payments.is_empty() {
        page.head(&format!("{} open payments with the operator's wallet", state.payments.len()));
    }
    for payment in &state.payments {
        page.line(&format!("  no. {}", payment.number), payment.text());
    }
    match &state.hand {
        Some(hand) => show_hand(page, hand),
        None => page.head("no hand yet"),
    }
}

fn show_seat(page: &mut Page, seat: &Sitting) {
    let mut notes = vec![seat.presence.clone()];
    notes.extend(seat.wish.map(str::to_owned));
    notes.extend(seat.stopped.as_ref().map(|reason| format!("stopped: {reason}")));
    notes.extend(
        seat.pending
            .as_ref()
            .map(|p| format!("adds {} after the hand (transaction {})", p.amount, p.transaction)),
    );
    notes.extend(seat.leaving_transaction.as_ref().map(|name| format!("leaves with transaction {name}")));
    let stack = format!("stack {} of {} bought in", seat.stack, seat.bought_in);
    let text = format!("{}, session {}, {stack}; {}", seat.player, seat.session, notes.join("; "));
    page.line(&format!("  seat {}", seat.seat), text);
}

fn show_hand(page: &mut Page, hand: &HandReport) {
    page.head(&format!("hand {}, {}, {}, begun {}", hand.number, hand.end, hand.street, hand.started));
    let (button, small, big) = (hand.button_seat, hand.small_blind_seat, hand.big_blind_seat);
    page.line("  button", format!("seat {button}; small blind {small}, big blind {big}"));
    for pot in &hand.pots {
        page.line("  pot", format!("{} for seats {}", pot.amount, words::row(&pot.seats)));
    }
    for player in &hand.players {
        let folded = if player.folded { ", folded" } else { "" };
        let (put, bet, before) = (player.contributed, player.bet, player.stack_before);
        let text = format!("{}: put in {put}, bet {bet}{folded}; began with {before}", player.player);
        page.line(&format!("  seat {}", player.seat), text);
    }
    if let Some(turn) = &hand.turn {
        let (kind, seats) = (turn.kind, words::row(&turn.seats));
        let clock = format!(
            "asked {}, action clock until {}, bank until {}",
            turn.asked, turn.act_by, turn.bank_until
        );
        page.line("  turn", format!("{} ({kind}) of seats {seats}; {clock}", turn.number));
    }
}

fn show_entry(page: &mut Page, entry: &Entry) {
    let time = entry.time.as_deref().unwrap_or("(no time)");
    let what = entry.unreadable.clone().unwrap_or_else(|| entry.events.join(" "));
    page.line(&format!("  {}", entry.version), format!("{time}  {what}"));
}
