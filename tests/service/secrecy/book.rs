//! Who may know which card, kept independently of the service: from the decks that the test laid out and from the
//! public course of the hands, by rules 1.4, 4.4 and 6.4 to 6.6.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_event::Event;
use fulcrum::pb::v1::table_message::Content;
use rules::Deck;

/// What is so after one commit.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// The hand that runs or ran last.
    pub hand: u64,
    /// The cards of the board so far, by their numbers in the contract.
    pub board: Vec<i32>,
    /// Who was dealt which cards, by seat: the cards are the player's, whoever sits in the seat later.
    pub holes: BTreeMap<u32, (String, Vec<i32>)>,
    /// Whose cards lie open.
    pub shown: BTreeSet<u32>,
    folded: BTreeSet<u32>,
    mucked: BTreeSet<u32>,
}

impl Moment {
    /// Whether this viewer may see the hole cards of a seat. A spectator's name is empty.
    pub fn may_see(&self, viewer: &str, seat: u32) -> bool {
        let own = self.holes.get(&seat).is_some_and(|(player, _)| player == viewer);
        own || self.shown.contains(&seat)
    }

    /// The only one who has not folded.
    pub fn alone(&self) -> Option<u32> {
        let mut live = self.holes.keys().filter(|seat| !self.folded.contains(seat));
        live.next().copied().filter(|_| live.next().is_none())
    }

    fn live(&self) -> usize {
        self.holes.len() - self.folded.len()
    }
}

/// The moments of one table.
#[derive(Default)]
pub struct Book {
    hole_cards: usize,
    decks: BTreeMap<u64, Deck>,
    players: BTreeMap<u32, String>,
    asked_to_show: BTreeSet<(u64, u32)>,
    now: Moment,
    moments: BTreeMap<u64, Arc<Moment>>,
    hidden: Vec<Vec<i32>>,
    /// What was shown although it must not be.
    pub faults: Vec<String>,
    /// How often each kind of event was seen.
    pub seen: BTreeMap<&'static str, usize>,
}

fn numbers(deck: &Deck, places: impl Iterator<Item = usize>) -> Vec<i32> {
    places.map(|place| i32::from(deck.cards()[place].index()) + 1).collect()
}

impl Book {
    /// The book of a table with so many hole cards a player.
    pub fn new(hole_cards: usize) -> Book {
        Book { hole_cards, ..Book::default() }
    }

    /// Notes the deck of a hand.
    pub fn deck(&mut self, hand: u64, deck: Deck) {
        self.decks.insert(hand, deck);
    }

    /// Notes that the winner asks for his cards to be shown (rules 6.6).
    pub fn asks_to_show(&mut self, hand: u64, seat: u32) {
        self.asked_to_show.insert((hand, seat));
    }

    /// What was so at this version of the table.
    pub fn at(&self, sequence: u64) -> Arc<Moment> {
        let moment = self.moments.get(&sequence);
        Arc::clone(moment.unwrap_or_else(|| panic!("{sequence} was never told to the spectator")))
    }

    /// What is so after all that was told.
    pub fn now(&self) -> &Moment {
        &self.now
    }

    /// The decks of the hands that began.
    pub fn decks(&self) -> impl Iterator<Item = &Deck> {
        self.decks.range(..=self.now.hand).map(|(_, deck)| deck)
    }

    /// The hole cards that were never shown, of the hands before this one.
    pub fn hidden(&self) -> &[Vec<i32>] {
        &self.hidden
    }

    /// Reads on: a message as a spectator got it.
    pub fn read(&mut self, message: &v1::TableMessage) {
        match message.content.as_ref() {
            Some(Content::Snapshot(table)) => {
                assert!(table.hand.is_none(), "the book begins before the first hand");
                self.players = table.seats.iter().map(|s| (s.seat, s.player_id.clone())).collect();
            }
            Some(Content::Update(update)) => {
                let acting = update.turn.as_ref().is_some_and(|turn| turn.kind() == v1::TurnKind::Act);
                let events = update.events.iter().filter_map(|event| event.event.as_ref());
                events.for_each(|event| self.note(event, acting));
            }
            _ => return,
        }
        self.moments.insert(message.sequence, Arc::new(self.now.clone()));
    }

