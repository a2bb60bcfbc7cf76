//! The rule book as tests: a module a section, a test a rule, named after its number.

mod blinds;
mod blinds_every_table;
mod blinds_sessions;
mod deck;
mod evaluation;
mod pivot;
mod posts;
mod text;
