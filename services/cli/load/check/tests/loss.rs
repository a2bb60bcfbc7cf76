//! Logs of which the store has lost a part.

use super::*;

/// Ann's call and all after it were lost, and the operator let the table go on.
fn with_a_loss() -> Vec<TableMessage> {
    let mut commits = commits();
    commits.truncate(4);
    let refunds = vec![SeatAmount { seat: 1, amount: 50 }, SeatAmount { seat: 2, amount: 100 }];
    let voided = HandVoided { hand_number: 1_001, reason: "history lost".to_owned(), refunds };
    let lost = HistoryLost { last_sequence: 4, until_sequence: 999 };
    let started = HandStarted { hand_number: 1_002, ..HandStarted::default() };
    let mut refunded = settled();
    (refunded.hand_number, refunded.pots, refunded.rake) = (1_002, Vec::new(), 0);
    refunded.players = vec![account(1, 0, 0), account(2, 0, 0)];
    let after = vec![
        (20_000, vec![Event::HandVoided(voided), Event::HistoryLost(lost)], None),
        (21_000, vec![Event::HandStarted(started)], None),
        (22_000, vec![Event::HandSettled(HandSettled { hand: Some(refunded) })], None),
        (23_000, vec![left(1, "ann", 1_000)], None),
        (23_000, vec![left(2, "ben", 1_000)], None),
    ];
    let jumped = (1_000..).zip(told(after)).map(|(sequence, message)| TableMessage { sequence, ..message });
    told(commits).into_iter().chain(jumped).collect()
}

#[test]
fn what_was_acknowledged_and_lost_with_the_history_is_counted() {
    let mut record = record();
    record.acks.pop();
    let found = log(&with_a_loss()).check(&[record], &[], None);
    finds(&found, Kind::Lost, "ann: a call to 100 with 50 in turn 1 of hand 1 was acknowledged at 5");
    assert_eq!((found.histories_lost, found.hands, found.hands_voided), (1, 1, 1));
    assert_eq!(found.count(Kind::Hand), 0);
    assert_eq!((found.count(Kind::Lost), found.count(Kind::LostSilently)), (1, 0), "{found:?}");
    assert!(!found.clean(), "what is lost is lost, also where it is told");
}

#[test]
fn what_is_lost_besides_what_the_log_tells_of_is_lost_without_a_word() {
    let mut record = record();
    record.acks.truncate(2);
    // The hand that was played after the loss, and of which nothing is told.
    for turn in [1, 2] {
        let deed = Deed::Acted { hand: 1_002, turn, action: Action::Check, to: 0, put_in: 0 };
        record.acks.push(Ack { sequence: 1_001, seat: 1, deed });
    }
    let found = log(&with_a_loss()).check(&[record], &[], None);
    loses(&found, "a check to 0 with 0 in turn 1 of hand 1002");
    assert_eq!((found.count(Kind::Lost), found.count(Kind::LostSilently)), (3, 1), "by table");
    assert!(
        found
            .faults
            .iter()
            .any(|fault| fault.sequence == 1_001
                && fault.what.starts_with("of what was acknowledged 2 are lost")),
        "{found:?}"
    );
}

#[test]
fn who_saw_what_was_lost_saw_nothing_wrong() {
    let mut seen = told(commits())[..6].to_vec();
    seen.extend(with_a_loss().split_off(4));
    let mut view = View::new("ben");
    seen.iter().for_each(|message| view.hear(message));
    let again = log(&seen);
    let found = log(&with_a_loss()).check(&[], &[view], Some(&again));
    assert!(found.clean() && found.histories_lost == 1, "{found:?}");

    // A log that has only been followed is not the one that is left.
    finds(&again.check(&[], &[], None), Kind::Gap, "the history was lost");
}

/// Ben saw a call at 4 where the log has another commit, and was told to begin anew; Ann was not.
#[test]
fn who_saw_another_history_has_to_be_told_to_begin_anew() {
    let view = |player: &str, told_anew: bool| {
        let mut seen = with_a_loss();
        let other = crate::pb::v1::PlayHalted {};
        seen[3] = TableMessage {
            sequence: 4,
            ..told(vec![(9_000, vec![Event::PlayHalted(other)], None)]).remove(0)
        };
        let rest = seen.split_off(4);
        if told_anew {
            let snapshot = Content::Snapshot(Box::default());
            seen.push(TableMessage { sequence: 1_000, content: Some(snapshot), ..TableMessage::default() });
            seen.extend(rest.into_iter().skip(1));
        } else {
            seen.extend(rest);
        }
        let mut view = View::new(player);
        seen.iter().for_each(|message| view.hear(message));
        view
    };
    let found = log(&with_a_loss()).check(&[], &[view("ben", true)], None);
    assert_eq!(found.count(Kind::View), 0, "{found:?}");
    let found = log(&with_a_loss()).check(&[], &[view("ann", false)], None);
    finds(&found, Kind::View, "ann was told something else than the log says");
}

#[test]
fn a_loss_that_does_not_fit_is_a_gap() {
    let mut messages = with_a_loss();
    messages.remove(3);
    let found = log(&messages).check(&[], &[], None);
    assert!(
        found.faults.iter().any(|fault| fault.what.contains("tells of a loss of 4 to 999, after 3")),
        "{found:?}"
    );
}
