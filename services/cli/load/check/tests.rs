//! Logs made by hand, right and wrong: the checker finds what is wrong, and says it.

mod books;
mod loss;
mod views;

use super::*;
use crate::pb::v1::settlement::Body;
use crate::pb::v1::{
    ActedBy, Action, BlindPosted, Card, Clocks as ClockSettings, Compacted, HandScheduled, HandSettled,
    HandStarted, HandVoided, HistoryLost, HoleCardsDealt, Movement, PivotPicked, PlayerActed, PlayerSeated,
    PlayerStoodUp, SeatAmount, SeatView, SettledHand, SettledPlayer, SettledPot, Settlement, SettlementKind,
    Table, TableConfig, TableEvent, TableOpened, Turn, Update,
};

fn time(ms: i64) -> Option<prost_types::Timestamp> {
    Some(prost_types::Timestamp { seconds: ms / 1000, nanos: i32::try_from(ms % 1000).unwrap() * 1_000_000 })
}

fn message(sequence: u64, content: Content) -> TableMessage {
    TableMessage { sequence, content: Some(content), ..TableMessage::default() }
}

fn turn(number: u32, seat: u32, ends: i64) -> Option<Turn> {
    Some(Turn { hand_number: 1, number, seats: vec![seat], bank_until: time(ends), ..Turn::default() })
}

fn seated(seat: u32, player: &str) -> Event {
    let (player_id, session, buy_in) = (player.to_owned(), u64::from(seat), 1_000);
    Event::PlayerSeated(PlayerSeated { seat, player_id, session, buy_in, ..PlayerSeated::default() })
}

fn acted(seat: u32, turn: u32, action: Action, to: i64, put_in: i64, by: ActedBy) -> Event {
    let (action, by) = (action.into(), by.into());
    Event::PlayerActed(PlayerActed { seat, turn, action, to, put_in, by, ..PlayerActed::default() })
}

fn posted(seat: u32, amount: i64) -> Event {
    Event::BlindPosted(BlindPosted { seat, amount, ..BlindPosted::default() })
}

fn dealt(seat: u32, cards: &[Card]) -> Event {
    let cards = cards.iter().map(|card| (*card).into()).collect();
    Event::HoleCardsDealt(HoleCardsDealt { seat, count: 2, cards })
}

fn left(seat: u32, player: &str, paid: i64) -> Event {
    let player_id = player.to_owned();
    Event::PlayerStoodUp(PlayerStoodUp { seat, player_id, paid, ..PlayerStoodUp::default() })
}

fn account(seat: u32, contributed: i64, won: i64) -> SettledPlayer {
    let (stack_before, stack_after) = (1_000, 1_000 - contributed + won);
    SettledPlayer { seat, stack_before, stack_after, contributed, won, ..SettledPlayer::default() }
}

fn settled() -> SettledHand {
    let winners = vec![SeatAmount { seat: 1, amount: 190 }];
    SettledHand {
        hand_number: 1,
        pots: vec![SettledPot { amount: 200, rake: 10, eligible_seats: vec![1], winners }],
        players: vec![account(1, 100, 190), account(2, 100, 0)],
        rake: 10,
        ..SettledHand::default()
    }
}

/// A hand of two: ann calls, ben's clock runs out, ann wins, both leave.
fn commits() -> Vec<(i64, Vec<Event>, Option<Turn>)> {
    let grace = Some(prost_types::Duration { seconds: 0, nanos: 500_000_000 });
    let clocks = Some(ClockSettings { grace, ..ClockSettings::default() });
    let config = Some(TableConfig { clocks, ..TableConfig::default() });
    let started = HandStarted { hand_number: 1, started: time(4_000), ..HandStarted::default() };
    vec![
        (1_000, vec![Event::TableOpened(Box::new(TableOpened { config }))], None),
        (1_000, vec![seated(1, "ann")], None),
        (1_000, vec![seated(2, "ben"), Event::HandScheduled(HandScheduled { at: time(4_000) })], None),
        (
            4_000,
            vec![Event::HandStarted(started), posted(1, 50), posted(2, 100), dealt(1, &[]), dealt(2, &[])],
            turn(1, 1, 10_000),
        ),
        (5_000, vec![acted(1, 1, Action::Call, 100, 50, ActedBy::Player)], turn(2, 2, 12_000)),
        (
            12_530,
            vec![
                acted(2, 2, Action::Fold, 100, 0, ActedBy::TimeOut),
                Event::HandSettled(HandSettled { hand: Some(settled()) }),
            ],
            None,
        ),
        (13_000, vec![left(1, "ann", 1_090)], None),
        (13_000, vec![left(2, "ben", 900)], None),
    ]
}

