//! Random players: whoever is asked gets a legal decision, all-ins and folds for nothing among them. The same seed
//! makes the same decisions.

use rules::event::PromptKind;
use rules::{Action, Ask, Chips, Deck, Legal, Pick, PivotOrder, SeatNo, Table};

use crate::deals::Deals;

/// How players decide, in a thousand.
#[derive(Clone, Copy, Debug)]
pub struct Temper {
    /// How often a bet is folded to.
    pub folds: usize,
    /// How often a bet or raise is made where one is legal.
    pub raises: usize,
    /// How often everything goes in where that is legal.
    pub shoves: usize,
}

impl Temper {
    /// Tempers from tight to wild.
    pub const ALL: [Temper; 4] = [
        Temper { folds: 300, raises: 250, shoves: 10 },
        Temper { folds: 120, raises: 150, shoves: 30 },
        Temper { folds: 50, raises: 450, shoves: 60 },
        Temper { folds: 40, raises: 100, shoves: 250 },
    ];
}

/// A shuffled deck.
pub fn shuffled(random: &mut Deals) -> Deck {
    let cards = random.cards::<52>();
    // Cards out of one deck are never there twice.
    Deck::new(cards).unwrap_or_else(|_| Deck::ordered())
}

/// A legal decision of one of those who are asked; nothing if nobody is.
pub fn decision(table: &Table, random: &mut Deals, temper: Temper) -> Option<Ask> {
    let hand = table.running_hand()?;
    let prompt = hand.prompt?;
    let chosen = random.below(prompt.seats.len());
    let seat = prompt.seats.iter().nth(chosen)?;
    let player = hand.player(seat)?.player.clone();
    let (hand, turn) = (hand.number, prompt.turn);
    if prompt.kind == PromptKind::Act {
        let action = action(&table.legal_now()?, bet(table, seat), random, temper);
        return Some(Ask::Act { player, hand, turn, action });
    }
    // Rules 4.5: in turn one may fold instead of picking.
    let in_turn = table.config.pivot_order == PivotOrder::InTurn;
    if in_turn && random.below(1000) < temper.folds / 4 {
        return Some(Ask::Act { player, hand, turn, action: Action::Fold });
    }
    let pick = Pick::ALL[random.below(3)];
    Some(Ask::Pick { player, hand, turn, pick })
}

fn bet(table: &Table, seat: SeatNo) -> Chips {
    table.running_hand().and_then(|hand| hand.player(seat)).map_or(Chips::ZERO, |player| player.bet)
}

/// One of the legal actions.
fn action(legal: &Legal, bet: Chips, random: &mut Deals, temper: Temper) -> Action {
    if legal.all_in && random.below(1000) < temper.shoves {
        return Action::AllIn;
    }
    if let Some(range) = legal.raise
        && random.below(1000) < temper.raises
    {
        let to = amount(range.min_to, range.max_to, bet + legal.call, random);
        return if range.is_bet { Action::Bet(to) } else { Action::Raise(to) };
    }
    // Rules 5.11: a fold is legal also where checking is free.
    let folds = if legal.can_check() { temper.folds / 20 } else { temper.folds };
    if random.below(1000) < folds {
        Action::Fold
    } else if legal.can_check() {
        Action::Check
    } else {
        Action::Call
    }
}

/// The least, the most, a size in proportion, or any amount between.
fn amount(min: Chips, max: Chips, level: Chips, random: &mut Deals) -> Chips {
    let between = (max - min).0;
    match random.below(10) {
        0..=2 => min,
        3 => max,
        4..=7 => Chips(level.0.saturating_mul(2 + random.below(3) as u64)).clamp(min, max),
        _ => min + Chips(random.below(usize::try_from(between).unwrap_or(usize::MAX - 1) + 1) as u64),
    }
}
