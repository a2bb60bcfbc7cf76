//! Cards of the contract as cards of the rules, for whoever plays or tells.

use rules::Card;

/// The cards, without those that are hidden.
pub fn known(cards: &[i32]) -> Vec<Card> {
    cards.iter().filter_map(|number| card(*number)).collect()
}

/// The card of this number of the contract's enum, or nothing for a hidden card.
pub fn card(number: i32) -> Option<Card> {
    let index = number.checked_sub(1)?;
    Card::from_index(u8::try_from(index).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pb::v1;

    #[test]
    fn every_card_of_the_contract_is_the_card_of_its_name() {
        let ranks = [
            "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE", "TEN", "JACK", "QUEEN", "KING",
            "ACE",
        ];
        for number in 1..=52 {
            let name = v1::Card::try_from(number).unwrap().as_str_name();
            let card = card(number).unwrap();
            let suit = ["CLUBS", "DIAMONDS", "HEARTS", "SPADES"][card.suit() as usize];
            let rank = ranks[card.rank() as usize];
            assert_eq!(name, format!("CARD_{rank}_OF_{suit}"));
        }
    }

    #[test]
    fn hidden_and_unknown_cards_are_none() {
        assert_eq!([0, -1, 53, i32::MIN, i32::MAX].map(card), [None; 5]);
    }
}
