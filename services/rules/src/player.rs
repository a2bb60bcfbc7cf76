//! Players, and what a seat remembers of the one who sits there.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use crate::blinds::Debt;
use crate::terms::{SatOutReason, Wish};
use crate::{Chips, Millis};

/// The operator's name for a player: 1 to 64 characters out of letters, digits and `._:-`. Each decision copies the
/// table, and every seat has a name: copies share it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlayerId(Arc<str>);

impl PlayerId {
    /// The name, or nothing if it is too long, empty or has other characters.
    #[must_use]
    pub fn new(name: &str) -> Option<PlayerId> {
        let legal = |c: u8| c.is_ascii_alphanumeric() || b"._:-".contains(&c);
        let fits = (1..=64).contains(&name.len()) && name.bytes().all(legal);
        fits.then(|| PlayerId(name.into()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether a seated player takes part in the coming hands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// He plays.
    In,
    /// He sits out.
    Out {
        /// Since when, ms since the epoch; running for rules 8.3.
        since: Millis,
        /// Why.
        reason: SatOutReason,
    },
    /// He leaves when the running hand is over (rules 9.1).
    Leaving,
}

/// Chips that were asked for while a hand ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pending {
    /// How many, in minor units.
    pub amount: Chips,
    /// The operator's name for the movement of money.
    pub transaction: String,
}

/// An occupied seat.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seat {
    /// Who sits there.
    pub player: PlayerId,
    /// The number of his session at this table, from 1 over all seats.
    pub session: u64,
    /// His chips that are not in a pot, in minor units.
    pub stack: Chips,
    /// What he has brought to the table in this session.
    pub bought_in: Chips,
    /// What he put into the pots of hands that were paid, in this session.
    pub wagered: Chips,
    /// What he won of them, after the rake.
    pub won: Chips,
    /// His part of their rake (rules 7.2); already out of what he won.
    pub raked: Chips,
    /// His money came from the operator's wallet, and goes back to it.
    pub wallet: bool,
    /// Whether he takes part.
    pub presence: Presence,
    /// Since he came he has been dealt in (rules 2.4).
    pub established: bool,
    /// He has never been dealt in in this session (rules 2.10).
    pub newcomer: bool,
    /// He posts to enter at once instead of waiting for the big blind.
    pub post: bool,
    /// Blinds he missed.
    pub debt: Debt,
    /// When he wishes to sit out.
    pub wish: Option<Wish>,
    /// Chips waiting for the end of the hand (rules 9.2); not yet bought in.
    pub pending: Option<Pending>,
    /// The operator's name for the pay-out that he asked for while a hand ran; empty for none.
    pub leaving_transaction: String,
    /// What is left in his time bank.
    pub time_bank: Millis,
    /// Hands dealt to him in this session.
    pub hands: u32,
    /// Time-outs in a row (rules 8.3).
    pub timeouts: u8,
    /// He straddles when he may (rules 2.6).
    pub straddle: bool,
    /// He shows at a showdown also where he could muck (rules 6.4).
    pub always_show: bool,
    /// Why he is not dealt in until the stop is lifted (rules 9.4); empty: he is not stopped.
    pub stopped: String,
}

impl Seat {
    /// Whether he could be dealt into the next hand.
    #[must_use]
    pub fn can_play(&self) -> bool {
        self.presence == Presence::In && !self.stack.is_zero() && self.stopped.is_empty()
    }
}
