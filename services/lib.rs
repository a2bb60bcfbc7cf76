//! Fulcrum: poker tables over gRPC. The parts are put together in `cli/node.rs`.

pub mod cli;
pub mod config;
pub mod grpc;
pub mod pb;
pub mod store;
pub mod telemetry;
pub mod wallet;
