//! Decks that deal what a record says.

use rules::{Card, Deck, evaluate};

use crate::cards::Cards;
use crate::hand::HandRecord;
use crate::ranking::deck as all_cards;

/// The deck that deals these hole cards, first seat left of the button first, and then this board, with a burn before
/// each street (rules 1.4). What is not given, burns and all that comes after, is any of the other cards.
///
/// Nothing, if a card is there twice or the hands are of different size.
#[must_use]
pub fn card_deck<H: AsRef<[Card]>>(holes: &[H], board: &[Card]) -> Option<Deck> {
    let n = holes.len();
    let each = holes.first()?.as_ref().len();
    let mut places: [Option<Card>; 52] = [None; 52];
    for (player, hole) in holes.iter().enumerate() {
        if hole.as_ref().len() != each {
            return None;
        }
        for (round, card) in hole.as_ref().iter().enumerate() {
            *places.get_mut(round * n + player)? = Some(*card);
        }
    }
    for (card, after_holes) in board.iter().zip([1, 2, 3, 5, 7]) {
        *places.get_mut(each * n + after_holes)? = Some(*card);
    }
    let given: Vec<Card> = places.iter().flatten().copied().collect();
    let mut others = all_cards().filter(|card| !given.contains(card));
    let mut cards = [*given.first()?; 52];
    for (card, place) in cards.iter_mut().zip(places) {
        *card = place.or_else(|| others.next())?;
    }
    Deck::new(cards).ok()
}

/// The cards of each player of a record. Cards that nobody has seen become such that win as little as any: what a
/// record does not know was folded, or thrown away at the showdown.
#[must_use]
pub fn holes(record: &HandRecord) -> Vec<[Card; 2]> {
    let mut taken: Vec<Card> = record.holes.iter().flatten().flat_map(|cards| cards.0).collect();
    taken.extend(&record.board);
    let mut unseen = |cards: &Option<Cards<2>>| match cards {
        Some(known) => known.0,
        None => {
            let lowest = lowest(&taken, &record.board);
            taken.extend(lowest);
            lowest
        }
    };
    record.holes.iter().map(&mut unseen).collect()
}

/// The two cards that are worth least with the board, out of those not taken.
fn lowest(taken: &[Card], board: &[Card]) -> [Card; 2] {
    let free: Vec<Card> = all_cards().filter(|card| !taken.contains(card)).collect();
    let pairs = free.iter().enumerate().flat_map(|(place, low)| {
        let higher = &free[place + 1..];
        higher.iter().map(move |high| [*low, *high])
    });
    if board.len() < 5 {
        // There was no showdown.
        return [free[0], free[1]];
    }
    let worth = |pair: &[Card; 2]| {
        let mut seven = board.to_vec();
        seven.extend(pair);
        evaluate(&seven)
    };
    pairs.min_by_key(worth).unwrap_or([free[0], free[1]])
}
