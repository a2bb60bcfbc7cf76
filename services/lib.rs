//! Fulcrum.

pub mod grpc;
pub mod pb;
pub mod store;
