//! How good a hand is, by dealing the unseen cards many times. For bots: it knows what its player knows.

use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;
use rules::{Card, HandValue, Pick, auto_pick, evaluate, pivot_value};

/// What a player knows when he wonders how good his hand is.
#[derive(Clone, Copy)]
pub struct Spot<'a> {
    /// His cards in the order dealt: two, or three in Double Hold'em.
    pub own: &'a [Card],
    /// His pivot, once picked.
    pub pick: Option<Pick>,
    /// The board, up to five cards.
    pub board: &'a [Card],
    /// How many others are still in.
    pub opponents: usize,
}

impl Spot<'_> {
    /// How often in a thousand the hand wins against hands dealt at random, half of them where it ties; estimated from
    /// this many deals. Without cards of his own nobody wins.
    #[must_use]
    pub fn wins(&self, deals: u32, rng: &mut Xoshiro256PlusPlus) -> u32 {
        if self.own.is_empty() || deals == 0 {
            return 0;
        }
        let mut unseen: Vec<Card> = (0..52)
            .filter_map(Card::from_index)
            .filter(|c| !self.own.contains(c) && !self.board.contains(c))
            .collect();
        let halves: u32 = (0..deals).map(|_| self.deal(&mut unseen, rng)).sum();
        halves * 500 / deals
    }

    /// The pick that wins most often.
    #[must_use]
    pub fn best_pick(&self, deals: u32, rng: &mut Xoshiro256PlusPlus) -> Pick {
        let mut wins = |pick| Spot { pick: Some(pick), ..*self }.wins(deals, rng);
        let [mut best, ..] = Pick::ALL;
        let mut most = 0;
        for pick in Pick::ALL {
            let often = wins(pick);
            if often > most {
                (best, most) = (pick, often);
            }
        }
        best
    }

    /// One deal: 2 for a win, 1 for a tie with the best of the others, 0 for a loss.
    fn deal(&self, unseen: &mut [Card], rng: &mut Xoshiro256PlusPlus) -> u32 {
        let missing = 5_usize.saturating_sub(self.board.len());
        let wanted = (missing + self.opponents * self.own.len()).min(unseen.len());
        for place in 0..wanted {
            let other = rng.random_range(place..unseen.len());
            unseen.swap(place, other);
        }
        let (rest_of_board, others) = unseen[..wanted].split_at(missing.min(wanted));
        let board: Vec<Card> = self.board.iter().chain(rest_of_board).copied().collect();
        let own = value(self.own, self.pick, &board);
        let best = others.chunks_exact(self.own.len()).map(|cards| value(cards, None, &board)).max();
        match best.map_or(std::cmp::Ordering::Greater, |best| own.cmp(&best)) {
            std::cmp::Ordering::Greater => 2,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Less => 0,
        }
    }
}

/// What the cards are worth; three cards without a pick are played as the clock would play them (rules 4.6).
fn value(cards: &[Card], pick: Option<Pick>, board: &[Card]) -> HandValue {
    if let Ok(three) = <&[Card; 3]>::try_from(cards) {
        return pivot_value(three, pick.unwrap_or_else(|| auto_pick(three)), board).best();
    }
    let all: Vec<Card> = cards.iter().chain(board).copied().take(7).collect();
    evaluate(&all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn cards(text: &str) -> Vec<Card> {
        text.split_whitespace().map(|card| Card::parse(card).unwrap()).collect()
    }

    fn wins(own: &str, board: &str, opponents: usize) -> u32 {
        let (own, board) = (cards(own), cards(board));
        let spot = Spot { own: &own, pick: None, board: &board, opponents };
        spot.wins(2000, &mut Xoshiro256PlusPlus::seed_from_u64(1))
    }

    #[test]
    fn known_odds_come_out() {
        // Aces win 85.2 % heads-up and 49.2 % against five; seven-deuce offsuit wins 34.6 % heads-up.
        assert!((830..875).contains(&wins("As Ah", "", 1)));
        assert!((455..530).contains(&wins("As Ah", "", 5)));
        assert!((310..380).contains(&wins("7s 2h", "", 1)));
    }

    #[test]
    fn the_nuts_always_win_and_a_played_board_always_ties() {
        assert_eq!(wins("As Ks", "Qs Js Ts 2d 3c", 5), 1000);
        assert_eq!(wins("2c 3d", "As Ks Qs Js Ts", 3), 500);
    }

    #[test]
    fn a_pivot_is_picked_for_its_hands_and_not_for_its_rank() {
        // Nines and a nine on the board: with the ace in the middle the nines would not play together.
        let (own, board) = (cards("9c Ad 9h"), cards("9s 4d 2c"));
        let spot = Spot { own: &own, pick: None, board: &board, opponents: 2 };
        let pick = spot.best_pick(400, &mut Xoshiro256PlusPlus::seed_from_u64(2));
        assert_ne!(pick.index(), 1);
    }

    #[test]
    fn a_full_table_of_three_cards_each_can_be_dealt() {
        assert!(wins("As Ah Ad", "", 9) > 0);
        assert_eq!(wins("", "", 3), 0);
    }
}
