//! What a rule test expects of the table.
//!
//! Turn: `1 to act`, `1,2 to pick`, `nobody to act`, `1 must call 50`, `1 may check`, `1 may raise 250..600` (`250..`
//! for the minimum only, `bet` where nobody has bet), `1 may not raise`, `1 may all-in`, `1 may not all-in`.
//! Decisions made for a player in the last commit: `did 1 fold absence`, `did 2 check time-out`, `did 3 pick time-out`.
//! Hand: `street flop`, `board QsJdTd`, `dealt 1 2 3`, `positions 1 2 3` (button, small, big), `running`, `over`,
//! `voided`, `pivots 1:Kc`, `shown 2 1` and `mucked 3` in order, `closed` for nobody shown.
//! Chips: `stacks 1:100`, `bets 1:100`, `pots 200 (1 2) + 370 (2)`, `returned 1:50`, `wins 1:34 2:33`, `rake 3`,
//! `raked 2 1` from each pot, `shares 1:1 2:2` of the rake.
//! Seats: `1 is in|out|leaving|gone`, `1 owes nothing|both|big|small`, `bank 1:24s`, `next hand 3s`, `no next hand`.
//! Payments: see paying.rs.

use rules::event::{By, Play as Made, PromptKind};
use rules::hand::End;
use rules::player::Presence;
use rules::pots::{Pot, in_the_middle};
use rules::result::{HandResult, PlayerResult};
use rules::{Chips, Event, Legal, Millis, SeatNo};

use super::{Play, millis};

impl Play {
    pub(super) fn expect(&mut self, words: &[&str]) {
        if self.expect_of_payments(words) {
            return;
        }
        match words {
            ["seats", ..] => {}
            ["cards", cards @ ..] => self.give_cards(cards),
            ["wait", time] => self.now = self.now + millis(time),
            ["at", time] => self.now = self.prompt_start() + millis(time.trim_start_matches('+')),
            ["did", who, what, by] => self.expect_did(who, what, by),
            [who, "to", kind] => self.expect_prompt(who, kind),
            [who, "must", "call", amount] => {
                assert_eq!(self.legal(who).call, self.chips(amount), "{}", self.line);
            }
            [who, "may", may @ ..] => self.expect_legal(who, may),
            [who, "is", state] => self.expect_presence(who, state),
            [who, "owes", what] => self.expect_debt(who, what),
            ["bank", banks @ ..] => {
                self.expect_each(banks, |play, seat| {
                    let bank = play.table.seat(seat).expect("seated").time_bank;
                    format!("{}ms", bank.0)
                });
            }
            ["stacks", stacks @ ..] => self.expect_each(stacks, |play, seat| {
                play.table.seat(seat).map_or("none".to_owned(), |seat| seat.stack.to_string())
            }),
            ["next", "hand", time] => {
                assert_eq!(self.table.next_hand_at, Some(self.now + millis(time)), "{}", self.line);
            }
            ["no", "next", "hand"] => assert_eq!(self.table.next_hand_at, None, "{}", self.line),
            _ => self.expect_of_hand(words),
        }
    }

    fn expect_of_hand(&self, words: &[&str]) {
        let hand = self.table.hand.as_ref().unwrap_or_else(|| panic!("{}: no hand", self.line));
        let line = &self.line;
        match words {
            ["running"] => assert!(hand.is_running(), "{line}"),
            ["over"] => assert!(matches!(hand.end, Some(End::Settled { .. })), "{line}"),
            ["voided"] => assert!(matches!(hand.end, Some(End::Voided { .. })), "{line}"),
            ["street", street] => {
                assert_eq!(format!("{:?}", hand.street).to_lowercase(), *street, "{line}");
            }
            ["board", cards] => {
                let board: String = hand.board.iter().map(|c| c.face().to_string()).collect();
                assert_eq!(board, *cards, "{line}");
            }
            ["dealt", seats @ ..] => assert_eq!(listed(hand.dealt.iter()), seats.join(" "), "{line}"),
            ["positions", seats @ ..] => {
                let at = hand.positions;
                assert_eq!(listed([at.button, at.small, at.big]), seats.join(" "), "{line}");
            }
            ["pivots", picks @ ..] => self.expect_each(picks, |play, seat| play.pivot(seat)),
            ["shown", seats @ ..] => assert_eq!(listed(self.shown()), seats.join(" "), "{line}"),
            ["mucked", seats @ ..] => assert_eq!(listed(self.mucked()), seats.join(" "), "{line}"),
            ["closed"] => assert_eq!(self.shown(), [], "{line}"),
            _ => self.expect_chips(words),
        }
    }

