//! What must hold for every table at every version. Checked before each commit, in tests and in production.

use crate::hand::Hand;
use crate::table::Table;
use crate::terms::PromptKind;
use crate::{Chips, SeatNo, SeatSet, pots};

/// An invariant that does not hold. Numbers are stable: they are in alerts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// 1: stacks + pots + paid out + raked = bought in (rules 10.3).
    ChipsNotConserved {
        /// What was brought to the table.
        bought_in: Chips,
        /// What is accounted for.
        found: Chips,
    },
    /// 2: a running hand waits for somebody.
    NobodyToAct,
    /// 3: only live seats of the hand are asked, one to bet, one or more to pick.
    WrongSeatAsked,
    /// 4: used cards are as many as hole cards, board and burns, at most 52.
    CardsMiscounted,
    /// 5: everybody dealt in holds his cards, and each card is the deck's.
    CardsMisdealt,
    /// 6: at most one seat a player (rules 1.5), and only seats that the table has.
    SeatsMixedUp,
    /// 7: no player's bet exceeds what he put in.
    BetsMixedUp,
    /// 8: of each player: stack + in pots + put into paid hands = brought + won.
    PlayersChipsNotConserved {
        /// His seat.
        seat: SeatNo,
    },
    /// 9: what wallets are owed is delivered, written off or an open payment; a seat that a payment reserves is empty.
    PaymentsMixedUp,
}

impl Broken {
    /// The invariant's number.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Broken::ChipsNotConserved { .. } => 1,
            Broken::NobodyToAct => 2,
            Broken::WrongSeatAsked => 3,
            Broken::CardsMiscounted => 4,
            Broken::CardsMisdealt => 5,
            Broken::SeatsMixedUp => 6,
            Broken::BetsMixedUp => 7,
            Broken::PlayersChipsNotConserved { .. } => 8,
            Broken::PaymentsMixedUp => 9,
        }
    }
}

/// Checks a table between two commits. Errors: the first invariant that does not hold.
pub fn check(table: &Table) -> Result<(), Broken> {
    chips(table)?;
    seats(table)?;
    accounts(table)?;
    payments(table)?;
    match table.running_hand() {
        Some(hand) => {
            prompt(hand)?;
            cards(table, hand)?;
            bets(hand)
        }
        None => Ok(()),
    }
}

fn ensure(holds: bool, broken: Broken) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(broken) }
}

fn chips(table: &Table) -> Result<(), Broken> {
    let stacks: Chips = table.occupied().map(|(_, seat)| seat.stack).sum();
    let in_pots = table.running_hand().map_or(Chips::ZERO, pots::total);
    let ledger = &table.ledger;
    let found = stacks + in_pots + ledger.paid_out + ledger.raked;
    let bought_in = ledger.bought_in;
    let broken = Broken::ChipsNotConserved { bought_in, found };
    ensure(found == bought_in, broken)
}

fn accounts(table: &Table) -> Result<(), Broken> {
    for (no, seat) in table.occupied() {
        let player = table.running_hand().and_then(|hand| hand.player(no));
        let in_pots = player.map_or(Chips::ZERO, |player| player.live + player.dead);
        let holds = seat.stack + in_pots + seat.wagered == seat.bought_in + seat.won;
        ensure(holds, Broken::PlayersChipsNotConserved { seat: no })?;
    }
    Ok(())
}

fn payments(table: &Table) -> Result<(), Broken> {
    let ledger = &table.ledger;
    let owed = ledger.delivered + ledger.written_off + table.owed() == ledger.owed;
    let free = table.reserved().all(|payment| table.seat(payment.seat).is_none());
    ensure(owed && free, Broken::PaymentsMixedUp)
}

fn seats(table: &Table) -> Result<(), Broken> {
    let fits = |no: crate::SeatNo| no.number() <= table.config.seats;
    let alone = |no: crate::SeatNo, seat: &crate::player::Seat| {
        !table.occupied().any(|(other, s)| other > no && s.player == seat.player)
    };
    let all = table.occupied().all(|(no, seat)| fits(no) && alone(no, seat));
    ensure(all, Broken::SeatsMixedUp)
}

fn prompt(hand: &Hand) -> Result<(), Broken> {
    let prompt = hand.prompt.ok_or(Broken::NobodyToAct)?;
    let live = hand.live();
    let asked = prompt.seats;
    let all_live = asked.iter().all(|seat| live.contains(seat));
    let count = match prompt.kind {
        PromptKind::Act => asked.len() == 1,
        PromptKind::Pick => !asked.is_empty(),
    };
    ensure(all_live && count, Broken::WrongSeatAsked)
}

fn cards(table: &Table, hand: &Hand) -> Result<(), Broken> {
    let each = table.config.game.hole_cards();
    let burns = match hand.board.len() {
        0 => 0,
        board => board - 2,
    };
    let used = hand.dealt.len() * each + hand.board.len() + burns;
    ensure(usize::from(hand.used) == used && used <= 52, Broken::CardsMiscounted)?;
    let mut seen = 0u64;
    let mut distinct = |card: crate::Card| {
        let bit = 1u64 << card.index();
        let new = seen & bit == 0;
        seen |= bit;
        new
    };
    let holes = |seat| Some(hand.player(seat)?.holes?.cards().to_vec());
    for seat in hand.dealt.iter() {
        let cards: alloc::vec::Vec<_> = holes(seat).ok_or(Broken::CardsMisdealt)?;
        let right = cards.len() == each && cards.into_iter().all(&mut distinct);
        ensure(right, Broken::CardsMisdealt)?;
    }
    let board = hand.board.iter().all(|card| distinct(*card));
    let dealt: u64 = hand.deck.cards()[..used].iter().fold(0, |bits, card| bits | 1 << card.index());
    ensure(board && seen & !dealt == 0, Broken::CardsMisdealt)
}

fn bets(hand: &Hand) -> Result<(), Broken> {
    let players = hand.players.iter().flatten();
    let within = players.clone().all(|p| p.bet <= p.live);
    let seats: SeatSet = hand.dealt;
    ensure(within && players.count() == seats.len(), Broken::BetsMixedUp)
}
