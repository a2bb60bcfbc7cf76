//! What viewers were told, held against the log.

use super::*;

/// Ann's own stream: from the snapshot at 2 on, with her cards.
fn anns() -> Vec<TableMessage> {
    let mut commits = commits();
    commits[3].1[3] = dealt(1, &[Card::AceOfHearts, Card::AceOfSpades]);
    let own = SeatView { seat: 1, player_id: "ann".to_owned(), ..SeatView::default() };
    let snapshot = Content::Snapshot(Box::new(Table { seats: vec![own], ..Table::default() }));
    [message(2, snapshot)].into_iter().chain(told(commits).split_off(2)).collect()
}

fn compared(messages: &[TableMessage]) -> Findings {
    let mut view = View::new("ann");
    messages.iter().for_each(|message| view.hear(message));
    log(&told(commits())).check(&[record()], &[view], None)
}

#[test]
fn a_view_that_says_the_same_is_clean() {
    let found = compared(&anns());
    assert!(found.clean(), "{found:?}");
}

#[test]
fn a_view_that_says_something_else_is_noticed() {
    let change = |at: usize, change: fn(&mut Update)| {
        let mut messages = anns();
        if let Some(Content::Update(update)) = &mut messages[at].content {
            change(update);
        }
        compared(&messages)
    };
    let found = change(3, |update| update.turn = None);
    finds(&found, Kind::View, "ann was told something else than the log says");
    assert_eq!(found.count(Kind::View), 1);
    let found = change(2, |update| update.events[4].event = Some(dealt(2, &[Card::TwoOfClubs])));
    finds(&found, Kind::View, "the hole cards of seat 2 were told to somebody else");
    let found = change(3, |update| {
        let picked = PivotPicked { seat: 2, turn: 1, card_index: Some(0), by: ActedBy::Player.into() };
        update.events.push(TableEvent { event: Some(Event::PivotPicked(picked)) });
    });
    finds(&found, Kind::View, "the pick of seat 2 was told to somebody else");
}

#[test]
fn a_view_that_leaves_something_out_is_noticed() {
    let mut messages = anns();
    messages.pop();
    finds(&compared(&messages), Kind::View, "ann heard nothing after sequence 7; the log goes on to 8");
    let mut messages = anns();
    messages.remove(2);
    finds(&compared(&messages), Kind::View, "ann: sequences 4 to 4 are missing from the stream");
    let mut messages = anns();
    let extra = told(vec![(1, vec![left(1, "ann", 0)], None)]).remove(0);
    messages.push(TableMessage { sequence: 9, ..extra });
    finds(&compared(&messages), Kind::View, "ann was told what is not in the log");
}

#[test]
fn a_spectator_sees_no_cards_and_the_same_log_twice() {
    let mut commits = commits();
    commits[3].1[3] = dealt(1, &[Card::AceOfHearts]);
    let open = log(&told(commits));
    finds(&open.check(&[], &[], None), Kind::View, "the hole cards of seat 1 were told to somebody else");

    let right = log(&told(self::commits()));
    let mut commits = self::commits();
    commits[6].0 = 13_001;
    let other = log(&told(commits));
    let found = right.check(&[], &[], Some(&other));
    finds(&found, Kind::View, "the spectator's stream was told something else");
}
