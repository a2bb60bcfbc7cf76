//! Nobody sees a card that is neither his own nor open, and everybody sees those (rules 4.4, 6.4 to 6.6).

use rules::event::Event;
use rules::view::{self, HandPlayerView, Seen, Viewer};
use rules::{PlayerId, SeatSet, Table};

/// Looks at the table and at the events of its last commit with everybody's eyes. `open` are the seats of the hand
/// whose cards have been shown.
///
/// # Errors
/// What somebody sees that he may not, or does not see that he may.
pub fn check(events: &[Event], table: &Table, open: SeatSet) -> Result<(), String> {
    for viewer in viewers(table) {
        for event in events {
            check_event(event, &viewer).map_err(|what| format!("{viewer:?} {what}"))?;
        }
        let seen = view::table(table, &viewer);
        let Some(hand) = seen.hand else {
            continue;
        };
        if hand.turn != view::turn(table) || seen.version != table.version {
            return Err(format!("{viewer:?} sees another turn or version"));
        }
        for player in &hand.players {
            let may = open.contains(player.seat) || viewer.is(&player.player);
            check_player(player, table, may)
                .map_err(|what| format!("{viewer:?} at {}: {what}", player.seat))?;
        }
    }
    Ok(())
}

fn viewers(table: &Table) -> Vec<Viewer> {
    let seated = table.occupied().map(|(_, seat)| seat.player.clone());
    let dealt = table.hand.iter().flat_map(|hand| hand.players.iter().flatten()).map(|p| p.player.clone());
    let mut players: Vec<PlayerId> = seated.chain(dealt).collect();
    players.extend(PlayerId::new("stranger"));
    players.sort_unstable();
    players.dedup();
    players.into_iter().map(Viewer::Player).chain([Viewer::Spectator]).collect()
}

fn check_player(seen: &HandPlayerView, table: &Table, may: bool) -> Result<(), String> {
    let player =
        table.hand.as_ref().and_then(|hand| hand.player(seen.seat)).ok_or("sees one who is not there")?;
    let cards = if may { player.holes } else { None };
    let pick = if may { player.pick } else { None };
    if seen.cards != cards {
        return Err(format!("may see cards: {may}, does: {}", seen.cards.is_some()));
    }
    if seen.pick != pick || seen.picked != player.pick.is_some() {
        return Err(format!("may see the pivot: {may}, does: {}", seen.pick.is_some()));
    }
    Ok(())
}

/// Only what is open is passed on as it is; of the rest each sees his own.
fn check_event(event: &Event, viewer: &Viewer) -> Result<(), String> {
    let right = match (view::event(event, viewer), event) {
        (Seen::Public(_), Event::HandStarted(_) | Event::HoleDealt { .. } | Event::PivotPicked { .. }) => {
            false
        }
        (Seen::Public(seen), event) => seen.get() == event,
        (Seen::HoleDealt { cards, count, .. }, Event::HoleDealt { player, cards: dealt, .. }) => {
            cards == viewer.is(player).then_some(*dealt) && count == dealt.cards().len()
        }
        (Seen::PivotPicked { pick, .. }, Event::PivotPicked { player, pick: picked, .. }) => {
            pick == viewer.is(player).then_some(*picked)
        }
        (Seen::HandStarted { number, .. }, Event::HandStarted(start)) => number == start.number,
        _ => false,
    };
    if right { Ok(()) } else { Err(format!("sees this otherwise: {event:?}")) }
}
