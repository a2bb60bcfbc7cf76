//! How the tables of these tests write cards.

use rules::Card;

/// Reads `Ah Kd 2c`.
pub fn cards(text: &str) -> Vec<Card> {
    text.split_whitespace()
        .map(|card| Card::parse(card).unwrap_or_else(|| panic!("{card:?} is no card in {text:?}")))
        .collect()
}

/// Reads exactly three cards, in the order in which they were dealt.
pub fn three(text: &str) -> [Card; 3] {
    cards(text).try_into().unwrap_or_else(|_| panic!("{text:?} are not three cards"))
}

/// Writes `Ah Kd 2c`.
pub fn faces(cards: &[Card]) -> String {
    let faces: Vec<String> = cards.iter().map(|card| card.face().to_string()).collect();
    faces.join(" ")
}

/// The lines of a table, each split at the arrow between what is given and what is due.
pub fn rows(table: &str) -> impl Iterator<Item = (&str, &str)> {
    table.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let (given, due) = line.split_once("->").unwrap_or_else(|| panic!("no arrow in {line:?}"));
        (given.trim(), due.trim())
    })
}
