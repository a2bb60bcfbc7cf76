//! Decks that deal what a test names: hole cards by seat and the board; the other places are filled with the cards
//! that are left, deuces first.

use rules::{Ask, Card, Command, Deck, Hand, SeatNo};

use super::Play;

/// The cards that a test names for the coming hand.
#[derive(Default)]
pub struct Given {
    holes: Vec<(SeatNo, Vec<Card>)>,
    board: Vec<Card>,
}

/// Reads `AhKd`.
fn run_of_cards(text: &str) -> Vec<Card> {
    assert!(text.is_ascii() && text.len().is_multiple_of(2), "no cards: {text}");
    (0..text.len() / 2)
        .map(|i| Card::parse(&text[2 * i..2 * i + 2]).unwrap_or_else(|| panic!("no cards: {text}")))
        .collect()
}

impl Play {
    /// `1:AhKd 2:QcQd board:QsJdTd2c3h`
    pub(super) fn give_cards(&mut self, words: &[&str]) {
        self.cards = Given::default();
        for word in words {
            let (who, cards) = word.split_once(':').unwrap_or_else(|| panic!("whose: {word}"));
            match who {
                "board" => self.cards.board = run_of_cards(cards),
                seat => self.cards.holes.push((self.seat(seat), run_of_cards(cards))),
            }
        }
    }

    /// The deck for the coming hand, found by beginning it once with any deck.
    pub(super) fn deck(&self, draw: u64) -> Deck {
        let ordered = Box::new(Deck::ordered());
        let ask = Ask::StartHand { deck: ordered, draw };
        let Ok((_, after)) = self.table.step(&Command { at: self.now, ask }) else {
            return Deck::ordered();
        };
        after.hand.as_ref().map_or_else(Deck::ordered, |hand| self.cards.deck_for(hand))
    }
}

impl Given {
    fn deck_for(&self, hand: &Hand) -> Deck {
        let seats: Vec<SeatNo> = hand.dealt.clockwise_after(hand.positions.button).collect();
        let each = hand.player(seats[0]).and_then(|p| p.holes).expect("dealt").cards().len();
        let mut places: [Option<Card>; 52] = [None; 52];
        for (seat, cards) in &self.holes {
            let place = seats.iter().position(|s| s == seat);
            let place = place.unwrap_or_else(|| panic!("{seat} is not dealt in"));
            assert!(cards.len() <= each, "too many cards for {seat}");
            for (round, card) in cards.iter().enumerate() {
                places[round * seats.len() + place] = Some(*card);
            }
        }
        // One card is burnt before the flop, the turn and the river.
        let dealt = seats.len() * each;
        for (card, place) in self.board.iter().zip([1, 2, 3, 5, 7]) {
            places[dealt + place] = Some(*card);
        }
        let named: Vec<Card> = places.iter().flatten().copied().collect();
        let ordered = Deck::ordered();
        let mut rest = ordered.cards().iter().copied().filter(|card| !named.contains(card));
        let cards = places.map(|place| place.or_else(|| rest.next()).expect("a card named twice"));
        Deck::new(cards).expect("a card named twice")
    }
}
