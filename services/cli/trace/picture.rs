//! The course of a hand in a terminal: a line for each span, with a bar.

use std::fmt::Write;

use rules::Millis;

use super::Hand;
use crate::cli::money::Currency;
use crate::cli::paint::{Paint, Tone};
use crate::cli::store::words;
use crate::telemetry::conventions as names;
use crate::telemetry::hands::{Mark, Span, Value};

/// How much of a line the bar takes at the most.
const WIDEST_BAR: usize = 40;
/// The least.
const NARROWEST_BAR: usize = 10;

struct Picture<'a> {
    hand: &'a Hand,
    paint: Paint,
    currency: Currency,
    bar: usize,
    text: String,
}

/// The whole of it.
pub fn text(hand: &Hand, paint: Paint) -> String {
    let bar = (paint.width() / 3).clamp(NARROWEST_BAR, WIDEST_BAR);
    let currency = Currency::new(&hand.currency);
    let mut picture = Picture { hand, paint, currency, bar, text: String::new() };
    picture.head();
    picture.row("began", "took", &" ".repeat(bar), &paint.tone(Tone::Faint, "what"));
    picture.span(&hand.root, 0);
    picture.text
}

impl Picture<'_> {
    fn line(&mut self, name: &str, value: &str) {
        // A String takes everything.
        let _ = writeln!(self.text, "{name:<12}{value}");
    }

    fn head(&mut self) {
        let (hand, root) = (self.hand, &self.hand.root);
        self.line("hand", &format!("{} of {}", hand.number, hand.key));
        self.line("store", &hand.store);
        self.line("trace", &hand.trace.trace_id().to_string());
        if let (Some(game), Some(limit)) = (root.text(names::GAME), root.text(names::LIMIT)) {
            let game = if game == "texas" { "Texas Hold'em" } else { "Double Hold'em" };
            let stakes = root.text(names::STAKES).map(|stakes| self.stakes(stakes)).unwrap_or_default();
            self.line("game", &format!("{game}, {}, {stakes}", limit.replace('_', "-")));
        }
        if let Some(players) = root.number(names::PLAYERS) {
            self.line("players", &players.to_string());
        }
        self.line("began", &words::time(root.start));
        let took = seconds(root.end - root.start);
        let end = match (root.text(names::HAND_OUTCOME), root.text(names::VOID_REASON)) {
            (Some("settled"), _) => format!("settled after {took} s"),
            (Some(_), Some(why)) => format!("void after {took} s: {}", why.replace('_', " ")),
            _ => format!("running, as of {took} s after its beginning"),
        };
        self.line("end", &end);
        if root.get(names::PARTIAL).is_some() {
            self.line("", "its beginning is not kept any more: this is the rest of it");
        }
        self.text.push('\n');
    }

    fn stakes(&self, stakes: &str) -> String {
        let amounts: Vec<String> =
            stakes.split('/').filter_map(|amount| amount.parse().ok()).map(|n| self.amount(n)).collect();
        format!("{} {}", amounts.join("/"), self.currency.code())
    }

    fn amount(&self, minor: u64) -> String {
        self.currency.amount(i64::try_from(minor).unwrap_or(i64::MAX))
    }

    fn row(&mut self, began: &str, took: &str, bar: &str, what: &str) {
        let _ = writeln!(self.text, "{began:>9} {took:>9}  {bar}  {what}");
    }

    fn span(&mut self, span: &Span, depth: usize) {
        let what = format!("{}{}", "  ".repeat(depth), self.what(span));
        let began = seconds(span.start - self.hand.root.start);
        let took = seconds(span.end - span.start);
        let bar = self.bar_of(span.start, span.end);
        let link = span.link.filter(|_| span.name != names::SPAN_SETTLEMENT);
        let link = link.map(|origin| format!("  trace {}", super::hex(&origin.trace)));
        let link = link.map(|link| self.paint.tone(Tone::Faint, &link)).unwrap_or_default();
        self.row(&began, &took, &bar, &(what + &link));
        // Of what concerns the hand, and those who are waited for, the hand tells.
        let marks =
            span.marks.iter().filter(|_| span.name != names::SPAN_TURN && span.name != names::SPAN_PICK);
        for mark in marks {
            let what = format!("{}{}", "  ".repeat(depth + 1), self.mark(mark));
            let began = seconds(mark.at - self.hand.root.start);
            let bar = self.bar_of(mark.at, mark.at);
            self.row(&began, "", &bar, &what);
        }
        for child in &span.children {
            self.span(child, depth + 1);
        }
    }

    /// A bar from then to then; what took no time is a stroke.
    fn bar_of(&self, start: Millis, end: Millis) -> String {
        let root = &self.hand.root;
        let whole = (root.end - root.start).0.max(1);
        let last = self.bar as u64 - 1;
        let place = |at: Millis| ((at - root.start).0.min(whole) * last / whole) as usize;
        let (from, to) = (place(start), place(end));
        let (full, point, empty) = if self.paint.is_rich() { ("█", "│", "·") } else { ("#", "|", ".") };
        let drawn = if start == end { point.to_owned() } else { full.repeat(to - from + 1) };
        let drawn_width = if start == end { 1 } else { to - from + 1 };
        let before = self.paint.tone(Tone::Faint, &empty.repeat(from));
        let after = self.paint.tone(Tone::Faint, &empty.repeat(self.bar - from - drawn_width));
        format!("{before}{drawn}{after}")
    }

    fn what(&self, span: &Span) -> String {
        match span.name {
            names::SPAN_HAND => self.paint.tone(Tone::Title, &format!("hand {}", self.hand.number)),
            names::SPAN_TURN => format!("{}: {}", who(span), self.turn(span)),
            names::SPAN_PICK => {
                let how = match span.text(names::TURN_ENDED) {
                    Some("picked") => "picked",
                    Some("picked_for_him") => "picked for him",
                    other => waited(other),
                };
                format!("{}: {}", who(span), self.paint.tone(Tone::Pivot, how))
            }
            names::SPAN_PIVOTS => self.paint.tone(Tone::Pivot, "pivots"),
            names::SPAN_SHOWDOWN => {
                let count = |name| span.number(name).unwrap_or_default();
                format!("showdown: {} shown, {} mucked", count(names::SHOWN), count(names::MUCKED))
            }
            names::SPAN_SETTLEMENT => self.settlement(span),
            _ => match span.text(names::STREET) {
                Some("pre_flop") => "before the flop".to_owned(),
                Some(street) => street.to_owned(),
                None => span.name.to_owned(),
            },
        }
    }

    fn turn(&self, span: &Span) -> String {
        let ended = span.text(names::TURN_ENDED);
        let Some(action) = span.text(names::ACTION) else {
            return waited(ended).to_owned();
        };
        let mut text = match (action, span.number(names::AMOUNT)) {
            ("raise", Some(to)) => self.paint.tone(Tone::Bold, &format!("raise to {}", self.amount(to))),
            ("bet", Some(to)) => self.paint.tone(Tone::Bold, &format!("bet {}", self.amount(to))),
            (action, Some(to)) => format!("{action} {}", self.amount(to)),
            (action, None) => action.to_owned(),
        };
        if span.get(names::ALL_IN).is_some() {
            text += ", all-in";
        }
        if let Some(used) = span.number(names::TIME_BANK) {
            text += &format!(", {} s of the time bank", seconds(Millis(used)));
        }
        match ended {
            Some("time_out") => text + " (time-out)",
            Some("absent") => text + " (absent)",
            _ => text,
        }
    }

    fn settlement(&self, span: &Span) -> String {
        let id = span.text(names::SETTLEMENT).unwrap_or_default();
        match (span.number(names::POT), span.number(names::RAKE)) {
            (Some(pot), Some(rake)) => {
                let (pot, rake) = (self.amount(pot), self.amount(rake));
                format!("settlement {id}: pot {pot}, rake {rake}")
            }
            _ => format!("settlement {id}: void"),
        }
    }

    fn mark(&self, mark: &Mark) -> String {
        let number = |name| match mark.attributes.iter().find(|(other, _)| *other == name) {
            Some((_, Value::Number(number))) => *number,
            _ => 0,
        };
        let text = |name| match mark.attributes.iter().find(|(other, _)| *other == name) {
            Some((_, Value::Text(text))) => text.replace('_', " "),
            _ => String::new(),
        };
        let (seat, amount) = (number(names::SEAT), self.amount(number(names::AMOUNT)));
        match mark.name {
            "posted" => format!("seat {seat}: {} {amount}", text(names::POST)),
            "uncalled_returned" => format!("seat {seat}: {amount} came back uncalled"),
            "won" => self.paint.tone(Tone::Good, &format!("seat {seat} won {amount}")),
            "refunded" => format!("seat {seat} got {amount} back"),
            "clocks_shifted" => {
                format!("the service was away: clocks got {} s back", seconds(Millis(number(names::SHIFTED))))
            }
            "history_lost" => {
                let (after, until) = (number(names::LOST_AFTER), number(names::LOST_UNTIL));
                self.paint.tone(Tone::Bad, &format!("history lost: versions after {after} up to {until}"))
            }
            "stopped" => self.paint.tone(Tone::Bad, "the table stopped itself"),
            other => other.replace('_', " "),
        }
    }
}

fn who(span: &Span) -> String {
    let seat = span.number(names::SEAT).unwrap_or_default();
    match span.text(names::PLAYER) {
        Some(player) => format!("seat {seat} {player}"),
        None => format!("seat {seat}"),
    }
}

fn waited(ended: Option<&str>) -> &'static str {
    match ended {
        Some("running") => "is being waited for",
        _ => "still had to decide when the hand ended",
    }
}

/// As `12.345`.
fn seconds(length: Millis) -> String {
    format!("{}.{:03}", length.0 / 1000, length.0 % 1000)
}
