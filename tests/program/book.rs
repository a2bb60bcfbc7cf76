//! Reads what the demo tells, and keeps its books again from nothing but that text.

use std::collections::{BTreeMap, BTreeSet};

/// A page: a heading and its entries.
#[derive(Debug, Default)]
pub struct Page {
    /// Whose: `Emerald`.
    pub table: String,
    /// What: `hand 3`, `after 3 hands`.
    pub what: String,
    /// Label and text; lines without a label go with the label before them.
    pub entries: Vec<(String, String)>,
}

const LABEL: usize = 14;

/// The pages of a table each.
pub fn pages(text: &str) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("-- ") {
            let (table, what) = title.split_once(": ").unwrap_or((title, ""));
            let what = what.split(" (").next().unwrap_or_default();
            pages.push(Page { table: table.to_owned(), what: what.to_owned(), entries: Vec::new() });
        } else if let Some(page) = pages.last_mut()
            && !line.is_empty()
        {
            let (label, rest) = line.split_at_checked(LABEL).unwrap_or((line, ""));
            match page.entries.last_mut() {
                Some((_, text)) if label.trim().is_empty() => {
                    text.push('\n');
                    text.push_str(rest);
                }
                _ => page.entries.push((label.trim().to_owned(), rest.to_owned())),
            }
        }
    }
    pages.retain(|page| !page.what.is_empty());
    pages
}

impl Page {
    /// The text of an entry, if the page has it.
    pub fn entry(&self, label: &str) -> Option<&str> {
        self.entries.iter().find(|(name, _)| name == label).map(|(_, text)| text.as_str())
    }

    /// Names and amounts of an entry, in cents: `Ada 200.00 (+1.50), Boris 3.00`.
    pub fn amounts(&self, label: &str) -> Vec<(String, i64)> {
        let text = self.entry(label).unwrap_or_default();
        let one = |piece: &str| {
            let mut words = piece.split_whitespace();
            (words.next().unwrap().to_owned(), cents(words.next().unwrap()))
        };
        text.replace('\n', " ").split(", ").filter(|piece| !piece.trim().is_empty()).map(one).collect()
    }

    /// All cards on the page, as `Kh`.
    pub fn cards(&self) -> Vec<String> {
        self.entries.iter().flat_map(|(_, text)| cards(text)).collect()
    }
}

/// `12.50` in cents.
pub fn cents(text: &str) -> i64 {
    let (whole, part) = text.split_once('.').unwrap_or_else(|| panic!("{text:?} is no amount"));
    assert_eq!(part.len(), 2, "{text}");
    whole.parse::<i64>().unwrap() * 100 + part.parse::<i64>().unwrap()
}

/// The cards in a text.
pub fn cards(text: &str) -> Vec<String> {
    let word = |word: &str| {
        let word = word.trim_matches(|c| "[]".contains(c));
        let mut letters = word.chars();
        let card = [letters.next(), letters.next(), letters.next()];
        matches!(card, [Some(rank), Some(suit), None] if "23456789TJQKA".contains(rank) && "cdhs".contains(suit))
            .then(|| word.to_owned())
    };
    text.split_whitespace().filter_map(word).collect()
}

/// What does not add up: chips on the table, paid out and raked against those brought in, after each hand.
pub fn faults(pages: &[Page]) -> Vec<String> {
    #[derive(Default)]
    struct Books {
        brought: i64,
        raked: i64,
    }
    let mut books: BTreeMap<&str, Books> = BTreeMap::new();
    let mut faults = Vec::new();
    for page in pages.iter().filter(|page| page.what.starts_with("hand ")) {
        let sum = |label: &str| page.amounts(label).iter().map(|(_, amount)| amount).sum::<i64>();
        let book = books.entry(&page.table).or_default();
        book.brought += sum("sat down") + sum("bought in") - sum("paid out");
        book.raked += cents(page.entry("rake").unwrap().trim());
        if sum("stacks") + book.raked != book.brought {
            faults.push(format!("{} {}: the chips do not add up", page.table, page.what));
        }
        let cards = page.cards();
        if cards.iter().collect::<BTreeSet<_>>().len() != cards.len() {
            faults.push(format!("{} {}: a card is there twice", page.table, page.what));
        }
    }
    faults
}

const SAMPLE: &str = "\
-- Emerald: hand 1 (Double Hold'em, no limit 1.00/2.00 EUR) ------
  sat down    Ada 200.00,
              Boris 100.00
  flop        Qc As 7d  Ada checks
  showdown    Ada    2c [3c] 4c   straight
              Boris  mucks
  main pot    20.00 less 1.00 rake: Ada wins 19.00
  rake        1.00
  stacks      Ada 209.00 (+9.00), Boris 90.00 (-10.00)
";

#[test]
fn the_books_find_a_missing_chip_and_a_second_ace() {
    assert!(faults(&pages(SAMPLE)).is_empty());
    for (found, planted) in [("Boris 90.00", "Boris 89.99"), ("rake        1.00", "rake        1.01")] {
        assert_eq!(faults(&pages(&SAMPLE.replace(found, planted))).len(), 1, "{planted}");
    }
    let twice = SAMPLE.replace("[3c]", "[As]");
    assert_eq!(faults(&pages(&twice)), ["Emerald hand 1: a card is there twice"]);
}
