//! What a settled hand paid, worked out once more by other means (rules 3.4, 6, 7).

use rules::hand::{Hand, HandPlayer};
use rules::result::{HandResult, PotResult};
use rules::{Card, Chips, HandValue, Holes, Rake, SeatNo, SeatSet, Table, evaluate, two_hands};

/// Checks the result of the table's hand, which is about to be settled.
///
/// # Errors
/// What is paid otherwise than it should be.
pub fn check(table: &Table, result: &HandResult, mucked: SeatSet) -> Result<(), String> {
    let hand = table.hand.as_ref().ok_or("no hand")?;
    let ensure = |holds: bool, what: &str| if holds { Ok(()) } else { Err(format!("{what}: {result:?}")) };
    ensure(result.number == hand.number, "another hand")?;
    ensure(hand.live().len() == 1 || hand.board.len() == 5, "a showdown without a whole board")?;
    let pots: Vec<(Chips, SeatSet)> = result.pots.iter().map(|pot| (pot.amount, pot.eligible)).collect();
    ensure(pots == expected_pots(hand), "pots")?;
    let raked = expected_rake(&table.config.rake, hand, pots.iter().map(|(amount, _)| *amount).sum());
    ensure(result.rake == raked, "rake")?;
    ensure(result.pots.iter().map(|pot| pot.rake).sum::<Chips>() == raked, "rake of the pots")?;
    ensure(result.players.iter().map(|p| p.rake_share).sum::<Chips>() == raked, "rake of the players")?;
    for pot in &result.pots {
        ensure(winners(pot) == best(hand, pot.eligible), "winners")?;
        ensure(fairly_split(pot, hand.positions.button), "shares")?;
    }
    for player in &result.players {
        let won = result.pots.iter().flat_map(|pot| &pot.winners).filter(|(seat, _)| *seat == player.seat);
        ensure(won.map(|(_, amount)| *amount).sum::<Chips>() == player.won, "won")?;
        ensure(player.stack_after + player.contributed == player.stack_before + player.won, "stack")?;
        ensure(player.won.is_zero() || !mucked.contains(player.seat), "a winner mucked")?;
        let shown = hand.player(player.seat).is_some_and(|p| p.shown) && hand.live().len() > 1;
        ensure(player.shown.is_some() == shown, "shown")?;
    }
    check_showing(table, hand, mucked)
}

/// Everybody shows or mucks; with a player all-in nobody mucks (rules 6.4, 6.5).
fn check_showing(table: &Table, hand: &Hand, mucked: SeatSet) -> Result<(), String> {
    let live = hand.live();
    let shown: SeatSet =
        hand.dealt.iter().filter(|seat| hand.player(*seat).is_some_and(|p| p.shown)).collect();
    let all_in = live.iter().any(|seat| hand.player(seat).is_some_and(|p| p.live + p.dead == p.stack_before));
    let right = match live.len() {
        1 => shown.is_empty() && mucked.is_empty(),
        _ => {
            shown.iter().chain(mucked.iter()).collect::<SeatSet>() == live
                && shown.len() + mucked.len() == live.len()
        }
    };
    let open = (!all_in && !table.config.show_all) || mucked.is_empty();
    if right && open { Ok(()) } else { Err(format!("live {live:?}, shown {shown:?}, mucked {mucked:?}")) }
}

/// Who put in how much, and who is still in: one pot for each different amount of those.
fn expected_pots(hand: &Hand) -> Vec<(Chips, SeatSet)> {
    let players: Vec<(SeatNo, &HandPlayer)> =
        hand.dealt.iter().filter_map(|seat| Some((seat, hand.player(seat)?))).collect();
    let live = || players.iter().filter(|(_, player)| !player.folded);
    let mut levels: Vec<Chips> = live().map(|(_, player)| player.live).collect();
    levels.sort_unstable();
    levels.dedup();
    let top = levels.len() - 1;
    let mut pots = Vec::new();
    let mut below = Chips::ZERO;
    for (place, level) in levels.iter().copied().enumerate() {
        // Dead chips lie in the main pot; what the folded put in above everybody else in the last one.
        let dead = |player: &HandPlayer| if place == 0 { player.dead } else { Chips::ZERO };
        let upper = |player: &HandPlayer| if place == top { player.live } else { player.live.min(level) };
        let share = |player: &HandPlayer| dead(player) + upper(player).saturating_sub(below);
        let amount: Chips = players.iter().map(|(_, player)| share(player)).sum();
        let eligible = live().filter(|(_, player)| player.live >= level).map(|(seat, _)| *seat).collect();
        if !amount.is_zero() {
            pots.push((amount, eligible));
        }
        below = level;
    }
    pots
}

/// No flop no drop; the percentage, its cap, down to the unit (rules 7.1).
fn expected_rake(rake: &Rake, hand: &Hand, pots: Chips) -> Chips {
    if hand.board.is_empty() {
        return Chips::ZERO;
    }
    let cap = match hand.dealt.len() {
        2 => rake.cap_two,
        3 | 4 => rake.cap_three_or_four,
        _ => rake.cap_five_or_more,
    };
    let exact = u128::from(pots.0) * u128::from(rake.basis_points) / 10_000;
    let capped = exact.min(cap.map_or(u128::MAX, |cap| u128::from(cap.0)));
    let floored = capped - capped % u128::from(rake.unit.0);
    Chips(u64::try_from(floored).unwrap_or(u64::MAX))
}

fn winners(pot: &PotResult) -> SeatSet {
    pot.winners.iter().map(|(seat, _)| *seat).collect()
}

/// Who of these has the best hand, each best five of its two cards and the board (rules 6.2).
fn best(hand: &Hand, eligible: SeatSet) -> SeatSet {
    if hand.live().len() == 1 {
        return hand.live();
    }
    let value = |seat: SeatNo| hand.player(seat).and_then(|player| value(player, &hand.board));
    let best = eligible.iter().map(value).max().flatten();
    eligible.iter().filter(|seat| value(*seat) == best).collect()
}

fn value(player: &HandPlayer, board: &[Card]) -> Option<HandValue> {
    let with = |two: [Card; 2]| {
        let mut cards = board.to_vec();
        cards.extend(two);
        evaluate(&cards)
    };
    match player.holes? {
        Holes::Two(two) => Some(with(two)),
        Holes::Three(three) => two_hands(&three, player.pick?).map(with).into_iter().max(),
    }
}

/// All of the pot, alike but for one odd chip each, those to the first left of the button (rules 6.3).
fn fairly_split(pot: &PotResult, button: SeatNo) -> bool {
    let paid: Chips = pot.winners.iter().map(|(_, amount)| *amount).sum();
    let places: Vec<u8> = pot.winners.iter().map(|(seat, _)| button.distance_to(*seat)).collect();
    let amounts: Vec<u64> = pot.winners.iter().map(|(_, amount)| amount.0).collect();
    let alike = amounts.first().zip(amounts.last()).is_some_and(|(most, least)| most - least <= 1);
    paid + pot.rake == pot.amount && places.is_sorted() && amounts.is_sorted_by(|a, b| a >= b) && alike
}
