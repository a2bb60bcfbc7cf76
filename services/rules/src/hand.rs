//! The running hand: cards, bets, turns and what has been accepted.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::blinds::{Debt, Positions};
use crate::deck::Deck;
use crate::pivot::Pick;
use crate::player::PlayerId;
use crate::terms::{Action, Play, PromptKind};
use crate::{Card, Chips, Millis, SeatNo, SeatSet};

/// The four streets (rules 3.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Street {
    PreFlop,
    Flop,
    Turn,
    River,
}

impl Street {
    /// The street after this, if there is one.
    #[must_use]
    pub const fn next(self) -> Option<Street> {
        match self {
            Street::PreFlop => Some(Street::Flop),
            Street::Flop => Some(Street::Turn),
            Street::Turn => Some(Street::River),
            Street::River => None,
        }
    }

    /// How many community cards it brings.
    #[must_use]
    pub const fn cards(self) -> usize {
        match self {
            Street::PreFlop => 0,
            Street::Flop => 3,
            Street::Turn | Street::River => 1,
        }
    }
}

/// One player's hole cards in dealt order; `Debug` is redacted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Holes {
    /// Texas Hold'em.
    Two([Card; 2]),
    /// Double Hold'em.
    Three([Card; 3]),
}

impl Holes {
    /// The cards as dealt.
    #[must_use]
    pub fn cards(&self) -> &[Card] {
        match self {
            Holes::Two(cards) => cards,
            Holes::Three(cards) => cards,
        }
    }

    /// Two or three cards, else nothing.
    #[must_use]
    pub fn from_cards(cards: &[Card]) -> Option<Holes> {
        match *cards {
            [a, b] => Some(Holes::Two([a, b])),
            [a, b, c] => Some(Holes::Three([a, b, c])),
            _ => None,
        }
    }
}

impl fmt::Debug for Holes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Holes({} cards)", self.cards().len())
    }
}

/// A seat's part in the running hand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandPlayer {
    /// Who was dealt in there.
    pub player: PlayerId,
    /// His stack before blinds and antes.
    pub stack_before: Chips,
    /// His bet on this street.
    pub bet: Chips,
    /// What he put into the layers of the pots, this street's bet included.
    pub live: Chips,
    /// What he put whole into the main pot (rules 2.5).
    pub dead: Chips,
    /// What came back to him uncalled.
    pub returned: Chips,
    /// He has folded.
    pub folded: bool,
    /// He has acted on this street.
    pub acted: bool,
    /// His cards.
    pub holes: Option<Holes>,
    /// His pivot.
    pub pick: Option<Pick>,
    /// His pivot's clock ran out (rules 8.3: one time-out with the action of the same turn).
    pub pick_timed_out: bool,
    /// His cards lie open.
    pub shown: bool,
}

/// The betting of one street.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Betting {
    /// The highest bet, or the bring-in: what is to be called.
    pub level: Chips,
    /// The last full bet or raise (rules 5.1).
    pub full_raise: Chips,
    /// Fixed limit: the level of the last bet or raise that counts as full (rules 5.7).
    pub base: Chips,
    /// Fixed limit: full bets and raises so far, without the big blind.
    pub raises: u8,
    /// Live players when the street began, all-in ones counted (rules 5.6).
    pub live_at_start: u8,
}

/// A decision that is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prompt {
    /// Its number within the hand.
    pub turn: u32,
    /// Whose decision: one seat, or several where all pick at once.
    pub seats: SeatSet,
    /// Pivot or bet.
    pub kind: PromptKind,
    /// When it was asked, ms since the epoch.
    pub at: Millis,
    /// When the action or pivot clock ends.
    pub act_by: Millis,
    /// When the time bank ends too; equal to `act_by` for a pivot (rules 4.7).
    pub bank_until: Millis,
}

/// What a player's own decision became, kept so that its repetition gets the same answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// A bet.
    Acted {
        /// As asked for.
        asked: Action,
        /// What it was.
        play: Play,
        /// The player's bet on the street then.
        to: Chips,
        /// What he put in for it.
        added: Chips,
        /// It took his last chip.
        all_in: bool,
    },
    /// A pivot.
    Picked(Pick),
}

/// An accepted decision of a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Accepted {
    /// The turn it answered.
    pub turn: u32,
    /// Whose it was.
    pub seat: SeatNo,
    /// What it was.
    pub decision: Decision,
    /// The version of the table that it made.
    pub version: u64,
}

/// The decisions of the hand before, for late repetitions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PastHand {
    /// Its number; 0 for none.
    pub number: u64,
    /// Who was dealt in where.
    pub players: Vec<(SeatNo, PlayerId)>,
    /// What was accepted.
    pub accepted: Vec<Accepted>,
}

/// How a hand ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// Paid; the winner's seat if nobody had to show.
    Settled {
        /// The winner whose hand stays closed unless he shows it (rules 6.6).
        uncontested: Option<SeatNo>,
    },
    /// Void, and why.
    Voided {
        /// The reason given.
        reason: String,
    },
}

/// What a void puts back (rules 10.1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Before {
    /// Button and blinds of the hand before.
    pub positions: Option<Positions>,
    /// Whether play had been interrupted.
    pub interrupted: bool,
    /// Debt, established and newcomer of each occupied seat.
    pub seats: Vec<(SeatNo, Debt, bool, bool)>,
}

/// The hand that is being played, or the last one until the next is dealt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hand {
    /// Its number at this table, from 1.
    pub number: u64,
    /// When it began, ms since the epoch.
    pub started_at: Millis,
    /// Button and blinds.
    pub positions: Positions,
    /// Who was dealt in.
    pub dealt: SeatSet,
    /// The deck; secret.
    pub deck: Box<Deck>,
    /// How many of the deck's cards are used, burns included.
    pub used: u8,
    /// The street.
    pub street: Street,
    /// The community cards.
    pub board: Vec<Card>,
    /// The players by seat.
    pub players: [Option<HandPlayer>; SeatNo::MAX as usize],
    /// What has to be called before the flop.
    pub bring_in: Chips,
    /// The seat from which on the next one to decide is looked for.
    pub next_from: SeatNo,
    /// The street's betting.
    pub betting: Betting,
    /// Who bet or raised last on this street (rules 6.4).
    pub aggressor: Option<SeatNo>,
    /// The decision that is waited for.
    pub prompt: Option<Prompt>,
    /// The last turn's number.
    pub turns: u32,
    /// What players decided in this hand.
    pub accepted: Vec<Accepted>,
    /// How it ended, once it has.
    pub end: Option<End>,
    /// What a void puts back.
    pub before: Before,
}

impl Hand {
    /// The seat's part in the hand.
    #[must_use]
    pub fn player(&self, seat: SeatNo) -> Option<&HandPlayer> {
        self.players[seat.index()].as_ref()
    }

    /// The seat at which the player was dealt in.
    #[must_use]
    pub fn seat_of(&self, player: &PlayerId) -> Option<SeatNo> {
        let is = |seat: &SeatNo| self.player(*seat).is_some_and(|p| p.player == *player);
        self.dealt.iter().find(is)
    }

    /// Who has not folded.
    #[must_use]
    pub fn live(&self) -> SeatSet {
        self.dealt.iter().filter(|s| self.player(*s).is_some_and(|p| !p.folded)).collect()
    }

    /// Whether it still runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.end.is_none()
    }
}
