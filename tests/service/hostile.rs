//! Bad input, of whatever kind: a precise refusal, nothing changed, and the table plays on.

pub mod contract;
mod crowd;
mod fields;
mod fuzz;
mod garbage;
mod repeated;
mod scene;
mod strangers;
mod table_of_faults;
mod turns;
