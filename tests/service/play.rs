//! Hands played to their settlement by a backend that knows nothing but the contract.

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_event::Event;

use super::harness::caller::leave_request;
use super::harness::decks::{arranged, number, numbers};
use super::harness::{Caller, Eyes, House, double, texas};

/// Answers the open turn and reads on to the next one.
async fn act(caller: &mut Caller, eyes: &mut Eyes, table: &str, player: &str, action: v1::Action, to: i64) {
    let turn = eyes.turn.clone().expect("a turn is open");
    let answer = caller.act(table, player, &turn, action, to).await.expect("a legal action");
    let accepted = answer.action.expect("what was accepted");
    assert_eq!((accepted.hand_number, accepted.turn), (turn.hand_number, turn.number));
    eyes.until(answer.sequence).await;
}

#[tokio::test]
async fn a_texas_hand_from_the_blinds_to_its_record() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob", "cid"]).await;
    let mut eyes = caller.watch(&table, "").await;
    // Button ann; dealt in this order: bob, cid, ann.
    house.decks.lay_out(&table, 1, arranged(&["7c 2d", "Kh Kd", "As Ad"], "Ah 5c 9d Ks 3h"));
    let begun = caller.begin(&table).await;

    let first = eyes.turn_after(begun).await;
    assert_eq!((first.hand_number, first.number, &first.seats[..]), (1, 1, &[1][..]));
    let legal = first.legal.expect("one player is asked");
    assert_eq!((legal.call_amount, legal.min_to, legal.max_to), (100, 200, 10_000));
    assert!(legal.can_fold && !legal.can_check && !legal.can_bet && legal.can_raise && legal.can_all_in);

    act(&mut caller, &mut eyes, &table, "ann", v1::Action::Raise, 300).await;
    act(&mut caller, &mut eyes, &table, "bob", v1::Action::Fold, 0).await;
    act(&mut caller, &mut eyes, &table, "cid", v1::Action::Call, 0).await;
    act(&mut caller, &mut eyes, &table, "cid", v1::Action::Check, 0).await;
    act(&mut caller, &mut eyes, &table, "ann", v1::Action::Bet, 400).await;
    act(&mut caller, &mut eyes, &table, "cid", v1::Action::Call, 0).await;
    act(&mut caller, &mut eyes, &table, "cid", v1::Action::Check, 0).await;
    act(&mut caller, &mut eyes, &table, "ann", v1::Action::Check, 0).await;
    caller.pause(&table).await;
    act(&mut caller, &mut eyes, &table, "cid", v1::Action::Check, 0).await;
    act(&mut caller, &mut eyes, &table, "ann", v1::Action::Bet, 1000).await;
    act(&mut caller, &mut eyes, &table, "cid", v1::Action::Call, 0).await;

    let hand = eyes.settled(1).await;
    let [pot] = &hand.pots[..] else { panic!("one pot: {:?}", hand.pots) };
    assert_eq!((pot.amount, pot.rake, &pot.eligible_seats[..]), (3450, 0, &[1, 3][..]));
    assert_eq!(pot.winners, [v1::SeatAmount { seat: 1, amount: 3450 }]);
    let after: Vec<_> = hand.players.iter().map(|p| (p.player_id.as_str(), p.stack_after)).collect();
    assert_eq!(after, [("bob", 9950), ("cid", 8300), ("ann", 11_750)]);
    let ann = hand.players[2].shown.as_ref().expect("she showed");
    let best = ann.best.as_ref().expect("a value");
    assert_eq!(best.category(), v1::HandCategory::ThreeOfAKind);
    assert_eq!(best.ranks().next(), Some(v1::Rank::Ace));
    assert!(hand.players[1].shown.is_none(), "rules 6.4: a beaten hand is mucked");

    let shown: Vec<_> =
        eyes.events().filter_map(|e| matches!(e, Event::HandShown(_)).then_some(e.clone())).collect();
    let ann = v1::HandShown { seat: 1, cards: numbers("As Ad"), pivot: 0 };
    assert_eq!(shown, [Event::HandShown(ann)]);
    assert!(eyes.events().any(|e| *e == Event::HandMucked(v1::HandMucked { seat: 3 })));

    let now = caller.table(&table, "").await;
    assert_eq!(now.seats.iter().map(|seat| seat.stack).collect::<Vec<_>>(), [11_750, 9950, 8300]);
    let records = caller.records(&table).await;
    let kinds: Vec<_> = records.iter().map(v1::Settlement::kind).collect();
    use v1::SettlementKind::{BuyIn, Hand};
    assert_eq!(kinds, [BuyIn, BuyIn, BuyIn, Hand]);
    let record = &records[3];
    assert_eq!((record.sequence, record.config_version), (now.version, 1), "with the state, by its settings");
    assert_eq!((record.game(), record.limit()), (v1::Game::TexasHoldem, v1::Limit::NoLimit));
    assert_eq!(record.body, Some(v1::settlement::Body::Hand(hand)), "the record is what watchers were told");
    let request = v1::GetSettlementRequest { settlement_id: record.settlement_id.clone() };
    let read = caller.settlements.get_settlement(request).await.expect("the record").into_inner();
    assert_eq!(read.settlement.as_ref(), Some(record));
    house.close().await;
}

