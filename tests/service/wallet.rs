//! Seats and chips that the operator's wallet pays for, over real sockets on both sides: an operator's backend that calls
//! us, and a wallet that we call.

mod away;
pub mod bank;
mod death;
mod honest;
mod hostile;
mod late;
mod parked;
mod pipe;
mod repeats;
mod rogue;
pub mod room;
