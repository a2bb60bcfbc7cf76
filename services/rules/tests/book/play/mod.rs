//! The language of the rule tests: a hand as text, one statement a line or between dots, played on the engine.
//!
//! ```text
//! table texas nl 2000/4000          -- settings, see settings.rs
//! seats 1:90000 2:7500 3:90000      -- who sits where with how much; he is called p1, p2, …
//! cards 1:AhKd board:QsJdTd         -- what is dealt; everything else comes as the deck has it
//! deal button 3                     -- begins the hand that is due
//! 1 calls 4000 · 2 all-in 7500      -- what is asked of the table, see asks.rs; an amount is checked
//! 1 raises 99 -> ILLEGAL_AMOUNT     -- a refusal
//! 3 may raise 11500..               -- what has to hold, see expects.rs
//! ```
//!
//! After every statement the invariants hold, a twin that only folds events is the same table, an own decision can be
//! repeated and not replaced, and nobody sees a card that he may not see.

mod asks;
mod dealing;
mod expects;
mod paying;
mod settings;
mod watching;

use rules::{Ask, Chips, Command, Event, Millis, PlayerId, Refusal, SeatNo, Table, invariant};

/// A table in play.
pub struct Play {
    pub table: Table,
    /// Made of the opening and all events since.
    twin: Table,
    pub now: Millis,
    /// The events of the last commit.
    pub commit: Vec<Event>,
    /// The events since the last deal.
    pub log: Vec<Event>,
    pub refusal: Option<Refusal>,
    cards: dealing::Given,
    line: String,
}

/// Plays a text; panics at the line that does not hold.
pub fn check(text: &str) {
    play(text);
}

/// Plays a text and hands the table back for a closer look.
pub fn play(text: &str) -> Play {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let settings = lines.next().and_then(|line| line.strip_prefix("table ")).expect("begins with a table");
    let now = Millis::seconds(1_000_000);
    let (table, opened) = Table::open(settings::config(settings), now).expect("settings");
    let twin = Table::from_opening(&opened).expect("an opening");
    assert_eq!(table, twin);
    let (commit, log, cards) = (Vec::new(), Vec::new(), dealing::Given::default());
    let mut play = Play { table, twin, now, commit, log, refusal: None, cards, line: String::new() };
    for line in lines {
        play.more(line);
    }
    play
}

impl Play {
    /// Plays further lines.
    pub fn more(&mut self, text: &str) {
        for line in text.lines() {
            let line = line.split("--").next().unwrap_or_default();
            for statement in line.split('·').map(str::trim).filter(|s| !s.is_empty()) {
                self.line = statement.to_owned();
                self.statement(statement);
            }
        }
    }

    /// What panics are to name until the next line.
    pub fn label(&mut self, line: &str) {
        line.clone_into(&mut self.line);
    }

    fn statement(&mut self, statement: &str) {
        let (asked, refused) = match statement.split_once("->") {
            Some((asked, reason)) => (asked.trim(), Some(reason.trim())),
            None => (statement, None),
        };
        let words: Vec<&str> = asked.split_whitespace().collect();
        let Some(step) = self.ask_of(&words) else {
            assert!(refused.is_none(), "not asked of the table: {statement}");
            return self.expect(&words);
        };
        match (self.step(step.ask), refused) {
            (Ok(()), None) => self.expect_amount(step.amount),
            (Err(refusal), Some(reason)) => {
                assert_eq!(refusal.reason(), reason, "{statement}");
                self.refusal = Some(refusal);
            }
            (Ok(()), Some(reason)) => panic!("{statement}: was not refused with {reason}"),
            (Err(refusal), None) => panic!("{statement}: refused: {refusal:?}"),
        }
    }

    /// Asks the table, and checks everything that holds after every commit.
    pub fn step(&mut self, ask: Ask) -> Result<(), Refusal> {
        let command = Command { at: self.now, ask };
        let repeated = self.table.repeated(&command);
        let (events, after) = self.table.step(&command)?;
        assert!(repeated.is_none(), "{}: a repetition was accepted", self.line);
        assert!(!events.is_empty(), "{}: a commit of nothing", self.line);
        assert_eq!(self.table.decide(&command).as_ref(), Ok(&events), "{}: decided otherwise", self.line);
        self.twin.apply(&events);
        assert_eq!(self.twin, after, "{}: the events do not tell all", self.line);
        self.table = after;
        if let Err(broken) = invariant::check(&self.table) {
            panic!("{}: {broken:?}", self.line);
        }
        if events.iter().any(|event| matches!(event, Event::HandStarted(_))) {
            self.log.clear();
            self.cards = dealing::Given::default();
        }
        self.log.extend(events.iter().cloned());
        self.commit = events;
        self.check_repetition(&command);
        self.check_secrets();
        Ok(())
    }

    /// An accepted decision has the same answer again, and nothing else takes its place.
    fn check_repetition(&self, command: &Command) {
        if !matches!(command.ask, Ask::Act { .. } | Ask::Pick { .. }) {
            return assert_eq!(self.table.repeated(command), None);
        }
        let again = self.table.repeated(command).unwrap_or_else(|| panic!("{}: forgotten", self.line));
        assert_eq!(again.version, self.table.version, "{}", self.line);
        let twice = self.table.decide(command).expect_err("decided twice");
        let passed = ["TURN_PASSED", "HAND_OVER", "PIVOT_PICKED", "TABLE_CLOSED"];
        assert!(passed.contains(&twice.reason()), "{}: {twice:?}", self.line);
    }

    /// A player by name, or by the number of the seat at which he sits or was dealt in.
    fn player(&self, word: &str) -> PlayerId {
        let Some(no) = word.parse().ok().and_then(SeatNo::new) else {
            return PlayerId::new(word).unwrap_or_else(|| panic!("{}: no player: {word}", self.line));
        };
        let seated = self.table.seat(no).map(|seat| seat.player.clone());
        seated.unwrap_or_else(|| PlayerId::new(&format!("p{no}")).expect("a name"))
    }

    fn seat(&self, word: &str) -> SeatNo {
        let seat = word.parse().ok().and_then(SeatNo::new);
        seat.unwrap_or_else(|| panic!("{}: no seat: {word}", self.line))
    }

    fn chips(&self, word: &str) -> Chips {
        Chips(word.parse().unwrap_or_else(|_| panic!("{}: no amount: {word}", self.line)))
    }
}

/// Reads `21s`, `10m` or `15500ms`.
pub fn millis(word: &str) -> Millis {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().unwrap_or_else(|_| panic!("no time: {word}"));
    match &word[digits.len()..] {
        "ms" => Millis(number),
        "s" => Millis::seconds(number),
        "m" => Millis::minutes(number),
        _ => panic!("no unit of time: {word}"),
    }
}
