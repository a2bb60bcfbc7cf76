//! Two operators, `alpha` and `beta`, where a test needs more than the one without a token.

use fulcrum::grpc::{ServeConfig, Tokens};

/// The token of `alpha`.
pub const ALPHA: &str = "alpha-0123456789abcdef";
/// The token of `beta`.
pub const BETA: &str = "beta-fedcba9876543210";

/// A server for both, and for nobody else.
pub fn two_operators() -> ServeConfig {
    let tokens = Tokens::read(&format!("alpha {ALPHA}\nbeta {BETA}\n")).expect("a token file");
    ServeConfig { tokens: Some(tokens), ..ServeConfig::default() }
}
