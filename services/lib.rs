//! Fulcrum.
