//! What a rule test asks of the table. `N` is a seat's number or a player's name; `@turn` or `@hand/turn` after a
//! decision names another turn than the current one.
//!
//! Decisions: `N folds`, `N checks`, `N calls [amount]`, `N bets to`, `N raises to`, `N all-in [to]`, `N picks Kc`.
//! Seats: `seats 1:500 2:300`, `NAME buys SEAT for AMOUNT [posting]`, `N leaves`, `N sits out`,
//! `N sits out next big blind`, `N sits in [posting]`, `N adds AMOUNT`, `N straddles`, `N always shows`, `N shows`.
//! Table: `deal [button N]`, `expire`, `time-out`, `void`, `close`, `stop SCOPE`, `resume SCOPE`, `outage FROM..TO`,
//! `lose VERSION HANDS SESSIONS`.
//! Time: `at +21s` after the prompt, `wait 5s`. Payments: see paying.rs.

use rules::event::StopScope;
use rules::lost::Seen;
use rules::{Action, Ask, Chips, Event, Millis, Pick, SeatNo, Wish};

use super::{Play, millis};

/// A command, and the amount that its decision has to come to.
pub struct Step {
    pub ask: Ask,
    pub amount: Option<Chips>,
}

impl Play {
    /// What these words ask of the table; nothing if they are an expectation, or done already.
    pub(super) fn ask_of(&mut self, words: &[&str]) -> Option<Step> {
        let (words, turn) = match words.split_last() {
            Some((last, before)) if last.starts_with('@') => (before, Some(&last[1..])),
            _ => (words, None),
        };
        let plain = |ask| Some(Step { ask, amount: None });
        if let Some(ask) = self.ask_of_payment(words) {
            return plain(ask);
        }
        match words {
            ["deal"] => plain(self.start(0)),
            ["deal", "button", seat] => {
                let button = self.seat(seat);
                let place = self.table.able_to_play().iter().position(|s| s == button);
                plain(self.start(place.expect("he can play") as u64))
            }
            ["expire"] => plain(Ask::Expire),
            ["time-out"] => {
                self.now = self.table.due().expect("something is due").0;
                plain(Ask::Expire)
            }
            ["void"] => {
                let (hand, reason) = (self.table.hands, "test".to_owned());
                plain(Ask::Void { hand, reason, requester: "book".to_owned() })
            }
            ["lose", version, hands, sessions] => {
                let number = |word: &&str| word.parse().expect("a number");
                let seen =
                    Seen { version: number(version), hands: number(hands), sessions: number(sessions) };
                plain(Ask::LoseHistory { seen })
            }
            ["close"] => plain(Ask::Close { reason: "test".to_owned() }),
            ["stop", scope] => plain(Ask::Stop { scope: stop_scope(scope), reason: "test".to_owned() }),
            ["stop", "player", who] => {
                plain(Ask::StopPlayer { player: self.player(who), reason: "test".to_owned() })
            }
            ["resume", "player", who] => plain(Ask::ResumePlayer { player: self.player(who) }),
            ["resume", scope] => plain(Ask::Resume { scope: stop_scope(scope) }),
            ["outage", times] => {
                let (from, to) = times.split_once("..").expect("from..to");
                let start = self.prompt_start();
                plain(Ask::CreditOutage { from: start + millis(from), to: start + millis(to) })
            }
            [who, verb, rest @ ..] => {
                self.decision(who, verb, rest, turn).or_else(|| self.seating(who, verb, rest).and_then(plain))
            }
            _ => None,
        }
    }

    fn start(&mut self, draw: u64) -> Ask {
        self.now = self.now.max(self.table.next_hand_at.unwrap_or_default());
        Ask::StartHand { deck: Box::new(self.deck(draw)), draw }
    }

    fn decision(&self, who: &str, verb: &str, rest: &[&str], turn: Option<&str>) -> Option<Step> {
        let named = || rest.first().map(|word| self.chips(word));
        let to = || named().unwrap_or_else(|| panic!("{}: to what?", self.line));
        let (hand, turn) = self.turn(turn);
        let player = || self.player(who);
        let action = match verb {
            "folds" => Action::Fold,
            "checks" => Action::Check,
            "calls" => Action::Call,
            "bets" => Action::Bet(to()),
            "raises" => Action::Raise(to()),
            "all-in" => Action::AllIn,
            "picks" => {
                let pick = self.pick_of(who, rest[0]);
                return Some(Step { ask: Ask::Pick { player: player(), hand, turn, pick }, amount: None });
            }
            _ => return None,
        };
        Some(Step { ask: Ask::Act { player: player(), hand, turn, action }, amount: named() })
    }

