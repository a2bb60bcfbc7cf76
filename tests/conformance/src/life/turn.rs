//! Somebody is asked, he can be asked, and what he may do is what is accepted (rules 5, 8).

use rules::event::PromptKind;
use rules::hand::{Hand, Prompt};
use rules::{Action, Ask, Chips, Command, Game, Legal, Limit, Millis, SeatNo, Street, Table};

use super::watch::ensure;

/// Looks at the turn of a running hand.
///
/// # Errors
/// What is wrong with it.
pub fn check(table: &Table, hand: &Hand) -> Result<(), String> {
    let prompt = hand.prompt.ok_or("nobody is asked")?;
    ensure(prompt.act_by > prompt.at && prompt.bank_until >= prompt.act_by, "clocks")?;
    // An answer of the last moment counts: a time-out comes after it (rules 8.2).
    let last = prompt.bank_until + table.config.clocks.grace;
    ensure(table.due().is_some_and(|(at, _)| at <= last + Millis(1)), "no time-out ahead")?;
    let seat = prompt.seats.iter().next().ok_or("nobody is asked")?;
    match prompt.kind {
        // Now and then: it asks the table a dozen times.
        PromptKind::Act if !table.version.is_multiple_of(6) => Ok(()),
        PromptKind::Act => check_legal(table, hand, &prompt, seat),
        PromptKind::Pick => {
            let unpicked = prompt.seats.iter().all(|s| hand.player(s).is_some_and(|p| p.pick.is_none()));
            ensure(unpicked && table.legal_now().is_none(), "asked for a pivot once more")?;
            ensure(prompt.bank_until == prompt.act_by, "a time bank for a pivot (rules 4.7)")
        }
    }
}

/// The edges of the legal set are accepted, and nothing beyond them.
fn check_legal(table: &Table, hand: &Hand, prompt: &Prompt, seat: SeatNo) -> Result<(), String> {
    let legal = table.legal_now().ok_or("no legal set")?;
    let player = hand.player(seat).ok_or("no player")?;
    let stack = table.seat(seat).map_or(Chips::ZERO, |s| s.stack);
    ensure(!stack.is_zero() && !player.folded, "asked without chips or hand")?;
    ensure(legal.call <= stack, "a call of more than there is")?;
    let due = table.config.game == Game::DoubleHoldem && hand.street == Street::Flop && player.pick.is_none();
    ensure(!due, "asked to bet before his pivot (rules 4.1)")?;
    let accepts = |action| {
        let (player, hand, turn) = (player.player.clone(), hand.number, prompt.turn);
        table.decide(&Command { at: prompt.at, ask: Ask::Act { player, hand, turn, action } }).is_ok()
    };
    ensure(accepts(Action::Fold), "no fold (rules 5.11)")?;
    ensure(accepts(Action::Check) == legal.can_check(), "check")?;
    ensure(accepts(Action::Call) != legal.can_check(), "call")?;
    ensure(accepts(Action::AllIn) == legal.all_in, "all-in")?;
    check_range(table, hand, &legal, player.bet + stack, accepts)
}

fn check_range(
    table: &Table,
    hand: &Hand,
    legal: &Legal,
    most: Chips,
    accepts: impl Fn(Action) -> bool,
) -> Result<(), String> {
    let Some(range) = legal.raise else {
        return Ok(());
    };
    let level = hand.players.iter().flatten().map(|p| p.bet).max().unwrap_or_default();
    ensure(range.min_to > level && range.min_to <= range.max_to, "the range of a raise")?;
    ensure(range.max_to <= most, "a raise of more than there is")?;
    let fixed = table.config.limit == Limit::FixedLimit;
    ensure(!fixed || range.min_to == range.max_to, "a fixed raise")?;
    let made = |to| if range.is_bet { Action::Bet(to) } else { Action::Raise(to) };
    ensure(accepts(made(range.min_to)) && accepts(made(range.max_to)), "an edge is refused")?;
    let beyond = [range.min_to - Chips(1), range.max_to + Chips(1)];
    ensure(beyond.into_iter().all(|to| !accepts(made(to))), "beyond an edge")
}

/// What was thought beyond the clock of a bet comes out of the time bank, and not more than is there (rules 8.1).
///
/// # Errors
/// If it does not.
pub fn check_bank(table: &Table, command: &Command, used: Millis) -> Result<(), String> {
    let prompt = table.running_hand().and_then(|hand| hand.prompt).ok_or("nobody was asked")?;
    let late = match prompt.kind {
        PromptKind::Act => command.at - prompt.act_by,
        PromptKind::Pick => Millis::ZERO,
    };
    ensure(used == late.min(prompt.bank_until - prompt.act_by), "the time bank")
}
