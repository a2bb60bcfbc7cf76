//! Rules 1.3: one deck of 52 cards, and the order of its suits.

use crate::text::{cards, faces};
use rules::{Card, Deck, NotADeck, Suit};

#[test]
fn r1_3_a_deck_has_each_card_once() {
    let ordered = Deck::ordered();
    assert_eq!(faces(&ordered.cards()[..5]), "2c 2d 2h 2s 3c");
    assert_eq!(faces(&ordered.cards()[48..]), "Ac Ad Ah As");
    assert_eq!(Deck::new(*ordered.cards()), Ok(ordered));
}

#[test]
fn r1_3_the_order_of_a_deck_is_kept() {
    let mut reversed = *Deck::ordered().cards();
    reversed.reverse();
    let deck = Deck::new(reversed).expect("the same cards from the other end");
    assert_eq!(faces(&deck.cards()[..3]), "As Ah Ad");
    assert_ne!(deck, Deck::ordered());
}

#[test]
fn r1_3_a_card_twice_is_no_deck() {
    let whole = *Deck::ordered().cards();
    for place in 0..52 {
        let mut doubled = whole;
        doubled[place] = whole[(place + 1) % 52];
        assert_eq!(Deck::new(doubled), Err(NotADeck), "card {place} is missing");
    }
}

#[test]
fn r1_3_spades_above_hearts_above_diamonds_above_clubs() {
    let letters: String = Suit::ALL.into_iter().map(Suit::letter).collect();
    assert_eq!(letters, "cdhs");
    assert!(Suit::ALL.is_sorted());
    assert_eq!(cards("2c 2d 2h 2s").iter().map(|c| c.index()).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn debug_shows_neither_a_card_nor_what_is_coming() {
    let deck = Deck::ordered();
    assert_eq!(format!("{deck:?}"), "Deck(..)");
    for card in deck.cards() {
        assert_eq!(format!("{card:?}"), "Card(..)");
        assert_eq!(Card::parse(&card.face().to_string()), Some(*card));
    }
}