#[tokio::test]
async fn a_double_holdem_hand_with_its_pivots() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(double(), &["ann", "bob"]).await;
    let [mut eyes, mut anns, mut bobs] = [
        caller.watch(&table, "").await,
        caller.watch(&table, "ann").await,
        caller.watch(&table, "bob").await,
    ];
    // Heads-up: ann has the button, bob is dealt first.
    house.decks.lay_out(&table, 1, arranged(&["5c 6h Ac", "Ks Kh 7d"], "3s 4h Kc Qc 2d"));
    let begun = caller.begin(&table).await;
    eyes.turn_after(begun).await;

    act(&mut caller, &mut eyes, &table, "ann", v1::Action::Call, 0).await;
    act(&mut caller, &mut eyes, &table, "bob", v1::Action::Check, 0).await;
    // Rules 4.1: bob picks, then acts; then ann.
    for (player, card, seat) in [("bob", 0, 2), ("ann", 2, 1)] {
        let turn = eyes.turn.clone().expect("a turn");
        assert_eq!((turn.kind(), &turn.seats[..]), (v1::TurnKind::Pick, &[seat][..]));
        let too_early = caller.act(&table, player, &turn, v1::Action::Check, 0).await.unwrap_err();
        assert_eq!(super::harness::reason(&too_early), "PIVOT_DUE");
        let picked = caller.pick(&table, player, &turn, card).await.expect("a pick");
        assert_eq!((picked.card_index, picked.seat, picked.turn), (card, seat, turn.number));
        eyes.until(picked.sequence).await;
        act(&mut caller, &mut eyes, &table, player, v1::Action::Check, 0).await;
    }
    act(&mut caller, &mut eyes, &table, "bob", v1::Action::Check, 0).await;
    act(&mut caller, &mut eyes, &table, "ann", v1::Action::Bet, 200).await;
    act(&mut caller, &mut eyes, &table, "bob", v1::Action::Call, 0).await;
    act(&mut caller, &mut eyes, &table, "bob", v1::Action::Check, 0).await;
    caller.pause(&table).await;
    act(&mut caller, &mut eyes, &table, "ann", v1::Action::Check, 0).await;

    let hand = eyes.settled(1).await;
    assert_eq!(hand.pots[0].winners, [v1::SeatAmount { seat: 2, amount: 600 }]);
    let bob = hand.players[0].shown.as_ref().expect("he showed");
    let category = |value: &Option<v1::HandValue>| value.as_ref().map(v1::HandValue::category);
    // Rules 12: six-five with the board is a straight to the six, five-ace the wheel.
    assert_eq!(category(&bob.first), Some(v1::HandCategory::Straight));
    assert_eq!(bob.first, bob.best);
    let shown = eyes.events().find_map(|e| match e {
        Event::HandShown(shown) => Some(shown.clone()),
        _ => None,
    });
    let left_pivot_right = v1::HandShown { seat: 2, cards: numbers("6h 5c Ac"), pivot: number("5c") };
    assert_eq!(shown, Some(left_pivot_right));

    anns.settled(1).await;
    bobs.settled(1).await;
    let picks = |eyes: &Eyes| {
        let pick = |e: &Event| match e {
            Event::PivotPicked(picked) => Some((picked.seat, picked.card_index)),
            _ => None,
        };
        eyes.events().filter_map(pick).collect::<Vec<_>>()
    };
    // Rules 4.4: that he picked is seen by all, which card by him only.
    assert_eq!(picks(&eyes), [(2, None), (1, None)]);
    assert_eq!(picks(&bobs), [(2, Some(0)), (1, None)]);
    assert_eq!(picks(&anns), [(2, None), (1, Some(2))]);
    house.close().await;
}

