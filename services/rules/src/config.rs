//! What an operator sets for a table, and which settings go together.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{Ante, Chips, Millis, SeatNo, Stakes};

/// The two games (rules 1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Game {
    /// Three hole cards, one of them the pivot of two hands.
    DoubleHoldem,
    /// Two hole cards.
    TexasHoldem,
}

impl Game {
    /// How many hole cards a player gets (rules 3.1).
    #[must_use]
    pub const fn hole_cards(self) -> usize {
        match self {
            Game::DoubleHoldem => 3,
            Game::TexasHoldem => 2,
        }
    }
}

/// How much may be bet (rules 1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Up to the whole stack.
    NoLimit,
    /// Up to the pot (rules 5.5).
    PotLimit,
    /// Fixed bets and raises (rules 5.6).
    FixedLimit,
}

/// When the pivots are picked (rules 4.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PivotOrder {
    /// A player picks, then acts, then the next one.
    #[default]
    InTurn,
    /// All pick at once on one clock, then the betting starts.
    Simultaneous,
}

/// The rake of a table (rules 7.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rake {
    /// Hundredths of a per cent of the contested pots; 0 for no rake.
    pub basis_points: u16,
    /// The cap with two players dealt in, in minor units; `None` for no cap.
    pub cap_two: Option<Chips>,
    /// The cap with three or four players dealt in.
    pub cap_three_or_four: Option<Chips>,
    /// The cap with five or more players dealt in.
    pub cap_five_or_more: Option<Chips>,
    /// The rake is floored to a multiple of this, at least 1.
    pub unit: Chips,
}

impl Rake {
    /// No rake.
    pub const NONE: Rake = Rake {
        basis_points: 0,
        cap_two: None,
        cap_three_or_four: None,
        cap_five_or_more: None,
        unit: Chips(1),
    };
}

/// Refilling of the time bank (rules 8.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refill {
    /// Time given back, up to the maximum.
    pub amount: Millis,
    /// After so many hands dealt to the player, at least 1.
    pub every_hands: u32,
}

/// The clocks of a table (rules 8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// For every betting decision.
    pub action: Millis,
    /// For a pivot.
    pub pivot: Millis,
    /// What a session at the table starts with, and the most it can hold.
    pub time_bank: Millis,
    /// Whether and how the time bank fills again.
    pub refill: Option<Refill>,
    /// The allowance for the network after a deadline (rules 8.2).
    pub grace: Millis,
    /// The pause between two hands.
    pub between_hands: Millis,
    /// So many time-outs in a row sit a player out (rules 8.3).
    pub timeouts_to_sit_out: u8,
    /// So long sitting out stands a player up (rules 8.3).
    pub sit_out_limit: Millis,
}

impl Default for Clocks {
    fn default() -> Clocks {
        Clocks {
            action: Millis::seconds(15),
            pivot: Millis::seconds(15),
            time_bank: Millis::seconds(30),
            refill: None,
            grace: Millis(500),
            between_hands: Millis::seconds(3),
            timeouts_to_sit_out: 2,
            sit_out_limit: Millis::minutes(10),
        }
    }
}

/// Everything that an operator sets for a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableConfig {
    /// A name for people, up to 100 characters.
    pub display_name: String,
    /// The currency of all amounts, three capital letters of ISO 4217.
    pub currency: [u8; 3],
    /// The game.
    pub game: Game,
    /// The betting limit.
    pub limit: Limit,
    /// How many seats, 2 to 10 (rules 1.2).
    pub seats: u8,
    /// Blinds, bets and buy-ins.
    pub stakes: Stakes,
    /// The rake.
    pub rake: Rake,
    /// The clocks.
    pub clocks: Clocks,
    /// The order of the pivots; of no meaning in Texas Hold'em.
    pub pivot_order: PivotOrder,
    /// Fixed limit: keep the cap on raises also heads-up (rules 5.6).
    pub limit_cap_heads_up: bool,
    /// All live hands show at the showdown, nobody mucks (rules 6.4).
    pub show_all: bool,
    /// One who comes back within this time brings what he left with (rules 9.2); zero switches it off.
    pub rathole: Millis,
}

