//! Bad input, of whatever kind: a precise refusal, nothing changed, and the table plays on.

#[path = "../program/child.rs"]
#[allow(dead_code, reason = "the program's tests need more of it")]
mod child;
pub mod contract;
mod crowd;
mod fields;
mod fuzz;
mod garbage;
mod repeated;
mod scene;
mod strangers;
mod table_of_faults;
pub mod transport;
mod turns;