#[tokio::test]
async fn r6_6_a_hand_won_without_a_showdown_is_shown_only_if_its_owner_wants_it() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    house.decks.lay_out(&table, 1, arranged(&["7c 2d", "As Ad"], ""));
    let begun = caller.begin(&table).await;
    eyes.turn_after(begun).await;
    caller.pause(&table).await;
    act(&mut caller, &mut eyes, &table, "ann", v1::Action::AllIn, 0).await;
    act(&mut caller, &mut eyes, &table, "bob", v1::Action::Fold, 0).await;
    eyes.settled(1).await;
    let hand = caller.table(&table, "").await.hand.expect("the last hand");
    assert!(hand.seats.iter().all(|seat| seat.cards.is_empty() && seat.card_count == 2));

    let show = |player: &str| v1::ShowCardsRequest {
        request_id: super::harness::request_id(),
        table_id: table.clone(),
        hand_number: 1,
        player_id: player.into(),
    };
    let loser = caller.actions.show_cards(show("bob")).await.unwrap_err();
    assert_eq!(super::harness::reason(&loser), "NOTHING_TO_SHOW");
    let shown = caller.actions.show_cards(show("ann")).await.expect("shown").into_inner();
    eyes.until(shown.sequence).await;
    let cards: Vec<_> = eyes
        .events()
        .filter_map(|e| match e {
            Event::HandShown(shown) => Some(shown.cards.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(cards, [numbers("As Ad")]);
    house.close().await;
}

#[tokio::test]
async fn r10_1_a_voided_hand_gives_everything_back() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    eyes.turn_after(begun).await;
    caller.pause(&table).await;
    act(&mut caller, &mut eyes, &table, "ann", v1::Action::Raise, 700).await;
    let void = v1::VoidHandRequest {
        request_id: super::harness::request_id(),
        table_id: table.clone(),
        hand_number: 1,
        reason: "a deck of 53 cards".into(),
        requester: "floor".into(),
    };
    let answer = caller.settlements.void_hand(void.clone()).await.expect("void").into_inner();
    let back: Vec<_> = answer.refunds.iter().map(|r| (r.seat, r.amount)).collect();
    assert_eq!(back, [(1, 700), (2, 100)]);
    let stacks: Vec<_> = caller.table(&table, "").await.seats.iter().map(|s| s.stack).collect();
    assert_eq!(stacks, [10_000, 10_000]);
    let records = caller.records(&table).await;
    let last = records.last().expect("a record");
    assert_eq!((last.kind(), &last.settlement_id), (v1::SettlementKind::Void, &answer.settlement_id));
    let again = caller.settlements.void_hand(void).await.expect("the same answer").into_inner();
    assert_eq!(again, answer);
    house.close().await;
}

#[tokio::test]
async fn players_come_add_chips_and_leave_with_a_record_each() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    let seated = caller.seat(&table, "ann", 0, 5_000).await;
    assert_eq!((seated.seat, seated.session), (1, 1), "rules 1.5: the free seat with the lowest number");
    let add = v1::AddChipsRequest {
        request_id: super::harness::request_id(),
        table_id: table.clone(),
        player_id: "ann".into(),
        amount: 1_500,
        transaction_id: "more".into(),
        etag: String::new(),
    };
    let added = caller.tables.add_chips(add).await.expect("added").into_inner();
    assert_eq!((added.pending, added.added, added.returned), (false, 1_500, 0));
    let leave = leave_request(&table, "ann", "out");
    let left = caller.tables.stand_up(leave).await.expect("left").into_inner();
    assert_eq!((left.pending, left.paid), (false, 6_500));
    let ids: Vec<_> = caller.records(&table).await.into_iter().map(|r| r.settlement_id).collect();
    assert_eq!(ids, [seated.settlement_id, added.settlement_id, left.settlement_id]);
    let sit_out = v1::SitOutRequest {
        request_id: super::harness::request_id(),
        table_id: table.clone(),
        player_id: "ann".into(),
        ..Default::default()
    };
    let gone = caller.tables.sit_out(sit_out).await.unwrap_err();
    assert_eq!(super::harness::reason(&gone), "NOT_SEATED");
    house.close().await;
}

#[tokio::test]
async fn who_leaves_on_his_turn_and_ends_the_hand_with_it_is_told_his_record() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    let turn = eyes.turn_after(begun).await;
    assert_eq!(turn.seats, [1], "rules 2.2: heads-up the button acts first");
    let leave = leave_request(&table, "ann", "out");
    let left = caller.tables.stand_up(leave).await.expect("left").into_inner();
    assert_eq!((left.pending, left.paid), (false, 9_950));
    let out = caller.records(&table).await.pop().expect("a record");
    assert_eq!((out.kind(), out.settlement_id), (v1::SettlementKind::CashOut, left.settlement_id));
    house.close().await;
}
