//! The metrics as Prometheus reads them: over HTTP, from servers at which there is play.

mod bounds;
mod faults;
mod money;
mod play;
pub mod scraped;
