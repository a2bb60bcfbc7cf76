//! The service as callers see it: gRPC in, gRPC out. Handlers read, call and answer; they decide nothing.
//!
//! What is absent, on purpose: rules (they are in `rules`), storage (behind `tables`), and any card that has not come
//! out of a view made for its reader.

mod actions;
mod control;
mod delivering;
mod health;
mod identity;
mod info;
mod layers;
mod parse;
mod pivot;
mod render;
mod reports;
mod request;
pub mod server;
mod serving;
mod settlements;
mod status;
mod tables;
mod watching;

pub use health::alone::HealthListener;
pub use identity::certificates::{Identities, IdentityFault};
pub use identity::jwt::JwtSettings;
pub use identity::jwt::claims::ClaimNames;
pub use identity::jwt::fetch::Source as KeySource;
pub use identity::jwt::published::Reading as KeyReading;
pub use identity::tokens::{TokenFault, Tokens};
pub use layers::counting::Counting;
pub use layers::limits::LimitSettings;
pub use layers::limits::buckets::Rate;
pub use layers::methods::UNKNOWN as UNKNOWN_METHOD;
pub use request::{added, seated};
pub use server::{Listeners, ServeConfig, ServeError, serve};
pub use serving::Connections;
pub use serving::peer::{Peer, PeerIdentity};
pub use serving::tls::{ClientCertificates, Tls, TlsFault, TlsFiles};
