//! The dealer of a test: decks that were laid out for a hand, else a shuffle that is the same each time.

use std::collections::HashMap;
use std::sync::Mutex;

use rules::{Card, Deck};
use tables::{Dealer, TableKey};

/// Decks by table and hand. Hands for which none was laid out get a shuffle made from their names.
#[derive(Default)]
pub struct Decks {
    laid_out: Mutex<HashMap<(String, u64), Deck>>,
    draws: Mutex<HashMap<String, u64>>,
}

impl Decks {
    /// Lays out the deck of a hand.
    pub fn lay_out(&self, table: &str, hand: u64, deck: Deck) {
        self.laid_out.lock().unwrap().insert((table.to_owned(), hand), deck);
    }

    /// Places the first button of a table: at the occupied seat with this place among them, from 0.
    pub fn first_button(&self, table: &str, place: u64) {
        self.draws.lock().unwrap().insert(table.to_owned(), place);
    }
}

impl Dealer for Decks {
    fn deck(&self, key: &TableKey, hand: u64) -> Deck {
        let table = key.table.to_string();
        let laid_out = self.laid_out.lock().unwrap().remove(&(table, hand));
        laid_out.unwrap_or_else(|| shuffled(key.table.0.as_u64_pair().0 ^ hand))
    }

    fn draw(&self, key: &TableKey, _: u64) -> u64 {
        self.draws.lock().unwrap().get(&key.table.to_string()).copied().unwrap_or(0)
    }
}

/// The deck that deals these cards: `hands` in the order of dealing, first the seat left of the button, `board` of up
/// to five cards. All other cards follow in their order (rules 1.4: a burn before flop, turn and river).
pub fn arranged(hands: &[&str], board: &str) -> Deck {
    let hands: Vec<Vec<Card>> = hands.iter().map(|hand| cards(hand)).collect();
    let board = cards(board);
    let named: Vec<Card> = hands.iter().flatten().chain(&board).copied().collect();
    let rest = Deck::ordered();
    let mut rest = rest.cards().iter().copied().filter(|card| !named.contains(card));
    let mut order = Vec::with_capacity(52);
    for round in 0..hands.first().map_or(0, Vec::len) {
        order.extend(hands.iter().map(|hand| hand[round]));
    }
    for (place, card) in board.iter().enumerate() {
        if [0, 3, 4].contains(&place) {
            order.extend(rest.next());
        }
        order.push(*card);
    }
    order.extend(rest);
    Deck::new(order.try_into().expect("52 cards")).expect("each card once")
}

/// `Ah Kd 2c`, with or without spaces.
pub fn cards(text: &str) -> Vec<Card> {
    let letters: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let parse = |pair: &[char]| Card::parse(&pair.iter().collect::<String>()).expect("a card");
    letters.chunks(2).map(parse).collect()
}

/// The number of a card in the contract.
pub fn number(text: &str) -> i32 {
    i32::from(Card::parse(text).expect("a card").index()) + 1
}

/// The numbers of cards in the contract.
pub fn numbers(text: &str) -> Vec<i32> {
    cards(text).into_iter().map(|card| i32::from(card.index()) + 1).collect()
}

/// A shuffle from a seed (SplitMix64 of Steele, Lea and Flood). For tests: the bias of the remainder is of no matter.
pub fn shuffled(seed: u64) -> Deck {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut cards = *Deck::ordered().cards();
    for last in (1..cards.len()).rev() {
        cards.swap(last, (next() % (last as u64 + 1)) as usize);
    }
    Deck::new(cards).expect("swapping loses no card")
}
