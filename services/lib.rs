//! Fulcrum.

pub mod pb;
pub mod store;
