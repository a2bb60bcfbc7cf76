//! Several clients for one seat, and answers to turns that are over.

use fulcrum::pb::v1;
use tonic::Code;

use super::super::harness::{House, fact, in_time, reason, texas};
use super::scene::{picking, playing};

const ROUNDS: usize = 15;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_action_of_two_clients_at_once_has_the_same_answer() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    for _ in 0..ROUNDS {
        let (table, turn) = playing(&mut caller, texas()).await;
        let before = caller.table(&table, "").await.version;
        let mut calls = Vec::new();
        for _ in 0..4 {
            let (mut other, table, turn) = (house.caller().await, table.clone(), turn.clone());
            calls.push(tokio::spawn(
                async move { other.act(&table, "ann", &turn, v1::Action::Raise, 400).await },
            ));
        }
        let mut answers = Vec::new();
        for call in calls {
            answers.push(in_time(call).await.expect("no panic").expect("an answer"));
        }
        answers.dedup();
        assert_eq!(answers.len(), 1);
        assert_eq!(caller.table(&table, "").await.version, before + 1, "one action");
    }
    house.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_different_actions_of_two_clients_at_once_one_counts() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    for _ in 0..ROUNDS {
        let (table, turn) = playing(&mut caller, texas()).await;
        let mut eyes = caller.watch(&table, "").await;
        let before = caller.table(&table, "").await.version;
        let mut calls = Vec::new();
        for (action, to) in [(v1::Action::Raise, 400), (v1::Action::Call, 0), (v1::Action::Raise, 500)] {
            let (mut other, table, turn) = (house.caller().await, table.clone(), turn.clone());
            calls.push(tokio::spawn(async move { other.act(&table, "ann", &turn, action, to).await }));
        }
        let mut accepted = Vec::new();
        for call in calls {
            match in_time(call).await.expect("no panic") {
                Ok(answer) => accepted.push(answer),
                Err(status) => {
                    assert_eq!(
                        (status.code(), reason(&status)),
                        (Code::FailedPrecondition, "TURN_PASSED".into())
                    );
                    assert_eq!(fact(&status, "current"), "2");
                }
            }
        }
        let [winner] = &accepted[..] else { panic!("one counts: {accepted:?}") };
        assert_eq!(caller.table(&table, "").await.version, before + 1);
        eyes.until(before + 1).await;
        let acted: Vec<_> = eyes
            .events()
            .filter_map(|event| match event {
                v1::table_event::Event::PlayerActed(acted) => Some((acted.action, acted.to)),
                _ => None,
            })
            .collect();
        let action = winner.action.expect("what was accepted");
        assert_eq!(acted, [(action.action, action.to)], "all are told of the one that counts");
    }
    house.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_different_pivots_of_two_clients_at_once_one_counts() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    for _ in 0..ROUNDS {
        let (table, turn) = picking(&mut caller).await;
        let mut calls = Vec::new();
        for card in [0, 1, 1, 2] {
            let (mut other, table, turn) = (house.caller().await, table.clone(), turn.clone());
            calls.push(tokio::spawn(async move { (card, other.pick(&table, "bob", &turn, card).await) }));
        }
        let mut accepted = Vec::new();
        for call in calls {
            match in_time(call).await.expect("no panic") {
                (card, Ok(answer)) => {
                    assert_eq!(answer.card_index, card);
                    accepted.push(card);
                }
                (_, Err(status)) => assert_eq!(reason(&status), "TURN_PASSED"),
            }
        }
        accepted.dedup();
        assert_eq!(accepted.len(), 1, "one card, however often: {accepted:?}");
        let seat = caller.table(&table, "bob").await.hand.expect("a hand").seats[0].clone();
        assert_eq!(seat.pivot_index, Some(accepted[0]));
    }
    house.close().await;
}

#[tokio::test]
async fn an_answer_to_the_last_turn_or_the_last_hand_changes_nothing() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let (table, first) = playing(&mut caller, texas()).await;
    let mut eyes = caller.watch(&table, "").await;
    let raised = caller.act(&table, "ann", &first, v1::Action::Raise, 300).await.expect("a raise");
    let second = eyes.turn_after(raised.sequence).await;
    let before = caller.table(&table, "").await;
    for player in ["ann", "bob"] {
        for action in [v1::Action::Fold, v1::Action::Call, v1::Action::AllIn] {
            let late = caller.act(&table, player, &first, action, 0).await.unwrap_err();
            assert_eq!(
                (late.code(), reason(&late)),
                (Code::FailedPrecondition, "TURN_PASSED".into()),
                "{player}"
            );
            assert_eq!(fact(&late, "current"), second.number.to_string());
        }
        let no_pick = caller.pick(&table, player, &first, 0).await.unwrap_err();
        assert_eq!(reason(&no_pick), "TURN_PASSED");
    }
    assert_eq!(caller.table(&table, "").await, before, "nothing has changed");

    caller.pause(&table).await;
    let folded = caller.act(&table, "bob", &second, v1::Action::Fold, 0).await.expect("a fold");
    eyes.until(folded.sequence).await;
    let before = caller.table(&table, "").await;
    let third = v1::Turn { number: second.number + 1, ..second.clone() };
    for turn in [&first, &third] {
        let late = caller.act(&table, "ann", turn, v1::Action::Check, 0).await.unwrap_err();
        let reason = reason(&late);
        assert!(["TURN_PASSED", "HAND_OVER", "TURN_NOT_REACHED"].contains(&reason.as_str()), "{reason}");
    }
    assert_eq!(caller.table(&table, "").await, before);
    house.close().await;
}