fn told(commits: Vec<(i64, Vec<Event>, Option<Turn>)>) -> Vec<TableMessage> {
    let update = |(sequence, (at, events, turn)): (u64, (i64, Vec<Event>, Option<Turn>))| {
        let events = events.into_iter().map(|event| TableEvent { event: Some(event) }).collect();
        message(sequence, Content::Update(Update { events, turn, time: time(at) }))
    };
    (1..).zip(commits).map(update).collect()
}

fn log(messages: &[TableMessage]) -> Log {
    let mut log = Log::default();
    messages.iter().for_each(|message| log.hear(message, None));
    log
}

/// What ann was acknowledged.
fn record() -> Record {
    let ack = |sequence, deed| Ack { sequence, seat: 1, deed };
    let called = Deed::Acted { hand: 1, turn: 1, action: Action::Call, to: 100, put_in: 50 };
    let acks = vec![
        ack(2, Deed::Seated { session: 1, buy_in: 1_000 }),
        ack(5, called),
        ack(7, Deed::Left { paid: 1_090 }),
    ];
    Record { player: "ann".to_owned(), acks, ..Record::default() }
}

/// The check of a log finds this kind of fault only, and says this.
#[track_caller]
fn finds(found: &Findings, kind: Kind, words: &str) {
    assert!(found.count(kind) > 0, "{found:?}");
    assert!(found.faults.iter().all(|fault| fault.kind == kind), "{found:?}");
    assert!(found.faults.iter().any(|fault| fault.what.contains(words)), "{words:?} in {found:?}");
}

/// The check finds that something is lost, says this, and that the log says nothing of it.
#[track_caller]
fn loses(found: &Findings, words: &str) {
    let (mut lost, mut silent) = (Findings::default(), Findings::default());
    for fault in &found.faults {
        let of = if fault.kind == Kind::LostSilently { &mut silent } else { &mut lost };
        of.take(std::slice::from_ref(fault));
    }
    finds(&lost, Kind::Lost, words);
    finds(&silent, Kind::LostSilently, "no lost history tells of it");
}

fn checked(commits: Vec<(i64, Vec<Event>, Option<Turn>)>) -> Findings {
    log(&told(commits)).check(&[record()], &[], None)
}

#[test]
fn a_log_that_is_right_is_clean() {
    let found = checked(commits());
    assert!(found.clean(), "{found:?}");
    assert_eq!((found.hands, found.count(Kind::Hand), found.unverified), (1, 0, 0));
    assert_eq!((found.late_ms, found.start_late_ms), (vec![30], vec![0]));
}

#[test]
fn an_acknowledged_decision_that_is_not_there_is_lost() {
    let mut record = record();
    let deed = Deed::Acted { hand: 1, turn: 7, action: Action::Raise, to: 300, put_in: 200 };
    record.acks.push(Ack { sequence: 6, seat: 1, deed });
    let found = log(&told(commits())).check(&[record], &[], None);
    loses(
        &found,
        "ann: a raise to 300 with 200 in turn 7 of hand 1 was acknowledged at 6, and is not in the log",
    );
    assert_eq!((found.count(Kind::Lost), found.count(Kind::LostSilently)), (1, 1));
}

#[test]
fn a_time_out_in_place_of_an_acknowledged_decision_is_a_loss() {
    let deed = Deed::Acted { hand: 1, turn: 2, action: Action::Fold, to: 100, put_in: 0 };
    let acks = vec![Ack { sequence: 6, seat: 2, deed }];
    let ben = Record { player: "ben".to_owned(), acks, ..Record::default() };
    loses(&log(&told(commits())).check(&[ben], &[], None), "ben");
}

#[test]
fn a_decision_that_is_there_otherwise_is_contradicted() {
    let mut commits = commits();
    commits[4].1 = vec![acted(1, 1, Action::AllIn, 100, 50, ActedBy::Player)];
    finds(
        &checked(commits),
        Kind::Contradicted,
        "a call to 100 with 50 in turn 1 of hand 1 was acknowledged at 5",
    );

    let mut moved = record();
    moved.acks[1].sequence = 6;
    let found = log(&told(self::commits())).check(&[moved], &[], None);
    finds(
        &found,
        Kind::Contradicted,
        "acknowledged at 6; the log has a call to 100 with 50 in turn 1 of hand 1 at 5",
    );
}

