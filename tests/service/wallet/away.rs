//! A wallet that is dead or hangs: its own operator's players hear of it soon, and nobody else hears of it at all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fulcrum::grpc::ServeConfig;
use fulcrum::pb::v1;
use tonic::Code;

use super::bank::{Act, Method, OPENING};
use super::room::{Room, buy_in, leave, seat, stand_up, table_of};
use crate::harness::{Caller, Setup, in_time, reason, texas};
use crate::money::{act, deal};

/// So long a call to a wallet that hangs is waited for: whoever waits for another operator's wallet waits so long.
const HANGING: Duration = Duration::from_secs(3);

/// A whole hand of two: the first to act folds.
async fn play_a_hand(caller: &mut Caller, table: &str) -> Duration {
    let begun = Instant::now();
    let mut eyes = deal(caller, table).await;
    act(caller, &mut eyes, table, "ann", v1::Action::Fold, 0).await;
    begun.elapsed()
}

#[tokio::test]
async fn a_dead_wallet_is_left_alone_and_its_tables_play_on() {
    let mut room = Room::open().await;
    let table = table_of(&mut room.alpha, texas(), &["ann", "bob"]).await;
    room.bank().close();
    let mut statuses = Vec::new();
    for place in 0..6 {
        let player = format!("p{place}");
        statuses.push(seat(&mut room.alpha, &buy_in(&table, &player, 3, 5_000)).await.unwrap_err());
    }
    assert_eq!(reason(&statuses[0]), "WALLET_NOT_CONFIRMED");
    let begun = Instant::now();
    let refused = seat(&mut room.alpha, &buy_in(&table, "cid", 3, 5_000)).await.unwrap_err();
    assert_eq!((refused.code(), reason(&refused)), (Code::Unavailable, "WALLET_UNAVAILABLE".into()));
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
    play_a_hand(&mut room.alpha, &table).await;
    let left = stand_up(&mut room.alpha, &leave(&table, "ann")).await.expect("whoever wants may leave");
    assert_eq!(left.paid, 9_950);

    room.bank().reopen().await;
    let begun = Instant::now();
    while let Err(status) = seat(&mut room.alpha, &buy_in(&table, "cid", 3, 5_000)).await {
        assert!(["WALLET_UNAVAILABLE", "WALLET_NOT_CONFIRMED"].contains(&&*reason(&status)), "{status:?}");
        assert!(begun.elapsed() < Duration::from_secs(40), "the wallet is back");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    room.bank().until(|bank| bank.balance("ann") == OPENING - 50).await;
    assert_eq!(room.bank().balance("cid"), OPENING - 5_000);
    room.house.close().await;
}

#[tokio::test]
async fn an_operator_whose_wallet_hangs_delays_nobody_else() {
    // Room for fewer calls than wait: they may not take it from others.
    let narrow = ServeConfig { calls_at_once: 128, ..ServeConfig::default() };
    let mut room = Room::with(|setup| {
        let config = ServeConfig { tokens: setup.config.tokens.clone(), ..narrow };
        let courier = tables::CourierSettings { deadline: HANGING, waiting: 32, ..setup.courier };
        Setup { config, courier, ..setup }
    })
    .await;
    let of_alpha = table_of(&mut room.alpha, texas(), &["ann", "bob"]).await;
    let of_beta = room.beta.table_of(texas(), &[]).await;
    let mut others = Vec::new();
    for _ in 0..40 {
        others.push(room.alpha.table_of(texas(), &[]).await);
    }
    room.banks[0].play(|_| Act::Hang);
    let mut waiting = Vec::new();
    for place in 0..200_u32 {
        let table = &others[place as usize % others.len()];
        let (mut caller, request) = (room.alpha.clone(), buy_in(table, &format!("p{place}"), 0, 5_000));
        waiting.push(tokio::spawn(async move { seat(&mut caller, &request).await }));
    }
    room.banks[0].asked(Method::Debit, 20).await;
    for (no, player) in (1..).zip(["ann", "bob"]) {
        let begun = Instant::now();
        seat(&mut room.beta, &buy_in(&of_beta, player, no, 5_000)).await.expect("beta's wallet is well");
        assert!(begun.elapsed() < HANGING, "{:?}", begun.elapsed());
    }
    let took = [play_a_hand(&mut room.beta, &of_beta).await, play_a_hand(&mut room.alpha, &of_alpha).await];
    assert!(took.iter().all(|took| *took < HANGING), "{took:?}");
    let left = stand_up(&mut room.beta, &leave(&of_beta, "bob")).await.expect("he leaves");
    assert_eq!(left.paid, 5_050);
    room.banks[1].until(|bank| bank.balance("bob") == OPENING + 50).await;
    for call in waiting {
        let status = in_time(call).await.expect("no panic").expect_err("the wallet has booked nothing");
        let reasons = ["WALLET_NOT_CONFIRMED", "WALLET_UNAVAILABLE", "WALLET_PENDING", "OVERLOADED"];
        assert!(reasons.contains(&&*reason(&status)), "{status:?}");
    }
    assert_eq!(room.banks[0].moved(), [2, 0, 0]);
    room.house.close().await;
}

/// A connection that nobody answers on any more, as after the loss of the machine behind an address, while another
/// one at the address is well.
#[tokio::test]
async fn a_connection_that_is_dead_does_not_outlive_its_wallet() {
    let bank = super::bank::Bank::open().await;
    let pipe = Arc::new(super::pipe::Pipe::open(bank.address).await);
    let wallet = super::bank::client_of(&format!("http://{}", pipe.address), super::room::DEADLINE);
    let house = crate::harness::House::with(super::room::setup(wallet.clone(), wallet)).await;
    let (mut alpha, _) = super::room::callers(&house).await;
    let table = table_of(&mut alpha, texas(), &["ann"]).await;
    pipe.mute();
    let status = seat(&mut alpha, &buy_in(&table, "bob", 2, 5_000)).await.unwrap_err();
    assert_eq!(reason(&status), "WALLET_NOT_CONFIRMED");
    let begun = Instant::now();
    while let Err(status) = seat(&mut alpha, &buy_in(&table, "cid", 3, 5_000)).await {
        assert!(["WALLET_UNAVAILABLE", "WALLET_NOT_CONFIRMED"].contains(&&*reason(&status)), "{status:?}");
        assert!(begun.elapsed() < Duration::from_secs(20), "a new connection is answered");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    house.close().await;
}
