//! From the vocabulary of the rules to messages, written here once more: a mistake in the service's own translation is
//! to be found and not shared.

use conformance::setup::{Place, Setup};
use fulcrum::pb::v1;
use rules::result::{HandResult, PlayerResult, PotResult, ShownValue};
use rules::{Ante, Chips, Game, HandValue, Legal, Limit, PivotOrder, SeatSet, TableConfig};

use super::harness::caller::seat_request;
use super::harness::{Caller, in_time, request_id};

/// No clock of a table ends while it is played.
const LONG: prost_types::Duration = prost_types::Duration { seconds: 3600, nanos: 0 };

/// Opens a table that is stopped, and seats everybody.
pub async fn sit_down(caller: &mut Caller, setup: &Setup) -> String {
    let table = caller.open_table(config(&setup.config)).await;
    caller.pause(&table).await;
    for place in &setup.places {
        let Place { player, seat, stack, straddle } = place;
        let request = seat_request(&table, player.as_str(), seat.number().into(), amount(*stack));
        in_time(caller.tables.seat_player(request)).await.expect("a seat");
        if *straddle {
            let request = v1::SetPreferencesRequest {
                request_id: request_id(),
                table_id: table.clone(),
                player_id: player.as_str().into(),
                preferences: Some(v1::Preferences { straddle: true, always_show: false }),
                etag: String::new(),
            };
            in_time(caller.tables.set_preferences(request)).await.expect("wishes");
        }
    }
    table
}

/// The settings, with long clocks.
fn config(c: &TableConfig) -> v1::TableConfig {
    let order = match c.pivot_order {
        PivotOrder::InTurn => v1::PivotOrder::InTurn,
        PivotOrder::Simultaneous => v1::PivotOrder::Simultaneous,
    };
    v1::TableConfig {
        display_name: c.display_name.clone(),
        currency: String::from_utf8_lossy(&c.currency).into(),
        game: game(c.game).into(),
        limit: limit(c.limit).into(),
        seats: c.seats.into(),
        stakes: Some(stakes(c)),
        rake: Some(v1::Rake {
            basis_points: c.rake.basis_points.into(),
            cap_2: c.rake.cap_two.map(amount),
            cap_3_to_4: c.rake.cap_three_or_four.map(amount),
            cap_5_plus: c.rake.cap_five_or_more.map(amount),
            unit: amount(c.rake.unit),
        }),
        clocks: Some(v1::Clocks {
            action: Some(LONG),
            pivot: Some(LONG),
            between_hands: Some(prost_types::Duration::default()),
            ..Default::default()
        }),
        pivot_order: order.into(),
        limit_cap_heads_up: c.limit_cap_heads_up,
        show_all: c.show_all,
        rathole_window: Some(prost_types::Duration::default()),
    }
}

fn stakes(c: &TableConfig) -> v1::Stakes {
    let ante = match c.stakes.ante {
        Ante::None => None,
        Ante::PerPlayer(each) => Some(v1::ante::Kind::PerPlayer(amount(each))),
        Ante::BigBlind(whole) => Some(v1::ante::Kind::BigBlind(amount(whole))),
    };
    v1::Stakes {
        small_blind: amount(c.stakes.small_blind),
        big_blind: amount(c.stakes.big_blind),
        ante: ante.map(|kind| v1::Ante { kind: Some(kind) }),
        max_straddles: c.stakes.straddles.into(),
        small_bet: amount(c.stakes.small_bet),
        big_bet: amount(c.stakes.big_bet),
        min_buy_in: amount(c.stakes.min_buy_in),
        max_buy_in: amount(c.stakes.max_buy_in),
    }
}

/// The game's name in the contract.
pub fn game(game: Game) -> v1::Game {
    match game {
        Game::DoubleHoldem => v1::Game::DoubleHoldem,
        Game::TexasHoldem => v1::Game::TexasHoldem,
    }
}

/// The limit's name in the contract.
pub fn limit(limit: Limit) -> v1::Limit {
    match limit {
        Limit::NoLimit => v1::Limit::NoLimit,
        Limit::PotLimit => v1::Limit::PotLimit,
        Limit::FixedLimit => v1::Limit::FixedLimit,
    }
}

/// What a betting turn is to offer.
pub fn legal(legal: &Legal) -> v1::LegalActions {
    let bet = legal.raise.is_some_and(|range| range.is_bet);
    v1::LegalActions {
        can_fold: true,
        can_check: legal.call == Chips::ZERO,
        call_amount: amount(legal.call),
        can_bet: bet,
        can_raise: legal.raise.is_some() && !bet,
        min_to: legal.raise.map_or(0, |range| amount(range.min_to)),
        max_to: legal.raise.map_or(0, |range| amount(range.max_to)),
        can_all_in: legal.all_in,
    }
}

/// A hand as it was paid, without the time at which it began.
pub fn settled(result: &HandResult) -> v1::SettledHand {
    v1::SettledHand {
        hand_number: result.number,
        started: None,
        pots: result.pots.iter().map(pot).collect(),
        players: result.players.iter().map(player).collect(),
        rake: amount(result.rake),
    }
}

fn pot(pot: &PotResult) -> v1::SettledPot {
    let won = pot.winners.iter();
    v1::SettledPot {
        amount: amount(pot.amount),
        rake: amount(pot.rake),
        eligible_seats: seats(pot.eligible),
        winners: won
            .map(|(seat, won)| v1::SeatAmount { seat: seat.number().into(), amount: amount(*won) })
            .collect(),
    }
}

fn player(player: &PlayerResult) -> v1::SettledPlayer {
    v1::SettledPlayer {
        player_id: player.player.as_str().into(),
        seat: player.seat.number().into(),
        session: player.session,
        stack_before: amount(player.stack_before),
        stack_after: amount(player.stack_after),
        contributed: amount(player.contributed),
        returned: amount(player.returned),
        won: amount(player.won),
        rake_share: amount(player.rake_share),
        shown: player.shown.as_ref().map(shown),
    }
}

fn shown(worth: &ShownValue) -> v1::ShownValue {
    let best = worth.second.filter(|second| *second > worth.first).unwrap_or(worth.first);
    v1::ShownValue {
        first: Some(value(worth.first)),
        second: worth.second.map(value),
        best: Some(value(best)),
    }
}

/// What a hand is worth.
pub fn value(value: HandValue) -> v1::HandValue {
    v1::HandValue {
        category: value.category() as i32 + 1,
        ranks: value.ranks().map(|rank| rank as i32 + 1).collect(),
        description: value.to_string(),
    }
}

fn seats(of: SeatSet) -> Vec<u32> {
    of.iter().map(|seat| seat.number().into()).collect()
}

/// Chips in a message.
pub fn amount(chips: Chips) -> i64 {
    i64::try_from(chips.0).expect("a test has no such amounts")
}