#[test]
fn a_refused_decision_that_counts_is_contradicted() {
    let mut record = record();
    record.acks.remove(1);
    record.denied.push(Denied { hand: 1, turn: 1, seat: 1 });
    let found = log(&told(commits())).check(&[record], &[], None);
    finds(&found, Kind::Contradicted, "was refused; the log has a call");
}

#[test]
fn a_turn_that_is_decided_twice_is_doubled() {
    let mut commits = commits();
    commits[4].1.push(acted(1, 1, Action::Check, 100, 0, ActedBy::Player));
    finds(&checked(commits), Kind::Doubled, "turn 1 of hand 1 was decided twice by seat 1: at 5 and at 5");
}

#[test]
fn what_is_done_for_who_is_away_may_repeat_a_turn() {
    let mut commits = commits();
    let away = || acted(2, 2, Action::Check, 100, 0, ActedBy::Absent);
    commits[5].1.splice(1..1, [away(), away()]);
    assert!(checked(commits).clean());
}

#[test]
fn chips_that_come_twice_are_doubled() {
    use crate::pb::v1::{ChipsAdded, ChipsRequested};
    let mut commits = commits();
    let more = || {
        let asked = Event::ChipsRequested(ChipsRequested { seat: 1, amount: 10 });
        [asked, Event::ChipsAdded(ChipsAdded { seat: 1, added: 10, returned: 0 })]
    };
    commits[6].1 = more().into_iter().chain(more()).chain([left(1, "ann", 1_110)]).collect();
    let mut record = record();
    record.acks[2].deed = Deed::Left { paid: 1_110 };
    record.asked_for_chips = 1;
    record.acks.push(Ack { sequence: 7, seat: 1, deed: Deed::Added { amount: 10 } });
    let found = log(&told(commits)).check(&[record], &[], None);
    finds(&found, Kind::Doubled, "ann asked for chips 1 times and got them 2 times");
}

#[test]
fn a_sequence_that_is_missing_is_a_gap_and_what_it_hides_is_not_called_lost() {
    let mut messages = told(commits());
    messages.remove(6);
    let found = log(&messages).check(&[record()], &[], None);
    assert_eq!((found.count(Kind::Gap), found.count(Kind::Lost), found.unverified), (1, 0, 1), "{found:?}");
    assert!(
        found.faults.iter().any(|fault| fault.what.contains("sequences 7 to 7 are missing")),
        "{found:?}"
    );

    let mut messages = told(commits());
    messages.insert(3, messages[2].clone());
    let found = log(&messages).check(&[], &[], None);
    assert!(found.faults.iter().any(|fault| fault.what.contains("tells sequence 3 again")), "{found:?}");
}

#[test]
fn history_that_is_trimmed_is_a_gap_and_the_rest_is_checked() {
    let mut messages = told(commits());
    let seat = |seat, stack| SeatView { seat, stack, ..SeatView::default() };
    let table = Table { seats: vec![seat(1, 1_090), seat(2, 900)], ..Table::default() };
    let compacted = message(3, Content::Compacted(Compacted { after_sequence: 3 }));
    let snapshot = message(6, Content::Snapshot(Box::new(table)));
    messages.splice(3..6, [compacted, snapshot]);
    let found = log(&messages).check(&[record()], &[], None);
    finds(&found, Kind::Gap, "the server does not keep sequences 4 to 6 any more");
    assert_eq!(found.unverified, 1);

    let wrong = told(vec![(1, vec![left(2, "ben", 901)], None)]).remove(0);
    *messages.last_mut().unwrap() = TableMessage { sequence: 8, ..wrong };
    let found = log(&messages).check(&[], &[], None);
    assert!(found.count(Kind::ChipsOff) > 0, "chips are counted from the snapshot on: {found:?}");
}

