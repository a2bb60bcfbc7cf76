//! The rules of Double Hold'em and Texas Hold'em.
//!
//! What is absent, on purpose: no async, no I/O, no clock, no randomness, no serialisation. Time, decks and draws
//! are arguments; the crate has no dependencies and is `no_std`, so that the compiler holds this line.
#![no_std]
// Chips are whole numbers. Overflow is checked in release builds too: the profile says so.
#![deny(clippy::float_arithmetic)]

extern crate alloc;

mod betting;
pub mod blinds;
pub mod card;
pub mod chips;
pub mod clock;
pub mod command;
pub mod config;
mod course;
mod dealing;
mod decide;
pub mod deck;
mod draft;
pub mod evaluate;
pub mod event;
mod evolve;
mod evolve_hand;
mod evolve_payment;
pub mod hand;
pub mod hand_value;
mod hand_words;
pub mod invariant;
pub mod legal;
mod lifecycle;
pub mod lost;
pub mod paying;
pub mod payment;
pub mod pivot;
pub mod player;
mod playing;
pub mod posts;
pub mod pots;
pub mod rake;
mod rank_set;
pub mod refusal;
pub mod result;
pub mod seat;
mod seating;
mod settle;
pub mod showdown;
pub mod stakes;
pub mod table;
pub mod terms;
pub mod time;
pub mod view;

pub use card::{Card, Rank, Suit};
pub use chips::Chips;
pub use clock::Due;
pub use command::{Action, Ask, Command, Wish};
pub use config::{Clocks, ConfigFault, Game, Limit, PivotOrder, Rake, Refill, TableConfig};
pub use deck::{Deck, NotADeck};
pub use evaluate::{Holding, evaluate};
pub use event::Event;
pub use hand::{Accepted, Decision, Hand, Holes, Street};
pub use hand_value::{Category, HandValue};
pub use legal::{Legal, RaiseRange};
pub use pivot::{Counts, Pick, PivotValue, auto_pick, pivot_order, pivot_value, two_hands};
pub use player::PlayerId;
pub use refusal::Refusal;
pub use seat::{SeatNo, SeatSet};
pub use stakes::{Ante, PostKind, Stakes};
pub use table::Table;
pub use time::Millis;