    fn expect_chips(&self, words: &[&str]) {
        let hand = self.table.hand.as_ref().expect("a hand");
        let of = |each: &[&str], amount: &dyn Fn(SeatNo) -> Option<Chips>| {
            self.expect_each(each, |_, seat| amount(seat).map_or("none".to_owned(), |a| a.to_string()));
        };
        let account =
            |seat: SeatNo| -> Option<&PlayerResult> { self.result().players.iter().find(|p| p.seat == seat) };
        match words {
            ["bets", each @ ..] => of(each, &|seat| Some(hand.player(seat)?.bet)),
            ["returned", each @ ..] => of(each, &|seat| Some(hand.player(seat)?.returned)),
            ["wins", each @ ..] => of(each, &|seat| Some(account(seat)?.won)),
            ["shares", each @ ..] => of(each, &|seat| Some(account(seat)?.rake_share)),
            ["rake", rake] => assert_eq!(self.result().rake, self.chips(rake), "{}", self.line),
            ["raked", each @ ..] => {
                let raked: Vec<String> = self.result().pots.iter().map(|p| p.rake.to_string()).collect();
                assert_eq!(raked, each, "{}", self.line);
            }
            ["pots", pots @ ..] => assert_eq!(self.pots(), pots.join(" "), "{}", self.line),
            _ => panic!("not understood: {}", self.line),
        }
    }

    /// Checks `seat:value` for each, where `actual` writes the value.
    fn expect_each(&self, each: &[&str], actual: impl Fn(&Play, SeatNo) -> String) {
        assert!(!each.is_empty(), "{}: nothing is expected", self.line);
        for word in each {
            let (seat, due) = word.split_once(':').unwrap_or_else(|| panic!("seat:value, not {word}"));
            let due = if due.ends_with('s') { format!("{}ms", millis(due).0) } else { due.to_owned() };
            assert_eq!(actual(self, self.seat(seat)), due, "{}: seat {seat}", self.line);
        }
    }

    fn expect_prompt(&self, who: &str, kind: &str) {
        let prompt = self.table.running_hand().and_then(|hand| hand.prompt);
        let asked: Vec<SeatNo> = prompt.map_or(Vec::new(), |p| p.seats.iter().collect());
        assert_eq!(asked, self.seats(who), "{}", self.line);
        let due = if kind == "pick" { PromptKind::Pick } else { PromptKind::Act };
        assert!(prompt.is_none_or(|p| p.kind == due), "{}", self.line);
    }

    fn legal(&self, who: &str) -> Legal {
        self.expect_prompt(who, "act");
        self.table.legal_now().unwrap_or_else(|| panic!("{}: nobody is to act", self.line))
    }

    fn expect_legal(&self, who: &str, may: &[&str]) {
        let (legal, line) = (self.legal(who), &self.line);
        match may {
            ["check"] => assert!(legal.can_check(), "{line}: {legal:?}"),
            ["not", "check"] => assert!(!legal.can_check(), "{line}: {legal:?}"),
            ["all-in"] => assert!(legal.all_in, "{line}: {legal:?}"),
            ["not", "all-in"] => assert!(!legal.all_in, "{line}: {legal:?}"),
            ["not", "raise" | "bet"] => assert_eq!(legal.raise, None, "{line}"),
            [kind @ ("raise" | "bet"), range] => {
                let raise = legal.raise.unwrap_or_else(|| panic!("{line}: he may not: {legal:?}"));
                let (min, max) = range.split_once("..").expect("min..max");
                assert_eq!(raise.min_to, self.chips(min), "{line}");
                assert!(max.is_empty() || raise.max_to == self.chips(max), "{line}: {raise:?}");
                assert_eq!(raise.is_bet, *kind == "bet", "{line}");
            }
            _ => panic!("not understood: {line}"),
        }
    }

