//! The words that commands, events and state share.

use crate::Chips;

/// A betting decision as asked for. Amounts are "to": what then lies before the player on this street.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Give up the hand.
    Fold,
    /// Pass; legal only where it is free.
    Check,
    /// Match the bet.
    Call,
    /// Open the street's betting.
    Bet(Chips),
    /// Raise.
    Raise(Chips),
    /// Put everything in, as the call, bet or raise that it then is.
    AllIn,
}

/// When a player wants to sit out (rules 9.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// From the next hand on.
    NextHand,
    /// When the big blind reaches him.
    NextBigBlind,
}

/// Who made a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// The player.
    Player,
    /// His clock, when it ran out (rules 5.9, 4.6).
    TimeOut,
    /// The rules at once, because he has left or sits out (rules 9.1, 4.6).
    Absence,
}

/// What a player did with his bet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Play {
    /// Gave up the hand.
    Fold,
    /// Passed without a bet.
    Check,
    /// Matched the bet, as far as his chips go.
    Call,
    /// Opened the betting of the street.
    Bet,
    /// Raised the bet.
    Raise,
}

/// What a prompt asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PromptKind {
    /// A betting decision.
    Act,
    /// A pivot.
    Pick,
}

/// Why a player sits out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SatOutReason {
    /// He asked to.
    Asked,
    /// Too many time-outs in a row (rules 8.3).
    TimedOut,
    /// No chips are left.
    NoChips,
}

/// Why a player has left the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaveReason {
    /// He asked to.
    Asked,
    /// He sat out too long (rules 8.3).
    SatOutTooLong,
    /// The table was closed.
    TableClosed,
}

/// What a soft stop covers (rules 9.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum StopScope {
    /// The whole service.
    Service,
    /// All tables of the operator.
    Operator,
    /// All tables of the game.
    Game,
    /// This table.
    Table,
    /// This table, by the service itself, because its books do not balance (rules 10.3).
    Malfunction,
}
