//! A hand as a trace: made from its committed events when it is over, by whichever server ended it or finds it left over.

pub mod deliveries;
pub mod export;
pub mod gather;
pub mod ids;
pub mod names;
pub mod span;
pub mod sweep;
pub mod teller;
pub mod timeline;
mod words;

pub use self::ids::HandTrace;
pub use self::names::Names;
pub use self::span::{Mark, Span, Value};
pub use self::teller::{HandTraces, Teller};
pub use self::timeline::{Told, timeline};