    fn note(&mut self, event: &Event, acting: bool) {
        let name = match event {
            Event::PlayerSeated(seated) => {
                self.players.insert(seated.seat, seated.player_id.clone());
                "seated"
            }
            Event::HandStarted(start) => self.start(start),
            Event::StreetDealt(dealt) => self.street(dealt.street()),
            Event::PlayerActed(acted) => self.acted(acted),
            Event::PivotPicked(picked) if picked.by() == v1::ActedBy::TimeOut => "pick by time-out",
            Event::PivotPicked(_) => "pick",
            Event::HandShown(shown) => self.shown(shown.seat, acting),
            Event::HandMucked(mucked) => {
                self.now.mucked.insert(mucked.seat);
                "muck"
            }
            Event::HandSettled(_) if self.now.shown.is_empty() => "won without a showdown",
            Event::HandSettled(_) => "showdown",
            Event::HandVoided(_) => "void",
            _ => "else",
        };
        *self.seen.entry(name).or_default() += 1;
    }

    /// Rules 1.4: one card at a time, first seat left of the button first.
    fn start(&mut self, start: &v1::HandStarted) -> &'static str {
        let before = &self.now;
        let hidden = before.holes.iter().filter(|(seat, _)| !before.shown.contains(seat));
        self.hidden.extend(hidden.map(|(_, (_, cards))| cards.clone()));
        let deck = &self.decks[&start.hand_number];
        let (mut seats, before): (Vec<u32>, Vec<u32>) =
            start.dealt_seats.iter().partition(|seat| **seat > start.button_seat);
        seats.extend(before);
        let deal = |(place, seat): (usize, &u32)| {
            let cards = numbers(deck, (0..self.hole_cards).map(|round| round * seats.len() + place));
            (*seat, (self.players[seat].clone(), cards))
        };
        let holes = seats.iter().enumerate().map(deal).collect();
        self.now = Moment { hand: start.hand_number, holes, ..Moment::default() };
        "hand"
    }

    /// Rules 1.4: a card is burnt before flop, turn and river.
    fn street(&mut self, street: v1::Street) -> &'static str {
        let flop = self.now.holes.len() * self.hole_cards + 1;
        let places = [flop, flop + 1, flop + 2, flop + 4, flop + 6];
        let (before, after) = match street {
            v1::Street::Flop => (0, 3),
            v1::Street::Turn => (3, 4),
            v1::Street::River => (4, 5),
            other => panic!("cards for {other:?}"),
        };
        if self.now.board.len() != before {
            let (hand, cards) = (self.now.hand, self.now.board.len());
            self.faults.push(format!("hand {hand}: {street:?} after {cards} cards"));
        }
        self.now.board = numbers(&self.decks[&self.now.hand], places.into_iter().take(after));
        "street"
    }

    fn acted(&mut self, acted: &v1::PlayerActed) -> &'static str {
        if acted.action() == v1::Action::Fold {
            self.now.folded.insert(acted.seat);
        }
        match (acted.by(), acted.all_in) {
            (v1::ActedBy::TimeOut, _) => "act by time-out",
            (v1::ActedBy::Absent, _) => "act of an absent one",
            (_, true) => "all-in",
            _ if acted.action() == v1::Action::Fold => "fold",
            _ => "act",
        }
    }

    /// Rules 6.4 to 6.6: a hand lies open only if it is in a showdown or in a run-out without further betting, or if
    /// its owner won without a showdown and wants it.
    fn shown(&mut self, seat: u32, acting: bool) -> &'static str {
        let asked = self.asked_to_show.contains(&(self.now.hand, seat));
        let contested = self.now.live() >= 2 && !acting;
        let out = self.now.folded.contains(&seat) || self.now.mucked.contains(&seat);
        if out || !(asked || contested) {
            self.faults.push(format!("hand {}: seat {seat} is shown and ought not to be", self.now.hand));
        }
        self.now.shown.insert(seat);
        if asked { "show of the winner" } else { "show" }
    }
}