#[test]
fn chips_from_nowhere_are_noticed() {
    let mut paid = commits();
    paid[6].1 = vec![left(1, "ann", 1_091)];
    let found = log(&told(paid)).check(&[], &[], None);
    finds(&found, Kind::ChipsOff, "seat 1 had 1090 and was paid 1091");
    finds(&found, Kind::ChipsOff, "2000 were brought, 2001 are accounted for");

    let wrong = |change: fn(&mut SettledHand), words: &str| {
        let mut commits = commits();
        let mut hand = settled();
        change(&mut hand);
        commits[5].1[1] = Event::HandSettled(HandSettled { hand: Some(hand) });
        finds(&log(&told(commits)).check(&[], &[], None), Kind::ChipsOff, words);
    };
    wrong(|hand| hand.pots[0].amount = 210, "200 were put in, the pots have 210");
    wrong(|hand| hand.rake = 9, "rake 10 and 9 in all");
    wrong(|hand| hand.pots[0].winners[0].amount = 180, "pots of 200 paid 180");
    wrong(|hand| hand.players[0].stack_after += 1, "the account of seat 1, who had 1000, ends at 1091");
    wrong(|hand| hand.players[1].stack_before -= 1, "the account of seat 2");
}

#[test]
fn a_void_gives_back_what_was_put_in_and_needs_a_reason() {
    let mut commits = commits();
    let refunds = vec![SeatAmount { seat: 1, amount: 100 }, SeatAmount { seat: 2, amount: 90 }];
    let reason = "chips are missing".to_owned();
    commits[5].1[1] = Event::HandVoided(HandVoided { hand_number: 1, reason, refunds });
    let found = log(&told(commits)).check(&[], &[], None);
    assert_eq!((found.hands, found.hands_voided), (0, 1));
    let said = |words: &str| found.faults.iter().any(|fault| fault.what.contains(words));
    assert!(said("hand 1 was voided: chips are missing"), "{found:?}");
    assert!(said("a void gives seat 2 90 back, who put 100 in") && said("a void leaves 10"), "{found:?}");
}

#[test]
fn a_clock_before_its_end_is_early() {
    let mut commits = commits();
    commits[5].0 = 12_500;
    finds(&checked(commits), Kind::Early, "turn 2 timed out 0 ms before its end");
    let mut commits = self::commits();
    commits[5].0 = 12_100;
    finds(&checked(commits), Kind::Early, "turn 2 timed out 400 ms before its end");
    let mut commits = self::commits();
    commits[4].2 = turn(3, 2, 12_000);
    finds(&checked(commits), Kind::Early, "turn 2 timed out, but it was not open");
    let mut commits = self::commits();
    let started = HandStarted { hand_number: 1, started: time(3_999), ..HandStarted::default() };
    commits[3].1[0] = Event::HandStarted(started);
    finds(&checked(commits), Kind::Early, "a hand began 1 ms before its time");
}

#[test]
fn clocks_that_got_time_back_end_later() {
    let mut commits = commits();
    let by = Some(prost_types::Duration { seconds: 30, nanos: 0 });
    let shifted = Event::ClocksShifted(crate::pb::v1::ClocksShifted { by });
    commits[5].0 = 42_540;
    commits.insert(5, (41_000, vec![shifted], turn(2, 2, 42_000)));
    let found = log(&told(commits.clone())).check(&[], &[], None);
    assert!(found.clean() && found.late_ms == [40], "{found:?}");
    commits[6].0 = 12_540;
    finds(&log(&told(commits)).check(&[], &[], None), Kind::Early, "29960 ms before its end");
}

#[test]
fn a_hand_that_has_no_end_is_noticed() {
    let found = log(&told(commits())[..5]).check(&[], &[], None);
    assert_eq!(found.count(Kind::Hand), 1);
    finds(&found, Kind::Hand, "hand 1 has no end");

    let mut commits = commits();
    let again = HandStarted { hand_number: 1, ..HandStarted::default() };
    commits.insert(6, (12_600, vec![Event::HandStarted(again)], None));
    let found = log(&told(commits)).check(&[], &[], None);
    assert!(found.faults.iter().any(|fault| fault.what.contains("hand 1 follows hand 1")), "{found:?}");
}

#[test]
fn who_hears_of_a_time_out_late_is_counted_by_his_own_clock() {
    let mut log = Log::default();
    told(commits()).iter().for_each(|message| log.hear(message, Some(12_600)));
    let found = log.check(&[record()], &[], None);
    assert_eq!((found.late_ms, found.told_late_ms), (vec![30], vec![100]));
    let again = self::log(&told(commits()));
    assert_eq!(
        again.check(&[], &[], Some(&log)).told_late_ms,
        [100],
        "what is read later was not heard in time"
    );
}
