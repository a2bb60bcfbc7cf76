//! The rule book as tests: a module a section, a test a rule, named after its number.

mod deck;
mod evaluation;
mod pivot;
mod text;
