//! Colour for terminals, and plain text for everything else.

use std::io::{self, IsTerminal};

use console::measure_text_width;
use rules::{Card, Suit};

/// The widest that lines get, however wide the terminal is: longer ones are hard to read.
const WIDEST: usize = 110;
/// The narrowest that lines are wrapped to.
const NARROWEST: usize = 40;

/// What a piece of text is, which decides its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// A heading.
    Title,
    /// A label, and what matters little.
    Faint,
    /// Who won what.
    Good,
    /// Who lost what.
    Bad,
    /// A bet, raise or all-in.
    Bold,
    /// A pivot.
    Pivot,
    /// Anything else.
    Plain,
}

/// How text comes out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paint {
    rich: bool,
    width: usize,
}

impl Paint {
    /// Without a single escape code.
    pub const PLAIN: Paint = Paint { rich: false, width: 100 };

    /// With colours, at this width.
    #[must_use]
    pub const fn rich(width: usize) -> Paint {
        Paint { rich: true, width }
    }

    /// As the standard output takes it: colours if it is a terminal and `NO_COLOR` is not set (or empty), as
    /// no-color.org asks.
    #[must_use]
    pub fn for_stdout() -> Paint {
        let quiet = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        if !io::stdout().is_terminal() || quiet {
            return Paint::PLAIN;
        }
        let columns = console::Term::stdout().size_checked().map_or(80, |(_, columns)| usize::from(columns));
        Paint::rich(columns.clamp(NARROWEST, WIDEST))
    }

    /// How wide lines are.
    #[must_use]
    pub const fn width(self) -> usize {
        self.width
    }

    /// Whether there are colours, and signs beyond ASCII.
    #[must_use]
    pub const fn is_rich(self) -> bool {
        self.rich
    }

    /// A piece of text in its tone.
    #[must_use]
    pub fn tone(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Title => "1;36",
            Tone::Faint => "2",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Bold => "1",
            Tone::Pivot => "35",
            Tone::Plain => return text.to_owned(),
        };
        self.coded(code, text)
    }

    /// A card: `K♥` in the colour of its suit, or `Kh`.
    #[must_use]
    pub fn card(self, card: Card) -> String {
        if !self.rich {
            return card.face().to_string();
        }
        let (sign, code) = match card.suit() {
            Suit::Clubs => ('♣', "1;32"),
            Suit::Diamonds => ('♦', "1;34"),
            Suit::Hearts => ('♥', "1;31"),
            Suit::Spades => ('♠', "1"),
        };
        self.coded(code, &format!("{}{sign}", card.rank().letter()))
    }

    /// Cards side by side.
    #[must_use]
    pub fn cards(self, cards: &[Card]) -> String {
        let cards: Vec<String> = cards.iter().map(|card| self.card(*card)).collect();
        cards.join(" ")
    }

    /// A heading with a line behind it, as wide as the page.
    #[must_use]
    pub fn heading(self, text: &str) -> String {
        let dash = if self.rich { "─" } else { "-" };
        let rest = self.width.saturating_sub(measure_text_width(text) + 4).max(3);
        let (before, after) = (dash.repeat(2), dash.repeat(rest));
        format!("{} {} {}", self.tone(Tone::Faint, &before), text, self.tone(Tone::Faint, &after))
    }

    /// A label and pieces of text after it, `separator` between them, wrapped between the pieces.
    #[must_use]
    pub fn entry(self, label: &str, pieces: &[String], separator: &str) -> String {
        const INDENT: usize = 14;
        let mut text =
            format!("  {}", self.tone(Tone::Faint, &format!("{label:<width$}", width = INDENT - 2)));
        let mut column = INDENT;
        for (index, piece) in pieces.iter().enumerate() {
            let last = index + 1 == pieces.len();
            let piece = if last { piece.clone() } else { format!("{piece}{separator}") };
            let width = measure_text_width(&piece);
            if column > INDENT && column + width > self.width {
                text.truncate(text.trim_end().len());
                text.push('\n');
                text.push_str(&" ".repeat(INDENT));
                column = INDENT;
            }
            text.push_str(&piece);
            column += width;
        }
        text.push('\n');
        text
    }

    fn coded(self, code: &str, text: &str) -> String {
        if self.rich { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KING: Card = Card::new(rules::Rank::King, Suit::Hearts);

    #[test]
    fn plain_text_has_no_escape_code() {
        let paint = Paint::PLAIN;
        let all = [
            paint.tone(Tone::Bad, "a"),
            paint.card(KING),
            paint.heading("title"),
            paint.entry("label", &["one".into(), "two".into()], ", "),
        ]
        .concat();
        assert!(all.is_ascii() && !all.contains('\u{1b}'), "{all:?}");
        assert!(all.contains("Kh"), "{all}");
    }

    #[test]
    fn a_terminal_sees_suits_in_colour() {
        assert_eq!(Paint::rich(80).card(KING), "\u{1b}[1;31mK♥\u{1b}[0m");
    }

    #[test]
    fn a_heading_is_as_wide_as_the_page() {
        for paint in [Paint::PLAIN, Paint::rich(60)] {
            assert_eq!(measure_text_width(&paint.heading("a title")), paint.width);
        }
    }

    #[test]
    fn entries_wrap_between_their_pieces() {
        let pieces: Vec<String> = (10..30).map(|n| format!("piece {n}")).collect();
        let text = Paint::rich(60).entry("label", &pieces, " · ");
        assert!(text.lines().count() > 3, "{text}");
        for line in text.lines() {
            assert!(measure_text_width(line) <= 60, "{line}");
            assert!(!line.ends_with(' '), "{line:?}");
        }
        let words = text.split_whitespace().filter(|word| word.parse::<u32>().is_ok()).count();
        assert_eq!(words, 20, "no piece is lost");
    }
}
