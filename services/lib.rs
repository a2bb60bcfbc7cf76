//! Fulcrum.

pub mod pb;
