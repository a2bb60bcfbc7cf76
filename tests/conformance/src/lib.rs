//! Recorded and generated hands replayed through the rules crate, and everything that such a replay needs: the files,
//! the ranking of all hands that the records count in, and random deals that come again from their seed.
//!
//! What is absent: no server and no store. What goes through those is tested elsewhere.

pub mod autopivot;
pub mod card_deck;
pub mod cards;
pub mod deals;
pub mod difference;
pub mod evaluation;
pub mod files;
pub mod hand;
pub mod life;
pub mod player;
pub mod ranking;
pub mod record;
pub mod replay;
pub mod setup;
pub mod showdown;
