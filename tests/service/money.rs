//! Rules 7 and 10 with their numbers, as an operator's finance sees them: in records, statements and balances.

use fulcrum::pb::v1;
use fulcrum::pb::v1::settlement::Body;

use super::harness::decks::arranged;
use super::harness::{Caller, Eyes, House, double, in_time, request_id, texas};

/// Settings with these blinds, any buy-in, and a rake of so many basis points, by 2, 3-4 and 5 or more players.
pub fn raked(
    game: v1::TableConfig,
    small_blind: i64,
    basis_points: u32,
    caps: Option<[i64; 3]>,
) -> v1::TableConfig {
    let big_blind = 2 * small_blind;
    let stakes =
        v1::Stakes { small_blind, big_blind, min_buy_in: 1, max_buy_in: 100_000, ..Default::default() };
    let [cap_2, cap_3_to_4, cap_5_plus] = caps.map_or([None; 3], |caps| caps.map(Some));
    let rake = v1::Rake { basis_points, cap_2, cap_3_to_4, cap_5_plus, unit: 0 };
    v1::TableConfig { stakes: Some(stakes), rake: Some(rake), ..game }
}

/// A paused table with these players in the seats from 1 on; the first has the button.
pub async fn table_of(caller: &mut Caller, config: v1::TableConfig, players: &[(&str, i64)]) -> String {
    let table = caller.table_of(config, &[]).await;
    for (seat, (player, buy_in)) in (1..).zip(players) {
        caller.seat(&table, player, seat, *buy_in).await;
    }
    table
}

/// Lets one hand begin, and no more.
pub async fn deal(caller: &mut Caller, table: &str) -> Eyes {
    let mut eyes = caller.watch(table, "").await;
    let begun = caller.begin(table).await;
    eyes.turn_after(begun).await;
    caller.pause(table).await;
    eyes
}

/// Answers the open turn and reads on.
pub async fn act(
    caller: &mut Caller,
    eyes: &mut Eyes,
    table: &str,
    player: &str,
    action: v1::Action,
    to: i64,
) {
    let turn = eyes.turn.clone().expect("a turn is open");
    let answer = caller.act(table, player, &turn, action, to).await.expect("a legal action");
    eyes.until(answer.sequence).await;
}

/// The one record of a kind that the table has.
pub async fn record(caller: &mut Caller, table: &str, kind: v1::SettlementKind) -> v1::Settlement {
    let mut found = caller.records(table).await;
    found.retain(|record| record.kind() == kind);
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// The one hand that was paid.
pub async fn settled(caller: &mut Caller, table: &str) -> v1::SettledHand {
    match record(caller, table, v1::SettlementKind::Hand).await.body {
        Some(Body::Hand(hand)) => hand,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn r7_1_of_28000_against_19800_the_rake_is_396_or_300_by_its_unit() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    for (unit, rake) in [(1, 396), (100, 300)] {
        let mut config = raked(texas(), 100, 100, None);
        config.rake.as_mut().expect("a rake").unit = unit;
        let table = table_of(&mut caller, config, &[("ann", 28_000), ("bob", 19_800)]).await;
        house.decks.lay_out(&table, 1, arranged(&["Kc Kd", "Ac Ad"], "9s 8h 7s 3c 2d"));
        let mut eyes = deal(&mut caller, &table).await;
        act(&mut caller, &mut eyes, &table, "ann", v1::Action::AllIn, 0).await;
        act(&mut caller, &mut eyes, &table, "bob", v1::Action::AllIn, 0).await;
        let hand = settled(&mut caller, &table).await;
        assert_eq!((hand.rake, hand.pots.len(), hand.pots[0].amount), (rake, 1, 39_600));
        let ann = hand.players.iter().find(|p| p.player_id == "ann").expect("ann");
        assert_eq!((ann.returned, ann.contributed, ann.won), (8_200, 19_800, 39_600 - rake));
        assert_eq!(ann.stack_after, 28_000 + 19_800 - rake);
    }
    house.close().await;
}

#[tokio::test]
async fn r7_1_no_flop_no_drop() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let config = raked(texas(), 50, 500, None);
    let table = table_of(&mut caller, config, &[("ann", 10_000), ("bob", 10_000)]).await;
    let mut eyes = deal(&mut caller, &table).await;
    act(&mut caller, &mut eyes, &table, "ann", v1::Action::Raise, 3_000).await;
    act(&mut caller, &mut eyes, &table, "bob", v1::Action::Raise, 9_000).await;
    act(&mut caller, &mut eyes, &table, "ann", v1::Action::Fold, 0).await;
    let hand = settled(&mut caller, &table).await;
    assert_eq!((hand.rake, hand.pots[0].amount), (0, 6_000));
    assert!(hand.players.iter().all(|p| p.rake_share == 0));
    house.close().await;
}

#[tokio::test]
async fn r7_1_the_cap_is_that_of_the_players_dealt_in() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    for (players, rake) in [(2, 100), (3, 200), (4, 200), (5, 300)] {
        let names: Vec<String> = (1..=players).map(|number| format!("p{number}")).collect();
        let seats: Vec<(&str, i64)> = names.iter().map(|name| (name.as_str(), 10_000)).collect();
        let config = raked(texas(), 50, 500, Some([100, 200, 300]));
        let table = table_of(&mut caller, config, &seats).await;
        let mut eyes = deal(&mut caller, &table).await;
        // Two go all in and all others fold: what counts is who was dealt in.
        for place in 0..players {
            let seat = eyes.turn.as_ref().expect("a turn").seats[0] as usize;
            let action = if place < 2 { v1::Action::AllIn } else { v1::Action::Fold };
            act(&mut caller, &mut eyes, &table, &names[seat - 1], action, 0).await;
        }
        let hand = settled(&mut caller, &table).await;
        assert_eq!((hand.players.len(), hand.rake), (players, rake));
        assert!(hand.pots[0].amount >= 20_000, "5 % of it is far more");
    }
    house.close().await;
}

