//! Finds cards in text, however they are spelled.

use std::sync::LazyLock;

const RANKS: [&str; 13] =
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace"];
const SUITS: [&str; 4] = ["clubs", "diamonds", "hearts", "spades"];
const RANK_LETTERS: &str = "23456789TJQKA";
const SUIT_LETTERS: &str = "cdhs";

/// `aceofspades`, of all cards.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    RANKS.iter().flat_map(|rank| SUITS.iter().map(move |suit| format!("{rank}of{suit}"))).collect()
});

/// The first card that the text names: as a word (`Ah`, also several of them in one: `AhKd`), or with its name
/// (`CARD_ACE_OF_HEARTS`, `AceOfHearts`, `ace of hearts`).
pub fn find(text: &str) -> Option<String> {
    words(text).find(|word| is_faces(word)).map(str::to_owned).or_else(|| name(text))
}

/// As [`find`], but a digit and an `s` are no card: logs of others tell seconds so.
pub fn find_but_seconds(text: &str) -> Option<String> {
    let seconds = |word: &str| matches!(word.as_bytes(), [b'2'..=b'9', b's']);
    words(text).find(|word| is_faces(word) && !seconds(word)).map(str::to_owned).or_else(|| name(text))
}

/// The words of a text. A UUID, of which a part may look like cards, is none.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let whole = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    whole.filter(|word| word.len() != 36 || word.matches('-').count() != 4).flat_map(|word| word.split('-'))
}

/// Whether a word is made of faces only.
fn is_faces(word: &str) -> bool {
    let face = |pair: &[u8]| {
        let known = |letters: &str, letter: u8| letters.as_bytes().contains(&letter);
        matches!(pair, [rank, suit] if known(RANK_LETTERS, *rank) && known(SUIT_LETTERS, *suit))
    };
    !word.is_empty() && word.as_bytes().chunks(2).all(face)
}

fn name(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    // Nearly all text ends here.
    if !SUITS.iter().any(|suit| lower.contains(suit)) {
        return None;
    }
    let bare: String = lower.chars().filter(char::is_ascii_alphanumeric).collect();
    NAMES.iter().find(|name| bare.contains(name.as_str())).cloned()
}

#[test]
fn cards_are_found_in_every_spelling() {
    for text in [
        "Ah",
        "the board is 2c, 3d",
        "holes=AhKd",
        "[Ts]",
        "Ah-Kd",
        "CARD_ACE_OF_SPADES",
        "cards: [TwoOfClubs]",
        "the ace of spades",
        "[SevenOfDiamonds, X]",
    ] {
        assert!(find(text).is_some(), "{text}");
        assert!(find_but_seconds(text).is_some(), "{text}");
    }
    assert_eq!(find("3s").as_deref(), Some("3s"));
    let uuid = "8c3d7d2c-2c3d-4d4c-9d8c-2c3d4c5d6c7d";
    for text in ["", "full house, queens full of tens", "3s", "15s", uuid, "Card(..)", "two pair", "spades"] {
        assert_eq!(find_but_seconds(text), None, "{text}");
    }
}
