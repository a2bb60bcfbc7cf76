//! The rules of Double Hold'em and Texas Hold'em.
//!
//! What is absent, on purpose: no async, no I/O, no clock, no randomness, no serialisation. Time, decks and draws
//! are arguments; the crate has no dependencies and is `no_std`, so that the compiler holds this line.
#![no_std]

extern crate alloc;

pub mod blinds;
pub mod card;
pub mod chips;
pub mod deck;
pub mod evaluate;
pub mod hand_value;
mod hand_words;
pub mod pivot;
pub mod posts;
mod rank_set;
pub mod seat;
pub mod stakes;

pub use card::{Card, Rank, Suit};
pub use chips::Chips;
pub use deck::{Deck, NotADeck};
pub use evaluate::{Holding, evaluate};
pub use hand_value::{Category, HandValue};
pub use pivot::{Counts, Pick, PivotValue, auto_pick, pivot_order, pivot_value, two_hands};
pub use seat::{SeatNo, SeatSet};
pub use stakes::{Ante, PostKind, Stakes};
