//! The rule book as tests: a module a section, a test a rule, named after its number.

mod betting;
mod blinds;
mod blinds_every_table;
mod blinds_sessions;
mod course;
mod deck;
mod evaluation;
mod fixed_limit;
mod pivot;
mod pivots;
mod play;
mod posts;
mod pots;
mod rake;
mod showdown;
mod text;
