//! The value of a hand in the words that a dealer would say at the showdown.

use core::fmt;

use crate::rank_set::RankSet;
use crate::{Category, HandValue, Rank};

impl fmt::Display for HandValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let category = self.category();
        let (made, kickers) = (self.made(), self.kickers());
        match category {
            Category::StraightFlush if made.descending().eq([Rank::Ace]) => f.write_str("royal flush"),
            Category::StraightFlush | Category::Straight => {
                write!(f, "{category}, {} high", Singular(made))
            }
            Category::HighCard | Category::Flush => write!(f, "{category}, {}", Singular(kickers)),
            Category::FullHouse => {
                write!(f, "{category}, {} full of {}", Plural(made), Plural(kickers))
            }
            Category::FourOfAKind | Category::TwoPair => {
                write!(f, "{category}, {}, {} kicker", Plural(made), Singular(kickers))
            }
            Category::Pair | Category::ThreeOfAKind => {
                write!(f, "{category}, {}, {} kickers", Plural(made), Singular(kickers))
            }
        }
    }
}

/// `king jack nine`.
struct Singular(RankSet);

impl fmt::Display for Singular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, rank) in self.0.descending().enumerate() {
            let space = if i == 0 { "" } else { " " };
            write!(f, "{space}{}", name(rank))?;
        }
        Ok(())
    }
}

/// `aces and sixes`.
struct Plural(RankSet);

impl fmt::Display for Plural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, rank) in self.0.descending().enumerate() {
            let and = if i == 0 { "" } else { " and " };
            let ending = if rank == Rank::Six { "es" } else { "s" };
            write!(f, "{and}{}{ending}", name(rank))?;
        }
        Ok(())
    }
}

const fn name(rank: Rank) -> &'static str {
    match rank {
        Rank::Two => "deuce",
        Rank::Three => "three",
        Rank::Four => "four",
        Rank::Five => "five",
        Rank::Six => "six",
        Rank::Seven => "seven",
        Rank::Eight => "eight",
        Rank::Nine => "nine",
        Rank::Ten => "ten",
        Rank::Jack => "jack",
        Rank::Queen => "queen",
        Rank::King => "king",
        Rank::Ace => "ace",
    }
}
