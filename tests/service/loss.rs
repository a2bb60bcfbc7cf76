//! A store that comes back without commits that somebody was told of (rules 10.2), as callers see it.

use std::sync::Arc;

use fulcrum::pb::v1;
use fulcrum::pb::v1::settlement::Body;
use tables::SystemClock;
use tonic::Code;
use v1::SettlementKind;

#[path = "../../services/tables/tests/common/lossy.rs"]
#[allow(dead_code, reason = "the tests of tables need more of it")]
pub mod lossy;

use super::harness::caller::leave_request;
use super::harness::{House, Setup, in_time, reason, texas};
use super::money::{act, balance, deal, record, settled};
use lossy::Lossy;

#[tokio::test]
async fn r10_2_a_hand_whose_history_is_lost_is_void_and_what_was_told_of_it_is_reversed() {
    let store = Lossy::new(Arc::new(SystemClock::default()));
    let house = House::with(Setup { store: Arc::<Lossy>::clone(&store), ..Setup::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = deal(&mut caller, &table).await;
    let last = caller.table(&table, "").await.version;

    // The hand is paid, and ann with it, and nobody is left who knows of that.
    store.cut_replica();
    act(&mut caller, &mut eyes, &table, "ann", v1::Action::Fold, 0).await;
    assert_eq!(settled(&mut caller, &table).await.hand_number, 1);
    let paid = record(&mut caller, &table, SettlementKind::Hand).await.settlement_id;
    let left =
        in_time(caller.tables.stand_up(leave_request(&table, "ann", "out"))).await.expect("she leaves");
    let left = left.into_inner();
    assert_eq!(left.paid, 9_950);
    store.fail_over();

    let now = caller.table(&table, "").await;
    assert_eq!(now.seats.iter().map(|seat| seat.stack).collect::<Vec<_>>(), [10_000, 10_000]);
    let stop = now.stops.iter().find(|stop| stop.scope() == v1::StopScope::Malfunction).expect("a stop");
    assert_eq!((now.state(), stop.reason.as_str()), (v1::TableState::Paused, "history lost"));
    let mut kinds: Vec<_> = caller.records(&table).await.iter().map(v1::Settlement::kind).collect();
    kinds.sort();
    let [buy_in, void] = [SettlementKind::BuyIn, SettlementKind::Void];
    assert_eq!(kinds.iter().filter(|kind| **kind == buy_in).count(), 2);
    assert_eq!(kinds.len(), 4, "{kinds:?}");

    let Some(Body::Void(void)) = record(&mut caller, &table, void).await.body else { panic!("no void") };
    assert_eq!((void.hand_number, void.requester.as_str()), (1, ""));
    let refunds: Vec<_> = void.refunds.iter().map(|r| (r.player_id.as_str(), r.amount)).collect();
    assert_eq!(refunds, [("ann", 50), ("bob", 100)]);
    let reversal = record(&mut caller, &table, SettlementKind::Reversal).await.body;
    let Some(Body::Reversal(reversal)) = reversal else { panic!("{reversal:?}") };
    assert_eq!((reversal.last_sequence, reversal.reason.as_str()), (last, "history lost"));
    assert!(reversal.until_sequence >= left.sequence, "{reversal:?}");
    for settlement_id in [paid, left.settlement_id] {
        let get = v1::GetSettlementRequest { settlement_id };
        let status = in_time(caller.settlements.get_settlement(get)).await.unwrap_err();
        assert_eq!((status.code(), reason(&status).as_str()), (Code::NotFound, "SETTLEMENT_NOT_FOUND"));
    }
    let books = balance(&mut caller, v1::GetTrialBalanceRequest::default()).await;
    let total = &books.totals[0];
    assert_eq!((total.on_tables, total.in_pots, total.paid_out, total.difference), (20_000, 0, 0, 0));
    house.close().await;
}