#[tokio::test]
async fn r7_2_weighted_shares_sum_exactly_to_the_rake() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let players = [("ann", 1_003), ("bob", 2_711), ("cid", 7_919), ("dan", 9_973)];
    let table = table_of(&mut caller, raked(texas(), 50, 333, None), &players).await;
    let mut eyes = deal(&mut caller, &table).await;
    while let Some(turn) = eyes.turn.clone() {
        let player = players[turn.seats[0] as usize - 1].0;
        act(&mut caller, &mut eyes, &table, player, v1::Action::AllIn, 0).await;
    }
    let hand = settled(&mut caller, &table).await;
    let pot: i64 = hand.pots.iter().map(|pot| pot.amount).sum();
    assert_eq!((pot, hand.pots.len()), (1_003 + 2_711 + 2 * 7_919, 3));
    assert_eq!(hand.rake, pot * 333 / 10_000);
    assert_eq!(hand.pots.iter().map(|pot| pot.rake).sum::<i64>(), hand.rake);
    assert_eq!(hand.players.iter().map(|p| p.rake_share).sum::<i64>(), hand.rake, "exactly");
    for player in &hand.players {
        let off = player.rake_share * pot - hand.rake * player.contributed;
        assert!(off.abs() < pot, "{}: less than one unit off", player.player_id);
    }
    house.close().await;
}

/// A shove of 100 against a big blind all-in for 2: 98 came back before the flop, the pivots are being picked.
#[tokio::test]
async fn r10_1_a_shove_of_100_of_which_98_came_back_is_100_after_a_void() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let players = [("ann", 100), ("bob", 50), ("cid", 2)];
    let table = table_of(&mut caller, raked(double(), 1, 500, None), &players).await;
    let mut eyes = deal(&mut caller, &table).await;
    act(&mut caller, &mut eyes, &table, "ann", v1::Action::AllIn, 0).await;
    act(&mut caller, &mut eyes, &table, "bob", v1::Action::Fold, 0).await;
    let stacks = async |caller: &mut Caller| -> Vec<i64> {
        caller.table(&table, "").await.seats.iter().map(|seat| seat.stack).collect()
    };
    assert_eq!(stacks(&mut caller).await, [98, 49, 0]);
    let before = balance(&mut caller, v1::GetTrialBalanceRequest::default()).await;
    assert_eq!((before.totals[0].in_pots, before.totals[0].difference), (5, 0));
    let void = v1::VoidHandRequest {
        request_id: request_id(),
        table_id: table.clone(),
        hand_number: 1,
        reason: "a malfunction".into(),
        requester: "floor".into(),
    };
    let voided = caller.settlements.void_hand(void).await.expect("a void").into_inner();
    assert_eq!(stacks(&mut caller).await, [100, 50, 2]);
    let void = record(&mut caller, &table, v1::SettlementKind::Void).await;
    assert_eq!(void.settlement_id, voided.settlement_id);
    let Some(Body::Void(void)) = void.body else { panic!("{void:?}") };
    let refunds: Vec<_> = void.refunds.iter().map(|r| (r.player_id.as_str(), r.amount)).collect();
    assert_eq!(refunds, [("ann", 2), ("bob", 1), ("cid", 2)]);
    let after = balance(&mut caller, v1::GetTrialBalanceRequest::default()).await;
    let total = &after.totals[0];
    assert_eq!((total.on_tables, total.in_pots, total.raked, total.difference), (152, 0, 0, 0));
    for seat in &after.tables[0].seats {
        assert_eq!((seat.wagered, seat.won, seat.hands, seat.difference), (0, 0, 1, 0), "nothing was played");
    }
    house.close().await;
}

/// A page of the books.
pub async fn balance(
    caller: &mut Caller,
    request: v1::GetTrialBalanceRequest,
) -> v1::GetTrialBalanceResponse {
    in_time(caller.settlements.get_trial_balance(request)).await.expect("the books").into_inner()
}