    fn turn(&self, named: Option<&str>) -> (u64, u32) {
        let hand = self.table.hands;
        let current = self.table.hand.as_ref().map_or(0, |h| h.turns);
        match named.map(|text| text.split_once('/').unwrap_or(("", text))) {
            None => (hand, current),
            Some((other, turn)) => {
                (other.parse().unwrap_or(hand), turn.parse().unwrap_or_else(|_| panic!("no turn: {turn}")))
            }
        }
    }

    /// The place of a card in the player's hand, or `first`, `second`, `third`.
    fn pick_of(&self, who: &str, card: &str) -> Pick {
        let place = ["first", "second", "third"].iter().position(|word| *word == card);
        let place = place.or_else(|| {
            let hand = self.table.hand.as_ref()?;
            let holes = hand.player(hand.seat_of(&self.player(who))?)?.holes?;
            holes.cards().iter().position(|c| c.face().to_string() == card)
        });
        let pick = place.and_then(|index| Pick::new(index as u8));
        pick.unwrap_or_else(|| panic!("{}: he has no such card", self.line))
    }

    fn seating(&mut self, who: &str, verb: &str, rest: &[&str]) -> Option<Ask> {
        if who == "seats" {
            self.take_seats(&[&[verb], rest].concat());
            return None;
        }
        let player = || self.player(who);
        let transaction = format!("{who} {verb}");
        let ask = match (verb, rest) {
            ("buys", [seat, "for", amount, posting @ ..]) => Ask::Seat {
                player: player(),
                seat: (*seat != "any").then(|| self.seat(seat)),
                buy_in: self.chips(amount),
                post: *posting == ["posting"],
                transaction,
            },
            ("leaves", []) => Ask::StandUp { player: player(), transaction },
            ("sits", ["out"]) => Ask::SitOut { player: player(), wish: Wish::NextHand },
            ("sits", ["out", "next", "big", "blind"]) => {
                Ask::SitOut { player: player(), wish: Wish::NextBigBlind }
            }
            ("sits", ["in"]) => Ask::SitIn { player: player(), post: false },
            ("sits", ["in", "posting"]) => Ask::SitIn { player: player(), post: true },
            ("adds", [amount]) => Ask::AddChips { player: player(), amount: self.chips(amount), transaction },
            ("straddles", []) => Ask::Prefer { player: player(), straddle: true, always_show: false },
            ("always", ["shows"]) => Ask::Prefer { player: player(), straddle: false, always_show: true },
            ("shows", []) => Ask::Show { player: player(), hand: self.table.hands },
            _ => return None,
        };
        Some(ask)
    }

    fn take_seats(&mut self, words: &[&str]) {
        for word in words {
            let (seat, buy_in) = word.split_once(':').unwrap_or_else(|| panic!("seat:stack, not {word}"));
            let (player, seat) = (self.player(seat), Some(self.seat(seat)));
            let (buy_in, transaction) = (self.chips(buy_in), format!("buy-in {word}"));
            let ask = Ask::Seat { player, seat, buy_in, post: false, transaction };
            self.step(ask).unwrap_or_else(|refusal| panic!("{}: {refusal:?}", self.line));
        }
    }

    pub(super) fn prompt_start(&self) -> Millis {
        self.table.running_hand().and_then(|h| h.prompt).map_or(self.now, |p| p.at)
    }

    /// What a decision came to: a call in chips put in, everything else in chips "to".
    pub(super) fn expect_amount(&self, due: Option<Chips>) {
        let acted = self.commit.iter().find_map(|event| match event {
            Event::Acted { to, added, asked: Some(asked), .. } => {
                Some(if *asked == Action::Call { *added } else { *to })
            }
            _ => None,
        });
        if due.is_some() && acted.is_some() {
            assert_eq!(acted, due, "{}", self.line);
        }
    }

    /// The seats of `1,3` or `nobody`.
    pub(super) fn seats(&self, word: &str) -> Vec<SeatNo> {
        if word == "nobody" { Vec::new() } else { word.split(',').map(|seat| self.seat(seat)).collect() }
    }
}

fn stop_scope(word: &str) -> StopScope {
    match word {
        "service" => StopScope::Service,
        "operator" => StopScope::Operator,
        "game" => StopScope::Game,
        "table" => StopScope::Table,
        "malfunction" => StopScope::Malfunction,
        other => panic!("no scope: {other}"),
    }
}
