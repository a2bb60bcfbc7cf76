//! The order of hands against a published evaluator, which shares no code with ours.

use std::collections::BTreeMap;

use conformance::cards::faces;
use conformance::deals::Deals;
use conformance::ranking::deck;
use rs_poker::core::{Card as TheirCard, Rank as TheirValue, SevenCardAccum, Suit, Value};
use rules::{Card, HandValue, evaluate};

/// How many random hands; a debug build takes fewer.
const HANDS: usize = if cfg!(debug_assertions) { 200_000 } else { 4_000_000 };

fn theirs(cards: &[Card]) -> TheirValue {
    let mut gathered = SevenCardAccum::new();
    for card in cards {
        let suit = match card.suit() {
            rules::Suit::Clubs => Suit::Club,
            rules::Suit::Diamonds => Suit::Diamond,
            rules::Suit::Hearts => Suit::Heart,
            rules::Suit::Spades => Suit::Spade,
        };
        gathered.add(TheirCard::new(Value::from_u8(card.rank() as u8), suit));
    }
    gathered.rank()
}

/// Which of their values stands for which of ours.
#[derive(Default)]
struct Pairs(BTreeMap<HandValue, TheirValue>);

impl Pairs {
    fn see(&mut self, cards: &[Card]) {
        let (our, their) = (evaluate(cards), theirs(cards));
        let before = *self.0.entry(our).or_insert(their);
        assert_eq!(before, their, "{}: {our} has two of their values", faces(cards));
    }

    /// The better of two of ours is the better of theirs, and the categories have the same places.
    fn check_order(&self) {
        let mut pairs = self.0.iter();
        let mut lower = pairs.next().expect("at least one hand");
        for pair in pairs {
            assert!(lower.1 < pair.1, "{} and {}: their order is another", lower.0, pair.0);
            lower = pair;
        }
        for (our, their) in &self.0 {
            assert_eq!(our.category() as u8, their.category() as u8, "{our}");
        }
    }
}

#[test]
fn all_five_card_hands_are_ordered_alike() {
    let mut pairs = Pairs::default();
    let deck: Vec<Card> = deck().collect();
    for (a, first) in deck.iter().enumerate() {
        for (b, second) in deck.iter().enumerate().skip(a + 1) {
            for (c, third) in deck.iter().enumerate().skip(b + 1) {
                for (d, fourth) in deck.iter().enumerate().skip(c + 1) {
                    for fifth in &deck[d + 1..] {
                        pairs.see(&[*first, *second, *third, *fourth, *fifth]);
                    }
                }
            }
        }
    }
    assert_eq!(pairs.0.len(), 7_462);
    pairs.check_order();
}

#[test]
fn random_six_and_seven_card_hands_are_ordered_alike() {
    let mut pairs = Pairs::default();
    let mut deals = Deals::from_seed(612);
    for _ in 0..HANDS {
        let seven: [Card; 7] = deals.cards();
        pairs.see(&seven);
        pairs.see(&seven[..6]);
    }
    pairs.check_order();
}
