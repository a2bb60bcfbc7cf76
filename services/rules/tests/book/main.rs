//! The rule book as tests: a module a section, a test a rule, named after its number.
//!
//! A `Pitfall` with a number is a row of the owner's list of faults that poker software has had.

mod betting;
mod blinds;
mod blinds_every_table;
mod blinds_sessions;
mod clocks;
mod course;
mod deck;
mod evaluation;
mod fixed_limit;
mod hostile;
mod malfunction;
mod payments;
mod payments_sessions;
mod pivot;
mod pivots;
mod play;
mod posts;
mod pots;
mod rake;
mod refusals;
mod repetitions;
mod seats;
mod secrecy;
mod showdown;
mod stops;
mod text;