    fn expect_did(&self, who: &str, what: &str, by: &str) {
        let due = format!("{} {what} {by}", self.seat(who));
        let did = |event: &Event| match event {
            Event::Acted { seat, play, by, .. } => {
                let play = match play {
                    Made::Fold => "fold",
                    Made::Check => "check",
                    Made::Call => "call",
                    Made::Bet => "bet",
                    Made::Raise => "raise",
                };
                Some(format!("{seat} {play} {}", author(*by)))
            }
            Event::PivotPicked { seat, by, .. } => Some(format!("{seat} pick {}", author(*by))),
            _ => None,
        };
        let all: Vec<String> = self.commit.iter().filter_map(did).collect();
        assert!(all.contains(&due), "{}: {all:?}", self.line);
    }

    fn expect_presence(&self, who: &str, state: &str) {
        let found = match self.table.seat(self.seat(who)).map(|seat| seat.presence) {
            None => "gone",
            Some(Presence::In) => "in",
            Some(Presence::Out { .. }) => "out",
            Some(Presence::Leaving) => "leaving",
        };
        assert_eq!(found, state, "{}", self.line);
    }

    fn expect_debt(&self, who: &str, what: &str) {
        let debt = self.table.seat(self.seat(who)).expect("seated").debt;
        let found = match (debt.big, debt.small) {
            (false, false) => "nothing",
            (true, true) => "both",
            (true, false) => "big",
            (false, true) => "small",
        };
        assert_eq!(found, what, "{}", self.line);
    }

    fn pivot(&self, seat: SeatNo) -> String {
        let player = self.table.hand.as_ref().and_then(|h| h.player(seat)).expect("dealt in");
        let card = player.pick.and_then(|pick| Some(player.holes?.cards()[usize::from(pick.index())]));
        card.map_or("none".to_owned(), |card| card.face().to_string())
    }

    fn mucked(&self) -> Vec<SeatNo> {
        let mucked = |event: &Event| match event {
            Event::HandMucked { seat } => Some(*seat),
            _ => None,
        };
        self.log.iter().filter_map(mucked).collect()
    }

    /// The account of the hand that was settled last.
    pub fn result(&self) -> &HandResult {
        let settled = self.log.iter().rev().find_map(|event| match event {
            Event::HandSettled(result) => Some(result),
            _ => None,
        });
        settled.unwrap_or_else(|| panic!("{}: the hand is not settled", self.line))
    }

    fn pots(&self) -> String {
        let running = self.table.running_hand().map(in_the_middle);
        let pots = running.unwrap_or_else(|| {
            let pots = self.result().pots.iter();
            pots.map(|p| Pot { amount: p.amount, eligible: p.eligible }).collect()
        });
        let text = pots.iter().map(|pot| format!("{} ({})", pot.amount, listed(pot.eligible.iter())));
        let text: Vec<String> = text.collect();
        if text.is_empty() { "none".to_owned() } else { text.join(" + ") }
    }

    /// When what is due next is due, after the prompt.
    pub fn due_after(&self) -> Millis {
        self.table.due().expect("something is due").0 - self.prompt_start()
    }
}

fn author(by: By) -> &'static str {
    match by {
        By::Player => "himself",
        By::TimeOut => "time-out",
        By::Absence => "absence",
    }
}

fn listed(seats: impl IntoIterator<Item = SeatNo>) -> String {
    let seats: Vec<String> = seats.into_iter().map(|seat| seat.to_string()).collect();
    seats.join(" ")
}
