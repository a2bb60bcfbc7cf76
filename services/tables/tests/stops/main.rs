//! Soft stops (rules 9.4) in paused time: what is stopped begins nowhere, shows on tables, and goes on when it is lifted,
//! in whatever order processes see it, fail and die.

#[path = "../common/mod.rs"]
mod common;
mod money;
mod processes;
mod registry;
mod scene;
mod scopes;