/// A setting that cannot be, with the rule that says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConfigFault {
    /// The path of the setting, as in the contract.
    pub field: &'static str,
    /// The rule's number in the rule book.
    pub rule: &'static str,
    /// What is wrong and what would be right.
    pub why: &'static str,
}

const DAY: Millis = Millis::minutes(24 * 60);

impl TableConfig {
    /// Every fault of the settings; empty when a table can be opened with them.
    #[must_use]
    pub fn faults(&self) -> Vec<ConfigFault> {
        let mut faults = Vec::new();
        let mut check = |holds: bool, field, rule, why| {
            if !holds {
                faults.push(ConfigFault { field, rule, why });
            }
        };
        let s = &self.stakes;
        let c = &self.clocks;
        let within = |amount: Chips| amount <= Chips::MAX;
        check(self.display_name.chars().count() <= 100, "display_name", "1.1", "at most 100 characters");
        check(
            self.currency.iter().all(u8::is_ascii_uppercase),
            "currency",
            "1.1",
            "three capital letters of ISO 4217",
        );
        check((2..=SeatNo::MAX).contains(&self.seats), "seats", "1.2", "2 to 10");
        check(s.big_blind >= Chips(1) && within(s.big_blind), "stakes.big_blind", "2.1", "1 to 10^15");
        check(s.small_blind <= s.big_blind, "stakes.small_blind", "2.1", "0 up to the big blind");
        let ante = match s.ante {
            Ante::None => Chips::ZERO,
            Ante::PerPlayer(a) | Ante::BigBlind(a) => a,
        };
        check(within(ante), "stakes.ante", "2.5", "at most 10^15");
        check(s.straddles <= 2, "stakes.max_straddles", "2.6", "0 to 2");
        if self.limit == Limit::FixedLimit {
            check(s.straddles == 0, "stakes.max_straddles", "2.6", "0 in fixed limit");
            check(s.small_bet >= Chips(1) && within(s.small_bet), "stakes.small_bet", "5.6", "1 to 10^15");
            check(
                s.big_bet >= s.small_bet && within(s.big_bet),
                "stakes.big_bet",
                "5.6",
                "at least the small bet",
            );
        }
        check(s.min_buy_in >= Chips(1), "stakes.min_buy_in", "9.2", "at least 1");
        check(
            s.max_buy_in >= s.min_buy_in && within(s.max_buy_in),
            "stakes.max_buy_in",
            "9.2",
            "at least the minimum buy-in, at most 10^15",
        );
        check(self.rake.basis_points <= 10_000, "rake.basis_points", "7.1", "0 to 10000");
        check(self.rake.unit >= Chips(1) && within(self.rake.unit), "rake.unit", "7.1", "at least 1");
        let clock = |t: Millis| t >= Millis(100) && t <= DAY;
        check(clock(c.action), "clocks.action", "8.1", "100 ms to one day");
        check(clock(c.pivot), "clocks.pivot", "8.1", "100 ms to one day");
        check(c.time_bank <= Millis::seconds(30), "clocks.time_bank", "8.1", "at most 30 s");
        check(
            c.refill.is_none_or(|r| r.every_hands >= 1 && r.amount <= DAY),
            "clocks.refill",
            "8.1",
            "every 1 hand or more, at most one day",
        );
        check(c.grace <= Millis::seconds(10), "clocks.grace", "8.2", "at most 10 s");
        check(c.between_hands <= DAY, "clocks.between_hands", "8.1", "at most one day");
        check(c.timeouts_to_sit_out >= 1, "clocks.timeouts_to_sit_out", "8.3", "at least 1");
        check(
            c.sit_out_limit >= Millis::seconds(1) && c.sit_out_limit <= DAY,
            "clocks.sit_out_limit",
            "8.3",
            "1 s to one day",
        );
        check(self.rathole <= DAY, "rathole_window", "9.2", "at most one day");
        faults
    }
}
